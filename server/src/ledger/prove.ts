import { orderIdFromUuid, txnId } from '../lib/ids.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { type Accounts, accountNames, add, noChange, sumOf } from './accounts.ts'
import type { JournalRow } from './book.ts'
import { demand, Lie, type ProofTx, statusOf } from './lie.ts'
import { type OrderRow, orderFromRow } from './order-row.ts'
import { proveClaims } from './prove-claims.ts'
import { proveOrders } from './prove-orders.ts'
import { provePayments } from './prove-payments.ts'
import { type JournalDbRow, journalFromRow } from './read-journal.ts'

/**
 * The proof of an agent's book, piece by piece. It works from the rows alone and shares nothing with
 * the code that wrote them, so that a mistake there cannot hide here.
 */

export interface Span {
  lastSeq: bigint
  rows: number
  callbacks: number
}

/** Proves up to `limit` journal rows after a seq, with their callbacks, payments and orders. */
export async function proveSpan(
  tx: ProofTx,
  agentId: bigint,
  currency: Currency,
  afterSeq: bigint,
  limit: number,
): Promise<Span> {
  const { rows: dbRows } = await tx.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and seq >= $2 order by seq limit $3',
    // The row before the span comes along, except where there is none.
    [agentId, afterSeq, afterSeq === 0n ? limit : limit + 1],
  )
  const rows = dbRows.map(journalFromRow)
  const before = rows[0]?.seq === afterSeq ? rows.shift() : undefined
  demand(before !== undefined || afterSeq === 0n, () => `journal row ${afterSeq} is missing`)
  proveChain(rows, before)
  const callbacks = await proveCallbacks(tx, agentId, currency, rows)
  await provePayments(tx, agentId, rows)
  await proveClaims(tx, agentId, rows)
  const orderIds = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))]
  const { rows: orderRows } = await tx.query<OrderRow>(
    'select * from orders where agent_id = $1 and order_id = any($2)',
    [agentId, orderIds],
  )
  demand(
    orderRows.length === orderIds.length,
    () => `the journal tells of ${orderIds.length - orderRows.length} orders that are not there`,
  )
  await proveOrders(tx, agentId, orderRows.map(orderFromRow))
  return {
    lastSeq: rows.at(-1)?.seq ?? afterSeq,
    rows: rows.length,
    callbacks,
  }
}

/** Seq is gapless, legs add up to zero, and each row's balances follow from the row before. */
function proveChain(rows: JournalRow[], before: JournalRow | undefined): void {
  let seq = before?.seq ?? 0n
  let balances: Accounts = before?.balances ?? noChange
  for (const row of rows) {
    seq++
    demand(row.seq === seq, () => `journal row ${seq} is missing`)
    demand(sumOf(row.change) === 0n, () => `the legs of journal row ${seq} do not add up to zero`)
    balances = add(balances, row.change)
    for (const name of accountNames) {
      demand(
        row.balances[name] === balances[name],
        () =>
          `journal row ${seq} says ${name} is ${row.balances[name]}, but it is ${balances[name]}`,
      )
    }
    const { held, clearing, fees } = row.change
    demand(
      row.event !== 'adjustment' || (held === 0n && clearing === 0n && fees === 0n),
      () => `journal row ${seq} is an adjustment and moves more than that`,
    )
    demand(balances.held >= 0n, () => `held is below zero at journal row ${seq}`)
    demand(
      balances.available >= 0n ||
        row.change.available >= 0n ||
        row.event === 'deposit_taken_back' ||
        row.event === 'adjustment',
      () => `journal row ${seq} (${row.event}) takes available below zero`,
    )
  }
}

/** Every outcome has one callback that tells it as it was; nothing else has one. */
async function proveCallbacks(
  tx: ProofTx,
  agentId: bigint,
  currency: Currency,
  rows: JournalRow[],
): Promise<number> {
  const { rows: callbacks } = await tx.query<{ seq: bigint; order_id: string; body: string }>(
    `select seq, order_id, body from callbacks
     where agent_id = $1 and seq between $2 and $3`,
    [agentId, rows[0]?.seq ?? 0n, rows.at(-1)?.seq ?? -1n],
  )
  const bySeq = new Map(callbacks.map((callback) => [callback.seq, callback]))
  for (const row of rows) {
    const status = statusOf[row.event]
    const callback = bySeq.get(row.seq)
    demand(
      (callback !== undefined) === (status !== undefined),
      () => `journal row ${row.seq} (${row.event}) ${callback ? 'has a' : 'has no'} callback`,
    )
    if (callback === undefined) continue
    const body = parsedBody(callback.body, row.seq)
    const says = (field: string, got: unknown, expected: unknown) =>
      demand(
        got === expected,
        () => `the callback of journal row ${row.seq} says ${field} ${got}, but it is ${expected}`,
      )
    says('status', body.status, status)
    says('order', orderIdFromUuid(callback.order_id), row.orderId)
    says('transactionId', body.transactionId, txnId(agentId, row.orderId ?? ''))
    says('balance', body.wallet?.balance, Number(decimalText(row.balances.available, currency)))
    if (row.event === 'deposit_paid' || row.event === 'withdraw_paid') {
      const paid = row.change.clearing < 0n ? -row.change.clearing : row.change.clearing
      says('amount', body.amount, Number(decimalText(paid, currency)))
      says('fee', body.fee, Number(decimalText(row.change.fees, currency)))
    } else if (row.event !== 'withdraw_reverted') says('fee', body.fee, 0)
  }
  return callbacks.length
}

function parsedBody(text: string, seq: bigint) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    throw new Lie(`the callback of journal row ${seq} is not JSON`)
  }
}

/** The wallet is the last row, and what is held is what open withdrawals hold. */
export async function proveTotals(tx: ProofTx, agentId: bigint): Promise<bigint> {
  const { rows } = await tx.query<Accounts & { seq: bigint; open: bigint; told: bigint | null }>(
    `select w.seq, w.available, w.held, w.clearing, w.fees, w.adjustments,
       (select max(c.seq) from callbacks c where c.agent_id = w.agent_id) as told,
       (select coalesce(sum(o.amount + o.fee), 0)::bigint from orders o
        where o.agent_id = w.agent_id and o.kind = 'withdraw' and o.status = 'WAITING') as open
     from wallets w where w.agent_id = $1`,
    [agentId],
  )
  const wallet = rows[0]
  demand(wallet !== undefined, () => 'there is no wallet')
  demand(
    wallet.held === wallet.open,
    () => `held is ${wallet.held}, but open withdrawals hold ${wallet.open}`,
  )
  const { rows: lastRows } = await tx.query<JournalDbRow>(
    'select * from journal where agent_id = $1 order by seq desc limit 1',
    [agentId],
  )
  const last = lastRows[0]
  demand(
    wallet.seq === (last?.seq ?? 0n),
    () => `the wallet is at seq ${wallet.seq}, the journal at ${last?.seq ?? 0n}`,
  )
  demand(
    wallet.told === null || wallet.told <= wallet.seq,
    () => `there is a callback of journal row ${wallet.told}, which is not there`,
  )
  for (const name of accountNames) {
    demand(
      wallet[name] === (last?.[name] ?? 0n),
      () => `the wallet says ${name} is ${wallet[name]}, the journal ${last?.[name] ?? 0n}`,
    )
  }
  return wallet.seq
}
