import { columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'
import { makeBooker } from './make-booker.ts'
import { addNotice, type BankEvent, chargeFor } from './notices.ts'
import type { Transfer } from './payments.ts'
import { Refusal } from './refusal.ts'
import type { DepositAct, DepositStory } from './stories.ts'

export interface Deposit {
  reference: string
  amountMinor: bigint
  currency: Currency
  expiresAt: Date
  payer: { accountNo: string; accountName: string; bankCode: string }
  story: string
}

const depositColumns = columns<Deposit & { createdAt: Date }>({
  reference: ['reference', 'text'],
  amountMinor: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  expiresAt: ['expires_at', 'timestamptz'],
  payer: {
    accountNo: ['payer_account_no', 'text'],
    accountName: ['payer_account_name', 'text'],
    bankCode: ['payer_bank_code', 'text'],
  },
  story: ['story', 'text'],
  createdAt: ['created_at', 'timestamptz'],
})
const contents = depositColumns.pick(
  'reference',
  'amountMinor',
  'currency',
  'expiresAt',
  'payer',
  'story',
)

/** Books deposits with the acts of their stories. Repeating one changes nothing. */
export function makeDepositBooker(
  pool: Pool,
): (deposit: Deposit, story: DepositStory, now: Date) => Promise<void> {
  const insert = 'insert into sandbox_bank.deposits'
  const book = makeBooker(pool, 'deposit', insert, depositColumns, contents)
  return async (deposit, { acts, after }, now) => {
    const fromMs = (after === 'expiry' ? deposit.expiresAt : now).getTime()
    const booked = await book({
      order: { ...deposit, createdAt: now },
      acts: acts.map(({ afterMs }) => new Date(fromMs + afterMs)),
    })
    if (booked === 'other') throw new Refusal(409, 'Another deposit has this reference.')
  }
}

/** Reports that a deposit will not be paid any more. Money may still arrive for it. */
export function endDeposit(
  tx: Tx,
  reference: string,
  status: 'FAILED' | 'VOID' | 'EXPIRED',
  now: Date,
): Promise<bigint> {
  return addNotice(tx, { reference, type: 'deposit_ended', status }, now)
}

/** What an act does: money that comes in, a payment that is taken back, or a notice. */
export type Deed = { receive: Transfer } | { takeBack: string } | { tell: BankEvent }

/** The bank's time of payment is the scheduled time, however late the act is played. */
export function deedOnDeposit(deposit: Deposit, act: DepositAct, dueAt: Date): Deed {
  const { reference, amountMinor, currency, payer } = deposit
  switch (act.does) {
    case 'pay': {
      const from = act.from === 'payer' ? payer : somebodyElse(payer)
      const paid = paidMinor(amountMinor, act.amount)
      return {
        receive: { reference, amountMinor: paid, currency, payer: from, paidAt: dueAt, once: null },
      }
    }
    case 'take back':
      return { takeBack: reference }
    case 'end':
      return { tell: { reference, type: 'deposit_ended', status: act.status } }
    case 'charge':
      return { tell: chargeFor(deposit) }
  }
}

export async function readDeposits(
  tx: Tx,
  references: readonly string[],
): Promise<Map<string, Deposit>> {
  const { rows } = await tx.query({
    name: 'bank-deposits',
    text: `select ${contents.select('d')} from sandbox_bank.deposits d where d.reference = any($1)`,
    values: [references],
  })
  const deposits = rows.map(contents.fromRow)
  return new Map(deposits.map((deposit) => [deposit.reference, deposit]))
}

function paidMinor(asked: bigint, amount: 'exact' | 'half' | 'half as much again'): bigint {
  const half = asked / 2n || 1n
  if (amount === 'exact') return asked
  return amount === 'half' ? half : asked + half
}

/** An account that looks like the payer's but is certainly a different one. */
function somebodyElse(payer: Deposit['payer']): Deposit['payer'] {
  const first = payer.accountNo.startsWith('1') ? '2' : '1'
  return { ...payer, accountNo: first + payer.accountNo.slice(1), accountName: 'SOMEBODY ELSE' }
}
