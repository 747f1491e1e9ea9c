import { isDeepStrictEqual } from 'node:util'

/**
 * Whether two JSON texts say the same: the order of keys, spacing and escapes do not matter, and
 * numbers are compared by their digits. `JSON.parse` alone would take 9007199254740993 for …992.
 */
export function isSameJson(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(exactly(one), exactly(other))
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The value of a text in which numbers stand as marked strings, so that none is rounded. */
function exactly(text: string): unknown {
  return JSON.parse(
    text.replace(stringOrNumber, (token) =>
      token.startsWith('"') ? `"s${token.slice(1)}` : `"n${plainNumber(token)}"`,
    ),
  )
}

/** A number as its digits and a power of ten: 1.50, 15e-1 and 0.15e1 come out alike. */
function plainNumber(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power =
    BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  return `${sign}${significant}e${power}`
}
