import type { Tx } from '../db/in-transaction.ts'
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
): Promise<{ reports: Report[]; movements: Map<string, string> }> {
  const batches = reports.filter(({ batchCount }) => batchCount !== null)
  const movements = new Map<string, string>()
  if (batches.length === 0) return { reports: [...reports], movements }
  const before = await readSplit(tx, account, source, batches)
  let free = await readChildren(tx, account, source, batches)
  const split = reports.flatMap((report) => {
    if (report.batchCount === null) return [report]
    const known = before.get(report.key)
    const children = known ?? childrenOf(report, free)
    if (!children) return [report]
    free = free.filter(({ movementId }) => !children.some((each) => each.movementId === movementId))
    const parts = splitReport(report, children)
    for (const [at, { key }] of parts.entries()) {
      movements.set(key, children[at]?.movementId ?? '')
    }
    return parts
  })
  return { reports: split, movements }
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

/** What other sources reported around the days of the batches, and this one has not. */
async function readChildren(
  tx: Tx,
  account: string,
  source: ReportSource,
  batches: readonly BankReport[],
): Promise<BatchChild[]> {
  const days = batches.map(({ bookedOn }) => bookedOn).sort()
  const [first = '', last = first] = [days[0], days.at(-1)]
  const { rows } = await tx.query<{
    movement_id: string
    amount: bigint
    booked_on: Day
    ids: string
  }>(
    `select distinct on (r.movement_id) r.movement_id, r.amount, r.booked_on, r.ids
     from bank_reports r
     join bank_movements m on m.account = r.account and m.movement_id = r.movement_id
     where r.account = $1 and r.source not in ($2, 'push')
       and m.booked_on between $3::date - 5 and $4::date + 5
       and not exists (select 1 from bank_reports o
         where o.account = r.account and o.movement_id = r.movement_id and o.source = $2)
     order by r.movement_id, r.reported_at`,
    [account, source, first, last],
  )
  return rows.map(childOf)
}

function childOf(row: { movement_id: string; amount: bigint; booked_on: Day; ids: string }) {
  return {
    movementId: row.movement_id,
    amountMinor: row.amount,
    bookedOn: row.booked_on,
    ids: JSON.parse(row.ids) as BankIds,
  }
}
