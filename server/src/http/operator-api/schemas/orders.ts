import Type from 'typebox'
import { orderKinds, orderStatuses } from '../../../ledger/book.ts'
import { maxAmount } from '../../../lib/money.ts'
import { actionNames } from '../../../orders/order-actions.ts'
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

const wholeAmount = Type.Integer({
  minimum: 0,
  maximum: Number(maxAmount),
  description: `a whole number from 0 to ${maxAmount}`,
})

const filters = {
  kind: Type.Optional(oneOf(orderKinds, 'deposit or withdraw')),
  status: Type.Optional(oneOf(orderStatuses, `one of ${orderStatuses.join(', ')}`)),
  agent: Type.Optional(appId),
  currency: Type.Optional(currency),
  from: Type.Optional(isoTime('an ISO 8601 time with zone; created then or later')),
  to: Type.Optional(isoTime('an ISO 8601 time with zone; created before it')),
  min_amount: Type.Optional(wholeAmount),
  max_amount: Type.Optional(wholeAmount),
  provider: Type.Optional(Type.String({ maxLength: 32, description: 'the name of a provider' })),
  user: Type.Optional(
    Type.String({ maxLength: 64, description: 'the user, as the agent names it' }),
  ),
  account: Type.Optional(
    Type.String({ maxLength: 64, description: 'the account number, as it was given' }),
  ),
  assignee: Type.Optional(
    Type.String({ maxLength: 254, description: 'the address of who looks into it' }),
  ),
  tag: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,29}$',
      description: 'a tag of the order or of its user',
    }),
  ),
  payout: Type.Optional(
    oneOf(['unknown'], 'unknown: the provider has not said what became of the payout'),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'an id: txn_id, ref_id, reference at the provider, or payment; if nothing has it, how a txn_id or ref_id begins',
    }),
  ),
}

export const OrderListQuery = Type.Object({ ...filters, ...paging }, strict)
export const OrderCsvQuery = Type.Object(
  {
    ...filters,
    txn_ids: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f-]{1,60}(,[0-9a-f-]{1,60}){0,99}$',
        description: 'only these orders, by commas; at most 100',
      }),
    ),
  },
  strict,
)
export const TxnParams = Type.Object({ txn_id: Type.String({ maxLength: 60 }) }, strict)

const orderFields = {
  txn_id: Type.String({ description: "the service's transaction id" }),
  ref_id: Type.String({ description: "the agent's own id" }),
  app_id: appId,
  agent_name: Type.String(),
  kind: oneOf(orderKinds, 'deposit or withdraw'),
  status: oneOf(orderStatuses, 'what has become of it'),
  user_id: Type.String(),
  amount: money('the amount asked for'),
  payable: orNull(money('what is to be paid, where it is not the amount')),
  fee: money('the fee of the transaction'),
  currency,
  paid_amount: orNull(money('what was really paid')),
  account_name: Type.String({ description: 'masked for viewers' }),
  account_no: Type.String({ description: 'masked for viewers' }),
  bank_code: Type.String(),
  provider: orNull(Type.String({ description: "null for the agent's own users" })),
  provider_ref: orNull(Type.String({ description: "null for the agent's own users" })),
  created_at: isoTime('when it was created'),
  expires_at: orNull(isoTime('until when a deposit can be paid')),
  completed_at: orNull(isoTime('when its outcome became known')),
}

export const OrderSummary = Type.Object(orderFields)

/**
 * A page may contain fewer orders than requested, even none, and still have a next page, because a request
 * reads a bounded number of orders however rare the matches are. `searched_to` says how far back it got.
 */
export const OrderList = Type.Object({
  ...page(
    Type.Object({
      ...orderFields,
      tags: Type.Array(Type.String(), { description: "none for the agent's own users" }),
      assignee: orNull(Type.String({ description: 'the address of who looks into it' })),
    }),
  ).properties,
  searched_to: orNull(isoTime('no older order was looked at; null where all were')),
})

export const timelineKinds = [
  'request',
  'provider',
  'notice',
  'payment',
  'journal',
  'callback',
  'attempt',
  'operator',
]

const OrderAction = Type.Object({
  name: oneOf(actionNames, `one of ${actionNames.join(', ')}`),
  allowed: Type.Boolean(),
  why_not: orNull(Type.String({ description: 'in words, where it is not allowed' })),
  moves_money: Type.Boolean({ description: 'the code has to be given again' }),
  needs: Type.Array(oneOf(['reason', 'amount', 'code'], 'what must be in the request')),
})

const Saying = Type.Object({
  code: Type.String({ description: 'which sentence it is' }),
  text: orNull(Type.String({ description: 'what is said in it' })),
  at: orNull(isoTime('the time that is in it')),
})

export const OrderDetail = Type.Object({
  order: Type.Object({
    ...orderFields,
    version: Type.Integer({ description: 'counts the changes of the order' }),
    fee_rule: Type.String(),
    paid_fee: orNull(money('the fee of what was really paid')),
    extra_params: orNull(Type.String({ description: 'the very text the agent sent' })),
    handed_over_at: orNull(isoTime('when a provider got the withdrawal')),
    link: orNull(Type.String({ description: "a deposit's payment page" })),
    refund_of: orNull(Type.String({ description: 'the txn_id of the deposit that it refunds' })),
    limits: orNull(
      Type.Object(
        {
          outcome: oneOf(['hold', 'wait', 'note'], 'whether it waits for a person or for a time'),
          words: Type.String(),
          wait_until: orNull(isoTime('when it may be paid out')),
        },
        { description: "what limits said when it was created; null for the agent's own users" },
      ),
    ),
    refundable: orNull(money('what of a deposit can still be refunded')),
  }),
  refunds: Type.Array(
    Type.Object({
      txn_id: Type.String(),
      ref_id: Type.String(),
      status: oneOf(orderStatuses, 'what has become of it'),
      amount: money('what it gives back'),
      created_at: isoTime('when it was made'),
    }),
    { description: "a deposit's refunds, oldest first" },
  ),
  words: Type.Object({
    why: Type.String({ description: 'why it is in this state' }),
    next: Type.String({ description: 'what happens next, and what can be done' }),
    why_codes: Type.Array(Saying, { description: 'the same, for other languages' }),
    next_codes: Type.Array(Saying, { description: 'the same, for other languages' }),
  }),
  payouts: Type.Array(
    Type.Object({
      handed_at: isoTime('when it was handed over'),
      provider: Type.String(),
      reference: Type.String(),
      state: Type.String({ description: 'what is known of it now' }),
      asks: Type.Integer({ description: 'how often its provider was asked' }),
      ask_at: orNull(isoTime('when its provider is asked next')),
      said: orNull(Type.String({ description: 'what the provider said last' })),
      evidence: orNull(Type.String()),
    }),
    {
      description: "each time that it was handed over, as of now; empty for the agent's own users",
    },
  ),
  payments: Type.Array(
    Type.Object({
      payment_id: Type.String(),
      amount: money('what came in'),
      reported_at: isoTime('when it was reported'),
      state: Type.String({ description: 'what has become of it' }),
      why: orNull(Type.String({ description: 'why it waited for a decision' })),
      credited_to: orNull(oneOf(['order', 'wallet'], 'order or wallet')),
      evidence: orNull(Type.String()),
    }),
    { description: "money that came in, as of now; empty for the agent's own users" },
  ),
  notices: Type.Array(
    Type.Object({
      received_at: isoTime('when it came'),
      provider: Type.String(),
      event_id: Type.String(),
      result: orNull(Type.String({ description: 'what was done with it' })),
      detail: orNull(Type.String()),
    }),
    { description: "what providers reported, as of now; empty for the agent's own users" },
  ),
  callbacks: Type.Array(
    Type.Object({
      seq: Type.Integer(),
      status: Type.String({ description: 'the status that it tells' }),
      delivery: Type.String({ description: 'how far its delivery is' }),
      attempts: Type.Integer(),
      delivered_at: orNull(isoTime('when the agent took it')),
    }),
    { description: 'as of now, oldest first' },
  ),
  timeline: Type.Array(
    Type.Object({
      at: isoTime('when'),
      kind: oneOf(timelineKinds, `one of ${timelineKinds.join(', ')}`),
      event: Type.String({ description: 'what happened, by a code' }),
      title: Type.String({ description: 'what happened, in English' }),
      raw: Type.Unknown({ description: 'what is on record, as it is' }),
    }),
    { description: 'oldest first; each entry as it was known then' },
  ),
  actions: Type.Array(OrderAction),
})

const version = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'the version of the order that was looked at; where it has changed, it is refused',
  }),
)
const evidence = Type.Optional(printable(1000))

/** Actions that move money require a fresh code. */
export const ActionRequest = Type.Object({ reason, version, code: Type.Optional(code) }, strict)
/** The reason is the evidence of what happened at the bank, where that is not given by itself. */
export const EvidenceRequest = Type.Object(
  { reason, evidence, version, code: Type.Optional(code) },
  strict,
)

/** The amount as text, so that it is exact. */
export const RefundRequest = Type.Object(
  {
    reason,
    amount: Type.String({
      pattern: '^[0-9]{1,13}([.][0-9]{1,2})?$',
      description: 'what to refund, such as 100 or 99.50',
    }),
    // Absent in proposals of earlier releases only.
    ref: Type.Optional({
      ...printable(57),
      description: 'always needed: repeated with the same one, the request makes no second refund',
    }),
    to: Type.Optional(
      Type.Object(
        {
          account_no: Type.String({
            maxLength: 80,
            pattern: '^[ -]*([A-Za-z0-9][ -]*){4,34}$',
            description: '4 to 34 letters and digits; spaces and dashes are taken away',
          }),
          account_name: printable(128),
          bank_code: printable(32),
        },
        {
          ...strict,
          description: "another account than the payer's: two people decide on it, always",
        },
      ),
    ),
    version,
    code: Type.Optional(code),
  },
  strict,
)

export const TestOrderRequest = Type.Object(
  {
    agent: Type.Optional(appId),
    kind: oneOf(orderKinds, 'deposit or withdraw'),
    amount: Type.Integer({
      minimum: 1,
      maximum: Number(maxAmount),
      description: `a whole number from 1 to ${maxAmount}`,
    }),
    story: Type.Optional(
      Type.String({ maxLength: 40, description: "one of the sandbox bank's stories" }),
    ),
    ref_id: Type.Optional(printable(64)),
    user_id: Type.Optional(printable(64)),
    account_name: Type.Optional(printable(128)),
    account_no: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9]{4,34}$', description: '4 to 34 letters and digits' }),
    ),
    bank_code: Type.Optional(printable(32)),
  },
  strict,
)

export const TestOrderAnswer = Type.Object({
  txn_id: Type.String(),
  answer: Type.Unknown({ description: 'what the agent API answers' }),
})

export const StoryList = Type.Object({
  data: Type.Array(
    Type.Object({
      kind: oneOf(orderKinds, 'deposit or withdraw'),
      name: Type.String(),
      says: Type.String(),
    }),
  ),
  next: Type.Null(),
})
