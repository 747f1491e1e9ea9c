import type { Static } from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import type { OrderKind, OrderStatus } from '../../ledger/book.ts'
import { type CsvCell, csvLine } from '../../lib/csv.ts'
import { jsonText } from '../../lib/json-text.ts'
import { assigneesOfOrders, tagsOfOrders } from '../../operators/marks.ts'
import type { Operator } from '../../operators/operator.ts'
import {
  everyOrder,
  type FoundOrder,
  findOrdersAlike,
  findOrdersById,
  type OrderSearch,
  searchOrders,
} from '../../orders/search-orders.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { orderSummary } from './order-summary.ts'
import { seesPersons } from './personal-data.ts'
import { OrderCsvQuery, OrderList, OrderListQuery } from './schemas/orders.ts'
import { agentsInScope, badCursor, timesIn } from './scope.ts'
import { type ExportLimits, sendExport } from './send-export.ts'

/** `GET /orders` and `GET /orders.csv`. */
export function orderRoutes(api: OperatorApi, desk: Desk, limits: ExportLimits): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/orders',
    summary: 'Search orders, newest first',
    tag: 'Orders',
    permission: 'view',
    agents: 'own',
    schema: { querystring: OrderListQuery, response: OrderList },
    handler: async ({ operator, query }) => {
      const { search, agents } = await searchIn(desk, operator, query)
      const { cursor, limit = 50, q } = query
      if (cursor !== undefined && !/^[0-9a-f]{32}$/.test(cursor)) throw badCursor()
      const found =
        q === undefined
          ? await searchOrders(desk.pool, search, { after: cursor, limit })
          : { orders: await byText(desk, search, q), next: null, searchedTo: null }
      // What people write down about orders is not for agents.
      const isOperator = operator.agentId === null
      const tags = isOperator ? await tagsOfOrders(desk.pool, found.orders) : []
      const assignees = isOperator ? await assigneesOfOrders(desk.pool, found.orders) : []
      return jsonText({
        data: found.orders.map((order, at) => ({
          ...summaryIn(agents, order, operator),
          tags: tags[at] ?? [],
          assignee: assignees[at] ?? null,
        })),
        next: found.next,
        searched_to: found.searchedTo,
      })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/orders.csv',
    summary: 'All orders of a search as a table, streamed',
    tag: 'Orders',
    permission: 'view',
    agents: 'own',
    schema: {
      querystring: OrderCsvQuery,
      response: { status: 200, type: 'text/csv' },
    },
    handler: async ({ operator, query, request, reply }) => {
      const { search, agents } = await searchIn(desk, operator, query)
      const { q, account, ...filters } = query
      const pages =
        query.txn_ids !== undefined
          ? byIds(desk, search, query.txn_ids.split(','))
          : q === undefined
            ? everyOrder(desk.pool, search)
            : [await byText(desk, search, q)]
      const file = {
        name: 'orders.csv',
        type: 'text/csv; charset=utf-8',
        content: csvOf(pages, agents, operator),
        stillMay: () => api.door.operatorOf(request),
        entry: {
          operator,
          action: 'export_orders',
          subject: { kind: 'orders', id: query.agent ?? 'all' },
          agentId: operator.agentId,
          // An id chosen by an agent may be a person's name or number, so the log records only that one was
          // given.
          before: {
            ...filters,
            ...(q !== undefined && { q: 'an id' }),
            ...(account !== undefined && { account: 'an account' }),
          },
        },
      }
      return sendExport(desk, reply, file, limits)
    },
  })
}

const columns = [
  'txn_id',
  'ref_id',
  'app_id',
  'agent_name',
  'kind',
  'status',
  'user_id',
  'amount',
  'fee',
  'currency',
  'paid_amount',
  'account_name',
  'account_no',
  'bank_code',
  'provider',
  'provider_ref',
  'created_at',
  'expires_at',
  'completed_at',
] as const satisfies (keyof ReturnType<typeof orderSummary>)[]

/** Yields one window of orders at a time; reads the next only after the reader has taken it. */
async function* csvOf(
  pages: AsyncIterable<FoundOrder[]> | Iterable<FoundOrder[]>,
  agents: Map<bigint, Agent>,
  operator: Operator,
): AsyncGenerator<string> {
  yield csvLine([...columns])
  for await (const orders of pages) {
    let text = ''
    for (const order of orders) {
      const summary: Record<string, CsvCell> = summaryIn(agents, order, operator)
      text += csvLine(columns.map((name) => summary[name] ?? null))
    }
    if (text !== '') yield text
  }
}

async function searchIn(
  desk: Desk,
  operator: Operator,
  query: Static<typeof OrderCsvQuery>,
): Promise<{ search: OrderSearch; agents: Map<bigint, Agent> }> {
  const { from, to } = timesIn(query, ['from', 'to'])
  const { min_amount, max_amount, provider, currency } = query
  const isUnknown = query.payout === 'unknown'
  const inScope = await agentsInScope(desk.pool, operator, query.agent)
  const agents = inScope.filter((agent) => currency === undefined || agent.currency === currency)
  return {
    agents: new Map(agents.map((agent) => [agent.agentId, agent])),
    search: {
      agents,
      kind: (query.kind ?? (isUnknown ? 'withdraw' : undefined)) as OrderKind | undefined,
      // Orders with an unknown outcome are waiting, and waiting orders have their own index.
      status: (query.status ?? (isUnknown ? 'WAITING' : undefined)) as OrderStatus | undefined,
      isUnknown,
      from,
      to,
      minAmount: min_amount === undefined ? undefined : BigInt(min_amount),
      maxAmount: max_amount === undefined ? undefined : BigInt(max_amount),
      // Neither providers nor tags are shown to an agent's users, so they find nothing by them.
      provider: provider !== undefined && operator.agentId !== null ? '' : provider,
      userId: query.user,
      // Who does not see persons finds nobody by an account.
      accountNo: query.account !== undefined && !seesPersons(operator) ? '' : query.account,
      assignee: operator.agentId !== null && query.assignee !== undefined ? '' : query.assignee,
      tag: query.tag !== undefined && operator.agentId !== null ? '' : query.tag,
    },
  }
}

async function* byIds(
  desk: Desk,
  search: OrderSearch,
  ids: readonly string[],
): AsyncGenerator<FoundOrder[]> {
  for (const id of ids) yield await byId(desk, search, id)
}

function byId(desk: Desk, search: OrderSearch, id: string): Promise<FoundOrder[]> {
  const providers = desk.providers.all.map(({ name }) => name)
  return findOrdersById(desk.pool, search, id.trim(), providers)
}

/** By an id, or if nothing has it, by how one begins. */
async function byText(desk: Desk, search: OrderSearch, text: string): Promise<FoundOrder[]> {
  const found = await byId(desk, search, text)
  return found.length > 0 ? found : findOrdersAlike(desk.pool, search, text.trim(), 200)
}

function summaryIn(agents: Map<bigint, Agent>, order: FoundOrder, operator: Operator) {
  const agent = agents.get(order.agentId)
  if (!agent) throw new Error('an order of an agent was found that was not asked for')
  return orderSummary(order, agent, operator)
}
