import { inTransaction } from '../../db/in-transaction.ts'
import { Problem } from '../../lib/problem.ts'
import { asAgentUser, leaveView, startView } from '../../operators/agent-views.ts'
import { AgentParams } from './agents.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { LeftView, Me } from './schemas/users.ts'
import { agentNamed } from './scope.ts'
import { meOf } from './sign-in.ts'

/** Operators see the console as the users of an agent do. The door keeps such a session from changing anything. */
export function viewAsAgentRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, now } = deps.desk

  operatorRoute(api, {
    method: 'POST',
    url: '/agents/:app_id/view-as',
    summary: 'See the console as the users of this agent do, for half an hour; changes nothing',
    withoutCode: 'it takes permissions away until it is left',
    tag: 'Agents',
    permission: 'view_as_agents',
    agents: 'none',
    schema: { params: AgentParams, response: Me },
    handler: async ({ operator, params }) => {
      const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
      const until = await inTransaction(pool, (tx) =>
        startView(tx, operator, { agentId, appId }, now()),
      )
      return meOf(deps, asAgentUser(operator, { agentId, until }))
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/view-as/leave',
    summary: 'See one’s own console again',
    withoutCode: 'it ends what was only for looking',
    tag: 'Agents',
    permission: 'view',
    agents: 'own',
    leavesView: true,
    schema: { response: LeftView },
    handler: async ({ operator }) => {
      const left = await inTransaction(pool, (tx) => leaveView(tx, operator, now()))
      if (!left) throw new Problem('not_found', 'You see your own console.')
      return { app_id: left.appId }
    },
  })
}
