import { Box, Button, Checkbox, Group } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ask } from '../../api.ts'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { OrderMarks } from '../order/order-marks.tsx'
import { ChosenOrders } from './chosen-orders.tsx'
import { CsvExport } from './csv-export.tsx'
import { type OrderRow, orderColumns } from './order-columns.tsx'
import { useOrderFields } from './order-filters.ts'
import { ordersWords } from './orders-words.ts'
import { SavedViews } from './saved-views.tsx'

const liveEveryMs = 4000

export default function Orders() {
  const me = useMe()
  const { filters } = useFilters()
  const isFirst = filters.cursor === undefined
  const found = useQuery({
    queryKey: ['orders', filters],
    queryFn: ({ signal }) => ask(api.orders, { query: filters, signal }),
    placeholderData: keepPreviousData,
    // Only the newest page updates, and only while its tab is visible.
    refetchInterval: isFirst ? liveEveryMs : false,
  })
  const isAgent = me.user.role === 'agent'
  const columns = orderColumns.filter(
    ({ key }) => !isAgent || (key !== 'agent' && !['provider', 'tags', 'assignee'].includes(key)),
  )
  const { shown, picker } = useColumns('orders', columns)
  const [chosen, setChosen] = useState<string[]>([])
  const onPage = found.data?.data.map(({ txn_id }) => txn_id) ?? []
  // What is not shown any more is not chosen either: nobody acts on what they do not see.
  const txnIds = chosen.filter((id) => onPage.includes(id))
  const choice: Column<OrderRow> = {
    key: 'chosen',
    head: ordersWords.chosen.column,
    phone: 'corner',
    cell: ({ txn_id, ref_id }) => (
      <Checkbox
        size="xs"
        aria-label={ordersWords.chosen.choose(ref_id)}
        checked={txnIds.includes(txn_id)}
        onChange={({ currentTarget: { checked } }) =>
          setChosen(checked ? [...txnIds, txn_id] : txnIds.filter((id) => id !== txn_id))
        }
      />
    ),
  }
  const fields = useOrderFields()
  const isNew = useArrivals(found.data?.data, JSON.stringify(filters))
  return (
    <>
      <PageHead title={ordersWords.title}>
        <SavedViews />
        <CsvExport filters={filters} />
        {picker}
      </PageHead>
      <FilterBar fields={fields}>
        {onPage.length > 1 && (
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setChosen(onPage)}>
            {ordersWords.chosen.all(onPage.length)}
          </Button>
        )}
      </FilterBar>
      {!isAgent && <Customer row={found.data?.data[0]} />}
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={ordersWords.title}
          columns={[choice, ...shown]}
          isChosen={({ txn_id }) => txnIds.includes(txn_id)}
          rows={found.data?.data}
          rowKey={(row) => row.txn_id}
          to={(row) => pages.order(row.txn_id)}
          isNew={isNew}
          empty={<NoOrders isFiltered={Object.keys(filters).length > 0} />}
        />
      )}
      <ChosenOrders txnIds={txnIds} clear={() => setChosen([])} />
      <Group justify="space-between" align="center">
        <span>
          {found.data?.searched_to && (
            <>
              {ordersWords.searchedTo} <When at={found.data.searched_to} />
            </>
          )}
        </span>
        <CursorPages next={found.data?.next} />
      </Group>
    </>
  )
}

/** What people know of the one user or account whose orders are shown. */
function Customer({ row }: { row: OrderRow | undefined }) {
  const { filters } = useFilters()
  const about = filters.account !== undefined ? 'account' : 'user'
  if (!row || filters.agent === undefined || filters[about] === undefined) return null
  return (
    <Box mb="md">
      <OrderMarks txnId={row.txn_id} only={about} title={ordersWords.customer[about]} />
    </Box>
  )
}

function NoOrders({ isFiltered }: { isFiltered: boolean }) {
  const { none, noneTeach, noMatch, noMatchTeach } = ordersWords
  return isFiltered ? (
    <Empty title={noMatch} teach={noMatchTeach} />
  ) : (
    <Empty title={none} teach={noneTeach} />
  )
}

/** Tells which rows arrived after the list was first loaded with these filters. */
function useArrivals(rows: OrderRow[] | undefined, filters: string) {
  const seen = useRef<{ filters: string; ids: Set<string> }>(undefined)
  if (rows && seen.current?.filters !== filters) {
    seen.current = { filters, ids: new Set(rows.map(({ txn_id }) => txn_id)) }
  }
  return ({ txn_id }: OrderRow) => seen.current?.ids.has(txn_id) === false
}
