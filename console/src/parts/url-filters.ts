import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export type Filters = Record<string, string>

/** The page's filters. They are part of the address, so a reload or a link shows the same view. */
export function useFilters(): {
  filters: Filters
  set: (changes: Record<string, string | null | undefined>) => void
  replaceAll: (filters: Filters) => void
} {
  const filters: Filters = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = useCallback(
    (changes: Record<string, string | null | undefined>) => {
      void navigate({
        to: '.',
        search: (before: Filters) => {
          const { cursor: _, ...kept } = before
          return cleaned({ ...kept, ...changes })
        },
      })
    },
    [navigate],
  )
  const replaceAll = useCallback(
    (filters: Filters) => void navigate({ to: '.', search: filters }),
    [navigate],
  )
  return { filters, set, replaceAll }
}

function cleaned(changes: Record<string, string | null | undefined>): Filters {
  return Object.fromEntries(
    Object.entries(changes).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
    ),
  )
}
