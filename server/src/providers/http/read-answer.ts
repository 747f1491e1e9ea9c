import { type ExactJson, parseExactJson, valueAt } from '../../lib/exact-json.ts'
import type { Currency } from '../../lib/money.ts'
import type { DepositInstructions, DepositOutcome, PayoutOutcome } from '../provider.ts'
import type { AskDepositCall, DepositCall, Echo, Gives, PayoutCall } from './connector-document.ts'
import { isEnd, isSuccess } from './document-faults.ts'
import { type ReadEvent, readEvent, reasonAt } from './read-events.ts'
import { amountAt, fits, textAt } from './read-value.ts'

/** What a company answered. */
export interface CompanyAnswer {
  status: number
  body: Buffer
  /** The body was longer than is read. */
  isCut?: boolean
  /** How long the company asks not to be called, if it does. */
  restMs?: number
}

/** What was asked about, for what the answer repeats of it. */
export interface Asked {
  reference: string
  amountMinor: bigint
  currency: Currency
  /** The company's own id of it, if it told one before. */
  theirId?: string | null
  /** The company's own id of who is to be paid, if the document lists payees. */
  payeeId?: string | undefined
}

/** An outcome, and the number of the rule that says so, from 0; null if none does. */
export interface Read<T> {
  rule: number | null
  outcome: T
  /** The company's own id, if the answer has it. */
  theirId: string | null
}

type Unknown = { type: 'unknown'; reason: string }

const unreadable = 'answered what cannot be read'

/** What an answer says about a payout. Whatever is not explicit is unknown. */
export function readPayoutAnswer(
  call: PayoutCall,
  answer: CompanyAnswer,
  asked: Asked,
  which: 'submitPayout' | 'askPayout',
): Read<PayoutOutcome> {
  const json = readJson(answer)
  if ('unknown' in json) return nothing(json.unknown)
  const at = call.answers.findIndex((rule) => fits(rule.if, json.value, answer.status))
  const rule = call.answers[at]
  if (!rule) return nothing(noRule(answer, json.value))
  const another = echoFault(call.echo, json.value, asked, lacksEcho(rule.means))
  if (another !== undefined) return { ...nothing(another), rule: at }
  const isQuestion = which === 'askPayout'
  if (isQuestion ? !mayEnd(rule.means, call.echo, answer, json.value) : !ofHandOver(rule.means)) {
    return { ...nothing(noRule(answer, json.value)), rule: at }
  }
  const theirId = idIn(call.theirId, json.value)
  if (rule.means !== 'rejected') return { rule: at, outcome: { type: rule.means }, theirId }
  const reason = reasonAt(rule.reason, json.value)
  if (reason === undefined) return { ...nothing(unreadable), rule: at }
  const mayTryAnother = rule.mayTryAnother ?? false
  return { rule: at, outcome: { type: 'rejected', mayTryAnother, reason }, theirId }
}

/** What an answer says about a deposit that the company was asked to expect. */
export function readDepositAnswer(
  call: DepositCall,
  answer: CompanyAnswer,
  asked: Asked,
): Read<DepositOutcome> {
  const json = readJson(answer)
  if ('unknown' in json) return nothing(json.unknown)
  const at = call.answers.findIndex((rule) => fits(rule.if, json.value, answer.status))
  const rule = call.answers[at]
  if (!rule) return nothing(noRule(answer, json.value))
  const another = echoFault(call.echo, json.value, asked, lacksEcho(rule.means))
  if (another !== undefined) return { ...nothing(another), rule: at }
  const theirId = idIn(call.theirId, json.value)
  if (rule.means === 'rejected') {
    const reason = reasonAt(rule.reason, json.value)
    if (reason === undefined) return { ...nothing(unreadable), rule: at }
    return { rule: at, outcome: { type: 'rejected', reason }, theirId }
  }
  const instructions = givenBy(call.gives, json.value)
  if (!instructions) return { ...nothing(unreadable), rule: at }
  return { rule: at, outcome: { type: 'accepted', instructions }, theirId }
}

/** What an answer to a question about a deposit says. */
export function readAskedDeposit(
  call: AskDepositCall,
  answer: CompanyAnswer,
  asked: Asked,
): ReadEvent {
  const json = readJson(answer)
  if ('unknown' in json) return { rule: null, events: [], lines: [], fault: json.unknown }
  // Another amount than was asked for is for the core to judge: the money has come all the same.
  const { amount: _amount, currency: _currency, ...name } = call.echo ?? {}
  const another = echoFault(name, json.value, asked, false)
  if (another !== undefined) return { rule: null, events: [], lines: [], fault: another }
  const read = readEvent(call.rules, json.value, answer.status)
  // It was asked about one deposit: whatever it says of another is no answer.
  const isOther = read.events.some(
    (event) => event.reference !== asked.reference && event.type !== 'unread',
  )
  if (isOther) return { ...read, events: [], fault: 'it answers about another deposit' }
  return read
}

function nothing<T extends { type: string }>(reason: string): Read<T | Unknown> {
  return { rule: null, outcome: { type: 'unknown', reason }, theirId: null }
}

/** The answer's JSON, if it is whole. */
function readJson(answer: CompanyAnswer): { value: ExactJson } | { unknown: string } {
  if (answer.isCut) return { unknown: 'answered more than can be read' }
  const value = parseExactJson(answer.body)
  return value === undefined ? { unknown: noRule(answer, null) } : { value }
}

/** A refusal often repeats nothing of what it refuses. What it does repeat must be right. */
function lacksEcho(means: string): boolean {
  return means === 'rejected' || means === 'not_found'
}

/**
 * Whether the answer to a question may end a payout: it was answered, and names the payout that it is about. Otherwise a
 * refused question, or the answer about another order, would be read as the end of this one.
 */
function mayEnd(
  means: string,
  echo: Echo | undefined,
  { status }: CompanyAnswer,
  json: ExactJson,
): boolean {
  if (!isEnd(means)) return true
  const isNamed = [echo?.reference, echo?.theirId].some(
    (at) => at !== undefined && textAt(json, at) !== undefined,
  )
  return isSuccess(status) && isNamed
}

/** What has been handed over a moment ago can be neither cancelled nor returned: that is an older copy's. */
function ofHandOver(means: string): boolean {
  return means === 'accepted' || means === 'paid' || means === 'rejected'
}

/** What of the request the answer does not repeat, in words; undefined if it repeats all that it should. */
function echoFault(
  echo: Echo | undefined,
  json: ExactJson,
  asked: Asked,
  mayLack: boolean,
): string | undefined {
  if (!echo) return undefined
  const isRight = (at: string | undefined, check: (at: string) => boolean) =>
    at === undefined || (mayLack && (valueAt(json, at) ?? null) === null) || check(at)
  const { reference, currency, amount, theirId, payee } = echo
  const repeated = [
    ['reference', reference, isRight(reference, (at) => textAt(json, at) === asked.reference)],
    ['id', theirId, isRight(theirId, (at) => textAt(json, at) === asked.theirId)],
    ['payee', payee, isRight(payee, (at) => textAt(json, at) === asked.payeeId)],
    [
      'currency',
      currency,
      isRight(currency, (at) => textAt(json, at)?.toUpperCase() === asked.currency),
    ],
    [
      'amount',
      amount?.at,
      isRight(
        amount?.at,
        () => amount !== undefined && amountAt(json, amount, asked.currency) === asked.amountMinor,
      ),
    ],
  ] as const
  const wrong = repeated.find(([, , isSame]) => !isSame)
  return wrong && `answered about something else: ${wrong[1]} is not its ${wrong[0]}`
}

function noRule({ status }: CompanyAnswer, json: ExactJson): string {
  const words = ['/reason', '/message', '/error/message', '/code'].flatMap(
    (at) => textAt(json, at) ?? [],
  )
  const said = words[0] === undefined ? '' : `: ${words[0].slice(0, 200)}`
  return status === 200 ? `${unreadable}${said}` : `answered ${status}${said}`
}

/** An id that can be part of a path; any other is not kept. */
function idIn(pointer: string | undefined, json: ExactJson): string | null {
  const text = pointer === undefined ? undefined : textAt(json, pointer)
  return text !== undefined && /^[A-Za-z0-9_-][A-Za-z0-9._:~-]{0,127}$/.test(text) ? text : null
}

/** What the payer gets. Undefined if something that should be there is not. */
function givenBy(gives: Gives, json: ExactJson): DepositInstructions | undefined {
  const { qrcodeText, link, transfer } = gives
  const given: DepositInstructions = {}
  if (qrcodeText !== undefined) {
    const text = textAt(json, qrcodeText)
    if (text === undefined) return undefined
    given.qrcodeText = text
  }
  if (link !== undefined) {
    const text = valueAt(json, link)
    if (typeof text !== 'string' || !isWebLink(text)) return undefined
    given.link = text
  }
  if (transfer) {
    const at = (source: string | { text: string }) =>
      typeof source === 'string' ? textAt(json, source) : source.text
    const bankCode = at(transfer.bankCode)
    const accountNumber = at(transfer.accountNumber)
    const accountName = at(transfer.accountName)
    if (bankCode === undefined || !accountNumber || !accountName) return undefined
    given.transfer = { bankCode, accountNumber, accountName }
  }
  return given
}

function isWebLink(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:'
}
