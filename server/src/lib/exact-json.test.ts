import { expect, it } from 'vitest'
import { parseExactJson, valueAt } from './exact-json.ts'
import { Exact } from './json-text.ts'

const parse = (text: string) => parseExactJson(Buffer.from(text))

it('numbers stay the digits that were written', () => {
  expect(parse('[1, 100.10, 9007199254740993, 1e400, -0.5]')).toEqual(
    ['1', '100.10', '9007199254740993', '1e400', '-0.5'].map((text) => new Exact(text)),
  )
})

it.each([
  '{"a":1}',
  ' { "a" : [ true , false , null , "x" ] } ',
  '"\\u00e9\\n\\ud83d\\ude00"',
  '[]',
  '{}',
  '[[[]]]',
  '0',
  '-1.5e+3',
])('%s is read as JSON.parse reads it', (text) => {
  const plain = (value: unknown): unknown => {
    if (value instanceof Exact) return Number(value.text)
    if (value instanceof Map) {
      return Object.fromEntries([...value].map(([name, each]) => [name, plain(each)]))
    }
    return Array.isArray(value) ? value.map(plain) : value
  }
  expect(plain(parse(text))).toEqual(JSON.parse(text))
})

it.each([
  '',
  ' ',
  'paid',
  '{"a":1',
  '{"a":1}}',
  '{"a":1} x',
  '{"a":1,}',
  '[1,]',
  '{a:1}',
  "{'a':1}",
  '01',
  '+1',
  '.5',
  '1.',
  'NaN',
  'Infinity',
  '"\u0001"',
  '"\\x"',
  '"abc',
  'tru',
  '{"a":1,"a":2}',
  '{"a":{"b":1,"b":2}}',
  '{"\\u0061":1,"a":2}',
  '['.repeat(40) + ']'.repeat(40),
  '<html></html>',
])('%s is not read', (text) => {
  expect(parse(text)).toBeUndefined()
})

it('what is not UTF-8 is not read', () => {
  expect(parseExactJson(Buffer.from([0x22, 0xff, 0x22]))).toBeUndefined()
})

it('__proto__ is a name like any other', () => {
  const json = parse('{"__proto__":{"state":"paid"}}')
  expect(valueAt(json, '/state')).toBeUndefined()
  expect(valueAt(json, '/__proto__/state')).toBe('paid')
})

it('a pointer names what RFC 6901 says', () => {
  const json = parse('{"a/b":{"m~n":[10,{"":"x"}]}}')
  expect(valueAt(json, '/a~1b/m~0n/1/')).toBe('x')
  expect(valueAt(json, '/a~1b/m~0n/0')).toEqual(new Exact('10'))
  expect(valueAt(json, '/a~1b/m~0n/01')).toBeUndefined()
  expect(valueAt(json, '/a~1b/m~0n/-')).toBeUndefined()
  expect(valueAt(json, '/a~1b/m~0n/length')).toBeUndefined()
  expect(valueAt(json, '/a/b')).toBeUndefined()
})
