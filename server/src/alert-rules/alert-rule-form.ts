import { type Channel, channels } from '../alerts/alert.ts'
import { type OrderKind, orderKinds } from '../ledger/book.ts'
import { isTimeZone } from '../lib/local-time.ts'
import { type Currency, currencies, parseDecimal } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import type { FieldError } from '../lib/problem.ts'
import { type Role, roles } from '../operators/operator.ts'
import { type AlertRule, operatorsOwn, ownKinds, type RuleKind, ruleKinds } from './alert-rule.ts'

/** A rule as people write it. */
export interface AlertRuleForm {
  name: string
  kind: string
  threshold?: string | null | undefined
  window_minutes?: number | null | undefined
  min_orders?: number | null | undefined
  order_kind?: string | null | undefined
  provider?: string | null | undefined
  currency?: string | null | undefined
  hours_from?: string | null | undefined
  hours_to?: string | null | undefined
  zone?: string | null | undefined
  roles: readonly string[]
  channels: readonly string[]
  is_on: boolean
}

/** What a kind takes besides who is told. */
const takes: Record<RuleKind, readonly (keyof AlertRuleForm | 'app_id')[]> = {
  payout_unknown: ['threshold', 'app_id', 'provider'],
  lane_probing: ['app_id'],
  callbacks_failing: ['threshold', 'app_id'],
  success_below: [
    ...(['threshold', 'window_minutes', 'min_orders'] as const),
    ...(['order_kind', 'app_id', 'provider'] as const),
  ],
  balance_below: ['threshold', 'currency', 'app_id', 'provider'],
  proof_red: [],
  breaks: ['threshold', 'provider'],
  nothing_for: ['threshold', 'order_kind', 'hours_from', 'hours_to', 'zone', 'app_id'],
}

/** What a threshold that is not an amount may be, and what it is. */
const whole: Partial<Record<RuleKind, [least: number, most: number, what: string]>> = {
  payout_unknown: [1, 10_080, 'minutes'],
  callbacks_failing: [1, 10_000, 'callbacks'],
  success_below: [1, 100, 'per cent'],
  breaks: [1, 1_000, 'days'],
  nothing_for: [5, 1_440, 'minutes'],
}

const optional = [
  ...(['threshold', 'window_minutes', 'min_orders', 'order_kind', 'provider'] as const),
  ...(['currency', 'hours_from', 'hours_to', 'zone'] as const),
]

/** Reads a rule; returns everything that is wrong with it instead. */
export function readAlertRuleForm(
  form: AlertRuleForm,
  about: {
    ownerId: bigint
    agent: { agentId: bigint; currency: Currency } | null
    userIds: bigint[]
    updatedAt: Date
    updatedBy: string
  },
): { rule: AlertRule } | { faults: FieldError[] } {
  const faults: FieldError[] = []
  const fault = (field: string, message: string) => faults.push({ field, message })
  const { ownerId, agent, userIds } = about
  const isOwn = ownerId !== operatorsOwn
  const kinds = isOwn ? ownKinds : ruleKinds
  const kind = kinds.find((each) => each === form.kind)
  if (!kind) return { faults: [{ field: 'kind', message: `is one of ${kinds.join(', ')}` }] }
  for (const field of optional) {
    if (form[field] != null && !takes[kind].includes(field)) {
      fault(field, `does not go with ${kind}`)
    }
  }
  if (agent && !takes[kind].includes('app_id')) fault('app_id', `does not go with ${kind}`)
  if (form.name.trim() !== form.name || !isPrintable(form.name, 60)) {
    fault('name', 'must be 1 to 60 characters, with no space at its ends')
  }
  const threshold = thresholdOf(kind, form, agent, fault)
  const isShare = kind === 'success_below'
  const longest = isOwn ? 120 : 1_440
  if (isShare && !isWithin(form.window_minutes, 5, longest)) {
    fault('window_minutes', `must be 5 to ${longest}`)
  }
  if (isShare && !isWithin(form.min_orders, 1, 1_000_000)) fault('min_orders', 'must be 1 or more')
  const isTime = (text: string | null | undefined) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text ?? '')
  if (kind === 'nothing_for') {
    if (!isTime(form.hours_from)) fault('hours_from', 'must be a time such as 08:00')
    if (!isTime(form.hours_to)) fault('hours_to', 'must be a time such as 22:00')
    if (form.hours_from === form.hours_to) fault('hours_to', 'must differ from hours_from')
    if (!isTimeZone(form.zone ?? '')) fault('zone', 'must be a time zone such as Asia/Bangkok')
  }
  if (kind === 'balance_below' && agent && form.provider != null) {
    fault('provider', 'does not go with one agent')
  }
  if (form.provider != null && !isPrintable(form.provider, 200)) fault('provider', 'names nothing')
  if (isOwn && form.provider != null) fault('provider', "does not go with an agent's own rule")
  if (isOwn && form.roles.some((role) => role !== 'agent')) {
    fault('roles', "may name nobody but the agent's users")
  }
  if (form.roles.length === 0 && userIds.length === 0) fault('roles', 'must name somebody')
  if (form.roles.includes('agent') && !agent) {
    fault('roles', 'may include agent only in a rule about one agent')
  }
  const currency = currencies.find((each) => each === (agent?.currency ?? form.currency)) ?? null
  if (faults.length > 0) return { faults }
  return {
    rule: {
      ownerId,
      name: form.name,
      kind,
      threshold,
      windowMinutes: form.window_minutes ?? null,
      minOrders: form.min_orders ?? null,
      orderKind: orderKinds.find((each): each is OrderKind => each === form.order_kind) ?? null,
      agentId: agent?.agentId ?? null,
      provider: form.provider ?? null,
      currency: kind === 'balance_below' ? currency : null,
      hoursFrom: form.hours_from ?? null,
      hoursTo: form.hours_to ?? null,
      zone: form.zone ?? null,
      roles: roles.filter((each): each is Role => form.roles.includes(each)),
      userIds,
      channels: channels.filter((each): each is Channel => form.channels.includes(each)),
      isOn: form.is_on,
      updatedAt: about.updatedAt,
      updatedBy: about.updatedBy,
    },
  }
}

function thresholdOf(
  kind: RuleKind,
  form: AlertRuleForm,
  agent: { currency: Currency } | null,
  fault: (field: string, message: string) => void,
): bigint | null {
  if (kind === 'balance_below') {
    const currency = agent?.currency ?? currencies.find((each) => each === form.currency)
    if (!currency) fault('currency', 'must be named')
    if (agent && form.currency != null && form.currency !== agent.currency) {
      fault('currency', `must be the agent's, ${agent.currency}`)
    }
    const minor = currency && parseDecimal(form.threshold ?? '', currency)
    if (minor === undefined || minor < 0n) fault('threshold', 'must be an amount')
    return minor ?? null
  }
  const bounds = whole[kind]
  if (!bounds) return null
  const [least, most, what] = bounds
  const given = form.threshold ?? ''
  if (!/^\d{1,6}$/.test(given) || !isWithin(Number(given), least, most)) {
    fault('threshold', `must be ${least} to ${most} ${what}`)
    return null
  }
  return BigInt(given)
}

function isWithin(value: number | null | undefined, least: number, most: number): boolean {
  return value != null && Number.isInteger(value) && value >= least && value <= most
}
