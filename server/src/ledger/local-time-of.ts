const quarterMs = 15 * 60_000

/**
 * Whether a text is a moment's local time, to the second, in some zone of the world. The zone is a setting
 * that may have been another one then; all of them are whole quarters of an hour off, 12 h behind to 14 h ahead.
 */
export function isLocalTimeOf(text: string | undefined, at: Date): boolean {
  if (text === undefined || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) return false
  const aheadMs = Date.parse(`${text.replace(' ', 'T')}Z`) - Math.floor(at.getTime() / 1000) * 1000
  return aheadMs % quarterMs === 0 && aheadMs >= -48 * quarterMs && aheadMs <= 56 * quarterMs
}
