import Type from 'typebox'
import { maxAmount } from '../../../lib/money.ts'
import { printable } from '../../printable-text.ts'
import {
  appId,
  code,
  currency,
  isoTime,
  money,
  oneOf,
  orNull,
  page,
  paging,
  reason,
  strict,
} from './shapes.ts'

const walletFields = {
  app_id: appId,
  agent_name: Type.String(),
  currency,
  balance: money('available, without what is held or in reserve'),
  held: money('held for waiting withdrawals'),
  reserve: money('held back of paid deposits until its time has come'),
  suspense: money('reported for the agent and not yet decided on'),
  clearing: money('the other side at the banks'),
  fees: money('charged to the agent since they were last moved to the house'),
  costs: money('charged by providers since they were last moved to the house; negative'),
  adjustments: money('the other side of adjustments'),
  transfers: money('moved to the house'),
  seq: Type.Integer({ description: 'the journal row these balances are after' }),
}

export const WalletSummary = Type.Object(walletFields)
export const WalletList = Type.Object({ data: Type.Array(WalletSummary) })

export const WalletParams = Type.Object({ app_id: appId }, strict)
const asOf = Type.Optional(isoTime('an ISO 8601 time with zone; as it was then'))
export const WalletQuery = Type.Object({ as_of: asOf }, strict)
export const WalletDetail = Type.Object({
  ...walletFields,
  as_of: orNull(isoTime('as it was then; null: now')),
  at: orNull(isoTime('when the row these balances are after was written')),
  proof: Type.Object({
    proved_seq: Type.Integer({ description: 'everything up to here is proved' }),
    finding: orNull(Type.String({ description: 'what does not prove, in words' })),
    checked_at: orNull(isoTime('when the proof last looked')),
  }),
})

export const JournalQuery = Type.Object({ as_of: asOf, ...paging }, strict)
/** Newest first. */
export const JournalPage = page(
  Type.Object({
    seq: Type.Integer({ description: 'gapless in the journal' }),
    at: isoTime('when it happened'),
    event: Type.String(),
    txn_id: orNull(Type.String()),
    amount: money('change of the available balance'),
    held_change: money('change of what is held'),
    fee: money('change of the fees paid'),
    balance: money('available after it'),
    held: money('held after it'),
    reason: orNull(Type.String()),
  }),
)

export const AdjustRequest = Type.Object(
  {
    amount: Type.Integer({
      minimum: -Number(maxAmount),
      maximum: Number(maxAmount),
      description: 'whole units other than 0, negative to debit',
    }),
    reason,
    ref: printable(128),
    code: Type.Optional(code),
  },
  strict,
)
export const AdjustAnswer = Type.Object({
  changed: Type.Boolean({ description: 'false: this reference was used before' }),
  wallet: WalletSummary,
})

export const StatementQuery = Type.Object(
  {
    from: isoTime('an ISO 8601 time with zone; rows of then or later'),
    to: isoTime('an ISO 8601 time with zone; rows before it'),
    content: Type.Optional(
      oneOf(['rows', 'summary'], 'every row, or only what they come to by kind; rows if left out'),
    ),
  },
  strict,
)
