import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { BankIds, Day } from '../statements/statement.ts'
import type { BankReport, ReportSource } from './bank-report.ts'
import { isWithinBankingDay } from './pair-reports.ts'

/** A single payment of a batch that another source has told apart. */
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
 * and add up to its amount. Undefined if there are none such.
 */
export function childrenOf(
  batch: Pick<BankReport, 'amountMinor' | 'bookedOn' | 'ids' | 'batchCount'>,
  known: readonly BatchChild[],
): BatchChild[] | undefined {
  for (const name of batchIds) {
    const id = batch.ids[name]
    if (id === null) continue
    const children = known.filter(
      ({ ids, bookedOn }) => ids[name] === id && isWithinBankingDay(bookedOn, batch.bookedOn),
    )
    const sum = children.reduce((total, { amountMinor }) => total + amountMinor, 0n)
    if (children.length === batch.batchCount && sum === batch.amountMinor) return children
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
    batchCount: null,
  }))
}

/**
 * Replaces the batches among the reports of a file by the payments that another source has told apart, so
 * that these do not count again. Returns the movement of each payment by the key of its report.
 */
export async function splitBatches<Report extends BankReport>(
  tx: Tx,
  account: string,
  source: ReportSource,
  reports: readonly Report[],
  fileId: string | null,
): Promise<{ reports: Report[]; movements: Map<string, string> }> {
  const batches = reports.filter(({ batchCount }) => batchCount !== null)
  const movements = new Map<string, string>()
  if (batches.length === 0) return { reports: [...reports], movements }
  const before = await readSplit(tx, account, source, batches)
  const known = await readChildren(tx, account, source, batches, fileId)
  const split = reports.flatMap((report) => {
    if (report.batchCount === null) return [report]
    const children = before.get(report.key) ?? takeChildren(report, known)
    if (!children) return [report]
    const parts = splitReport(report, children)
    for (const [at, { key }] of parts.entries()) {
      movements.set(key, children[at]?.movementId ?? '')
    }
    return parts
  })
  return { reports: split, movements }
}

/** Takes the payments of a batch from those that are known: rather those that no batch was split into yet. */
function takeChildren(
  batch: Parameters<typeof childrenOf>[0],
  known: KnownChild[],
): BatchChild[] | undefined {
  const children =
    childrenOf(
      batch,
      known.filter(({ isOfBatch }) => !isOfBatch),
    ) ??
    childrenOf(
      batch,
      known.filter(({ isOfBatch }) => isOfBatch),
    )
  for (const child of children ?? []) {
    known.splice(
      known.findIndex(({ movementId }) => movementId === child.movementId),
      1,
    )
  }
  return children
}

/** A batch that was reported before its payments were, as it was reported. */
export interface LateBatch {
  /** The movement of the sum. */
  movementId: string
  report: BankReport & { statementId: string | null }
  fileId: string
  isTrusted: boolean
}

/**
 * The batches that were reported as one sum, and whose payments another source has told apart since. `around` are
 * reports of that other source.
 */
export async function findLateBatches(
  tx: Tx,
  account: string,
  source: ReportSource,
  around: readonly Pick<BankReport, 'bookedOn'>[],
): Promise<{ batch: LateBatch; children: BatchChild[] }[]> {
  const days = around.map(({ bookedOn }) => bookedOn).sort()
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
    batch_count: number
  }>(
    `select movement_id, source, report_key, file_id, statement_id, line, amount, booked_on, ids,
       text, payer_account_no, is_trusted, batch_count
     from bank_reports r
     where account = $1 and source <> $2 and batch_count is not null and file_id is not null
       and booked_on between $3::date - 5 and $4::date + 5
       and not exists (select 1 from bank_reports part where part.account = r.account
         and part.source = r.source and part.report_key = r.report_key || '/1')
     order by reported_at, report_key`,
    [account, source, days[0] ?? null, days.at(-1) ?? null],
  )
  const found = []
  for (const row of rows) {
    const report = {
      source: row.source,
      key: row.report_key,
      line: row.line,
      amountMinor: row.amount,
      bookedOn: row.booked_on,
      bookedAt: null,
      balanceAfterMinor: null,
      ids: JSON.parse(row.ids) as BankIds,
      text: row.text,
      payer: { accountNo: row.payer_account_no, name: null, bank: null },
      isReturn: false,
      batchCount: row.batch_count,
      statementId: row.statement_id,
    }
    const known = await readChildren(tx, account, row.source, [report], row.file_id)
    const taken = new Set(found.flatMap(({ children }) => children.map((each) => each.movementId)))
    const children = takeChildren(
      report,
      known.filter(({ movementId }) => movementId !== row.movement_id && !taken.has(movementId)),
    )
    const { movement_id: movementId, file_id: fileId, is_trusted: isTrusted } = row
    if (children) found.push({ batch: { movementId, report, fileId, isTrusted }, children })
  }
  return found
}

/** Whether the payments of a batch are known, so that its sum is not money of its own. */
export async function isSplit(pool: Pool, account: string, movementId: string): Promise<boolean> {
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
  /** Whether this source said so before, in another file and as part of a batch. */
  isOfBatch: boolean
}

/** What other sources reported around the days of the batches, and this one has not by itself. */
async function readChildren(
  tx: Tx,
  account: string,
  source: ReportSource,
  batches: readonly Pick<BankReport, 'bookedOn'>[],
  fileId: string | null,
): Promise<KnownChild[]> {
  const days = batches.map(({ bookedOn }) => bookedOn).sort()
  const [first = '', last = first] = [days[0], days.at(-1)]
  const { rows } = await tx.query<{
    movement_id: string
    amount: bigint
    booked_on: Day
    ids: string
    of_batch: boolean
  }>(
    `select distinct on (r.movement_id) r.movement_id, r.amount, r.booked_on, r.ids,
       exists (select 1 from bank_reports o where o.account = r.account
         and o.movement_id = r.movement_id and o.source = $2) as of_batch
     from bank_reports r
     join bank_movements m on m.account = r.account and m.movement_id = r.movement_id
     where r.account = $1 and r.source not in ($2, 'push') and r.batch_count is null
       and m.booked_on between $3::date - 5 and $4::date + 5
       and not exists (select 1 from bank_reports o
         where o.account = r.account and o.movement_id = r.movement_id and o.source = $2
           and (o.report_key not like '%/%' or o.file_id = $5))
     order by r.movement_id, r.reported_at`,
    [account, source, first, last, fileId],
  )
  return rows.map((row) => ({ ...childOf(row), isOfBatch: row.of_batch }))
}

function childOf(row: { movement_id: string; amount: bigint; booked_on: Day; ids: string }) {
  return {
    movementId: row.movement_id,
    amountMinor: row.amount,
    bookedOn: row.booked_on,
    ids: JSON.parse(row.ids) as BankIds,
  }
}
