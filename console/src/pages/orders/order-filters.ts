import { useAgentChoices } from '../../parts/agent-choices.ts'
import { currencies } from '../../parts/currencies.ts'
import type { Field } from '../../parts/filter-bar.tsx'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import { ordersWords } from './orders-words.ts'
import { useAssignees } from './use-assignees.ts'

const { filters } = ordersWords

const named = (values: string[]) =>
  values.map((value): [string, string] => [value, stateWords[value] ?? value])

const fields: Field[] = [
  { kind: 'search', name: 'q', label: filters.q, hint: filters.q },
  { kind: 'choice', name: 'kind', label: filters.kind, choices: named(['deposit', 'withdraw']) },
  {
    kind: 'choice',
    name: 'status',
    label: filters.status,
    choices: named(['WAITING', 'PAID', 'FAILED', 'EXPIRED', 'VOID', 'CANCEL', 'REVERT']),
  },
  {
    kind: 'choice',
    name: 'payout',
    label: filters.payout,
    choices: [['unknown', filters.unknownPayout]],
    more: true,
  },
  { kind: 'time', name: 'from', label: filters.from, more: true },
  { kind: 'time', name: 'to', label: filters.to, more: true },
  { kind: 'text', name: 'min_amount', label: filters.minAmount, numeric: true, more: true },
  { kind: 'text', name: 'user', label: filters.user, more: true },
  { kind: 'text', name: 'max_amount', label: filters.maxAmount, numeric: true, more: true },
]

/** Operators can also filter by agent. */
export function useOrderFields(): Field[] {
  const isAgent = useMe().user.role === 'agent'
  const choices = useAgentChoices()
  const people = useAssignees()
  if (isAgent) return fields
  return [
    ...fields.slice(0, 3),
    { kind: 'choice', name: 'agent', label: filters.agent, choices },
    {
      kind: 'choice',
      name: 'currency',
      label: filters.currency,
      choices: currencies.map((each) => [each, each]),
    },
    ...fields.slice(3),
    { kind: 'text', name: 'provider', label: filters.provider, more: true },
    { kind: 'text', name: 'account', label: filters.account, more: true },
    {
      kind: 'choice',
      name: 'assignee',
      label: filters.assignee,
      choices: people.map((email) => [email, email]),
      more: true,
    },
    { kind: 'text', name: 'tag', label: filters.tag, hint: filters.tagHint, more: true },
  ]
}
