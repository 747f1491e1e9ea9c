import { type ExactJson, parseExactJson } from '../../lib/exact-json.ts'
import { Exact } from '../../lib/json-text.ts'
import { currencies, decimalText, minorPerUnit } from '../../lib/money.ts'
import type { Asked } from './read-answer.ts'
import { writtenText } from './read-events.ts'

/** A sample with something else in the place of what it repeats of the order. */
export interface OtherBody {
  what: string
  body: Buffer
}

/**
 * What a company says of another order, another amount or another currency, made of a sample: each must not be read as
 * if it were this one's. None if the sample does not repeat the value, because then there is nothing to compare.
 */
export function otherBodies(body: Buffer, asked: Asked): OtherBody[] {
  const json = parseExactJson(body)
  if (json === undefined) return []
  const { reference, currency, payeeId } = asked
  const amounts = amountTexts(asked)
  const other = currencies.find((each) => each !== currency) ?? 'XXX'
  const isText = (text: string) => (leaf: ExactJson) => textOf(leaf) === text
  const isCurrency = (leaf: ExactJson) =>
    typeof leaf === 'string' && leaf.toUpperCase() === currency
  const isAmount = (leaf: ExactJson) => amounts.includes(textOf(leaf) ?? '')
  const more = (suffix: string) => (leaf: ExactJson) => {
    const text = textOf(leaf) ?? ''
    const longer = `${text}${text.includes('.') ? '' : '.'}${suffix}`
    return leaf instanceof Exact ? new Exact(longer) : longer
  }
  const made: [string, ExactJson | undefined][] = [
    ['another reference', replaced(json, isText(reference), () => `${reference}X`)],
    ['a number for its reference', replaced(json, isText(reference), () => new Exact('7'))],
    ['another amount', replaced(json, isAmount, (leaf) => larger(leaf))],
    // A number with more digits than a double has.
    ['a little more than its amount', replaced(json, isAmount, more('0000000000000000001'))],
    ['another currency', replaced(json, isCurrency, () => other)],
    ['a number for its currency', replaced(json, isCurrency, () => new Exact('764'))],
    ['another payee', payeeId && replaced(json, isText(payeeId), () => `${payeeId}X`)],
  ]
  return made.flatMap(([what, other]) =>
    other === undefined ? [] : [{ what, body: Buffer.from(writtenText(other)) }],
  )
}

/** The ways in which companies write an amount. */
function amountTexts({ amountMinor, currency }: Asked): string[] {
  const decimal = decimalText(amountMinor, currency)
  const whole = amountMinor % minorPerUnit(currency) === 0n
  const zeros = whole ? [`${decimal}.0`, `${decimal}.00`] : [`${decimal}0`]
  return [decimal, ...zeros, String(amountMinor)]
}

function larger(leaf: ExactJson): ExactJson {
  const longer = `1${textOf(leaf) ?? ''}`
  return leaf instanceof Exact ? new Exact(longer) : longer
}

function textOf(leaf: ExactJson): string | undefined {
  if (leaf instanceof Exact) return leaf.text
  return typeof leaf === 'string' ? leaf : undefined
}

/** The value with every leaf that fits replaced; undefined if there is none. */
function replaced(
  json: ExactJson,
  fits: (leaf: ExactJson) => boolean,
  by: (leaf: ExactJson) => ExactJson,
): ExactJson | undefined {
  let isChanged = false
  const walk = (node: ExactJson): ExactJson => {
    if (node instanceof Map) return new Map([...node].map(([name, each]) => [name, walk(each)]))
    if (Array.isArray(node)) return node.map(walk)
    if (!fits(node)) return node
    isChanged = true
    return by(node)
  }
  const made = walk(json)
  return isChanged ? made : undefined
}
