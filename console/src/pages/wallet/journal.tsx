import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import type { WalletDetail } from './wallet-detail.ts'
import { walletWords } from './wallet-words.ts'

type Entry = Row<typeof api.journal>

const { journal: says } = walletWords

function columnsIn(currency: string): Column<Entry>[] {
  const money = (pick: (row: Entry) => number, signed = false) => {
    return (row: Entry) => <Money amount={pick(row)} currency={currency} signed={signed} bare />
  }
  return [
    { key: 'seq', head: says.seq, phone: 'plain', cell: (row) => `#${row.seq}` },
    { key: 'at', head: says.at, phone: 'plain', cell: (row) => <When at={row.at} /> },
    {
      key: 'event',
      head: says.event,
      phone: 'plain',
      cell: (row) => says.events[row.event] ?? row.event,
    },
    {
      key: 'order',
      head: says.order,
      phone: 'plain',
      cell: (row) =>
        row.txn_id === null ? '–' : <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
    },
    {
      key: 'amount',
      head: says.amount,
      right: true,
      phone: 'first',
      cell: money((row) => row.amount, true),
    },
    {
      key: 'held_change',
      head: says.held,
      right: true,
      cell: money((row) => row.held_change, true),
    },
    { key: 'fee', head: says.fee, right: true, cell: money((row) => row.fee) },
    { key: 'balance', head: says.balance, right: true, cell: money((row) => row.balance) },
    { key: 'held_after', head: says.heldAfter, right: true, cell: money((row) => row.held) },
    { key: 'reason', head: says.reason, cell: (row) => row.reason ?? '' },
  ]
}

/** Every movement, newest first, with the balances after each. */
export function Journal({ wallet }: { wallet: WalletDetail }) {
  const { filters } = useFilters()
  const found = useQuery({
    queryKey: ['journal', wallet.app_id, filters],
    queryFn: ({ signal }) =>
      ask(api.journal, { params: { app_id: wallet.app_id }, query: filters, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: Object.keys(filters).length === 0 ? 5000 : false,
  })
  if (found.isError) return <ProblemPanel error={found.error} />
  return (
    <>
      <DataTable
        label={says.title}
        columns={columnsIn(wallet.currency)}
        rows={found.data?.data}
        rowKey={(row) => String(row.seq)}
        to={(row) => row.txn_id && pages.order(row.txn_id)}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
      />
      <CursorPages next={found.data?.next} />
    </>
  )
}
