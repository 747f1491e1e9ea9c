import type { Static } from 'typebox'
import { findAgent, listAgents } from '../../agents/find-agent.ts'
import { actionNames, actions, isAction, isAlwaysByTwo } from '../../approvals/actions.ts'
import {
  type ApprovalRule,
  readRules,
  replaceRules,
  versionOfRules,
} from '../../approvals/approval-rules.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { currencyRow } from '../../lib/currencies.ts'
import { type Currency, currencies, decimalText, parseDecimal } from '../../lib/money.ts'
import { type FieldError, Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { tellAdmins } from '../../operators/tell-people.ts'
import { invalidRequest } from '../check.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { Rules, type RuleView, SetRulesBody } from './schemas/approvals.ts'
import { twoPersonRoute } from './two-person-route.ts'

type View = Static<typeof RuleView>

/** Which actions need two people. */
export function approvalPolicyRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { mode } = deps
  const { pool, now } = deps.desk

  const viewNow = async () => {
    const agents = await listAgents(pool)
    const rules = await readRules(pool)
    return {
      version: versionOfRules(rules),
      by_default: mode === 'live',
      together: togetherByDefault(
        agents.map(({ currency }) => currency),
        rules,
      ),
      actions: actionNames.map((action) => ({
        action,
        title: actions[action].title,
        has_amount: actions[action].hasAmount,
      })),
      rules: rules.map((rule) => ({
        action: rule.action,
        app_id: agents.find(({ agentId }) => agentId === rule.agentId)?.appId ?? null,
        currency: rule.currency === '' ? null : rule.currency,
        needs_two: rule.needsTwo,
        above:
          rule.aboveMinor === null ? null : decimalText(rule.aboveMinor, rule.currency as Currency),
        admin_only: rule.adminOnly,
      })),
    }
  }

  /** In live, the most that one code confirms of payments together where no rule says it. */
  const togetherByDefault = (used: readonly Currency[], rules: readonly ApprovalRule[]) =>
    [...new Set(mode === 'live' ? used : [])]
      .filter(
        (currency) =>
          !rules.some((each) => each.action === 'decide_together' && each.currency === currency),
      )
      .map((currency) => ({
        currency,
        most: decimalText(currencyRow(currency).togetherMinor, currency),
      }))

  const rulesIn = async (views: readonly View[]): Promise<ApprovalRule[]> => {
    const errors: FieldError[] = []
    const rules: ApprovalRule[] = []
    for (const [at, view] of views.entries()) {
      const agent = view.app_id === null ? null : await findAgent(pool, String(view.app_id))
      const { rule, fault } = ruleOf(view, agent === null ? 0n : agent?.agentId, mode)
      const isTwice = rules.some((each) => keyOf(each) === keyOf(rule))
      const isOpen = mode === 'live' && rule.action === 'change_policy' && !rule.needsTwo
      const says =
        fault ??
        (isTwice ? { field: 'action', message: 'has two rules for the same' } : undefined) ??
        (isOpen
          ? { field: 'needs_two', message: 'changing the rules takes two people' }
          : undefined)
      if (says) errors.push({ ...says, field: `rules[${at}].${says.field}` })
      rules.push(rule)
    }
    if (errors.length > 0) throw invalidRequest(errors)
    return rules
  }

  operatorRoute(api, {
    method: 'GET',
    url: '/approval-rules',
    summary: 'Which actions need two people',
    tag: 'Approvals',
    permission: 'view',
    agents: 'none',
    schema: { response: Rules },
    handler: viewNow,
  })

  twoPersonRoute(api, {
    method: 'PUT',
    url: '/approval-rules',
    summary: 'Put these rules in the place of all others',
    tag: 'Approvals',
    permission: 'manage_policy',
    agents: 'none',
    bodyLimit: 256 * 1024,
    schema: { body: SetRulesBody, response: Rules },
    approval: {
      action: 'change_policy',
      repeats: 'effect',
      view: async ({ body }) => {
        await rulesIn(body.rules)
        const { version, rules } = await viewNow()
        if (version !== body.version) throw changedMeanwhile()
        const subject = { kind: 'approval_rules', id: 'all' }
        return { subject, agentId: null, before: { rules }, after: { rules: body.rules } }
      },
    },
    handler: async ({ operator, body }) => {
      const rules = await rulesIn(body.rules)
      const { rules: before } = await viewNow()
      const at = now()
      await inTransaction(pool, async (tx) => {
        const by = { name: operator.email, at }
        if (!(await replaceRules(tx, rules, body.version, by))) throw changedMeanwhile()
        await takeEffect(tx, operator, at)
        const words = `The rules of what takes two people were changed by ${operator.email}.`
        await tellAdmins(tx, { what: 'policy', words, at })
        await writeAudit(tx, {
          at,
          operator,
          action: 'change_policy',
          subject: { kind: 'approval_rules', id: 'all' },
          agentId: null,
          before,
          after: body.rules,
          reason: body.reason,
        })
      })
      return viewNow()
    },
  })
}

function ruleOf(
  view: View,
  agentId: bigint | undefined,
  mode: 'sandbox' | 'live',
): { rule: ApprovalRule; fault: FieldError | undefined } {
  const currency = currencies.find((each) => each === view.currency)
  const aboveMinor =
    view.above === null || !currency ? null : (parseDecimal(String(view.above), currency) ?? null)
  const hasAmount = isAction(view.action) && actions[view.action].hasAmount
  const rule = {
    action: view.action,
    agentId: agentId ?? 0n,
    currency: currency ?? '',
    needsTwo: view.needs_two,
    aboveMinor,
    adminOnly: view.admin_only,
  }
  const fault = (field: string, message: string) => ({ rule, fault: { field, message } })
  if (!isAction(view.action)) return fault('action', 'is not one of the actions')
  if (!view.needs_two && isAlwaysByTwo(view.action, mode)) {
    return fault('needs_two', 'always takes two people')
  }
  if (agentId === undefined) return fault('app_id', 'is not the app id of an agent')
  if (view.currency !== null && !hasAmount) {
    return fault('currency', 'goes with actions on an amount')
  }
  if (view.above !== null && !hasAmount) return fault('above', 'goes with actions on an amount')
  if (view.above !== null && !currency) return fault('currency', 'must be named with an amount')
  if (view.above !== null && aboveMinor === null) return fault('above', 'is not an amount of it')
  if (view.above !== null && !view.needs_two) return fault('above', 'goes with needs_two')
  // It limits a sum, and says nothing else.
  if (view.action === 'decide_together') {
    if (agentId !== 0n) return fault('app_id', 'must be null: a list is of any agents')
    if (view.above === null) return fault('above', 'must be the most that one code confirms')
    if (view.admin_only)
      return fault('admin_only', 'must be false: a rule of each action says that')
  }
  return { rule, fault: undefined }
}

function keyOf({ action, agentId, currency, aboveMinor }: ApprovalRule): string {
  // The most that one code confirms is one amount.
  const tier = action === 'decide_together' ? '' : (aboveMinor ?? 'any')
  return `${action} ${agentId} ${currency} ${tier}`
}

function changedMeanwhile(): Problem {
  return new Problem(
    'changed_meanwhile',
    'The rules have changed since you read them. Read them again, then make your change.',
  )
}
