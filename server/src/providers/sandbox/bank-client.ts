import { createHmac } from 'node:crypto'
import { request } from 'undici'
import { type Currency, decimalText } from '../../lib/money.ts'

const maxAnswerBytes = 64 * 1024
/** Longer than the bank keeps trying to deliver the notice of a requested action. */
const triggerLimitMs = 15_000

export interface BankAnswer {
  status: number
  /** The answer parsed as JSON; undefined if it is not JSON. */
  json: unknown
}

/** The result of an event, from the service's answer to the notice. */
export interface ToldEvent {
  id: string
  /** Whether the notice was accepted; if not, the bank keeps trying. */
  told: boolean
  result?: 'applied' | 'unchanged' | 'refused' | 'waiting'
  detail?: string
}

/** The result of asking the bank to do something. */
export type Told =
  | { type: 'told'; events: ToldEvent[] }
  /** There is no such payment or payout, or its state does not allow it. Nothing was changed. */
  | { type: 'refused'; because: 'not_found' | 'conflict'; reason: string }

/** There is no usable answer: the requested action may or may not have happened. */
export class BankSilent extends Error {}

/** Calls the sandbox bank over HTTP. */
export class SandboxBank {
  private readonly url: () => string
  private readonly pass: string

  constructor({ bankUrl, key }: { bankUrl: () => string; key: Buffer }) {
    this.url = bankUrl
    this.pass = createHmac('sha256', key).update('requests to the sandbox bank').digest('hex')
  }

  /** Makes a transfer with a reference. The same `once` means the same transfer. */
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

  /** Makes the bank report that a deposit will not be paid any more. */
  endDeposit(reference: string, status: 'FAILED' | 'VOID' | 'EXPIRED'): Promise<Told> {
    return this.trigger(`/deposits/${encodeURIComponent(reference)}/end`, { status })
  }

  /** Makes the bank take back a payment, or the latest one with a reference. */
  takeBack(which: { paymentId: string } | { reference: string }): Promise<Told> {
    return this.trigger(
      'paymentId' in which
        ? `/payments/${encodeURIComponent(which.paymentId)}/take-back`
        : `/deposits/${encodeURIComponent(which.reference)}/take-back`,
    )
  }

  /** Makes the bank move one of its payouts to another state. */
  setPayout(
    reference: string,
    state: 'paid' | 'rejected' | 'returned' | 'cancelled',
  ): Promise<Told> {
    return this.trigger(`/payouts/${encodeURIComponent(reference)}/outcome`, { state })
  }

  /** Makes one call. Throws BankSilent, whose message explains why there is no answer. */
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

/** The reason in a refusal's answer. */
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
