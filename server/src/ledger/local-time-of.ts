const quarterMs = 15 * 60_000

/**
 * Whether a text is the local time of a moment, to the second, in any time zone. The zone is a setting
 * that may have changed since; all offsets are whole quarters of an hour, from -12 h to +14 h.
 */
export function isLocalTimeOf(text: string | undefined, at: Date): boolean {
  if (text === undefined || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) return false
  const aheadMs = Date.parse(`${text.replace(' ', 'T')}Z`) - Math.floor(at.getTime() / 1000) * 1000
  return aheadMs % quarterMs === 0 && aheadMs >= -48 * quarterMs && aheadMs <= 56 * quarterMs
}
