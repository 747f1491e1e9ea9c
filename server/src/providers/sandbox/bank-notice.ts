import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { parseIsoTime } from '../../lib/local-time.ts'
import { type Currency, currencies, parseDecimal } from '../../lib/money.ts'
import {
  clockToleranceS,
  matchesAny,
  parseSignatureHeader,
  signCallback,
} from '../../lib/signature.ts'
import type { ProviderEvent } from '../provider.ts'

const strict = { additionalProperties: false }
// PostgreSQL text cannot contain NUL.
const Text = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\0]*$' })
const TextOrNull = Type.Union([Text, Type.Null()])

const EventOnWire = Type.Union([
  Type.Object(
    {
      id: Text,
      type: Type.Literal('payment'),
      paymentId: Text,
      reference: Text,
      amount: Text,
      currency: Type.Unsafe<Currency>({ enum: currencies }),
      paidAt: TextOrNull,
      payer: Type.Union([
        Type.Object(
          { accountNo: TextOrNull, accountName: TextOrNull, bankCode: TextOrNull },
          strict,
        ),
        Type.Null(),
      ]),
    },
    strict,
  ),
  Type.Object(
    { id: Text, type: Type.Literal('payment_taken_back'), paymentId: Text, reference: Text },
    strict,
  ),
  Type.Object(
    {
      id: Text,
      type: Type.Literal('deposit_ended'),
      reference: Text,
      status: Type.Union([Type.Literal('FAILED'), Type.Literal('VOID'), Type.Literal('EXPIRED')]),
    },
    strict,
  ),
  Type.Object(
    {
      id: Text,
      type: Type.Literal('cost'),
      reference: Text,
      costId: Text,
      amount: Text,
      currency: Type.Unsafe<Currency>({ enum: currencies }),
    },
    strict,
  ),
  Type.Object(
    {
      id: Text,
      type: Type.Literal('payout'),
      reference: Text,
      outcome: Type.Union([
        Type.Object({ type: Type.Literal('accepted') }, strict),
        Type.Object({ type: Type.Literal('paid') }, strict),
        Type.Object({ type: Type.Literal('cancelled') }, strict),
        Type.Object({ type: Type.Literal('returned') }, strict),
        Type.Object(
          { type: Type.Literal('rejected'), reason: Text, mayTryAnother: Type.Boolean() },
          strict,
        ),
      ]),
    },
    strict,
  ),
])

const Notice = Type.Object(
  { events: Type.Array(EventOnWire, { minItems: 1, maxItems: 100 }) },
  strict,
)
const notice = Compile(Notice)

/** The events of a notice; undefined if it is not the bank's, is stale or cannot be read. */
export function readBankNotice(
  key: Buffer,
  body: Buffer,
  header: string | string[] | undefined,
  now: Date,
): ProviderEvent[] | undefined {
  const signed = typeof header === 'string' ? parseSignatureHeader(header) : undefined
  if (!signed || !matchesAny(signCallback(key, signed.t, body), signed.signatures)) return undefined
  if (Math.abs(now.getTime() / 1000 - Number(signed.t)) > clockToleranceS) return undefined
  const value = parsed(body)
  if (!notice.Check(value)) return undefined
  const events = value.events.map(eventOf)
  return events.every((event) => event !== undefined) ? events : undefined
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function eventOf(event: Static<typeof EventOnWire>): ProviderEvent | undefined {
  if (!('amount' in event)) return event
  const amountMinor = parseDecimal(event.amount, event.currency)
  if (amountMinor === undefined || amountMinor === 0n) return undefined
  if (amountMinor < 0n && event.type !== 'cost') return undefined
  if (event.type === 'cost') {
    const { amount: _, ...rest } = event
    return { ...rest, amountMinor }
  }
  const { amount: _, paidAt, ...rest } = event
  const at = paidAt === null ? null : parseIsoTime(paidAt)
  return at === undefined ? undefined : { ...rest, amountMinor, paidAt: at }
}
