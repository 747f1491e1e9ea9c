import { expect, it } from 'vitest'
import { looksLikeSecret, newAgentSecret } from './agent-secret.ts'

it('a secret says where it counts, and carries a checksum that every change of a character breaks', () => {
  const secret = newAgentSecret('live')
  expect(secret).toMatch(/^sk_live_[0-9A-Za-z]{49}$/)
  expect(newAgentSecret('sandbox')).toMatch(/^sk_test_/)
  expect(newAgentSecret('live')).not.toBe(secret)
  expect(looksLikeSecret(secret)).toBe(true)
  for (let at = 0; at < secret.length; at++) {
    const other = secret[at] === 'x' ? 'y' : 'x'
    expect(looksLikeSecret(secret.slice(0, at) + other + secret.slice(at + 1)), `${at}`).toBe(false)
  }
  expect(looksLikeSecret(secret.replace('live', 'test'))).toBe(false)
})

it('the checksum is the one that the documentation describes', () => {
  // CRC-32 of the text before it is 1270355461.
  const text = `sk_test_${'0'.repeat(43)}`
  expect(looksLikeSecret(`${text}1NyHUD`)).toBe(true)
})
