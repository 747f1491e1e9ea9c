import { type Static, Type } from 'typebox'
import { type Currency, currencies } from '../lib/money.ts'
import { depositStories, payoutStories } from './stories.ts'

const strict = { additionalProperties: false }
const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const Reference = Text(128)
/** A decimal text such as "100.50"; whether it fits the currency is checked when it is parsed. */
const Amount = Type.String({ pattern: '^\\d{1,16}(\\.\\d{1,2})?$' })
const CurrencyCode = Type.Unsafe<Currency>({ enum: currencies })
const Time = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
})
const Account = Type.Object(
  { accountNo: Text(34), accountName: Text(128), bankCode: Text(32) },
  strict,
)
const PartlyKnownAccount = Type.Object(
  {
    accountNo: Text(34),
    accountName: Type.Union([Text(128), Type.Null()]),
    bankCode: Type.Union([Text(32), Type.Null()]),
  },
  strict,
)
const oneOf = (names: string[]) => Type.Union(names.map((name) => Type.Literal(name)))

export const ReferenceParams = Type.Object({ reference: Reference }, strict)
export const PaymentParams = Type.Object({ paymentId: Text(64) }, strict)

export const DepositBody = Type.Object(
  {
    amount: Amount,
    currency: CurrencyCode,
    expiresAt: Time,
    payer: Account,
    story: oneOf(Object.keys(depositStories)),
  },
  strict,
)

export const PayoutBody = Type.Object(
  {
    amount: Amount,
    currency: CurrencyCode,
    payee: Account,
    story: Type.Union([oneOf(Object.keys(payoutStories)), Type.Null()]),
  },
  strict,
)

export const TransferBody = Type.Object(
  {
    reference: Reference,
    amount: Amount,
    currency: CurrencyCode,
    payer: Type.Union([PartlyKnownAccount, Type.Null()]),
    paidAt: Type.Optional(Time),
    once: Type.Optional(Text(200)),
  },
  strict,
)

export const EndBody = Type.Object(
  { status: Type.Union([Type.Literal('FAILED'), Type.Literal('VOID'), Type.Literal('EXPIRED')]) },
  strict,
)

export const OutcomeBody = Type.Object(
  {
    state: Type.Union([
      Type.Literal('paid'),
      Type.Literal('rejected'),
      Type.Literal('returned'),
      Type.Literal('cancelled'),
    ]),
  },
  strict,
)

export type ReferenceParams = Static<typeof ReferenceParams>
export type PaymentParams = Static<typeof PaymentParams>
export type DepositBody = Static<typeof DepositBody>
export type PayoutBody = Static<typeof PayoutBody>
export type TransferBody = Static<typeof TransferBody>
export type EndBody = Static<typeof EndBody>
export type OutcomeBody = Static<typeof OutcomeBody>
