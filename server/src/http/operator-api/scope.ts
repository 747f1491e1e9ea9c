import type { Agent } from '../../agents/agent.ts'
import { findAgent, findAgentById, listAgents } from '../../agents/find-agent.ts'
import type { Pool } from '../../db/pool.ts'
import { noSuchOrder } from '../../ledger/archived.ts'
import type { Order } from '../../ledger/book.ts'
import { findOrder } from '../../ledger/find-order.ts'
import { parseTxnId } from '../../lib/ids.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import { Problem } from '../../lib/problem.ts'
import type { Operator } from '../../operators/operator.ts'
import { invalidRequest } from '../check.ts'

/** What an operator may see: an agent's users see their own agent, and nothing else exists for them. */

/** Finds an agent by its app id, if this operator may see it. */
export async function agentNamed(pool: Pool, operator: Operator, appId: string): Promise<Agent> {
  const agent = await findAgent(pool, appId)
  if (!agent || (operator.agentId !== null && operator.agentId !== agent.agentId)) {
    throw new Problem('not_found', 'There is no such agent.')
  }
  return agent
}

/** The agents that an operator may see: the one they name, or all of them. */
export async function agentsInScope(
  pool: Pool,
  operator: Operator,
  appId?: string,
): Promise<Agent[]> {
  if (appId !== undefined) return [await agentNamed(pool, operator, appId)]
  if (operator.agentId === null) return listAgents(pool)
  const own = await findAgentById(pool, operator.agentId)
  return own ? [own] : []
}

/** Finds an order by its id, with its agent, if this operator may see it. */
export async function orderNamed(
  pool: Pool,
  operator: Operator,
  txnId: string,
): Promise<{ order: Order; agent: Agent }> {
  const named = parseTxnId(txnId)
  const isTheirs = operator.agentId === null || operator.agentId === named?.agentId
  const order = named && isTheirs && (await findOrder(pool, named.agentId, named.orderId))
  if (named && isTheirs && !order) throw await noSuchOrder(pool, named.agentId, named)
  const agent = order && (await findAgentById(pool, order.agentId))
  if (!order || !agent) throw new Problem('order_not_found', 'There is no such order.')
  return { order, agent }
}

/** Reads the times in a query under these names; reports all invalid ones at once. */
export function timesIn<Name extends string>(
  query: Partial<Record<Name, string>>,
  names: readonly Name[],
): Partial<Record<Name, Date>> {
  const times: Partial<Record<Name, Date>> = {}
  const bad: Name[] = []
  for (const name of names) {
    const text = query[name]
    if (text === undefined) continue
    const at = parseIsoTime(text)
    if (at) times[name] = at
    else bad.push(name)
  }
  if (bad.length > 0) {
    const message = 'must be an ISO 8601 time with zone, such as 2026-01-31T08:30:00Z'
    throw invalidRequest(bad.map((field) => ({ field, message })))
  }
  return times
}

/** Only this service writes cursors, so one that cannot be read was made up. */
export function badCursor(): Problem {
  return invalidRequest([{ field: 'cursor', message: 'must be next from the page before' }])
}
