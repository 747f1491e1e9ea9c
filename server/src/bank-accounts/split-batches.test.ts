import { expect, test } from 'vitest'
import { noIds } from '../statements/statement.ts'
import { type BatchChild, childrenOf } from './split-batches.ts'

const batch = {
  amountMinor: 300n,
  bookedOn: '2026-11-16',
  ids: { ...noIds, paymentInformationId: 'B' },
  batchCount: 2,
}

const none = new Set<string>()

function child(movementId: string, amountMinor: bigint, more: Partial<BatchChild> = {}) {
  return { movementId, amountMinor, bookedOn: '2026-11-16', ids: batch.ids, ...more }
}

test('payments that share its id and day and add up are the batch', () => {
  const [a, b] = [child('a', 100n), child('b', 200n)]
  expect(childrenOf(batch, [a, b, child('c', 5n, { ids: noIds })], none)).toEqual([a, b])
})

test.each<[string, BatchChild[]]>([
  ['too few', [child('a', 300n)]],
  ['another sum', [child('a', 100n), child('b', 201n)]],
  ['one more', [child('a', 100n), child('b', 150n), child('c', 50n)]],
  ['another id', [child('a', 100n), child('b', 200n, { ids: noIds })]],
  ['another day', [child('a', 100n), child('b', 200n, { bookedOn: '2026-11-18' })]],
])('%s: they are not', (_why, known) => {
  expect(childrenOf(batch, known, none)).toBeUndefined()
})

test('without an id nobody knows what a batch consists of', () => {
  const known = [child('a', 100n, { ids: noIds }), child('b', 200n, { ids: noIds })]
  expect(childrenOf({ ...batch, ids: noIds }, known, none)).toBeUndefined()
})

test('the bank books its sum on the banking day after, beyond its holidays', () => {
  const friday = { bookedOn: '2026-11-13' }
  const known = [child('a', 100n, friday), child('b', 200n, friday)]
  const tuesday = { ...batch, bookedOn: '2026-11-17' }
  expect(childrenOf(tuesday, known, none)).toBeUndefined()
  expect(childrenOf(tuesday, known, new Set(['2026-11-16']))).toEqual(known)
})
