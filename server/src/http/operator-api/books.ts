import type { Static } from 'typebox'
import { jsonText } from '../../lib/json-text.ts'
import {
  type Currency,
  currencies,
  decimalText,
  defaultCurrency,
  parseDecimal,
} from '../../lib/money.ts'
import { fieldProblem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import { readTrialBalances, readTrialHistory } from '../../reports/trial-balance.ts'
import { linesView, trialBalanceCsv, trialBalanceView } from '../../reports/trial-balance-view.ts'
import type { Desk } from '../../teller/desk.ts'
import { writeOff } from '../../teller/write-off.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import {
  BooksHistory,
  BooksHistoryQuery,
  BooksQuery,
  TrialBalanceView,
  WriteOffAnswer,
  WriteOffRequest,
} from './schemas/books.ts'
import { timesIn } from './scope.ts'
import { type ExportLimits, sendExport } from './send-export.ts'
import { twoPersonRoute } from './two-person-route.ts'

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

/** The house takes a difference at a provider on itself. */
export function writeOffRoute(api: OperatorApi, desk: Desk): void {
  const asked = async (body: Static<typeof WriteOffRequest>) => {
    // The schema allows only known values.
    const currency = body.currency as Currency
    const minor = parseDecimal(body.amount.replace(/^-/, ''), currency)
    if (!minor) {
      const message = `must be a multiple of ${decimalText(1n, currency)} other than 0`
      throw invalidRequest([{ field: 'amount', message }])
    }
    const [trial] = await readTrialBalances(desk.pool, { currency })
    const isKnown =
      trial?.providers.some((each) => each.provider === body.provider) ||
      desk.providers.find(body.provider) !== undefined
    if (!isKnown) throw fieldProblem('provider', 'is not a provider, and no money is at it')
    return { currency, amountMinor: body.amount.startsWith('-') ? -minor : minor }
  }

  twoPersonRoute(api, {
    method: 'POST',
    url: '/books/write-off',
    summary: 'Take a difference at a provider on the house',
    tag: 'Books',
    permission: 'adjust_wallets',
    agents: 'none',
    schema: { body: WriteOffRequest, response: WriteOffAnswer },
    approval: {
      action: 'write_off',
      repeats: 'keyed',
      view: async ({ body }) => {
        const { currency, amountMinor: minor } = await asked(body)
        const { provider, ref } = body
        return {
          subject: { kind: 'books', id: currency },
          agentId: null,
          amount: { minor, currency },
          before: null,
          after: { written_off: exact(minor, currency), currency, provider, ref },
        }
      },
    },
    handler: async ({ operator, body }) => {
      const { currency, amountMinor } = await asked(body)
      const { provider, reason, ref } = body
      const { changed } = await audited(
        desk.pool,
        desk.now,
        {
          operator,
          action: 'write_off',
          subject: { kind: 'books', id: currency },
          agentId: null,
          before: { amount: body.amount, provider, ref },
          reason,
        },
        () => writeOff(desk, { currency, provider, amountMinor, reason, ref }),
        (done) => ({ changed: done.changed }),
      )
      return { changed }
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
