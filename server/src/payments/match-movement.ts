import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { ownAccountsOf } from '../bank-accounts/bank-account-terms.ts'
import type { BankMovement } from '../bank-accounts/bank-movement.ts'
import {
  type ExpectedDeposit,
  expectedColumns,
  plainAccountNo,
} from '../bank-accounts/expected-deposits.ts'
import { fullAccountNo, maskedPattern } from '../bank-accounts/pair-reports.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { findNamedPayouts } from '../ledger/payout-references.ts'
import { findBank } from '../lib/banks.ts'
import { startOfDay } from '../lib/local-time.ts'
import { findPaymentCodes, isPaymentCode } from '../lib/payment-code.ts'
import { codeOfSwissReference } from '../lib/qr/creditor-reference.ts'
import type { BankIds } from '../statements/statement.ts'

/** What a movement is taken for. It is written down before the books change and never decided again. */
export type MovementMatch =
  | { type: 'order'; agentId: bigint; orderId: string; paidAt: Date; detail: string }
  /** The house's money until a person decides. */
  | { type: 'nobody'; why: 'unmatched' | 'ambiguous'; paidAt: Date; detail: string }
  | { type: 'takes_back'; movementId: string; detail: string }
  | { type: 'unexplained'; detail: string }

type Matched = Pick<
  BankMovement,
  | 'account'
  | 'movementId'
  | 'amountMinor'
  | 'bookedOn'
  | 'bookedAt'
  | 'text'
  | 'payerAccountNo'
  | 'payerBank'
  | 'currency'
  | 'isReturn'
  | 'reportedAt'
>

/** Our clock and the bank's may differ by this much. */
const skewMs = 120_000

/**
 * Finds the order that a movement pays. The first rule that finds exactly one decides; if a rule finds
 * several, a person does.
 */
export async function matchMovement(
  pool: Pool | Tx,
  account: Pick<BankAccount, 'name' | 'zone' | 'ownAccounts'>,
  movement: Matched,
): Promise<MovementMatch> {
  const ids = await idsOf(pool, movement)
  if (movement.amountMinor < 0n) return matchDebit(pool, movement, ids)
  const nobody = (why: 'unmatched' | 'ambiguous', detail: string): MovementMatch => ({
    type: 'nobody',
    why,
    paidAt: movement.bookedAt ?? startOfBankDay(movement, account.zone),
    detail,
  })
  if (movement.isReturn) return nobody('unmatched', 'The bank gives back a payment of ours.')
  const payer = fullAccountNo(movement.payerAccountNo)
  if (payer !== null && ownAccountsOf(account).map(plainAccountNo).includes(payer)) {
    return nobody('unmatched', 'It comes from an account of ours.')
  }
  const codes = codesIn([movement.text, ...ids.flatMap(Object.values).filter(isText)])
  if ((await findNamedPayouts(pool, codes)).size > 0) {
    return nobody('unmatched', 'It names a payout, so it may be one that came back.')
  }
  const found = (rule: string, expected: readonly ExpectedDeposit[]): MovementMatch | undefined => {
    const [one, two] = expected
    if (two) return nobody('ambiguous', `Several orders fit ${rule}.`)
    return (
      one && {
        type: 'order',
        agentId: one.agentId,
        orderId: one.orderId,
        paidAt: paidAt(movement, one, account.zone),
        detail: `It fits ${rule}.`,
      }
    )
  }
  return (
    found('the code', await byCode(pool, codes)) ??
    found('the amount', await byAmount(pool, account, movement)) ??
    found('the payer and the amount', await byPayer(pool, account, movement, payer)) ??
    nobody('unmatched', 'No order fits it.')
  )
}

/** The payment codes in texts, as letters or as the 27 digits of a Swiss reference. */
function codesIn(texts: readonly string[]): string[] {
  const swiss = texts.flatMap((text) => {
    const runs = text.replace(/(?<=\d)\s+(?=\d)/g, '').match(/\d{27,}/g) ?? []
    return runs.flatMap((run) =>
      Array.from({ length: run.length - 26 }, (_, at) =>
        codeOfSwissReference(run.slice(at, at + 27)),
      ),
    )
  })
  const valid = swiss.filter((code) => code !== undefined && isPaymentCode(code))
  return [...new Set([...findPaymentCodes(texts), ...valid])].filter(isText)
}

function isText(value: string | null | undefined): value is string {
  return typeof value === 'string'
}

/** The ids in all reports of the movement that are the bank's word. */
async function idsOf(pool: Pool | Tx, { account, movementId }: Matched): Promise<BankIds[]> {
  const { rows } = await pool.query<{ ids: string }>(
    `select ids from bank_reports where account = $1 and movement_id = $2 and is_trusted`,
    [account, movementId],
  )
  return rows.map(({ ids }) => JSON.parse(ids) as BankIds)
}

/** The deposits that the codes name, at any account, if their orders exist. */
async function byCode(pool: Pool | Tx, codes: readonly string[]): Promise<ExpectedDeposit[]> {
  if (codes.length === 0) return []
  const { rows } = await pool.query<ExpectedDeposit>(
    `select ${expectedColumns.select('e')} from expected_deposits e where e.code = any($1::text[])`,
    [codes],
  )
  return withOrders(pool, rows)
}

/** The deposits that were expected with exactly this amount when it was paid. */
async function byAmount(
  pool: Pool | Tx,
  { name, zone }: Pick<BankAccount, 'name' | 'zone'>,
  movement: Matched,
): Promise<ExpectedDeposit[]> {
  const { from, until } = windowOf(movement, zone)
  const { rows } = await pool.query<ExpectedDeposit>(
    `select ${expectedColumns.select('e')} from expected_deposits e
     where e.account = $1 and e.payable = $2 and e.by_amount
       and e.created_at <= $3 and e.held_until >= $4
     order by e.created_at desc limit 50`,
    [name, movement.amountMinor, until, from],
  )
  return withOrders(pool, rows)
}

/**
 * The deposits of this amount whose payer named this account in the order. Of a masked number, four digits
 * must be visible, and the bank must be the order's.
 */
async function byPayer(
  pool: Pool | Tx,
  { name, zone }: Pick<BankAccount, 'name' | 'zone'>,
  movement: Matched,
  payer: string | null,
): Promise<ExpectedDeposit[]> {
  const { from, until } = windowOf(movement, zone)
  const values = [name, movement.amountMinor, until, from]
  if (payer !== null) {
    const { rows } = await pool.query<ExpectedDeposit>(
      `select ${expectedColumns.select('e')} from expected_deposits e
       where e.account = $1 and e.payable = $2 and e.created_at <= $3 and e.held_until >= $4
         and e.payer_account_no = $5
       order by e.created_at desc limit 50`,
      [...values, payer],
    )
    return withOrders(pool, rows)
  }
  const masked = maskedPattern(movement.payerAccountNo)
  const bank = findBank(movement.currency, movement.payerBank ?? '')
  if (masked === null || !bank) return []
  const { rows } = await pool.query<ExpectedDeposit>(
    `select ${expectedColumns.select('e')} from expected_deposits e
     join orders o on o.agent_id = e.agent_id and o.order_id = e.order_id and o.bank_code = $6
     where e.account = $1 and e.payable = $2 and e.created_at <= $3 and e.held_until >= $4
       and e.payer_account_no like $5
     order by e.created_at desc limit 50`,
    [...values, masked, bank.code],
  )
  return withOrders(pool, rows)
}

/** Those whose order was created: a reservation may have come to nothing. Each order once. */
async function withOrders(
  pool: Pool | Tx,
  expected: readonly ExpectedDeposit[],
): Promise<ExpectedDeposit[]> {
  if (expected.length === 0) return []
  const { rows } = await pool.query<{ order_id: string; provider: string | null }>(
    `select o.order_id, o.provider from orders o
     join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on o.agent_id = k.agent_id and o.order_id = k.order_id`,
    [expected.map(({ agentId }) => agentId), expected.map(({ orderId }) => orderId)],
  )
  const providers = new Map(rows.map(({ order_id, provider }) => [order_id, provider]))
  const orders = new Map<string, ExpectedDeposit>()
  for (const each of expected) {
    if (!providers.has(each.orderId)) continue
    // An order may have had a place at another account before it got the one that it has.
    const isItsAccount = providers.get(each.orderId) === each.account
    if (isItsAccount || !orders.has(each.orderId)) orders.set(each.orderId, each)
  }
  return [...orders.values()]
}

/** A debit that reverses exactly one credit, by the bank's own ids, takes its payment back. */
async function matchDebit(
  pool: Pool | Tx,
  { account, amountMinor, isReturn }: Matched,
  ids: readonly BankIds[],
): Promise<MovementMatch> {
  const strong = ids.flatMap((each) => [
    each.accountServicerRef,
    each.transactionId,
    each.uetr,
    each.endToEndId,
  ])
  const named = strong.filter(isText)
  if (isReturn && named.length > 0) {
    const { rows } = await pool.query<{ movement_id: string; ids: string }>(
      `select m.movement_id, r.ids from bank_movements m
       join bank_reports r on r.account = m.account and r.movement_id = m.movement_id
       where m.account = $1 and m.amount = $2 and m.explained_by = 'payment' and r.is_trusted
         and not exists (select 1 from bank_movements t
           where t.account = m.account and t.returns = m.movement_id)
       order by m.movement_id desc limit 1000`,
      [account, -amountMinor],
    )
    const isNamed = (text: string) =>
      Object.values(JSON.parse(text) as BankIds).some((id) => id !== null && named.includes(id))
    const found = new Set(rows.filter((row) => isNamed(row.ids)).map((row) => row.movement_id))
    const [one] = found
    if (one !== undefined && found.size === 1) {
      return { type: 'takes_back', movementId: one, detail: 'The bank took a payment back.' }
    }
  }
  return { type: 'unexplained', detail: 'Money left the account that this service did not send.' }
}

/** When the money may have been paid, as far as the bank says. */
function windowOf(movement: Matched, zone: string): { from: Date; until: Date } {
  if (movement.bookedAt) {
    const ms = movement.bookedAt.getTime()
    return { from: new Date(ms - skewMs), until: new Date(ms + skewMs) }
  }
  const from = startOfBankDay(movement, zone)
  return { from: earliestOf(from), until: new Date(from.getTime() + 86_400_000) }
}

function startOfBankDay({ bookedOn }: Pick<Matched, 'bookedOn'>, zone: string): Date {
  return startOfDay(new Date(`${bookedOn}T12:00:00Z`), zone)
}

/** What is booked on a Monday may have been paid on the weekend. */
function earliestOf(startOfDay: Date): Date {
  const isMonday = new Date(startOfDay.getTime() + 43_200_000).getUTCDay() === 1
  return isMonday ? new Date(startOfDay.getTime() - 2 * 86_400_000) : startOfDay
}

/**
 * The moment that counts against the order's end: the bank's time, or, if it only tells the day, the moment
 * of that day that is nearest to the order's life.
 */
function paidAt(movement: Matched, { createdAt, expiresAt }: ExpectedDeposit, zone: string): Date {
  if (movement.bookedAt) return movement.bookedAt
  const { from } = windowOf(movement, zone)
  const earliest = Math.max(createdAt.getTime(), from.getTime())
  return new Date(earliest <= expiresAt.getTime() ? earliest : startOfBankDay(movement, zone))
}
