import { TextInput } from '@mantine/core'
import { use } from 'react'
import { words } from '../words.ts'
import { useFilters } from './url-filters.ts'
import { TimeZone } from './when.tsx'
import { fromLocal, toLocal } from './zoned-time.ts'

/** Chooses the time for which balances are shown; it is part of the address. */
export function AsOf() {
  const zone = use(TimeZone)
  const { filters, set } = useFilters()
  return (
    <TextInput
      aria-label={words.asOf}
      leftSection={words.asOf}
      leftSectionWidth={52}
      type="datetime-local"
      value={filters.as_of === undefined ? '' : toLocal(filters.as_of, zone)}
      onChange={(event) => {
        const typed = event.currentTarget.value
        set({ as_of: typed === '' ? null : fromLocal(typed, zone) })
      }}
    />
  )
}
