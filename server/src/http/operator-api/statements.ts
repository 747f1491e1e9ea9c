import type { Agent } from '../../agents/agent.ts'
import { type CsvCell, csvLine } from '../../lib/csv.ts'
import { Problem } from '../../lib/problem.ts'
import type { Operator } from '../../operators/operator.ts'
import { readStatement, type Statement, statementRows } from '../../reports/statement.ts'
import { statementCsv, statementOnPaper } from '../../reports/statement-view.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { journalView } from './journal-view.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { StatementQuery, WalletParams } from './schemas/wallets.ts'
import { agentNamed, timesIn } from './scope.ts'
import { type ExportLimits, onceASecond, sendExport } from './send-export.ts'

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
    summary: "A wallet's journal between two times, or what it comes to, as a table",
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
        content: isSummary(query) ? summaryOf(statement) : csvOf(desk, statement, operator),
        stillMay: () => api.door.operatorOf(request),
        entry: auditEntry(operator, statement, 'csv'),
      }
      return sendExport(desk, reply, file, limits)
    },
  })

  operatorRoute(api, {
    ...common,
    url: '/wallets/:app_id/statement.pdf',
    summary: "A wallet's journal between two times and what it comes to, to print",
    schema: {
      params: WalletParams,
      querystring: StatementQuery,
      response: { status: 200, type: 'application/pdf' },
    },
    handler: async ({ operator, params, query, request, reply }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const statement = await statementOf(desk, agent, query)
      const withRows = !isSummary(query)
      if (withRows && statement.last - statement.after > mostRowsOnPaper) {
        const detail = `It would have more than ${mostRowsOnPaper} rows: take a shorter time, the table, or the summary.`
        throw new Problem('invalid_request', detail)
      }
      // Imported here, so that it does not delay the start of the service.
      const { printStatement } = await import('../../reports/statement-pdf.ts')
      const { localTime } = desk
      const options = { localTime, timeZone, madeAt: desk.now(), withRows }
      const pdf = printStatement(statementOnPaper(desk.pool, statement, options))
      const file = {
        name: `statement-${agent.appId}.pdf`,
        type: 'application/pdf',
        content: pdf,
        stillMay: onceASecond(() => api.door.operatorOf(request)),
        entry: auditEntry(operator, statement, 'pdf'),
      }
      return sendExport(desk, reply, file, limits)
    },
  })
}

/** Whether only what the rows come to is wanted. */
function isSummary({ content }: { content?: string }): boolean {
  return content === 'summary'
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
  return readStatement(desk.pool, agent, { from, to })
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

async function* summaryOf(statement: Statement): AsyncGenerator<string> {
  yield statementCsv(statement)
}

async function* csvOf(
  desk: Desk,
  statement: Statement,
  operator: Operator,
): AsyncGenerator<string> {
  yield csvLine([...columns])
  for await (const rows of statementRows(desk.pool, statement)) {
    let text = ''
    for (const row of rows) {
      const view: Record<string, CsvCell> = journalView(row, statement.agent.currency, operator)
      text += csvLine(columns.map((name) => view[name] ?? null))
    }
    yield text
  }
}
