import Type from 'typebox'
import { orderKinds } from '../../../ledger/book.ts'
import {
  limitFields,
  limitMeasures,
  limitOutcomes,
  limitPeriods,
  limitSubjects,
} from '../../../ledger/limits.ts'
import { mostListed } from '../../../limits/limit-form.ts'
import { appId, code, currency, isoTime, oneOf, orNull, reason, strict } from './shapes.ts'

const name = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{1,39}$',
  description: '2 to 40 small letters, digits and hyphens',
})

const hours = Type.Integer({
  minimum: 1,
  maximum: 720,
  description: 'how long it waits, 1 to 720',
})

const forms = {
  kind: oneOf(orderKinds, 'deposit or withdraw'),
  measure: oneOf(
    limitMeasures,
    'amount or orders: at most so much; new_account: an account that was never paid before; blocked, allowed: a list',
  ),
  per: orNull(oneOf(limitSubjects, 'whose orders are added up')),
  period: orNull(oneOf(limitPeriods, 'over which time, in the time zone of the service')),
  most: orNull(
    Type.String({
      pattern: '^[0-9]{1,13}([.][0-9]{1,3})?$',
      description: 'an amount in decimals, or a number of orders',
    }),
  ),
  currency: orNull(currency),
  hours: orNull(hours),
  field: orNull(oneOf(limitFields, 'what the list is of')),
  outcome: oneOf(limitOutcomes, 'what becomes of an order that goes beyond it'),
}

const values = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  maxItems: mostListed,
  description: 'what is on the list; an account as number or as bank:number',
})

export const LimitView = Type.Object({
  app_id: orNull(Type.String({ description: 'null: each agent by itself' })),
  name,
  ...forms,
  values,
  words: Type.String({ description: 'the rule in a sentence' }),
  counting: Type.Boolean({
    description: 'orders of before it are still being counted: until then it knows only a part',
  }),
  frees_at: orNull(isoTime('when what is used now frees')),
  used: Type.Array(
    Type.Object({
      app_id: Type.String(),
      subject: Type.String({ description: 'the user, or bank:account; masked for viewers' }),
      used: Type.String({ description: 'of the limit, now' }),
      share: Type.Number({ description: 'of the limit, 1 is all' }),
    }),
    { description: 'who uses most of it now, at most five' },
  ),
  updated_at: isoTime('when it was set'),
  updated_by: Type.String(),
})

export const LimitList = Type.Object({ data: Type.Array(LimitView) })

const form = {
  app_id: orNull(appId),
  name,
  kind: forms.kind,
  measure: forms.measure,
  per: Type.Optional(forms.per),
  period: Type.Optional(forms.period),
  most: Type.Optional(forms.most),
  currency: Type.Optional(forms.currency),
  hours: Type.Optional(hours),
  field: Type.Optional(forms.field),
  outcome: forms.outcome,
  values: Type.Optional(values),
}

export const SetLimitBody = Type.Object({ ...form, reason, code: Type.Optional(code) }, strict)
export const TryLimitBody = Type.Object(form, strict)
export const RemoveLimitBody = Type.Object(
  { app_id: orNull(appId), name, reason, code: Type.Optional(code) },
  strict,
)

export const TriedLimit = Type.Object({
  from: isoTime('orders from then on were looked at'),
  to: isoTime('now'),
  orders: Type.Integer({ description: 'how many orders were looked at' }),
  whole: Type.Boolean({ description: 'whether these are all of the month' }),
  hits: Type.Integer({ description: 'how many of them go beyond the rule' }),
  amount: orNull(
    Type.String({
      description: 'what these are worth, in decimals; null if in several currencies',
    }),
  ),
  currency: orNull(currency),
  agents: Type.Array(
    Type.Object({
      app_id: Type.String(),
      orders: Type.Integer(),
      hits: Type.Integer(),
      amount: Type.String(),
      currency,
    }),
    { description: 'agents whose orders go beyond it, at most 100, those with most of them first' },
  ),
  first: Type.Array(
    Type.Object({
      txn_id: Type.String(),
      at: isoTime('when it was created'),
      amount: Type.String(),
      words: Type.String({ description: 'what the rule says about it' }),
    }),
    { description: 'the first 20' },
  ),
})
