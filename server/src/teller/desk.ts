import type { ExpectedDeposits } from '../bank-accounts/expected-deposits.ts'
import type { Pool } from '../db/pool.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { SecretKeys } from '../lib/secret-box.ts'
import type { Tracer } from '../lib/tracing.ts'
import type { SandboxBank } from '../providers/sandbox/bank-client.ts'
import type { Providers } from '../routing/providers.ts'
import type { Teller } from './teller.ts'

/** Everything needed to take and change orders. */
export interface Desk {
  pool: Pool
  teller: Pick<Teller, 'do'>
  providers: Providers
  /** What is expected at the bank accounts. */
  expected: ExpectedDeposits
  /** The simulated bank; in the sandbox only. */
  bank: SandboxBank | undefined
  secretKeys: SecretKeys
  /** Orders from then on keep the encoder of their QR code; earlier ones its picture. */
  picturesDrawnSince: Date
  publicUrl: () => string
  localTime: LocalTime
  now: () => Date
  /** Follows orders on their way; undefined if nobody collects traces. */
  tracer?: Tracer | undefined
}

/** An order as an agent requests it: well-formed, but not yet checked against the agent's terms. */
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

/** A refund as an agent or an operator requests it; where it goes follows from the deposit. */
export interface RefundRequest {
  refId: string
  amountMinor: bigint
  extraParams: string | null
}

/** The response to a creation: the same bytes for the first request and for its repeats. */
export interface Created {
  isNew: boolean
  answer: string
}
