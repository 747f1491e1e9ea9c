import { raiseAlarm } from '../approvals/alarms.ts'
import type { BankMovement } from '../bank-accounts/bank-movement.ts'
import { plainAccountNo } from '../bank-accounts/expected-deposits.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { findOrder } from '../ledger/find-order.ts'
import { inParallel } from '../lib/in-parallel.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import type { Day } from '../statements/statement.ts'
import { followOrders } from './follow-orders.ts'
import { endedSql, type PayoutItem, selectedItem } from './payout-file.ts'
import { settleItem } from './take-report.ts'

/** A movement, with everything that may name a payout. */
export interface NamingMovement {
  movementId: string
  amountMinor: bigint
  bookedOn: Day
  isReturn: boolean
  payerAccountNo: string | null
  /** The payment codes in its texts and ids. */
  codes: readonly string[]
  /** The bank's ids of the batch or message that it belongs to. */
  batches: readonly string[]
  /** What the bank says that it charged with it. */
  charges: readonly bigint[]
}

/** The items that a movement pays or gives back, or in words why that is for a person. */
export type ItemMatch =
  | { references: string[]; detail: string; chargesMinor?: bigint }
  | { fault: string; isAlarm: boolean }

/** How many files are looked at for a debit of a whole file that names none. */
const mostFiles = 100

/** Finds the payouts that debits of an account are, for those that name one or are the sum of a file. */
export async function matchItemDebits(
  db: Pool | Tx,
  account: string,
  debits: readonly NamingMovement[],
  /** Whether a person says that what is more than the payout is the bank's charge for it. */
  isRestCharge = false,
): Promise<Map<string, ItemMatch>> {
  const matches = new Map<string, ItemMatch>()
  const items = await itemsNamed(db, account, debits)
  const taken = new Map(items.map((item) => [item.reference, item.debitedBy]))
  const sums = await sumsAmong(db, account, [...taken.values()])
  for (const debit of debits) {
    const own = items.filter(({ reference }) => debit.codes.includes(reference ?? ''))
    const [one, two] = own
    if (!one) continue
    const { reference, amountMinor } = one
    if (two || reference === null) {
      matches.set(debit.movementId, { fault: 'It names several payouts.', isAlarm: false })
      continue
    }
    const before = taken.get(reference) ?? null
    if (before !== null && before !== debit.movementId) {
      const fault = `paid_twice: the bank has debited payout ${reference} before, by movement ${before}.`
      const isPart = sums.has(before)
      matches.set(debit.movementId, isPart ? partOf(reference, before) : { fault, isAlarm: true })
      continue
    }
    const rest = -debit.amountMinor - amountMinor
    const isCharge = rest > 0n && (isRestCharge || debit.charges.includes(rest))
    if (rest !== 0n && !isCharge) {
      const fault = `amount_differs: it names payout ${reference}, which is of ${amountMinor} in minor units.`
      matches.set(debit.movementId, { fault, isAlarm: false })
    } else {
      taken.set(reference, debit.movementId)
      const more = rest === 0n ? '' : ', with what the bank charges for it'
      const detail = `It is payout ${reference}${more}.`
      matches.set(debit.movementId, { references: [reference], detail, chargesMinor: rest })
    }
  }
  for (const debit of debits) {
    if (matches.has(debit.movementId) || debit.isReturn) continue
    const match = await matchBatch(db, account, debit)
    if (match) matches.set(debit.movementId, match)
  }
  return matches
}

/** The bank told of a whole file in one sum before it told of its payouts. */
function partOf(reference: string, sum: string): ItemMatch {
  const fault = `Payout ${reference} is in the sum of a payout file, movement ${sum}.`
  return { fault, isAlarm: false }
}

/** Which of these movements are debits of several payouts. */
async function sumsAmong(
  db: Pool | Tx,
  account: string,
  movementIds: readonly (string | null)[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ debited_by: string }>(
    `select debited_by from payout_items where account = $1 and debited_by = any($2::uuid[])
     group by debited_by having count(*) > 1`,
    [account, movementIds.filter((each) => each !== null)],
  )
  return new Set(rows.map(({ debited_by }) => debited_by))
}

/** Finds the payouts that came back by credits of an account. Never by the amount alone. */
export async function matchItemReturns(
  db: Pool | Tx,
  account: string,
  credits: readonly NamingMovement[],
): Promise<Map<string, ItemMatch>> {
  const matches = new Map<string, ItemMatch>()
  const named = await itemsNamed(db, account, credits)
  for (const credit of credits) {
    const byCode = named.filter(({ reference }) => credit.codes.includes(reference ?? ''))
    const found =
      byCode.length > 0 || !credit.isReturn ? byCode : await likelyItems(db, account, credit)
    const [one, two] = found
    if (!one || one.reference === null) continue
    if (two) {
      matches.set(credit.movementId, {
        fault: 'Several payouts may have come back.',
        isAlarm: false,
      })
    } else if (one.returnedBy !== null && one.returnedBy !== credit.movementId) {
      const fault = `Payout ${one.reference} has come back before, by movement ${one.returnedBy}.`
      matches.set(credit.movementId, { fault, isAlarm: false })
    } else if (one.amountMinor !== credit.amountMinor) {
      const fault = `amount_differs: it gives back payout ${one.reference}, which was of ${one.amountMinor} in minor units.`
      matches.set(credit.movementId, { fault, isAlarm: false })
    } else {
      const detail = `Payout ${one.reference} came back.`
      matches.set(credit.movementId, { references: [one.reference], detail })
    }
  }
  return matches
}

async function itemsNamed(
  db: Pool | Tx,
  account: string,
  movements: readonly NamingMovement[],
): Promise<PayoutItem[]> {
  const codes = [...new Set(movements.flatMap((each) => each.codes))]
  if (codes.length === 0) return []
  const { rows } = await db.query<PayoutItem>(
    `select ${selectedItem} from payout_items i
     where i.account = $1 and i.reference = any($2::text[])`,
    [account, codes],
  )
  return rows
}

/**
 * A debit of a whole file: the one that it names, else the only one of its sum and day. One that names none may be
 * anything, so it is a file only if the bank has that, of several payouts, and none of them is debited yet; and never the
 * rest of one that some have been given up of: it may be one of these.
 */
async function matchBatch(
  db: Pool | Tx,
  account: string,
  debit: NamingMovement,
): Promise<ItemMatch | undefined> {
  const { movementId, amountMinor, bookedOn, batches } = debit
  const lost = await matchLostFile(db, account, debit)
  if (lost) return lost
  const { rows } = await db.query<{
    file_id: string
    named: boolean
    sum: bigint
    rest: bigint
    whole: boolean
  }>(
    `select s.file_id, upper(s.message_id) = any($3::text[]) as named, i.sum, i.rest,
       s.items > 1 and i.debited = 0 and f.state in ('sent', 'acknowledged', 'closed') as whole
     from payout_file_seals s join payout_files f
         on f.account = s.account and f.file_id = s.file_id and f.round = s.round,
       lateral (select coalesce(sum(i.amount) filter (where ${isExpected}), 0)::bigint as sum,
           coalesce(sum(i.amount) filter (where ${isExpected} and ${endedSql} is null), 0)::bigint as rest,
           count(*) filter (where i.debited_by <> $2) as debited
         from payout_items i where i.account = s.account and i.file_id = s.file_id) i
     where s.account = $1 and (upper(s.message_id) = any($3::text[])
       or (s.execution_date = $4 and f.state <> 'approved'))
     order by s.file_id desc limit ${mostFiles}`,
    [account, movementId, batches.map((each) => each.toUpperCase()), bookedOn],
  )
  const named = rows.filter((row) => row.named)
  const fitting =
    named.length > 0 ? named : rows.filter(({ sum, whole }) => whole && sum === -amountMinor)
  const [one, two] = fitting
  if (!one) return undefined
  if (two) return { fault: 'Several payout files fit it.', isAlarm: false }
  if (one.sum !== -amountMinor && one.rest !== -amountMinor) {
    const fault = `amount_differs: it names payout file ${one.file_id}, of which ${one.sum} is open in minor units.`
    return { fault, isAlarm: false }
  }
  const { rows: items } = await db.query<{ reference: string }>(
    `select i.reference from payout_items i
     where i.account = $1 and i.file_id = $3 and ${isExpected}
       and ($4 or ${endedSql} is null)`,
    [account, movementId, one.file_id, one.sum === -amountMinor],
  )
  const references = items.map(({ reference }) => reference)
  return { references, detail: `It is payout file ${one.file_id}.` }
}

/** A debit of which two people said what it paid: all that they approved last, once it is handed over. */
async function matchLostFile(
  db: Pool | Tx,
  account: string,
  { movementId, amountMinor }: Pick<NamingMovement, 'movementId' | 'amountMinor'>,
): Promise<ItemMatch | undefined> {
  const { rows } = await db.query<{ file_id: string; references: string[]; sum: bigint }>(
    `select f.file_id, array_agg(i.reference) as references, l.amount as sum from payout_files f
     join payout_file_lists l
       on l.account = f.account and l.file_id = f.file_id and l.round = f.round
     join payout_items i on i.account = f.account and i.file_id = f.file_id and i.state <> 'dropped'
     where f.account = $1 and f.debit = $2 and f.state = 'approving'
     group by f.file_id, l.items, l.amount
     having count(i.reference) = l.items and count(*) = l.items and sum(i.amount) = l.amount`,
    [account, movementId],
  )
  const [file] = rows
  if (!file || file.sum > -amountMinor) return undefined
  return {
    references: file.references,
    detail: `It is what payout file ${file.file_id} says.`,
    chargesMinor: -amountMinor - file.sum,
  }
}

/**
 * An item that the debit `$2` of its file may contain: also one that two people said the bank has not paid, which it then
 * contains with all of its kind, or without any.
 */
const isExpected = `i.reference is not null and coalesce(i.debited_by, $2) = $2
  and case ${endedSql} when 'taken_out' then false when 'abandoned' then true
    else i.state not in ('rejected', 'cancelled') end`

/**
 * What a return without a code may be: the only item of a file that it names, or of this payee and amount. Only what the
 * bank may have paid comes back.
 */
async function likelyItems(
  db: Pool | Tx,
  account: string,
  { amountMinor, payerAccountNo, batches }: NamingMovement,
): Promise<PayoutItem[]> {
  const { rows } = await db.query<PayoutItem>(
    `select ${selectedItem} from payout_items i
     join payout_files f on f.account = i.account and f.file_id = i.file_id
     join payout_file_seals s on s.account = f.account and s.file_id = f.file_id and s.round = f.round
     where i.account = $1 and i.reference is not null and s.items = 1
       and upper(s.message_id) = any($2::text[]) and ${endedSql} is distinct from 'taken_out'`,
    [account, batches.map((each) => each.toUpperCase())],
  )
  if (rows.length > 0 || payerAccountNo === null) return rows
  const { rows: paid } = await db.query<PayoutItem & { payee: string }>(
    `select ${selectedItem}, l.payee_account_no as payee from payout_items i
     join payout_file_lines l on l.account = i.account and l.file_id = i.file_id and l.n = i.n
     where i.account = $1 and i.amount = $2 and i.reference is not null and i.returned_by is null
       and (i.debited_by is not null or i.state in ('accepted', 'unknown', 'paid', 'returned')
         or (i.state = 'waiting' and exists (select 1 from payout_file_downloads d
           where d.account = i.account and d.file_id = i.file_id)))
       and ${endedSql} is distinct from 'taken_out'
     order by i.file_id desc limit 1000`,
    [account, amountMinor],
  )
  const payer = plainAccountNo(payerAccountNo)
  return paid.filter(({ payee }) => plainAccountNo(payee) === payer)
}

/**
 * Writes to the items that a movement is their debit or their return, with the decision on the movement. Returns
 * false if another movement was first with one of them: then none is written.
 */
export async function linkItems(
  tx: Tx,
  account: string,
  movementId: string,
  references: readonly string[],
  as: 'debited_by' | 'returned_by',
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from payout_items
     where account = $1 and reference = any($3::text[]) and coalesce(${as}, $2) = $2
     order by file_id, n for update`,
    [account, movementId, references],
  )
  if (rowCount !== references.length) return false
  await tx.query(
    `update payout_items set ${as} = $2 where account = $1 and reference = any($3::text[])`,
    [account, movementId, references],
  )
  return true
}

const atOnce = 64

/**
 * Brings the items of a booked debit into the books as paid, or those of a credit as come back. The items follow by
 * `followMovements`, for many movements at once: a file may have ten thousand.
 */
export async function settleMovement(
  desk: PayoutDesk,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  as: 'debited_by' | 'returned_by',
): Promise<void> {
  const { rows: items } = await desk.pool.query<PayoutItem>(
    `select ${selectedItem} from payout_items i where i.account = $1 and i.${as} = $2`,
    [account, movementId],
  )
  const contradicted: string[] = []
  await inParallel(atOnce, items, async (item) => {
    if (as === 'returned_by') return settleReturn(desk, item)
    const isContradicted = await settleDebit(desk, item)
    if (isContradicted && item.reference !== null) contradicted.push(item.reference)
  })
  if (as === 'returned_by') return
  const strays = await neverHad(desk.pool, account, movementId)
  if (contradicted.length + strays.length === 0) return
  await alarmOfPaid(desk, account, movementId, contradicted.sort(), strays)
}

/** The order that bears what a movement debits more than its payouts: that of the first of them. */
export async function payoutOf(
  pool: Pool,
  account: string,
  movementId: string,
): Promise<{ agentId: bigint; orderId: string }> {
  const { rows } = await pool.query<{ agentId: bigint; orderId: string }>(
    `select agent_id as "agentId", order_id as "orderId" from payout_items
     where account = $1 and debited_by = $2 order by file_id, n limit 1`,
    [account, movementId],
  )
  const [one] = rows
  if (!one) throw new Error(`movement ${movementId} of ${account} is no payout`)
  return one
}

/** The files of which a movement debits payouts although nobody has had their bytes. */
async function neverHad(pool: Pool, account: string, movementId: string): Promise<string[]> {
  const { rows } = await pool.query<{ file_id: string }>(
    `select distinct f.file_id from payout_items i
     join payout_files f on f.account = i.account and f.file_id = i.file_id
     where i.account = $1 and i.debited_by = $2 and not f.already_paid
       and not exists (select 1 from payout_file_downloads d
         where d.account = i.account and d.file_id = i.file_id)`,
    [account, movementId],
  )
  return rows.map(({ file_id }) => file_id)
}

/** Brings the items of files to the state of their orders, after movements of these files were booked. */
export async function followMovements(
  pool: Pool,
  account: string,
  movementIds: readonly string[],
): Promise<void> {
  if (movementIds.length === 0) return
  const { rows } = await pool.query<{ file_id: string }>(
    `select file_id from payout_items where account = $1 and debited_by = any($2::uuid[])
     union select file_id from payout_items where account = $1 and returned_by = any($2::uuid[])`,
    [account, movementIds],
  )
  for (const { file_id: fileId } of rows) await followOrders(pool, { account, fileId })
}

/** Returns whether the money had been given back before, or two people had said that the bank does not have it. */
async function settleDebit(desk: PayoutDesk, item: PayoutItem): Promise<boolean> {
  // Paid, and maybe back: the debit is told again, or late. What is back contradicts nothing: banks book a payout that
  // they refuse out and in, and may tell of the return first.
  if (item.state === 'paid' || item.state === 'returned' || item.returnedBy !== null) return false
  const effect = await settleItem(desk, item, { type: 'paid' })
  return effect?.result === 'waiting' || item.ended !== null
}

/** One alarm for each debit, however often it is looked at. */
async function alarmOfPaid(
  desk: PayoutDesk,
  account: string,
  movementId: string,
  references: readonly string[],
  strays: readonly string[],
): Promise<void> {
  const more = references.length > 5 ? ` and ${references.length - 5} more` : ''
  const named = references.slice(0, 5).join(', ') + more
  const words = [
    references.length > 0 &&
      `paid_after_failed: the bank has debited payouts that had failed, were taken out of their file or were said never to have been brought or paid: ${named}. Look at the open items.`,
    strays.length > 0 &&
      `The bank has debited payouts of payout file ${strays.join(', ')}, which nobody has had here: was the database restored from a backup? Then run "sluice doctor --after-restore".`,
    `It is movement ${account}:${movementId}.`,
  ]
  await raiseAlarm(desk.pool, {
    id: movementId,
    at: desk.now(),
    by: account,
    words: words.filter(Boolean).join(' '),
  })
}

/**
 * What failed stays failed: its money went out and came back. If the debit came before, it opened an item, which says now
 * that the money is back.
 */
async function settleReturn(desk: PayoutDesk, item: PayoutItem): Promise<void> {
  const order = await findOrder(desk.pool, item.agentId, item.orderId)
  const isPaidHere = order?.status === 'PAID' || order?.status === 'WAITING'
  if (isPaidHere || item.debitedBy !== null) await settleItem(desk, item, { type: 'returned' })
}
