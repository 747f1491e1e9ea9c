import Type from 'typebox'
import { plainText, printable } from '../../printable-text.ts'
import {
  code,
  currency,
  decimal,
  isoTime,
  money,
  oneOf,
  orNull,
  page,
  paging,
  reason,
  strict,
} from './shapes.ts'

const text = (max: number, description: string) => Type.String({ maxLength: max, description })
const account = text(32, 'the name of a bank account')

export const PayoutFileParams = Type.Object({ id: text(32, 'the id of a payout file') })
export const PayoutReportParams = Type.Object({
  id: text(32, 'the id of a payout file'),
  report_id: text(32, 'the id of what the bank answered'),
})

export const PayoutFilesQuery = Type.Object({ account: Type.Optional(account), ...paging }, strict)

export const NewPayoutFile = Type.Object(
  {
    account,
    debited: Type.Optional(
      Type.Boolean({
        description:
          'true: of what the bank has debited already, as after a restore; such a file never leaves',
      }),
    ),
    movement: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description:
          'with `debited`: the movement by which the bank debited a lost file in one sum; `txn_ids` says what it paid',
      }),
    ),
    txn_ids: Type.Optional(
      Type.Array(text(64, "a withdrawal's txn_id, or the code by which the bank names it"), {
        minItems: 1,
        maxItems: 10_000,
        uniqueItems: true,
        description: 'with `movement`: the withdrawals that it paid; with `rest` they add up to it',
      }),
    ),
    rest: Type.Optional(
      decimal(
        "with `movement`: what it is more than these, which is the bank's charge and a cost of the house; withdrawals that were lost are created again first, and named",
      ),
    ),
  },
  strict,
)

export const PayoutAccountParams = Type.Object({ name: account })

export const ApprovePayoutFile = Type.Object(
  {
    digest: text(128, 'the digest of what was shown, 64 hex digits'),
    code: Type.Optional(code),
  },
  strict,
)

export const ReasonAndCode = Type.Object({ reason, code: Type.Optional(code) }, strict)

export const SentPayoutFile = Type.Object(
  {
    bank_reference: plainText(1, 100, "the bank's own number of the file"),
    code: Type.Optional(code),
  },
  strict,
)

/** A body that names every payout of a file. */
export const takeOutLimit = 512 * 1024

const codes = (description: string) =>
  Type.Array(Type.String({ pattern: '^[0-9A-Z]{13}$' }), {
    maxItems: 10_000,
    uniqueItems: true,
    description,
  })

export const TakeOutOfPayoutFile = Type.Object(
  {
    codes: codes('of the payouts to take out'),
    may_try_another: Type.Boolean({
      description: 'whether another provider may pay them; if not, their orders fail',
    }),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const AbandonPayoutFile = Type.Object(
  {
    codes: Type.Optional(codes('of the payouts that the bank has not paid; all that are open')),
    evidence: printable(1000),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

/** The largest answer of a bank, in base64. */
const maxReportBytes = 8 * 1024 * 1024
export const reportLimit = Math.ceil(maxReportBytes / 3) * 4 + 64 * 1024

export const PayoutReport = Type.Object(
  {
    content: Type.String({
      minLength: 1,
      maxLength: Math.ceil(maxReportBytes / 3) * 4,
      description: 'a pain.002 file: its text, or in base64; at most 8 MiB',
    }),
    code: Type.Optional(code),
  },
  strict,
)

const state = oneOf(
  ['draft', 'approving', 'approved', 'exported', 'sent', 'acknowledged', 'closed', 'cancelled'],
  'where the file is in its life',
)
const itemState = oneOf(
  ['waiting', 'dropped', 'accepted', 'paid', 'rejected', 'unknown', 'cancelled', 'returned'],
  'what became of the payout',
)

const ended = oneOf(
  ['taken_out', 'abandoned'],
  'how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will',
)

const breaks = Type.Array(
  Type.Object({ what: Type.String(), found: Type.String(), code: orNull(Type.String()) }),
  { description: 'what fits no payment of the file, and changed nothing' },
)

const summary = {
  id: Type.String(),
  account: Type.String(),
  state,
  digest: Type.String({ description: 'what an approval has to name' }),
  count: Type.Integer(),
  sum: money('of all items'),
  currency,
  format: Type.String(),
  made_by: Type.String(),
  made_at: isoTime('when the draft was made'),
  already_paid: Type.Boolean({
    description: 'the bank has debited its payouts already: it is never sealed',
  }),
}

export const PayoutFileList = page(Type.Object(summary))

export const PayoutFileDetail = Type.Object({
  ...summary,
  debit: orNull(
    Type.Object(
      {
        movement: Type.String(),
        amount: money('that left'),
        rest: money(
          'of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house',
        ),
        day: Type.String(),
        text: Type.String(),
      },
      { description: 'the one debit that paid all of it, as who approves says; else null' },
    ),
  ),
  dropped: Type.Integer({ description: 'withdrawals of the draft that ended before the approval' }),
  banks: Type.Array(
    Type.Object({ bank: Type.String(), count: Type.Integer(), sum: money("of the bank's items") }),
  ),
  sealed: orNull(
    Type.Object({
      name: Type.String(),
      message_id: Type.String(),
      execution_date: Type.String(),
      sha256: Type.String(),
      sealed_at: isoTime('when the bytes were fixed'),
      is_over: Type.Boolean({ description: 'whether it would be for a later day now' }),
    }),
  ),
  approvals: Type.Array(
    Type.Object({
      round: Type.Integer(),
      digest: Type.String(),
      by: Type.String(),
      at: isoTime('when'),
    }),
  ),
  downloads: Type.Array(
    Type.Object({ by: Type.String(), reason: Type.String(), at: isoTime('when') }),
  ),
  sent: orNull(
    Type.Object({ by: Type.String(), bank_reference: Type.String(), at: isoTime('when') }),
  ),
  put: orNull(
    Type.Object({
      path: Type.String({ description: "its name on the bank's server" }),
      by: Type.String(),
      reason: Type.String(),
      at: isoTime('when'),
      state: oneOf(['waiting', 'held', 'arrived'], 'held: a person has to look'),
      fault: orNull(Type.String({ description: 'why it has not arrived yet' })),
    }),
  ),
  can_send: Type.Boolean({ description: "whether it may go to the bank's server by SFTP" }),
  reports: Type.Array(
    Type.Object({ id: Type.String(), by: Type.String(), at: isoTime('when'), breaks }),
  ),
  reseals: Type.Array(
    Type.Object({ by: Type.String(), reason: Type.String(), at: isoTime('when') }),
    { description: 'who had it sealed again for a later day' },
  ),
  ends: Type.Array(
    Type.Object({
      how: ended,
      count: Type.Integer(),
      proposal: Type.String({ description: 'what two people decided' }),
      reason: Type.String(),
      at: isoTime('when'),
    }),
    { description: 'payouts that two people ended, and not the bank' },
  ),
  proposals: Type.Array(
    Type.Object({
      id: Type.String(),
      action: Type.String(),
      by: Type.String(),
      at: isoTime('when'),
    }),
    { description: 'what waits for a second person' },
  ),
  items: Type.Array(
    Type.Object({
      txn_id: Type.String(),
      code: orNull(Type.String({ description: 'by which the bank names it; null in a draft' })),
      amount: money('to pay'),
      state: itemState,
      said: orNull(Type.String({ description: 'what the bank said of it last' })),
      ended: orNull(ended),
      payee: Type.Object({
        name: Type.String(),
        account_no: Type.String(),
        bank: Type.String(),
      }),
    }),
  ),
})

/** The file as it is now, and what was made of the answer. */
export const PayoutReportTaken = Type.Object({
  ...PayoutFileDetail.properties,
  report: Type.String({ description: 'the id of what the bank answered' }),
  repeated: Type.Boolean({ description: 'it was brought before' }),
  accepted: Type.Integer(),
  paid: Type.Integer(),
  unknown: Type.Integer({ description: 'the bank calls them duplicates: their money stays held' }),
  refused: Type.Integer({ description: 'they wait until a second person has confirmed it' }),
  proposal: orNull(Type.String({ description: 'what the second person decides on' })),
  breaks,
})

export const PayoutLock = Type.Object({
  account: Type.String(),
  locked: Type.Array(Type.String()),
})

export const PayoutsWaiting = Type.Object({
  data: Type.Array(
    Type.Object({
      account: Type.String(),
      currency,
      format: Type.String(),
      count: Type.Integer({ description: 'withdrawals that wait for its next file' }),
      sum: money('of these'),
      cutoffs: Type.Array(Type.String()),
      zone: Type.String(),
      next_cutoff: orNull(isoTime('the next cut-off of the bank; null if it has none')),
      execution_date: Type.String({ description: 'when the bank would execute a file of now' }),
      locked: Type.Array(Type.String(), {
        description: 'after a restore: what is missing before its files may leave again',
      }),
      lost_sums: Type.Array(
        Type.Object({
          movement: Type.String(),
          amount: money('that left'),
          day: Type.String(),
          count: Type.Integer({
            description: 'withdrawals that wait here and that it may have paid',
          }),
          sum: money('of these'),
        }),
        {
          description:
            'debits of files that were lost with the database: people say what each paid',
        },
      ),
    }),
  ),
  stuck: Type.Array(
    Type.Object({
      txn_id: Type.String(),
      amount: money('of the withdrawal'),
      currency,
      why: Type.String({ description: 'why nobody can pay it, in words' }),
    }),
    { description: 'withdrawals that wait, and that nobody can pay as things are: the first 100' },
  ),
  stuck_count: Type.Integer({ description: 'how many these are' }),
})
