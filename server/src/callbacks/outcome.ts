import type { ClaimedCallback } from './claimed-callback.ts'
import type { Attempt } from './post-callback.ts'
import { nextDelayMs, parseRetryAfter } from './schedule.ts'

/** The result of a claimed callback: an attempt, or the reason why none was made. */
export interface Outcome {
  callback: ClaimedCallback
  attempt: Attempt | 'no_address' | 'not_sent'
}

export function isAccepted({ attempt }: Outcome): boolean {
  return typeof attempt !== 'string' && attempt.error === null
}

/** The callback's next state, and how long until it is due. */
export function stateAfter(
  { callback: { attempts }, attempt }: Outcome,
  now: Date,
  random: number,
): { state: string; delayMs: number; attempts: number } {
  if (attempt === 'no_address') return { state: 'no_address', delayMs: 0, attempts }
  if (attempt === 'not_sent') return { state: 'waiting', delayMs: 0, attempts }
  if (attempt.error === null) {
    return { state: 'delivered', delayMs: 0, attempts: attempts + 1 }
  }
  const asked = parseRetryAfter(attempt.retryAfter, now)
  const delayMs = nextDelayMs(attempts + 1, asked, random)
  return delayMs === undefined
    ? { state: 'exhausted', delayMs: 0, attempts: attempts + 1 }
    : { state: 'waiting', delayMs, attempts: attempts + 1 }
}
