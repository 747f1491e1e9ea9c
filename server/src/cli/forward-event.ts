import { callbackHeaders } from '../callbacks/callback-headers.ts'
import { version } from '../version.ts'
import { type AgentEvent, reasonOf } from './agent-events.ts'

const attemptLimitMs = 10_000
/** The pauses before each further attempt. */
export const pausesMs = [500, 1_000, 2_000, 5_000, 10_000, 30_000]

export interface Forwarded {
  ok: boolean
  attempts: number
  /** The result of the last attempt, in words. */
  result: string
  ms: number
}

export interface ForwardOptions {
  url: string
  appId: string
  secrets: readonly string[]
  /** Called after every failed attempt that will be repeated. */
  onRepeat: (result: string, pauseMs: number) => void
  sleep: (ms: number) => Promise<void>
}

/** Posts an event as the service posts its callback: same bytes and headers, with a new signature. */
export async function forwardEvent(
  event: AgentEvent,
  { url, appId, secrets, onRepeat, sleep }: ForwardOptions,
): Promise<Forwarded> {
  const body = Buffer.from(event.body)
  for (let attempt = 1; ; attempt++) {
    const started = performance.now()
    const headers = callbackHeaders({
      appId,
      kind: event.kind,
      secrets,
      body,
      seq: event.seq,
      epoch: event.epoch,
      attempt,
      at: new Date(),
      version,
    })
    const { ok, result } = await post(url, headers, body)
    const ms = Math.round(performance.now() - started)
    const pauseMs = pausesMs[attempt - 1]
    if (ok || pauseMs === undefined) return { ok, attempts: attempt, result, ms }
    onRepeat(result, pauseMs)
    await sleep(pauseMs)
  }
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<{ ok: boolean; result: string }> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(attemptLimitMs),
    })
    // Read the body to the end, so that the connection can be reused.
    await answer.arrayBuffer()
    return { ok: [200, 201, 202].includes(answer.status), result: String(answer.status) }
  } catch (error) {
    return { ok: false, result: reasonOf(error) }
  }
}
