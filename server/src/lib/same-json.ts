import { isDeepStrictEqual } from 'node:util'

/**
 * Whether two JSON texts are equivalent: ignores key order, spacing and escapes, and compares numbers by
 * their digits. `JSON.parse` alone would read 9007199254740993 as …992.
 */
export function isSameJson(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(exactly(one), exactly(other))
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parses JSON with its numbers turned into marked strings, so that none is rounded. */
function exactly(text: string): unknown {
  return JSON.parse(
    text.replace(stringOrNumber, (token) =>
      token.startsWith('"') ? `"s${token.slice(1)}` : `"n${plainNumber(token)}"`,
    ),
  )
}

/** Normalises a number to its digits and a power of ten: 1.50, 15e-1 and 0.15e1 give the same result. */
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
