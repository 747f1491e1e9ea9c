import { expect, it } from 'vitest'
import { journalColumns } from '../ledger/book-columns.ts'
import { ArchiveFault } from './part-files.ts'
import { journalFrom } from './read-records.ts'

const cells: Record<string, string> = {
  agent_id: '7',
  seq: '3',
  order_id: '01900000-0000-7000-8000-000000000001',
  event: '"deposit_expired"',
  at: '2026-01-01T00:00:00.000001Z',
  currency: '"VND"',
  available_change: '0',
  held_change: '0',
  reserve_change: '0',
  suspense_change: '0',
  unexplained_change: '0',
  clearing_change: '0',
  fees_change: '0',
  costs_change: '0',
  adjustments_change: '0',
  differences_change: '0',
  transfers_change: '0',
  available: '9007199254740991',
  held: '0',
  reserve: '0',
  suspense: '5',
  unexplained: '0',
  clearing: '-9007199254740996',
  fees: '0',
  costs: '0',
  adjustments: '0',
  differences: '0',
  transfers: '0',
  clearing_at: '',
  clearing_there: '',
  once_key: '',
  reason: '',
  hash: '',
}

const read = (written: Record<string, string>) =>
  journalFrom({ currency: 'THB' }, Object.keys(written), Object.values(written).join(','))

it('a row is read as it was written', () => {
  expect(Object.keys(cells).join(', ')).toBe(journalColumns.names)
  expect(read(cells)).toMatchObject({
    agentId: 7n,
    orderId: '01900000000070008000000000000001',
    at: new Date('2026-01-01T00:00:00.000Z'),
    currency: 'VND',
    balances: { available: 9_007_199_254_740_991n, suspense: 5n },
    onceKey: null,
  })
})

it('a row from before rows had a currency is in that of its part', () => {
  const { currency: _, ...older } = cells
  expect(read(older).currency).toBe('THB')
})

it('a row from before there were more accounts has nothing in them', () => {
  const { suspense: _, suspense_change: __, clearing_at: ___, ...older } = cells
  expect(read(older)).toMatchObject({ balances: { suspense: 0n }, clearingAt: null })
})

it.each(['seq', 'event', 'at', 'available'])('a row without its %s is refused', (name) => {
  expect(() => read({ ...cells, [name]: '' })).toThrow(ArchiveFault)
})
