import type { Static } from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import { findAgent, listAgents } from '../../agents/find-agent.ts'
import type { Tx } from '../../db/in-transaction.ts'
import type { LimitRule } from '../../ledger/limits.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { type LimitForm, mostText, readLimitForm } from '../../limits/limit-form.ts'
import {
  findLimitRule,
  readLimitRules,
  removeLimitRule,
  type SetRule,
  saveLimitRule,
} from '../../limits/limit-rules.ts'
import { rulesBeingCounted, useNow } from '../../limits/limit-use.ts'
import { limitView } from '../../limits/limit-view.ts'
import { triedTogether, tryRule, tryRuleForAll } from '../../limits/try-rule.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { maskedName, maskedNumber, notShown, seesPersons } from './personal-data.ts'
import {
  LimitList,
  RemoveLimitBody,
  SetLimitBody,
  TriedLimit,
  TryLimitBody,
} from './schemas/limits.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** Limits and lists that new orders are measured against. */
export function limitRoutes(api: OperatorApi, desk: Desk): void {
  const { pool, now, localTime } = desk
  const common = { tag: 'Limits', agents: 'none' } as const

  const agentIn = async (appId: unknown): Promise<Agent | null> => {
    const agent = appId === null ? null : await findAgent(pool, String(appId))
    if (agent === undefined) throw fieldProblem('app_id', 'is not the app id of an agent')
    return agent
  }
  const ruleIn = (body: object, agent: Agent | null) => {
    const read = readLimitForm(body as LimitForm, agent)
    if ('faults' in read) throw invalidRequest(read.faults)
    return read.rule
  }
  const list = async (operator: Operator) => {
    const agents = await listAgents(pool)
    const rules = await readLimitRules(pool)
    const counting = await rulesBeingCounted(pool, rules, now(), localTime)
    const data = await Promise.all(
      rules.map(async (rule) => {
        const use = await useNow(pool, rule, now(), localTime)
        const view = limitView(rule, agents)
        return {
          ...view,
          values: seesPersons(operator) ? view.values : view.values.map(() => notShown),
          counting: counting.has(rule),
          frees_at: use?.span.end ?? null,
          used: (use?.most ?? []).map(({ agentId, subject, used }) => ({
            app_id: agents.find((each) => each.agentId === agentId)?.appId ?? '',
            subject: shownSubject(operator, rule, subject),
            used: mostText({ ...rule, most: used }) ?? '',
            share: rule.most ? Number((used * 1000n) / rule.most) / 1000 : 1,
          })),
          updated_at: rule.updatedAt,
          updated_by: rule.updatedBy,
        }
      }),
    )
    return { data }
  }
  const viewOf = async (rule: SetRule | undefined) =>
    rule ? limitView(rule, await listAgents(pool)) : null
  const noted =
    (operator: Operator, at: Date, rule: Pick<LimitRule, 'agentId' | 'name'>, entry: object) =>
    async (tx: Tx) => {
      await takeEffect(tx, operator, at)
      await writeAudit(tx, {
        at,
        operator,
        action: 'change_limits',
        subject: subjectOf(rule),
        agentId: rule.agentId === 0n ? null : rule.agentId,
        ...entry,
      })
    }

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/limits',
    summary: 'Limits and lists, and what of them is used now',
    permission: 'view',
    schema: { response: LimitList },
    handler: async ({ operator }) => list(operator),
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/limits/try',
    summary:
      'What a rule would have done with the orders of the last month, of one agent or of each',
    permission: 'manage_policy',
    withoutCode: 'it changes nothing',
    bodyLimit: 512 * 1024,
    schema: { body: TryLimitBody, response: TriedLimit },
    handler: async ({ body }): Promise<Static<typeof TriedLimit>> => {
      const agent = await agentIn(body.app_id)
      const rule = ruleIn(body, agent)
      const at = now()
      const tried = agent
        ? [await tryRule(pool, rule, agent, at, localTime)]
        : await tryRuleForAll(pool, rule, at, localTime)
      const { from, to, first, ...rest } = triedTogether(tried, at)
      return {
        ...rest,
        from: from.toISOString(),
        to: to.toISOString(),
        first: first.map((each) => ({ ...each, at: each.at.toISOString() })),
      }
    },
  })

  twoPersonRoute(api, {
    ...common,
    method: 'PUT',
    url: '/limits',
    summary: 'Set a limit or a list, in the place of the one with its name',
    permission: 'manage_policy',
    bodyLimit: 512 * 1024,
    schema: { body: SetLimitBody, response: LimitList },
    approval: {
      action: 'change_limits',
      repeats: 'effect',
      view: async ({ body }) => {
        const agent = await agentIn(body.app_id)
        const rule = ruleIn(body, agent)
        return {
          subject: subjectOf(rule),
          agentId: agent?.agentId ?? null,
          before: await viewOf(await findLimitRule(pool, rule.agentId, rule.name)),
          after: limitView(rule, agent ? [agent] : []),
        }
      },
    },
    handler: async ({ operator, body }) => {
      const agent = await agentIn(body.app_id)
      const rule = ruleIn(body, agent)
      const at = now()
      const before = await viewOf(await findLimitRule(pool, rule.agentId, rule.name))
      const after = limitView(rule, agent ? [agent] : [])
      const { reason } = body
      await saveLimitRule(
        pool,
        { ...rule, updatedAt: at, updatedBy: operator.email },
        noted(operator, at, rule, { before, after, reason }),
      )
      return list(operator)
    },
  })

  twoPersonRoute(api, {
    ...common,
    method: 'POST',
    url: '/limits/remove',
    summary: 'Remove a limit or a list',
    permission: 'manage_policy',
    schema: { body: RemoveLimitBody, response: LimitList },
    approval: {
      action: 'change_limits',
      repeats: 'effect',
      view: async ({ body }) => {
        const rule = await ruleNamed(body)
        return {
          subject: subjectOf(rule),
          agentId: rule.agentId === 0n ? null : rule.agentId,
          before: await viewOf(rule),
          after: null,
        }
      },
    },
    handler: async ({ operator, body }) => {
      const rule = await ruleNamed(body)
      const at = now()
      const { reason } = body
      const entry = { before: await viewOf(rule), reason }
      if (!(await removeLimitRule(pool, rule, noted(operator, at, rule, entry)))) throw noSuchRule()
      return list(operator)
    },
  })

  async function ruleNamed({ app_id, name }: Static<typeof RemoveLimitBody>): Promise<SetRule> {
    const agent = await agentIn(app_id)
    const rule = await findLimitRule(pool, agent?.agentId ?? 0n, name)
    if (!rule) throw noSuchRule()
    return rule
  }
}

function noSuchRule(): Problem {
  return new Problem('not_found', 'There is no such limit any more.')
}

function subjectOf({ agentId, name }: Pick<LimitRule, 'agentId' | 'name'>) {
  return { kind: 'limit', id: agentId === 0n ? name : `${name} of agent ${agentId}` }
}

function shownSubject(operator: Operator, { per }: LimitRule, subject: string): string {
  if (seesPersons(operator) || subject === '') return subject
  return per === 'account' ? maskedNumber(subject) : maskedName(subject)
}
