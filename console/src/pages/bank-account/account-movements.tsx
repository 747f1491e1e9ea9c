import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Field, FilterBar } from '../../parts/filter-bar.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { seesPersons } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import { bankAccountWords } from './bank-account-words.ts'
import { MovementTable } from './movement-table.tsx'

const { movements: says } = bankAccountWords
const states = ['unconfirmed', 'under_way', 'booked', 'unexplained']

/** What moved on the account, with filters that are part of the address. */
export function AccountMovements({ name }: { name: string }) {
  const { filters } = useFilters()
  const maySearch = seesPersons(useMe())
  const { view: _, text, ...others } = filters
  // A link from somebody else may have a search in it.
  const query = { ...others, ...(maySearch && text !== undefined && { text }) }
  const search: Field = { kind: 'search', name: 'text', label: says.search, hint: says.search }
  const found = useQuery({
    queryKey: ['bank-movements', name, query],
    queryFn: ({ signal }) => ask(api.bankMovements, { params: { name }, query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 8000 : false,
  })
  return (
    <>
      <FilterBar
        keep={['view']}
        fields={[
          ...(maySearch ? [search] : []),
          {
            kind: 'choice',
            name: 'state',
            label: says.state,
            choices: states.map((state): [string, string] => [state, stateWords[state] ?? state]),
          },
          { kind: 'text', name: 'amount', label: says.amount, numeric: true },
          { kind: 'day', name: 'from', label: says.from },
          { kind: 'day', name: 'to', label: says.to },
        ]}
      />
      {filters.file !== undefined && <p>{says.ofFile}</p>}
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <MovementTable
          label={says.title}
          rows={found.data?.data}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} />
    </>
  )
}
