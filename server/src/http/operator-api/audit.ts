import Type from 'typebox'
import { parseIsoTime } from '../../lib/local-time.ts'
import { fieldProblem } from '../../lib/problem.ts'
import { type AuditAction, auditActions } from '../../operators/audit-actions.ts'
import { auditOfAgent } from '../../operators/audit-of-agent.ts'
import { type AuditFilter, type AuditRow, readAudit } from '../../operators/read-audit.ts'
import { findUserByEmail } from '../../operators/user.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { isoTime, oneOf, orNull } from './schemas/shapes.ts'
import { agentNamed } from './scope.ts'

const time = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }))

const page = {
  cursor: Type.Optional(
    Type.String({ pattern: '^[0-9a-f]{32}$', description: 'next from the page before' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '1 to 200' })),
}

const AuditQuery = Type.Object(
  {
    actor: Type.Optional(
      Type.String({ maxLength: 254, description: "a user's email or id, or command-line" }),
    ),
    subject: Type.Optional(
      Type.String({
        pattern: '^[a-z_]{3,32}(:.{1,256})?$',
        description: 'a kind, or kind:id such as user:3',
      }),
    ),
    action: Type.Optional(oneOf(auditActions, 'an action such as sign_in')),
    steps: Type.Optional(
      oneOf(['all'], 'all: also the row that was written before each action was done'),
    ),
    from: time('an ISO 8601 time with zone; done then or later'),
    to: time('an ISO 8601 time with zone; done before it'),
    ...page,
  },
  { additionalProperties: false },
)

const AuditView = Type.Object({
  id: Type.String(),
  at: isoTime('when it was done'),
  asked_at: orNull(isoTime('when it was asked for, if that was written down before')),
  actor: Type.Object({
    id: orNull(Type.String()),
    email: Type.String({ description: 'as it was then; command line; or unknown' }),
    role: orNull(Type.String()),
    ip: orNull(Type.String()),
    session_id: orNull(Type.String()),
  }),
  action: Type.String(),
  subject: Type.Object({ kind: Type.String(), id: Type.String() }),
  outcome: Type.Unsafe<string>({ type: 'string', enum: ['asked', 'done', 'refused'] }),
  before: Type.Unknown(),
  after: Type.Unknown(),
  reason: orNull(Type.String()),
})

const AgentAuditView = Type.Object({
  id: Type.String(),
  at: isoTime('when it was done'),
  asked_at: orNull(isoTime('when it was asked for, if that was written down before')),
  by: orNull(
    Type.Object(
      { email: Type.String(), ip: orNull(Type.String()) },
      {
        description:
          "a user or a secret of the agent; null: the operator, whose reasons aren't shown",
      },
    ),
  ),
  action: Type.String(),
  subject: Type.Object({ kind: Type.String(), id: Type.String() }),
  outcome: Type.Unsafe<string>({ type: 'string', enum: ['asked', 'done', 'refused'] }),
  before: Type.Unknown(),
  after: Type.Unknown(),
  reason: orNull(Type.String()),
})

/** The audit log: who did what, when, from where and why. */
export function auditRoutes(api: OperatorApi, deps: OperatorDeps): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/audit',
    summary: 'What was done, newest first',
    tag: 'Audit',
    permission: 'view_audit',
    agents: 'none',
    schema: {
      querystring: AuditQuery,
      response: Type.Object({
        data: Type.Array(AuditView),
        next: orNull(Type.String({ description: 'pass as cursor' })),
      }),
    },
    handler: async ({ query }) => {
      const limit = query.limit ?? 50
      const actor = await actorOf(deps, query.actor)
      if (!actor) return { data: [], next: null }
      const [kind = '', ...id] = query.subject?.split(':') ?? []
      const rows = await readAudit(deps.desk.pool, {
        ...actor,
        ...(query.action !== undefined && { action: query.action as AuditAction }),
        isFolded: query.steps === undefined,
        ...(kind !== '' && { subject: { kind, ...(id.length > 0 && { id: id.join(':') }) } }),
        ...timeOf('from', query.from),
        ...timeOf('to', query.to),
        ...(query.cursor !== undefined && { before: query.cursor }),
        limit: limit + 1,
      })
      const shown = rows.slice(0, limit)
      return {
        data: shown.map(view),
        next: rows.length > limit ? (shown.at(-1)?.auditId ?? null) : null,
      }
    },
  })
}

/** What an agent's own users see of the audit log. */
export function agentAuditRoute(api: OperatorApi, { desk }: OperatorDeps): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/agents/:app_id/audit',
    summary: 'What was done that concerns one agent, as its users see it, newest first',
    tag: 'Audit',
    permission: 'view_own_audit',
    agents: 'own',
    schema: {
      params: Type.Object({ app_id: Type.String({ maxLength: 64 }) }),
      querystring: Type.Object(page, { additionalProperties: false }),
      response: Type.Object({
        data: Type.Array(AgentAuditView),
        next: orNull(Type.String({ description: 'pass as cursor' })),
      }),
    },
    handler: async ({ operator, params, query }) => {
      const limit = query.limit ?? 50
      const { agentId } = await agentNamed(desk.pool, operator, params.app_id)
      const rows = await auditOfAgent(desk.pool, agentId, {
        ...(query.cursor !== undefined && { before: query.cursor }),
        limit: limit + 1,
      })
      const shown = rows.slice(0, limit)
      return {
        data: shown.map(({ auditId, at, askedAt, subjectKind, subjectId, ...row }) => ({
          ...row,
          id: auditId,
          at: at.toISOString(),
          asked_at: askedAt?.toISOString() ?? null,
          subject: { kind: subjectKind, id: subjectId },
        })),
        next: rows.length > limit ? (shown.at(-1)?.auditId ?? null) : null,
      }
    },
  })
}

/** Undefined if no user has that name: then there is nothing to find. */
async function actorOf(
  { desk }: OperatorDeps,
  actor: string | undefined,
): Promise<Pick<AuditFilter, 'userId' | 'isCommandLine'> | undefined> {
  if (actor === undefined) return {}
  if (actor === 'command-line') return { isCommandLine: true }
  if (/^[1-9]\d{0,17}$/.test(actor)) return { userId: BigInt(actor) }
  const user = await findUserByEmail(desk.pool, actor.toLowerCase())
  return user && { userId: user.userId }
}

function timeOf(field: 'from' | 'to', text: string | undefined): Partial<AuditFilter> {
  if (text === undefined) return {}
  const time = parseIsoTime(text)
  if (!time) throw fieldProblem(field, 'must be an ISO 8601 time with zone')
  return { [field]: time }
}

function view(row: AuditRow) {
  return {
    id: row.auditId,
    at: row.at.toISOString(),
    asked_at: row.askedAt?.toISOString() ?? null,
    actor: {
      id: row.userId === null ? null : String(row.userId),
      email: row.email,
      role: row.role,
      ip: row.ip,
      session_id: row.sessionId,
    },
    action: row.action,
    subject: { kind: row.subjectKind, id: row.subjectId },
    outcome: row.outcome,
    before: row.before,
    after: row.after,
    reason: row.reason,
  }
}
