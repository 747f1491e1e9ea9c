import type { Agent } from '../../agents/agent.ts'
import type { JournalRow } from '../../ledger/book.ts'
import { feeChargedBy, readJournal } from '../../ledger/read-journal.ts'
import { balancesAfter, seqAsOf } from '../../ledger/wallet-as-of.ts'
import { type CsvCell, csvLine } from '../../lib/csv.ts'
import { txnId } from '../../lib/ids.ts'
import { printedMoney } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import type { Operator } from '../../operators/operator.ts'
import type { PrintedRow, PrintedStatement } from '../../reports/statement-pdf.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { journalView } from './journal-view.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { StatementQuery, WalletParams } from './schemas/wallets.ts'
import { agentNamed, timesIn } from './scope.ts'
import { type ExportLimits, sendExport } from './send-export.ts'

/** The contents of one statement. */
export interface Statement {
  agent: Agent
  from: Date
  to: Date
  /** The range of rows: after the first, up to and including the second. */
  after: bigint
  last: bigint
}

const chunk = 1_000
/** No one reads more pages than this makes; the CSV has all rows. */
const mostRowsOnPaper = 20_000

/** `GET /wallets/{app_id}/statement.csv` and `.pdf`. */
export function statementRoutes(
  api: OperatorApi,
  desk: Desk,
  timeZone: string,
  limits: ExportLimits,
): void {
  const common = {
    method: 'GET',
    tag: 'Wallets',
    permission: 'view',
    agents: 'own',
  } as const
  operatorRoute(api, {
    ...common,
    url: '/wallets/:app_id/statement.csv',
    summary: "A wallet's journal between two times as a table, streamed",
    schema: {
      params: WalletParams,
      querystring: StatementQuery,
      response: { status: 200, type: 'text/csv' },
    },
    handler: async ({ operator, params, query, request, reply }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const statement = await statementOf(desk, agent, query)
      const file = {
        name: `statement-${agent.appId}.csv`,
        type: 'text/csv; charset=utf-8',
        content: csvOf(desk, statement, operator),
        stillMay: () => api.door.operatorOf(request),
        entry: auditEntry(operator, statement, 'csv'),
      }
      return sendExport(desk, reply, file, limits)
    },
  })

  operatorRoute(api, {
    ...common,
    url: '/wallets/:app_id/statement.pdf',
    summary: "A wallet's journal between two times, to print",
    schema: {
      params: WalletParams,
      querystring: StatementQuery,
      response: { status: 200, type: 'application/pdf' },
    },
    handler: async ({ operator, params, query, request, reply }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const statement = await statementOf(desk, agent, query)
      if (statement.last - statement.after > mostRowsOnPaper) {
        const detail = `It would have more than ${mostRowsOnPaper} rows: take a shorter time, or the table.`
        throw new Problem('invalid_request', detail)
      }
      // Imported here, so that it does not delay the start of the service.
      const { printStatement } = await import('../../reports/statement-pdf.ts')
      const pdf = printStatement(await onPaper(desk, statement, timeZone))
      const file = {
        name: `statement-${agent.appId}.pdf`,
        type: 'application/pdf',
        content: pdf,
        stillMay: () => api.door.operatorOf(request),
        entry: auditEntry(operator, statement, 'pdf'),
      }
      return sendExport(desk, reply, file, limits)
    },
  })
}

function auditEntry(operator: Operator, { agent, from, to }: Statement, format: 'csv' | 'pdf') {
  return {
    operator,
    action: 'export_statement',
    subject: { kind: 'agent', id: agent.appId },
    agentId: agent.agentId,
    before: { format, from, to },
  }
}

async function statementOf(
  desk: Desk,
  agent: Agent,
  query: { from: string; to: string },
): Promise<Statement> {
  const { from, to } = timesIn(query, ['from', 'to'])
  if (!from || !to || from >= to) {
    throw invalidRequest([{ field: 'to', message: 'must be later than from' }])
  }
  const justBefore = (at: Date) => new Date(at.getTime() - 1)
  const after = await seqAsOf(desk.pool, agent.agentId, justBefore(from))
  const last = await seqAsOf(desk.pool, agent.agentId, justBefore(to))
  return { agent, from, to, after, last }
}

/** Yields the statement's rows in chunks; reads the next only after the last has been taken. */
async function* rowsOf(
  desk: Desk,
  { agent, after, last }: Statement,
): AsyncGenerator<JournalRow[]> {
  for (let seq = after; seq < last; ) {
    const rows = await readJournal(desk.pool, agent.agentId, seq, chunk)
    const within = rows.filter((row) => row.seq <= last)
    if (within.length > 0) yield within
    seq = rows.at(-1)?.seq ?? last
  }
}

const columns = [
  'seq',
  'at',
  'event',
  'txn_id',
  'amount',
  'held_change',
  'fee',
  'balance',
  'held',
  'reason',
] as const satisfies (keyof ReturnType<typeof journalView>)[]

async function* csvOf(
  desk: Desk,
  statement: Statement,
  operator: Operator,
): AsyncGenerator<string> {
  yield csvLine([...columns])
  for await (const rows of rowsOf(desk, statement)) {
    let text = ''
    for (const row of rows) {
      const view: Record<string, CsvCell> = journalView(row, statement.agent.currency, operator)
      text += csvLine(columns.map((name) => view[name] ?? null))
    }
    yield text
  }
}

async function onPaper(
  desk: Desk,
  statement: Statement,
  timeZone: string,
): Promise<PrintedStatement> {
  const { agent, from, to, after, last } = statement
  const { balances: opening } = await balancesAfter(desk.pool, agent.agentId, after)
  const { balances: closing } = await balancesAfter(desk.pool, agent.agentId, last)
  const money = (minor: bigint) => printedMoney(minor, agent.currency)
  const total = (account: 'available' | 'held') => money(closing[account] - opening[account])
  async function* rows(): AsyncGenerator<PrintedRow> {
    const before = ['', '', 'Opening balance', '', '', '', '', money(opening.available)]
    yield { isSum: true, cells: before }
    let fees = 0n
    for await (const some of rowsOf(desk, statement)) {
      for (const row of some) {
        fees += feeChargedBy(row)
        yield { cells: printedCells(desk, row, money) }
      }
    }
    const totals = [total('available'), total('held'), money(fees), money(closing.available)]
    yield {
      isSum: true,
      cells: ['', '', 'Closing balance', 'and what the rows come to', ...totals],
    }
  }
  const madeAt = desk.now()
  return {
    title: agent.name,
    madeAt,
    facts: [
      ['App id', agent.appId],
      ['Currency', agent.currency],
      ['Period', `${desk.localTime(from)} to before ${desk.localTime(to)} (${timeZone})`],
      ['Made', `${desk.localTime(madeAt)} (${timeZone})`],
    ],
    figures: [
      ['Opening balance', money(opening.available)],
      ['Closing balance', money(closing.available)],
      ['Held at opening', money(opening.held)],
      ['Held at closing', money(closing.held)],
    ],
    rowCount: Number(last - after) + 2,
    rows: rows(),
  }
}

function printedCells(desk: Desk, row: JournalRow, money: (minor: bigint) => string): string[] {
  return [
    String(row.seq),
    desk.localTime(row.at),
    row.event.replaceAll('_', ' '),
    row.orderId === null ? (row.reason ?? '') : txnId(row.agentId, row.orderId),
    money(row.change.available),
    money(row.change.held),
    money(feeChargedBy(row)),
    money(row.balances.available),
  ]
}
