import { type ApiRequest, readApiLog } from '../../agents/api-log.ts'
import { jsonText } from '../../lib/json-text.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { ApiLogPage, ApiLogQuery } from './schemas/api-log.ts'
import { agentsInScope, badCursor } from './scope.ts'

/** `GET /api-log`: what agents asked lately, and what they were answered. */
export function apiLogRoute(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/api-log',
    summary: 'Requests of agents in the last days, newest first',
    tag: 'Agents',
    permission: 'view',
    agents: 'own',
    schema: { querystring: ApiLogQuery, response: ApiLogPage },
    handler: async ({ operator, query }) => {
      const { limit = 50, cursor, answered } = query
      const agents = await agentsInScope(desk.pool, operator, query.agent)
      const found = await readApiLog(desk.pool, {
        agentIds: agents.map(({ agentId }) => agentId),
        isRefused: answered === 'refused',
        after: cursor === undefined ? undefined : parseCursor(cursor),
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const last = found.length > limit ? shown.at(-1) : undefined
      return jsonText({
        data: shown.map((each) => {
          const agent = agents.find(({ agentId }) => agentId === each.agentId)
          return {
            app_id: agent?.appId ?? '',
            agent_name: agent?.name ?? '',
            at: each.at,
            request_id: each.requestId,
            method: each.method,
            path: each.path,
            status: each.status,
            code: each.code,
            detail: each.detail,
            duration_ms: each.durationMs,
            ip: each.ip,
            body: each.body,
            left_out: each.leftOut,
          }
        }),
        next: last ? cursorOf(last) : null,
      })
    },
  })
}

function cursorOf({ at, requestId }: ApiRequest): string {
  return `${at.getTime()}~${requestId}`
}

function parseCursor(cursor: string): { at: Date; requestId: string } {
  const [, ms, requestId] = /^(\d{1,15})~([\w.:-]{1,100})$/.exec(cursor) ?? []
  if (ms === undefined || requestId === undefined) throw badCursor()
  return { at: new Date(Number(ms)), requestId }
}
