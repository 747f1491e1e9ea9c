/** Where commands write: data on stdout, everything else on stderr. */

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function printJson(value: unknown): void {
  print(toJson(value))
}

/** One value on one line, for output that goes on and on. */
export function printJsonLine(value: unknown): void {
  print(JSON.stringify(value))
}

/** Text in a colour, on a terminal that shows colours. */
export function coloured(colour: 'red' | 'green' | 'yellow' | 'dim', text: string): string {
  if (!process.stdout.isTTY || !process.stdout.hasColors()) return text
  const code = { red: 31, green: 32, yellow: 33, dim: 2 }[colour]
  return `\x1b[${code}m${text}\x1b[0m`
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Shows how far long work has come, on a terminal only. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/** How long something has lasted, for people. */
export function ageText(seconds: number): string {
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}

/** Rows under their headings, as wide as their content. */
export function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  return [headings, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Numbers stay numbers where JSON can carry them exactly. */
function toJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, each) =>
      typeof each === 'bigint'
        ? Number.isSafeInteger(Number(each))
          ? Number(each)
          : `${each}`
        : each,
    2,
  )
}
