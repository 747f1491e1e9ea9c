import { findAgent, listAgents } from '../../agents/find-agent.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { newOrderId } from '../../lib/ids.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { liftStop, readStops, type Stop, saveStop } from '../../routing/stops.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { GoBody, StopBody, StopList, StopParams } from './schemas/stops.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** Stopping payouts at once, by one person, and starting them again, by two. */
export function stopRoutes(api: OperatorApi, desk: Desk): void {
  const { pool, now } = desk
  const common = { tag: 'Stops', agents: 'none' } as const

  const view = async () => {
    const agents = await listAgents(pool)
    return {
      data: (await readStops(pool)).map((stop) => ({
        id: stop.stopId,
        app_id: agents.find(({ agentId }) => agentId === stop.agentId)?.appId ?? null,
        deposits: stop.deposits,
        at: stop.at.toISOString(),
        by: stop.by,
        reason: stop.reason,
      })),
    }
  }
  const stopNamed = async (stopId: string): Promise<Stop> => {
    const found = (await readStops(pool)).find((each) => each.stopId === stopId)
    if (!found) throw new Problem('not_found', 'There is no such stop any more.')
    return found
  }
  const subjectOf = ({ agentId }: Pick<Stop, 'agentId'>) => ({
    kind: 'stop',
    id: agentId === 0n ? 'everything' : `agent ${agentId}`,
  })
  const agentOf = ({ agentId }: Pick<Stop, 'agentId'>) => (agentId === 0n ? null : agentId)

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/stops',
    summary: 'What is stopped',
    permission: 'view',
    schema: { response: StopList },
    handler: view,
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/stops',
    summary: 'Stop the payouts of an agent, or all of them; deposits too if asked',
    permission: 'act_on_orders',
    withoutCode: 'stopping must be quick',
    schema: { body: StopBody, response: { status: 201, schema: StopList } },
    handler: async ({ operator, body }) => {
      const agent = body.app_id === undefined ? null : await findAgent(pool, body.app_id)
      if (agent === undefined) throw fieldProblem('app_id', 'is not the app id of an agent')
      const { deposits = false, reason } = body
      const at = now()
      const agentId = agent?.agentId ?? 0n
      const stop = { agentId, stopId: newOrderId(at), deposits, at, by: operator.email, reason }
      await inTransaction(pool, async (tx) => {
        const stopsDeposits = await saveStop(tx, stop)
        await writeAudit(tx, {
          at,
          operator,
          action: 'stop',
          subject: subjectOf(stop),
          agentId: agentOf(stop),
          after: { deposits: stopsDeposits },
          reason,
        })
      })
      return view()
    },
  })

  twoPersonRoute(api, {
    ...common,
    method: 'POST',
    url: '/stops/:id/lift',
    summary: 'Start again what this stop has stopped',
    permission: 'act_on_orders',
    schema: { params: StopParams, body: GoBody, response: StopList },
    approval: {
      action: 'lift_stop',
      repeats: 'effect',
      view: async ({ params }) => {
        const stop = await stopNamed(params.id)
        const { at, by, deposits, reason } = stop
        return {
          subject: subjectOf(stop),
          agentId: agentOf(stop),
          before: { stopped_at: at, stopped_by: by, because: reason, deposits },
          after: { stopped_at: null },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const stop = await stopNamed(params.id)
      const at = now()
      await inTransaction(pool, async (tx) => {
        if (!(await liftStop(tx, stop))) {
          throw new Problem('changed_meanwhile', 'It was lifted, or stopped again.')
        }
        await takeEffect(tx, operator, at)
        await writeAudit(tx, {
          at,
          operator,
          action: 'lift_stop',
          subject: subjectOf(stop),
          agentId: agentOf(stop),
          reason: body.reason,
        })
      })
      return view()
    },
  })
}
