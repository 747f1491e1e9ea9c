import type { BankAccount } from '../bank-accounts/bank-account.ts'
import type { BankMovement } from '../bank-accounts/bank-movement.ts'
import { findExpected } from '../bank-accounts/expected-deposits.ts'
import { codesIn } from '../bank-accounts/find-codes.ts'
import { findMovement } from '../bank-accounts/movement-states.ts'
import { bankIds, holidaysIn, mostDaysFrom } from '../bank-accounts/pair-reports.ts'
import {
  type HandPayment,
  plainReference,
  refuseUsedSlip,
  useSlip,
} from '../bank-accounts/slips.ts'
import { lockAccount, type ReportOfStatement, takeReports } from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx, triedOut } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { findOrder } from '../ledger/find-order.ts'
import { parseTxnId, txnId } from '../lib/ids.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { parseDecimal } from '../lib/money.ts'
import { fieldProblem, Problem } from '../lib/problem.ts'
import { type BankIds, type Counterparty, type Day, noIds } from '../statements/statement.ts'
import type { Desk } from '../teller/desk.ts'
import { matchCredits } from './match-movements.ts'
import { orderOfMovement } from './order-of-movement.ts'
import { whyNotGiven } from './why-not-given.ts'

/** A payment as a person tells it, who has seen its slip. */
export interface SeenPayment {
  day: Day
  /** What the payer paid, as it is on the slip. */
  amountMinor: bigint
  payer: Counterparty
  /** The digest of the slip's picture. */
  slip: string
  /** The number that the payer's bank put on the slip. */
  reference: string | null
  /** What the payer wrote. */
  text: string
  /** The order that it is for, if that is known. */
  order: { agentId: bigint; orderId: string } | null
}

/** A payment in the words of a request or a command. */
export interface ToldPayment {
  day: string
  /** As decimal text. */
  amount: string
  payer: { name: string; account_no?: string; bank?: string }
  slip: string
  reference?: string
  text?: string
  txn_id?: string
}

/** Reads what a person says of a payment. */
export async function seenPayment(
  pool: Pool,
  { currency }: Pick<BankAccount, 'currency'>,
  told: ToldPayment,
): Promise<SeenPayment> {
  const { day, reference = null, txn_id: order = null } = told
  const at = /^\d{4}-\d\d-\d\d$/.test(day) ? new Date(day) : new Date(Number.NaN)
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(day)) {
    throw fieldProblem('day', 'must be a day such as 2026-11-16')
  }
  const amountMinor = parseDecimal(told.amount, currency) ?? 0n
  if (amountMinor <= 0n) throw fieldProblem('amount', `must be an amount of ${currency} above 0`)
  const letters = reference === null ? null : plainReference(reference).length
  if (letters !== null && (letters < 4 || letters > 64)) {
    throw fieldProblem('reference', 'must have 4 to 64 letters or digits')
  }
  const named = order === null ? null : (parseTxnId(order) ?? null)
  const found = named && (await findOrder(pool, named.agentId, named.orderId))
  if (order !== null && found?.kind !== 'deposit') {
    throw fieldProblem('txn_id', 'names no deposit')
  }
  return {
    day,
    amountMinor,
    payer: {
      name: told.payer.name,
      accountNo: told.payer.account_no ?? null,
      bank: told.payer.bank ?? null,
    },
    slip: told.slip,
    reference,
    text: told.text ?? '',
    order: named,
  }
}

/** Whose word it is. */
export type Recorder = Pick<HandPayment, 'recordedBy' | 'proposalId' | 'approvedBy'>

export interface RecordedPayment {
  movementId: string
  /** The bank, or a file, had reported it before. */
  isKnown: boolean
}

/** How long ago a payment may have been made that is recorded by hand. */
const mostDaysAgo = 90

/**
 * Records a payment by hand: one more report of a movement, which is matched and booked as ever. Its slip is used in the
 * same transaction, once and for all.
 */
export async function recordPayment(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  account: BankAccount,
  payment: SeenPayment,
  by: Recorder & { also: (tx: Tx, recorded: RecordedPayment) => Promise<void> },
): Promise<RecordedPayment> {
  const at = now()
  return inTransaction(pool, async (tx) => {
    const recorded = await take(tx, account, payment, at)
    await by.also(tx, recorded)
    await useSlip(tx, {
      account: account.name,
      slip: payment.slip,
      reference: referenceOf(payment),
      recordedBy: by.recordedBy,
      proposalId: by.proposalId,
      approvedBy: by.approvedBy,
      recordedAt: at,
    })
    return recorded
  })
}

/** What recording a payment would do. */
export interface PaymentPreview {
  /** The movement that is known already; null if it would be a new one. */
  known: BankMovement | null
  /** What the bank, or a file, says of a movement that is known. */
  bankSays: { accountNo: string | null; text: string } | null
  /** What would be credited to the account by the bank. */
  arrivesMinor: bigint
  /** The order that the money goes to, or has gone to. */
  txnId: string | null
  /** Why. */
  detail: string
  /** The last day whose statement is in, if that should have had the payment. */
  missingTo: Day | null
}

/** What recording a payment would do: all of it is done, looked at and undone. */
export async function previewPayment(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  account: BankAccount,
  payment: SeenPayment,
): Promise<PaymentPreview> {
  const at = now()
  await refuseUsedSlip(pool, { slip: payment.slip, reference: referenceOf(payment) })
  return triedOut(pool, async (tx) => {
    const recorded = await take(tx, account, payment, at)
    const movement = await findMovement(tx, account.name, recorded.movementId)
    if (!movement) throw new Error(`movement ${recorded.movementId} was not made`)
    return {
      known: recorded.isKnown ? movement : null,
      bankSays: await reportedOf(tx, movement),
      arrivesMinor: movement.amountMinor,
      ...(await goesTo(tx, account, movement)),
      missingTo: recorded.isKnown ? null : await statementAfter(tx, account.name, payment.day),
    }
  })
}

async function goesTo(
  tx: Tx,
  account: BankAccount,
  movement: BankMovement,
): Promise<Pick<PaymentPreview, 'txnId' | 'detail'>> {
  const has = await orderOfMovement(tx, movement)
  if (has !== null) return { txnId: has, detail: 'The money has its order already.' }
  const { state, explainedBy } = movement
  if (state !== 'new' && explainedBy !== 'payment') {
    return { txnId: null, detail: `It is explained already: ${explainedBy ?? state}.` }
  }
  const match = (await matchCredits(tx, account, [movement])).get(movement.movementId)
  const why =
    explainedBy === 'payment' && match?.type === 'order' && (await whyNotGiven(tx, movement, match))
  if (why) return { txnId: null, detail: why }
  return {
    txnId: match?.type === 'order' ? txnId(match.agentId, match.orderId) : null,
    detail: match?.detail ?? '',
  }
}

async function take(
  tx: Tx,
  account: BankAccount,
  payment: SeenPayment,
  at: Date,
): Promise<RecordedPayment> {
  const { day, payer, slip, reference, order } = payment
  refuseDay(account, day, at)
  await lockAccount(tx, account.name)
  await refuseUnconfirmed(tx, account.name)
  await refuseUnknownSlip(tx, slip)
  const expected = order && (await findExpected(tx, account, order))
  if (order && !expected) {
    const detail = `${txnId(order.agentId, order.orderId)} is not to be paid at ${account.name}.`
    throw new Problem('invalid_transition', detail)
  }
  // The bank will book what the rail leaves of it.
  const amountMinor =
    payment.amountMinor - (expected?.deductionMinor ?? account.expectedDeductionMinor)
  if (amountMinor <= 0n) throw fieldProblem('amount', 'is not more than what the rail deducts')
  const report: ReportOfStatement = {
    source: 'hand',
    key: slip,
    line: null,
    amountMinor,
    bookedOn: day,
    bookedAt: null,
    balanceAfterMinor: null,
    chargesMinor: 0n,
    ids: { ...noIds, feedId: reference },
    text: [expected?.code, payment.text].filter(Boolean).join(' '),
    payer,
    isReturn: false,
    batchCount: null,
    statementId: null,
  }
  const others = order ? await ofOtherOrders(tx, account, payment, amountMinor, order.orderId) : []
  const payers = await payersBefore(tx, account, day, amountMinor)
  const origin = { fileId: null, isTrusted: true, at }
  const taken = await takeReports(tx, account, 'hand', [report], origin, others)
  const movementId = taken.movementIds[0] ?? ''
  if (reference !== null) await refuseReference(tx, plainReference(reference), movementId)
  const isKnown = taken.added === 0
  const isNamed =
    reference !== null ||
    payer.accountNo !== null ||
    (await codesIn(tx, [report.text]))([report.text]).length > 0
  if (isKnown && !isNamed) {
    await refuseLikeness(tx, account.name, movementId, payers.get(movementId), payer)
  }
  return { movementId, isKnown }
}

/** Who has paid the movements that a slip may be about, as far as that is known before what the slip says counts, too. */
async function payersBefore(
  tx: Tx,
  { name, payoutHolidays }: BankAccount,
  day: Day,
  amountMinor: bigint,
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await tx.query<{ movement_id: string; payer_name: string | null }>(
    `select movement_id, payer_name from bank_movements
     where account = $1 and amount = $2 and booked_on between $3::date - $4::int and $3::date + $4::int`,
    [name, amountMinor, day, mostDaysFrom(day, holidaysIn(payoutHolidays))],
  )
  return new Map(rows.map((row) => [row.movement_id, row.payer_name]))
}

/** Two payments of one day and amount are not one because nothing is known of one of them. */
async function refuseLikeness(
  tx: Tx,
  account: string,
  movementId: string,
  payerBefore: string | null | undefined,
  payer: Counterparty,
): Promise<void> {
  const movement = await findMovement(tx, account, movementId)
  const order = movement && (await orderOfMovement(tx, movement))
  const isSamePayer = plainName(payerBefore) === plainName(payer.name)
  if (!order || isSamePayer) return
  throw new Problem(
    'invalid_transition',
    `The bank has reported a payment of this amount and day, which pays ${order}. If the slip is of another one, name its order, its reference or the account of the payer.`,
  )
}

function plainName(name: string | null | undefined): string {
  return (name ?? '')
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** A payment of tomorrow cannot have been made, and one of long ago would have been booked. */
function refuseDay({ zone }: BankAccount, day: Day, at: Date): void {
  const today = localTimeIn(zone)(at).slice(0, 10)
  const first = new Date(Date.parse(today) - mostDaysAgo * 86_400_000).toISOString().slice(0, 10)
  if (day > today) throw fieldProblem('day', `must not be after today, ${today}`)
  if (day < first) throw fieldProblem('day', `must not be before ${first}`)
}

async function refuseUnconfirmed(tx: Tx, account: string): Promise<void> {
  const { rows } = await tx.query(
    'select 1 from bank_accounts where name = $1 and confirmed_at is not null',
    [account],
  )
  if (rows.length > 0) return
  throw new Problem('invalid_transition', 'Confirm the account first: one person has changed it.')
}

async function refuseUnknownSlip(tx: Tx, slip: string): Promise<void> {
  const { rows } = await tx.query('select 1 from bank_slips where sha256 = $1', [slip])
  if (rows.length === 0) throw fieldProblem('slip', 'names no picture that was brought')
}

/** The movements that another order has: a payment for this one is not about them. */
async function ofOtherOrders(
  tx: Tx,
  { name, payoutHolidays }: BankAccount,
  { day }: SeenPayment,
  amountMinor: bigint,
  orderId: string,
): Promise<string[]> {
  const { rows } = await tx.query<{ movement_id: string }>(
    `select m.movement_id from bank_movements m
     left join payment_claims c
       on c.payment_id = m.account || ':' || replace(m.movement_id::text, '-', '')
     left join payments p on p.agent_id = c.agent_id and p.payment_id = c.payment_id
     where m.account = $1 and m.amount = $2
       and m.booked_on between $3::date - $5::int and $3::date + $5::int
       and coalesce(p.order_id, m.order_id) <> $4`,
    [name, amountMinor, day, orderId, mostDaysFrom(day, holidaysIn(payoutHolidays))],
  )
  return rows.map(({ movement_id }) => movement_id)
}

/** A bank gives a number once: whatever else is on the slip, it is of the movement that has the number. */
async function refuseReference(tx: Tx, reference: string, movementId: string): Promise<void> {
  const { rows } = await tx.query<{ account: string; movement_id: string; ids: string }>(
    `select account, movement_id, ids from bank_reports
     where string_to_array(regexp_replace(upper(ids), '[^0-9A-Z"]', '', 'g'), '"') @> array[$1]
       and $1 <> all($2::text[]) and source <> 'hand' and is_trusted limit 1000`,
    // What stands between quotes are the names of the ids too.
    [reference, Object.keys(noIds).map(plainReference)],
  )
  const named = rows.filter(({ ids }) => {
    const given = JSON.parse(ids) as BankIds
    return bankIds.some((name) => plainReference(given[name] ?? '') === reference)
  })
  const [first] = named
  if (!first || named.some((row) => row.movement_id === movementId)) return
  const movement = await findMovement(tx, first.account, first.movement_id)
  const order = movement && (await orderOfMovement(tx, movement))
  const pays = order ? `, which pays ${order}` : ''
  throw new Problem(
    'slip_used',
    `The bank has reported this reference: it is movement ${first.movement_id} of ${first.account}${pays}.`,
  )
}

/** What was said of a movement by others than a hand, the bank before people. */
async function reportedOf(
  tx: Tx,
  { account, movementId }: BankMovement,
): Promise<PaymentPreview['bankSays']> {
  const { rows } = await tx.query<{ accountNo: string | null; text: string }>(
    `select payer_account_no as "accountNo", text from bank_reports
     where account = $1 and movement_id = $2 and source <> 'hand'
     order by is_trusted desc, payer_account_no is null, reported_at limit 1`,
    [account, movementId],
  )
  return rows[0] ?? null
}

/** The last day of the statements that begin after a day or go beyond it: they should have had a payment of that day. */
async function statementAfter(tx: Tx, account: string, day: Day): Promise<Day | null> {
  const { rows } = await tx.query<{ to_day: Day | null }>(
    `select max(to_day) as to_day from bank_statements
     where account = $1 and source = 'statement' and is_trusted and closing is not null
       and to_day > $2`,
    [account, day],
  )
  return rows[0]?.to_day ?? null
}

function referenceOf({ reference }: SeenPayment): string | null {
  return reference === null ? null : plainReference(reference)
}
