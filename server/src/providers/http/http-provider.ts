import { createHash, randomBytes } from 'node:crypto'
import { parseExactJson } from '../../lib/exact-json.ts'
import { type Currency, currencies, parseDecimal } from '../../lib/money.ts'
import type {
  DepositOutcome,
  DepositToCollect,
  LineReporter,
  NoticeWay,
  Payout,
  PayoutOutcome,
  Provider,
  ProviderEvent,
  TokenLimits,
} from '../provider.ts'
import type { AccessTokens } from './access-tokens.ts'
import { type CompanyClient, CompanySilent } from './company-client.ts'
import { type CompanyLane, NotCalled } from './company-lane.ts'
import type { ConnectorDocument, NoticeAt } from './connector-document.ts'
import { isSuccess, namesByCode, usesCodes } from './document-faults.ts'
import { depositValues, payeeKey, payoutValues, type Surroundings } from './order-values.ts'
import {
  type Asked,
  type CompanyAnswer,
  readAskedDeposit,
  readDepositAnswer,
  readPayoutAnswer,
} from './read-answer.ts'
import { type ReadEvent, readEvent, unreadEvent } from './read-events.ts'
import { type RenderedRequest, renderRequest } from './render-request.ts'
import { NoSecret, type Secrets } from './signed-bytes.ts'
import { CannotRender, type Values } from './template.ts'
import { eventsIn, noticeFault, readBody, type SentNotice } from './verify-notice.ts'

export const defaultLimits = { callsAtOnce: 16, callsPerSecond: 50, timeoutMs: 5_000 }
const askDepositsEveryS = 15

/** How long a call may wait for its place and its access token; after that it is not made. */
const readyMs = 2_000

/** What a call is made with. */
export interface BoundUse {
  document: ConnectorDocument
  secrets: Secrets
  /** Since which use the secrets have been of the same account at the company. */
  sameSince: number
}

/** How notices were read before, where they are not any more. */
export interface FormerNotice {
  notice: NonNullable<ConnectorDocument['notice']>
  secrets: Secrets
}

/** A connector as it is used: a version of its document, with secrets. */
export interface Connector extends BoundUse {
  name: string
  use: number
  version: number
  /** Those that notices may still be signed with, after a change. */
  formerSecrets: readonly Secrets[]
  formerNotice?: FormerNotice | undefined
}

export interface ConnectorDeps {
  client: Pick<CompanyClient, 'send'>
  tokens: AccessTokens
  lane: CompanyLane
  /** Another use, for orders that were made with it. */
  useOf: (use: number) => Promise<BoundUse | undefined>
  /** The newest use of the account at the company that has been used since the given one. */
  newestOf: (sameSince: number) => Promise<BoundUse | undefined>
  now: () => Date
  publicUrl: () => string
}

/** A payment company as a provider, spoken to as its document says. */
export function makeHttpProvider(connector: Connector, deps: ConnectorDeps): Provider {
  const { name, use, version, document } = connector
  const { notice } = noticeOf(connector)
  const { limits } = document
  const company = new Company(connector, deps)
  return {
    name,
    use,
    version,
    can: {
      currencies: document.currencies,
      deposits: document.expectDeposit !== undefined,
      payouts: document.submitPayout !== undefined,
      idempotentByReference: document.idempotentByReference ?? false,
    },
    callsAtOnce: limits?.callsAtOnce ?? defaultLimits.callsAtOnce,
    ...((limits?.timeoutMs ?? 0) > defaultLimits.timeoutMs && {
      callLimitMs: readyMs + (limits?.timeoutMs ?? 0),
    }),
    ...(document.submitPayout && {
      payeeFault: (payee, currency, amountMinor = 100_00n, extraParams) =>
        company.payeeFault({ payee, currency, amountMinor }, extraParams),
    }),
    depositInstructions: () => undefined,
    usesCodes: usesCodes(document),
    expectDeposit: (deposit, signal) => company.expectDeposit(deposit, signal),
    canAskDeposits: document.askDeposit !== undefined,
    asksPaidDeposits: tellsTakenBack(document),
    askDeposit: (deposit, signal) => company.askDeposit(deposit, signal),
    isAnswering: () => deps.lane.isReady,
    isReadyFor: () => deps.lane.isReadyForHandOver,
    submitPayout: (payout, signal) => company.callPayout('submitPayout', payout, signal),
    askPayout: (payout, signal) => company.callPayout('askPayout', payout, signal),
    readNotice: (body, headers, now, way) =>
      readNotice(connector, { body, headers, ...wayOf(way) }, now),
    ...(notice?.answer && { noticeAnswer: notice.answer }),
    ...(notice?.tokenLimits && { tokenLimits: tokenLimitsOf(notice.tokenLimits) }),
    ...(document.account !== undefined && { lines: lineReporter(connector, document.account) }),
  }
}

/** Calls to the company of a connector. */
class Company {
  private readonly connector: Connector
  private readonly deps: ConnectorDeps

  constructor(connector: Connector, deps: ConnectorDeps) {
    this.connector = connector
    this.deps = deps
  }

  async callPayout(
    which: 'submitPayout' | 'askPayout',
    payout: Payout,
    signal: AbortSignal,
  ): Promise<PayoutOutcome> {
    const bound = await this.boundTo(payout.use)
    const call = bound?.document[which]
    if (!bound || !call) return this.unknown('has no such call in this version')
    const values = (around: Surroundings) => payoutValues(bound.document, payout, around)
    const asked = { ...payout, payeeId: bound.document.payees?.[payeeKey(payout.payee)] }
    const read = (answer: CompanyAnswer) => readPayoutAnswer(call, answer, asked, which)
    const hasRule = (answer: CompanyAnswer) => read(answer).rule !== null
    const answer = await this.call(bound, call.request, values, which, hasRule, signal)
    if (typeof answer === 'string') return this.unknown(answer)
    if ('notSent' in answer) {
      const { reason } = this.unknown(answer.notSent)
      if (which !== 'submitPayout') return { type: 'unknown', reason }
      // What the document or a secret is to blame for can be put right; what the order is to blame for cannot.
      const isForGood = this.requestFault(bound.document, payout, payout.extraParams) !== undefined
      return { type: 'not_sent', reason, ...(isForGood && { isForGood: true }) }
    }
    const { outcome, theirId } = read(answer)
    if (outcome.type === 'unknown') return this.unknown(outcome.reason)
    // The promise counts that the payout was handed over under, not one that was made since.
    if (outcome.type === 'not_found') {
      return { ...outcome, mayRepeat: bound.document.idempotentByReference ?? false }
    }
    return theirId === null ? outcome : { ...outcome, theirId }
  }

  async expectDeposit(deposit: DepositToCollect, signal: AbortSignal): Promise<DepositOutcome> {
    const bound = await this.boundTo(deposit.use)
    const call = bound?.document.expectDeposit
    if (!bound || !call) return this.unknown('takes no deposits in this version')
    const values = (around: Surroundings) => depositValues(bound.document, deposit, around)
    const read = (answer: CompanyAnswer) => readDepositAnswer(call, answer, askedOf(bound, deposit))
    const hasRule = (answer: CompanyAnswer) => read(answer).rule !== null
    const answer = await this.call(bound, call.request, values, 'expectDeposit', hasRule, signal)
    if (typeof answer === 'string') return this.unknown(answer)
    if ('notSent' in answer) {
      return { type: 'not_sent', reason: this.unknown(answer.notSent).reason }
    }
    const { outcome, theirId } = read(answer)
    if (outcome.type === 'unknown') return this.unknown(outcome.reason)
    if (outcome.type !== 'accepted') return outcome
    const { askDeposit } = bound.document
    return {
      ...outcome,
      ...(theirId !== null && { theirId }),
      ...(askDeposit && { askEveryS: askDeposit.everyS ?? askDepositsEveryS }),
    }
  }

  async askDeposit(
    deposit: DepositToCollect,
    signal: AbortSignal,
  ): Promise<{ events: ProviderEvent[]; body: Buffer } | undefined> {
    const bound = await this.boundTo(deposit.use)
    const asking = bound?.document.askDeposit
    if (!bound || !asking) return undefined
    const values = (around: Surroundings) => depositValues(bound.document, deposit, around)
    // Too little, too much or other money is news of the payment, which the books deal with.
    const { echo, ...call } = asking
    const isAbout = echo?.reference === undefined ? {} : { echo: { reference: echo.reference } }
    const read = (answer: CompanyAnswer) =>
      readAskedDeposit({ ...call, ...isAbout }, answer, askedOf(bound, deposit))
    const hasRule = (answer: CompanyAnswer) => read(answer).rule !== null
    const answer = await this.call(bound, asking.request, values, 'askDeposit', hasRule, signal)
    if (typeof answer === 'string' || 'notSent' in answer) return undefined
    const { body } = answer
    const { events: told, fault } = read(answer)
    // They are of this deposit, by whatever name.
    const events = told.map((event) => ({ ...event, reference: deposit.txnId }))
    if (fault === undefined) return { events, body }
    const isAnswer = answer.status >= 200 && answer.status < 300
    if (!isAnswer || parseExactJson(body) === undefined) return undefined
    return { events: [unreadAnswer(deposit, fault)], body }
  }

  /** Why a payee cannot be paid. */
  payeeFault(
    payout: Pick<Payout, 'payee' | 'currency' | 'amountMinor'>,
    extraParams: string | null | undefined,
  ): string | null {
    const fault = this.requestFault(this.connector.document, payout, extraParams)
    return fault === undefined ? null : `This provider cannot pay it: ${fault}.`
  }

  /** Why no request can be made of a payout; without an order, what the agent would send is not judged. */
  private requestFault(
    { auth: _auth, sign: _sign, ...document }: ConnectorDocument,
    payout: Pick<Payout, 'payee' | 'currency' | 'amountMinor'>,
    extraParams: string | null | undefined,
  ): string | undefined {
    if (!document.submitPayout) return undefined
    const whole = { ...payout, reference: 'SX00000000000', extraParams: extraParams ?? null }
    const values = payoutValues(document, whole, this.around())
    const isOpen = (name: string) => extraParams === undefined && name.startsWith('extra.')
    const known: Values = (name) => (isOpen(name) ? '-' : values(name))
    const signing = { secrets: () => undefined, now: new Date(0), nonce: '' }
    try {
      renderRequest(document, document.submitPayout.request, known, signing)
      return undefined
    } catch (error) {
      if (error instanceof CannotRender) return error.message
      throw error
    }
  }

  /**
   * What an order is spoken of with: the newest secrets of its own account at the company, because another account knows
   * nothing of it; its own if those are of another place.
   */
  private async boundTo(use: number | null | undefined): Promise<BoundUse | undefined> {
    const { connector, deps } = this
    if (use === undefined || use === connector.use) return connector
    const own = use === null ? undefined : await deps.useOf(use)
    if (!own || use === null || use > connector.use) return own
    const isOfNow = own.sameSince === connector.sameSince
    const newest = isOfNow ? connector : await deps.newestOf(own.sameSince)
    if (!newest || !isSamePlace(own, newest)) return own
    return { ...own, secrets: (name) => newest.secrets(name) ?? own.secrets(name) }
  }

  private around(): Surroundings {
    const publicUrl = this.deps.publicUrl()
    return {
      now: this.deps.now(),
      nonce: randomBytes(16).toString('hex'),
      noticeUrl: `${publicUrl}/providers/${this.connector.name}/notices`,
      publicUrl,
    }
  }

  /**
   * Makes a call. Returns the answer, or why there is none, in words: the company may have got the call, unless that
   * says that it was not sent.
   */
  private async call(
    bound: BoundUse,
    request: Parameters<typeof renderRequest>[1],
    valuesIn: (around: Surroundings) => Values,
    which: 'expectDeposit' | 'askDeposit' | 'submitPayout' | 'askPayout',
    hasRule: (answer: CompanyAnswer) => boolean,
    signal: AbortSignal,
  ): Promise<CompanyAnswer | NotSent | string> {
    const { document, secrets } = bound
    const { auth } = document
    const ask = () => {
      // The time and the nonce that are sent are those that are signed.
      const around = this.around()
      const make = (accessToken?: string) =>
        renderRequest(document, request, valuesIn(around), { secrets, ...around, accessToken })
      // What cannot be made takes nobody's place. The access token is fetched later.
      const made = make(auth?.kind === 'oauth' ? 'not yet known' : undefined)
      const ready = AbortSignal.any([signal, AbortSignal.timeout(readyMs)])
      return this.deps.lane.run(
        ready,
        async () => {
          const asked = auth?.kind === 'oauth' ? await this.withToken(bound, make, ready) : made
          return 'notSent' in asked ? asked : this.send(bound, asked, signal)
        },
        (sent) => {
          if ('notSent' in sent) return false
          const tells = tellsOfCompany(sent, hasRule(sent))
          if (tells === false && sent.restMs !== undefined) this.deps.lane.rest(sent.restMs)
          return tells
        },
        which === 'submitPayout',
      )
    }
    try {
      const answer = await ask()
      if ('notSent' in answer) return answer
      if (answer.status !== 401 || auth?.kind !== 'oauth') return answer
      // The token may have been taken back. Asking again is harmless; handing over again is not.
      this.deps.tokens.forget(auth, secrets)
      return which === 'askDeposit' || which === 'askPayout' ? await ask() : answer
    } catch (error) {
      const isUnsent =
        error instanceof NotCalled || error instanceof NoSecret || error instanceof CannotRender
      if (isUnsent) return { notSent: error.message }
      if (error instanceof CompanySilent) return error.message
      throw error
    }
  }

  /** A request with an access token. */
  private async withToken(
    { document: { auth }, secrets }: BoundUse,
    make: (accessToken: string) => RenderedRequest,
    ready: AbortSignal,
  ): Promise<RenderedRequest | NotSent> {
    try {
      if (auth?.kind !== 'oauth') throw new Error('a token is for OAuth')
      return make(await this.deps.tokens.get(auth, secrets, ready))
    } catch (error) {
      if (error instanceof CompanySilent) return { notSent: error.message }
      if (error instanceof CannotRender) return { notSent: 'gave an access token that is none' }
      throw error
    }
  }

  private send(
    { document: { limits } }: BoundUse,
    request: RenderedRequest,
    signal: AbortSignal,
  ): Promise<CompanyAnswer> {
    const timeoutMs = limits?.timeoutMs ?? defaultLimits.timeoutMs
    return this.deps.client.send(request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
  }

  private unknown(reason: string): { type: 'unknown'; reason: string } {
    return { type: 'unknown', reason: `${this.connector.document.company} ${reason}` }
  }
}

/** Nothing was sent, and why. */
interface NotSent {
  notSent: string
}

/**
 * Whether an answer shows that the company works: one that a rule knows does. A page in between, a machine that is too
 * busy, a key that is not taken and a success that says something else are failures. A refusal that no rule knows may be
 * of this order alone, and tells nothing.
 */
function tellsOfCompany(
  { status, body, isCut }: CompanyAnswer,
  hasRule: boolean,
): boolean | undefined {
  const isBusy = status >= 500 || [401, 403, 407, 408, 429].includes(status)
  const isElsewhere = status >= 300 && status < 400
  if (isBusy || isElsewhere || isCut || parseExactJson(body) === undefined) return false
  return hasRule || (isSuccess(status) ? false : undefined)
}

/** Whether an answer about a deposit can tell that its money was taken back. */
function tellsTakenBack({ askDeposit }: ConnectorDocument): boolean {
  const events = askDeposit?.rules.flatMap((rule) => rule.events) ?? []
  return events.some(({ type }) => type === 'payment_taken_back')
}

/** Whether two uses speak to the same place: a secret is told to no other. */
function isSamePlace(one: BoundUse, other: BoundUse): boolean {
  const placesOf = ({ document: { base, auth } }: BoundUse) =>
    [base, auth?.kind === 'oauth' ? auth.tokenUrl : undefined]
      .map((url) => url && new URL(url).origin)
      .join()
  return placesOf(one) === placesOf(other)
}

/** An answer about a deposit that is not understood. It is one event however often it is said. */
function unreadAnswer({ txnId, theirId }: DepositToCollect, fault: string): ProviderEvent {
  // Without the words of the answer, which may be others each time.
  const [kind] = fault.split(': ')
  const digest = createHash('sha256')
    .update(JSON.stringify([txnId, theirId, kind]))
    .digest('hex')
  return { id: `unread-${digest}`, type: 'unread', reference: txnId, fault, text: '' }
}

function askedOf(
  { document }: BoundUse,
  { txnId, code, amountMinor, currency }: DepositToCollect,
): Asked {
  const reference = namesByCode(document) ? (code ?? '') : txnId
  return { reference, amountMinor, currency }
}

function wayOf(way: NoticeWay | undefined): Omit<SentNotice, 'body' | 'headers'> {
  return way ?? { method: 'POST', path: '', url: '', ip: undefined }
}

/** How notices are read, and which secrets they may be signed with. */
function noticeOf(connector: Connector) {
  const { document, secrets, formerSecrets, formerNotice } = connector
  const { notice } = document
  return notice || !formerNotice
    ? { notice, secrets: [secrets, ...formerSecrets] }
    : { notice: formerNotice.notice, secrets: [formerNotice.secrets] }
}

/** Whether a notice is the company's, by the secrets in use or those before. */
function isGenuine(connector: Connector, sent: SentNotice, now: Date): boolean {
  const { notice, secrets: all } = noticeOf(connector)
  if (!notice) return false
  let isIt = false
  for (const secrets of all) {
    isIt = noticeFault(notice, sent, secrets, now) === undefined || isIt
  }
  return isIt
}

/** The events of a notice; what no rule can read is an event too, which stays open. */
function readNotice(
  connector: Connector,
  sent: SentNotice,
  now: Date,
): ProviderEvent[] | undefined {
  const { account } = connector.document
  const { notice } = noticeOf(connector)
  if (!notice || account !== undefined || !isGenuine(connector, sent, now)) return undefined
  const { read, unread } = readAll(notice, sent.body)
  const events = [...read.flatMap((each) => each.events), ...unread]
  return isSigned(notice) ? events : events.map((event) => ({ ...event, byToken: true }))
}

/** What a notice says, and as events of their own what of it cannot be read. */
function readAll(
  notice: NoticeAt,
  bytes: Buffer,
): { read: Pick<ReadEvent, 'events' | 'lines'>[]; unread: ProviderEvent[] } {
  const body = readBody(notice, bytes)
  const said = body === undefined ? undefined : eventsIn(notice, body)
  if (body === undefined || !said) {
    const text = body ?? bytes.toString('utf8').slice(0, 4_000)
    return { read: [], unread: [unreadEvent(text, 'it cannot be read')] }
  }
  const read = said.map((each) => ({ each, ...readEvent(notice.rules, each) }))
  return {
    read: read.filter(({ fault }) => fault === undefined),
    unread: read.flatMap(({ each, fault }) =>
      fault === undefined ? [] : unreadEvent(each, fault),
    ),
  }
}

/** What is believed of a token, in minor units. */
function tokenLimitsOf(limits: NonNullable<NoticeAt['tokenLimits']>): TokenLimits {
  const minor = (text: string, currency: Currency) => parseDecimal(text, currency) ?? 0n
  return new Map(
    currencies.flatMap((currency) => {
      const given = limits[currency]
      if (!given) return []
      const { payment, day } = given
      return [[currency, { payment: minor(payment, currency), day: minor(day, currency) }] as const]
    }),
  )
}

/** Whether notices are signed: a token or a password can be used again by whoever has seen one request. */
function isSigned({ verify }: NoticeAt): boolean {
  return verify.kind !== 'token' && verify.kind !== 'basic'
}

/** Reads the lines of a bank account. */
function lineReporter(connector: Connector, account: string): LineReporter {
  const { notice } = connector.document
  return {
    account,
    isSigned: notice !== undefined && isSigned(notice),
    ruleWords: (notice?.rules ?? [])
      .filter(({ events }) => events.some(({ type }) => type === 'line'))
      .map((rule) => Object.values(rule.if).flat().map(String)),
    read(body, headers, now, way) {
      if (!notice || !isGenuine(connector, { body, headers, ...way }, now)) return undefined
      const { read, unread } = readAll(notice, body)
      return { lines: read.flatMap(({ lines }) => lines), unread }
    },
  }
}
