import { randomBytes } from 'node:crypto'
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

/** A connector as it is used: a version of its document, with secrets. */
export interface Connector {
  name: string
  version: number
  document: ConnectorDocument
  secrets: Secrets
  /** Those that notices may still be signed with, after a change. */
  formerSecrets: readonly Secrets[]
}

export interface ConnectorDeps {
  client: Pick<CompanyClient, 'send'>
  tokens: AccessTokens
  lane: CompanyLane
  /** An older version's document, for orders that were made with it. */
  documentOf: (version: number) => Promise<ConnectorDocument | undefined>
  now: () => Date
  publicUrl: () => string
}

/** A payment company as a provider, spoken to as its document says. */
export function makeHttpProvider(connector: Connector, deps: ConnectorDeps): Provider {
  const { name, version, document } = connector
  const { notice, limits, askDeposit } = document
  const company = new Company(connector, deps)
  return {
    name,
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
    ...(askDeposit && {
      asksDepositsEveryS: askDeposit.everyS ?? askDepositsEveryS,
      askDeposit: (deposit: DepositToCollect, signal: AbortSignal) =>
        company.askDeposit(deposit, signal),
    }),
    isAnswering: () => deps.lane.isReady,
    isReadyFor: () => deps.lane.isReady,
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
    const document = await this.documentFor(payout.version)
    const call = document?.[which]
    if (!document || !call) return this.unknown('has no such call in this version')
    const values = payoutValues(document, payout, this.around())
    const answer = await this.call(document, call.request, values, which === 'askPayout', signal)
    if (typeof answer === 'string') return this.unknown(answer)
    const { outcome, theirId } = readPayoutAnswer(call, answer, payout, which)
    if (outcome.type === 'unknown') return this.unknown(outcome.reason)
    // The promise counts that the payout was handed over under, not one that was made since.
    if (outcome.type === 'not_found') {
      return { ...outcome, mayRepeat: document.idempotentByReference ?? false }
    }
    return theirId === null ? outcome : { ...outcome, theirId }
  }

  async expectDeposit(deposit: DepositToCollect, signal: AbortSignal): Promise<DepositOutcome> {
    const document = await this.documentFor(deposit.version)
    const call = document?.expectDeposit
    if (!document || !call) return this.unknown('takes no deposits in this version')
    const values = depositValues(document, deposit, this.around())
    const answer = await this.call(document, call.request, values, false, signal)
    if (typeof answer === 'string') return this.unknown(answer)
    const { outcome, theirId } = readDepositAnswer(call, answer, askedOf(deposit))
    if (outcome.type === 'unknown') return this.unknown(outcome.reason)
    return outcome.type === 'accepted' && theirId !== null ? { ...outcome, theirId } : outcome
  }

  async askDeposit(
    deposit: DepositToCollect,
    signal: AbortSignal,
  ): Promise<{ events: ProviderEvent[]; body: Buffer } | undefined> {
    const document = await this.documentFor(deposit.version)
    const call = document?.askDeposit
    if (!document || !call) return undefined
    const values = depositValues(document, deposit, this.around())
    const answer = await this.call(document, call.request, values, true, signal)
    if (typeof answer === 'string') return undefined
    const { events, fault } = readAskedDeposit(call, answer, askedOf(deposit))
    return fault === undefined ? { events, body: answer.body } : undefined
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

  private async documentFor(
    version: number | null | undefined,
  ): Promise<ConnectorDocument | undefined> {
    const { connector, deps } = this
    if (version === null || version === undefined || version === connector.version) {
      return connector.document
    }
    return deps.documentOf(version)
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

  /** Makes a call. Returns the answer, or why there is none, in words. */
  private async call(
    document: ConnectorDocument,
    request: Parameters<typeof renderRequest>[1],
    values: Values,
    isQuestion: boolean,
    signal: AbortSignal,
  ): Promise<CompanyAnswer | string> {
    const timeoutMs = document.limits?.timeoutMs ?? defaultLimits.timeoutMs
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const ask = () =>
      this.deps.lane.run(
        limit,
        () => this.send(document, request, values, limit),
        // What could not be sent tells nothing of the company.
        (sent) => (typeof sent === 'string' ? undefined : sent.status < 500 && sent.status !== 429),
      )
    try {
      const answer = await ask()
      const { auth } = document
      if (typeof answer === 'string') return answer
      if (answer.status !== 401 || auth?.kind !== 'oauth') return answer
      // The token may have been taken back. Asking again is harmless; handing over again is not.
      this.deps.tokens.forget(auth, this.connector.secrets)
      return isQuestion ? await ask() : answer
    } catch (error) {
      if (error instanceof CompanySilent || error instanceof NotCalled) return error.message
      throw error
    }
  }

  /** Makes the request and sends it. Returns why it could not be made, in words. */

  private async send(
    document: ConnectorDocument,
    request: Parameters<typeof renderRequest>[1],
    values: Values,
    signal: AbortSignal,
  ): Promise<CompanyAnswer | string> {
    const { secrets } = this.connector
    const { auth } = document
    let rendered: RenderedRequest
    try {
      const accessToken =
        auth?.kind === 'oauth' ? await this.deps.tokens.get(auth, secrets, signal) : undefined
      const signing = { secrets, ...this.around(), accessToken }
      rendered = renderRequest(document, request, values, signing)
    } catch (error) {
      if (error instanceof CannotRender || error instanceof NoSecret) return error.message
      throw error
    }
    return this.deps.client.send(rendered, signal)
  }

  private unknown(reason: string): { type: 'unknown'; reason: string } {
    return { type: 'unknown', reason: `${this.connector.document.company} ${reason}` }
  }
}

function askedOf({ txnId, amountMinor, currency }: DepositToCollect): Asked {
  return { reference: txnId, amountMinor, currency }
}

function wayOf(way: NoticeWay | undefined): Omit<SentNotice, 'body' | 'headers'> {
  return way ?? { method: 'POST', path: '', url: '', ip: undefined }
}

/** Whether a notice is the company's, by the secrets in use or those before. */
function isGenuine(connector: Connector, sent: SentNotice, now: Date): boolean {
  const { notice } = connector.document
  if (!notice) return false
  let isIt = false
  for (const secrets of [connector.secrets, ...connector.formerSecrets]) {
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
  const { notice, account } = connector.document
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
