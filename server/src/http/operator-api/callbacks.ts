import type { Agent } from '../../agents/agent.ts'
import { type CallbackPlace, goesByDue } from '../../callbacks/callback-search.ts'
import type { FoundCallback } from '../../callbacks/found-callback.ts'
import { newLane } from '../../callbacks/lane.ts'
import { type LaneView, readLanes } from '../../callbacks/read-lanes.ts'
import { pauseCallbacks, resendCallbacks } from '../../callbacks/resend-callbacks.ts'
import { attemptsAt, findCallback, searchCallbacks } from '../../callbacks/search-callbacks.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { notShown, seesPersons, shownText } from './personal-data.ts'
import {
  CallbackDetail,
  CallbackLaneList,
  CallbackList,
  CallbackListQuery,
  CallbackParams,
  LaneParams,
  LaneRequest,
  ReplayAnswer,
  ReplayRequest,
  ResendAnswer,
  ResendRequest,
} from './schemas/callbacks.ts'
import { agentNamed, agentsInScope, badCursor, timesIn } from './scope.ts'

type Wake = (agentIds: bigint[]) => void

/** Callbacks, their attempts and their lanes. */
export function callbackRoutes(api: OperatorApi, desk: Desk, wake: Wake): void {
  readRoutes(api, desk)
  resendRoutes(api, desk, wake)
  laneRoutes(api, desk, wake)
}

function readRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/callbacks',
    summary: 'List callbacks by agent, state and age',
    tag: 'Callbacks',
    permission: 'view',
    agents: 'own',
    schema: { querystring: CallbackListQuery, response: CallbackList },
    handler: async ({ operator, query }) => {
      const { limit = 50, older_than_s, cursor } = query
      const state = query.state ?? (older_than_s === undefined ? undefined : 'undelivered')
      const agents = await agentsInScope(desk.pool, operator, query.agent)
      const found = await searchCallbacks(desk.pool, {
        agentIds: agents.map(({ agentId }) => agentId),
        state,
        until:
          older_than_s === undefined
            ? undefined
            : new Date(desk.now().getTime() - older_than_s * 1000),
        after: cursor === undefined ? undefined : placeIn(cursor),
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const byId = new Map(agents.map((agent) => [agent.agentId, agent]))
      return jsonText({
        data: shown.map((each) => callbackView(each, byId.get(each.agentId))),
        next: found.length > limit ? cursorAt(shown.at(-1), state) : null,
      })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/callbacks/:app_id/:seq',
    summary: 'One callback with its attempts',
    tag: 'Callbacks',
    permission: 'view',
    agents: 'own',
    schema: { params: CallbackParams, response: CallbackDetail },
    handler: async ({ operator, params }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const callback = await callbackOf(desk, agent, params.seq)
      const attempts = await attemptsAt(desk.pool, agent.agentId, [callback.seq], 100)
      const body = shownText(operator, callback.body)
      const url = callback.kind === 'deposit' ? agent.depositCallbackUrl : agent.withdrawCallbackUrl
      return jsonText({
        ...callbackView(callback, agent),
        body,
        url,
        attempts_made: attempts.map((attempt) => ({
          started_at: attempt.startedAt,
          duration_ms: attempt.durationMs,
          url: attempt.url,
          address: attempt.address,
          status: attempt.status,
          response_headers: seesPersons(operator) ? attempt.responseHeaders : notShown,
          response_body: seesPersons(operator)
            ? (attempt.responseBody?.toString('utf8') ?? null)
            : notShown,
          error: attempt.error,
        })),
        curl: curlOf(url ?? 'https://your-server.example/callback', agent, callback, body),
      })
    },
  })
}

/** Why sending a callback again needs no code. */
export const resendsOnly = 'sends what the agent was told already, to the address it is told at'

function resendRoutes(api: OperatorApi, desk: Desk, wake: Wake): void {
  operatorRoute(api, {
    method: 'POST',
    url: '/callbacks/:app_id/:seq/resend',
    summary: 'Send a callback again',
    withoutCode: resendsOnly,
    tag: 'Callbacks',
    permission: 'resend_callbacks',
    agents: 'own',
    schema: { params: CallbackParams, body: ResendRequest, response: ResendAnswer },
    handler: async ({ operator, params, body }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const { agentId } = agent
      const callback = await callbackOf(desk, agent, params.seq)
      const entry = {
        operator,
        action: 'resend_callback',
        subject: { kind: 'callback', id: `${agent.appId}/${callback.seq}` },
        agentId,
        before: { delivery: callback.delivery, attempts: callback.attempts },
        reason: body.reason,
      }
      await audited(desk.pool, desk.now, entry, () =>
        resendCallbacks(desk.pool, { agentId, seq: callback.seq }, desk.now),
      )
      const after = await callbackOf(desk, agent, params.seq)
      wake([agentId])
      return jsonText({ app_id: agent.appId, seq: callback.seq, delivery: after.delivery })
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/callbacks/replay',
    summary: 'Send all callbacks again that were given up since a time',
    withoutCode: resendsOnly,
    tag: 'Callbacks',
    permission: 'resend_callbacks',
    agents: 'own',
    schema: { body: ReplayRequest, response: ReplayAnswer },
    handler: async ({ operator, body }) => {
      const since = timesIn(body, ['failed_since']).failed_since
      if (!since) throw invalidRequest([{ field: 'failed_since', message: 'is required' }])
      const agents = await agentsInScope(desk.pool, operator, body.agent)
      const only = agents.length === 1 ? agents[0] : undefined
      const entry = {
        operator,
        action: 'replay_callbacks',
        subject: { kind: 'callbacks', id: only?.appId ?? 'all agents' },
        agentId: only?.agentId ?? null,
        before: { failed_since: since },
        reason: body.reason,
      }
      const replayed = await audited(
        desk.pool,
        desk.now,
        entry,
        () => replay(desk, agents, since),
        (done) => done,
      )
      wake(agents.map(({ agentId }) => agentId))
      const resent = replayed.reduce((sum, each) => sum + each.resent, 0)
      const left_out = replayed.reduce((sum, each) => sum + each.left_out, 0)
      return jsonText({ resent, left_out, agents: replayed })
    },
  })
}

async function replay(desk: Desk, agents: Agent[], since: Date) {
  const replayed: { app_id: string; resent: number; left_out: number }[] = []
  for (const { agentId, appId } of agents) {
    const which = { agentId, failed: true, since }
    const { resent, leftOut } = await resendCallbacks(desk.pool, which, desk.now)
    if (resent + leftOut > 0) replayed.push({ app_id: appId, resent, left_out: leftOut })
  }
  return replayed
}

function laneRoutes(api: OperatorApi, desk: Desk, wake: Wake): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/callback-lanes',
    summary: "How each agent's callbacks go",
    tag: 'Callbacks',
    permission: 'view',
    agents: 'own',
    schema: { response: CallbackLaneList },
    handler: async ({ operator }) => {
      const agents = await agentsInScope(desk.pool, operator)
      return jsonText({ data: await lanesOf(desk, agents) })
    },
  })

  for (const [name, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    operatorRoute(api, {
      method: 'POST',
      url: `/callback-lanes/:app_id/${name}`,
      ...(paused && { withoutCode: 'holding callbacks back must be quick' }),
      summary: paused ? "Hold an agent's callbacks back" : "Let an agent's callbacks go again",
      tag: 'Callbacks',
      permission: 'manage_agents',
      agents: 'none',
      schema: { params: LaneParams, body: LaneRequest, response: CallbackLaneList },
      handler: async ({ operator, params, body }) => {
        const agent = await agentNamed(desk.pool, operator, params.app_id)
        const { agentId, appId } = agent
        const [before] = await lanesOf(desk, [agent])
        const entry = {
          operator,
          action: `${name}_callbacks`,
          subject: { kind: 'agent', id: appId },
          agentId,
          before: { state: before?.state },
          reason: body.reason,
        }
        await audited(desk.pool, desk.now, entry, () =>
          pauseCallbacks(desk.pool, agentId, paused, desk.now),
        )
        wake([agentId])
        return jsonText({ data: await lanesOf(desk, [agent]) })
      },
    })
  }
}

async function lanesOf(desk: Desk, agents: Agent[]) {
  const ids = agents.map(({ agentId }) => agentId)
  const lanes = await readLanes(desk.pool, ids, newLane.width)
  const byId = new Map(agents.map((agent) => [agent.agentId, agent]))
  return lanes.map((lane) => ({
    app_id: byId.get(lane.agentId)?.appId,
    agent_name: byId.get(lane.agentId)?.name,
    state: lane.paused ? 'paused' : lane.probeAt ? 'probing' : 'open',
    why: lane.why,
    width: lane.width,
    probe_at: lane.probeAt,
    resumed_at: lane.resumedAt,
    health: healthOf(lane),
    waiting: lane.waiting,
    failing: lane.failing,
    oldest_at: lane.oldestAt,
    given_up: lane.givenUp,
    superseded: lane.superseded,
    no_address: lane.noAddress,
  }))
}

/** An open lane is not a healthy one if what it sends is refused. */
function healthOf(lane: LaneView): 'good' | 'warn' | 'bad' {
  if (lane.givenUp > 0 || (lane.probeAt && !lane.paused)) return 'bad'
  return lane.paused || lane.failing + lane.noAddress > 0 ? 'warn' : 'good'
}

async function callbackOf(desk: Desk, { agentId }: Agent, seq: number) {
  const callback = await findCallback(desk.pool, agentId, BigInt(seq))
  if (!callback) throw new Problem('not_found', 'The agent has no such callback.')
  return callback
}

function callbackView(callback: FoundCallback, agent: Agent | undefined) {
  const isDue = ['waiting', 'paused', 'sending'].includes(callback.delivery)
  return {
    app_id: agent?.appId,
    agent_name: agent?.name,
    seq: callback.seq,
    txn_id: txnId(callback.agentId, callback.orderId),
    ref_id: callback.refId,
    kind: callback.kind,
    status: callback.status,
    at: callback.at,
    delivery: callback.delivery,
    attempts: callback.attempts,
    due_at: isDue ? callback.dueAt : null,
    delivered_at: callback.deliveredAt,
    last_status: callback.lastStatus,
    last_error: callback.lastError,
  }
}

/** Only the holder of the secret can sign, so the signature is a placeholder. */
function curlOf(url: string, { appId }: Agent, { seq }: FoundCallback, body: string): string {
  const word = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl -X POST ${word(url)}`,
    `-H ${word('content-type: application/json')}`,
    `-H ${word(`x-appid: ${appId}`)}`,
    `-H ${word(`x-event-seq: ${seq}`)}`,
    `-H ${word('x-signature: t=UNIX_SECONDS,v1=HMAC_OF_T_DOT_BODY')}`,
    `--data-raw ${word(body)}`,
  ].join(' ')
}

function cursorAt(callback: FoundCallback | undefined, state: string | undefined): string | null {
  if (!callback) return null
  const { agentId, seq, at, dueAt } = callback
  return `${agentId}.${seq}.${(goesByDue(state) ? dueAt : at).getTime()}`
}

function placeIn(cursor: string): CallbackPlace {
  const [, agentId, seq, time] = /^(\d{1,18})\.(\d{1,18})\.(\d{1,15})$/.exec(cursor) ?? []
  if (agentId === undefined || seq === undefined) throw badCursor()
  return { agentId: BigInt(agentId), seq: BigInt(seq), time: new Date(Number(time)) }
}
