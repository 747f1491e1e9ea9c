import { columns } from '../db/columns.ts'
import type { LimitRule } from './limits.ts'

export const ruleColumns = columns<LimitRule>({
  agentId: ['agent_id', 'bigint'],
  name: ['name', 'text'],
  kind: ['kind', 'text'],
  measure: ['measure', 'text'],
  per: ['per', 'text', 'null'],
  period: ['period', 'text', 'null'],
  most: ['most', 'bigint', 'null'],
  currency: ['currency', 'text', 'null'],
  hours: ['hours', 'int', 'null'],
  field: ['field', 'text', 'null'],
  outcome: ['outcome', 'text'],
})

/**
 * The rules of some agents, and those of each agent. Reading them keeps them from being changed until the end of
 * the transaction: who changes a rule locks the table, and so waits for every order that does not know it.
 */
export const rulesOf = `select ${ruleColumns.select('r')} from limit_rules r
  where r.agent_id = 0 or r.agent_id = any($1::bigint[]) order by r.agent_id, r.name`
