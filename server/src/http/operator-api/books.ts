import { jsonText } from '../../lib/json-text.ts'
import { currencies, defaultCurrency } from '../../lib/money.ts'
import { readTrialBalances, readTrialHistory } from '../../reports/trial-balance.ts'
import { linesView, trialBalanceCsv, trialBalanceView } from '../../reports/trial-balance-view.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { BooksHistory, BooksHistoryQuery, BooksQuery, TrialBalanceView } from './schemas/books.ts'
import { timesIn } from './scope.ts'
import { type ExportLimits, sendExport } from './send-export.ts'

/** The trial balance over all agents and the house. It shows all agents' money, so none of them sees it. */
export function bookRoutes(
  api: OperatorApi,
  desk: Desk,
  timeZone: string,
  limits: ExportLimits,
): void {
  const common = { method: 'GET', tag: 'Books', permission: 'view', agents: 'none' } as const
  operatorRoute(api, {
    ...common,
    url: '/books',
    summary: 'The trial balance, now or as it was',
    schema: { querystring: BooksQuery, response: TrialBalanceView },
    handler: async ({ query }) => {
      const asked = askedIn(query)
      const balances = await readTrialBalances(desk.pool, asked)
      return jsonText(trialBalanceView(balances, asked.asOf, true))
    },
  })

  operatorRoute(api, {
    ...common,
    url: '/books.csv',
    summary: 'The trial balance as a table, book by book',
    schema: { querystring: BooksQuery, response: { status: 200, type: 'text/csv' } },
    handler: async ({ operator, query, request, reply }) => {
      const asked = askedIn(query)
      const balances = await readTrialBalances(desk.pool, asked)
      const file = {
        name: 'books.csv',
        type: 'text/csv; charset=utf-8',
        content: pieces(trialBalanceCsv(balances, asked.asOf, true)),
        stillMay: () => api.door.operatorOf(request),
        entry: {
          operator,
          action: 'export_books',
          subject: { kind: 'books', id: asked.currency ?? 'all' },
          agentId: null,
          before: query,
        },
      }
      return sendExport(desk, reply, file, limits)
    },
  })

  operatorRoute(api, {
    ...common,
    url: '/books/history',
    summary: 'The trial balance of a currency at the end of each of the last days',
    schema: { querystring: BooksHistoryQuery, response: BooksHistory },
    handler: async ({ query }) => {
      const { days = 30 } = query
      const [currency = defaultCurrency] = currencies.filter((each) => each === query.currency)
      const now = desk.now()
      const history = await readTrialHistory(desk.pool, { currency, days, now, timeZone })
      return jsonText({
        data: history.map(({ day, at, balance }) => ({ day, at, ...linesView(balance) })),
      })
    },
  })
}

function askedIn(query: { as_of?: string; currency?: string }) {
  const { as_of: asOf } = timesIn(query, ['as_of'])
  return { asOf, currency: currencies.find((each) => each === query.currency) }
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}
