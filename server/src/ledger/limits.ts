import { findBank } from '../lib/banks.ts'
import { hourOf, type LocalTime, localDayOf, localMonthOf, type Span } from '../lib/local-time.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import type { Order, OrderKind } from './book.ts'

export const limitMeasures = ['amount', 'orders', 'new_account', 'blocked', 'allowed'] as const
export type LimitMeasure = (typeof limitMeasures)[number]

/** Whose orders are added up. An account is the payee's of a withdrawal, the payer's of a deposit. */
export const limitSubjects = ['agent', 'user', 'account'] as const
export type LimitSubject = (typeof limitSubjects)[number]

export const limitPeriods = ['order', 'hour', 'day', 'month'] as const
export type LimitPeriod = (typeof limitPeriods)[number]

export const limitFields = ['account', 'name', 'bank', 'user'] as const
export type LimitField = (typeof limitFields)[number]

export const limitOutcomes = ['refuse', 'hold', 'wait', 'note'] as const
export type LimitOutcome = (typeof limitOutcomes)[number]

/** A rule that new orders are measured against. */
export interface LimitRule {
  /** 0: each agent by itself, unless it has a rule of the same name. */
  agentId: bigint
  name: string
  kind: OrderKind
  measure: LimitMeasure
  per: LimitSubject | null
  period: LimitPeriod | null
  /** In minor units, or a number of orders. */
  most: bigint | null
  currency: Currency | null
  /** How long a payout to an account that was never paid before waits. */
  hours: number | null
  field: LimitField | null
  outcome: LimitOutcome
}

/** What was used of a limit in a time. */
export interface Use {
  amountMinor: bigint
  orders: bigint
}

/** What counts in a quarter of an hour, or changes there. */
export interface LimitUse {
  agentId: bigint
  kind: OrderKind
  per: LimitSubject
  subject: string
  startsAt: Date
  amountMinor: bigint
  orders: bigint
}

/** What the limits said about an order that was taken. */
export interface LimitCheck {
  agentId: bigint
  orderId: string
  outcome: 'hold' | 'wait' | 'note'
  /** When a payout that waits because of its account may go. */
  waitUntil: Date | null
  words: string
  at: Date
}

/** An account that was paid to, and an order that paid it. */
export interface LimitPayee {
  agentId: bigint
  account: string
  orderId: string
}

/** What an agent's limits need to know about an order. */
export interface LimitFacts {
  rules: readonly LimitRule[]
  used: (per: LimitSubject, subject: string, span: Span) => Use
  isListed: (rule: LimitRule, value: string) => boolean
  isPayee: (account: string) => boolean
}

/** Everything about limits that the commands of one agent need, as read under its wallet's lock. */
export interface AgentLimits {
  rules: readonly LimitRule[]
  /** By kind and subject: from when on orders are counted. It moves back until everything needed is. */
  counting: ReadonlyMap<string, Date>
  /** By `useKey`: what was used before the batch. */
  used: ReadonlyMap<string, Use>
  /** By `entryKey`: what of the commands' orders is on a list. */
  listed: ReadonlySet<string>
  /** Those of the commands' accounts that were paid before. */
  payees: ReadonlySet<string>
}

export const countingKey = (kind: OrderKind, per: LimitSubject | 'payee') => `${kind} ${per}`

export const useKey = (kind: OrderKind, per: LimitSubject, subject: string, { start, end }: Span) =>
  `${kind} ${per} ${start.getTime()} ${end.getTime()} ${subject}`

export const entryKey = ({ agentId, name }: Pick<LimitRule, 'agentId' | 'name'>, value: string) =>
  `${agentId} ${name} ${value}`

/** What a limit says about an order that goes beyond it. */
export interface LimitHit {
  rule: LimitRule
  words: string
  /** When the same order might be taken; null if time does not change it. */
  frees: Date | null
}

/** An order counts unless it came to nothing. A payout that came back counts: it was made. */
export function countsForLimits({ status }: Pick<Order, 'status'>): boolean {
  return status === 'WAITING' || status === 'PAID' || status === 'REVERT'
}

/**
 * The account of an order, however its number is written and whichever branch of its bank is named. An IBAN says
 * everything by itself.
 */
export function accountKey({ bankCode, accountNo }: Pick<Order, 'bankCode' | 'accountNo'>): string {
  const number = bareAccountNo(accountNo)
  return ibanForm.test(number) ? number : `${bankKey(bankCode)}:${number}`
}

const ibanForm = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/

/** A bank, whichever of its branches is named: the first four letters of an IFSC, the first eight of a BIC. */
function bankKey(bankCode: string): string {
  if (/^[A-Z]{4}0[A-Z0-9]{6}$/.test(bankCode)) return bankCode.slice(0, 4)
  return /^[A-Z]{6}[A-Z0-9]{5}$/.test(bankCode) ? bankCode.slice(0, 8) : bankCode
}

function bareAccountNo(accountNo: string): string {
  return accountNo.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
}

export function subjectOf(
  order: Pick<Order, 'bankCode' | 'accountNo' | 'userId'>,
  per: LimitSubject,
): string {
  if (per === 'agent') return ''
  return per === 'user' ? order.userId : accountKey(order)
}

export const quarterMs = 900_000

/** The quarter of an hour that a moment is in. */
export function quarterOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / quarterMs) * quarterMs)
}

/** The hour, day or month of an order, in the service's time zone; undefined for the order alone. */
export function spanOf(
  period: LimitPeriod | null,
  at: Date,
  localTime: LocalTime,
): Span | undefined {
  switch (period) {
    case 'hour':
      return hourOf(at, localTime)
    case 'day':
      return localDayOf(at, localTime)
    case 'month':
      return localMonthOf(at, localTime)
    default:
      return undefined
  }
}

/** What a list may say of an order: an account with or without its bank, a bank by any of its codes. */
export function listedValues(
  field: LimitField,
  order: Pick<Order, 'bankCode' | 'accountNo' | 'accountName' | 'userId' | 'currency'>,
): string[] {
  const { bankCode, accountNo, currency } = order
  const codes = [bankCode, bankKey(bankCode), ...(findBank(currency, bankCode)?.aliases ?? [])]
  const values = () => {
    switch (field) {
      case 'account':
        return [
          bareAccountNo(accountNo),
          ...codes.map((code) => accountKey({ bankCode: code, accountNo })),
        ]
      case 'name':
        return [comparableName(order.accountName)]
      case 'bank':
        return codes
      case 'user':
        return [order.userId]
    }
  }
  return [...new Set(values())]
}

/** A value as a list keeps it, so that orders can be compared with it. */
export function listedValue(field: LimitField, text: string): string {
  const trimmed = text.trim()
  if (field === 'name') return comparableName(trimmed)
  // A BIC that ends so names no branch.
  if (field === 'bank') return trimmed.toUpperCase().replace(/^([A-Z]{6}[A-Z0-9]{2})XXX$/, '$1')
  if (field === 'user') return trimmed
  const [bank, number] = trimmed.split(':', 2)
  return number === undefined
    ? bareAccountNo(trimmed)
    : accountKey({ bankCode: (bank ?? '').trim().toUpperCase(), accountNo: number })
}

/** Names are compared whatever their case, spaces and width. */
function comparableName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
}

/**
 * The rules that hold for an agent's orders in its currency: its own, and those of each agent unless it has one
 * of the same name.
 */
export function rulesFor(
  rules: readonly LimitRule[],
  agentId: bigint,
  currency: Currency,
): LimitRule[] {
  const own = new Set(rules.filter((each) => each.agentId === agentId).map(({ name }) => name))
  return rules
    .filter((rule) => rule.agentId === agentId || (rule.agentId === 0n && !own.has(rule.name)))
    .filter((rule) => rule.currency === null || rule.currency === currency)
}

/** Longer than any month, in any time zone. */
const countedBackMs = 32 * 86_400_000

/** How far back orders are counted: a month, but every account that was ever paid is known. */
export function countsBackTo(per: LimitSubject | 'payee', now: Date): Date {
  return per === 'payee' ? new Date(0) : quarterOf(new Date(now.getTime() - countedBackMs))
}

/** What must be added up for a rule, if anything. */
export function countedBy({ measure, per, period }: LimitRule): LimitSubject | 'payee' | undefined {
  if (measure === 'new_account') return 'payee'
  return per !== null && period !== 'order' ? per : undefined
}

/** The rules that an order goes beyond. Pure: the facts are as they were before the order. */
export function hitsOf(order: Order, facts: LimitFacts, localTime: LocalTime): LimitHit[] {
  return facts.rules
    .filter(({ kind }) => kind === order.kind)
    .map((rule) => hitOf(order, rule, facts, localTime))
    .filter((hit) => hit !== undefined)
}

function hitOf(
  order: Order,
  rule: LimitRule,
  { used, isListed, isPayee }: LimitFacts,
  localTime: LocalTime,
): LimitHit | undefined {
  const { name, field, measure } = rule
  switch (measure) {
    case 'amount':
    case 'orders':
      return overLimit(order, rule, used, localTime)
    case 'new_account':
      if (isPayee(accountKey(order))) return undefined
      return { rule, words: `${name}: the account was never paid before`, frees: null }
    case 'blocked':
    case 'allowed': {
      if (field === null) return undefined
      const isOnIt = listedValues(field, order).some((value) => isListed(rule, value))
      if (isOnIt === (measure === 'allowed')) return undefined
      const says = isOnIt ? 'on a list that blocks it' : 'not on the list of those allowed'
      return { rule, words: `${name}: the ${field} is ${says}`, frees: null }
    }
  }
}

function overLimit(
  order: Order,
  rule: LimitRule,
  used: LimitFacts['used'],
  localTime: LocalTime,
): LimitHit | undefined {
  const { name, measure, per, period, most } = rule
  if (per === null || most === null) return undefined
  const span = spanOf(period, order.createdAt, localTime)
  const before = span ? used(per, subjectOf(order, per), span) : { amountMinor: 0n, orders: 0n }
  const isAmount = measure === 'amount'
  const usedNow = isAmount ? before.amountMinor : before.orders
  const asked = isAmount ? order.amountMinor : 1n
  if (usedNow + asked <= most) return undefined
  const said = (value: bigint) =>
    isAmount ? `${decimalText(value, order.currency)} ${order.currency}` : `${value} orders`
  const whose = per === 'agent' ? '' : ` for one ${per}`
  if (!span) return { rule, words: `${name}: at most ${said(most)} an order`, frees: null }
  // An order above the limit as a whole does not become possible later.
  const frees = asked <= most ? span.end : null
  const words = `${name}: at most ${said(most)} ${period === 'hour' ? 'an' : 'a'} ${period}${whose}, of which ${said(usedNow)} ${isAmount ? 'is' : 'are'} used`
  return { rule, words, frees }
}

/** What follows from the rules that an order goes beyond: a refusal, or what is kept about the order. */
export function verdictOf(
  order: Order,
  hits: readonly LimitHit[],
): { refusal: LimitHit } | { check: LimitCheck | undefined } {
  const refusals = hits.filter(({ rule }) => rule.outcome === 'refuse')
  // What frees last, or never, tells the agent most.
  const [refusal] = refusals.sort((a, b) => freesAt(b) - freesAt(a))
  if (refusal) return { refusal }
  const outcome = (['hold', 'wait', 'note'] as const).find((each) =>
    hits.some(({ rule }) => rule.outcome === each),
  )
  if (!outcome) return { check: undefined }
  const hours = Math.max(0, ...hits.map(({ rule }) => rule.hours ?? 0))
  return {
    check: {
      agentId: order.agentId,
      orderId: order.orderId,
      outcome,
      waitUntil: hours === 0 ? null : new Date(order.createdAt.getTime() + hours * 3_600_000),
      words: hits
        .map(({ words }) => words)
        .join('; ')
        .slice(0, 1000),
      at: order.createdAt,
    },
  }
}

function freesAt({ frees }: LimitHit): number {
  return frees?.getTime() ?? Number.MAX_SAFE_INTEGER
}
