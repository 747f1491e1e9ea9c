import { paidInBy } from '../ledger/accounts.ts'
import { type JournalRow, type Payment, sideEvents } from '../ledger/book.ts'
import { journalColumns, paymentColumns } from '../ledger/book-columns.ts'
import {
  ensure,
  ensureSame,
  type ProofTx,
  type ProvedAgent,
  type ProvedPage,
  type Stretch,
} from './proof-failure.ts'
import { proveClaimed } from './prove-claims.ts'
import { proveUnmatched } from './prove-unmatched.ts'

const creditKey = 'payment:'
const takenBackKey = 'payment-taken-back:'
const receivedKey = 'payment_received:'
const returnedKey = 'payment_returned:'
const reclassifiedKey = 'payment_reclassified:'

const paymentKeys = [
  'payment',
  'payment-taken-back',
  'payment_received',
  'payment_returned',
  'payment_dismissed',
  'payment_assigned',
  'payment_reclassified',
]

/** The payment that a row is about, by its key. */
export function paymentIdIn({ onceKey }: Pick<JournalRow, 'onceKey'>): string | undefined {
  if (onceKey === null) return undefined
  const at = onceKey.indexOf(':')
  return paymentKeys.includes(onceKey.slice(0, at)) ? onceKey.slice(at + 1) : undefined
}

/** Reads the payments that the rows are about, by their ids. */
export async function readPaymentsOf(
  tx: ProofTx,
  agentId: bigint,
  rows: readonly JournalRow[],
): Promise<Map<string, Payment>> {
  const ids = rows.flatMap((row) => paymentIdIn(row) ?? [])
  if (ids.length === 0) return new Map()
  const { rows: found } = await tx.query(
    `select ${paymentColumns.select('p')} from payments p
     where agent_id = $1 and payment_id = any($2)`,
    [agentId, ids],
  )
  const payments = found.map(paymentColumns.fromRow)
  return new Map(payments.map((payment) => [payment.paymentId, payment]))
}

/** The same by the key of the row that credits each payment. */
export async function readCredited(
  tx: ProofTx,
  agentId: bigint,
  rows: readonly JournalRow[],
): Promise<Map<string, Payment>> {
  const payments = await readPaymentsOf(tx, agentId, rows)
  return new Map([...payments].map(([paymentId, payment]) => [creditKey + paymentId, payment]))
}

/**
 * Proves that the payment that paid an order is recorded as such; `isTakenBack` says whether it was taken
 * back.
 */
export function proveCredit(
  row: JournalRow,
  payment: Payment | undefined,
  isTakenBack: boolean,
): void {
  const paid = paidInBy(row.change)
  const credits = `journal row ${row.seq} credits ${row.onceKey}`
  ensure(payment !== undefined, () => `${credits}, which is not recorded`)
  const where = `${credits}, which`
  ensureSame(where, 'order', payment.orderId, row.orderId)
  ensureSame(where, 'credited to', payment.creditedTo, 'order')
  ensureSame(where, 'amount', payment.amountMinor, paid)
  ensureSame(where, 'state', payment.state, isTakenBack ? 'taken_back' : 'credited')
  // What waited before it was credited comes from suspense.
  const waited = payment.receivedSeq > 0n && payment.receivedSeq < row.seq
  ensureSame(where, 'that it waited', row.change.suspense !== 0n, waited)
  ensure(
    waited || payment.receivedSeq === 0n || payment.receivedSeq === row.seq,
    () => `${where} was received by journal row ${payment.receivedSeq}`,
  )
}

/** Proves a page of an agent's payments against the journal: each payment's state must match its rows. */
export async function provePaymentPage(
  tx: ProofTx,
  agent: ProvedAgent,
  { after, upTo, limit }: Stretch,
): Promise<ProvedPage> {
  const { rows: found } = await tx.query(
    `select ${paymentColumns.select('p')} from payments p where agent_id = $1 and payment_id > $2
       and ($3::text is null or payment_id <= $3) order by payment_id limit $4`,
    [agent.agentId, after, upTo, limit],
  )
  const payments = found.map(paymentColumns.fromRow)
  const ids = payments.map(({ paymentId }) => paymentId)
  const { rows } = await tx.query(
    `select ${journalColumns.select('j')} from journal j where agent_id = $1 and once_key = any($2)`,
    [agent.agentId, ids.flatMap((id) => keysOf.map((key) => key + id))],
  )
  const byKey = new Map(rows.map(journalColumns.fromRow).map((row) => [row.onceKey, row]))
  for (const payment of payments) {
    const rowBy = (key: string) => byKey.get(key + payment.paymentId)
    proveReceived(payment, rowBy)
    provePayment(payment, rowBy(creditKey), rowBy(takenBackKey))
  }
  await proveTakenBack(tx, agent.agentId, payments, byKey)
  await proveReview(tx, agent.agentId, payments)
  await proveUnmatched(tx, agent, payments)
  await proveClaimed(tx, agent, payments)
  return { proved: found.length, last: found.length < limit ? null : (ids.at(-1) ?? null) }
}

const keysOf = [creditKey, takenBackKey, receivedKey, returnedKey, reclassifiedKey]

/** Proves that the rows which took a payment in and gave it back are those that it names. */
function proveReceived(
  { paymentId, state, receivedSeq, returnedSeq }: Payment,
  rowBy: (key: string) => JournalRow | undefined,
): void {
  const where = `payment ${paymentId}`
  const received = rowBy(receivedKey) ?? rowBy(reclassifiedKey)
  const [credit, returned] = [rowBy(creditKey), rowBy(returnedKey)]
  ensure(
    receivedSeq > 0n || state !== 'waiting',
    () => `${where} waits, but no journal row took it in`,
  )
  if (receivedSeq === 0n) ensureSame(where, 'received by row', received?.seq, undefined)
  else ensureSame(where, 'received_seq', receivedSeq, received?.seq ?? credit?.seq)
  ensureSame(where, 'that a row returned it', (returnedSeq ?? 0n) > 0n, returned !== undefined)
  ensureSame(where, 'that it was returned', returnedSeq !== null, state === 'returned')
  if (returned) ensureSame(where, 'returned_seq', returnedSeq, returned.seq)
  // Both are from before payments waited in a book, or neither is.
  if (state === 'returned') ensureSame(where, 'in a book', receivedSeq > 0n, returned !== undefined)
}

function provePayment(
  { paymentId, state, why, creditedTo, orderId, amountMinor, evidence }: Payment,
  credit: JournalRow | undefined,
  back: JournalRow | undefined,
): void {
  const where = `payment ${paymentId}`
  const counts = state === 'credited' || state === 'taken_back'
  ensureSame(where, 'that it waits for a reason', why !== null, state === 'waiting')
  ensureSame(where, 'that it was credited', creditedTo !== null, counts)
  ensure(state !== 'returned' || evidence !== null, () => `${where} is returned without evidence`)
  ensure(counts || !credit, () => `${where} is ${state}, but journal row ${credit?.seq} credits it`)
  if (!counts) return
  ensure(credit !== undefined, () => `${where} counts as credited, but no journal row does so`)
  const isToOrder = creditedTo === 'order'
  ensureSame(where, 'credited by', credit.event, isToOrder ? 'deposit_paid' : 'adjustment')
  const credited = isToOrder ? paidInBy(credit.change) : credit.change.available
  ensureSame(where, 'amount', amountMinor, credited)
  if (isToOrder) ensureSame(where, 'order', orderId, credit.orderId)
  const isBackDue = state === 'taken_back' && !isToOrder
  ensure(
    (back !== undefined) === isBackDue,
    () =>
      `${where} is ${state}, but ${back ? `journal row ${back.seq}` : 'no journal row'} takes it back`,
  )
}

/**
 * Proves that a payment waits as late, or as one of another amount, only where the order's terms leave it to
 * a person.
 */
async function proveReview(
  tx: ProofTx,
  agentId: bigint,
  payments: readonly Payment[],
): Promise<void> {
  const waiting = payments.filter(({ why }) => why === 'late' || why === 'wrong_amount')
  if (waiting.length === 0) return
  const { rows } = await tx.query<{ order_id: string; late_money: string | null }>(
    `select order_id, late_money from orders where agent_id = $1 and order_id = any($2)`,
    [agentId, waiting.map(({ orderId }) => orderId)],
  )
  const termsOf = new Map(rows.map(({ order_id, late_money }) => [order_id, late_money]))
  for (const { paymentId, orderId, why } of waiting) {
    const where = `payment ${paymentId} waits as ${why}, so that its order`
    ensureSame(where, 'late_money', termsOf.get(orderId ?? ''), 'review')
  }
}

/**
 * Proves that a payment taken back from an order is followed, among that order's outcomes, by the row that
 * did so.
 */
async function proveTakenBack(
  tx: ProofTx,
  agentId: bigint,
  payments: readonly Payment[],
  byKey: ReadonlyMap<string | null, JournalRow>,
): Promise<void> {
  const gone = payments.filter(
    ({ state, creditedTo }) => state === 'taken_back' && creditedTo === 'order',
  )
  if (gone.length === 0) return
  const { rows } = await tx.query<{ order_id: string; seq: bigint; event: string }>(
    `select order_id, seq, event from journal
     where agent_id = $1 and order_id = any($2) and not event = any($3) order by seq`,
    [agentId, gone.map(({ orderId }) => orderId), sideEvents],
  )
  for (const { paymentId, orderId } of gone) {
    const seq = byKey.get(creditKey + paymentId)?.seq ?? 0n
    const next = rows.find((row) => row.seq > seq && row.order_id === orderId)
    ensure(
      next?.event === 'deposit_taken_back',
      () => `payment ${paymentId} is taken_back, but no journal row of its order takes it back`,
    )
  }
}
