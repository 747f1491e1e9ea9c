import Type from 'typebox'
import { findAgent, listAgents } from '../../agents/find-agent.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { notMadeYet } from '../../operators/audit.ts'
import { invitationLink } from '../../operators/invite.ts'
import type { Operator, Role } from '../../operators/operator.ts'
import { changeUser, createUser, type Invited, resetUser } from '../../operators/save-user.ts'
import {
  findUser,
  findUserByEmail,
  listUsers,
  parseEmail,
  type User,
} from '../../operators/user.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { Code, type OperatorApi, operatorRoute, Reason } from './operator-route.ts'
import { isoTime, orNull } from './schemas/shapes.ts'
import { RoleName } from './schemas/users.ts'
import { twoPersonRoute } from './two-person-route.ts'

const states = ['active', 'invited', 'disabled'] as const

const UserView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: RoleName,
  app_id: orNull(Type.String({ description: 'the one agent they see' })),
  state: Type.Unsafe<(typeof states)[number]>({
    type: 'string',
    enum: [...states],
    description: 'invited: has no password yet, or not any more',
  }),
  codes_stopped_at: orNull(
    isoTime('since when their password signs in no new device; reset them, or let them change it'),
  ),
  created_at: isoTime('when they were invited first'),
  last_seen_at: orNull(isoTime('when they were last there')),
})

const UserAndLink = Type.Object({
  user: UserView,
  link: Type.String({ description: 'for them to choose a password; works once, for 24 hours' }),
})

const IdParams = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,17}$' }) })
const AppId = Type.String({ maxLength: 64, description: 'the app id of an agent' })

interface NewUser {
  email: string
  role: Role
  app_id?: string
}

/** The users, and their roles. */
export function userRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, now, publicUrl } = deps.desk
  const asked = (operator: Operator, reason: string | null) => ({
    operator,
    reason,
    at: now(),
    answerOf: ({ user, token }: Invited) => ({
      email: user.email,
      link: invitationLink(publicUrl(), token),
    }),
  })
  const admins = { tag: 'Users', permission: 'manage_users', agents: 'none' } as const

  const view = async (user: User & { lastSeenAt?: Date | null }, appIds?: Map<bigint, string>) => ({
    id: String(user.userId),
    email: user.email,
    role: user.role,
    app_id:
      user.agentId === null ? null : ((appIds ?? (await appIdsOf(deps))).get(user.agentId) ?? null),
    state: user.disabledAt ? 'disabled' : user.isEnrolled ? 'active' : 'invited',
    codes_stopped_at: user.codesStoppedAt?.toISOString() ?? null,
    created_at: user.createdAt.toISOString(),
    last_seen_at: user.lastSeenAt?.toISOString() ?? null,
  })
  const userNamed = async (id: string): Promise<User> => {
    const user = await findUser(pool, BigInt(id))
    if (!user) throw new Problem('not_found', 'There is no such user.')
    return user
  }
  const newUser = async ({ email: text, role, app_id }: NewUser) => {
    const email = parseEmail(text)
    if (email === undefined) throw fieldProblem('email', 'must be an email address')
    if ((role === 'agent') !== (app_id !== undefined)) {
      throw fieldProblem('app_id', 'goes with the role agent, and only with it')
    }
    return { email, role, agentId: app_id === undefined ? null : await agentIdOf(deps, app_id) }
  }
  const withLink = async ({ user, token }: Invited) => ({
    user: await view(user),
    link: invitationLink(publicUrl(), token),
  })

  operatorRoute(api, {
    ...admins,
    method: 'GET',
    url: '/users',
    summary: 'All users',
    schema: { response: Type.Object({ data: Type.Array(UserView), next: Type.Null() }) },
    handler: async () => {
      const appIds = await appIdsOf(deps)
      const users = await listUsers(pool)
      return { data: await Promise.all(users.map((user) => view(user, appIds))), next: null }
    },
  })

  twoPersonRoute(api, {
    ...admins,
    method: 'POST',
    url: '/users',
    summary: 'Create a user and the link for their password',
    schema: {
      body: Type.Object(
        {
          email: Type.String({ maxLength: 254, description: 'an email address' }),
          role: RoleName,
          app_id: Type.Optional(AppId),
          code: Type.Optional(Code),
        },
        { additionalProperties: false },
      ),
      response: { status: 201, schema: UserAndLink },
    },
    approval: {
      action: 'create_user',
      repeats: 'effect',
      hasSecret: true,
      view: async ({ body }) => {
        const { email, role, agentId } = await newUser(body)
        const isTaken = (await findUserByEmail(pool, email)) !== undefined
        if (isTaken) throw fieldProblem('email', 'is taken')
        const after = { email, role, app_id: body.app_id ?? null }
        return { subject: { kind: 'user', id: notMadeYet }, agentId, before: null, after }
      },
    },
    handler: async ({ operator, body }) => {
      const { email, role, agentId } = await newUser(body)
      const { proposal } = operator
      // In the sandbox one person may be everybody.
      const isAlone = deps.mode === 'live' && (!proposal || proposal.byCommandLine)
      const made = await createUser(pool, { email, role, agentId }, asked(operator, null), {
        isAlone,
      })
      return withLink(made)
    },
  })

  twoPersonRoute(api, {
    ...admins,
    method: 'PATCH',
    url: '/users/:id',
    summary: 'Change the role of a user, or whether they may sign in; a change ends their sessions',
    withoutCode: ({ body: { disabled, role, app_id } }) =>
      disabled === true && role === undefined && app_id === undefined
        ? 'locking a user out must be quick'
        : undefined,
    schema: {
      params: IdParams,
      body: Type.Object(
        {
          role: Type.Optional(RoleName),
          app_id: Type.Optional(AppId),
          disabled: Type.Optional(Type.Boolean({ description: 'true or false' })),
          reason: Reason,
          code: Type.Optional(Code),
        },
        { additionalProperties: false },
      ),
      response: UserView,
    },
    approval: {
      action: 'change_user',
      repeats: 'effect',
      view: async ({ params, body }) => {
        const user = await userNamed(params.id)
        const { role, app_id, state } = await view(user)
        const before = { email: user.email, role, app_id, disabled: state === 'disabled' }
        const { reason: _reason, code: _code, ...changes } = body
        const { agentId } = user
        return {
          subject: { kind: 'user', id: params.id },
          agentId,
          before,
          after: { ...before, ...changes },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const agentId = body.app_id === undefined ? undefined : await agentIdOf(deps, body.app_id)
      const user = await changeUser(
        pool,
        BigInt(params.id),
        {
          ...(body.role !== undefined && { role: body.role }),
          ...(agentId !== undefined && { agentId }),
          ...(body.disabled !== undefined && { disabled: body.disabled }),
        },
        asked(operator, body.reason),
      )
      return view(user)
    },
  })

  twoPersonRoute(api, {
    ...admins,
    method: 'POST',
    url: '/users/:id/reset',
    summary: 'For a lost phone or password: ends what they sign in with, makes a new link',
    schema: {
      params: IdParams,
      body: Type.Object(
        { reason: Reason, code: Type.Optional(Code) },
        { additionalProperties: false },
      ),
      response: UserAndLink,
    },
    approval: {
      action: 'reset_user',
      repeats: 'effect',
      hasSecret: true,
      view: async ({ params }) => {
        const user = await userNamed(params.id)
        const { email, agentId, isEnrolled } = user
        return {
          subject: { kind: 'user', id: params.id },
          agentId,
          before: { email, can_sign_in: isEnrolled },
          after: { email, can_sign_in: false, gets_new_link: true },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const made = await resetUser(pool, BigInt(params.id), asked(operator, body.reason), {
        keepsAnAdmin: true,
      })
      return withLink(made)
    },
  })
}

async function appIdsOf({ desk }: OperatorDeps): Promise<Map<bigint, string>> {
  return new Map((await listAgents(desk.pool)).map(({ agentId, appId }) => [agentId, appId]))
}

async function agentIdOf({ desk }: OperatorDeps, appId: string): Promise<bigint> {
  const agent = await findAgent(desk.pool, appId)
  if (!agent) throw fieldProblem('app_id', 'is not the app id of an agent')
  return agent.agentId
}
