import { useLocalStorage } from '@mantine/hooks'
import type { Me } from '../session.tsx'

/** The zone that a user reads times in, kept in their browser: the service's, unless they chose another. */
export function useZone({ user, time_zone }: Me): [zone: string, choose: (zone: string) => void] {
  const [chosen, choose] = useLocalStorage({
    key: `sluice.zone.${user.id}`,
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  return [zones.includes(chosen) ? chosen : time_zone, choose]
}

/** Every zone that the browser knows. */
export const zones: readonly string[] = Intl.supportedValuesOf('timeZone')
