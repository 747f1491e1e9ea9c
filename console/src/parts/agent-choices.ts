import { useQuery } from '@tanstack/react-query'
import { ask } from '../api.ts'
import { api } from '../paths.ts'
import { useMe } from '../session.tsx'
import type { Choice } from './filter-bar.tsx'

/** Agents by name, for a select. Agents are few, and the list of wallets contains all of them. */
export function useAgentChoices(): Choice[] {
  const isAgent = useMe().user.role === 'agent'
  const { data } = useQuery({
    queryKey: ['wallets'],
    queryFn: ({ signal }) => ask(api.wallets, { signal }),
    staleTime: 60_000,
    enabled: !isAgent,
  })
  return (data?.data ?? [])
    .map(({ app_id, agent_name }): Choice => [app_id, agent_name])
    .toSorted(([, a], [, b]) => a.localeCompare(b))
}
