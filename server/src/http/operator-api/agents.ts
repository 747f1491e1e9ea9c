import Type, { type Static } from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import {
  type AgentBrand,
  findBrand,
  type Logo,
  logoText,
  logoUrl,
  parseColour,
  parseLogo,
  saveBrand,
} from '../../agents/agent-brand.ts'
import { agentView, keyView } from '../../agents/agent-view.ts'
import { listKeys } from '../../agents/find-agent.ts'
import {
  type AgentTerms,
  createAgent,
  defaultTerms,
  newTermsFaults,
  termsFaults,
  updateAgent,
} from '../../agents/save-agent.ts'
import { appliedTerms } from '../../agents/terms.ts'
import type { ActionName } from '../../approvals/actions.ts'
import { hurryCallbacks } from '../../callbacks/resend-callbacks.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { defaultCurrency } from '../../lib/money.ts'
import { type FieldError, fieldProblem, Problem } from '../../lib/problem.ts'
import { audited, notMadeYet, writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { invalidRequest } from '../check.ts'
import type { ActionView, Beside } from './approvals-desk.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { Code, type OperatorApi, operatorRoute, Reason } from './operator-route.ts'
import {
  AddressesBody,
  AgentDetail,
  AgentView,
  ChangeAgentBody,
  NewAgentBody,
  SecretAnswer,
} from './schemas/agents.ts'
import { appId, strict } from './schemas/shapes.ts'
import { agentNamed, agentsInScope } from './scope.ts'
import { type Asked, twoPersonRoute } from './two-person-route.ts'

export const AgentParams = Type.Object({ app_id: appId })

/** A logo in base64 is a third larger than the picture. */
const bodyLimit = 64 * 1024

/** Agents and their terms. An agent's own users can see them and set the callback addresses. */
export function agentRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, secretKeys, now } = deps.desk
  const change = { tag: 'Agents', permission: 'manage_agents', agents: 'none' } as const

  operatorRoute(api, {
    method: 'GET',
    url: '/agents',
    summary: 'All agents',
    tag: 'Agents',
    permission: 'view',
    agents: 'own',
    schema: { response: Type.Object({ data: Type.Array(AgentView), next: Type.Null() }) },
    handler: async ({ operator }) => {
      const agents = await agentsInScope(pool, operator)
      return { data: agents.map(agentView), next: null }
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/agents/:app_id',
    summary: 'One agent, with its looks and when its secrets were used',
    tag: 'Agents',
    permission: 'view',
    agents: 'own',
    schema: { params: AgentParams, response: AgentDetail },
    handler: async ({ operator, params }) =>
      detail(deps, await agentNamed(pool, operator, params.app_id)),
  })

  twoPersonRoute(api, {
    ...change,
    method: 'POST',
    url: '/agents',
    summary: 'Create an agent; its secret is in the answer, and never again',
    schema: { body: NewAgentBody, response: { status: 201, schema: SecretAnswer } },
    bodyLimit,
    approval: {
      action: 'create_agent',
      repeats: 'effect',
      hasSecret: true,
      view: async ({ body }) => {
        await newAgent(deps, body as Partial<Said>)
        const subject = { kind: 'agent', id: notMadeYet }
        return { subject, agentId: null, before: null, after: withoutLogo(body) }
      },
      beside: async ({ body }) => pictures(null, body),
    },
    handler: async ({ operator, body }) => {
      const { terms, brand } = await newAgent(deps, body as Partial<Said>)
      const subject = { kind: 'agent', id: notMadeYet }
      const { agent, secret } = await audited(
        pool,
        now,
        { operator, action: 'create_agent', subject, agentId: null },
        () =>
          createAgent(pool, secretKeys, terms, now(), (tx, { appId, secret }) =>
            takeEffect(tx, operator, now(), { app_id: appId, secret }),
          ),
        (made) => agentView(made.agent),
        ({ agent: { appId: id, agentId } }) => ({ subject: { kind: 'agent', id }, agentId }),
      )
      if (brand) await saveBrand(pool, agent.agentId, brand, now())
      return { app_id: agent.appId, secret }
    },
  })

  twoPersonRoute(api, {
    ...change,
    method: 'PATCH',
    url: '/agents/:app_id',
    summary: "Change an agent's terms or looks",
    schema: { params: AgentParams, body: ChangeAgentBody, response: AgentDetail },
    bodyLimit,
    approval: {
      action: 'change_agent',
      repeats: 'effect',
      also: (body) => alsoChanges(body),
      view: async ({ operator, params, body }) =>
        changeView(deps, await agentNamed(pool, operator, params.app_id), body),
      beside: async ({ operator, params, body }) => {
        const { agentId } = await agentNamed(pool, operator, params.app_id)
        const { logo } = await findBrand(pool, agentId)
        return pictures(logo && logoUrl(logo), body)
      },
    },
    handler: async ({ operator, params, body }) => {
      const found = await agentNamed(pool, operator, params.app_id)
      return changeTerms(deps, operator, found, body as Partial<Said> & Told, 'change_agent')
    },
  })

  twoPersonRoute(api, {
    method: 'PUT',
    url: '/agents/:app_id/callback-addresses',
    summary: 'Say where callbacks are sent',
    tag: 'Agents',
    permission: 'manage_own_keys',
    agents: 'own',
    schema: { params: AgentParams, body: AddressesBody, response: AgentDetail },
    approval: {
      action: 'change_addresses',
      repeats: 'effect',
      view: async ({ operator, params, body }) =>
        changeView(deps, await agentNamed(pool, operator, params.app_id), body),
    },
    handler: async ({ operator, params, body }) => {
      const found = await agentNamed(pool, operator, params.app_id)
      const said = body as Pick<Said, 'deposit_callback' | 'withdraw_callback'> & Told
      return changeTerms(deps, operator, found, said, 'change_addresses')
    },
  })

  const StatusBody = Type.Object({ reason: Reason, code: Type.Optional(Code) }, strict)
  const setStatus =
    (status: Agent['status'], action: string) =>
    async ({ operator, params, body }: Asked<typeof AgentParams, typeof StatusBody>) => {
      const found = await agentNamed(pool, operator, params.app_id)
      const told = { status, updated_at: found.updatedAt.toISOString(), reason: body.reason }
      return changeTerms(deps, operator, found, told, action)
    }

  operatorRoute(api, {
    ...change,
    method: 'POST',
    url: '/agents/:app_id/suspend',
    summary: 'Take no orders of an agent',
    withoutCode: 'stopping an agent must be quick',
    schema: { params: AgentParams, body: StatusBody, response: AgentDetail },
    handler: setStatus('suspended', 'suspend_agent'),
  })

  twoPersonRoute(api, {
    ...change,
    method: 'POST',
    url: '/agents/:app_id/resume',
    summary: 'Take its orders again',
    schema: { params: AgentParams, body: StatusBody, response: AgentDetail },
    approval: {
      action: 'resume_agent',
      repeats: 'effect',
      view: async ({ operator, params }) => {
        const { agentId, appId, status } = await agentNamed(pool, operator, params.app_id)
        const subject = { kind: 'agent', id: appId }
        return { subject, agentId, before: { status }, after: { status: 'active' } }
      },
    },
    handler: setStatus('active', 'resume_agent'),
  })
}

/** The fields that can be set on an agent: its terms, under their API names. */
type Said = Omit<ReturnType<typeof agentView>, 'app_id' | 'created_at' | 'updated_at'> & {
  colour: string | null
  logo: string | null
}

/** The fields that accompany every change. */
interface Told {
  updated_at: string
  reason: string
}

async function detail(
  { desk }: OperatorDeps,
  agent: Agent,
): Promise<Static<typeof AgentDetail> | object> {
  const { colour, logo } = await findBrand(desk.pool, agent.agentId)
  const keys = await listKeys(desk.pool, agent.agentId, desk.now())
  return {
    ...agentView(agent),
    colour,
    logo: logo && logoUrl(logo),
    keys: keys.map(keyView),
  }
}

/** The terms and looks of a new agent, after everything about them was checked. */
async function newAgent(deps: OperatorDeps, said: Partial<Said>) {
  const terms = applied({ ...defaultTerms, currency: said.currency ?? defaultCurrency }, said)
  return { terms, brand: await checkedBrand(deps, terms, said) }
}

/** What a change of terms or looks would change: only the fields that it names. */
async function changeView(deps: OperatorDeps, found: Agent, body: object): Promise<ActionView> {
  const said = body as Partial<Said> & Told
  await checkedBrand(deps, applied(found, said), said, found)
  if (found.updatedAt.toISOString() !== said.updated_at) throw changedMeanwhile()
  const { colour, logo } = await findBrand(deps.desk.pool, found.agentId)
  const now: Record<string, unknown> = {
    ...agentView(found),
    colour,
    logo: logo && logoText(logo),
  }
  const { updated_at: _read, reason: _why, code: _code, ...changes } = withoutLogo(body)
  const before = Object.fromEntries(Object.keys(changes).map((name) => [name, now[name] ?? null]))
  const subject = { kind: 'agent', id: found.appId }
  return { subject, agentId: found.agentId, before, after: changes }
}

/** Some terms say where money or news of it goes, and have rules of their own. */
function alsoChanges(body: object): ActionName[] {
  const names = Object.keys(body)
  return [
    ...(names.some((name) => name.endsWith('_callback')) ? (['change_addresses'] as const) : []),
    ...(names.some((name) => name.startsWith('settle')) ? (['change_settlement'] as const) : []),
  ]
}

/** A request as it is approved: with the digest of a picture for its bytes. */
function withoutLogo(body: object): Record<string, unknown> {
  const { code: _code, logo, ...said } = body as Record<string, unknown>
  if (logo === undefined) return said
  const picture = typeof logo === 'string' ? pictureIn(logo) : null
  return { ...said, logo: picture && typeof picture === 'object' ? logoText(picture) : null }
}

/** The picture that an agent has and the one that a request gives it, if it does. */
function pictures(now: string | null, body: object): Beside | null {
  const { logo } = body as Partial<Said>
  return logo === undefined ? null : { before: { picture: now }, after: { picture: logo } }
}

/** A picture in a request, or what is wrong with it. */
function pictureIn(text: string): Logo | string {
  const [, base64] = /^data:image\/\w+;base64,([A-Za-z0-9+/]+=*)$/.exec(text) ?? []
  return parseLogo(Buffer.from(base64 ?? '', 'base64'))
}

function changedMeanwhile(): Problem {
  return new Problem(
    'changed_meanwhile',
    'The agent has changed since you read it. Read it again, then make your change.',
  )
}

/** Writes the change and its audit row together, unless another change came first. */
async function changeTerms(
  deps: OperatorDeps,
  operator: Operator,
  found: Agent,
  said: Partial<Said> & Told,
  action: string,
): Promise<object> {
  const { pool, now } = deps.desk
  const terms = applied(found, said)
  const brand = await checkedBrand(deps, terms, said, found)
  const at = now()
  const changed = await inTransaction(pool, async (tx) => {
    const isAsRead = found.updatedAt.toISOString() === said.updated_at
    const agent = isAsRead ? await updateAgent(tx, found, terms, at) : undefined
    if (!agent) throw changedMeanwhile()
    await takeEffect(tx, operator, at)
    const looksBefore = brand && (await findBrand(tx, agent.agentId))
    const looks = brand && (await saveBrand(tx, agent.agentId, brand, at))
    await writeAudit(tx, {
      at,
      operator,
      action,
      subject: { kind: 'agent', id: agent.appId },
      agentId: agent.agentId,
      before: { ...agentView(found), ...(looksBefore && looksText(looksBefore)) },
      after: { ...agentView(agent), ...(looks && looksText(looks)) },
      reason: said.reason,
    })
    return agent
  })
  if (said.deposit_callback !== undefined || said.withdraw_callback !== undefined) {
    await hurryCallbacks(pool, changed.agentId, deps.desk.now)
    deps.wake([changed.agentId])
  }
  return detail(deps, changed)
}

function looksText({ colour, logo }: AgentBrand) {
  return { colour, logo: logo && logoText(logo) }
}

/** The given brand settings, or undefined if there are none; reports everything that is wrong at once. */
async function checkedBrand(
  { mode, callbackTargets }: OperatorDeps,
  terms: AgentTerms,
  said: Partial<Said>,
  before?: Agent,
): Promise<Partial<AgentBrand> | undefined> {
  const faults: FieldError[] = before ? [] : newTermsFaults(mode, said.frame_origin)
  faults.push(...(await termsFaults(terms, callbackTargets, before)))
  const brand: Partial<AgentBrand> = {}
  if (said.colour !== undefined) {
    brand.colour = said.colour === null ? null : (parseColour(said.colour) ?? null)
    if (said.colour !== null && brand.colour === null) {
      faults.push({ field: 'colour', message: 'must be a colour such as #0a7d4f' })
    }
  }
  if (said.logo !== undefined) {
    const logo = said.logo === null ? null : pictureIn(said.logo)
    if (typeof logo === 'string') faults.push({ field: 'logo', message: logo })
    else brand.logo = logo
  }
  if (faults.length > 0) throw invalidRequest(faults)
  return Object.keys(brand).length > 0 ? brand : undefined
}

/** The terms with the given changes applied; all others stay. */
function applied(now: AgentTerms, said: Partial<Said>): AgentTerms {
  if (said.currency !== undefined && said.currency !== now.currency) {
    throw fieldProblem('currency', 'never changes')
  }
  return {
    currency: now.currency,
    status: said.status ?? now.status,
    ...appliedTerms(now, said),
  }
}
