/** The delays between attempts at a callback that was not accepted, each ±20 %. */
export const retryAfterS = [
  5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 86_400,
] as const

/** The first attempt, plus one after each delay. */
export const maxAttempts = retryAfterS.length + 1

/**
 * The delay after the given number of attempts, or undefined if there are no more. A receiver's `retry-after`
 * is honoured between one and two times the scheduled delay. `random` ranges from 0 to 1.
 */
export function nextDelayMs(
  attempts: number,
  askedS: number | undefined,
  random: number,
): number | undefined {
  const stepS = retryAfterS[attempts - 1]
  if (stepS === undefined) return undefined
  const jittered = stepS * (0.8 + 0.4 * random)
  const asked = askedS === undefined ? 0 : Math.min(askedS, stepS * 2)
  return Math.round(Math.max(jittered, asked) * 1000)
}

/** The seconds requested by a `retry-after` header, which is a number or an HTTP date. */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header.trim())
  // An HTTP date begins with a day name; Date.parse would accept much else.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(header)) return undefined
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now.getTime()) / 1000)
}
