import Type from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import { findAgentById } from '../../agents/find-agent.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { isTimeZone } from '../../lib/local-time.ts'
import { Problem } from '../../lib/problem.ts'
import { leaveView } from '../../operators/agent-views.ts'
import { writeAudit } from '../../operators/audit.ts'
import { type Operator, type Permission, permissionsOf } from '../../operators/operator.ts'
import { readPreferences, savePreferences } from '../../operators/preferences.ts'
import { endSession, endSessions, listSessions } from '../../operators/sessions.ts'
import type { SignIn } from '../../operators/sign-in.ts'
import { invalidRequest } from '../check.ts'
import { cookieOf, setCookie } from './console-cookies.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { Code, type OperatorApi, openRoute, operatorRoute } from './operator-route.ts'
import { Done, Me, Password, PreferencesRequest, SessionList } from './schemas/users.ts'

/** Signing in and out, and a user's own account. */
export function signInRoutes(api: OperatorApi, deps: OperatorDeps, signIn: SignIn): void {
  const { pool, now, publicUrl } = deps.desk

  openRoute(api, {
    method: 'POST',
    url: '/sign-in',
    summary: 'Sign in; the answer sets a cookie',
    tag: 'Sign-in',
    schema: {
      body: Type.Object(
        {
          email: Type.String({ maxLength: 254, description: 'an email address' }),
          password: Password,
          code: Type.String({ maxLength: 16, description: 'the code the authenticator shows' }),
        },
        { additionalProperties: false },
      ),
      response: Me,
    },
    handler: async ({ request, reply, body }) => {
      const { token, device, operator } = await signIn.signIn({
        ...body,
        device: cookieOf(request, publicUrl(), 'device'),
        ip: request.ip,
        userAgent: request.headers['user-agent'],
      })
      setCookie(reply, publicUrl(), 'session', token)
      setCookie(reply, publicUrl(), 'device', device)
      return meOf(deps, operator)
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/sign-out',
    summary: 'End this session',
    withoutCode: 'signing out must be quick',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    leavesView: true,
    schema: { response: Done },
    handler: async ({ operator, reply }) => {
      await endOwn(deps, operator, operator.sessionId, 'sign_out')
      setCookie(reply, publicUrl(), 'session', undefined)
      return {}
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/me',
    summary: 'Who is signed in, and what they may do',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    schema: { response: Me },
    handler: ({ operator }) => meOf(deps, operator),
  })

  operatorRoute(api, {
    method: 'PUT',
    url: '/me/preferences',
    summary: 'Choose the zone and the language in which I read the console',
    withoutCode: 'it says how things are shown to me',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    schema: { body: PreferencesRequest, response: Me },
    handler: async ({ operator, body }) => {
      const { time_zone: timeZone, language } = body as Record<string, string | null>
      if (timeZone != null && !isTimeZone(timeZone)) {
        throw invalidRequest([{ field: 'time_zone', message: 'must be such as Asia/Bangkok' }])
      }
      const at = now()
      const chosen = { timeZone: timeZone ?? null, language: language ?? null }
      await inTransaction(pool, async (tx) => {
        await savePreferences(tx, operator.userId, chosen)
        const subject = { kind: 'user', id: String(operator.userId) }
        const { agentId } = operator
        await writeAudit(tx, {
          ...{ at, operator, action: 'set_preferences', subject, agentId, after: chosen },
        })
      })
      return meOf(deps, operator)
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/me/sessions',
    summary: 'Where I am signed in',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    schema: { response: SessionList },
    handler: async ({ operator }) => {
      const sessions = await listSessions(pool, operator.userId, now())
      const data = sessions.map((session) => ({
        id: session.sessionId,
        current: session.sessionId === operator.sessionId,
        ip: session.ip,
        user_agent: session.userAgent,
        created_at: session.createdAt.toISOString(),
        last_seen_at: session.lastSeenAt.toISOString(),
      }))
      return { data, next: null }
    },
  })

  operatorRoute(api, {
    method: 'DELETE',
    url: '/me/sessions/:id',
    summary: 'End one of my sessions',
    withoutCode: 'signing out must be quick',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    schema: {
      params: Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }) }),
      response: Done,
    },
    handler: async ({ operator, params, reply }) => {
      await endOwn(deps, operator, params.id, 'end_session')
      if (params.id === operator.sessionId) setCookie(reply, publicUrl(), 'session', undefined)
      return {}
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/me/sessions/end-others',
    summary: 'End all my sessions but this one',
    withoutCode: 'signing out must be quick',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    schema: { response: Done },
    handler: async ({ operator }) => {
      const { userId, sessionId, agentId } = operator
      const at = now()
      await inTransaction(pool, async (tx) => {
        await endSessions(tx, userId, at, sessionId)
        const subject = { kind: 'user', id: String(userId) }
        await writeAudit(tx, { at, operator, action: 'end_other_sessions', subject, agentId })
      })
      return {}
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/me/password',
    summary: 'Change my password; all my other sessions end',
    tag: 'Sign-in',
    permission: 'view',
    agents: 'own',
    schema: {
      body: Type.Object(
        {
          current_password: Password,
          password: Password,
          keep_passkeys: Type.Optional(
            Type.Boolean({ description: 'true: my passkeys stay; otherwise they are removed' }),
          ),
          code: Type.Optional(Code),
        },
        { additionalProperties: false },
      ),
      response: Done,
    },
    handler: async ({ operator, reply, body }) => {
      await signIn.changePassword(operator, {
        currentPassword: body.current_password,
        password: body.password,
        keepsPasskeys: body.keep_passkeys === true,
      })
      setCookie(reply, publicUrl(), 'device', await signIn.deviceFor(operator.email))
      return {}
    },
  })
}

/** What an agent's users may do, as far as it changes nothing. */
const permissionsOfViews: Permission[] = ['view', 'view_own_audit']

export async function meOf(deps: OperatorDeps, operator: Operator) {
  const { userId, email, role, agentId, view } = operator
  const agent: Agent | undefined =
    agentId === null ? undefined : await findAgentById(deps.desk.pool, agentId)
  const { timeZone, language } = await readPreferences(deps.desk.pool, userId)
  return {
    user: {
      id: String(userId),
      email,
      role,
      app_id: agent?.appId ?? null,
      agent_name: agent?.name ?? null,
    },
    permissions: view ? permissionsOfViews : permissionsOf[role],
    view: view ? { until: view.until?.toISOString() ?? null } : null,
    mode: deps.mode,
    time_zone: deps.timeZone,
    preferences: { time_zone: timeZone, language },
    version: deps.version,
    now: deps.desk.now().toISOString(),
  }
}

async function endOwn(
  { desk }: OperatorDeps,
  operator: Operator,
  sessionId: string,
  action: string,
): Promise<void> {
  const at = desk.now()
  const { view, agentId } = operator
  await inTransaction(desk.pool, async (tx) => {
    if (view) await leaveView(tx, operator, at)
    if (!(await endSession(tx, operator.userId, sessionId, at))) {
      throw new Problem('not_found', 'You have no such session.')
    }
    const subject = { kind: 'session', id: sessionId }
    // Whoever saw an agent's console is none of its users.
    await writeAudit(tx, { at, operator, action, subject, agentId: view ? null : agentId })
  })
}
