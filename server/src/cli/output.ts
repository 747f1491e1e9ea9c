/** Commands write data to stdout and everything else to stderr. */

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function printJson(value: unknown): void {
  print(toJson(value))
}

/** Prints one value on one line, for continuous output. */
export function printJsonLine(value: unknown): void {
  print(JSON.stringify(value))
}

/** Colours text if the terminal supports colours. */
export function coloured(colour: 'red' | 'green' | 'yellow' | 'dim', text: string): string {
  if (!process.stdout.isTTY || !process.stdout.hasColors()) return text
  const code = { red: 31, green: 32, yellow: 33, dim: 2 }[colour]
  return `\x1b[${code}m${text}\x1b[0m`
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Shows the progress of long work, on a terminal only. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/** A duration in a form for people. */
export function ageText(seconds: number): string {
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}

/** Formats rows under their headings, with columns as wide as their contents. */
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

/** Bigints become numbers if JSON can carry them exactly. */
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
