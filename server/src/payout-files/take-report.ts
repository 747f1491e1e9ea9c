import { createHash } from 'node:crypto'
import { raiseAlarm } from '../approvals/alarms.ts'
import { findBankAccount } from '../bank-accounts/bank-account.ts'
import type { Mode } from '../db/deployment.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import { inParallel } from '../lib/in-parallel.ts'
import { Problem } from '../lib/problem.ts'
import { audited, type Outsider, writeAudit } from '../operators/audit.ts'
import { credentialsOf, nobody, tieBetween } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import {
  type ItemOutcome,
  inDoubt,
  itemOutcomes,
  type ReportBreak,
} from '../payment-files/item-outcomes.ts'
import { readStatusReport } from '../payment-files/pain002.ts'
import { type Effect, type PayoutDesk, settle } from '../payouts/pay-out.ts'
import { findPayout } from '../payouts/payouts.ts'
import type { PayoutOutcome } from '../providers/provider.ts'
import { followOrders } from './follow-orders.ts'
import {
  findPayoutFile,
  lockFile,
  type PayoutFile,
  type PayoutItem,
  readItems,
  readItemsLeft,
  readSeal,
  setState,
  wrongState,
} from './payout-file.ts'

const atOnce = 64

/** What a report of the bank says about the items of a file. */
export interface ReadReport {
  /** By reference. */
  outcomes: Map<string, ItemOutcome>
  breaks: ReportBreak[]
}

/** What a report changed, and what waits for a second person. */
export interface TakenReport extends ReadReport {
  reportId: string
  isRepeat: boolean
}

/** Reads what a report says about a file. Nothing is changed. Throws a `BankFileFault` if it cannot be read. */
export async function readReport(db: Pool, file: PayoutFile, bytes: Buffer): Promise<ReadReport> {
  const seal = await readSeal(db, file)
  if (!seal) throw wrongState(file, 'answered by the bank')
  const report = await readStatusReport(bytes)
  const items = await readItemsLeft(db, file)
  const { outcomes, breaks } = itemOutcomes(report, {
    messageId: seal.messageId,
    batchReference: seal.messageId,
    debtor: { currency: file.currency },
    items: items.flatMap(({ reference, amountMinor }) =>
      reference === null ? [] : [{ code: reference, amountMinor }],
    ),
  })
  for (const { reference, state } of items) {
    const told = outcomes.get(reference ?? '')
    if (told && reference !== null) outcomes.set(reference, inDoubt(told, state))
  }
  return { outcomes, breaks }
}

/**
 * Takes what the bank answered to a file. What it accepted counts at once, and so does what it paid, if the account
 * trusts that; else paid is accepted until the debit is booked. A refusal releases money, so it does not count yet:
 * `rejectItems` is for when a second person has confirmed it. A duplicate is unknown. Where it is about real money,
 * nobody makes a payout PAID alone: for who downloaded the file, paid is accepted as well. Mode `bank`: it is the
 * bank's own word, and nobody's.
 */
export async function takeStatusReport(
  desk: PayoutDesk,
  file: PayoutFile,
  bytes: Buffer,
  by: Operator | Outsider,
  mode: Mode | 'bank',
): Promise<TakenReport> {
  if (file.state === 'approved')
    throw wrongState(file, 'answered by the bank before it is exported')
  const read = await readReport(desk.pool, file, bytes)
  const account = await findBankAccount(desk.pool, file.account)
  const isAlone = mode === 'live' && (await hasDownloaded(desk.pool, file, by))
  if (!account?.payoutTrustsPaid || isAlone) {
    for (const [reference, told] of read.outcomes) {
      if (told.outcome === 'paid') read.outcomes.set(reference, { ...told, outcome: 'accepted' })
    }
  }
  if (mode === 'bank' && (await hasCopies(desk.pool, file))) doubtRefusals(read.outcomes)
  const { reportId, isRepeat } = await inTransaction(desk.pool, (tx) =>
    keepReport(tx, file, bytes, read, by, desk.now()),
  )
  await alarmOf(desk, file, reportId, read, by, mode)
  await settleItems(desk, file, read.outcomes, 'paid')
  await noteOpen(desk, file, read.outcomes)
  await followOrders(desk.pool, file)
  return { reportId, isRepeat, ...read }
}

/**
 * Takes an answer that was fetched from the bank itself: refusals count at once as well, unless they are of a file that
 * was given out more than once. Returns what it said, in words; undefined if it is about no file of the account.
 */
export async function takeBankAnswer(
  desk: PayoutDesk,
  account: string,
  messageId: string | null,
  bytes: Buffer,
  by: Outsider,
): Promise<string | undefined> {
  const found = await fileOfMessage(desk.pool, account, messageId)
  if (!found) return undefined
  const { file } = found
  const stray = await keepStray(desk, file, found.round, bytes, by)
  if (stray !== undefined) return stray
  const taken = await takeStatusReport(desk, file, bytes, by, 'bank')
  const refused = refusedIn(taken, await readItems(desk.pool, file))
  if (refused.length > 0) {
    const entry = {
      operator: by,
      action: 'reject_payouts',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      before: { report: taken.reportId },
      reason: "The bank's answer refuses them.",
    }
    await audited(desk.pool, desk.now, entry, () => rejectItems(desk, file, taken.reportId))
  }
  const counts = (['accepted', 'paid', 'unknown'] as const).map((outcome) => {
    const told = [...taken.outcomes.values()].filter((each) => each.outcome === outcome)
    return `${told.length} ${outcome}`
  })
  return `${counts.join(', ')}, ${refused.length} refused, ${taken.breaks.length} that fit nothing`
}

/** The file whose bytes have a message id, and in which round they were sealed. */
async function fileOfMessage(
  pool: Pool,
  account: string,
  messageId: string | null,
): Promise<{ file: PayoutFile; round: number } | undefined> {
  const { rows } = await pool.query<{ file_id: string; round: number }>(
    'select file_id, round from payout_file_seals where account = $1 and message_id = $2',
    [account, messageId],
  )
  const [seal] = rows
  const file = seal && (await findPayoutFile(pool, seal.file_id))
  return file && { file, round: seal.round }
}

/**
 * Keeps an answer about bytes that nobody has had, as far as is known here: the database is an old one, or somebody got
 * them by other means. It changes nothing, every admin is alarmed, and the file stays here (`whyAnswered`). Returns
 * undefined if somebody has had them.
 */
async function keepStray(
  desk: PayoutDesk,
  named: PayoutFile,
  round: number,
  bytes: Buffer,
  by: Outsider,
): Promise<string | undefined> {
  const at = desk.now()
  return inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, named)
    const { rows: downloads } = await tx.query(
      `select 1 from payout_file_downloads
       where account = $1 and file_id = $2 and round = $3 limit 1`,
      [file.account, file.fileId, round],
    )
    if (downloads.length > 0) return undefined
    const { originalMessageId: found } = await readStatusReport(bytes)
    const breaks = [{ what: 'never_left', found: found ?? '', code: null } as const]
    const { reportId } = await keepReport(tx, file, bytes, { outcomes: new Map(), breaks }, by, at)
    const said = `The bank speaks of payout file ${file.fileId} of ${file.account} (${found}), and nobody has had these bytes here`
    const words = `${said}: either the database was restored from a backup, or somebody got them by other means. Ask the bank what it has. Nothing of this file leaves until you run "sluice doctor --after-restore" and the account's statements have shown what was paid since.`
    await raiseAlarm(tx, { id: reportId, at, by: by.email, words })
    return `${said}.`
  })
}

/** The account whose file has this message id, if one has. */
export async function accountOfMessage(
  pool: Pool,
  messageId: string | null,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ account: string }>(
    'select account from payout_file_seals where message_id = $1 limit 1',
    [messageId],
  )
  return rows[0]?.account
}

/** Whether the bank may have been brought a file more than once. */
async function hasCopies(pool: Pool, { account, fileId }: PayoutFile): Promise<boolean> {
  const { rows } = await pool.query(
    'select 1 from payout_file_downloads where account = $1 and file_id = $2 and n > 1 limit 1',
    [account, fileId],
  )
  return rows.length > 0
}

/** Any refusal may be about a second copy, also one of each payment (the first copy took the cover). */
function doubtRefusals(outcomes: Map<string, ItemOutcome>): void {
  for (const [reference, told] of outcomes) {
    const endsIt = told.outcome === 'rejected' || told.outcome === 'cancelled'
    if (endsIt) outcomes.set(reference, { ...told, outcome: 'unknown' })
  }
}

/**
 * Whether a person has had the file, or could have had it as somebody else: one of the two has reset or invited the
 * other. Anyone may have typed a command.
 */
async function hasDownloaded(
  pool: Pool,
  { account, fileId }: PayoutFile,
  { userId }: Operator | Outsider,
): Promise<boolean> {
  if (userId === null) return true
  const { rows } = await pool.query<{ downloaded_by: bigint }>(
    'select distinct downloaded_by from payout_file_downloads where account = $1 and file_id = $2',
    [account, fileId],
  )
  const had = rows.map((row) => row.downloaded_by)
  const credentials = await credentialsOf(pool, [userId, ...had])
  const signed = (id: bigint) => ({ userId: id, resetBy: credentials(id).resetBy })
  return had.some(
    (id) => id === userId || tieBetween(signed(id), signed(userId), 'them') !== undefined,
  )
}

/** The items that a report says are refused and that the books have not ended so. */
export function refusedIn(
  { outcomes }: ReadReport,
  items: readonly PayoutItem[],
): { item: PayoutItem; outcome: ItemOutcome }[] {
  return items.flatMap((item) => {
    const outcome = outcomes.get(item.reference ?? '')
    const isRefusal = outcome?.outcome === 'rejected' || outcome?.outcome === 'cancelled'
    return isRefusal && item.state !== outcome.outcome ? [{ item, outcome }] : []
  })
}

/** Ends the items that a report refuses, after a second person has confirmed that. */
export async function rejectItems(
  desk: PayoutDesk,
  file: PayoutFile,
  reportId: string,
): Promise<void> {
  const read = await readReport(desk.pool, file, await bytesOf(desk.pool, file, reportId))
  await settleItems(desk, file, read.outcomes, 'rejected')
  await settleItems(desk, file, read.outcomes, 'cancelled')
  await followOrders(desk.pool, file)
}

export async function bytesOf(
  pool: Pool,
  { account, fileId }: PayoutFile,
  reportId: string,
): Promise<Buffer> {
  const { rows } = await pool.query<{ bytes: Buffer }>(
    `select bytes from payout_file_reports
     where account = $1 and file_id = $2 and report_id = $3`,
    [account, fileId, reportId],
  )
  if (!rows[0]) throw new Problem('not_found', 'There is no such report of the bank.')
  return rows[0].bytes
}

/** How many of an answer's breaks are kept with it: one that fits nothing may have thousands. */
const mostBreaks = 50

async function keepReport(
  tx: Tx,
  named: PayoutFile,
  bytes: Buffer,
  { outcomes, breaks }: ReadReport,
  by: Operator | Outsider,
  at: Date,
): Promise<{ reportId: string; isRepeat: boolean }> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file = await lockFile(tx, named)
  const { rows } = await tx.query<{ report_id: string }>(
    `select report_id from payout_file_reports
     where account = $1 and file_id = $2 and sha256 = $3`,
    [file.account, file.fileId, sha256],
  )
  if (rows[0]) return { reportId: rows[0].report_id, isRepeat: true }
  const reportId = newOrderId(at)
  const kept = breaks
    .slice(0, mostBreaks)
    .map(({ found, ...each }) => ({ ...each, found: found.replaceAll('\0', '').slice(0, 100) }))
  await tx.query(
    `insert into payout_file_reports
       (account, file_id, report_id, sha256, bytes, brought_by, bringer, at, breaks)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      file.account,
      file.fileId,
      reportId,
      sha256,
      bytes,
      by.userId ?? nobody,
      by.email,
      at,
      JSON.stringify(kept),
    ],
  )
  const isAnswer = outcomes.size > 0 && ['exported', 'sent'].includes(file.state)
  if (isAnswer) await setState(tx, file, 'acknowledged')
  await writeAudit(tx, {
    at,
    operator: by,
    action: 'take_payout_report',
    subject: { kind: 'payout_file', id: file.fileId },
    agentId: null,
    after: { report: reportId, items: outcomes.size, breaks: breaks.length },
  })
  return { reportId, isRepeat: false }
}

/** Brings one kind of outcome into the books, as a provider's word. */
async function settleItems(
  desk: PayoutDesk,
  file: PayoutFile,
  outcomes: ReadonlyMap<string, ItemOutcome>,
  kind: 'paid' | 'rejected' | 'cancelled',
): Promise<void> {
  const items = (await readItems(desk.pool, file)).filter(
    ({ reference, state }) => outcomes.get(reference ?? '')?.outcome === kind && state !== kind,
  )
  await inParallel(atOnce, items, async (item) => {
    const words = wordsOf(outcomes.get(item.reference ?? ''))
    const outcome: PayoutOutcome =
      kind === 'rejected'
        ? { type: 'rejected', mayTryAnother: false, reason: words }
        : { type: kind }
    await settleItem(desk, item, outcome)
    await say(desk.pool, item, words)
  })
}

/** Ends an item's payout in the books by what the bank says. Undefined if its order is archived. */
export async function settleItem(
  desk: PayoutDesk,
  { account, agentId, reference }: PayoutItem,
  outcome: PayoutOutcome,
): Promise<Effect | undefined> {
  const attempt = reference && (await findPayout(desk.pool, agentId, account, reference))
  return attempt ? settle(desk, attempt, outcome) : undefined
}

/** Notes what is no end: accepted, or unknown. What is unknown does not become accepted again: reports come late. */
async function noteOpen(
  desk: PayoutDesk,
  { account, fileId }: PayoutFile,
  outcomes: ReadonlyMap<string, ItemOutcome>,
): Promise<void> {
  const open = [...outcomes].filter(
    ([, { outcome }]) => outcome === 'unknown' || outcome === 'accepted',
  )
  // A file may have ten thousand: all at once, in the order in which others lock them.
  await desk.pool.query(
    `with told as (select i.n, u.words, u.state from payout_items i
       join unnest($3::text[], $4::text[], $5::text[]) u(reference, words, state)
         on i.account = $1 and i.file_id = $2 and i.reference = u.reference
       where i.state in ('waiting', 'accepted') or (i.state = 'unknown' and u.state = 'unknown')
       order by i.n for no key update of i)
     update payout_items i set said = told.words, state = told.state from told
     where i.account = $1 and i.file_id = $2 and i.n = told.n`,
    [
      account,
      fileId,
      open.map(([reference]) => reference),
      open.map(([, told]) => wordsOf(told)),
      open.map(([, { outcome }]) => outcome),
    ],
  )
}

/**
 * Alarms about payouts that the bank may be paying although it refuses a copy of them, or although we have given
 * their money back; and about what fits nothing in an answer that nobody was there to see. One alarm for each report,
 * however often it is brought.
 */
async function alarmOf(
  desk: PayoutDesk,
  file: PayoutFile,
  reportId: string,
  { outcomes, breaks }: ReadReport,
  by: Operator | Outsider,
  mode: Mode | 'bank',
): Promise<void> {
  const doubtful: string[] = []
  const revived: string[] = []
  for (const { reference, state, ended } of await readItems(desk.pool, file)) {
    const told = outcomes.get(reference ?? '')?.outcome
    if (reference === null || !told) continue
    const isAlive = told === 'accepted' || told === 'paid' || told === 'unknown'
    const isOver = state === 'rejected' || state === 'cancelled' || ended !== null
    if (isAlive && isOver) revived.push(reference)
    else if (told === 'unknown') doubtful.push(reference)
  }
  const unseen = mode === 'bank' ? breaks : []
  if (doubtful.length + revived.length + unseen.length === 0) return
  const words = [
    `The bank has answered about payout file ${file.fileId} (${file.account}).`,
    doubtful.length > 0 &&
      `It calls these duplicates, or refuses the whole file after it took it, or these while there are copies of it: ${named(doubtful)}. It may be paying a first copy, so their money stays held. Ask the bank whether the file was brought twice.`,
    revived.length > 0 &&
      `paid_after_failed: it has or pays these, which have failed here and whose money was given back: ${named(revived)}. Ask the bank to stop them.`,
    unseen.length > 0 &&
      `Parts of it fit nothing of the file, and changed nothing: ${named(unseen.map(({ what, found }) => `${what} ${found}`))}. Look at the answer, and ask the bank.`,
  ]
  await raiseAlarm(desk.pool, {
    id: reportId,
    at: desk.now(),
    by: by.email,
    words: words.filter(Boolean).join(' ').replaceAll('\0', ''),
  })
}

function named(references: readonly string[]): string {
  const more = references.length > 5 ? ` and ${references.length - 5} more` : ''
  return references.slice(0, 5).join(', ') + more
}

/** What the bank said of an item, in words. */
async function say(pool: Pool, { account, fileId, n }: PayoutItem, words: string): Promise<void> {
  await pool.query(
    'update payout_items set said = $4 where account = $1 and file_id = $2 and n = $3',
    [account, fileId, n, words],
  )
}

export function wordsOf(told: ItemOutcome | undefined): string {
  if (!told) return '-'
  const reasons = told.reasons.map(({ code, text }) => [code, text].filter(Boolean).join(' '))
  const waits = told.waitsForAnswer
    ? ['the name of the payee does not fit, and the bank waits for an answer']
    : []
  return [told.status, ...reasons, ...waits]
    .filter(Boolean)
    .join(': ')
    .replaceAll('\0', '')
    .slice(0, 1_000)
}
