import { createHash, randomBytes } from 'node:crypto'
import { parseExactJson } from '../../lib/exact-json.ts'
import type {
  DepositOutcome,
  DepositToCollect,
  LineReporter,
  NoticeWay,
  Payout,
  PayoutOutcome,
  Provider,
  ProviderEvent,
  ReportedLine,
} from '../provider.ts'
import type { AccessTokens } from './access-tokens.ts'
import { type CompanyClient, CompanySilent } from './company-client.ts'
import { type CompanyLane, NotCalled } from './company-lane.ts'
import type { ConnectorDocument } from './connector-document.ts'
import { depositValues, payoutValues, type Surroundings } from './order-values.ts'
import {
  type Asked,
  type CompanyAnswer,
  readAskedDeposit,
  readDepositAnswer,
  readPayoutAnswer,
} from './read-answer.ts'
import { readEvent, unreadEvent } from './read-events.ts'
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
    ...(document.submitPayout && {
      payeeFault: (payee, currency, amountMinor) =>
        company.payeeFault({ payee, currency, amountMinor: amountMinor ?? 100_00n }),
    }),
    depositInstructions: () => undefined,
    expectDeposit: (deposit, signal) => company.expectDeposit(deposit, signal),
    askDeposit: (deposit, signal) => company.askDeposit(deposit, signal),
    isAnswering: () => deps.lane.isReady,
    isReadyFor: () => deps.lane.isReadyForHandOver,
    submitPayout: (payout, signal) => company.callPayout('submitPayout', payout, signal),
    askPayout: (payout, signal) => company.callPayout('askPayout', payout, signal),
    readNotice: (body, headers, now, way) =>
      readNotice(connector, { body, headers, ...wayOf(way) }, now),
    ...(notice?.answer && { noticeAnswer: notice.answer }),
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
    const values = payoutValues(bound.document, payout, this.around())
    const answer = await this.call(bound, call.request, values, which, signal)
    if (typeof answer === 'string') return this.unknown(answer)
    if ('notSent' in answer) {
      const { reason } = this.unknown(answer.notSent)
      return which === 'submitPayout' ? { type: 'not_sent', reason } : { type: 'unknown', reason }
    }
    const { outcome, theirId } = readPayoutAnswer(call, answer, payout, which)
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
    const values = depositValues(bound.document, deposit, this.around())
    const answer = await this.call(bound, call.request, values, 'expectDeposit', signal)
    if (typeof answer === 'string') return this.unknown(answer)
    if ('notSent' in answer) return this.unknown(answer.notSent)
    const { outcome, theirId } = readDepositAnswer(call, answer, askedOf(deposit))
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
    const values = depositValues(bound.document, deposit, this.around())
    const answer = await this.call(bound, asking.request, values, 'askDeposit', signal)
    if (typeof answer === 'string' || 'notSent' in answer) return undefined
    // Too little, too much or other money is news of the payment, which the books deal with.
    const { echo, ...call } = asking
    const isAbout = echo?.reference === undefined ? {} : { echo: { reference: echo.reference } }
    const { body } = answer
    const { events, fault } = readAskedDeposit({ ...call, ...isAbout }, answer, askedOf(deposit))
    if (fault === undefined) return { events, body }
    const isAnswer = answer.status >= 200 && answer.status < 300
    if (!isAnswer || parseExactJson(body) === undefined) return undefined
    return { events: [unreadAnswer(deposit, fault)], body }
  }

  /** Why no request can be made of a payout. */
  payeeFault(payout: Pick<Payout, 'payee' | 'currency' | 'amountMinor'>): string | null {
    const { auth: _auth, sign: _sign, ...document } = this.connector.document
    if (!document.submitPayout) return null
    const whole = { ...payout, reference: 'SX00000000000', extraParams: null }
    const values = payoutValues(document, whole, this.around())
    // What depends on the order alone, such as an extra parameter, is not a fault of the payee.
    const known: Values = (name) => (name.startsWith('extra.') ? '-' : values(name))
    const signing = { secrets: () => undefined, now: new Date(0), nonce: '' }
    try {
      renderRequest(document, document.submitPayout.request, known, signing)
      return null
    } catch (error) {
      if (error instanceof CannotRender) return `This provider cannot pay it: ${error.message}.`
      throw error
    }
  }

  /**
   * What an order is spoken of with. Its own secrets, because another account at the company knows nothing of it; the
   * newest ones if they are of the same account, and of the same place.
   */
  private async boundTo(use: number | null | undefined): Promise<BoundUse | undefined> {
    const { connector, deps } = this
    if (use === undefined || use === connector.use) return connector
    const own = use === null ? undefined : await deps.useOf(use)
    if (!own || use === null || use > connector.use) return own
    const isSame = own.sameSince === connector.sameSince && isSamePlace(own, connector)
    if (!isSame) return own
    return { ...own, secrets: (name) => connector.secrets(name) ?? own.secrets(name) }
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
    values: Values,
    which: 'expectDeposit' | 'askDeposit' | 'submitPayout' | 'askPayout',
    signal: AbortSignal,
  ): Promise<CompanyAnswer | NotSent | string> {
    const ask = () => {
      const ready = AbortSignal.any([signal, AbortSignal.timeout(readyMs)])
      return this.deps.lane.run(
        ready,
        () => this.send(bound, request, values, signal, ready),
        (sent) => ('notSent' in sent ? sent.isWell : sent.status < 500 && sent.status !== 429),
        which === 'submitPayout',
      )
    }
    try {
      const answer = await ask()
      const { auth } = bound.document
      if ('notSent' in answer) return answer
      if (answer.status !== 401 || auth?.kind !== 'oauth') return answer
      // The token may have been taken back. Asking again is harmless; handing over again is not.
      this.deps.tokens.forget(auth, bound.secrets)
      return which === 'askDeposit' || which === 'askPayout' ? await ask() : answer
    } catch (error) {
      if (error instanceof NotCalled) return { notSent: error.message, isWell: undefined }
      if (error instanceof CompanySilent) return error.message
      throw error
    }
  }

  /** Makes the request and sends it. */
  private async send(
    { document, secrets }: BoundUse,
    request: Parameters<typeof renderRequest>[1],
    values: Values,
    signal: AbortSignal,
    ready: AbortSignal,
  ): Promise<CompanyAnswer | NotSent> {
    const { auth, limits } = document
    let rendered: RenderedRequest
    try {
      const accessToken =
        auth?.kind === 'oauth' ? await this.deps.tokens.get(auth, secrets, ready) : undefined
      const signing = { secrets, ...this.around(), accessToken }
      rendered = renderRequest(document, request, values, signing)
    } catch (error) {
      if (error instanceof CompanySilent) return { notSent: error.message, isWell: false }
      if (error instanceof CannotRender || error instanceof NoSecret) {
        return { notSent: error.message, isWell: undefined }
      }
      throw error
    }
    const timeoutMs = limits?.timeoutMs ?? defaultLimits.timeoutMs
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    return this.deps.client.send(rendered, limit)
  }

  private unknown(reason: string): { type: 'unknown'; reason: string } {
    return { type: 'unknown', reason: `${this.connector.document.company} ${reason}` }
  }
}

/** Nothing was sent. `isWell` is what that tells of the company, undefined if nothing. */
interface NotSent {
  notSent: string
  isWell: false | undefined
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
  const digest = createHash('sha256')
    .update(JSON.stringify([txnId, theirId, fault]))
    .digest('hex')
  return { id: `unread-${digest}`, type: 'unread', reference: txnId, fault, text: '' }
}

function askedOf({ txnId, amountMinor, currency }: DepositToCollect): Asked {
  return { reference: txnId, amountMinor, currency }
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
  const body = readBody(notice, sent.body)
  const said = body === undefined ? undefined : eventsIn(notice, body)
  if (body === undefined || !said) {
    const text = body ?? sent.body.toString('utf8').slice(0, 4_000)
    return [unreadEvent(text, 'it cannot be read')]
  }
  return said.flatMap((each) => {
    const { events, fault } = readEvent(notice.rules, each)
    return fault === undefined ? events : [unreadEvent(each, fault)]
  })
}

/** Reads the lines of a bank account; a notice of which one cannot be read is refused as a whole. */
function lineReporter(connector: Connector, account: string): LineReporter {
  const { notice } = connector.document
  return {
    account,
    isSigned: notice !== undefined && !['token', 'basic'].includes(notice.verify.kind),
    ruleWords: (notice?.rules ?? [])
      .filter(({ events }) => events.some(({ type }) => type === 'line'))
      .map((rule) => Object.values(rule.if).flat().map(String)),
    read(body, headers, now, way): ReportedLine[] | undefined {
      if (!notice || !isGenuine(connector, { body, headers, ...way }, now)) return undefined
      const json = readBody(notice, body)
      const said = json === undefined ? undefined : eventsIn(notice, json)
      const read = said?.map((each) => readEvent(notice.rules, each))
      if (!read || read.some(({ fault }) => fault !== undefined)) return undefined
      return read.flatMap(({ lines }) => lines)
    },
  }
}
