import { queryOptions, useQuery } from '@tanstack/react-query'
import { type Answer, ask } from './api.ts'
import { api } from './paths.ts'

export type Me = Answer<typeof api.me>

/** The user who is signed in, with their permissions. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => ask(api.me, { signal }),
  staleTime: 60_000,
})

/** Use it only inside the shell, where a user is signed in. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (!data) throw new Error('nobody is signed in')
  return data
}
