import {
  type BankAccount,
  findBankAccount,
  readBankAccounts,
} from '../bank-accounts/bank-account.ts'
import {
  dayAfter,
  pagesJoined,
  type StatementPage,
  withFirstDays,
} from '../bank-accounts/statement-pages.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { txnId } from '../lib/ids.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import { findPaymentCodes } from '../lib/payment-code.ts'
import { Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from '../operators/audit.ts'
import { nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import type { Restore } from '../payouts/restore-hold.ts'
import { fileAccounts } from '../payouts/restore-lock.ts'
import { isHeld } from '../routing/stops.ts'
import type { Day } from '../statements/statement.ts'
import { bankingDaysAfter, executionDay, firstGap } from './banking-day.ts'
import { sumOf } from './payout-file.ts'

/** Where an account stands after a restore: what is missing before its files may leave again. */
export interface Standing {
  account: string
  /** In words; none if nothing is missing any more. */
  missing: string[]
  /** What people cannot know better: the time is not over, or the account itself is in doubt. Also in `missing`. */
  mustWait: string[]
  /** The debits among `missing`, by movement. */
  debits: ReadonlyMap<string, OpenDebit>
}

/** How many of the bank's working days after its execution date a file may still be paid. */
export const patienceDays = 3

/** Where every account that pays by files, or did, stands, of those that a restore still holds back. */
export async function standings(db: Pool | Tx, now: Date): Promise<Standing[]> {
  const found: Standing[] = []
  for (const account of await readBankAccounts(db)) {
    if (!(await fileAccounts(db, account.currency)).includes(account.name)) continue
    const standing = await standingOf(db, account, now)
    if (standing) found.push(standing)
  }
  return found
}

/** Undefined if no restore holds the account back, or somebody has released it. */
export async function standingOf(
  db: Pool | Tx,
  account: BankAccount,
  now: Date,
): Promise<Standing | undefined> {
  const restores = await heldBackBy(db, account.name)
  if (restores.length === 0) return undefined
  const mustWait = new Set<string>()
  const days = new Set<string>()
  const debits = new Map<string, OpenDebit>()
  // Holidays and cut-offs say how long to wait: one person must not shorten that.
  if (account.confirmedAt === null) {
    mustWait.add(`${account.name} was changed, and nobody has confirmed that yet.`)
  }
  for (const restore of restores) {
    const from = firstDayOf(account, restore)
    // Who had a file in hand when the database was restored may have brought it a day later.
    const to = bankingDaysAfter(account, executionDay(account, restore.markedAt), patienceDays)
    if (localTimeIn(account.zone)(now).slice(0, 10) <= to) {
      mustWait.add(`What was on its way may be paid until ${to}: wait until that is over.`)
    }
    const gap = firstGap(await wholeDays(db, account, from), from, to, account.payoutHolidays)
    if (gap !== undefined) {
      days.add(`Its statements from ${from} to ${to} are needed, and there is none of ${gap} yet.`)
    }
    for (const debit of await openDebits(db, account, from, restore.markedAt)) {
      debits.set(debit.movementId, debit)
    }
  }
  return {
    account: account.name,
    missing: [...[...debits.values()].map(({ words }) => words), ...days, ...mustWait],
    mustWait: [...mustWait],
    debits,
  }
}

/**
 * Why no file of an account may leave, in words, and which command tells more. A withdrawal may have left by another
 * account of its currency than the one that would pay it now, so all of these must have caught up. An account whose
 * statements have is released here, for good.
 */
export async function whyLocked(tx: Tx, name: string, at: Date): Promise<string | undefined> {
  if (await isHeld(tx)) {
    return 'The database was restored from a backup, and everything that pays is held: sluice doctor --after-restore tells more.'
  }
  for (const standing of await standingsOfKin(tx, name, at)) {
    if (standing.missing.length > 0) return wordsOf(standing)
    await releaseByStatements(tx, standing.account, at)
  }
  return undefined
}

/** The same, and changes nothing. */
export async function whyHeldBack(
  db: Pool | Tx,
  name: string,
  now: Date,
): Promise<string | undefined> {
  const [first] = (await standingsOfKin(db, name, now)).filter(({ missing }) => missing.length > 0)
  return first && wordsOf(first)
}

/** Where the accounts stand that pay by files in the currency of one, and it itself. */
async function standingsOfKin(db: Pool | Tx, name: string, now: Date): Promise<Standing[]> {
  const own = await findBankAccount(db, name)
  const kin = own ? await fileAccounts(db, own.currency) : []
  const found: Standing[] = []
  for (const account of await readBankAccounts(db)) {
    if (account.name !== name && !kin.includes(account.name)) continue
    const standing = await standingOf(db, account, now)
    if (standing) found.push(standing)
  }
  return found
}

function wordsOf({ account, missing: [first] }: Standing): string {
  return `The database was restored from a backup, and what ${account} has paid since is not known yet: "sluice doctor" says what is missing. ${first}`
}

/**
 * Releases every account whose statements have caught up, so that withdrawals which waited for that go on by themselves.
 * Any number of processes may do so at the same time.
 */
export async function releaseCaughtUp(desk: { pool: Pool; now: () => Date }): Promise<void> {
  const at = desk.now()
  for (const { account, missing } of await standings(desk.pool, at)) {
    if (missing.length > 0) continue
    await inTransaction(desk.pool, (tx) => releaseByStatements(tx, account, at))
  }
}

const machine: Outsider = { userId: null, email: 'sluice', ip: null }

function releaseByStatements(tx: Tx, account: string, at: Date): Promise<void> {
  const evidence = 'Its statements have reached the day, and all debits are explained.'
  return release(tx, account, { how: 'statements', evidence, by: machine, at })
}

/**
 * Two people say that an account has paid nothing that is not known here: of days that have no statements, and of
 * debits that they name.
 */
export async function releaseByPeople(
  tx: Tx,
  account: BankAccount,
  by: Operator,
  evidence: string,
  at: Date,
): Promise<void> {
  await refuseRelease(tx, account, evidence, at)
  await release(tx, account.name, { how: 'two_people', evidence, by, at })
}

/** Refuses what two people cannot know better than the statements, and what they do not say that they know. */
export async function refuseRelease(
  db: Pool | Tx,
  account: BankAccount,
  evidence: string,
  now: Date,
): Promise<void> {
  const standing = await standingOf(db, account, now)
  if (!standing) throw new Problem('invalid_transition', `Nothing holds ${account.name} back.`)
  const [wait] = standing.mustWait
  if (wait !== undefined) throw new Problem('invalid_transition', wait)
  const said = evidence.toLowerCase()
  for (const { words, isForPeople, toName } of standing.debits.values()) {
    if (!isForPeople) throw new Problem('invalid_transition', words)
    if (toName.every((each) => said.includes(each.toLowerCase()))) continue
    throw new Problem(
      'invalid_transition',
      toName.length === 1
        ? `${words} If that cannot be, name the movement in the evidence.`
        : `${words} If it paid none of those that wait here, name the movement and the file in the evidence.`,
    )
  }
}

async function release(
  tx: Tx,
  account: string,
  {
    how,
    evidence,
    by,
    at,
  }: { how: 'statements' | 'two_people'; evidence: string; by: Operator | Outsider; at: Date },
): Promise<void> {
  for (const { restoreId } of await heldBackBy(tx, account)) {
    const { rowCount } = await tx.query(
      `insert into payout_lock_releases
         (account, restore_id, how, released_by, releaser, evidence, released_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [account, restoreId, how, by.userId ?? nobody, by.email, evidence, at],
    )
    if (rowCount === 0) continue
    await writeAudit(tx, {
      at,
      operator: by,
      action: 'release_payouts',
      subject: { kind: 'provider', id: account },
      agentId: null,
      after: { how },
      reason: evidence,
    })
  }
}

async function heldBackBy(db: Pool | Tx, account: string): Promise<Restore[]> {
  const { rows } = await db.query<Restore>(
    `select r.restore_id as "restoreId", r.since, r.marked_at as "markedAt" from restores r
     where not exists (select 1 from payout_lock_releases l
       where l.account = $1 and l.restore_id = r.restore_id)
     order by r.restore_id`,
    [account],
  )
  return rows
}

/** An account that was there before has paid nothing before it was made. */
function firstDayOf({ createdAt, zone }: BankAccount, { since, markedAt }: Restore): Day {
  const from = createdAt > since && createdAt < markedAt ? createdAt : since
  return localTimeIn(zone)(from).slice(0, 10)
}

/** How long before a day a statement may have been that says how much there was when the day began. */
const openingDays = 31

/**
 * What the bank's own statements tell of whole days: all their pages are there, they close and add up, since one that
 * does not may lack the very line, and they came after the last of their days was over, since the bank may book until
 * then. One that does not say how much there was before adds up with the last statement that closed before it, or not
 * at all.
 */
export async function wholeDays(
  db: Pool | Tx,
  { name, zone }: Pick<BankAccount, 'name' | 'zone'>,
  from: Day,
): Promise<{ fromDay: Day; toDay: Day }[]> {
  const { rows } = await db.query<StatementPage & { receivedAt: Date }>(
    `select s.from_day as "from", s.to_day as "to", s.opening, s.closing, s.booked, s.entries,
       s.bank_id as id, s.bank_seq as seq, s.page, f.received_at as "receivedAt"
     from bank_statements s join bank_files f on f.account = s.account and f.file_id = s.file_id
     where s.account = $1 and s.source = 'statement' and s.is_trusted and s.from_day is not null
       and s.to_day >= $2::date - ${openingDays}
     order by s.read_at, s.statement_id`,
    [name, from],
  )
  const localTime = localTimeIn(zone)
  const joined = pagesJoined(withFirstDays(rows))
  const addsUp = ({ from: first, opening, closing, booked }: StatementPage): boolean => {
    const before = opening ?? closingBefore(joined, first)
    return before !== undefined && before + booked === closing
  }
  // An opening balance may be of the day before, and so may a line that was booked late: then that day is not told.
  const firstToldBy = ({ from: first, to, opening }: StatementPage): Day => {
    const isTold = first === to || opening === null || closingBefore(joined, first) === opening
    return isTold ? first : dayAfter(first)
  }
  return joined
    .filter(
      (each) =>
        each.to >= from && addsUp(each) && localTime(each.receivedAt).slice(0, 10) > each.to,
    )
    .map((each) => ({ fromDay: firstToldBy(each), toDay: each.to }))
    .sort((a, b) =>
      a.fromDay === b.fromDay ? (a.toDay < b.toDay ? -1 : 1) : a.fromDay < b.fromDay ? -1 : 1,
    )
}

/** What the last statement before a day says that there was. */
function closingBefore(statements: readonly StatementPage[], day: Day): bigint | undefined {
  let last: StatementPage | undefined
  for (const each of statements) {
    if (each.to < day && each.closing !== null && each.to >= (last?.to ?? '')) last = each
  }
  return last?.closing ?? undefined
}

interface Debit {
  movement_id: string
  amount: bigint
  booked_on: Day
  state: string
  text: string
  ids: string | null
}

interface OpenDebit {
  movementId: string
  amountMinor: bigint
  bookedOn: Day
  words: string
  /** Whether two people may say that it holds nothing back: not while it names a withdrawal that waits. */
  isForPeople: boolean
  /** What they name then: the movement, and the lost file while withdrawals wait that it may have paid. */
  toName: readonly string[]
  /** The withdrawals that it may have paid, if it is of a file that was lost. */
  mayHavePaid: { count: number; minor: bigint }
}

/**
 * Debits since a day that keep files back: those that nothing explains, and those that a person has explained although
 * they name a payout that is not paid here, or a payment file that was lost.
 */
async function openDebits(
  db: Pool | Tx,
  account: BankAccount,
  from: Day,
  restoredAt: Date,
): Promise<OpenDebit[]> {
  const { rows } = await db.query<Debit>(
    `select m.movement_id, m.amount, m.booked_on, m.state, m.text, ${idsOfReports} as ids
     from bank_movements m where m.account = $1 and m.amount < 0 and m.booked_on >= $2
       and (m.state <> 'booked' or m.explained_by <> 'payout')
     order by m.booked_on, m.movement_id`,
    [account.name, from],
  )
  const codes = rows.map(codesOf)
  const unpaid = await unpaidHere(db, codes.flat())
  const lost = await lostFiles(db, rows.flatMap(messageIdsOf))
  const waiting = lost.size > 0 ? await waitingSince(db, account, restoredAt) : []
  return rows.flatMap((debit, index): OpenDebit[] => {
    const { movement_id: movementId, amount, booked_on, state } = debit
    const own = codes[index] ?? []
    const unpaidOnes = own.flatMap((code) => unpaid.get(code) ?? [])
    const files = messageIdsOf(debit).filter((each) => lost.has(each))
    if (state === 'booked' && unpaidOnes.length === 0 && files.length === 0) return []
    const what = `The debit of ${decimalText(-amount, account.currency)} on ${booked_on} (movement ${movementId})`
    const candidates = files.length > 0 && state !== 'booked' ? within(waiting, -amount) : []
    const mayHavePaid = { count: candidates.length, minor: sumOf(candidates) }
    const isForPeople = unpaidOnes.every(({ waits }) => !waits)
    const named = unpaidOnes.map(({ txn }) => txn).join(', ')
    const words =
      unpaidOnes.length > 0
        ? `${what} names ${named}, which ${isForPeople ? 'is not paid' : 'waits'} here: make a file of what the bank has debited, and have it approved.`
        : files.length > 0
          ? `${what} is of payment file ${files.join(', ')}, which is lost: find out which withdrawals it paid${mayHavePaid.count > 0 ? `, make a file of them ("sluice payout-file draft ${account.name} --movement ${movementId} --withdrawals ..."), and have it approved. ${mayHavePaid.count} that wait here may be among them, of ${decimalText(mayHavePaid.minor, account.currency)} together` : ''}.`
          : own.length > 0
            ? `${what} names ${own.join(', ')}, which nobody knows here: say what it was.`
            : `${what} is not explained yet.`
    const toName = [movementId, ...(mayHavePaid.count > 0 ? files : [])]
    const debited = { movementId, amountMinor: -amount, bookedOn: booked_on }
    return [{ ...debited, words, isForPeople, toName, mayHavePaid }]
  })
}

/**
 * Refuses to say that a debit was something else which names a payment file of ours that is lost, while withdrawals wait
 * that it may have paid.
 */
export async function refuseIfOfLostFile(
  db: Pool | Tx,
  account: BankAccount,
  movementId: string,
): Promise<void> {
  const debit = await findDebit(db, account.name, movementId)
  if (debit?.state !== 'unexplained') return
  const [file] = await lostFiles(db, messageIdsOf(debit))
  if (file === undefined) return
  const { rows } = await db.query<{ at: Date | null }>('select max(marked_at) as at from restores')
  const at = rows[0]?.at ?? null
  // Without a restore nothing is lost: it is the file of another service.
  if (at === null || within(await waitingSince(db, account, at), -debit.amount).length === 0) return
  throw new Problem(
    'invalid_transition',
    `It is of payment file ${file}, which is not known here: make a file of the withdrawals that it paid, and have it approved.`,
  )
}

/** A debit that waits for an explanation, with the lost payment file that it is of. */
export async function findLostSum(
  db: Pool | Tx,
  account: string,
  movementId: string,
): Promise<{ amountMinor: bigint; messageId: string } | undefined> {
  const debit = await findDebit(db, account, movementId)
  if (debit?.state !== 'unexplained') return undefined
  const [messageId] = await lostFiles(db, messageIdsOf(debit))
  return messageId === undefined ? undefined : { amountMinor: -debit.amount, messageId }
}

async function findDebit(
  db: Pool | Tx,
  account: string,
  movementId: string,
): Promise<Debit | undefined> {
  const { rows } = await db.query<Debit>(
    `select m.movement_id, m.amount, m.booked_on, m.state, m.text, ${idsOfReports} as ids
     from bank_movements m where m.account = $1 and m.movement_id = $2 and m.amount < 0`,
    [account, movementId],
  )
  return rows[0]
}

/** The withdrawals that wait and that an account may have paid in time that was lost: they were there before a moment. */
async function waitingSince(
  db: Pool | Tx,
  { currency }: Pick<BankAccount, 'currency'>,
  before: Date,
): Promise<WaitingWithdrawal[]> {
  const waiting = await waitingWithdrawals(db)
  return waiting.filter((each) => each.currency === currency && each.createdAt <= before)
}

/** Those that a debit may have paid: none that is more than it, so that a bank's fee has paid none. */
function within(waiting: readonly WaitingWithdrawal[], amountMinor: bigint): WaitingWithdrawal[] {
  return waiting.filter((each) => each.amountMinor <= amountMinor)
}

/** The message ids of payment files of ours that a debit names. */
function messageIdsOf({ text, ids }: Pick<Debit, 'text' | 'ids'>): string[] {
  return `${text} ${ids ?? ''}`.toUpperCase().match(/\bPF[0-9A-Z]{25,27}\b/g) ?? []
}

/** Of message ids those of no file that is known here, of whatever account: a fee may be debited at another. */
async function lostFiles(
  db: Pool | Tx,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (messageIds.length === 0) return new Set()
  const { rows } = await db.query<{ message_id: string }>(
    'select message_id from payout_file_seals where message_id = any($1::text[])',
    [messageIds],
  )
  const known = new Set(rows.map(({ message_id }) => message_id))
  return new Set(messageIds.filter((each) => !known.has(each)))
}

/** What the reports of a movement `m` say its ids are, as one JSON text. */
const idsOfReports = `(select string_agg(r.ids, ' ') from bank_reports r
  where r.account = m.account and r.movement_id = m.movement_id)`

function codesOf({ text, ids }: Pick<Debit, 'text' | 'ids'>): string[] {
  const said = [...(ids ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, each]) => each ?? '')
  return findPaymentCodes([text, ...said])
}

/** Of payment codes those of payouts that are not paid here, with the orders that they would pay. */
async function unpaidHere(
  db: Pool | Tx,
  codes: readonly string[],
): Promise<ReadonlyMap<string, { txn: string; waits: boolean }>> {
  const unpaid = new Map<string, { txn: string; waits: boolean }>()
  if (codes.length === 0) return unpaid
  // What failed and came back is even.
  const { rows } = await db.query<{ reference: string; agent_id: bigint; order_id: string }>(
    `select i.reference, i.agent_id, replace(i.order_id::text, '-', '') as order_id
     from payout_items i where i.reference = any($1::text[])
       and i.state not in ('paid', 'returned') and i.returned_by is null`,
    [codes],
  )
  for (const { reference, agent_id, order_id } of rows) {
    unpaid.set(reference, { txn: txnId(agent_id, order_id), waits: false })
  }
  const wanted = new Set(codes)
  for (const { agentId, orderId, attempt } of await waitingWithdrawals(db)) {
    const code = referencesOf(agentId, orderId, attempt).find((each) => wanted.has(each))
    if (code !== undefined) unpaid.set(code, { txn: txnId(agentId, orderId), waits: true })
  }
  return unpaid
}

interface WaitingWithdrawal {
  agentId: bigint
  orderId: string
  attempt: number
  currency: string
  amountMinor: bigint
  createdAt: Date
}

/** Withdrawals that nobody has: their codes follow from their ids. */
async function waitingWithdrawals(db: Pool | Tx): Promise<WaitingWithdrawal[]> {
  const { rows } = await db.query<WaitingWithdrawal>(
    `select w.agent_id as "agentId", o.* from wallets w cross join lateral (
       select replace(o.order_id::text, '-', '') as "orderId", o.version as attempt, o.currency,
         o.amount as "amountMinor", o.created_at as "createdAt"
       from orders o
       where o.agent_id = w.agent_id and o.status = 'WAITING' and o.kind = 'withdraw'
         and o.handed_over_at is null) o`,
  )
  return rows
}

/** How much left which account, as a debit says that nothing explains. */
export interface NamedDebit {
  account: string
  movementId: string
  amountMinor: bigint
  /** The bank has booked it for certain: it is on a statement that is trusted. */
  isCertain: boolean
}

/** What debits that nothing explains name, at any account, by code. */
export async function debitedCodes(db: Pool | Tx): Promise<ReadonlyMap<string, NamedDebit>> {
  const { rows } = await db.query<Debit & { account: string }>(
    `select m.account, m.movement_id, m.amount, m.state, m.text, ${idsOfReports} as ids
     from bank_movements m where m.amount < 0 and m.state in ('unexplained', 'new', 'unconfirmed')
     order by m.state = 'unexplained'`,
  )
  return new Map(
    rows.flatMap(({ account, movement_id: movementId, amount, state, text, ids }) => {
      const isCertain = state === 'unexplained'
      const debit = { account, movementId, amountMinor: -amount, isCertain }
      return codesOf({ text, ids }).map((code) => [code, debit] as const)
    }),
  )
}
