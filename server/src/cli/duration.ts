const unitS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `24h`, `30m`, `90s`, `7d` or `0` into seconds. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0
  const match = /^(\d{1,6})([smhd])$/.exec(text)
  const unit = unitS[match?.[2] ?? '']
  return match?.[1] !== undefined && unit !== undefined ? Number(match[1]) * unit : undefined
}
