import { createHmac } from 'node:crypto'
import { request } from 'undici'
import { type Currency, decimalText } from '../../lib/money.ts'

const maxAnswerBytes = 64 * 1024
/** Longer than the bank tries to tell what it was asked to do. */
const triggerLimitMs = 15_000

export interface BankAnswer {
  status: number
  /** The answer as JSON; undefined where it is none. */
  json: unknown
}

/** What the service's own answer to the notice said became of an event. */
export interface ToldEvent {
  id: string
  /** Whether the notice was accepted; otherwise the bank goes on trying. */
  told: boolean
  result?: 'applied' | 'unchanged' | 'refused' | 'waiting'
  detail?: string
}

/** What came of making the bank do something. */
export type Told =
  | { type: 'told'; events: ToldEvent[] }
  /** There is no such thing, or its state does not allow it: nothing was changed. */
  | { type: 'refused'; because: 'not_found' | 'conflict'; reason: string }

/** There is no answer to go by: what was asked of the bank may have happened or not. */
export class BankSilent extends Error {}

/** Speaks to the sandbox's bank over HTTP. */
export class SandboxBank {
  private readonly url: () => string
  private readonly pass: string

  constructor({ bankUrl, key }: { bankUrl: () => string; key: Buffer }) {
    this.url = bankUrl
    this.pass = createHmac('sha256', key).update('requests to the sandbox bank').digest('hex')
  }

  /** Somebody transfers money with a reference. The same `once` is the same transfer. */
  transfer(transfer: {
    reference: string
    amountMinor: bigint
    currency: Currency
    payer: { accountNo: string; accountName: string | null; bankCode: string | null } | null
    paidAt?: Date
    once?: string
  }): Promise<Told> {
    const { amountMinor, ...rest } = transfer
    const amount = decimalText(amountMinor, transfer.currency)
    return this.trigger('/transfers', { ...rest, amount })
  }

  /** The bank says that a deposit will not be paid any more. */
  endDeposit(reference: string, status: 'FAILED' | 'VOID' | 'EXPIRED'): Promise<Told> {
    return this.trigger(`/deposits/${encodeURIComponent(reference)}/end`, { status })
  }

  /** The bank takes back a payment, or the latest one with a reference. */
  takeBack(which: { paymentId: string } | { reference: string }): Promise<Told> {
    return this.trigger(
      'paymentId' in which
        ? `/payments/${encodeURIComponent(which.paymentId)}/take-back`
        : `/deposits/${encodeURIComponent(which.reference)}/take-back`,
    )
  }

  /** The bank moves a payout that it has on to another state. */
  setPayout(
    reference: string,
    state: 'paid' | 'rejected' | 'returned' | 'cancelled',
  ): Promise<Told> {
    return this.trigger(`/payouts/${encodeURIComponent(reference)}/outcome`, { state })
  }

  /** One call. Throws BankSilent, whose message says, in words, why there is no answer. */
  async call(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<BankAnswer> {
    try {
      const answer = await request(this.url() + path, {
        method,
        headers: {
          authorization: `Bearer ${this.pass}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal,
      })
      return { status: answer.statusCode, json: parsed(await wholeText(answer.body)) }
    } catch (error) {
      throw new BankSilent(inWords(error, signal), { cause: error })
    }
  }

  private async trigger(path: string, body?: object): Promise<Told> {
    const signal = AbortSignal.timeout(triggerLimitMs)
    const { status, json } = await this.call('POST', path, body, signal)
    if (status === 404 || status === 409) {
      const reason = reasonIn(json) ?? 'the bank refused without a reason'
      return { type: 'refused', because: status === 404 ? 'not_found' : 'conflict', reason }
    }
    if (status !== 200) throw new BankSilent(`the bank answered ${status}`)
    return { type: 'told', events: eventsIn(json) }
  }
}

/** The reason that goes with a refusal. */
export function reasonIn(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('reason' in json)) return undefined
  return typeof json.reason === 'string' ? json.reason.slice(0, 200) : undefined
}

function eventsIn(json: unknown): ToldEvent[] {
  if (typeof json === 'object' && json !== null && 'events' in json && Array.isArray(json.events)) {
    return json.events
  }
  throw new BankSilent('the bank answered what cannot be read')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

class TooLong extends Error {}

async function wholeText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new TooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function inWords(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'the bank did not answer in time'
  if (error instanceof TooLong) return 'the bank answered more than can be read'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ECONNREFUSED') return 'the bank cannot be reached'
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)) {
    return 'the bank closed the connection without an answer'
  }
  return `the bank could not be asked: ${error instanceof Error ? error.message : String(error)}`
}
