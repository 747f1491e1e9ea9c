import { type Columns, columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import { newOrderId } from '../lib/ids.ts'
import type { BankIds, Day } from '../statements/statement.ts'
import type { BankAccount } from './bank-account.ts'
import { type BankMovement, movementColumns, paymentIdOf } from './bank-movement.ts'
import type { BankReport, ReportSource } from './bank-report.ts'
import { codesIn, type FindCodes } from './find-codes.ts'
import {
  codedTexts,
  holidaysIn,
  type KnownMovement,
  mostDaysFrom,
  type NamedOrder,
  type PageOfStatement,
  pairReports,
} from './pair-reports.ts'
import { findLateBatches, type SumOfPayments, splitBatches, splitReport } from './split-batches.ts'

interface ReportRow {
  account: string
  source: ReportSource
  reportKey: string
  movementId: string
  fileId: string | null
  statementId: string | null
  line: number | null
  amountMinor: bigint
  bookedOn: Day
  bookedAt: Date | null
  balanceAfterMinor: bigint | null
  chargesMinor: bigint
  ids: string
  text: string
  payerAccountNo: string | null
  isReturn: boolean | null
  isTrusted: boolean
  reportedAt: Date
  batchCount: number | null
}

const reportColumns: Columns<ReportRow> = columns<ReportRow>({
  account: ['account', 'text'],
  source: ['source', 'text'],
  reportKey: ['report_key', 'text'],
  movementId: ['movement_id', 'uuid'],
  fileId: ['file_id', 'uuid', 'null'],
  statementId: ['statement_id', 'uuid', 'null'],
  line: ['line', 'int', 'null'],
  amountMinor: ['amount', 'bigint'],
  bookedOn: ['booked_on', 'date'],
  bookedAt: ['booked_at', 'timestamptz', 'null'],
  balanceAfterMinor: ['balance_after', 'bigint', 'null'],
  chargesMinor: ['charges', 'bigint'],
  ids: ['ids', 'text'],
  text: ['text', 'text'],
  payerAccountNo: ['payer_account_no', 'text', 'null'],
  isReturn: ['is_return', 'boolean', 'null'],
  isTrusted: ['is_trusted', 'boolean'],
  reportedAt: ['reported_at', 'timestamptz'],
  batchCount: ['batch_count', 'int', 'null'],
})

/** Where reports come from, and whether that is the bank's word. */
export interface Origin {
  fileId: string | null
  isTrusted: boolean
  at: Date
}

/** A report with the statement that it is in, if that is kept, and its page. */
export type ReportOfStatement = BankReport & {
  statementId: string | null
  page?: PageOfStatement | null
}

export interface Taken {
  /** The movement of each report, in their order. */
  movementIds: string[]
  added: number
  /** How many reports were known already. */
  known: number
}

/** Waits for other imports and pushes of the account, so that reports are paired one file at a time. */
export async function lockAccount(tx: Tx, name: string): Promise<void> {
  await tx.query('select 1 from bank_accounts where name = $1 for no key update', [name])
}

/**
 * Records all reports of one source in a file, or one push, and pairs them into movements, in the transaction
 * that has locked the account. New movements wait to be matched, if they are the bank's word. None is about the movements
 * `others`.
 */
export async function takeReports(
  tx: Tx,
  account: Pick<BankAccount, 'name' | 'currency' | 'payoutHolidays'>,
  source: ReportSource,
  told: readonly ReportOfStatement[],
  origin: Origin,
  others: readonly string[] = [],
): Promise<Taken> {
  if (told.length === 0) return { movementIds: [], added: 0, known: 0 }
  const { name } = account
  const { fileId, isTrusted, at } = origin
  const { reports, movements: ofBatches } = await splitBatches(tx, account, source, told, fileId)
  const before = await readReports(tx, name, source, reports)
  const ofBatch = reports.filter(({ key }) => !before.has(key) && ofBatches.has(key))
  const fresh = reports.filter(({ key }) => !before.has(key) && !ofBatches.has(key))
  const holidays = holidaysIn(account.payoutHolidays)
  const known = await readKnown(tx, name, fresh, holidays)
  // A line that was known is in this file too: no other line of the file is about its movement.
  const inThisFile = new Set([
    ...[...before.values()].map(({ movementId }) => movementId),
    ...ofBatches.values(),
    ...others,
  ])
  const newId = () => newOrderId(at)
  const said = [...fresh, ...known.flatMap((movement) => movement.reports)]
  const findCodes = await codesIn(tx, said.flatMap(codedTexts))
  const orders = await namedOrders(tx, name, fresh, findCodes)
  const from = { fileId, isTrusted, holidays, findCodes, orders }
  const { movementIds, added } = pairReports(fresh, known, from, newId, inThisFile)
  const rows = [
    ...fresh.map((report, index) => ({ report, movementId: movementIds[index] ?? '' })),
    ...ofBatch.map((report) => ({ report, movementId: ofBatches.get(report.key) ?? '' })),
  ]
  await insertMovements(
    tx,
    rows
      .filter(({ movementId }) => added.has(movementId))
      .map(({ report, movementId }) => newMovement(account, report, movementId, origin)),
  )
  await insertReports(
    tx,
    rows.map((row) => reportRow(name, source, row, origin)),
  )
  if (isTrusted) {
    const joined = rows.filter(({ movementId }) => !added.has(movementId))
    const upgraded = reports.flatMap((report) => {
      const movementId = before.get(report.key)?.movementId
      return movementId === undefined || before.get(report.key)?.isTrusted
        ? []
        : [{ report, movementId }]
    })
    const told = [...joined, ...upgraded].map(({ movementId }) => movementId)
    await lockMovements(tx, name, told)
    await upgradeReports(tx, name, source, upgraded)
    await confirmMovements(tx, name, [...joined, ...upgraded], at)
    // What a sum says is of none of its payments.
    const ofNoSum = joined.filter(({ report }) => !ofBatches.has(report.key))
    await lookAgain(tx, name, [...ofNoSum, ...upgraded], at)
    if (source === 'statement') await bookedByStatement(tx, name, [...rows, ...upgraded])
  }
  if (fileId !== null) await joinLateBatches(tx, account, reports, at)
  const ids = new Map(rows.map(({ report, movementId }) => [report.key, movementId]))
  return {
    movementIds: reports.map(({ key }) => ids.get(key) ?? before.get(key)?.movementId ?? ''),
    added: added.size,
    known: before.size,
  }
}

/**
 * Batches that came before their payments: their lines count as reports of these, and their sums are explained by
 * them. A sum that is in the books stays: reconciliation names it.
 */
export async function joinLateBatches(
  tx: Tx,
  account: Pick<BankAccount, 'name' | 'payoutHolidays'>,
  around: readonly Pick<BankReport, 'bookedOn'>[],
  at: Date,
): Promise<void> {
  for (const sum of await findLateBatches(tx, account, around)) {
    await insertParts(tx, account.name, sum, at)
    await tx.query(
      `update bank_movements set state = 'booked', explained_by = 'batch', act_at = null, detail = $3
       where account = $1 and movement_id = $2 and state in ('unexplained', 'unconfirmed')`,
      [account.name, sum.movementId, `It is the sum of ${sum.children.length} payments.`],
    )
  }
}

/** The lines that report a sum count as reports of its payments from now on. */
export async function insertParts(
  tx: Tx,
  account: string,
  { lines, children }: SumOfPayments,
  at: Date,
): Promise<void> {
  for (const { report: batch, fileId, isTrusted } of lines) {
    const rows = splitReport(batch, children).map((report, index) => ({
      report,
      movementId: children[index]?.movementId ?? '',
    }))
    await insertReports(
      tx,
      rows.map((row) => reportRow(account, batch.source, row, { fileId, isTrusted, at })),
    )
    if (batch.source === 'statement' && isTrusted) await bookedByStatement(tx, account, rows)
  }
}

/** A person says that a movement is a sum: the lines that report it are lines of a batch. */
export async function markAsBatch(
  tx: Tx,
  account: string,
  { lines, children }: SumOfPayments,
): Promise<void> {
  for (const { report } of lines) {
    await tx.query(
      `update bank_reports set batch_count = $4
       where account = $1 and source = $2 and report_key = $3 and batch_count is null`,
      [account, report.source, report.key, children.length],
    )
  }
}

function reportRow(
  account: string,
  source: ReportSource,
  { report, movementId }: { report: ReportOfStatement; movementId: string },
  { fileId, isTrusted, at }: Origin,
): ReportRow {
  return {
    account,
    source,
    reportKey: report.key,
    movementId,
    fileId,
    statementId: report.statementId,
    line: report.line,
    amountMinor: report.amountMinor,
    bookedOn: report.bookedOn,
    bookedAt: report.bookedAt,
    balanceAfterMinor: report.balanceAfterMinor,
    chargesMinor: report.chargesMinor,
    ids: JSON.stringify(report.ids),
    text: report.text,
    payerAccountNo: report.payer.accountNo?.slice(0, 64) ?? null,
    isReturn: report.isReturn,
    isTrusted,
    reportedAt: at,
    batchCount: report.batchCount,
  }
}

function newMovement(
  { name, currency }: Pick<BankAccount, 'name' | 'currency'>,
  { amountMinor, bookedOn, bookedAt, text, payer, isReturn, batchCount }: BankReport,
  movementId: string,
  { isTrusted, at }: Origin,
): BankMovement {
  const isBatch = batchCount !== null
  return {
    account: name,
    movementId,
    amountMinor,
    deductedMinor: 0n,
    currency,
    bookedOn,
    bookedAt,
    text,
    payerAccountNo: payer.accountNo?.slice(0, 64) ?? null,
    payerName: payer.name?.slice(0, 200) ?? null,
    payerBank: payer.bank?.slice(0, 64) ?? null,
    isReturn,
    // Whose payments are in an unsplit batch, nobody knows.
    state: !isTrusted ? 'unconfirmed' : isBatch ? 'unexplained' : 'new',
    explainedBy: null,
    agentId: null,
    orderId: null,
    paidAt: null,
    why: null,
    returns: null,
    detail: sumDetail(batchCount),
    reportedAt: at,
    actAt: isTrusted && !isBatch ? at : null,
    tries: 0,
    version: 0,
    held: false,
  }
}

function sumDetail(batchCount: number | null): string | null {
  return batchCount === null ? null : `The bank put ${batchCount} payments into one sum.`
}

async function readReports(
  tx: Tx,
  account: string,
  source: ReportSource,
  reports: readonly BankReport[],
): Promise<Map<string, { movementId: string; isTrusted: boolean }>> {
  const { rows } = await tx.query<{
    report_key: string
    movement_id: string
    is_trusted: boolean
  }>(
    `select report_key, movement_id, is_trusted from bank_reports
     where account = $1 and source = $2 and report_key = any($3::text[])`,
    [account, source, reports.map(({ key }) => key)],
  )
  return new Map(
    rows.map((row) => [row.report_key, { movementId: row.movement_id, isTrusted: row.is_trusted }]),
  )
}

/** The movements that the reports may be about: of their amounts, a few days around them. */
async function readKnown(
  tx: Tx,
  account: string,
  reports: readonly BankReport[],
  holidays: ReadonlySet<Day>,
): Promise<KnownMovement[]> {
  const days = reports.map(({ bookedOn }) => bookedOn).sort()
  const [first] = days
  const last = days.at(-1)
  if (first === undefined || last === undefined) return []
  const amounts = [...new Set(reports.map(({ amountMinor }) => amountMinor))]
  const { rows } = await tx.query<{
    movement_id: string
    amount: bigint
    booked_on: Day
    booked_at: Date | null
    source: ReportSource
    file_id: string | null
    report_booked_on: Day
    balance_after: bigint | null
    ids: string
    text: string
    payer_account_no: string | null
    is_trusted: boolean
    bank_seq: string | null
    page: number | null
  }>(
    `select m.movement_id, m.amount, m.booked_on, m.booked_at, r.source, r.file_id,
       r.booked_on as report_booked_on, r.balance_after, r.ids, r.text, r.payer_account_no, r.is_trusted,
       s.bank_seq, s.page
     from bank_movements m
     join bank_reports r on r.account = m.account and r.movement_id = m.movement_id
     left join bank_statements s on s.account = r.account and s.statement_id = r.statement_id
     where m.account = $1 and m.amount = any($2::bigint[])
       and m.booked_on between $3::date - $5::int and $4::date + $6::int
       -- What was found to be no money is not what the bank reports after all.
       and m.explained_by is distinct from 'never_booked'
     order by m.movement_id`,
    [account, amounts, first, last, mostDaysFrom(first, holidays), mostDaysFrom(last, holidays)],
  )
  const hands = rows.flatMap(({ source, movement_id }) => (source === 'hand' ? [movement_id] : []))
  const codes = await codesOfOrders(tx, account, hands)
  const known = new Map<string, KnownMovement>()
  for (const row of rows) {
    // What was given to an order is that order's, whether or not the slip said so.
    const code = row.source === 'hand' ? codes.get(row.movement_id) : undefined
    const movement = known.get(row.movement_id) ?? {
      movementId: row.movement_id,
      amountMinor: row.amount,
      bookedOn: row.booked_on,
      bookedAt: row.booked_at,
      reports: [],
    }
    movement.reports.push({
      source: row.source,
      fileId: row.file_id,
      bookedOn: row.report_booked_on,
      balanceAfterMinor: row.balance_after,
      ids: JSON.parse(row.ids) as BankIds,
      text: code === undefined ? row.text : `${row.text} ${code}`,
      payerAccountNo: row.payer_account_no,
      isTrusted: row.is_trusted,
      page: pageOf(row.bank_seq, row.page),
    })
    known.set(row.movement_id, movement)
  }
  return [...known.values()]
}

/** The page of a statement, if the bank numbers both. */
export function pageOf(
  seq: string | null,
  page: number | null | undefined,
): PageOfStatement | null {
  return seq === null || page == null ? null : { seq, page }
}

/** What is known of the orders whose codes reports name. */
async function namedOrders(
  tx: Tx,
  account: string,
  reports: readonly BankReport[],
  findCodes: FindCodes,
): Promise<ReadonlyMap<string, NamedOrder>> {
  const codes = [
    ...new Set(reports.flatMap((report) => findCodes(codedTexts(report), report.amountMinor))),
  ]
  if (codes.length === 0) return new Map()
  const { rows } = await tx.query<NamedOrder & { code: string }>(
    `select code, payer_account_no as "payerAccountNo", created_at as "createdAt",
       expires_at as "expiresAt"
     from expected_deposits where account = $1 and code = any($2::text[])`,
    [account, codes],
  )
  return new Map(rows.map(({ code, ...order }) => [code, order]))
}

/** The codes of the orders that the money of movements was given to. */
async function codesOfOrders(
  tx: Tx,
  account: string,
  movementIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (movementIds.length === 0) return new Map()
  const { rows: movements } = await tx.query<{ movement_id: string; order_id: string | null }>(
    `select movement_id, order_id from bank_movements
     where account = $1 and movement_id = any($2::uuid[])`,
    [account, movementIds],
  )
  // A person may have given it to another order since.
  const ids = movements.map((each) => paymentIdOf({ account, movementId: each.movement_id }))
  const { rows: claims } = await tx.query<{ agent_id: bigint }>(
    'select agent_id from payment_claims where payment_id = any($1::text[])',
    [ids],
  )
  const { rows: paid } = await tx.query<{ payment_id: string; order_id: string | null }>(
    `select payment_id, order_id from payments
     where agent_id = any($1::bigint[]) and payment_id = any($2::text[])`,
    [claims.map(({ agent_id }) => agent_id), ids],
  )
  const orderOf = new Map(paid.map(({ payment_id, order_id }) => [payment_id, order_id]))
  const orders = movements.map(({ order_id }, at) => orderOf.get(ids[at] ?? '') ?? order_id)
  const { rows } = await tx.query<{ order_id: string; code: string }>(
    `select order_id, code from expected_deposits
     where account = $1 and order_id = any($2::uuid[]) and code is not null`,
    [account, orders],
  )
  const codes = new Map(rows.map(({ order_id, code }) => [order_id, code]))
  return new Map(
    movements.flatMap(({ movement_id }, at) => {
      const code = codes.get(orders[at] ?? '')
      return code === undefined ? [] : [[movement_id, code] as const]
    }),
  )
}

/** How many rows one statement writes. */
const pageRows = 5_000

async function insertMovements(tx: Tx, movements: readonly BankMovement[]): Promise<void> {
  for (let at = 0; at < movements.length; at += pageRows) {
    await tx.query(
      `insert into bank_movements (${movementColumns.names}) select * from ${movementColumns.unnest}`,
      movementColumns.values(movements.slice(at, at + pageRows)),
    )
  }
}

async function insertReports(tx: Tx, rows: readonly ReportRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += pageRows) {
    await tx.query(
      `insert into bank_reports (${reportColumns.names}) select * from ${reportColumns.unnest}`,
      reportColumns.values(rows.slice(at, at + pageRows)),
    )
  }
}

interface Joined {
  report: BankReport
  movementId: string
}

async function upgradeReports(
  tx: Tx,
  account: string,
  source: ReportSource,
  upgraded: readonly Joined[],
): Promise<void> {
  if (upgraded.length === 0) return
  // The key of a line says nothing of returns, so only the bank's own word does.
  await tx.query(
    `update bank_reports r set is_trusted = true, is_return = u.is_return
     from unnest($3::text[], $4::boolean[]) u(report_key, is_return)
     where r.account = $1 and r.source = $2 and r.report_key = u.report_key`,
    [
      account,
      source,
      upgraded.map(({ report }) => report.key),
      upgraded.map(({ report }) => report.isReturn),
    ],
  )
}

/**
 * The bank's word replaces what only a person said of a movement, which can be matched from now on; a sum waits
 * for its payments.
 */
async function confirmMovements(
  tx: Tx,
  account: string,
  joined: readonly Joined[],
  at: Date,
): Promise<void> {
  if (joined.length === 0) return
  await tx.query(
    `update bank_movements m set state = case when u.sum is null then 'new' else 'unexplained' end,
       act_at = case when u.sum is null then $2::timestamptz end, detail = u.sum, text = u.text,
       payer_account_no = u.payer_account_no, payer_name = u.payer_name, payer_bank = u.payer_bank,
       is_return = u.is_return, booked_on = u.booked_on, booked_at = u.booked_at
     from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[],
       $9::date[], $10::timestamptz[], $11::text[])
       u(movement_id, text, payer_account_no, payer_name, payer_bank, is_return, booked_on, booked_at,
         sum)
     where m.account = $1 and m.movement_id = u.movement_id and m.state = 'unconfirmed'`,
    [
      account,
      at,
      joined.map(({ movementId }) => movementId),
      joined.map(({ report }) => report.text),
      joined.map(({ report }) => report.payer.accountNo?.slice(0, 64) ?? null),
      joined.map(({ report }) => report.payer.name?.slice(0, 200) ?? null),
      joined.map(({ report }) => report.payer.bank?.slice(0, 64) ?? null),
      joined.map(({ report }) => report.isReturn),
      joined.map(({ report }) => report.bookedOn),
      joined.map(({ report }) => report.bookedAt?.toISOString() ?? null),
      joined.map(({ report }) => sumDetail(report.batchCount)),
    ],
  )
}

/**
 * What files that nobody has confirmed say of a movement becomes a movement of its own, which waits for a second person:
 * the one that they were taken for is no money.
 */
export async function partUnconfirmed(
  tx: Tx,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  at: Date,
): Promise<void> {
  await tx.query(
    `with parted as (
       select * from bank_reports
       where account = $1 and movement_id = $2 and source <> 'hand' and not is_trusted
     ), made as (
       insert into bank_movements (account, movement_id, amount, currency, booked_on, booked_at, text,
         payer_account_no, is_return, state, reported_at)
       select p.account, $3, p.amount, m.currency, p.booked_on, p.booked_at, p.text,
         p.payer_account_no, coalesce(p.is_return, false), 'unconfirmed', $4
       from parted p join bank_movements m on m.account = $1 and m.movement_id = $2
       order by p.reported_at, p.report_key limit 1
       returning movement_id
     )
     update bank_reports r set movement_id = made.movement_id from made, parted p
     where r.account = p.account and r.source = p.source and r.report_key = p.report_key`,
    [account, movementId, newOrderId(at), at],
  )
}

/** What a report says of a movement that was known before. */
export interface HeardOfMovement {
  movementId: string
  report: Pick<BankReport, 'text' | 'payer' | 'batchCount'>
}

/**
 * The bank says more of movements: those that nobody has been given, or that nothing explains, are looked at again
 * with all that it says of them, so that it makes no difference which report comes first. Whoever is about to decide
 * on one, without having heard this, finds that it is due anew.
 */
export async function lookAgain(
  tx: Tx,
  account: string,
  heard: readonly HeardOfMovement[],
  at: Date,
): Promise<void> {
  const said = heard.filter(({ report }) => report.batchCount === null)
  if (said.length === 0) return
  await tx.query(
    `update bank_movements m set
       state = case when m.explained_by is null then 'new' else 'matched' end, act_at = $2, tries = 0,
       version = m.version + 1,
       text = case when m.text = '' then u.text else m.text end,
       payer_account_no = case when m.payer_account_no ~ '[*•#xX]'
         then coalesce(u.payer_account_no, m.payer_account_no)
         else coalesce(m.payer_account_no, u.payer_account_no) end,
       payer_name = coalesce(m.payer_name, u.payer_name),
       payer_bank = coalesce(m.payer_bank, u.payer_bank)
     from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
       u(movement_id, text, payer_account_no, payer_name, payer_bank)
     where m.account = $1 and m.movement_id = u.movement_id and (m.state = 'new'
       or (m.state = 'unexplained' and m.amount < 0)
       or (m.explained_by = 'payment' and m.order_id is null
         and m.why in ('unmatched', 'ambiguous')))`,
    [
      account,
      at,
      said.map(({ movementId }) => movementId),
      said.map(({ report }) => report.text),
      said.map(({ report }) => report.payer.accountNo?.slice(0, 64) ?? null),
      said.map(({ report }) => report.payer.name?.slice(0, 200) ?? null),
      said.map(({ report }) => report.payer.bank?.slice(0, 64) ?? null),
    ],
  )
  // Its own booking, if one is under way, and that of payments like it do not know of this.
  const ids = said.map(({ movementId }) => movementId)
  await tx.query(
    `update bank_movements m set state = case m.state when 'new' then 'new' else 'matched' end,
       act_at = $3, tries = 0, version = m.version + 1
     where m.account = $1 and m.movement_id = any($2::uuid[]) and ${isOpen}`,
    [account, await findEqualAndOpen(tx, account, ids), at],
  )
}

/** SQL: whose a movement is, is not decided for good. The index bank_movements_open has all of these. */
const isOpen = `(m.state = 'new' or (m.explained_by = 'payment' and (m.state = 'matched'
  or (m.state = 'booked' and m.order_id is null and m.why = 'ambiguous'))))`

/**
 * What is said of one of two equal payments may tell whose the other one is, if neither the books nor a person have decided
 * that for good. Those that may be taken for each other are not further apart, whatever the holidays.
 */
async function findEqualAndOpen(
  tx: Tx,
  account: string,
  movementIds: readonly string[],
): Promise<string[]> {
  const { rows: told } = await tx.query<{ amount: bigint; booked_on: Day }>(
    `select distinct amount, booked_on from bank_movements
     where account = $1 and movement_id = any($2::uuid[])`,
    [account, movementIds],
  )
  const amounts = [...new Set(told.map(({ amount }) => amount))]
  const days = told.map(({ booked_on }) => booked_on).sort()
  const { rows } = await tx.query<{ movement_id: string }>(
    `select m.movement_id from bank_movements m
     where m.account = $1 and ${isOpen} and m.amount = any($2::bigint[])
       and m.booked_on between $3::date - 31 and $4::date + 31
       and not exists (select 1 from unmatched_payments u
         where u.payment_id = m.account || ':' || replace(m.movement_id::text, '-', '')
           and u.state <> 'waiting')`,
    [account, amounts, days[0], days.at(-1)],
  )
  return rows.map(({ movement_id }) => movement_id)
}

/** Locks movements of which more is told, and those that are looked at again for it, in the order in which all lock them. */
export async function lockMovements(
  tx: Tx,
  account: string,
  movementIds: readonly string[],
): Promise<void> {
  if (movementIds.length === 0) return
  const equal = await findEqualAndOpen(tx, account, movementIds)
  await tx.query(
    `select 1 from bank_movements m
     where m.account = $1 and m.movement_id = any($2::uuid[])
     order by m.account, m.movement_id for no key update`,
    [account, [...movementIds, ...equal]],
  )
}

/** The statement says on which day a movement counts, whatever a push said before. */
export async function bookedByStatement(
  tx: Tx,
  account: string,
  rows: readonly { movementId: string; report: Pick<BankReport, 'bookedOn'> }[],
): Promise<void> {
  await tx.query(
    `update bank_movements m set booked_on = u.booked_on
     from unnest($2::uuid[], $3::date[]) u(movement_id, booked_on)
     where m.account = $1 and m.movement_id = u.movement_id and m.booked_on <> u.booked_on`,
    [account, rows.map(({ movementId }) => movementId), rows.map(({ report }) => report.bookedOn)],
  )
}
