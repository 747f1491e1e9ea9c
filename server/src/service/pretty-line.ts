const names: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'ERROR',
  60: 'FATAL',
}

/**
 * A line of the log for a person who watches: the time of day, how bad it is, what is said, and the rest as name=value.
 * A line that is not JSON stays as it is.
 */
export function prettyLine(line: string): string {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    return line
  }
  const { level, time, msg, err, ...rest } = entry
  const clock = typeof time === 'string' ? time.slice(11, 19) : ''
  const said = typeof msg === 'string' ? [msg] : []
  const more = Object.entries(rest).map(([name, value]) => `${name}=${plain(value)}`)
  const name = (names[Number(level)] ?? String(level)).padEnd(5)
  return `${[clock, name, ...said.map(plain), ...more].join(' ').trimEnd()}\n${stackOf(err)}`
}

/** Control characters would let a value that came from outside write over the terminal. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (text ?? '').replace(/\p{Cc}/gu, (each) => JSON.stringify(each).slice(1, -1))
}

function stackOf(err: unknown): string {
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? err.stack : undefined
  if (typeof stack !== 'string') return ''
  return `${stack.split('\n').map(plain).join('\n  ')}\n`
}
