import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstOrderIdAt, newOrderId, orderIdFromUuid, parseTxnId, txnId } from './ids.ts'

const anyTime = fc.date({
  min: new Date(0),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
})

test('an order id is a UUID of version 7', () => {
  fc.assert(
    fc.property(anyTime, (at) => {
      const id = newOrderId(at)
      expect(id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
      expect(Number.parseInt(id.slice(0, 12), 16)).toBe(at.getTime())
    }),
  )
})

test('ids of a later moment sort after those of an earlier one, and the first of it between', () => {
  fc.assert(
    fc.property(anyTime, fc.integer({ min: 1, max: 1_000_000 }), (at, laterMs) => {
      const later = new Date(at.getTime() + laterMs)
      const bound = firstOrderIdAt(later)
      expect(newOrderId(at) < bound).toBe(true)
      expect(bound <= newOrderId(later)).toBe(true)
    }),
  )
})

test('a moment before 1970 bounds nothing', () => {
  expect(firstOrderIdAt(new Date(-1))).toBe('0'.repeat(32))
})

test('a thousand ids of one moment are all different', () => {
  const at = new Date()
  expect(new Set(Array.from({ length: 1000 }, () => newOrderId(at))).size).toBe(1000)
})

test('a transaction id reads back to its agent and order', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }), anyTime, (agentId, at) => {
      const orderId = newOrderId(at)
      expect(parseTxnId(txnId(agentId, orderId))).toEqual({ agentId, orderId })
    }),
  )
})

const digits = '0190a1b2c3d4700080000123456789ab'

test.each([
  ['no agent', digits],
  ['an empty agent', `-${digits}`],
  ['agent zero', `0-${digits}`],
  ['a zero in front', `01-${digits}`],
  ['a negative agent', `-1-${digits}`],
  ['an agent beyond 64 bits', `${'9'.repeat(19)}-${digits}`],
  ['an agent that is no number', `x-${digits}`],
  ['upper case', `1-${digits.toUpperCase()}`],
  ['a digit too few', `1-${digits.slice(1)}`],
  ['a digit too many', `1-${digits}0`],
  ['a UUID with dashes', '1-0190a1b2-c3d4-7000-8000-0123456789ab'],
  ['something behind it', `1-${digits}\n`],
  ['nothing', ''],
])('a transaction id with %s is none', (_what, text) => {
  expect(parseTxnId(text)).toBeUndefined()
})

test('a UUID as PostgreSQL writes it becomes the bare digits', () => {
  expect(orderIdFromUuid('0190a1b2-c3d4-7000-8000-0123456789ab')).toBe(digits)
})
