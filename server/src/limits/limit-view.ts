import type { Agent } from '../agents/agent.ts'
import type { LimitRule } from '../ledger/limits.ts'
import { mostText, ruleInWords } from './limit-form.ts'

/** A rule as the console, the audit log and the command line show it. */
export function limitView(
  rule: LimitRule & { values: readonly string[] },
  agents: readonly Pick<Agent, 'agentId' | 'appId'>[],
) {
  const { name, kind, measure, per, period, currency, hours, field, outcome, values } = rule
  return {
    app_id: agents.find(({ agentId }) => agentId === rule.agentId)?.appId ?? null,
    name,
    kind,
    measure,
    per,
    period,
    most: mostText(rule),
    currency,
    hours,
    field,
    outcome,
    values,
    words: ruleInWords(rule),
  }
}
