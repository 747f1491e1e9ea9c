import type { Agent } from '../../agents/agent.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { type Period, periodOf } from '../../insights/period.ts'
import { rowsBehind } from '../../insights/read-insights.ts'
import { balanceTrends, orderTrends, providerTrends } from '../../insights/read-trends.ts'
import { jsonText } from '../../lib/json-text.ts'
import { localTimeIn } from '../../lib/local-time.ts'
import { Problem } from '../../lib/problem.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import { type TrendsOf, TrendsQuery, TrendsView } from './schemas/insights.ts'
import { agentsInScope } from './scope.ts'

/** `GET /trends`: the last thirty days in small, for each row of a list. */
export function trendsRoute(api: OperatorApi, { pool, now }: Desk, timeZone: string): void {
  const localTime = localTimeIn(timeZone)
  operatorRoute(api, {
    method: 'GET',
    url: '/trends',
    summary: 'The last thirty days of wallets, agents, providers or callback lanes, a value a day',
    tag: 'Home',
    permission: 'view',
    agents: 'own',
    schema: { querystring: TrendsQuery, response: TrendsView },
    handler: async ({ operator, query }) => {
      if (query.of === 'providers' && operator.agentId !== null) {
        throw new Problem('not_found', 'There is nothing here for users of an agent.')
      }
      const agents = await agentsInScope(pool, operator)
      const period = periodOf('30d', now(), { timeZone, localTime })
      const found = await inTransaction(
        pool,
        async (tx) => ({
          data: await rowsOf(tx, query.of, agents, period),
          behind: await rowsBehind(tx, agents),
        }),
        'isolation level repeatable read read only',
      )
      return jsonText({ days: period.steps, ...found })
    },
  })
}

async function rowsOf(tx: Tx, of: TrendsOf, agents: readonly Agent[], period: Period) {
  const ids = agents.map(({ agentId }) => agentId)
  switch (of) {
    case 'wallets':
      return moneyRows(agents, await balanceTrends(tx, ids, period))
    case 'agents':
      return moneyRows(agents, await orderTrends(tx, ids, period, 'paid'))
    case 'lanes': {
      const trends = await orderTrends(tx, ids, period, 'called')
      return agents.map(({ agentId, appId }) => countRow(appId, trends.get(agentId) ?? []))
    }
    case 'providers': {
      const trends = await providerTrends(tx, ids, period)
      return [...trends].map(([name, values]) => countRow(name, values))
    }
  }
}

/** What is not in the summaries yet is left out rather than drawn as nothing. */
function moneyRows(agents: readonly Agent[], trends: ReadonlyMap<bigint, bigint[]>) {
  return agents.flatMap(({ agentId, appId, currency }) => {
    const values = trends.get(agentId)
    return values
      ? [{ name: appId, currency, values: values.map((each) => exact(each, currency)) }]
      : []
  })
}

const countRow = (name: string, values: readonly bigint[]) => ({
  name,
  currency: null,
  values: values.map(Number),
})
