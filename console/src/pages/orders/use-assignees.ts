import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { api } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'

/** Those who can look into orders; nobody for whom may assign none. */
export function useAssignees(): string[] {
  const me = useMe()
  const { data } = useQuery({
    queryKey: ['assignees'],
    queryFn: ({ signal }) => ask(api.assignees, { signal }),
    staleTime: 60_000,
    enabled: me.user.role !== 'agent' && may(me, 'act_on_orders'),
  })
  return data?.data ?? []
}
