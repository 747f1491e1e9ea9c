import type { Pool } from '../db/pool.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { SecretKeys } from '../lib/secret-box.ts'
import type { Provider } from '../providers/provider.ts'
import type { Teller } from './teller.ts'

/** What taking and changing orders needs. */
export interface Desk {
  pool: Pool
  teller: Pick<Teller, 'do'>
  /** Undefined where none is set up: then nothing can be collected or paid out. */
  provider: Provider | undefined
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
