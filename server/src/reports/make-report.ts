import type { Agent } from '../agents/agent.ts'
import { listAgents } from '../agents/find-agent.ts'
import type { Pool } from '../db/pool.ts'
import { feeChargedBy } from '../ledger/read-journal.ts'
import { type CsvCell, csvLine } from '../lib/csv.ts'
import { txnId } from '../lib/ids.ts'
import { Exact } from '../lib/json-text.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { type Currency, decimalText, printedMoney } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
import { xlsxOf } from '../lib/xlsx.ts'
import { readStatement, type Statement, statementRows } from './statement.ts'
import type { PrintedColumn, PrintedRow, PrintedStatement } from './statement-pdf.ts'
import { kindInWords, statementOnPaper } from './statement-view.ts'

export const reportFormats = ['csv', 'xlsx', 'pdf'] as const

export type ReportFormat = (typeof reportFormats)[number]

export interface ReportOptions {
  /** Null: the house, with a line for each agent. */
  agent: Agent | null
  period: Period
  zone: string
  madeAt: Date
  /** Every row of the journal, and not only what they come to. */
  withRows: boolean
}

/** With more rows a report has only what they come to, and says so. */
const mostRows = { csv: 200_000n, xlsx: 200_000n, pdf: 20_000n }

/** A report in some formats: what it comes to first, then what it consists of. */
export async function makeReport(
  pool: Pool,
  formats: readonly ReportFormat[],
  options: ReportOptions,
): Promise<Map<ReportFormat, Buffer>> {
  const { agent, period } = options
  const agents = agent ? [agent] : await listAgents(pool)
  const statements: Statement[] = []
  let archived = 0
  for (const each of agents) {
    const statement = await readStatement(pool, each, period).catch((error) => {
      if (!agent && error instanceof Problem && error.code === 'not_found') return undefined
      throw error
    })
    if (statement) statements.push(statement)
    else archived += 1
  }
  const [first] = statements
  const made = new Map<ReportFormat, Buffer>()
  for (const format of formats) {
    const content =
      agent && first
        ? await statementReport(pool, first, format, options)
        : await houseReport(statements, archived, format, options)
    made.set(format, content)
  }
  return made
}

const rowHead = ['seq', 'at', 'event', 'txn_id', 'amount', 'held_change', 'fee', 'balance', 'held']

/** One agent: the lines of its statement, and the rows of its journal. */
async function statementReport(
  pool: Pool,
  statement: Statement,
  format: ReportFormat,
  options: ReportOptions,
): Promise<Buffer> {
  const { agent, after, last } = statement
  const { zone: timeZone, madeAt } = options
  const count = last - after
  const isLeftOut = options.withRows && count > mostRows[format]
  const withRows = options.withRows && !isLeftOut
  const localTime = localTimeIn(timeZone)
  if (format === 'pdf') {
    const paper = statementOnPaper(pool, statement, { localTime, timeZone, madeAt, withRows })
    if (isLeftOut) paper.facts.push(['Rows', leftOut(count)])
    return printed(paper)
  }
  const money = (minor: bigint) => new Exact(decimalText(minor, agent.currency))
  const sums = [
    ['line', 'count', 'amount', 'currency'],
    ...statementLines(statement).map(([name, rows, minor]): CsvCell[] => [
      ...[name, rows, money(minor), agent.currency],
    ]),
    ...(isLeftOut ? [['rows_left_out', count, null, null]] : []),
  ]
  const rows: CsvCell[][] = []
  if (withRows) {
    for await (const some of statementRows(pool, statement)) {
      for (const row of some) {
        rows.push([
          row.seq,
          localTime(row.at),
          row.event,
          row.orderId === null ? null : txnId(row.agentId, row.orderId),
          money(row.change.available),
          money(row.change.held),
          money(feeChargedBy(row)),
          money(row.balances.available),
          money(row.balances.held),
        ])
      }
    }
  }
  if (format === 'csv') return csv(withRows ? [rowHead, ...rows] : sums)
  return xlsxOf([
    { name: 'About', rows: about(agent.name, options) },
    { name: 'Sums', rows: sums },
    ...(withRows ? [{ name: 'Rows', rows: [rowHead, ...rows] }] : []),
  ])
}

function leftOut(count: bigint): string {
  return `${count} rows are too many for this file; take them from the console`
}

/** From the opening balance by way of the movements to the closing balance. */
function statementLines({ opening, movements, closing }: Statement): [string, bigint, bigint][] {
  return [
    ['opening_balance', 0n, opening.total],
    ...movements.map(({ kind, count, amountMinor }): [string, bigint, bigint] => [
      ...([kind, BigInt(count), amountMinor] as const),
    ]),
    ['closing_balance', 0n, closing.total],
  ]
}

const agentHead = [
  ...['app_id', 'name', 'currency', 'opening_balance', 'deposits_paid', 'withdrawals_paid'],
  ...['other_movements', 'fees', 'closing_balance'],
]

interface Totals {
  opening: bigint
  deposits: bigint
  withdrawals: bigint
  others: bigint
  fees: bigint
  closing: bigint
}

/** What a statement comes to in few columns: opening, deposits, withdrawals and others, less fees, are closing. */
function totalsOf({ opening, movements, closing, feesMinor }: Statement): Totals {
  const of = (kind: string) => movements.find((each) => each.kind === kind)?.amountMinor ?? 0n
  const [deposits, withdrawals] = [of('deposits_paid'), of('withdrawals_paid')]
  const others = closing.total - opening.total - deposits - withdrawals + feesMinor
  const { total } = closing
  return { opening: opening.total, deposits, withdrawals, others, fees: feesMinor, closing: total }
}

function added(a: Totals, b: Totals): Totals {
  return {
    opening: a.opening + b.opening,
    deposits: a.deposits + b.deposits,
    withdrawals: a.withdrawals + b.withdrawals,
    others: a.others + b.others,
    fees: a.fees + b.fees,
    closing: a.closing + b.closing,
  }
}

const columnsOnPaper: readonly PrintedColumn[] = [
  { name: 'Agent', width: 190, align: 'left' },
  { name: 'Currency', width: 50, align: 'left' },
  { name: 'Opening', width: 90, align: 'right', whole: true },
  { name: 'Deposits', width: 90, align: 'right', whole: true },
  { name: 'Withdrawals', width: 90, align: 'right', whole: true },
  { name: 'Other', width: 80, align: 'right', whole: true },
  { name: 'Fees', width: 80, align: 'right', whole: true },
  { name: 'Closing', width: 100, align: 'right', whole: true },
]

/** All agents: what each currency comes to, and a line for each agent whose journal of the time is not archived. */
async function houseReport(
  statements: readonly Statement[],
  archived: number,
  format: ReportFormat,
  options: ReportOptions,
): Promise<Buffer> {
  const sums = new Map<Currency, Totals>()
  for (const statement of statements) {
    const { currency } = statement.agent
    const sum = sums.get(currency)
    const own = totalsOf(statement)
    sums.set(currency, sum ? added(sum, own) : own)
  }
  const leftOut: [string, string][] =
    archived === 0
      ? []
      : [['Left out', `${archived} agents, whose journal of the time is archived`]]
  if (format === 'pdf') {
    const paper = houseOnPaper(statements, sums, options)
    return printed({ ...paper, facts: [...paper.facts, ...leftOut] })
  }
  const cells = (currency: Currency, totals: Totals): CsvCell[] =>
    Object.values(totals).map((minor: bigint) => new Exact(decimalText(minor, currency)))
  const agents = statements.map((statement): CsvCell[] => {
    const { appId, name, currency } = statement.agent
    return [appId, name, currency, ...cells(currency, totalsOf(statement))]
  })
  if (format === 'csv') return csv([agentHead, ...agents])
  const inAll = [...sums].map(([currency, totals]): CsvCell[] => [
    ...[currency, ...cells(currency, totals)],
  ])
  return xlsxOf([
    { name: 'About', rows: [...about('All agents', options), ...leftOut] },
    { name: 'Sums', rows: [agentHead.slice(2), ...inAll] },
    { name: 'Agents', rows: [agentHead, ...agents] },
  ])
}

function houseOnPaper(
  statements: readonly Statement[],
  sums: ReadonlyMap<Currency, Totals>,
  { period, zone, madeAt }: ReportOptions,
): PrintedStatement {
  const localTime = localTimeIn(zone)
  async function* rows(): AsyncGenerator<PrintedRow> {
    for (const statement of statements) {
      const { name, currency } = statement.agent
      const money = Object.values(totalsOf(statement)).map((minor: bigint) =>
        printedMoney(minor, currency),
      )
      yield { cells: [name, currency, ...money] }
    }
  }
  return {
    kind: 'Report of all agents',
    title: 'All agents',
    madeAt,
    facts: [
      ['Period', `${localTime(period.from)} to before ${localTime(period.to)} (${zone})`],
      ['Made', `${localTime(madeAt)} (${zone})`],
      ['Agents', String(statements.length)],
    ],
    figures: [...sums].flatMap(([currency, totals]) =>
      Object.entries(totals).map(([name, minor]: [string, bigint]): [string, string] => [
        `${kindInWords(name as Parameters<typeof kindInWords>[0])} ${currency}`,
        printedMoney(minor, currency),
      ]),
    ),
    columns: columnsOnPaper,
    rowCount: statements.length,
    rows: rows(),
  }
}

function about(title: string, { period, zone, madeAt }: ReportOptions): CsvCell[][] {
  const localTime = localTimeIn(zone)
  return [
    ['about', title],
    ['from', localTime(period.from)],
    ['to_before', localTime(period.to)],
    ['zone', zone],
    ['made', localTime(madeAt)],
  ]
}

function csv(rows: readonly (readonly CsvCell[])[]): Buffer {
  return Buffer.from(rows.map((cells) => csvLine(cells)).join(''))
}

async function printed(statement: PrintedStatement): Promise<Buffer> {
  // Imported here, so that it does not delay the start of the service.
  const { printStatement } = await import('./statement-pdf.ts')
  const chunks: Buffer[] = []
  for await (const chunk of printStatement(statement)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
