import Type from 'typebox'
import { printable } from '../../printable-text.ts'
import { OrderSummary } from './orders.ts'
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

export const whys = [
  ...['late', 'wrong_amount', 'duplicate', 'fee', 'bound'],
  ...['unmatched', 'claimed_twice', 'wrong_provider', 'wrong_currency', 'ambiguous'],
]

export const PaymentListQuery = Type.Object(
  {
    state: Type.Optional(oneOf(['to_decide', 'decided'], 'to_decide or decided')),
    agent: Type.Optional(appId),
    why: Type.Optional(oneOf(whys, `one of ${whys.join(', ')}`)),
    assignee: Type.Optional(Type.String({ maxLength: 254, description: 'an address of a user' })),
    ...paging,
  },
  strict,
)

const paymentFields = {
  payment_id: Type.String({ description: "the provider's name and its own id" }),
  app_id: orNull(appId),
  agent_name: orNull(Type.String()),
  txn_id: orNull(Type.String({ description: 'the order it came in for' })),
  state: oneOf(
    ['waiting', 'credited', 'returned', 'taken_back', 'dismissed'],
    'what has become of it; dismissed: it was not money',
  ),
  why: orNull(oneOf(whys, 'why it waits')),
  credited_to: orNull(oneOf(['order', 'wallet'], 'order or wallet')),
  amount: money('what came in'),
  currency,
  paid_at: isoTime('when it was paid, by the bank'),
  reported_at: isoTime('when it was reported'),
  reference: orNull(Type.String({ description: 'what the payer gave, where it led nowhere' })),
  payer: orNull(
    Type.Object({
      account_no: orNull(Type.String()),
      account_name: orNull(Type.String()),
      bank_code: orNull(Type.String()),
    }),
  ),
  contradicts: orNull(
    Type.String({ description: 'the payment that it says something else of, by the same id' }),
  ),
  evidence: orNull(
    Type.String({ description: 'how it was returned, or what shows that it was not money' }),
  ),
  assignee: orNull(Type.String({ description: 'the address of who looks into it' })),
}

export const PaymentSummary = Type.Object(paymentFields)
/** Oldest first. */
export const PaymentList = page(PaymentSummary)

export const PaymentParams = Type.Object({ payment_id: Type.String({ maxLength: 200 }) }, strict)

export const PaymentDetail = Type.Object({
  payment: PaymentSummary,
  contradicted: orNull(PaymentSummary),
  candidates: Type.Array(
    Type.Object({
      order: OrderSummary,
      because: Type.String({ description: 'why it may be the one that was meant' }),
      allowed: Type.Boolean({ description: 'whether it can be credited to it' }),
      why_not: orNull(Type.String()),
    }),
  ),
  decision: orNull(
    Type.Object(
      {
        at: isoTime('when it was done'),
        action: oneOf(
          ['credit_payment', 'return_payment', 'dismiss_payment'],
          'credit_payment, return_payment or dismiss_payment',
        ),
        by: Type.String({ description: 'who decided, or proposed it' }),
        approved_by: orNull(Type.String({ description: 'who approved it, where two had to' })),
        reason: orNull(Type.String()),
        evidence: orNull(Type.String()),
        txn_id: orNull(Type.String({ description: 'the order it was credited to' })),
        wallet: orNull(appId),
      },
      { description: 'what a person decided; null while it waits, and if nobody had to' },
    ),
  ),
  notes: Type.Array(
    Type.Object({
      at: isoTime('when'),
      by: Type.String({ description: 'the address of who wrote it' }),
      assignee: orNull(Type.String({ description: 'who was to look into it from then on' })),
      note: orNull(Type.String()),
    }),
    { description: 'oldest first' },
  ),
})

/** Either to an order or to an agent's wallet. */
export const CreditRequest = Type.Object(
  {
    txn_id: Type.Optional(Type.String({ maxLength: 60, description: 'the deposit it pays' })),
    agent: Type.Optional(appId),
    reason,
    code: Type.Optional(code),
  },
  strict,
)
/** The reason is the evidence, where that is not given by itself. */
export const ReturnRequest = Type.Object(
  { evidence: Type.Optional(printable(1000)), reason, code: Type.Optional(code) },
  strict,
)
export const DismissRequest = ReturnRequest
/** Without an assignee, the payment is unassigned. */
export const AssignRequest = Type.Object(
  {
    assignee: orNull(Type.String({ maxLength: 254, description: 'an address of a user' })),
    instead_of: Type.Optional(
      Type.Union([Type.String({ maxLength: 254 }), Type.Null()], {
        description:
          'who looked into it when it was read, null for nobody; refused where that has changed',
      }),
    ),
  },
  strict,
)
export const NoteRequest = Type.Object({ note: printable(1000) }, strict)
