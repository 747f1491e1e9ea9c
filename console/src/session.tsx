import { queryOptions, useQuery } from '@tanstack/react-query'
import { type Answer, ask } from './api.ts'
import { api } from './paths.ts'

export type Me = Answer<typeof api.me>

/** Who is signed in, and what the service says they may do. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => ask(api.me, { signal }),
  staleTime: 60_000,
})

/** Inside the shell, where somebody is signed in. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (!data) throw new Error('nobody is signed in')
  return data
}
