import type { JournalRow } from '../../ledger/book.ts'
import { feeChargedBy, reasonForAgent } from '../../ledger/read-journal.ts'
import { txnId } from '../../lib/ids.ts'
import type { Currency } from '../../lib/money.ts'
import type { Operator } from '../../operators/operator.ts'
import { exact } from './order-summary.ts'

/** A journal row as this operator may read it; an agent's users see what the agent sees. */
export function journalView(row: JournalRow, currency: Currency, operator: Operator) {
  return {
    seq: row.seq,
    at: row.at,
    event: row.event,
    txn_id: row.orderId === null ? null : txnId(row.agentId, row.orderId),
    amount: exact(row.change.available, currency),
    held_change: exact(row.change.held, currency),
    fee: exact(feeChargedBy(row), currency),
    balance: exact(row.balances.available, currency),
    held: exact(row.balances.held, currency),
    reason: operator.agentId === null ? row.reason : reasonForAgent(row),
  }
}
