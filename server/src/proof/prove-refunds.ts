import type { JournalEvent, Order } from '../ledger/book.ts'
import { orderColumns } from '../ledger/book-columns.ts'
import { findBank } from '../lib/banks.ts'
import { txnId } from '../lib/ids.ts'
import { ensure, ensureSame, ensureSameUnshown, type ProofTx } from './proof-failure.ts'

interface Row {
  order_id: string
  event: JournalEvent
  paid_in: bigint
}

interface PayerRow {
  order_id: string
  account_no: string
  account_name: string
  bank_code: string
}

/** An approved proposal to refund a deposit. */
interface DecidedRow {
  id: string
  deposit: string
  after: string
}

/**
 * Proves the refunds among the orders, and those of the deposits among them. Each is of a deposit of the same
 * agent and goes to its payer. From the journal rows of a deposit and all of its refunds, in their order:
 * when a refund was made, the deposit was paid, and the refunds that counted did not exceed what was paid.
 * When the deposit was taken back, every refund that waited was cancelled or was with a provider.
 */
export async function proveRefunds(
  tx: ProofTx,
  agentId: bigint,
  orders: readonly Order[],
): Promise<void> {
  const named = new Set(
    orders.map(({ kind, orderId, refundOf }) => (kind === 'deposit' ? orderId : refundOf)),
  )
  const { rows: refunds } = await tx.query<Order>(
    `select ${orderColumns.select('o')} from orders o
     where agent_id = $1 and refund_of = any($2) order by order_id`,
    [agentId, [...named].filter((id) => id !== null)],
  )
  if (refunds.length === 0) return
  const depositIds = [...new Set(refunds.map(({ refundOf }) => refundOf ?? ''))]
  const { rows: deposits } = await tx.query<Order>(
    `select ${orderColumns.select('o')} from orders o where agent_id = $1 and order_id = any($2)`,
    [agentId, depositIds],
  )
  const { rows: archived } = await tx.query<{ order_id: string }>(
    'select order_id from archived_refs where agent_id = $1 and order_id = any($2)',
    [agentId, depositIds],
  )
  const { rows } = await tx.query<Row>(
    `select order_id, event, -(clearing_change + suspense_change) as paid_in from journal
     where agent_id = $1 and order_id = any($2) order by seq`,
    [agentId, [...depositIds, ...refunds.map(({ orderId }) => orderId)]],
  )
  const { rows: payers } = await tx.query<PayerRow>(
    `select order_id, payer_account_no as account_no, payer_account_name as account_name,
       payer_bank_code as bank_code from payments
     where agent_id = $1 and order_id = any($2) and credited_to = 'order'
       and payer_account_no is not null and payer_account_name is not null
       and payer_bank_code is not null`,
    [agentId, depositIds],
  )
  const { rows: items } = await tx.query<{ order_id: string }>(
    `select order_id from open_items
     where agent_id = $1 and order_id = any($2) and kind = 'refunded_and_taken_back'`,
    [agentId, refunds.map(({ orderId }) => orderId)],
  )
  const looked = new Set(items.map(({ order_id }) => order_id))
  const { rows: decided } = await tx.query<DecidedRow>(
    `select replace(p.proposal_id::text, '-', '') as id, p.subject_id as deposit, p.after::text as after
     from proposals p join proposal_decisions d using (proposal_id)
     where d.verdict = 'approved' and p.action = 'refund_order'
       and p.subject_kind = 'order' and p.subject_id = any($1)`,
    [depositIds.map((depositId) => txnId(agentId, depositId))],
  )
  for (const depositId of depositIds) {
    const own = refunds.filter(({ refundOf }) => refundOf === depositId)
    const deposit = deposits.find(({ orderId }) => orderId === depositId)
    const name = `order ${txnId(agentId, depositId)}`
    if (!deposit) {
      // It was proved with its refunds before it was archived; since then nothing can be refunded.
      const isArchived = archived.some(({ order_id }) => order_id === depositId)
      ensure(isArchived, () => `${nameOf(own[0])} refunds ${name}, which is not there`)
      continue
    }
    ensureSame(name, 'kind, being refunded,', deposit.kind, 'deposit')
    for (const refund of own) proveDestination(refund, deposit, payers, decided)
    proveSums(name, deposit, own, rows, looked)
  }
}

/**
 * Proves that a refund goes to who paid the deposit, to the account in the deposit, or to one on which two
 * people decided.
 */
function proveDestination(
  refund: Order,
  deposit: Order,
  payers: readonly PayerRow[],
  decided: readonly DecidedRow[],
): void {
  const name = nameOf(refund)
  ensureSame(name, 'kind, being a refund,', refund.kind, 'withdraw')
  ensureSameUnshown(name, 'user_id', refund.userId, deposit.userId)
  const goesTo = (accountNo: string, accountName: string, bankCode: string) =>
    refund.accountNo === accountNo.replace(/[\s-]/g, '') &&
    refund.accountName === accountName &&
    refund.bankCode === (findBank(deposit.currency, bankCode)?.code ?? bankCode)
  const isPayers = payers.some(
    (each) =>
      each.order_id === deposit.orderId &&
      goesTo(each.account_no, each.account_name.trim(), each.bank_code),
  )
  const isDecided = decided.some((each) => {
    const { to, ref = each.id } = JSON.parse(each.after)
    return (
      refund.refId === `refund-${ref}` &&
      each.deposit === txnId(deposit.agentId, deposit.orderId) &&
      to !== undefined &&
      goesTo(to.accountNo, to.accountName, to.bankCode)
    )
  })
  ensure(
    isPayers || isDecided || goesTo(deposit.accountNo, deposit.accountName, deposit.bankCode),
    () => `${name} refunds to another account than the payer's and the deposit's`,
  )
}

function proveSums(
  name: string,
  deposit: Order,
  refunds: readonly Order[],
  rows: readonly Row[],
  looked: ReadonlySet<string>,
): void {
  const refundOf = new Map(refunds.map((refund) => [refund.orderId, refund]))
  const waiting = new Set<Order>()
  const paidOut = new Set<Order>()
  const stopped = new Set<Order>()
  let paid: bigint | undefined
  for (const { order_id, event, paid_in } of rows) {
    if (order_id === deposit.orderId) {
      if (event === 'deposit_paid') paid = paid_in
      if (event !== 'deposit_taken_back') continue
      paid = undefined
      for (const refund of [...waiting, ...paidOut]) {
        if (waiting.has(refund) && !refund.handedOverAt) stopped.add(refund)
        else ensureLookedAt(refund, looked)
      }
      continue
    }
    const refund = refundOf.get(order_id)
    if (!refund) continue
    if (event === 'withdraw_held') {
      waiting.add(refund)
      const sum = [...waiting, ...paidOut].reduce((all, { amountMinor }) => all + amountMinor, 0n)
      ensure(
        paid !== undefined && sum <= paid,
        () => `${nameOf(refund)} makes the refunds of ${name} ${sum}, of ${paid ?? 0n} paid`,
      )
    }
    if (event === 'withdraw_cancelled') stopped.delete(refund)
    if (event !== 'withdraw_held') waiting.delete(refund)
    if (event === 'withdraw_paid' || event === 'withdraw_paid_after_failed') paidOut.add(refund)
    if (event === 'withdraw_reverted') paidOut.delete(refund)
  }
  for (const refund of stopped) {
    ensure(false, () => `${nameOf(refund)} was not stopped when ${name} was taken back`)
  }
}

function ensureLookedAt(refund: Order, looked: ReadonlySet<string>): void {
  ensure(
    looked.has(refund.orderId),
    () => `${nameOf(refund)} refunds what was taken back, and there is no open item that says so`,
  )
}

function nameOf(refund: Order | undefined): string {
  return `order ${txnId(refund?.agentId ?? 0n, refund?.orderId ?? '')}`
}
