import { columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { addNotice, type BankEvent } from './notices.ts'
import { Refusal } from './refusal.ts'

export interface Transfer {
  reference: string
  amountMinor: bigint
  currency: Currency
  payer: { accountNo: string; accountName: string | null; bankCode: string | null } | null
  paidAt: Date
  once: string | null
}

/** Receives money. The same `once` gives the same payment. Returns the number of its notice. */
export async function receiveTransfer(tx: Tx, transfer: Transfer, now: Date): Promise<bigint> {
  const { reference, amountMinor, currency, payer, paidAt, once } = transfer
  const { rows } = await tx.query<{ payment_no: bigint }>(
    `insert into sandbox_bank.payments (reference, amount, currency, payer_account_no,
       payer_account_name, payer_bank_code, paid_at, once_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (once_key) do nothing returning payment_no`,
    [
      reference,
      amountMinor,
      currency,
      payer?.accountNo ?? null,
      payer?.accountName ?? null,
      payer?.bankCode ?? null,
      paidAt,
      once,
    ],
  )
  const paymentNo = rows[0]?.payment_no
  if (paymentNo === undefined) return noticeOfSame(tx, transfer)
  return addNotice(tx, paymentEvent(transfer, paymentNo), now)
}

function paymentEvent(
  { reference, amountMinor, currency, payer, paidAt }: Transfer,
  paymentNo: bigint,
): BankEvent {
  return {
    reference,
    type: 'payment',
    paymentId: paymentId(paymentNo),
    amount: decimalText(amountMinor, currency),
    currency,
    paidAt: paidAt.toISOString(),
    payer,
  }
}

const transferColumns = columns<Omit<Transfer, 'once'>>({
  reference: ['reference', 'text'],
  amountMinor: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  payer: {
    accountNo: ['payer_account_no', 'text'],
    accountName: ['payer_account_name', 'text', 'null'],
    bankCode: ['payer_bank_code', 'text', 'null'],
  },
  paidAt: ['paid_at', 'timestamptz'],
})

/** Receives several transfers, at most one for a reference. Returns the events to report. */
export async function receiveTransfers(tx: Tx, transfers: Transfer[]): Promise<BankEvent[]> {
  if (transfers.length === 0) return []
  const { rows } = await tx.query<{ payment_no: bigint; reference: string }>({
    name: 'bank-receive',
    text: `insert into sandbox_bank.payments (${transferColumns.names})
      select * from ${transferColumns.unnest} returning payment_no, reference`,
    values: transferColumns.values(transfers),
  })
  const numbers = new Map(rows.map(({ reference, payment_no }) => [reference, payment_no]))
  return transfers.map((transfer) => {
    const paymentNo = numbers.get(transfer.reference)
    if (paymentNo === undefined) throw new Error('a transfer was not written')
    return paymentEvent(transfer, paymentNo)
  })
}

async function noticeOfSame(tx: Tx, transfer: Transfer): Promise<bigint> {
  const { rows } = await tx.query<{ notice_no: bigint }>(
    `select n.notice_no from sandbox_bank.payments p
     join sandbox_bank.notices n on n.reference = p.reference
       and n.event->>'type' = 'payment' and n.event->>'paymentId' = 'pay-' || p.payment_no
     where p.once_key = $1 and p.reference = $2 and p.amount = $3 and p.currency = $4
       and p.payer_account_no is not distinct from $5`,
    [
      transfer.once,
      transfer.reference,
      transfer.amountMinor,
      transfer.currency,
      transfer.payer?.accountNo ?? null,
    ],
  )
  if (!rows[0]) throw new Refusal(409, 'Another transfer has this key.')
  return rows[0].notice_no
}

/** Takes back the named payment, or the reference's latest one. */
export async function takeBack(
  tx: Tx,
  which: { paymentId: string } | { reference: string },
  now: Date,
): Promise<bigint> {
  const named = 'paymentId' in which ? /^pay-(\d{1,18})$/.exec(which.paymentId)?.[1] : undefined
  if ('paymentId' in which && named === undefined) throw noSuchPayment()
  const untold = 'reference' in which ? await untoldTakeBack(tx, which.reference) : undefined
  if (untold !== undefined) return untold
  const { rows } = await tx.query<{ payment_no: bigint; reference: string }>(
    `select payment_no, reference from sandbox_bank.payments
     where ${'paymentId' in which ? 'payment_no = $1' : 'reference = $1'} and taken_back_at is null
     order by payment_no desc limit 1 for update`,
    [named ?? ('reference' in which ? which.reference : '')],
  )
  const payment = rows[0]
  if (!payment) throw noSuchPayment()
  await tx.query('update sandbox_bank.payments set taken_back_at = $2 where payment_no = $1', [
    payment.payment_no,
    now,
  ])
  const { reference } = payment
  const id = paymentId(payment.payment_no)
  return addNotice(tx, { reference, type: 'payment_taken_back', paymentId: id }, now)
}

/** Finds a take-back that was made but not reported yet: a repeated request means the same one. */
async function untoldTakeBack(tx: Tx, reference: string): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ notice_no: bigint }>(
    `select notice_no from sandbox_bank.notices
     where reference = $1 and accepted_at is null and event->>'type' = 'payment_taken_back'
     order by notice_no desc limit 1`,
    [reference],
  )
  return rows[0]?.notice_no
}

function noSuchPayment(): Refusal {
  return new Refusal(404, 'There is no such payment that has not been taken back.')
}

function paymentId(paymentNo: bigint): string {
  return `pay-${paymentNo}`
}
