import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { BankIds, Day } from '../statements/statement.ts'
import type { BankAccount } from './bank-account.ts'
import type { BankReport, ReportSource } from './bank-report.ts'
import { holidaysIn, isWithinBankingDay, mostDaysFrom } from './pair-reports.ts'

/** The account whose batches are split: the bank books a batch on the banking day after its payments. */
type AccountOfBatches = Pick<BankAccount, 'name' | 'payoutHolidays'>

/** A single payment of a batch, told apart by a file. */
export interface BatchChild {
  movementId: string
  amountMinor: bigint
  bookedOn: Day
  ids: BankIds
}

/** Ids that all payments of a batch share, and that the line of the batch has too. */
const batchIds = ['paymentInformationId', 'accountServicerRef', 'entryRef', 'messageId'] as const

/**
 * The payments that a batch consists of: those that share an id and the day with it, are as many as it says,
 * and add up to its amount. Undefined if there are none such. A line that does not say how many it is the sum
 * of has at least two.
 */
export function childrenOf<Child extends BatchChild>(
  batch: Pick<BankReport, 'amountMinor' | 'bookedOn' | 'ids' | 'batchCount'>,
  known: readonly Child[],
  holidays: ReadonlySet<Day>,
): Child[] | undefined {
  for (const name of batchIds) {
    const id = batch.ids[name]
    if (id === null) continue
    const children = known.filter(
      ({ ids, bookedOn }) =>
        ids[name] === id && isWithinBankingDay(bookedOn, batch.bookedOn, holidays),
    )
    const sum = children.reduce((total, { amountMinor }) => total + amountMinor, 0n)
    const isCount =
      batch.batchCount === null ? children.length > 1 : children.length === batch.batchCount
    if (isCount && sum === batch.amountMinor) return children
  }
  return undefined
}

/** A report of a batch, as one report for each of its payments. The key says which batch it was. */
export function splitReport<Report extends BankReport>(
  batch: Report,
  children: readonly BatchChild[],
): Report[] {
  return children.map(({ amountMinor }, index) => ({
    ...batch,
    key: `${batch.key}/${index + 1}`,
    amountMinor,
    balanceAfterMinor: null,
    chargesMinor: 0n,
    batchCount: null,
  }))
}

/**
 * Replaces the batches among the reports of a file by the payments that another file has told apart, so that
 * these do not count again. Returns the movement of each payment by the key of its report.
 */
export async function splitBatches<Report extends BankReport>(
  tx: Tx,
  account: AccountOfBatches,
  source: ReportSource,
  reports: readonly Report[],
  fileId: string | null,
): Promise<{ reports: Report[]; movements: Map<string, string> }> {
  const batches = reports.filter(({ batchCount }) => batchCount !== null)
  const movements = new Map<string, string>()
  if (batches.length === 0) return { reports: [...reports], movements }
  const holidays = holidaysIn(account.payoutHolidays)
  const before = await readSplit(tx, account.name, source, batches)
  const known = await readChildren(tx, account, batches)
  const split = reports.flatMap((report) => {
    if (report.batchCount === null) return [report]
    const children = before.get(report.key) ?? takeChildren(report, fileId, known, holidays)
    if (!children) return [report]
    const parts = splitReport(report, children)
    for (const [at, { key }] of parts.entries()) {
      movements.set(key, children[at]?.movementId ?? '')
    }
    return parts
  })
  return { reports: split, movements }
}

/**
 * Takes the payments of a batch from those that are known: rather those that no batch of this source was split
 * into yet, else those of a batch of the same day, which is told again.
 */
function takeChildren(
  batch: Parameters<typeof childrenOf>[0] & Pick<BankReport, 'source'>,
  fileId: string | null,
  known: KnownChild[],
  holidays: ReadonlySet<Day>,
): BatchChild[] | undefined {
  // What one file lists beside the batch is not in it.
  const others = known.filter(({ reports }) => reports.every((each) => each.fileId !== fileId))
  const partsOf = ({ reports }: KnownChild) =>
    reports.filter(({ source, isPart }) => isPart && source === batch.source)
  const children =
    childrenOf(
      batch,
      others.filter((each) => partsOf(each).length === 0),
      holidays,
    ) ??
    childrenOf(
      batch,
      others.filter((each) => partsOf(each).some(({ bookedOn }) => bookedOn === batch.bookedOn)),
      holidays,
    )
  for (const child of children ?? []) known.splice(known.indexOf(child), 1)
  return children
}

/** A line that was reported as one sum, as it was reported. */
export interface LateBatch {
  report: BankReport & { statementId: string | null }
  fileId: string
  isTrusted: boolean
}

/** A movement that is the sum of others, with all lines that report it. */
export interface SumOfPayments {
  movementId: string
  lines: LateBatch[]
  children: BatchChild[]
}

/**
 * The batches that were reported as one sum, and whose payments another file has told apart since. `around` are
 * reports of that file.
 */
export async function findLateBatches(
  tx: Tx,
  account: AccountOfBatches,
  around: readonly Pick<BankReport, 'bookedOn'>[],
): Promise<SumOfPayments[]> {
  const span = spanAround(around, account)
  if (!span) return []
  const sums = await readSums(
    tx,
    `account = $1 and batch_count is not null
       and booked_on between $2::date - $4::int and $3::date + $5::int`,
    [account.name, ...span],
  )
  return findChildren(tx, account, sums)
}

/** The first and the last day of reports, and how many days before and after these a sum and its payments may be. */
function spanAround(
  reports: readonly Pick<BankReport, 'bookedOn'>[],
  { payoutHolidays }: AccountOfBatches,
): [first: Day, last: Day, before: number, after: number] | undefined {
  const days = reports.map(({ bookedOn }) => bookedOn).sort()
  const [first] = days
  const last = days.at(-1)
  if (first === undefined || last === undefined) return undefined
  const holidays = holidaysIn(payoutHolidays)
  return [first, last, mostDaysFrom(first, holidays), mostDaysFrom(last, holidays)]
}

/** The payments that a movement is the sum of, although no report of it says that it is a sum. */
export async function findPaymentsOf(
  tx: Tx,
  account: AccountOfBatches,
  movementId: string,
): Promise<SumOfPayments | undefined> {
  const sums = await readSums(tx, 'account = $1 and movement_id = $2', [account.name, movementId])
  return (await findChildren(tx, account, sums))[0]
}

async function findChildren(
  tx: Tx,
  account: AccountOfBatches,
  sums: ReadonlyMap<string, readonly LateBatch[]>,
): Promise<SumOfPayments[]> {
  const lines = [...sums.values()].flat()
  if (lines.length === 0) return []
  const known = await readChildren(
    tx,
    account,
    lines.map(({ report }) => report),
  )
  const holidays = holidaysIn(account.payoutHolidays)
  return [...sums].flatMap(([movementId, ofIt]) => {
    const others = known.filter((child) => child.movementId !== movementId)
    for (const { report, fileId } of ofIt) {
      const children = takeChildren(report, fileId, others, holidays)
      if (!children) continue
      const taken = new Set(children.map((child) => child.movementId))
      for (let at = known.length - 1; at >= 0; at--) {
        if (taken.has(known[at]?.movementId ?? '')) known.splice(at, 1)
      }
      return [{ movementId, lines: [...ofIt], children }]
    }
    return []
  })
}

/** The lines of files that were not split, by the movement that they report. */
async function readSums(
  tx: Tx,
  where: string,
  values: unknown[],
): Promise<Map<string, LateBatch[]>> {
  const { rows } = await tx.query<{
    movement_id: string
    source: ReportSource
    report_key: string
    file_id: string
    statement_id: string | null
    line: number | null
    amount: bigint
    booked_on: Day
    ids: string
    text: string
    payer_account_no: string | null
    is_trusted: boolean
    batch_count: number | null
  }>(
    `select movement_id, source, report_key, file_id, statement_id, line, amount, booked_on, ids,
       text, payer_account_no, is_trusted, batch_count
     from bank_reports r
     where ${where} and file_id is not null and report_key not like '%/%'
       and not exists (select 1 from bank_reports part where part.account = r.account
         and part.source = r.source and part.report_key = r.report_key || '/1')
     order by reported_at, report_key`,
    values,
  )
  const sums = new Map<string, LateBatch[]>()
  for (const row of rows) {
    const report = {
      source: row.source,
      key: row.report_key,
      line: row.line,
      amountMinor: row.amount,
      bookedOn: row.booked_on,
      bookedAt: null,
      balanceAfterMinor: null,
      chargesMinor: 0n,
      ids: JSON.parse(row.ids) as BankIds,
      text: row.text,
      payer: { accountNo: row.payer_account_no, name: null, bank: null },
      isReturn: false,
      batchCount: row.batch_count,
      statementId: row.statement_id,
    }
    const line = { report, fileId: row.file_id, isTrusted: row.is_trusted }
    sums.set(row.movement_id, [...(sums.get(row.movement_id) ?? []), line])
  }
  return sums
}

/** Whether the payments of a batch are known, so that its sum is not money of its own. */
export async function isSplit(
  pool: Pool | Tx,
  account: string,
  movementId: string,
): Promise<boolean> {
  const { rows } = await pool.query(`select 1 where ${isSplitSql('$1', '$2::uuid')}`, [
    account,
    movementId,
  ])
  return rows.length > 0
}

/** SQL: whether a movement is a batch whose payments are known. */
export function isSplitSql(account: string, movementId: string): string {
  return `exists (select 1 from bank_reports batch
    join bank_reports part on part.account = batch.account and part.source = batch.source
      and part.report_key = batch.report_key || '/1'
    where batch.account = ${account} and batch.movement_id = ${movementId}
      and batch.batch_count is not null)`
}

/** The batches that were split when they came before, with their payments in the same order. */
async function readSplit(
  tx: Tx,
  account: string,
  source: ReportSource,
  batches: readonly BankReport[],
): Promise<Map<string, BatchChild[]>> {
  const keys = batches.flatMap(({ key, batchCount }) =>
    Array.from({ length: batchCount ?? 0 }, (_, at) => `${key}/${at + 1}`),
  )
  const { rows } = await tx.query<{
    report_key: string
    movement_id: string
    amount: bigint
    booked_on: Day
    ids: string
  }>(
    `select report_key, movement_id, amount, booked_on, ids from bank_reports
     where account = $1 and source = $2 and report_key = any($3::text[])`,
    [account, source, keys],
  )
  const byKey = new Map<string, BatchChild[]>()
  const numberOf = (key: string) => Number(key.split('/')[1])
  rows.sort((a, b) => numberOf(a.report_key) - numberOf(b.report_key))
  for (const row of rows) {
    const [key = ''] = row.report_key.split('/')
    byKey.set(key, [...(byKey.get(key) ?? []), childOf(row)])
  }
  return byKey
}

interface KnownChild extends BatchChild {
  /** Where it was reported; a part is the line of a batch that was split. */
  reports: { source: ReportSource; fileId: string | null; isPart: boolean; bookedOn: Day }[]
}

/**
 * The single payments around the days of batches that have an id of theirs. What only a person says is not among
 * them: it takes nothing away from what the bank says.
 */
async function readChildren(
  tx: Tx,
  account: AccountOfBatches,
  batches: readonly Pick<BankReport, 'bookedOn' | 'ids'>[],
): Promise<KnownChild[]> {
  const span = spanAround(batches, account)
  if (!span) return []
  const ids = batches.flatMap((each) => batchIds.map((name) => each.ids[name]))
  const { rows } = await tx.query<{
    movement_id: string
    amount: bigint
    booked_on: Day
    source: ReportSource
    file_id: string | null
    report_booked_on: Day
    is_part: boolean
    ids: string
  }>(
    `select m.movement_id, m.amount, m.booked_on, r.source, r.file_id,
       r.booked_on as report_booked_on, r.report_key like '%/%' as is_part, r.ids
     from bank_movements m
     join bank_reports r on r.account = m.account and r.movement_id = m.movement_id
     where m.account = $1 and m.booked_on between $2::date - $4::int and $3::date + $5::int
       and m.state <> 'unconfirmed' and m.explained_by is distinct from 'batch'
       and exists (select 1 from bank_reports named
         where named.account = m.account and named.movement_id = m.movement_id
           and named.batch_count is null and exists (select 1 from unnest($6::text[]) id
             where position(id in named.ids) > 0))
     order by m.movement_id, r.reported_at`,
    [
      account.name,
      ...span,
      [...new Set(ids.filter((id) => id !== null))].map((id) => JSON.stringify(id)),
    ],
  )
  const known = new Map<string, KnownChild>()
  for (const row of rows) {
    const told = JSON.parse(row.ids) as BankIds
    const child = known.get(row.movement_id) ?? { ...childOf(row), reports: [] }
    // One source may leave out an id that another one gives.
    for (const name of batchIds) child.ids[name] ??= told[name]
    child.reports.push({
      source: row.source,
      fileId: row.file_id,
      isPart: row.is_part,
      bookedOn: row.report_booked_on,
    })
    known.set(row.movement_id, child)
  }
  return [...known.values()]
}

function childOf(row: { movement_id: string; amount: bigint; booked_on: Day; ids: string }) {
  return {
    movementId: row.movement_id,
    amountMinor: row.amount,
    bookedOn: row.booked_on,
    ids: JSON.parse(row.ids) as BankIds,
  }
}
