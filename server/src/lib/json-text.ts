/**
 * Builds an object from members that are already JSON. For answers with exact decimals or an agent's
 * original text, neither of which survives `JSON.stringify`.
 */
export function jsonObject(members: Record<string, string | undefined>): string {
  let text = ''
  for (const name in members) {
    const value = members[name]
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`
  }
  return `{${text}}`
}

export const quoted = (text: string | null): string => JSON.stringify(text)

/** A number as text, written into JSON and CSV unchanged. */
export class Exact {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON of a value that may hold exact numbers and bigints. Leaves out undefined members. */
export function jsonText(value: unknown): string {
  if (value instanceof Exact) return value.text
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return quoted(value.toISOString())
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${quoted(name)}:${jsonText(each)}`)
  return `{${members.join(',')}}`
}
