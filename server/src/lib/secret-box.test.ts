import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { derivedKey, mark, reseal, seal, unseal } from './secret-box.ts'

const key = randomBytes(32)
const otherKey = randomBytes(32)

test('a sealed secret opens for its owner', () => {
  expect(unseal([key], 'agent 1', seal([key], 'agent 1', 'sk_ลับ'))).toBe('sk_ลับ')
})

test('a sealed secret does not open for another owner', () => {
  const sealed = seal([key], 'agent 1', 'sk_secret')
  expect(unseal([key], 'agent 2', sealed)).toBeUndefined()
})

test('a sealed secret does not open with another key', () => {
  const sealed = seal([key], 'agent 1', 'sk_secret')
  expect(unseal([otherKey], 'agent 1', sealed)).toBeUndefined()
})

test('what the previous key sealed opens during a rotation, and new secrets take the new key', () => {
  const old = seal([otherKey], 'agent 1', 'sk_old')
  expect(unseal([key, otherKey], 'agent 1', old)).toBe('sk_old')
  const fresh = seal([key, otherKey], 'agent 1', 'sk_new')
  expect(unseal([key], 'agent 1', fresh)).toBe('sk_new')
})

test('one changed byte anywhere keeps a sealed secret shut', () => {
  const sealed = seal([key], 'agent 1', 'sk_secret')
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    expect(unseal([key], 'agent 1', changed)).toBeUndefined()
  }
})

/** As former versions sealed, without the id of the key. */
function sealedWithoutId(): Buffer {
  return seal([otherKey], 'agent 1', 'sk_old').subarray(8)
}

test('what a former version sealed opens, and is sealed again with the current key', () => {
  const old = sealedWithoutId()
  expect(unseal([key, otherKey], 'agent 1', old)).toBe('sk_old')
  expect(reseal([key], 'agent 1', old)).toBe('shut')
  const moved = reseal([key, otherKey], 'agent 1', old)
  if (typeof moved === 'string') throw new Error(moved)
  expect(unseal([key], 'agent 1', moved)).toBe('sk_old')
  expect(reseal([key, otherKey], 'agent 1', moved)).toBe('current')
  expect(reseal([otherKey], 'agent 1', moved)).toBe('shut')
})

test('the same secret sealed twice looks different, and never holds its text', () => {
  const [one, two] = [seal([key], 'agent 1', 'sk_secret'), seal([key], 'agent 1', 'sk_secret')]
  expect(one.equals(two)).toBe(false)
  expect(one.includes('sk_secret')).toBe(false)
})

test('a mark depends on key, purpose and text, and on nothing else', () => {
  const first = mark(key, 'payment page', '1-a')
  expect(first).toHaveLength(16)
  expect(mark(key, 'payment page', '1-a').equals(first)).toBe(true)
  expect(mark(otherKey, 'payment page', '1-a').equals(first)).toBe(false)
  expect(mark(key, 'another page', '1-a').equals(first)).toBe(false)
  expect(mark(key, 'payment page', '1-b').equals(first)).toBe(false)
})

test('a derived key is another one for each purpose and each key, and stays the same', () => {
  const derived = derivedKey(key, 'one')
  expect(derived).toHaveLength(32)
  expect(derivedKey(Buffer.from(key), 'one')).toEqual(derived)
  for (const other of [key, derivedKey(key, 'two'), derivedKey(otherKey, 'one')]) {
    expect(other.equals(derived)).toBe(false)
  }
})
