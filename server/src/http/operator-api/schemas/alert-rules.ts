import Type from 'typebox'
import { ruleKinds } from '../../../alert-rules/alert-rule.ts'
import { channels } from '../../../alerts/alert.ts'
import { deliveryStates } from '../../../alerts/alert-channels.ts'
import { orderKinds } from '../../../ledger/book.ts'
import { roles } from '../../../operators/operator.ts'
import { plainText } from '../../printable-text.ts'
import { appId, code, currency, isoTime, oneOf, orNull, page, paging, strict } from './shapes.ts'

const name = plainText(1, 60, 'a name, 1 to 60 characters')
const time = Type.String({
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  description: 'such as 08:00',
})
const channelName = oneOf(channels, `one of ${channels.join(', ')}`)

const forms = {
  kind: oneOf(ruleKinds, 'what it watches for'),
  threshold: orNull(
    Type.String({
      pattern: '^[0-9]{1,13}([.][0-9]{1,3})?$',
      description: 'minutes, a number, per cent, or an amount, as the kind has it',
    }),
  ),
  window_minutes: orNull(
    Type.Integer({
      minimum: 5,
      maximum: 1440,
      description: 'orders that ended in the last so many',
    }),
  ),
  min_orders: orNull(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'of fewer nothing is said' }),
  ),
  order_kind: orNull(oneOf(orderKinds, 'deposit or withdraw; null: both')),
  provider: orNull(plainText(1, 200, 'a provider or a bank account; null: each')),
  currency: orNull(currency),
  hours_from: orNull(time),
  hours_to: orNull(time),
  zone: orNull(Type.String({ maxLength: 60, description: 'a time zone such as Asia/Bangkok' })),
}

const told = {
  roles: Type.Array(oneOf(roles, 'who has it is told'), { maxItems: 4 }),
  people: Type.Array(Type.String({ maxLength: 254, description: 'the address of a user' }), {
    maxItems: 50,
  }),
  channels: Type.Array(channelName, {
    maxItems: channels.length,
    description: 'where they are told; none: wherever each of them wants to be',
  }),
  is_on: Type.Boolean(),
}

export const AlertRuleView = Type.Object({
  name,
  app_id: orNull(Type.String({ description: 'null: each agent' })),
  ...forms,
  ...told,
  words: Type.String({ description: 'what it watches for, in a sentence' }),
  looked_at: orNull(isoTime('when it was last looked at')),
  wrong: Type.Array(
    Type.Object({
      subject: Type.String({ description: 'an app id, a provider, or all' }),
      since: isoTime('since when'),
      words: Type.String(),
    }),
    { description: 'what it has found wrong and told of' },
  ),
  updated_at: isoTime('when it was set'),
  updated_by: Type.String(),
})

export const AlertRuleList = Type.Object({ data: Type.Array(AlertRuleView) })

const form = {
  name,
  app_id: Type.Optional(orNull(appId)),
  kind: forms.kind,
  threshold: Type.Optional(forms.threshold),
  window_minutes: Type.Optional(forms.window_minutes),
  min_orders: Type.Optional(forms.min_orders),
  order_kind: Type.Optional(forms.order_kind),
  provider: Type.Optional(forms.provider),
  currency: Type.Optional(forms.currency),
  hours_from: Type.Optional(forms.hours_from),
  hours_to: Type.Optional(forms.hours_to),
  zone: Type.Optional(forms.zone),
  ...told,
}

export const SetAlertRuleBody = Type.Object({ ...form, code: Type.Optional(code) }, strict)
export const TryAlertRuleBody = Type.Object(form, strict)
export const RemoveAlertRuleBody = Type.Object({ name, code: Type.Optional(code) }, strict)

export const TriedAlertRule = Type.Object({
  now: Type.Array(Type.String(), { description: 'what it would say now' }),
  fired: orNull(
    Type.Integer({
      description: 'how often it would have fired in the last 7 days; null where that is not known',
    }),
  ),
})

export const SentQuery = Type.Object(
  { ...paging, state: Type.Optional(oneOf(deliveryStates, 'only in this state')) },
  strict,
)

export const SentList = page(
  Type.Object({
    alert_id: Type.String(),
    user_id: Type.String(),
    email: Type.String(),
    kind: Type.String(),
    title: Type.String(),
    words: Type.String(),
    count: Type.Integer({ description: 'how many times it happened' }),
    channel: channelName,
    state: oneOf(deliveryStates, 'what became of it'),
    attempts: Type.Integer(),
    error: orNull(Type.String({ description: 'what went wrong last' })),
    at: isoTime('when it last happened'),
    due_at: orNull(isoTime('when it is sent next')),
    ended_at: orNull(isoTime('when it was sent or given up')),
  }),
)

export const ResendAlertBody = Type.Object(
  {
    alert_id: Type.String({ pattern: '^[0-9a-f]{32}$', description: 'the id of an alert' }),
    user_id: Type.String({ pattern: '^[1-9][0-9]{0,17}$', description: 'who was told' }),
    channel: channelName,
  },
  strict,
)
