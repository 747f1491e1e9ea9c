import { describe, expect, test } from 'vitest'
import { type BankEntry, noIds } from '../statements/statement.ts'
import { reportsOf } from './bank-report.ts'

function entry(fields: Partial<BankEntry> = {}): BankEntry {
  return {
    line: 1,
    entryNo: 1,
    childNo: null,
    batchCount: null,
    bookedOn: '2026-11-16',
    bookedAt: null,
    amountMinor: 100_07n,
    currency: 'THB',
    status: 'booked',
    ids: noIds,
    texts: ['TRF'],
    counterparty: { accountNo: null, name: null, bank: null },
    balanceAfterMinor: null,
    chargesMinor: 0n,
    isReturn: false,
    returnReason: null,
    typeCode: null,
    ...fields,
  }
}

const keysOf = (...entries: BankEntry[]) => reportsOf('statement', entries).map(({ key }) => key)

describe('the key of a line', () => {
  test('is the same in every file, wherever the line is in it', () => {
    const [alone] = keysOf(entry())
    expect(keysOf(entry({ amountMinor: 1n }), entry({ line: 99, entryNo: 7 }))[1]).toBe(alone)
  })

  test('tells equal lines of a file apart by their number', () => {
    const keys = keysOf(entry(), entry(), entry())
    expect(new Set(keys).size).toBe(3)
    expect(keysOf(entry(), entry())).toEqual(keys.slice(0, 2))
  })

  test.each<[string, Partial<BankEntry>]>([
    ['day', { bookedOn: '2026-11-17' }],
    ['time', { bookedAt: new Date(0) }],
    ['amount', { amountMinor: 100_08n }],
    ['direction', { amountMinor: -100_07n }],
    ['currency', { currency: 'EUR' }],
    ['id', { ids: { ...noIds, endToEndId: 'E' } }],
    ['kind of id', { ids: { ...noIds, uetr: 'E' } }],
    ['payer', { counterparty: { accountNo: '1', name: null, bank: null } }],
    ['text', { texts: ['TRF 2'] }],
    ['balance', { balanceAfterMinor: 5n }],
  ])('is another with another %s', (_what, fields) => {
    expect(keysOf(entry(fields))).not.toEqual(keysOf(entry()))
  })
})

test('only booked entries are reports, and none of nothing', () => {
  expect(keysOf(entry({ status: 'pending' }), entry({ amountMinor: 0n }))).toEqual([])
})

test('a batch of one is a payment; a longer text than is kept is cut', () => {
  const [one, two] = reportsOf('intraday', [
    entry({ batchCount: 1, texts: ['x'.repeat(5_000)] }),
    entry({ batchCount: 2 }),
  ])
  expect([one?.batchCount, two?.batchCount, one?.source]).toEqual([null, 2, 'intraday'])
  expect(one?.text).toHaveLength(4_000)
})
