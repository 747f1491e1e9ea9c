import { type Accounts, accountNames } from '../ledger/accounts.ts'
import { archivedSeq } from '../ledger/archived.ts'
import { bookEvents, type JournalRow, type Payment, type UnmatchedPayment } from '../ledger/book.ts'
import { unmatchedColumns } from '../ledger/book-columns.ts'
import { houseBook, isHouse, providerOfPayment } from '../ledger/house.ts'
import { ensure, ensureSame, type ProofTx, type ProvedAgent } from './proof-failure.ts'
import { paymentIdIn, readPaymentsOf } from './prove-payments.ts'
import { keyOf, readRowsByKey } from './rows-by-key.ts'

/**
 * Proves the rows that belong to no order: each moves what its payment, or its counterpart in the other
 * book, says, and nothing else.
 */
export async function proveBookRows(
  tx: ProofTx,
  agent: ProvedAgent,
  journal: readonly JournalRow[],
): Promise<void> {
  const rows = journal.filter(({ event }) => (bookEvents as readonly string[]).includes(event))
  if (rows.length === 0) return
  const payments = isHouse(agent.agentId)
    ? await readUnmatchedOf(tx, rows)
    : await readPaymentsOf(tx, agent.agentId, rows)
  const counterparts = await readCounterparts(tx, agent, rows)
  const debits = await readDebits(tx, rows)
  const passedOn: { row: JournalRow; where: string }[] = []
  for (const row of rows) {
    const where = `journal row ${row.seq} (${row.event})`
    if (row.event === 'swept') proveSweep(agent, row, where, counterparts)
    else if (row.event === 'written_off') proveWriteOff(agent, row, where)
    else if (row.event === 'debit_reported' || row.event === 'debit_explained') {
      proveDebit(agent, row, where, debits)
    } else if (row.event === 'adjustment' && row.onceKey?.startsWith('adjustment:')) {
      const { available } = row.change
      // What the house passes on to the agent is of an open item: proveBooked lays it beside that.
      const other = row.change.transfers === 0n ? 'adjustments' : 'transfers'
      proveLegs(row, where, { available, [other]: -available })
      if (other === 'transfers') passedOn.push({ row, where })
    } else {
      const id = paymentIdIn(row)
      ensure(id !== undefined, () => `${where} is by ${row.onceKey}, which names no payment`)
      const payment = payments.get(id)
      ensure(payment !== undefined, () => `${where} is by ${row.onceKey}, which is not recorded`)
      if ('reference' in payment) proveUnmatchedRow(row, where, payment)
      else provePaymentRow(row, where, payment)
    }
  }
  await proveOfItems(tx, agent, passedOn)
}

/** Proves that what the house passed on is of an open item; its order may be archived, and the item with it. */
async function proveOfItems(
  tx: ProofTx,
  { agentId }: ProvedAgent,
  rows: readonly { row: JournalRow; where: string }[],
): Promise<void> {
  if (rows.length === 0 || (await archivedSeq(tx, agentId)) > 0n) return
  const idOf = ({ onceKey }: JournalRow) => (onceKey ?? '').replace(/^adjustment:|-back$/g, '')
  const { rows: items } = await tx.query<{ item_id: string }>(
    'select item_id from open_items where agent_id = $1 and item_id = any($2::text[])',
    [agentId, rows.map(({ row }) => idOf(row))],
  )
  const known = new Set(items.map(({ item_id }) => item_id))
  for (const { row, where } of rows) {
    ensure(known.has(idOf(row)), () => `${where} is by ${row.onceKey}, which is no open item`)
  }
}

function proveLegs(row: JournalRow, where: string, ...expected: Partial<Accounts>[]): void {
  ensure(
    expected.some((legs) => accountNames.every((name) => (legs[name] ?? 0n) === row.change[name])),
    () => `${where} moves other amounts than ${row.onceKey} says`,
  )
}

function proveProvider(row: JournalRow, where: string, paymentId: string): void {
  if (row.change.clearing === 0n) return
  ensureSame(where, 'provider', row.clearingAt, providerOfPayment(paymentId))
}

/** Money that waited when suspense was introduced has its row from then, not from its report. */
function proveReported(row: JournalRow, where: string, reportedAt: Date): void {
  ensure(
    row.at >= reportedAt,
    () => `${where} is of ${row.at.toISOString()}, reported at ${reportedAt.toISOString()}`,
  )
}

function provePaymentRow(row: JournalRow, where: string, payment: Payment): void {
  const { event, onceKey, seq } = row
  const { amountMinor: amount, receivedSeq, returnedSeq, state, creditedTo, paymentId } = payment
  const what = `payment ${paymentId}`
  proveProvider(row, where, paymentId)
  switch (event) {
    case 'payment_received':
      ensureSame(where, 'once_key', onceKey, `payment_received:${paymentId}`)
      proveLegs(row, where, { suspense: amount, clearing: -amount })
      ensureSame(what, 'received_seq', receivedSeq, seq)
      proveReported(row, where, payment.reportedAt)
      return
    case 'payment_returned':
      ensureSame(where, 'once_key', onceKey, `payment_returned:${paymentId}`)
      proveLegs(row, where, { suspense: -amount, clearing: amount })
      ensureSame(what, 'returned_seq', returnedSeq, seq)
      return
    case 'payment_reclassified':
      ensureSame(where, 'once_key', onceKey, `payment_reclassified:${paymentId}`)
      proveLegs(row, where, { adjustments: amount, clearing: -amount })
      ensureSame(what, 'received_seq', receivedSeq, seq)
      ensureSame(what, 'credited to', creditedTo, 'wallet')
      return
    case 'adjustment':
      break
    default:
      ensure(false, () => `${where} is in the book of an agent`)
  }
  ensureSame(what, 'credited to', creditedTo, 'wallet')
  const isBack = onceKey === `payment-taken-back:${paymentId}`
  ensure(isBack || onceKey === `payment:${paymentId}`, () => `${where} has the key ${onceKey}`)
  ensure(
    state === 'taken_back' || (state === 'credited' && !isBack),
    () => `${what} is ${state}, but ${where} is by ${onceKey}`,
  )
  // Before money waited in suspense, what went to a wallet ran through adjustments.
  const isFromSuspense = receivedSeq > 0n && receivedSeq < seq
  if (isBack) {
    const counts = receivedSeq === 0n ? 'adjustments' : 'clearing'
    proveLegs(row, where, { available: -amount, [counts]: amount })
  } else {
    const counts = isFromSuspense ? 'suspense' : 'adjustments'
    proveLegs(row, where, { available: amount, [counts]: -amount })
  }
}

function proveUnmatchedRow(row: JournalRow, where: string, payment: UnmatchedPayment): void {
  const { event, onceKey, seq } = row
  const { amountMinor: amount, receivedSeq, decidedSeq, state, paymentId, currency } = payment
  ensureSame(where, 'once_key', onceKey, `${event}:${paymentId}`)
  ensureSame(where, 'book', row.agentId, houseBook(currency))
  proveProvider(row, where, paymentId)
  const what = `unmatched payment ${paymentId}`
  if (event === 'payment_received') {
    proveLegs(row, where, { suspense: amount, clearing: -amount })
    ensureSame(what, 'received_seq', receivedSeq, seq)
    proveReported(row, where, payment.reportedAt)
    return
  }
  const states: Partial<Record<JournalRow['event'], UnmatchedPayment['state']>> = {
    payment_returned: 'returned',
    payment_dismissed: 'dismissed',
    payment_assigned: 'assigned',
  }
  proveLegs(row, where, { suspense: -amount, clearing: amount })
  ensureSame(what, 'state', state, states[event])
  ensureSame(what, 'decided_seq', decidedSeq, seq)
  ensureSame(where, 'at', row.at, payment.decidedAt)
}

async function readUnmatchedOf(
  tx: ProofTx,
  rows: readonly JournalRow[],
): Promise<Map<string, UnmatchedPayment>> {
  const { rows: found } = await tx.query(
    `select ${unmatchedColumns.select('u')} from unmatched_payments u where payment_id = any($1)`,
    [rows.flatMap((row) => paymentIdIn(row) ?? [])],
  )
  const payments = found.map(unmatchedColumns.fromRow)
  return new Map(payments.map((payment) => [payment.paymentId, payment]))
}

function proveWriteOff({ agentId }: ProvedAgent, row: JournalRow, where: string): void {
  ensure(isHouse(agentId), () => `${where} is in the book of an agent`)
  ensure(row.reason !== null, () => `${where} has no reason`)
  ensure(
    row.onceKey?.startsWith('write-off:') === true,
    () => `${where} is by ${row.onceKey}, which names nothing that counts once`,
  )
  const { clearing } = row.change
  const accounts = ['differences', 'costs', 'transfers'] as const
  const { unexplained } = row.change
  const isOfDebit = unexplained !== 0n && row.onceKey.startsWith('write-off:movement:')
  const legs = accounts.map((name) =>
    isOfDebit ? { [name]: -unexplained, unexplained } : { [name]: -clearing, clearing },
  )
  proveLegs(row, where, ...legs)
}

const debitKey = /^debit_(?:reported|explained):([^:]+):([0-9a-f]{32})$/

/** The amounts of the debits that rows are about, by account and movement. */
async function readDebits(tx: ProofTx, rows: readonly JournalRow[]): Promise<Map<string, bigint>> {
  const named = rows.flatMap(({ onceKey }) => {
    const [, account = '', id = ''] = debitKey.exec(onceKey ?? '') ?? []
    return id === '' ? [] : [{ account, id }]
  })
  if (named.length === 0) return new Map()
  const { rows: found } = await tx.query<{ account: string; movement_id: string; amount: bigint }>(
    `select m.account, m.movement_id, m.amount from bank_movements m
     join unnest($1::text[], $2::uuid[]) k(account, movement_id)
       on m.account = k.account and m.movement_id = k.movement_id`,
    [named.map(({ account }) => account), named.map(({ id }) => id)],
  )
  return new Map(found.map((row) => [`${row.account}:${row.movement_id}`, row.amount]))
}

/** Proves that what left an account, and was explained by nothing, is what a movement there says. */
function proveDebit(
  { agentId }: ProvedAgent,
  row: JournalRow,
  where: string,
  debits: ReadonlyMap<string, bigint>,
): void {
  ensure(isHouse(agentId), () => `${where} is in the book of an agent`)
  const [, account, id] = debitKey.exec(row.onceKey ?? '') ?? []
  const amount = debits.get(`${account}:${id}`)
  ensure(
    amount !== undefined && amount < 0n,
    () => `${where} is by ${row.onceKey}, which is no debit`,
  )
  ensureSame(where, 'once_key', row.onceKey?.startsWith(`${row.event}:`), true)
  ensureSame(where, 'provider', row.clearingAt, account)
  const moved = row.event === 'debit_reported' ? amount : -amount
  proveLegs(row, where, { unexplained: moved, clearing: -moved })
}

const sweptKey = /^sweep:(\d{4}-\d\d-\d\d)(?::(\d+))?$/

/** The row of the other book that a sweep belongs to. */
function counterpartOf(
  { agentId, currency }: ProvedAgent,
  { onceKey }: JournalRow,
): { agentId: bigint; onceKey: string } | undefined {
  const [, day, named] = sweptKey.exec(onceKey ?? '') ?? []
  if (day === undefined || isHouse(agentId) !== (named !== undefined)) return undefined
  return named === undefined
    ? { agentId: houseBook(currency), onceKey: `sweep:${day}:${agentId}` }
    : { agentId: BigInt(named), onceKey: `sweep:${day}` }
}

/** The rows of other books that the sweeps belong to; null for one that was archived. */
function readCounterparts(
  tx: ProofTx,
  agent: ProvedAgent,
  journal: readonly JournalRow[],
): Promise<Map<string, JournalRow | null>> {
  const named = journal.flatMap((row) =>
    row.event === 'swept' ? (counterpartOf(agent, row) ?? []) : [],
  )
  return readRowsByKey(tx, named)
}

/** Proves that what left one book for the other arrived there. */
function proveSweep(
  agent: ProvedAgent,
  row: JournalRow,
  where: string,
  counterparts: ReadonlyMap<string, JournalRow | null>,
): void {
  const { fees, costs } = row.change
  proveLegs(row, where, { fees, costs, transfers: -(fees + costs) })
  const other = counterpartOf(agent, row)
  ensure(other !== undefined, () => `${where} is by ${row.onceKey}, which is no sweep`)
  const counterpart = counterparts.get(keyOf(other.agentId, other.onceKey))
  ensure(counterpart !== undefined, () => `${where} has no counterpart in book ${other.agentId}`)
  if (counterpart) ensureSame(where, 'at', row.at, counterpart.at)
  for (const name of counterpart ? accountNames : []) {
    const moved = counterpart?.change[name] ?? 0n
    ensureSame(where, `${name} in the other book`, -moved, row.change[name])
  }
  if (!isHouse(agent.agentId)) {
    ensure(
      row.balances.fees === 0n && row.balances.costs === 0n,
      () => `${where} leaves fees or costs behind`,
    )
  }
}
