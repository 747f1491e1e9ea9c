import type { ExactJson } from '../../lib/exact-json.ts'
import { type Currency, decimalText } from '../../lib/money.ts'
import type { DepositOutcome, PayoutOutcome, ProviderEvent, ReportedLine } from '../provider.ts'
import type { ConnectorDocument } from './connector-document.ts'
import {
  type Asked,
  type CompanyAnswer,
  readAskedDeposit,
  readDepositAnswer,
  readPayoutAnswer,
} from './read-answer.ts'
import { type ReadEvent, readEvent, writtenText } from './read-events.ts'
import { eventsIn, readBody } from './verify-notice.ts'

export const sampleCalls = [
  'expectDeposit',
  'askDeposit',
  'submitPayout',
  'askPayout',
  'notice',
] as const
export type SampleCall = (typeof sampleCalls)[number]

/** What a document makes of something that the company says. */
export interface Tried {
  /** Where the rule stands that fits, such as /askPayout/answers/1; null if none does. */
  rule: string | null
  /** The name that the document gives that rule. */
  ruleName: string | null
  /** What would happen, in words that samples are compared with. */
  got: string[]
  /** Why nothing would. */
  fault: string | null
}

/** What became of one sample, or of something that was made of it. */
export interface SampleResult {
  name: string
  call: SampleCall
  ok: boolean
  expected: string[]
  tried: Tried[]
}

/** Tries an answer or a notice on a document, without a signature and without changing anything. */
export function tryOn(
  document: ConnectorDocument,
  call: SampleCall,
  answer: CompanyAnswer,
  asked: Asked,
): Tried[] {
  switch (call) {
    case 'submitPayout':
    case 'askPayout': {
      const rules = document[call]
      if (!rules) return [noCall(call)]
      const { rule, outcome } = readPayoutAnswer(rules, answer, asked, call)
      return [tried(`/${call}/answers`, rules.answers, rule, [payoutWords(outcome)], outcome)]
    }
    case 'expectDeposit': {
      const rules = document.expectDeposit
      if (!rules) return [noCall(call)]
      const { rule, outcome } = readDepositAnswer(rules, answer, asked)
      return [tried(`/${call}/answers`, rules.answers, rule, [depositWords(outcome)], outcome)]
    }
    case 'askDeposit': {
      const rules = document.askDeposit
      if (!rules) return [noCall(call)]
      return [triedEvent(`/${call}/rules`, rules.rules, readAskedDeposit(rules, answer, asked))]
    }
    case 'notice': {
      const { notice } = document
      if (!notice) return [noCall(call)]
      const body = readBody(notice, answer.body)
      const said = body === undefined ? undefined : eventsIn(notice, body)
      if (!said)
        return [{ rule: null, ruleName: null, got: ['unread'], fault: 'it cannot be read' }]
      return said.map((each) => {
        const read = readEvent(notice.rules, each)
        const found = triedEvent('/notice/rules', notice.rules, read)
        return read.fault === undefined ? found : { ...found, got: ['unread'] }
      })
    }
  }
}

function noCall(call: string): Tried {
  return { rule: null, ruleName: null, got: [], fault: `the document has no ${call}` }
}

function tried(
  where: string,
  rules: readonly { name?: string }[],
  rule: number | null,
  got: string[],
  outcome: { type: string; reason?: string },
): Tried {
  return {
    rule: rule === null ? null : `${where}/${rule}`,
    ruleName: rule === null ? null : (rules[rule]?.name ?? null),
    got,
    fault: outcome.type === 'unknown' ? (outcome.reason ?? null) : null,
  }
}

function triedEvent(
  where: string,
  rules: readonly { name?: string }[],
  { rule, events, lines, fault }: ReadEvent,
): Tried {
  const got =
    fault === undefined ? [...events.map(eventWords), ...lines.map(lineWords)] : ['unknown']
  return { ...tried(where, rules, rule, got, { type: '' }), fault: fault ?? null }
}

export function payoutWords(outcome: PayoutOutcome): string {
  const isOther = outcome.type === 'rejected' && outcome.mayTryAnother
  return isOther ? 'rejected, another may try' : outcome.type
}

export function depositWords(outcome: DepositOutcome): string {
  if (outcome.type !== 'accepted') return outcome.type
  return `accepted with ${Object.keys(outcome.instructions).join(', ')}`
}

/** An event in the words of samples. */
export function eventWords(event: ProviderEvent): string {
  switch (event.type) {
    case 'payment':
      return `payment ${money(event)} for ${event.reference} as ${event.paymentId}`
    case 'payment_taken_back':
      return `payment_taken_back for ${event.reference} as ${event.paymentId}`
    case 'deposit_ended':
      return `deposit_ended ${event.status} for ${event.reference}`
    case 'payout': {
      const { amountMinor, currency, reference, outcome } = event
      const isTold = amountMinor !== undefined && currency !== undefined
      const of = isTold ? ` ${money({ amountMinor, currency })}` : ''
      return `payout ${payoutWords(outcome)}${of} for ${reference}`
    }
    case 'cost':
      return `cost ${money(event)} for ${event.reference} as ${event.costId}`
    case 'unread':
      return 'unread'
  }
}

function lineWords({ id, amountMinor, currency }: ReportedLine): string {
  return `line ${decimalText(amountMinor, currency)} ${currency} as ${id}`
}

function money({ amountMinor, currency }: { amountMinor: bigint; currency: Currency }): string {
  return `${decimalText(amountMinor, currency)} ${currency}`
}

/** The bytes of a sample's body: text as it is, or JSON with its numbers as they are written. */
export function bytesOfBody(body: unknown, written: ExactJson | undefined): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  return Buffer.from(written === undefined ? JSON.stringify(body) : writtenText(written))
}
