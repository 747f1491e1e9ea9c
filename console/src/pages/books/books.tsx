import { Button, Skeleton } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { addressOf, ask } from '../../api.ts'
import { AsOf } from '../../parts/as-of.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { BalanceTables } from './balance-tables.tsx'
import { BookHistory } from './book-history.tsx'
import classes from './books.module.css'
import { booksWords as says } from './books-words.ts'
import type { TrialBalance } from './trial-balance.ts'

/** What all books come to, now or as of a time. */
export default function Books() {
  const { filters } = useFilters()
  const query = filters.as_of === undefined ? {} : { as_of: filters.as_of }
  const found = useQuery({
    queryKey: ['books', query],
    queryFn: ({ signal }) => ask(api.books, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.as_of === undefined ? 15_000 : false,
  })
  const shown = found.data?.currencies.filter(({ books }) => books.length > 0)
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        {found.data && !found.isError && (
          <Toned tone={found.data.balanced ? 'good' : 'bad'}>
            {found.data.balanced ? says.balanced : says.notBalanced}
          </Toned>
        )}
        <AsOf />
        <Button
          component="a"
          download
          variant="default"
          size="sm"
          leftSection={<IconDownload size={15} />}
          href={addressOf(api.booksCsv, { query })}
        >
          {says.csv}
        </Button>
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!found.data && !found.isError && <Skeleton height={420} radius="md" />}
      {!found.isError && found.data && (
        <>
          <Faults balances={found.data.currencies} />
          {shown?.length === 0 && <Empty title={says.none} teach={says.noneTeach} />}
          {shown?.map((balance) => (
            <div key={balance.currency} className={classes.currency}>
              <BalanceTables balance={balance} asOf={filters.as_of} />
              <BookHistory currency={balance.currency} />
            </div>
          ))}
        </>
      )}
    </>
  )
}

function Faults({ balances }: { balances: TrialBalance[] }) {
  const faults = balances.flatMap((each) => each.faults)
  if (faults.length === 0) return null
  return (
    <div className={classes.faults} role="alert">
      <strong>{says.notBalanced}</strong>
      <ul>
        {faults.map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
      <p>{says.faultsTeach}</p>
    </div>
  )
}
