import type { JournalRow } from '../../ledger/book.ts'
import { txnId } from '../../lib/ids.ts'
import type { Currency } from '../../lib/money.ts'
import { exact } from './order-summary.ts'

/** A journal row as its agent reads it too. */
export function journalView(row: JournalRow, currency: Currency) {
  return {
    seq: row.seq,
    at: row.at,
    event: row.event,
    txn_id: row.orderId === null ? null : txnId(row.agentId, row.orderId),
    amount: exact(row.change.available, currency),
    held_change: exact(row.change.held, currency),
    fee: exact(row.change.fees, currency),
    balance: exact(row.balances.available, currency),
    held: exact(row.balances.held, currency),
    reason: row.reason,
  }
}
