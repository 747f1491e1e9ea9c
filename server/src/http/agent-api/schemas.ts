import Type, { type TSchema } from 'typebox'
import { methods } from '../../agents/terms.ts'
import { orderKinds, orderStatuses } from '../../ledger/book.ts'
import { maxAmount } from '../../lib/money.ts'
import { triggerOutcomes } from '../../orders/trigger.ts'
import { printable } from '../printable-text.ts'

/** The shapes of the agents' API: they check requests and form the OpenAPI description. */

const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description })

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])

const localTime = (description: string) =>
  Type.String({
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$',
    description,
  })

const isoTime = (description: string) =>
  Type.String({
    maxLength: 40,
    pattern:
      '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$',
    description,
  })

const money = (description: string) => Type.Number({ description })

export const OrderRequest = Type.Object(
  {
    refId: printable(64),
    userId: printable(64),
    amount: Type.Integer({
      minimum: 1,
      maximum: Number(maxAmount),
      description: `a whole JSON number from 1 to ${maxAmount}`,
    }),
    accountName: printable(128),
    accountNo: Type.String({
      maxLength: 80,
      pattern: '^[ -]*([A-Za-z0-9][ -]*){4,34}$',
      description: '4 to 34 letters and digits; spaces and dashes between them are taken away',
    }),
    bankCode: Type.String({
      ...printable(32),
      description:
        'a code from GET /payment/banks; if that has none, the BIC, or the IFSC of a bank in India',
    }),
    timestamp: isoTime(
      "an ISO 8601 time with zone, within 300 seconds of the service's clock, such as 2026-01-31T08:30:00Z",
    ),
    extraParams: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: 'an object of at most 4 KiB and 5 levels; null is as none',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Of an amount in minor units; an order's own amount is whole. */
const exactAmount = (step: { multipleOf?: number }) =>
  Type.Number({
    exclusiveMinimum: 0,
    maximum: Number(maxAmount),
    ...step,
    description: 'an amount in steps of 0.01, or of 1 in a currency without decimals',
  })

const refundRequest = (step: { multipleOf?: number }) =>
  Type.Object(
    {
      refId: OrderRequest.properties.refId,
      amount: exactAmount(step),
      timestamp: OrderRequest.properties.timestamp,
      extraParams: OrderRequest.properties.extraParams,
    },
    { additionalProperties: false },
  )

export const RefundRequest = refundRequest({ multipleOf: 0.01 })

/** For the check only, as with a trigger. */
export const RefundShape = refundRequest({})

const created = {
  txn_id: Type.String({ description: "the service's transaction id" }),
  ref_id: Type.String({ description: 'the refId sent' }),
  amount: money('the amount asked for'),
  fee: money('the fee of the transaction'),
}

const depositOnly = {
  method: oneOf(methods, 'how the payer can pay'),
  link: Type.String({ description: 'payment link, for a popup or an iframe' }),
  qrcode: Type.Optional(
    Type.Object({
      qrcode_text: Type.String({ description: 'the content of the QR code' }),
      link: Type.String({ description: 'a page with the QR code alone' }),
      qrcode_date_url: Type.String({ description: 'a data: URL of the QR code as PNG' }),
    }),
  ),
  transfer: Type.Optional(
    Type.Object({
      bank_code: Type.String(),
      account_number: Type.String(),
      account_name: Type.String(),
      amount: money('what to transfer'),
    }),
  ),
  expires_in: Type.Integer({ description: 'seconds the order is valid for' }),
}

const createdAt = { created_at: localTime('when it was created') }
const walletBalance = {
  wallet: Type.Object({ balance: money('the available balance after the hold') }),
}

export const DepositAnswer = Type.Object({ ...created, ...depositOnly, ...createdAt })

export const WithdrawAnswer = Type.Object({
  ...created,
  status: oneOf(['WAITING'], 'always WAITING'),
  ...walletBalance,
  ...createdAt,
})

const since = (kind: string) => ({
  kind: oneOf([kind], `always ${kind}`),
  status: oneOf(orderStatuses, 'what has become of it'),
  user_id: Type.String(),
  completed_at: orNull(localTime('when its outcome became known')),
  paid_amount: orNull(money('what was really paid')),
})

export const DepositOrder = Type.Object({
  ...created,
  ...depositOnly,
  ...createdAt,
  ...since('deposit'),
})

export const WithdrawOrder = Type.Object({
  ...created,
  ...walletBalance,
  ...createdAt,
  ...since('withdraw'),
  refundOf: Type.Optional(Type.String({ description: 'of a refund: the txn_id of its deposit' })),
})

export const OrderView = Type.Union([DepositOrder, WithdrawOrder])

const page = (item: TSchema, next: TSchema) =>
  Type.Object({ data: Type.Array(item), next: orNull(next) })

export const OrderPage = page(OrderView, Type.String({ description: 'pass as after' }))

export const OrderQuery = Type.Object(
  {
    refId: Type.Optional(printable(64)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '1 to 200' })),
    after: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{32}$', description: 'next from the page before' }),
    ),
    status: Type.Optional(oneOf(orderStatuses, `one of ${orderStatuses.join(', ')}`)),
    kind: Type.Optional(oneOf(orderKinds, 'deposit or withdraw')),
    from: Type.Optional(isoTime('an ISO 8601 time with zone; created then or later')),
    to: Type.Optional(isoTime('an ISO 8601 time with zone; created before it')),
  },
  { additionalProperties: false },
)

/** The largest sequence number that a query accepts. */
const maxSeq = 999_999_999_999_999

export const SeqQuery = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxSeq,
        description: `a seq, 0 to ${maxSeq}; what comes after it is returned`,
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '1 to 200' })),
  },
  { additionalProperties: false },
)

/** Unknown parameters are refused, as everywhere. */
export const NoQuery = Type.Object({}, { additionalProperties: false })

export const TxnParams = Type.Object({ txn_id: Type.String() })

export const WalletView = Type.Object({
  balance: money('available, without what is held or in reserve'),
  held: money('held for waiting withdrawals'),
  currency: Type.String(),
  seq: Type.Integer({ description: 'the journal row these balances are after' }),
})

export const ReserveView = Type.Object({
  reserve: money('held back of paid deposits until its time has come'),
  currency: Type.String(),
  seq: Type.Integer({ description: 'the journal row that it is after' }),
})

const seq = Type.Integer({ description: 'gapless in the journal' })

export const WalletEntry = Type.Object({
  seq,
  at: localTime('when it happened'),
  event: Type.String(),
  txn_id: orNull(Type.String()),
  amount: money('change of the available balance'),
  held_change: money('change of what is held'),
  fee: money('change of the fees paid'),
  balance: money('available after it'),
  held: money('held after it'),
  reason: orNull(Type.String()),
})

export const EntryPage = page(WalletEntry, seq)

const epoch = Type.Integer({
  minimum: 0,
  maximum: maxSeq,
  description:
    'numbers count within it; 0 unless the service was restored from a backup, and rises then',
})

/** Where an agent goes on in its outcomes. */
export const EventQuery = Type.Object(
  {
    ...SeqQuery.properties,
    epoch: Type.Optional({
      ...epoch,
      description: 'the epoch of that seq: after a restore its numbers may name other outcomes',
    }),
  },
  { additionalProperties: false },
)

export const OutcomeEvent = Type.Object({
  seq,
  epoch,
  txn_id: Type.String(),
  ref_id: Type.String(),
  kind: oneOf(orderKinds, 'deposit or withdraw'),
  status: Type.String({ description: 'the outcome this callback tells' }),
  at: localTime('when it happened'),
  delivery: Type.String({ description: 'how far its callback has come' }),
  body: Type.String({ description: 'the exact bytes of the callback' }),
})

export const EventPage = page(OutcomeEvent, seq)

export const SeqParams = Type.Object({
  seq: Type.Integer({ minimum: 1, maximum: maxSeq, description: 'from the list of events' }),
})

export const ResendAnswer = Type.Object({
  seq,
  delivery: Type.String({ description: 'waiting: it goes out in a moment' }),
})

export const Bank = Type.Object({
  code: Type.String({ description: 'what bankCode should be' }),
  name: Type.String(),
  numeric_code: orNull(Type.String()),
  swift: orNull(Type.String()),
  aliases: Type.Array(Type.String(), { description: 'accepted as well' }),
  closed: Type.Boolean({ description: 'orders to a closed bank are refused' }),
})

export const BankList = Type.Object({ data: Type.Array(Bank) })

const triggerRequest = (step: { multipleOf?: number }) =>
  Type.Object(
    {
      outcome: oneOf(triggerOutcomes, `one of ${triggerOutcomes.join(', ')}`),
      paidAmount: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: Number(maxAmount),
          ...step,
          description:
            'an amount in steps of 0.01, or of 1 in a currency without decimals, with a deposit that is PAID',
        }),
      ),
      payerAccountNo: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9*-]{1,34}$',
          description:
            '1 to 34 letters, digits, * for masked ones, or -, with a deposit that is PAID',
        }),
      ),
    },
    { additionalProperties: false },
  )

export const TriggerRequest = triggerRequest({ multipleOf: 0.01 })

/**
 * For the check only: a double is seldom an exact multiple of 0.01, so the number's text is checked instead.
 */
export const TriggerShape = triggerRequest({})

const told = (amount: string) => ({
  refId: Type.String({ description: 'the refId sent' }),
  transactionId: Type.String({ description: "the service's transaction id" }),
  userId: Type.String({ description: 'the userId sent' }),
  amount: money(amount),
  fee: money('what was charged as of this outcome'),
})

const toldAlso = {
  extParams: Type.Record(Type.String(), Type.Unknown(), {
    description: 'the extraParams sent, as the very text; {} where there were none',
  }),
  successAt: localTime('when the outcome became known, whatever it is'),
  wallet: Type.Object({ balance: money('the available balance right after it') }),
}

export const DepositCallback = Type.Object({
  ...told('what was really paid, for PAID; what was asked for, otherwise'),
  status: oneOf(['PAID', 'FAILED', 'EXPIRED', 'VOID'], 'the outcome'),
  ...toldAlso,
  flag_incorrect_payee: Type.Optional(
    Type.Boolean({
      description:
        'whether the payer has another account than the order says; left out where the account is so masked that it cannot be compared',
    }),
  ),
  payee: Type.Optional(
    Type.Object(
      {
        account_no: orNull(Type.String()),
        account_name: orNull(Type.String()),
        bank_code: orNull(Type.String()),
      },
      { description: 'the payer, where the provider reports one' },
    ),
  ),
})

export const WithdrawCallback = Type.Object({
  ...told('what was asked for'),
  status: oneOf(['PAID', 'FAILED', 'REVERT', 'CANCEL'], 'the outcome'),
  ...toldAlso,
})

export const FieldError = Type.Object({ field: Type.String(), message: Type.String() })

export const ProblemBody = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.String({ description: 'stable, for programs' }),
  request_id: Type.String(),
  errors: Type.Optional(Type.Array(FieldError)),
  limit: Type.Optional(
    Type.Object(
      {
        name: Type.String({ description: 'which limit' }),
        frees_at: Type.Union([Type.String(), Type.Null()], {
          description: 'when the same order might be taken; null if time does not change it',
        }),
      },
      { description: 'with limit_exceeded' },
    ),
  ),
})
