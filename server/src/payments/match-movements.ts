import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { ownAccountsOf } from '../bank-accounts/bank-account-terms.ts'
import type { BankMovement } from '../bank-accounts/bank-movement.ts'
import type { ReportSource } from '../bank-accounts/bank-report.ts'
import {
  type ExpectedDeposit,
  expectedColumns,
  findByCodes,
  plainAccountNo,
} from '../bank-accounts/expected-deposits.ts'
import { codesIn } from '../bank-accounts/find-codes.ts'
import {
  areDifferentAccounts,
  closedDays,
  fullAccountNo,
  holidaysIn,
  isWithinBankingDay,
  maskedPattern,
  mostDaysFrom,
} from '../bank-accounts/pair-reports.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { findNamedPayouts } from '../ledger/payout-references.ts'
import { findBank } from '../lib/banks.ts'
import { txnId } from '../lib/ids.ts'
import { startOfDay } from '../lib/local-time.ts'
import { isDigitCode, isWrittenOut } from '../lib/payment-code.ts'
import {
  matchItemDebits,
  matchItemReturns,
  type NamingMovement,
} from '../payout-files/item-movements.ts'
import type { BankIds, Day } from '../statements/statement.ts'
import { orderOfMovement } from './order-of-movement.ts'

/** What a movement is taken for. It is written down before the books change and never decided again. */
export type MovementMatch =
  | {
      type: 'order'
      agentId: bigint
      orderId: string
      paidAt: Date
      /** What the rail kept of the payment. */
      deductedMinor: bigint
      detail: string
    }
  /** The house's money until a person decides. */
  | { type: 'nobody'; why: 'unmatched' | 'ambiguous'; paidAt: Date; detail: string }
  | { type: 'takes_back'; movementId: string; detail: string }
  /** Payouts of files, by reference: they went out by a debit, or one came back by a credit. */
  | {
      type: 'payout' | 'payout_returned'
      references: string[]
      detail: string
      /** What the bank charged for a payout and debited together with it. */
      chargesMinor?: bigint
    }
  | { type: 'unexplained'; detail: string; isAlarm?: boolean }

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

/** The account whose movements are matched. */
type AccountOfMovements = Pick<
  BankAccount,
  'name' | 'zone' | 'match' | 'ownAccounts' | 'expectedDeductionMinor' | 'payoutHolidays'
>

/** Our clock and the bank's may differ by this much. */
const skewMs = 120_000

/**
 * Finds the orders that credits of one account pay, for all of them together. The first rule that finds exactly
 * one order decides; if a rule finds several, a person does.
 */
export async function matchCredits(
  pool: Pool | Tx,
  account: AccountOfMovements,
  credits: readonly Matched[],
): Promise<Map<string, MovementMatch>> {
  const { zone } = account
  const matches = new Map<string, MovementMatch>()
  const said = await allSaid(pool, account.name, credits)
  const nobody = (movement: Matched, why: 'unmatched' | 'ambiguous', detail: string) =>
    matches.set(movement.movementId, {
      type: 'nobody',
      why,
      paidAt: movement.bookedAt ?? startOfBankDay(movement, zone),
      detail,
    })
  const codes = await codesOf(pool, credits, said)
  const payouts = await findNamedPayouts(pool, [...new Set([...codes.values()].flat())])
  const isOurs = await ourAccounts(pool, account)
  const returns = await matchItemReturns(pool, account.name, naming(credits, codes, said))
  for (const movement of credits) {
    const returned = returns.get(movement.movementId)
    if (returned && 'references' in returned) {
      matches.set(movement.movementId, { type: 'payout_returned', ...returned })
    } else if (returned) {
      nobody(movement, 'unmatched', returned.fault)
    } else if (isReturn(movement, said)) {
      nobody(
        movement,
        'unmatched',
        'return_unknown: the bank gives back a payment of ours, and no payout fits it.',
      )
    } else if (isOurs(movement)) {
      nobody(movement, 'unmatched', 'It comes from an account of ours.')
    } else if (codes.get(movement.movementId)?.some((code) => payouts.has(code))) {
      nobody(movement, 'unmatched', 'It names a payout, so it may be one that came back.')
    }
  }
  const named = (open: readonly Matched[]) => byCode(pool, open, codes)
  const payer = { name: 'the payer and the amount', isOfOpen: true }
  const rules: {
    name: string
    find: (open: readonly Matched[]) => Promise<Candidate[]>
    isOfOpen?: boolean
  }[] = [
    { name: 'the code', find: named },
    { name: 'the amount', find: (open) => byAmount(pool, account, open) },
    { ...payer, find: (open) => byPayer(pool, account, open) },
    { ...payer, find: (open) => byMaskedPayer(pool, account, open) },
  ]
  for (const { name: rule, find, isOfOpen = false } of rules) {
    const open = credits.filter(({ movementId }) => !matches.has(movementId))
    const found = await ordersOf(pool, await find(open))
    for (const movement of open) {
      const fitting = found.get(movement.movementId) ?? []
      const all =
        find === named
          ? fitting.filter((each) => isNamedBy(movement, each, account, said))
          : fitting
      if (fitting.length > 0 && all.length === 0) {
        nobody(
          movement,
          'ambiguous',
          'A code of digits in it is of an order, but not with this amount: it may be there by chance.',
        )
        continue
      }
      const [first, two] = isOfOpen ? openThen(movement, account, all) : all
      const left =
        find === named && first && !two && (await leftOver(pool, account, movement, first))
      const one = left || first
      if (one && two) nobody(movement, 'ambiguous', `Several orders fit ${rule}.`)
      else if (one) {
        const deductedMinor = find === named ? deductionOf(account, movement, one, said) : 0n
        matches.set(movement.movementId, {
          type: 'order',
          agentId: one.agentId,
          orderId: one.orderId,
          paidAt: paidAt(movement, one, account),
          deductedMinor,
          detail:
            deductedMinor === 0n
              ? `It fits ${rule}.`
              : `It fits ${rule}, and is what is paid less what the rail deducts.`,
        })
      }
    }
  }
  for (const movement of credits) {
    if (!matches.has(movement.movementId)) nobody(movement, 'unmatched', 'No order fits it.')
  }
  const ofBank = credits.filter(({ movementId }) => {
    const reports = said.get(movementId) ?? []
    return (
      matches.get(movementId)?.type === 'order' &&
      (reports.length === 0 || reports.some(({ source }) => source !== 'hand'))
    )
  })
  const hands = await handsAwaited(pool, account, ofBank)
  for (const movement of ofBank) {
    const match = matches.get(movement.movementId)
    if (match?.type !== 'order') continue
    const pays = txnId(match.agentId, match.orderId)
    const hand = hands.find((each) => each.pays !== pays && mayBeOne(each, movement, account))
    if (!hand) continue
    nobody(
      movement,
      'ambiguous',
      `${match.detail} That is ${pays}. But a slip without a code, of this amount and day, was credited to ${hand.pays}, and the bank has reported nothing else for it: if both are one payment, take it back there before this one is credited.`,
    )
  }
  return matches
}

/** Tells whether a credit comes from an account of the operator's: one that it names, or another that is a provider. */
async function ourAccounts(
  pool: Pool | Tx,
  account: AccountOfMovements,
): Promise<(movement: Matched) => boolean> {
  const named = new Set(ownAccountsOf(account).map(plainAccountNo))
  const { rows } = await pool.query<{ numbers: string; bank: string }>(
    `select account_no || ',' || former_numbers as numbers, bank_code as bank
     from bank_accounts where name <> $1`,
    [account.name],
  )
  const banks = new Map<string, string[]>()
  for (const { numbers, bank } of rows) {
    for (const number of numbers.split(',').filter(Boolean).map(plainAccountNo)) {
      banks.set(number, [...(banks.get(number) ?? []), bank])
    }
  }
  return ({ payerAccountNo, payerBank, currency }) => {
    const payer = fullAccountNo(payerAccountNo)
    if (payer === null) return false
    // Two banks may have given out the same number.
    const bank = findBank(currency, payerBank ?? '')?.code
    const ofBanks = banks.get(payer) ?? []
    return named.has(payer) || ofBanks.some((each) => !bank || each === '' || each === bank)
  }
}

/**
 * The order that an equal payment leaves over. A push may have been taken for the wrong one of two equal lines: what is
 * credited to the order that this movement names is, by the bank's statement, the payment of another order, which nobody
 * has paid. Both are worth the same, and what is decided stays, so this movement pays that one.
 */
async function leftOver(
  pool: Pool | Tx,
  { name }: AccountOfMovements,
  { movementId, amountMinor }: Matched,
  named: FoundOrder,
): Promise<FoundOrder | undefined> {
  const paid = await movementOf(pool, name, named.paidBy)
  if (!paid || paid.movementId === movementId || paid.amountMinor !== amountMinor) return undefined
  const said = await allSaid(pool, name, [paid])
  const [code, other] = (await codesOf(pool, [paid], said)).get(paid.movementId) ?? []
  if (code === undefined || other !== undefined || code === named.code) return undefined
  const expected = (await findByCodes(pool, [code])).filter(
    (each) => each.account === name && each.payableMinor === named.payableMinor,
  )
  const orders = await ordersOf(
    pool,
    expected.map((each) => ({ movementId, expected: each })),
  )
  const [order, more] = orders.get(movementId) ?? []
  return order && !more && order.isPaidAt === null ? order : undefined
}

/** The movement of a payment, if it is at this account. */
async function movementOf(
  pool: Pool | Tx,
  account: string,
  paymentId: string | null,
): Promise<Pick<Matched, 'movementId' | 'amountMinor' | 'text'> | undefined> {
  if (!paymentId?.startsWith(`${account}:`)) return undefined
  const { rows } = await pool.query<Pick<Matched, 'movementId' | 'amountMinor' | 'text'>>(
    `select movement_id as "movementId", amount as "amountMinor", text from bank_movements
     where account = $1 and movement_id = $2`,
    [account, paymentId.slice(account.length + 1)],
  )
  return rows[0]
}

/**
 * Whether the bank's statement may yet say that a movement is another order's payment than the one that it names: a
 * report without a code was taken for the payment by its amount and day.
 */
async function mayBeAnothers(
  pool: Pool | Tx,
  account: string,
  movement: Pick<Matched, 'movementId' | 'amountMinor'>,
): Promise<boolean> {
  const said = (await allSaid(pool, account, [movement])).get(movement.movementId) ?? []
  if (said.some(({ source }) => source === 'statement')) return false
  const findCodes = await codesIn(pool, said.flatMap(textsOf))
  const isCoded = said.map((each) => findCodes(textsOf(each), movement.amountMinor).length > 0)
  return isCoded.includes(true) && isCoded.includes(false)
}

/** What a movement is whose order was paid by another one: it may be left over for another order, or a second payment. */
export async function matchSecond(
  pool: Pool,
  account: AccountOfMovements,
  movement: BankMovement,
): Promise<MovementMatch | undefined> {
  const match = (await matchCredits(pool, account, [movement])).get(movement.movementId)
  if (match?.type !== 'order' || match.orderId !== movement.orderId) return match
  const { agentId, orderId } = match
  const { rows } = await pool.query<{ payment_id: string }>(
    `select payment_id from payments where agent_id = $1 and order_id = $2
       and state = 'credited' and credited_to = 'order'`,
    [agentId, orderId],
  )
  const first = await movementOf(pool, account.name, rows[0]?.payment_id ?? null)
  const pair = first ? [movement, first] : [movement]
  for (const each of pair) {
    if (await mayBeAnothers(pool, account.name, each)) {
      const detail =
        'It names an order that is paid, and which of two payments is that order’s, the statement of the bank will say.'
      return { type: 'nobody', why: 'ambiguous', paidAt: match.paidAt, detail }
    }
  }
  return match
}

/** A payment that was recorded by hand and given to an order, and of which the bank has said nothing yet. */
interface HandAwaited {
  movementId: string
  amountMinor: bigint
  bookedOn: Day
  payerAccountNo: string | null
  pays: string
}

/**
 * What was recorded by slips that name no code: whose they are was a person's guess, so that the bank's line of the same
 * transfer may name another order. A transfer counts once, so a person decides about such a line.
 */
async function handsAwaited(
  pool: Pool | Tx,
  { name, payoutHolidays }: AccountOfMovements,
  movements: readonly Matched[],
): Promise<HandAwaited[]> {
  const days = movements.map(({ bookedOn }) => bookedOn).sort()
  const [first] = days
  const last = days.at(-1)
  if (first === undefined || last === undefined) return []
  const holidays = holidaysIn(payoutHolidays)
  const { rows } = await pool.query<
    Omit<HandAwaited, 'pays'> & Pick<BankMovement, 'account' | 'agentId' | 'orderId' | 'text'>
  >(
    `select m.account, m.movement_id as "movementId", m.amount as "amountMinor", m.booked_on as "bookedOn",
       r.payer_account_no as "payerAccountNo", m.agent_id as "agentId", m.order_id as "orderId", r.text
     from bank_reports r
     join bank_movements m on m.account = r.account and m.movement_id = r.movement_id
     where r.account = $1 and r.source = 'hand' and m.amount = any($2::bigint[])
       and m.booked_on between $3::date - $5::int and $4::date + $6::int
       and m.explained_by is distinct from 'never_booked'
       and not exists (select 1 from bank_reports b where b.account = m.account
         and b.movement_id = m.movement_id and b.source <> 'hand' and b.is_trusted)`,
    [
      ...[name, [...new Set(movements.map(({ amountMinor }) => amountMinor))], first, last],
      ...[mostDaysFrom(first, holidays), mostDaysFrom(last, holidays)],
    ],
  )
  const findCodes = await codesIn(
    pool,
    rows.map(({ text }) => text),
  )
  const awaited: HandAwaited[] = []
  for (const row of rows) {
    if (findCodes([row.text]).length > 0) continue
    const pays = await orderOfMovement(pool, row)
    if (pays !== null) awaited.push({ ...row, pays })
  }
  return awaited
}

/** Whether a line of the bank may be of the transfer that was recorded by hand. */
function mayBeOne(
  hand: HandAwaited,
  { movementId, amountMinor, bookedOn, payerAccountNo }: Matched,
  { payoutHolidays }: AccountOfMovements,
): boolean {
  return (
    hand.movementId !== movementId &&
    hand.amountMinor === amountMinor &&
    !areDifferentAccounts(hand.payerAccountNo, payerAccountNo) &&
    isWithinBankingDay(hand.bookedOn, bookedOn, holidaysIn(payoutHolidays))
  )
}

/**
 * Whether a credit names an order whose code it has. Numbers beside each other hold a code of digits by chance, so that
 * one counts only with its amount, or, where an account goes by codes alone, if it stands by itself and the order is
 * expected there at that time.
 */
function isNamedBy(
  movement: Matched,
  expected: ExpectedDeposit,
  account: AccountOfMovements,
  said: Said,
): boolean {
  if (!isDigitCode(expected.code) || movement.amountMinor === expected.payableMinor) return true
  if (deductionOf(account, movement, expected, said) > 0n) return true
  const { from, until } = windowOf(movement, account)
  const isExpected =
    expected.account === account.name && expected.createdAt <= until && expected.heldUntil >= from
  const texts = (said.get(movement.movementId) ?? []).flatMap(({ text, ids }) =>
    [text, ids.endToEndId, ids.instructionId].filter(isText),
  )
  return (
    account.match === 'code' && isExpected && isWrittenOut(expected.code, [movement.text, ...texts])
  )
}

/** What the rail kept of a payment that names its order: all that is missing, or it is another amount. */
function deductionOf(
  { name, expectedDeductionMinor }: AccountOfMovements,
  { movementId, amountMinor }: Matched,
  expected: ExpectedDeposit,
  said: Said,
): bigint {
  if (expected.account !== name) return 0n
  const charges = (said.get(movementId) ?? []).map(({ chargesMinor }) => chargesMinor)
  const deductions = [expected.deductionMinor ?? expectedDeductionMinor, ...charges]
  return deductions.find((each) => amountMinor + each === expected.payableMinor) ?? 0n
}

/** Of what names orders, the bank's statement says most. */
const bySaying: readonly ReportSource[] = ['statement', 'intraday', 'push', 'hand']

/**
 * The payment codes in all that the bank says of each movement. A report may have been taken for one of several equal
 * payments before its own was known, so where reports name different orders, those that say more count. What may be a
 * code by chance counts only if there is no other.
 */
async function codesOf(
  pool: Pool | Tx,
  movements: readonly Pick<Matched, 'movementId' | 'amountMinor' | 'text'>[],
  said: Said,
): Promise<Map<string, string[]>> {
  const texts = movements.map(({ movementId, amountMinor, text }) => {
    const reports = said.get(movementId) ?? []
    const bySource = bySaying.map((source) =>
      reports.filter((each) => each.source === source).flatMap(textsOf),
    )
    return { movementId, amountMinor, bySource: [...bySource, [text]] }
  })
  const findCodes = await codesIn(
    pool,
    texts.flatMap(({ bySource }) => bySource.flat()),
  )
  return new Map(
    texts.map(({ movementId, amountMinor, bySource }) => [
      movementId,
      [
        ...bySource.map((each) => findCodes(each, amountMinor)),
        ...bySource.map((each) => findCodes(each)),
      ].find((codes) => codes.length > 0) ?? [],
    ]),
  )
}

/** Where the bank may name an order. */
function textsOf({ text, ids }: SaidOnce): string[] {
  return [text, ...Object.values(ids).filter(isText)]
}

/** All payment codes in what the bank says of one movement, also those that may be there by chance. */
export async function codesOfMovement(
  pool: Pool,
  account: string,
  movementId: string,
): Promise<string[]> {
  const said = await allSaid(pool, account, [{ movementId }])
  const texts = (said.get(movementId) ?? []).flatMap(textsOf)
  return (await codesIn(pool, texts))(texts)
}

/** What of each movement may name a payout of a file. */
function naming(
  movements: readonly Matched[],
  codes: ReadonlyMap<string, string[]>,
  said: Said,
): NamingMovement[] {
  return movements.map((movement) => ({
    ...movement,
    isReturn: isReturn(movement, said),
    codes: codes.get(movement.movementId) ?? [],
    batches: (said.get(movement.movementId) ?? [])
      .flatMap(({ ids }) => [ids.paymentInformationId, ids.messageId])
      .filter(isText),
    charges: (said.get(movement.movementId) ?? []).map(({ chargesMinor }) => chargesMinor),
  }))
}

function isReturn(movement: Matched, said: Said): boolean {
  return movement.isReturn || (said.get(movement.movementId) ?? []).some((each) => each.isReturn)
}

function isText(value: string | null | undefined): value is string {
  return typeof value === 'string'
}

/** What the bank says of each movement, in all its reports: one may tell what another leaves out. */
type Said = ReadonlyMap<string, readonly SaidOnce[]>

interface SaidOnce {
  source: ReportSource
  ids: BankIds
  text: string
  isReturn: boolean
  chargesMinor: bigint
}

async function allSaid(
  pool: Pool | Tx,
  account: string,
  movements: readonly Pick<Matched, 'movementId'>[],
): Promise<Said> {
  const { rows } = await pool.query<{
    movement_id: string
    source: ReportSource
    ids: string
    text: string
    is_return: boolean | null
    charges: bigint
  }>(
    // The text of a sum is of none of its payments.
    `select movement_id, source, ids, case when report_key like '%/%' then '' else text end as text,
       is_return, charges
     from bank_reports where account = $1 and movement_id = any($2::uuid[]) and is_trusted`,
    [account, movements.map(({ movementId }) => movementId)],
  )
  const said = new Map<string, SaidOnce[]>()
  for (const { movement_id, source, ids, text, is_return, charges } of rows) {
    const isReturn = is_return ?? false
    const report = {
      ...{ source, ids: JSON.parse(ids) as BankIds, text, isReturn },
      chargesMinor: charges,
    }
    said.set(movement_id, [...(said.get(movement_id) ?? []), report])
  }
  return said
}

/** A deposit that a movement may pay. */
interface Candidate {
  movementId: string
  expected: ExpectedDeposit
}

/** The deposits that the codes name, at any account. */
async function byCode(
  pool: Pool | Tx,
  movements: readonly Matched[],
  codes: ReadonlyMap<string, readonly string[]>,
): Promise<Candidate[]> {
  const named = movements.flatMap(({ movementId }) => codes.get(movementId) ?? [])
  if (named.length === 0) return []
  const byCode = new Map<string, ExpectedDeposit[]>()
  for (const row of await findByCodes(pool, [...new Set(named)]))
    byCode.set(row.code, [...(byCode.get(row.code) ?? []), row])
  return movements.flatMap(({ movementId }) =>
    (codes.get(movementId) ?? [])
      .flatMap((code) => byCode.get(code) ?? [])
      .map((expected) => ({ movementId, expected })),
  )
}

/** The deposits that were expected with exactly this amount when it was paid. */
function byAmount(
  pool: Pool | Tx,
  account: AccountOfMovements,
  movements: readonly Matched[],
): Promise<Candidate[]> {
  return inWindow(
    pool,
    account,
    movements.map((movement) => ({ movement, payer: null, bank: null })),
    'and e.by_amount',
  )
}

/** The deposits of this amount whose payer named this account in the order. */
function byPayer(
  pool: Pool | Tx,
  account: AccountOfMovements,
  movements: readonly Matched[],
): Promise<Candidate[]> {
  const known = movements.flatMap((movement) => {
    const payer = fullAccountNo(movement.payerAccountNo)
    return payer === null ? [] : [{ movement, payer, bank: null }]
  })
  return inWindow(pool, account, known, 'and e.payer_account_no = k.payer')
}

/** The same for masked numbers. Four digits must be visible, and the bank must be the order's. */
function byMaskedPayer(
  pool: Pool | Tx,
  account: AccountOfMovements,
  movements: readonly Matched[],
): Promise<Candidate[]> {
  const masked = movements.flatMap((movement) => {
    if (fullAccountNo(movement.payerAccountNo) !== null) return []
    const payer = maskedPattern(movement.payerAccountNo)
    const bank = findBank(movement.currency, movement.payerBank ?? '')
    return payer === null || !bank ? [] : [{ movement, payer, bank: bank.code }]
  })
  return inWindow(
    pool,
    account,
    masked,
    `and e.payer_account_no like k.payer and exists (select 1 from orders o
       where o.agent_id = e.agent_id and o.order_id = e.order_id and o.bank_code = k.bank)`,
  )
}

/** The deposits at the account that were expected, with the movement's amount, when it was paid. */
async function inWindow(
  pool: Pool | Tx,
  account: AccountOfMovements,
  wanted: readonly { movement: Matched; payer: string | null; bank: string | null }[],
  and: string,
): Promise<Candidate[]> {
  if (wanted.length === 0) return []
  const windows = wanted.map(({ movement }) => windowOf(movement, account))
  const { rows } = await pool.query<ExpectedDeposit & { movement_id: string }>(
    `select k.movement_id, e.*
     from unnest($2::uuid[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[])
       k(movement_id, amount, since, until, payer, bank)
     cross join lateral (
       select ${expectedColumns.select('e')} from expected_deposits e
       where e.account = $1 and e.payable = k.amount and e.created_at <= k.until
         and e.held_until >= k.since ${and}
       order by e.created_at desc limit 50
     ) e`,
    [
      account.name,
      wanted.map(({ movement }) => movement.movementId),
      wanted.map(({ movement }) => movement.amountMinor),
      windows.map(({ from }) => from.toISOString()),
      windows.map(({ until }) => until.toISOString()),
      wanted.map(({ payer }) => payer),
      wanted.map(({ bank }) => bank),
    ],
  )
  return rows.map(({ movement_id: movementId, ...expected }) => ({ movementId, expected }))
}

/** A deposit whose order was created. */
interface FoundOrder extends ExpectedDeposit {
  /** When the payment was made that paid it, if one has, and which. */
  isPaidAt: Date | null
  paidBy: string | null
}

/** Of each movement's candidates those whose order was created, since a reservation may have come to nothing. */
async function ordersOf(
  pool: Pool | Tx,
  candidates: readonly Candidate[],
): Promise<Map<string, FoundOrder[]>> {
  if (candidates.length === 0) return new Map()
  const { rows } = await pool.query<{
    order_id: string
    provider: string | null
    paid_at: Date | null
    payment_id: string | null
  }>(
    `select o.order_id, o.provider, p.paid_at, p.payment_id from orders o
     join (select distinct agent_id, order_id from unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)) k
       on o.agent_id = k.agent_id and o.order_id = k.order_id
     left join payments p on p.agent_id = o.agent_id and p.order_id = o.order_id
       and p.state = 'credited' and p.credited_to = 'order'`,
    [
      candidates.map(({ expected }) => expected.agentId),
      candidates.map(({ expected }) => expected.orderId),
    ],
  )
  const created = new Map(rows.map((row) => [row.order_id, row]))
  const found = new Map<string, Map<string, FoundOrder>>()
  for (const { movementId, expected } of candidates) {
    const order = created.get(expected.orderId)
    if (order === undefined) continue
    const orders = found.get(movementId) ?? new Map<string, FoundOrder>()
    // An order may have had a place at another account before it got the one that it has.
    const isItsAccount = order.provider === expected.account
    if (isItsAccount || !orders.has(expected.orderId)) {
      const { paid_at: isPaidAt, payment_id: paidBy } = order
      orders.set(expected.orderId, { ...expected, isPaidAt, paidBy })
    }
    found.set(movementId, orders)
  }
  return new Map([...found].map(([movementId, orders]) => [movementId, [...orders.values()]]))
}

/**
 * Those that may have been open when the money was paid. What they are by now says nothing: the bank may report long
 * after an order's end, when another one is open. If none was open, the money is late for one that nobody had paid.
 */
function openThen(
  movement: Matched,
  account: AccountOfMovements,
  orders: readonly FoundOrder[],
): readonly FoundOrder[] {
  const { from } = windowOf(movement, account)
  const before = movement.bookedAt ?? from
  const unpaid = orders.filter(({ isPaidAt }) => isPaidAt === null || isPaidAt >= before)
  const open = unpaid.filter(({ expiresAt }) => expiresAt >= from)
  return open.length > 0 ? open : unpaid.length > 0 ? unpaid : orders
}

/**
 * Finds what debits of one account are. One that reverses exactly one credit, by the bank's own ids, takes its
 * payment back. A debit that may reverse a credit that is not decided on yet has no match for now.
 */
export async function matchDebits(
  pool: Pool | Tx,
  account: Pick<BankAccount, 'name'>,
  debits: readonly Matched[],
  /** Whether a person says that what is more than a payout is the bank's charge for it. */
  isRestCharge = false,
): Promise<Map<string, MovementMatch>> {
  const said = await allSaid(pool, account.name, debits)
  const matches = new Map<string, MovementMatch>()
  const takenBack = new Set<string>()
  const codes = await codesOf(pool, debits, said)
  const named = naming(debits, codes, said)
  const payouts = await matchItemDebits(pool, account.name, named, isRestCharge)
  for (const debit of debits) {
    const { movementId, amountMinor } = debit
    const payout = payouts.get(movementId)
    if (payout) {
      matches.set(
        movementId,
        'references' in payout
          ? { type: 'payout', ...payout }
          : { type: 'unexplained', detail: payout.fault, isAlarm: payout.isAlarm },
      )
      continue
    }
    const reports = isReturn(debit, said) ? (said.get(movementId) ?? []) : []
    const ids = reports
      .flatMap(({ ids }) => [ids.accountServicerRef, ids.transactionId, ids.uetr, ids.endToEndId])
      .filter(isText)
    const [one, two] = (await namedCredits(pool, account.name, -amountMinor, ids)).filter(
      (each) => !takenBack.has(each.movementId),
    )
    if (one && !two && !one.isDecided) continue
    if (one && !two) {
      takenBack.add(one.movementId)
      matches.set(movementId, {
        type: 'takes_back',
        movementId: one.movementId,
        detail: 'The bank took a payment back.',
      })
    } else {
      const detail = 'Money left the account that this service did not send.'
      matches.set(movementId, { type: 'unexplained', detail })
    }
  }
  return matches
}

/** The payments of an amount that one of the ids names and that nothing has taken back. */
async function namedCredits(
  pool: Pool | Tx,
  account: string,
  amountMinor: bigint,
  named: readonly string[],
): Promise<{ movementId: string; isDecided: boolean }[]> {
  if (named.length === 0) return []
  const { rows } = await pool.query<{ movement_id: string; state: string; ids: string }>(
    `select m.movement_id, m.state, r.ids from bank_movements m
     join bank_reports r on r.account = m.account and r.movement_id = m.movement_id
     where m.account = $1 and (m.amount = $2 or (m.deducted > 0 and m.amount + m.deducted = $2))
       and (m.explained_by = 'payment' or m.state = 'new')
       and r.is_trusted and not exists (select 1 from bank_movements t
         where t.account = m.account and t.returns = m.movement_id)
     order by m.movement_id desc limit 1000`,
    [account, amountMinor],
  )
  const found = new Map<string, boolean>()
  for (const { movement_id, state, ids } of rows) {
    const said = Object.values(JSON.parse(ids) as BankIds)
    if (said.some((id) => id !== null && named.includes(id))) {
      found.set(movement_id, state !== 'new')
    }
  }
  return [...found].map(([movementId, isDecided]) => ({ movementId, isDecided }))
}

/** When the money may have been paid, as far as the bank says. */
function windowOf(
  movement: Matched,
  { zone, payoutHolidays }: AccountOfMovements,
): { from: Date; until: Date } {
  if (movement.bookedAt) {
    const ms = movement.bookedAt.getTime()
    return { from: new Date(ms - skewMs), until: new Date(ms + skewMs) }
  }
  const from = startOfBankDay(movement, zone)
  // Nobody paid for an order that was made after the bank reported the money.
  const untilMs = Math.min(from.getTime() + 86_400_000, movement.reportedAt.getTime() + skewMs)
  return { from: earliestOf(movement.bookedOn, from, payoutHolidays), until: new Date(untilMs) }
}

function startOfBankDay({ bookedOn }: Pick<Matched, 'bookedOn'>, zone: string): Date {
  return startOfDay(new Date(`${bookedOn}T12:00:00Z`), zone)
}

/** What is booked after a weekend or holidays may have been paid on any of them. */
function earliestOf(bookedOn: Day, startOfDay: Date, payoutHolidays: string): Date {
  const back = closedDays(bookedOn, -1, holidaysIn(payoutHolidays))
  return new Date(startOfDay.getTime() - back * 86_400_000)
}

/**
 * The moment that counts against the order's end: the bank's time, or, if it only tells the day, the moment
 * of that day that is nearest to the order's life.
 */
function paidAt(
  movement: Matched,
  { createdAt, expiresAt }: ExpectedDeposit,
  account: AccountOfMovements,
): Date {
  if (movement.bookedAt) return movement.bookedAt
  const { from } = windowOf(movement, account)
  const earliest = Math.max(createdAt.getTime(), from.getTime())
  return new Date(
    earliest <= expiresAt.getTime() ? earliest : startOfBankDay(movement, account.zone),
  )
}
