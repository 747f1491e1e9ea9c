import { expect, test } from 'vitest'
import { isSameJson } from './same-json.ts'

test.each([
  ['{"a":1,"b":2}', '{ "b" : 2, "a" : 1 }', true],
  ['{"a":1.50}', '{"a":15e-1}', true],
  ['{"a":100}', '{"a":1E+2}', true],
  ['{"a":-0}', '{"a":0.0}', true],
  ['{"a":"\\u0061"}', '{"a":"a"}', true],
  ['{"a":9007199254740993}', '{"a":9007199254740992}', false],
  ['{"a":0.1}', '{"a":0.10000000000000000001}', false],
  ['{"a":1}', '{"a":"1"}', false],
  ['{"a":1}', '{"a":"n1e0"}', false],
  ['{"a":[1,2]}', '{"a":[2,1]}', false],
  ['{"a":null}', '{}', false],
  ['{"a":"1 \\" 2"}', '{"a":"1 \\" 3"}', false],
  ['{"a":1e999999}', '{"a":1e999998}', false],
])('%s and %s: the same is %s', (one, other, same) => {
  expect(isSameJson(one, other)).toBe(same)
})
