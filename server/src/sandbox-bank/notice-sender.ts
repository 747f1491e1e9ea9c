import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Pool } from '../db/pool.ts'
import { gather } from '../lib/gather.ts'
import { signCallback } from '../lib/signature.ts'
import {
  type AcceptedNotice,
  type ClaimedNotice,
  claimDueNotices,
  claimNextOf,
  type EventResult,
  eventId,
  readNotice,
  recordAccepted,
  recordRefused,
} from './notices.ts'

const answerLimitMs = 5_000
const maxAnswerBytes = 64 * 1024
const maxInFlight = 32

export interface NoticeSenderOptions {
  pool: Pool
  key: Buffer
  now: () => Date
  /** Where notices go; undefined while there is no receiver. */
  noticeUrl: () => string | undefined
  onError: (error: unknown) => void
}

/** The result of an event whose notice was to be sent at once. */
export interface ToldEvent {
  id: string
  told: boolean
  result?: string
  detail?: string
}

/** Sends the bank's signed notices, each until it is accepted. */
export class NoticeSender {
  private readonly options: NoticeSenderOptions
  private readonly agent = new Agent({ connections: maxInFlight, keepAliveTimeout: 4_000 })
  private readonly inFlight = new Set<Promise<unknown>>()
  private readonly accepted: (accepted: AcceptedNotice) => Promise<void>

  constructor(options: NoticeSenderOptions) {
    this.options = options
    this.accepted = gather(async (all: AcceptedNotice[]) => {
      await recordAccepted(options.pool, all, options.now)
      return all.map(() => undefined)
    })
  }

  /** Starts sending due notices, as many as there is room for. Returns how many it started. */
  async startDue(): Promise<number> {
    const { room } = this
    if (room === 0) return 0
    const claimed = await claimDueNotices(this.options.pool, this.options.now, room)
    this.start(claimed)
    return claimed.length
  }

  /** How many more can be sent now. */
  get room(): number {
    if (this.options.noticeUrl() === undefined) return 0
    return Math.max(0, maxInFlight - this.inFlight.size)
  }

  /** Starts sending notices that this process has claimed. */
  start(claimed: readonly ClaimedNotice[]): void {
    for (const notice of claimed) this.track(this.send(notice).catch(this.options.onError))
  }

  /** Resolves when everything that was started has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.inFlight)
  }

  /**
   * Sends an event's notice at once, after any earlier notices about its reference. If that fails or takes
   * too long, the notice stays in the book and is repeated.
   */
  tellNow(noticeNo: bigint): Promise<ToldEvent> {
    const telling = this.tellUntilAccepted(noticeNo)
    this.track(telling)
    return telling
  }

  private track(work: Promise<unknown>): void {
    const ended: Promise<unknown> = work.catch(() => {}).finally(() => this.inFlight.delete(ended))
    this.inFlight.add(ended)
  }

  private async tellUntilAccepted(noticeNo: bigint): Promise<ToldEvent> {
    const { pool, now, noticeUrl } = this.options
    const id = eventId(noticeNo)
    const giveUpAt = performance.now() + answerLimitMs
    for (;;) {
      const { reference, isAccepted, result, detail } = await readNotice(pool, noticeNo)
      if (isAccepted) {
        return { id, told: true, ...(result && { result }), ...(detail && { detail }) }
      }
      if (noticeUrl() === undefined || performance.now() > giveUpAt) return { id, told: false }
      const next = await claimNextOf(pool, reference, now)
      // Another process is sending it right now.
      if (!next) await pause(10)
      else if (!(await this.send(next))) return { id, told: false }
    }
  }

  /** Sends one notice and records the result. Returns whether it was accepted. */
  private async send(notice: ClaimedNotice): Promise<boolean> {
    const { pool, now } = this.options
    const result = await this.post(notice)
    if (result) await this.accepted({ notice, ...result })
    else await recordRefused(pool, notice, now)
    return result !== undefined
  }

  private async post({ noticeNo, event }: ClaimedNotice): Promise<EventResult | undefined> {
    const { key, now, noticeUrl } = this.options
    const url = noticeUrl()
    if (url === undefined) return undefined
    const id = eventId(noticeNo)
    const body = JSON.stringify({ events: [{ id, ...event }] })
    const t = String(Math.floor(now().getTime() / 1000))
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-bank-signature': `t=${t},v1=${signCallback(key, t, body)}`,
        },
        body,
        signal: AbortSignal.timeout(answerLimitMs),
        dispatcher: this.agent,
      })
      const text = await firstText(answer.body)
      return answer.statusCode === 200 ? resultOf(text, id) : undefined
    } catch {
      // Without an answer it is unknown whether the notice arrived, so it is sent again.
      return undefined
    }
  }

  /** Aborts what is under way; the next process that opens the book sends it again. */
  async close(): Promise<void> {
    await this.agent.destroy()
    await this.settled()
  }
}

async function firstText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxAnswerBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The event's result in an accepting answer. An answer that cannot be read still counts as accepted. */
function resultOf(text: string, id: string): EventResult {
  const none: EventResult = { result: null, detail: null }
  try {
    const { results } = JSON.parse(text)
    const { result, detail } = results.find((one: { id: unknown }) => one.id === id)
    if (!['applied', 'unchanged', 'refused', 'waiting'].includes(result)) return none
    return { result, detail: typeof detail === 'string' ? detail.slice(0, 1_000) : null }
  } catch {
    return none
  }
}
