import type { Pool } from '../db/pool.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { SecretKeys } from '../lib/secret-box.ts'
import type { SandboxBank } from '../providers/sandbox/bank-client.ts'
import type { Providers } from '../routing/providers.ts'
import type { Teller } from './teller.ts'

/** What taking and changing orders needs. */
export interface Desk {
  pool: Pool
  teller: Pick<Teller, 'do'>
  providers: Providers
  /** The bank that does as it is told; in the sandbox only. */
  bank: SandboxBank | undefined
  secretKeys: SecretKeys
  publicUrl: () => string
  localTime: LocalTime
  now: () => Date
}

/** An order as an agent asks for it, checked for its shape but not against the agent's terms. */
export interface OrderRequest {
  refId: string
  userId: string
  /** In whole units. */
  amount: bigint
  accountName: string
  accountNo: string
  bankCode: string
  extraParams: string | null
}

/** What a creation is answered with: the same bytes for the first request and for its repeats. */
export interface Created {
  isNew: boolean
  answer: string
}
