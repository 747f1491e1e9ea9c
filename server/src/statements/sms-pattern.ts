/** What a pattern may take from a message. */
const fields = ['amount', 'balance', 'account', 'name', 'time', 'any'] as const
export type SmsField = (typeof fields)[number]
export type SmsValues = Partial<Record<Exclude<SmsField, 'any'>, string>>

export interface SmsPattern {
  /** The values in a message; undefined if it does not fit the pattern. */
  read: (message: string) => SmsValues | undefined
}

export const maxSmsLength = 500
const maxFields = 12

type Part = { literal: string } | { field: SmsField }

/**
 * Compiles a pattern of literals and `{amount} {balance} {account} {name} {time}`; `{any}` takes what does not
 * matter. A field ends where the literal behind it first occurs, so a message is read once from left to right:
 * there is nothing to try again, and no pattern is slow. Throws with a sentence if the pattern is wrong.
 */
export function compileSmsPattern(pattern: string): SmsPattern {
  const parts = partsOf(pattern)
  return { read: (message) => readBy(parts, plainBlanks(message)) }
}

function partsOf(pattern: string): Part[] {
  if (pattern.length > maxSmsLength) {
    throw new Error(`The pattern is longer than ${maxSmsLength} characters.`)
  }
  const parts: Part[] = []
  for (const [index, text] of plainBlanks(pattern)
    .split(/\{([^{}]*)\}/)
    .entries()) {
    if (index % 2 === 1) parts.push({ field: fieldNamed(text) })
    else if (/[{}]/.test(text)) throw new Error('The pattern has a brace without its partner.')
    else if (text !== '') parts.push({ literal: text })
  }
  checkParts(parts)
  return parts
}

function fieldNamed(text: string): SmsField {
  const field = fields.find((one) => one === text)
  if (!field) throw new Error(`The pattern has no field {${text.slice(0, 20)}}.`)
  return field
}

function checkParts(parts: Part[]) {
  const named = parts.flatMap((part) => ('field' in part ? [part.field] : []))
  const once = named.filter((field) => field !== 'any')
  if (!once.includes('amount')) throw new Error('The pattern has no {amount}.')
  if (new Set(once).size !== once.length) throw new Error('The pattern has a field twice.')
  if (named.length > maxFields) throw new Error(`The pattern has more than ${maxFields} fields.`)
  const areNeighbours = parts.some((part, index) => {
    const next = parts[index + 1]
    return 'field' in part && next !== undefined && 'field' in next
  })
  if (areNeighbours) throw new Error('Two fields stand side by side, so nothing tells them apart.')
}

/** Senders break lines and double blanks as they like. */
function plainBlanks(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim()
}

function readBy(parts: Part[], message: string): SmsValues | undefined {
  if (message.length > maxSmsLength) return undefined
  const values: SmsValues = {}
  let at = 0
  for (const [index, part] of parts.entries()) {
    if ('literal' in part) {
      if (!message.startsWith(part.literal, at)) return undefined
      at += part.literal.length
      continue
    }
    const next = parts[index + 1]
    const end = next && 'literal' in next ? endOf(message, at, next.literal) : message.length
    if (end === -1) return undefined
    const value = message.slice(at, end).trim()
    if (!isValue(part.field, value)) return undefined
    if (part.field !== 'any') values[part.field] = value
    at = end
  }
  return at === message.length ? values : undefined
}

function endOf(message: string, from: number, literal: string): number {
  return message.indexOf(literal, from)
}

/** An amount or a balance is digits with marks; every other value is any text but none. */
function isValue(field: SmsField, value: string): boolean {
  if (field === 'any') return true
  if (field === 'amount' || field === 'balance') return /^[+-]?\d[\d.,]{0,24}$/.test(value)
  return value !== ''
}
