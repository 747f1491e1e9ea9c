import { useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { locale } from '../../languages/language.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { trendColumn, useTrends } from '../../parts/sparkline.tsx'
import { api, pages } from '../../paths.ts'
import { walletsWords as says } from './wallets-words.ts'

type Wallet = Row<typeof api.wallets>

const money = (pick: (row: Wallet) => number) => (row: Wallet) => (
  <Money amount={pick(row)} currency={row.currency} />
)

const columns: Column<Wallet>[] = [
  {
    key: 'agent',
    head: says.columns.agent,
    phone: 'wide',
    cell: (row) => <PageLink to={pages.wallet(row.app_id)}>{row.agent_name}</PageLink>,
  },
  { key: 'app_id', head: says.columns.appId, cell: (row) => <CopyId id={row.app_id} short /> },
  {
    key: 'balance',
    head: says.columns.balance,
    right: true,
    phone: 'first',
    cell: money((row) => row.balance),
  },
  { key: 'held', head: says.columns.held, right: true, cell: money((row) => row.held) },
  { key: 'fees', head: says.columns.fees, right: true, cell: money((row) => row.fees) },
  {
    key: 'seq',
    head: says.columns.seq,
    right: true,
    cell: (row) => row.seq.toLocaleString(locale),
  },
]

export default function Wallets() {
  const trendOf = useTrends('wallets')
  const found = useQuery({
    queryKey: ['wallets'],
    queryFn: ({ signal }) => ask(api.wallets, { signal }),
    refetchInterval: 8000,
  })
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={[...columns, trendColumn<Wallet>('wallets', (row) => trendOf(row.app_id))]}
          rows={found.data?.data}
          rowKey={(row) => row.app_id}
          to={(row) => pages.wallet(row.app_id)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
    </>
  )
}
