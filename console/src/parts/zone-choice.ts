import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../api.ts'
import { api } from '../paths.ts'
import { type Me, meQuery } from '../session.tsx'

/** The zone that a user reads times in, in every browser: the service's, unless they chose another. */
export function useZone(me: Me): [zone: string, choose: (zone: string) => void] {
  const queries = useQueryClient()
  const chosen = me.preferences.time_zone ?? ''
  const choose = (zone: string) => {
    const preferences = { ...me.preferences, time_zone: zone === me.time_zone ? null : zone }
    // Whoever may only look around reads in another zone until the next reload.
    queries.setQueryData(meQuery.queryKey, { ...me, preferences })
    void ask(api.setPreferences, { body: preferences }).catch(() => {})
  }
  return [isZone(chosen) ? chosen : me.time_zone, choose]
}

/** Browsers know some zones by another name than they list. */
function isZone(name: string): boolean {
  try {
    return name !== '' && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

/** Every zone that the browser knows. */
export const zones: readonly string[] = Intl.supportedValuesOf('timeZone')
