import { createHash } from 'node:crypto'
import { type ExactJson, valueAt } from '../../lib/exact-json.ts'
import { jsonText } from '../../lib/json-text.ts'
import type { ProviderEvent, ReportedLine } from '../provider.ts'
import type { AmountAt, AskRule, CurrencyAt, EventAt, NoticeRule } from './connector-document.ts'
import { amountAt, currencyAt, fits, textAt, timeAt } from './read-value.ts'

/** What one event of a company means, and which rule says so. */
export interface ReadEvent {
  /** The number of the rule that fits, from 0; null if none does. */
  rule: number | null
  events: ProviderEvent[]
  lines: ReportedLine[]
  /** Why nothing could be made of it. */
  fault?: string
}

/** Reads one event by the first rule that fits. */
export function readEvent(
  rules: readonly (NoticeRule | AskRule)[],
  said: ExactJson,
  status?: number,
): ReadEvent {
  const at = rules.findIndex((rule) => fits(rule.if, said, status))
  const rule = rules[at]
  if (!rule)
    return { rule: null, events: [], lines: [], fault: `no rule fits it${wordsAt(rules, said)}` }
  const read: ReadEvent = { rule: at, events: [], lines: [] }
  for (const where of rule.events) {
    if (where.type === 'line') {
      const line = lineAt(where, said)
      if (typeof line === 'string') return { ...read, events: [], lines: [], fault: line }
      read.lines.push(line)
    } else {
      const event = eventAt(where, said)
      if (typeof event === 'string') return { ...read, events: [], lines: [], fault: event }
      read.events.push(event)
    }
  }
  return read
}

/** A word of a company's own list, such as a state: no sentence, which may name a person, and no passing number. */
const isWord = /^[A-Za-z][A-Za-z_.:-]{0,39}$/

/** What stands where rules look first, so that events of one kind are told alike. */
function wordsAt(rules: readonly (NoticeRule | AskRule)[], said: ExactJson): string {
  const looked = new Set(rules.flatMap((rule) => Object.keys(rule.if)))
  const words = [...looked].flatMap((at) => {
    const word = at === 'status' ? undefined : valueAt(said, at)
    const isTold = typeof word === 'boolean' || (typeof word === 'string' && isWord.test(word))
    return isTold ? `${at} is ${word}` : []
  })
  return words.length === 0 ? '' : `: ${words.slice(0, 3).join(', ').slice(0, 200)}`
}

/** An event that no rule could read. It has an id of its own contents, so that a repetition is the same. */
export function unreadEvent(said: ExactJson, fault: string): ProviderEvent {
  const text = writtenText(said)
  const id = `unread-${createHash('sha256').update(text).digest('hex')}`
  return { id, type: 'unread', reference: '', fault, text: text.slice(0, 4_000) }
}

/** JSON of what was read, with numbers as they were written. */
export function writtenText(said: ExactJson): string {
  return jsonText(plainOf(said))
}

function plainOf(said: ExactJson): unknown {
  if (said instanceof Map) {
    return Object.fromEntries([...said].map(([name, each]) => [name, plainOf(each)]))
  }
  return Array.isArray(said) ? said.map(plainOf) : said
}

type Said = Exclude<EventAt, { type: 'line' }>

/** What an event says, or why it cannot be read. */
function eventAt(where: Said, said: ExactJson): ProviderEvent | string {
  const id = idAt(where.id, said)
  const reference = textAt(said, where.reference)
  if (id === undefined) return 'its id is not there'
  if (reference === undefined || reference.length > 200) {
    return `there is no reference at ${where.reference}`
  }
  switch (where.type) {
    case 'payment': {
      const paymentId = idAt(where.paymentId, said)
      if (paymentId === undefined) return 'the id of the payment is not there'
      const money = moneyAt(where, said)
      if (typeof money === 'string') return money
      const paidAt = where.paidAt ? timeAt(said, where.paidAt) : null
      if (paidAt === undefined) return `there is no time at ${where.paidAt?.at}`
      const payer = payerAt(where.payer, said)
      return { id, type: 'payment', paymentId, reference, ...money, paidAt, payer }
    }
    case 'payment_taken_back': {
      const paymentId = idAt(where.paymentId, said)
      if (paymentId === undefined) return 'the id of the payment is not there'
      return { id, type: 'payment_taken_back', paymentId, reference }
    }
    case 'deposit_ended':
      return { id, type: 'deposit_ended', reference, status: where.status }
    case 'cost': {
      const costId = idAt(where.costId, said)
      if (costId === undefined) return 'the id of the cost is not there'
      const money = moneyAt(where, said)
      return typeof money === 'string' ? money : { id, type: 'cost', costId, reference, ...money }
    }
    case 'payout': {
      const { amount, currency } = where
      const money = amount && currency ? moneyAt({ amount, currency }, said) : undefined
      if (typeof money === 'string') return money
      if (where.outcome !== 'rejected') {
        return { id, type: 'payout', reference, ...money, outcome: { type: where.outcome } }
      }
      const reason = reasonAt(where.reason, said)
      if (reason === undefined) return `there is no reason at ${where.reason}`
      const mayTryAnother = where.mayTryAnother ?? false
      const outcome = { type: 'rejected', mayTryAnother, reason } as const
      return { id, type: 'payout', reference, ...money, outcome }
    }
  }
}

/** The reason of a refusal; undefined if a rule says where it is and it is not. */
export function reasonAt(pointer: string | undefined, said: ExactJson): string | undefined {
  if (pointer === undefined) return 'The company refused it.'
  return textAt(said, pointer)?.slice(0, 200)
}

function lineAt(where: EventAt & { type: 'line' }, said: ExactJson): ReportedLine | string {
  const id = idAt(where.id, said)
  if (id === undefined) return 'its id is not there'
  const money = moneyAt(where, said)
  if (typeof money === 'string') return money
  const bookedAt = timeAt(said, where.bookedAt)
  if (!bookedAt) return `there is no time at ${where.bookedAt.at}`
  const payer = payerAt(where.payer, said)
  return {
    id,
    amountMinor: where.direction === 'credit' ? money.amountMinor : -money.amountMinor,
    currency: money.currency,
    bookedAt,
    text: where.texts
      .flatMap((at) => textAt(said, at) ?? [])
      .join(' ')
      .slice(0, 4_000),
    accountNo: where.accountNo === undefined ? null : (textAt(said, where.accountNo) ?? null),
    payer: {
      accountNo: payer?.accountNo ?? null,
      name: payer?.accountName ?? null,
      bank: payer?.bankCode ?? null,
    },
  }
}

function moneyAt(where: { amount: AmountAt; currency: CurrencyAt }, said: ExactJson) {
  const currency = currencyAt(said, where.currency)
  if (currency === undefined) return 'its currency is not known here'
  const amountMinor = amountAt(said, where.amount, currency)
  if (amountMinor === undefined) return `there is no amount in ${currency} at ${where.amount.at}`
  return { amountMinor, currency }
}

function payerAt(
  where: { accountNo?: string; accountName?: string; bankCode?: string } | undefined,
  said: ExactJson,
) {
  if (!where) return null
  const at = (pointer: string | undefined) =>
    pointer === undefined ? null : (textAt(said, pointer)?.slice(0, 200) ?? null)
  const accountNo = at(where.accountNo)
  const accountName = at(where.accountName)
  const bankCode = at(where.bankCode)
  const isKnown = accountNo !== null || accountName !== null || bankCode !== null
  return isKnown ? { accountNo, accountName, bankCode } : null
}

/** The parts of an id, together; undefined if one of them is missing. */
function idAt(parts: readonly (string | { text: string })[], said: ExactJson): string | undefined {
  const texts = parts.flatMap(
    (part) => (typeof part === 'string' ? idText(said, part) : part.text) ?? [],
  )
  if (texts.length < parts.length) return undefined
  const [only = ''] = texts
  // As in a JSON Pointer, so that no two ids become one: a:b and c is not a and b:c.
  return texts.length === 1 ? only : texts.map(idPart).join(':')
}

function idPart(text: string): string {
  return text.replaceAll('~', '~0').replaceAll(':', '~1')
}

function idText(said: ExactJson, pointer: string): string | undefined {
  const value = valueAt(said, pointer)
  return typeof value === 'boolean' ? String(value) : textAt(said, pointer)
}
