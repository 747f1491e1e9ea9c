import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonMembers } from './json-members.ts'

test.each([
  ['at the top', '{"a":1,"a":2}', 'a'],
  ['with a space before the colon', '{"a" :1,"a"\n:2}', 'a'],
  ['in an object inside', '{"x":{"a":1,"a":2}}', 'a'],
  ['in an object inside an array', '{"x":[1,{"a":1,"a":2}]}', 'a'],
  ['after a nested object', '{"a":{"b":1},"c":[],"a":2}', 'a'],
  ['five levels down', '{"x":{"x":{"x":{"x":{"a":1,"b":2,"a":3}}}}}', 'a'],
  ['spelled with an escape', '{"a":1,"\\u0061":2}', 'a'],
  ['both spelled with escapes', '{"\\u0061":1,"\\u0061":2}', 'a'],
  ['escaped in another way', '{"/":1,"\\/":2}', '/'],
  ['with an escaped quote', '{"a\\"b":1,"a\\u0022b":2}', 'a"b'],
  ['as an empty key', '{"":1,"":2}', ''],
  ['as __proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ['as an emoji and its escape', '{"😀":1,"\\ud83d\\ude00":2}', '😀'],
  ['in an array at the top', '[{"a":1,"a":2}]', 'a'],
  ['first of two', '{"a":1,"b":1,"b":2,"a":2}', 'b'],
])('a key that stands twice %s is found', (_where, text, key) => {
  JSON.parse(text)
  expect(jsonMembers(text).duplicateKey).toBe(key)
})

test.each([
  ['in different objects', '{"a":{"a":{"a":1}},"b":{"a":1}}'],
  ['in neighbours of an array', '[{"a":1},{"a":1}]'],
  ['as a value', '{"a":"a","b":"a","c":["a","a"]}'],
  ['as a value after a key with a colon', '{"a:":"a","b":"\\"a\\":1"}'],
  ['in another case', '{"a":1,"A":2}'],
  ['composed and decomposed', '{"\\u00e9":1,"e\\u0301":2}'],
  ['within a string', '{"x":"{\\"a\\":1,\\"a\\":2}"}'],
  ['behind an escaped backslash', '{"a":"\\\\","b":"\\\\\\"a"}'],
])('a key that stands once and again %s is no duplicate', (_where, text) => {
  JSON.parse(text)
  expect(jsonMembers(text).duplicateKey).toBeUndefined()
})

test.each([
  ['a number', '{"x":1.50e+2}', '1.50e+2', 0],
  ['a number beyond doubles', '{"x":12345678901234567890.12}', '12345678901234567890.12', 0],
  ['a string', '{"x" : "a,}]\\"" }', '"a,}]\\""', 0],
  ['null', '{ "y":1 , "x":null}', 'null', 0],
  ['an empty object', '{"x":{}}', '{}', 1],
  ['an empty array', '{"x":[]}', '[]', 1],
  ['an object with its spacing', '{"x":\n { "b" :1,\t"a":[ ] } ,"y":0}', '{ "b" :1,\t"a":[ ] }', 2],
  [
    'escapes as they are',
    '{"x":{"k":"\\u0000\\ud83d\\ude00\\/"}}',
    '{"k":"\\u0000\\ud83d\\ude00\\/"}',
    1,
  ],
  ['siblings', '{"x":[[],[[]],{}]}', '[[],[[]],{}]', 3],
  ['five levels', '{"x":{"a":{"b":{"c":{"d":[1]}}}}}', '{"a":{"b":{"c":{"d":[1]}}}}', 5],
  ['six levels', '{"x":{"a":[{"c":[{"d":[]}]}]}}', '{"a":[{"c":[{"d":[]}]}]}', 6],
])('the text and depth of a member: %s', (_what, text, member, depth) => {
  const { textOf, depthOf } = jsonMembers(text)
  expect(textOf.get('x')).toBe(member)
  expect(depthOf.get('x')).toBe(depth)
})

test.each(['1', '"x"', 'null', '[1,{"a":2}]', '[]', '{}', ' { } '])(
  'the JSON %s has no members',
  (text) => {
    expect(jsonMembers(text).textOf.size).toBe(0)
  },
)

test('of any object, the members are those that JSON.parse sees, in their own text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const { duplicateKey, textOf } = jsonMembers(text)
      expect(duplicateKey).toBeUndefined()
      expect([...textOf.keys()]).toEqual(Object.keys(JSON.parse(text)))
      for (const [key, member] of textOf) {
        expect(JSON.parse(member)).toEqual(JSON.parse(text)[key])
        expect(text).toContain(member)
      }
    }),
  )
})
