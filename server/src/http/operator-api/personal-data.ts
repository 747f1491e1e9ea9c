import type { Operator } from '../../operators/operator.ts'

/** Viewers see enough of a person to tell two apart, but not enough to pay or call them. */
export function seesPersons({ role }: Pick<Operator, 'role'>): boolean {
  return role !== 'viewer'
}

export const notShown = '(not shown)'

export function maskedNumber(text: string): string {
  return `••••${text.slice(-4)}`
}

export function maskedName(text: string): string {
  return `${[...text][0] ?? ''}•••`
}

const numbers = /^(payer|payee)?[-_ ]?account[-_ ]?(no|number)$/i
const names = /^((payer|payee)?[-_ ]?account|payer|payee)[-_ ]?name$/i
/** What a payer wrote, and what is on their slip. */
const payersWords = /^payer_(text|reference)$/
/** Fields with the agent's own text about an order. */
const ownWords = /^ext(ra)?_?params$/i
/** What is on a list of accounts, names or users. */
const lists = /^values$/

/** A JSON value with all accounts masked, at any depth, and without the agent's own text. */
export function withoutPersons(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPersons)
  if (typeof value !== 'object' || value === null) return value
  // Checks the prototype, because a member may be named `constructor`.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (ownWords.test(name)) return [name, each === null ? null : notShown]
      if (lists.test(name) && Array.isArray(each)) return [name, each.map(() => notShown)]
      if (payersWords.test(name)) return [name, each === null ? null : notShown]
      const isNumber = numbers.test(name)
      if (!isNumber && !names.test(name)) return [name, withoutPersons(each)]
      // A number that was not sent as text is a number all the same.
      if (typeof each !== 'string') return [name, each === null ? null : notShown]
      return [name, isNumber ? maskedNumber(each) : maskedName(each)]
    }),
  )
}

/**
 * A JSON text as the operator may see it. A text that is not JSON is hidden from those who may not see
 * personal data.
 */
export function shownText(operator: Operator, text: string): string {
  if (seesPersons(operator)) return text
  try {
    return JSON.stringify(withoutPersons(JSON.parse(text)))
  } catch {
    return notShown
  }
}
