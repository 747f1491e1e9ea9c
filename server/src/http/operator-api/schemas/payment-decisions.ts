import Type from 'typebox'
import { mostTogether } from '../../../payments/decide-together.ts'
import { PaymentSummary } from './payments.ts'
import { appId, code, currency, money, oneOf, orNull, reason, strict } from './shapes.ts'

const does = oneOf(['credit', 'return', 'dismiss'], 'credit, return or dismiss')
const digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'of the list as it was shown',
})

export const Decision = Type.Object(
  {
    payment_id: Type.String({ maxLength: 200 }),
    do: does,
    txn_id: Type.Optional(Type.String({ maxLength: 60, description: 'the deposit it pays' })),
    agent: Type.Optional(appId),
  },
  strict,
)
const decisions = Type.Array(Decision, {
  minItems: 1,
  maxItems: mostTogether,
  description: `1 to ${mostTogether} decisions, of one currency`,
})

export const PreviewTogether = Type.Object({ decisions }, strict)
export const DecideTogether = Type.Object(
  { decisions, digest, reason, code: Type.Optional(code) },
  strict,
)

const row = {
  payment_id: Type.String(),
  amount: money('what came in'),
  currency,
  payer: PaymentSummary.properties.payer,
  does,
  to: orNull(
    Type.Object(
      {
        txn_id: orNull(Type.String({ description: 'null: the wallet' })),
        app_id: Type.String({ description: 'whose order or wallet it is' }),
        agent_name: Type.String(),
      },
      { description: 'where a credit goes' },
    ),
  ),
}

export const TogetherView = Type.Object({
  digest,
  sum: money('of all of them'),
  currency,
  most: orNull(money('the most that one code confirms, by policy; null for any sum')),
  data: Type.Array(Type.Object(row)),
})

export const DecidedTogether = Type.Object({
  data: Type.Array(
    Type.Object({
      ...row,
      outcome: oneOf(
        ['done', 'refused', 'unknown', 'not_tried'],
        'done; refused; unknown: read it again; not_tried, because one before it is unknown',
      ),
      detail: orNull(Type.String({ description: 'why it was refused, or is unknown' })),
    }),
  ),
})
