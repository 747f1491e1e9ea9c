import { type Accounts, accountNames, add, noChange, sumOf } from '../ledger/accounts.ts'
import { bookEvents, type JournalRow } from '../ledger/book.ts'
import { journalColumns, walletColumns } from '../ledger/book-columns.ts'
import { journalHash } from '../ledger/journal-hash.ts'
import { noHash } from '../lib/chain-hash.ts'
import { parseReserveRule, reserveOf } from '../lib/reserve-rule.ts'
import {
  ensure,
  ensureSame,
  ProofFailure,
  type ProofTx,
  type ProvedAgent,
  statusOf,
} from './proof-failure.ts'
import { proveBookRows } from './prove-book-rows.ts'
import { clearingsBefore, proveClearings, proveSuspense } from './prove-clearings.ts'

/**
 * The proof of an agent's book, in pieces that each use one short snapshot. It works only from the rows
 * and shares nothing with the code that wrote them, so that it cannot repeat that code's mistakes.
 */

export interface JournalPage {
  lastSeq: bigint
  rows: number
  callbacks: number
  /** The orders that the rows belong to. */
  orderIds: string[]
}

/** Proves up to `limit` journal rows after a seq. They are history, which no longer changes. */
export async function proveJournalPage(
  tx: ProofTx,
  agent: ProvedAgent,
  afterSeq: bigint,
  limit: number,
): Promise<JournalPage> {
  const { agentId } = agent
  const { rows: dbRows } = await tx.query(
    `select ${journalColumns.select('j')} from journal j
     where agent_id = $1 and seq >= $2 order by seq limit $3`,
    // Includes the row before the page, if there is one.
    [agentId, afterSeq, afterSeq === 0n ? limit : limit + 1],
  )
  const rows = dbRows.map(journalColumns.fromRow)
  const before = rows[0]?.seq === afterSeq ? rows.shift() : undefined
  ensure(before !== undefined || afterSeq === 0n, () => `journal row ${afterSeq} is missing`)
  const clearings = await clearingsBefore(tx, agentId, afterSeq)
  if (before) proveOpening(before, clearings)
  proveChain(agent, rows, before, clearings, await timesAscendSince(tx))
  proveHashes(rows, before?.hash ?? noHash)
  await proveBookRows(tx, agent, rows)
  return {
    lastSeq: rows.at(-1)?.seq ?? afterSeq,
    rows: rows.length,
    callbacks: await proveCallbacksAreThere(tx, agentId, rows),
    orderIds: await proveOrdersAreThere(tx, agentId, rows),
  }
}

async function proveOrdersAreThere(
  tx: ProofTx,
  agentId: bigint,
  rows: JournalRow[],
): Promise<string[]> {
  const orderIds = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))]
  const { rows: found } = await tx.query<{ order_id: string }>(
    'select order_id from orders where agent_id = $1 and order_id = any($2)',
    [agentId, orderIds],
  )
  const there = new Set(found.map(({ order_id }) => order_id))
  const lost = rows.find(({ orderId }) => orderId !== null && !there.has(orderId))
  ensure(
    lost === undefined,
    () => `journal row ${lost?.seq} (${lost?.event}) is of an order that is not there`,
  )
  return orderIds
}

/** Proves that what is at the providers after a row adds up to the row's clearing. */
function proveOpening({ seq, balances }: JournalRow, clearings: ReadonlyMap<string, bigint>): void {
  const there = [...clearings.values()].reduce((sum, balance) => sum + balance, 0n)
  ensure(
    there === balances.clearing,
    () => `journal row ${seq} says clearing is ${balances.clearing}, at providers it is ${there}`,
  )
}

/** How far the clocks of processes could be apart while each wrote its own time. */
const clocksApartMs = 86_400_000

/**
 * Since when the times of a book never go down: always, unless the database was in use before the release that
 * sees to it. Then, from a day after its migration, by which time no process of an earlier release is left.
 */
async function timesAscendSince(tx: ProofTx): Promise<Date> {
  const { rows } = await tx.query<{ since: Date }>(
    `select m.applied_at + interval '1 day' as since from schema_migrations m
     where m.name = '0074_times_ascend.sql' and (
       exists (select 1 from schema_migrations e where e.applied_at < m.applied_at - interval '1 hour')
       or exists (select 1 from agents a where a.created_at < m.applied_at))`,
  )
  return rows[0]?.since ?? new Date(0)
}

/**
 * Proves that seqs have no gaps, that every change adds up to zero, that each row's balances and its time follow
 * from the row before, in all and at its provider, and that all rows are in the agent's currency. Rows that were
 * archived before providers were named have none; then `clearings` is undefined.
 */
export function proveChain(
  { currency }: Pick<ProvedAgent, 'currency'>,
  rows: JournalRow[],
  before: JournalRow | undefined,
  clearings: Map<string, bigint> | undefined,
  ascendSince?: Date,
): void {
  let seq = before?.seq ?? 0n
  let balances: Accounts = before?.balances ?? noChange
  let last = before?.at
  for (const row of rows) {
    seq++
    ensure(row.seq === seq, () => `journal row ${seq} is missing`)
    ensureSame(`journal row ${seq}`, 'currency', row.currency, currency)
    ensure(sumOf(row.change) === 0n, () => `the legs of journal row ${seq} do not add up to zero`)
    balances = add(balances, row.change)
    for (const name of accountNames) {
      ensure(
        row.balances[name] === balances[name],
        () =>
          `journal row ${seq} says ${name} is ${row.balances[name]}, but it is ${balances[name]}`,
      )
    }
    const earlier = last
    const apartMs = ascendSince && earlier && earlier >= ascendSince ? 0 : clocksApartMs
    ensure(
      earlier === undefined || row.at.getTime() >= earlier.getTime() - apartMs,
      () =>
        `journal row ${seq} is of ${row.at.toISOString()}, journal row ${seq - 1n} of ${earlier?.toISOString()}`,
    )
    last = row.at
    if (clearings) proveClearing(row, clearings)
    ensure(
      (bookEvents as readonly string[]).includes(row.event) === (row.orderId === null),
      () => `journal row ${seq} (${row.event}) is of ${row.orderId === null ? 'no' : 'an'} order`,
    )
    ensure(balances.held >= 0n, () => `held is below zero at journal row ${seq}`)
    ensure(balances.reserve >= 0n, () => `the reserve is below zero at journal row ${seq}`)
    ensure(balances.suspense >= 0n, () => `suspense is below zero at journal row ${seq}`)
    ensure(balances.unexplained <= 0n, () => `unexplained is above zero at journal row ${seq}`)
    ensure(
      balances.available >= 0n ||
        row.change.available >= 0n ||
        row.event === 'deposit_taken_back' ||
        row.event === 'withdraw_paid_after_failed' ||
        row.event === 'adjustment',
      () => `journal row ${seq} (${row.event}) takes available below zero`,
    )
  }
}

/** Proves that each row is the one that was hashed, and follows the one before it. Returns the last hash. */
export function proveHashes(rows: readonly JournalRow[], before: string): string {
  let last = before
  for (const row of rows) {
    ensure(
      row.hash === journalHash(last, row),
      () => `journal row ${row.seq} is not as it was written, or does not follow the row before it`,
    )
    last = row.hash
  }
  return last
}

/** Proves what a row says is at its provider, and adds it to what is known. */
function proveClearing(
  { seq, change, clearingAt, clearingThere }: JournalRow,
  clearings: Map<string, bigint>,
): void {
  ensure(
    (change.clearing === 0n) === (clearingAt === null),
    () =>
      `journal row ${seq} moves clearing by ${change.clearing} at ${clearingAt ?? 'no provider'}`,
  )
  if (clearingAt === null) {
    ensureSame(`journal row ${seq}`, 'clearing_there', clearingThere, null)
    return
  }
  const there = (clearings.get(clearingAt) ?? 0n) + change.clearing
  ensureSame(`journal row ${seq}`, `clearing at ${clearingAt}`, clearingThere, there)
  clearings.set(clearingAt, there)
}

/**
 * Proves that every outcome has one callback, and no other row has any. The order's proof checks the
 * contents.
 */
async function proveCallbacksAreThere(
  tx: ProofTx,
  agentId: bigint,
  rows: JournalRow[],
): Promise<number> {
  const { rows: callbacks } = await tx.query<{ seq: bigint }>(
    'select seq from callbacks where agent_id = $1 and seq between $2 and $3',
    [agentId, rows[0]?.seq ?? 0n, rows.at(-1)?.seq ?? -1n],
  )
  const told = new Set(callbacks.map(({ seq }) => seq))
  for (const { seq, event } of rows) {
    ensure(
      told.has(seq) === (statusOf[event] !== undefined),
      () => `journal row ${seq} (${event}) ${told.has(seq) ? 'has a' : 'has no'} callback`,
    )
  }
  return callbacks.length
}

/** The present end of an agent's book; later rows are left to a later proof. */
export interface Extent {
  seq: bigint
  lastOrder: string | null
  lastPayment: string | null
}

/**
 * With more open withdrawals than this, the sum is skipped: it would take long, and each is proved
 * anyway.
 */
const mostAddedUp = 50_000

/**
 * Proves that the wallet matches the last row, and that its held balance is the sum of the open
 * withdrawals.
 */
export async function proveTotals(tx: ProofTx, agent: ProvedAgent): Promise<Extent> {
  const { agentId } = agent
  const { rows } = await tx.query<{
    told: bigint | null
    last_order: string | null
    last_payment: string | null
  }>(
    `select ${walletColumns.select('w')},
       (select c.seq from callbacks c where c.agent_id = w.agent_id order by c.seq desc limit 1)
         as told,
       (select o.order_id from orders o where o.agent_id = w.agent_id
        order by o.order_id desc limit 1) as last_order,
       (select p.payment_id from payments p where p.agent_id = w.agent_id
        order by p.payment_id desc limit 1) as last_payment
     from wallets w where w.agent_id = $1`,
    [agentId],
  )
  const [row] = rows
  ensure(row !== undefined, () => 'there is no wallet')
  const wallet = { ...walletColumns.fromRow(row), told: row.told }
  ensureSame('the wallet', 'currency', wallet.currency, agent.currency)
  await proveHeld(tx, agentId, wallet.balances.held)
  await proveReserve(tx, agentId, wallet.balances.reserve)
  const { rows: lastRows } = await tx.query(
    `select ${journalColumns.select('j')} from journal j
     where agent_id = $1 order by seq desc limit 1`,
    [agentId],
  )
  const last = lastRows[0] && journalColumns.fromRow(lastRows[0])
  ensure(
    wallet.seq === (last?.seq ?? 0n),
    () => `the wallet is at seq ${wallet.seq}, the journal at ${last?.seq ?? 0n}`,
  )
  ensure(
    wallet.told === null || wallet.told <= wallet.seq,
    () => `there is a callback of journal row ${wallet.told}, which is not there`,
  )
  ensureSame('the wallet', 'hash', wallet.hash, last?.hash ?? noHash)
  for (const name of accountNames) {
    ensure(
      wallet.balances[name] === (last?.balances[name] ?? 0n),
      () =>
        `the wallet says ${name} is ${wallet.balances[name]}, the journal ${last?.balances[name] ?? 0n}`,
    )
  }
  await proveSuspense(tx, agent, wallet.balances.suspense)
  await proveClearings(tx, agentId, wallet.balances.clearing)
  return { seq: wallet.seq, lastOrder: row.last_order, lastPayment: row.last_payment }
}

async function proveHeld(tx: ProofTx, agentId: bigint, held: bigint): Promise<void> {
  const { rows } = await tx.query<{ times: bigint; total: bigint }>(
    `select count(*) as times, coalesce(sum(total), 0)::bigint as total from (
       select amount + fee as total from orders
       where agent_id = $1 and kind = 'withdraw' and status = 'WAITING' limit $2
     ) open`,
    [agentId, mostAddedUp + 1],
  )
  const { times = 0n, total = 0n } = rows[0] ?? {}
  if (times > mostAddedUp) return
  ensure(held === total, () => `held is ${held}, but open withdrawals hold ${total}`)
}

async function proveReserve(tx: ProofTx, agentId: bigint, reserve: bigint): Promise<void> {
  const { rows } = await tx.query<{ rule: string; paid: bigint; fee: bigint }>(
    `select reserve_rule as rule, paid_amount as paid, paid_fee as fee from orders
     where agent_id = $1 and release_at is not null limit $2`,
    [agentId, mostAddedUp + 1],
  )
  if (rows.length > mostAddedUp) return
  let total = 0n
  for (const { rule: text, paid: paidMinor, fee: feeMinor } of rows) {
    const rule = parseReserveRule(text)
    if (typeof rule === 'string') throw new ProofFailure(`an order has a reserve: ${rule}`)
    total += reserveOf({ paidMinor, feeMinor }, rule)
  }
  ensure(
    reserve === total,
    () => `the reserve is ${reserve}, but of deposits ${total} is held back`,
  )
}
