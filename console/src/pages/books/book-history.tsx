import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { ask } from '../../api.ts'
import type { Currency } from '../../parts/currencies.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { api } from '../../paths.ts'
import classes from './books.module.css'
import { booksWords as says } from './books-words.ts'
import type { DayEnd } from './trial-balance.ts'

// Loaded separately, as on the home page: the numbers come first.
const HistoryChart = lazy(() => import('./history-chart.tsx'))

/** The end of each of the last days: a chart and, folded, its numbers. */
export function BookHistory({ currency }: { currency: Currency }) {
  const found = useQuery({
    queryKey: ['books-history', currency],
    queryFn: ({ signal }) => ask(api.booksHistory, { query: { currency, days: 30 }, signal }),
    // Past days do not change.
    staleTime: 600_000,
  })
  if (found.isError) return <ProblemPanel error={found.error} />
  if (!found.data) return <Skeleton height={260} radius="md" mt={12} />
  const days = found.data.data
  return (
    <Panel title={says.history(currency)}>
      {days.length === 0 ? (
        <Empty title={says.noHistory} teach={says.noHistoryTeach} />
      ) : (
        <Suspense fallback={<Skeleton height={220} />}>
          <HistoryChart days={days} currency={currency} />
        </Suspense>
      )}
      <details className={classes.fold}>
        <summary>{says.historyTable(currency)}</summary>
        <DataTable
          label={says.historyTable(currency)}
          columns={columnsIn(currency)}
          rows={days}
          rowKey={({ day }) => day}
          empty={<Empty title={says.noHistory} teach={says.noHistoryTeach} />}
        />
      </details>
    </Panel>
  )
}

function columnsIn(currency: Currency): Column<DayEnd>[] {
  const money = (key: string, head: string, pick: (day: DayEnd) => number) => ({
    key,
    head,
    right: true,
    cell: (day: DayEnd) => <Money amount={pick(day)} currency={currency} bare />,
  })
  return [
    { key: 'day', head: says.day, phone: 'plain', cell: ({ day }) => day },
    {
      key: 'state',
      head: says.state,
      phone: 'plain',
      cell: ({ balanced }) => (
        <Toned tone={balanced ? 'good' : 'bad'}>{balanced ? says.yes : says.no}</Toned>
      ),
    },
    money('owed', says.owed, (day) => day.owed_to_agents),
    money('receivable', says.lines.receivable[0] ?? '', (day) => day.receivable),
    money('held', says.accounts.held, (day) => day.held),
    money('reserve', says.accounts.reserve, (day) => day.reserve),
    money(
      'suspense_of_agents',
      says.lines.suspense_of_agents[0] ?? '',
      (day) => day.suspense_of_agents,
    ),
    money(
      'suspense_of_house',
      says.lines.suspense_of_house[0] ?? '',
      (day) => day.suspense_of_house,
    ),
    money('unexplained', says.accounts.unexplained, (day) => day.unexplained),
    money('clearing', says.accounts.clearing, (day) => day.clearing),
    money('fees', says.accounts.fees, (day) => day.fees),
    money('costs', says.accounts.costs, (day) => day.costs),
  ]
}
