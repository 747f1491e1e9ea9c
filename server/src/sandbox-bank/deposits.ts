import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'
import { addCharge, addNotice } from './notices.ts'
import { receiveTransfer, takeBack } from './payments.ts'
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

/** Books a deposit with the acts of its story. Repeating it changes nothing. */
export async function bookDeposit(
  pool: Pool,
  deposit: Deposit,
  { acts, after }: DepositStory,
  now: Date,
): Promise<void> {
  const { reference, amountMinor, currency, expiresAt, payer, story } = deposit
  const contents = [
    amountMinor,
    currency,
    expiresAt,
    payer.accountNo,
    payer.accountName,
    payer.bankCode,
    story,
  ]
  const from = after === 'expiry' ? expiresAt : now
  await pool.query(
    `with booked as (
       insert into sandbox_bank.deposits (reference, amount, currency, expires_at, payer_account_no,
         payer_account_name, payer_bank_code, story, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict do nothing returning reference
     )
     insert into sandbox_bank.acts (party, reference, step, due_at)
     select 'deposit', reference, act.step - 1, act.due_at
     from booked, unnest($10::timestamptz[]) with ordinality act (due_at, step)`,
    [reference, ...contents, now, acts.map(({ afterMs }) => new Date(from.getTime() + afterMs))],
  )
  const { rows } = await pool.query<{ is_same: boolean }>(
    `select (amount, currency, expires_at, payer_account_no, payer_account_name, payer_bank_code, story)
       = ($2::bigint, $3::text, $4::timestamptz, $5::text, $6::text, $7::text, $8::text) as is_same
     from sandbox_bank.deposits where reference = $1`,
    [reference, ...contents],
  )
  if (!rows[0]?.is_same) throw new Refusal(409, 'Another deposit has this reference.')
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

/**
 * Plays an act of a story. The bank's time of payment is the scheduled time, however late the act is played.
 */
export async function playDepositAct(
  tx: Tx,
  deposit: Deposit,
  act: DepositAct,
  dueAt: Date,
  now: Date,
): Promise<void> {
  const { reference, amountMinor, currency, payer } = deposit
  switch (act.does) {
    case 'pay': {
      const from = act.from === 'payer' ? payer : somebodyElse(payer)
      const paid = paidMinor(amountMinor, act.amount)
      await receiveTransfer(
        tx,
        { reference, amountMinor: paid, currency, payer: from, paidAt: dueAt, once: null },
        now,
      )
      return
    }
    case 'take back':
      // A trigger may have taken it back already.
      await takeBack(tx, { reference }, now).catch((error) => {
        if (!(error instanceof Refusal)) throw error
      })
      return
    case 'end':
      await endDeposit(tx, reference, act.status, now)
      return
    case 'charge':
      await addCharge(tx, deposit, now)
  }
}

export async function readDeposit(tx: Tx, reference: string): Promise<Deposit | undefined> {
  const { rows } = await tx.query<{
    amount: bigint
    currency: Currency
    expires_at: Date
    payer_account_no: string
    payer_account_name: string
    payer_bank_code: string
    story: string
  }>('select * from sandbox_bank.deposits where reference = $1', [reference])
  const row = rows[0]
  return (
    row && {
      reference,
      amountMinor: row.amount,
      currency: row.currency,
      expiresAt: row.expires_at,
      payer: {
        accountNo: row.payer_account_no,
        accountName: row.payer_account_name,
        bankCode: row.payer_bank_code,
      },
      story: row.story,
    }
  )
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
