import type { Static } from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import {
  type AlertRule,
  findAlertRule,
  operatorsOwn,
  readAlertRules,
  readRuleStates,
  removeAlertRule,
  ruleInWords,
  saveAlertRule,
  thresholdText,
} from '../../alert-rules/alert-rule.ts'
import { type AlertRuleForm, readAlertRuleForm } from '../../alert-rules/alert-rule-form.ts'
import { tryAlertRule } from '../../alert-rules/try-alert-rule.ts'
import { alertTitles, type Channel, type SentKind } from '../../alerts/alert.ts'
import { listDeliveries, sendAgain } from '../../alerts/sent-alerts.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { listUsers, type User } from '../../operators/user.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import {
  AlertRuleList,
  RemoveAlertRuleBody,
  ResendAlertBody,
  SentList,
  SentQuery,
  SetAlertRuleBody,
  TriedAlertRule,
  TryAlertRuleBody,
} from './schemas/alert-rules.ts'
import { Done } from './schemas/users.ts'
import { agentsInScope } from './scope.ts'

/** A try reads a week of orders from the database that takes them. */
const triesOfUser = { perS: 0.2, burst: 10 }

/**
 * Rules of what people are told of outside of the console, and what they were told. An agent's users have rules of their
 * own, about their agent and for themselves; of others' they neither see nor change any.
 */
export function alertRuleRoutes(api: OperatorApi, desk: Desk): void {
  const tries = new TokenBuckets()
  const { pool, now } = desk
  const common = { tag: 'Alerts', agents: 'none' } as const
  const own = { tag: 'Alerts', agents: 'own' } as const

  /** Whose rules somebody has before them, and the agents and users that these may name. */
  const scopeOf = async (operator: Operator) => {
    const { agentId } = operator
    const users = await listUsers(pool)
    return {
      ownerId: agentId ?? operatorsOwn,
      agents: await agentsInScope(pool, operator),
      users: users.filter((user) => agentId === null || user.agentId === agentId),
    }
  }

  const ruleIn = async (
    { app_id, people, ...form }: Static<typeof TryAlertRuleBody>,
    operator: Operator,
  ): Promise<AlertRule> => {
    const { ownerId, agents, users } = await scopeOf(operator)
    const named = app_id ?? (ownerId === operatorsOwn ? null : agents[0]?.appId)
    const agent = named === null ? null : agents.find(({ appId }) => appId === String(named))
    if (agent === undefined) throw fieldProblem('app_id', 'is not the app id of an agent')
    const userIds = people.map((email) => {
      const user = users.find((each) => each.email === email)
      if (!user) throw fieldProblem('people', 'must be addresses of users')
      if (user.role === 'agent' && user.agentId !== agent?.agentId) {
        throw fieldProblem('people', `${email} hears only of their own agent`)
      }
      return user.userId
    })
    const about = { ownerId, agent, userIds, updatedAt: now(), updatedBy: operator.email }
    const read = readAlertRuleForm(form as AlertRuleForm, about)
    if ('faults' in read) throw invalidRequest(read.faults)
    return read.rule
  }

  const list = async (operator: Operator) => {
    const scope = await scopeOf(operator)
    const states = await readRuleStates(pool, scope.ownerId)
    return {
      data: (await readAlertRules(pool, scope.ownerId)).map((rule) => ({
        ...viewOf(rule, scope),
        words: ruleInWords(rule),
        looked_at: rule.lookedAt?.toISOString() ?? null,
        wrong: states
          .filter(({ name }) => name === rule.name)
          .map(({ subject, since, words }) => ({
            subject: scope.agents.find(({ agentId }) => subject === `${agentId}`)?.appId ?? subject,
            since: since.toISOString(),
            words,
          })),
        updated_at: rule.updatedAt.toISOString(),
        updated_by: rule.updatedBy,
      })),
    }
  }

  /** Writes a change and its audit row together. */
  const change = async (
    operator: Operator,
    name: string,
    write: (tx: Tx, ownerId: bigint) => Promise<AlertRule | null>,
  ) => {
    const scope = await scopeOf(operator)
    await inTransaction(pool, async (tx) => {
      const before = await findAlertRule(tx, scope.ownerId, name)
      const after = await write(tx, scope.ownerId)
      await writeAudit(tx, {
        at: now(),
        operator,
        action: 'change_alert_rules',
        subject: { kind: 'alert_rule', id: name },
        agentId: operator.agentId,
        ...(before && { before: viewOf(before, scope) }),
        ...(after && { after: viewOf(after, scope) }),
      })
    })
    return list(operator)
  }

  operatorRoute(api, {
    ...own,
    method: 'GET',
    url: '/alert-rules',
    summary: 'Rules of what people are told of, and what each has found wrong',
    permission: 'view',
    schema: { response: AlertRuleList },
    handler: ({ operator }) => list(operator),
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/alert-rules/try',
    summary: 'What a rule would say now, and how often it would have fired in the last 7 days',
    permission: 'manage_alert_rules',
    withoutCode: 'it changes nothing',
    schema: { body: TryAlertRuleBody, response: TriedAlertRule },
    handler: async ({ operator, body }) => {
      const { perS, burst } = triesOfUser
      const { taken, waitS } = tries.take(`${operator.userId}`, perS, burst, now().getTime())
      if (!taken) throw new Problem('rate_limited', 'Too many tries.', { retryAfterS: waitS })
      return tryAlertRule(pool, await ruleIn(body, operator), now())
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'PUT',
    url: '/alert-rules',
    summary: 'Set a rule, in the place of the one with its name',
    permission: 'manage_alert_rules',
    schema: { body: SetAlertRuleBody, response: AlertRuleList },
    handler: async ({ operator, body: { code: _, ...body } }) => {
      const rule = await ruleIn(body, operator)
      return change(operator, rule.name, async (tx) => {
        await saveAlertRule(tx, rule)
        return rule
      })
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/alert-rules/remove',
    summary: 'Remove a rule',
    permission: 'manage_alert_rules',
    schema: { body: RemoveAlertRuleBody, response: AlertRuleList },
    handler: async ({ operator, body: { name } }) =>
      change(operator, name, async (tx, ownerId) => {
        if (await removeAlertRule(tx, ownerId, name)) return null
        throw new Problem('not_found', 'There is no such rule any more.')
      }),
  })

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/alerts-sent',
    summary: 'What people were told outside of the console, newest first, and what became of it',
    permission: 'view_audit',
    schema: { querystring: SentQuery, response: SentList },
    handler: async ({ query: { state, cursor, limit = 50 } }) => {
      const found = await listDeliveries(pool, { state, cursor, limit })
      return {
        data: found.data.map(({ userId, alertId, dueAt, endedAt, at, ...each }) => ({
          ...each,
          alert_id: alertId,
          user_id: String(userId),
          title: alertTitles[each.kind as SentKind],
          at: at.toISOString(),
          due_at: dueAt?.toISOString() ?? null,
          ended_at: endedAt?.toISOString() ?? null,
        })),
        next: found.next,
      }
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/alerts-sent/resend',
    summary: 'Send an alert once more to who was told, or should have been',
    permission: 'manage_policy',
    withoutCode: 'it only tells the same person the same again',
    schema: { body: ResendAlertBody, response: Done },
    handler: async ({ operator, body: { alert_id, user_id, channel } }) => {
      const alert = { alertId: alert_id, userId: BigInt(user_id), channel: channel as Channel }
      await inTransaction(pool, async (tx) => {
        if (!(await sendAgain(tx, alert, now))) {
          throw new Problem('not_found', 'It is on its way already, or no longer known.')
        }
        await writeAudit(tx, {
          at: now(),
          operator,
          action: 'resend_alert',
          subject: { kind: 'user', id: user_id },
          agentId: null,
          after: { alert_id, channel },
        })
      })
      return {}
    },
  })
}

function viewOf(
  rule: AlertRule,
  { agents, users }: { agents: readonly Agent[]; users: readonly User[] },
) {
  return {
    name: rule.name,
    kind: rule.kind,
    app_id: agents.find(({ agentId }) => agentId === rule.agentId)?.appId ?? null,
    threshold: thresholdText(rule),
    window_minutes: rule.windowMinutes,
    min_orders: rule.minOrders,
    order_kind: rule.orderKind,
    provider: rule.provider,
    currency: rule.currency,
    hours_from: rule.hoursFrom,
    hours_to: rule.hoursTo,
    zone: rule.zone,
    roles: rule.roles,
    people: users.filter(({ userId }) => rule.userIds.includes(userId)).map(({ email }) => email),
    channels: rule.channels,
    is_on: rule.isOn,
  }
}
