import fc from 'fast-check'
import type { Schema } from './described.ts'

/** Texts that have broken somebody's parser, database or display before. */
export const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'a\udfffb',
    '\u202eevil',
    '\u2028',
    '💥',
    'ﷺ'.repeat(16),
    "'; drop table orders; --",
    '{{7*7}}<script>',
    '../../etc/passwd',
    '%00',
    '%2e%2e%2f',
    '__proto__',
    'constructor',
    'toString',
    '1e400',
    '-0',
    'NaN',
    'x'.repeat(70),
    'x'.repeat(5_000),
  ),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)

/** As UTF-8 can hold it: without halves of characters. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** A piece of JSON as text, for what has no value in JavaScript. */
const hostileJson = fc.oneof(
  fc.constantFrom(
    ...[
      'null',
      'true',
      '[]',
      '{}',
      '0',
      '-1',
      '-0',
      '0.1',
      '1.5',
      '1e3',
      '1E+2',
      '1e400',
      '-1e400',
    ],
    ...[
      '9007199254740993',
      '1000000000001',
      '99999999999999999999999999999',
      '100.00',
      '1.0000001',
    ],
    ...['"1"', '""', '"\\u0000"', '"\\ud800"', '"\\uD83D\\uDE00"', '{"__proto__":{"x":1}}'],
    ...['{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}', '[[[[[[[[[[]]]]]]]]]]', '{"sandbox":"nope"}'],
    ...[
      '{"sandbox":null}',
      '{"sandbox":["paid"]}',
      '{"a":1,"a":2}',
      'NaN',
      '01',
      "'x'",
      'undefined',
    ],
  ),
  hostileText.map((text) => JSON.stringify(text)),
  fc.json({ maxDepth: 6 }),
  fc.double().map((number) => JSON.stringify(number)),
  fc.bigInt().map(String),
)

/** Values for fields whose meaning no schema tells. */
export type Known = Record<string, fc.Arbitrary<unknown>>

/** A value that a schema allows. */
export function valid(schema: Schema, name: string, known: Known): fc.Arbitrary<unknown> {
  const own = known[name]
  if (own) return own
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valid(each, name, known)))
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type) => valid({ ...schema, type }, name, known)))
  }
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1e6, 1e6) })
    case 'number':
      return fc.integer({ min: 1, max: 1_000 })
    case 'object':
      return schema.properties
        ? validObject(schema, known)
        : fc.dictionary(fc.string(), fc.string())
    case 'string': {
      const pattern = new RegExp(schema.pattern ?? '', 'u')
      return fc
        .oneof(
          fc.stringMatching(/^[A-Za-z0-9]{4,30}$/),
          fc.stringMatching(/^[0-9a-f]{32}$/),
          fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
        )
        .filter((text) => pattern.test(text))
    }
    default:
      return fc.constant(null)
  }
}

function validObject({ properties = {}, required = [] }: Schema, known: Known) {
  return fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, valid(schema, name, known)]),
    ),
    { requiredKeys: required },
  )
}

/** A body's bytes: as described, nearly so, or nothing of the kind. */
export function bodies(schema: Schema, known: Known): fc.Arbitrary<Buffer> {
  const right = validObject(schema, known)
  const names = Object.keys(schema.properties ?? {})
  const text = (members: [string, string][]) =>
    `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  const membersOf = (value: object) =>
    Object.entries(value).map(([name, each]): [string, string] => [name, JSON.stringify(each)])
  const nearly = fc
    .tuple(
      right,
      fc.constantFrom(...names),
      hostileJson,
      fc.constantFrom('as', 'without', 'twice', 'and'),
    )
    .map(([value, name, json, how]) => {
      const others = membersOf(value).filter(([each]) => each !== name)
      if (how === 'without') return text(others)
      if (how === 'twice') return text([...others, [name, json], [name, json]])
      if (how === 'and') return text([...membersOf(value), [`${name}2`, json]])
      return text([...others, [name, json]])
    })
  return fc.oneof(
    { weight: 4, arbitrary: right.map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 8, arbitrary: nearly.map((json) => Buffer.from(json)) },
    { weight: 2, arbitrary: broken(right) },
  )
}

/** Bytes that are not a JSON object at all, or hardly. */
function broken(right: fc.Arbitrary<object>): fc.Arbitrary<Buffer> {
  return fc.oneof(
    hostileJson.map((json) => Buffer.from(json)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        '',
        '{',
        '[1,]',
        '{"a":1,}',
        '\ufeff{}',
        '{}{}',
        '//\n{}',
        '['.repeat(8_000),
        '{"a":'.repeat(2_500),
        `${'['.repeat(8_000)}${']'.repeat(8_000)}`,
        `"${'x'.repeat(20_000)}"`,
      )
      .map((each) => Buffer.from(each)),
    // Cut off somewhere, or with a byte that is not UTF-8 in its middle.
    fc.tuple(right, fc.nat(400), fc.boolean()).map(([value, at, cut]) => {
      const bytes = Buffer.from(JSON.stringify(value))
      if (cut) return bytes.subarray(0, at)
      bytes[at % bytes.length] = 0xff
      return bytes
    }),
  )
}
