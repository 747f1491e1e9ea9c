import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { noHash } from '../lib/chain-hash.ts'
import { noChange } from './accounts.ts'
import type { JournalRow } from './book.ts'
import { journalColumns } from './book-columns.ts'
import { hashedColumns, journalHash } from './journal-hash.ts'

const row: JournalRow = {
  agentId: 7n,
  seq: 3n,
  orderId: '0190163d8694739bb4f1d6b1b5f9d9a2',
  event: 'deposit_paid',
  at: new Date('2026-01-31T08:30:00.125Z'),
  currency: 'THB',
  change: { ...noChange, available: 500n, clearing: -500n },
  balances: { ...noChange, available: 1_500n, clearing: -1_500n },
  clearingAt: 'bank',
  clearingThere: -1_500n,
  onceKey: 'payment:bank:ü',
  reason: null,
  hash: '',
}

it('covers every column but the hash itself, in the order of their names', () => {
  const all = journalColumns.names.split(', ').filter((name) => name !== 'hash')
  expect(hashedColumns).toEqual(all.toSorted())
})

it('is the SHA-256 of the hash before and a line for each value, as the decision says', () => {
  const text = `${noHash}
journal
agent_id=1:7
at=24:2026-01-31T08:30:00.125Z
available=4:1500
available_change=3:500
clearing=5:-1500
clearing_at=4:bank
clearing_change=4:-500
clearing_there=5:-1500
currency=3:THB
event=12:deposit_paid
once_key=15:payment:bank:ü
order_id=32:0190163d8694739bb4f1d6b1b5f9d9a2
seq=1:3
`
  expect(journalHash(noHash, row)).toBe(createHash('sha256').update(text).digest('hex'))
})

it('differs when anything differs', () => {
  const hashes = [
    journalHash(noHash, row),
    journalHash('1'.repeat(64), row),
    journalHash(noHash, { ...row, agentId: 8n }),
    journalHash(noHash, { ...row, at: new Date('2026-01-31T08:30:00.126Z') }),
    journalHash(noHash, { ...row, change: { ...row.change, fees: 1n } }),
    journalHash(noHash, { ...row, reason: 'late' }),
    // What one value says cannot be moved into another.
    journalHash(noHash, { ...row, onceKey: 'payment:bank:ü\nreason=4:late' }),
    journalHash(noHash, { ...row, orderId: null }),
  ]
  expect(new Set(hashes).size).toBe(hashes.length)
})
