import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import { openItemsWords as says } from './open-items-words.ts'
import { UnprocessedReports } from './unprocessed-reports.tsx'

type Item = Row<typeof api.openItems>

const columns: Column<Item>[] = [
  {
    key: 'kind',
    head: says.columns.kind,
    phone: 'plain',
    cell: (row) => <StateBadge state={row.kind} />,
  },
  {
    key: 'words',
    head: says.columns.words,
    phone: 'wide',
    cell: (row) => <PageLink to={pages.openItem(row.item_id)}>{row.words}</PageLink>,
  },
  {
    key: 'amount',
    head: says.columns.amount,
    right: true,
    phone: 'first',
    cell: (row) => <Money amount={row.amount} currency={row.currency} />,
  },
  { key: 'age', head: says.columns.age, cell: (row) => <When at={row.opened_at} ago /> },
  {
    key: 'order',
    head: says.columns.order,
    cell: (row) => <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
  },
  { key: 'agent', head: says.columns.agent, clip: true, cell: (row) => <AgentLink {...row} /> },
  { key: 'assignee', head: says.columns.assignee, cell: (row) => row.assignee ?? '–' },
  { key: 'reference', head: says.columns.reference, extra: true, cell: (row) => row.reference },
]

const kinds = ['paid_after_failed', 'paid_twice', 'failed_after_paid', 'refunded_and_taken_back']

/** Payouts where a provider's report contradicts the books, the oldest first. */
export default function OpenItems() {
  const { filters } = useFilters()
  const { user } = useMe()
  const query = { state: 'open', ...filters }
  const found = useQuery({
    queryKey: ['open-items', query],
    queryFn: ({ signal }) => ask(api.openItems, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 8000 : false,
  })
  const { shown, picker } = useColumns('open-items', columns)
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        {picker}
      </PageHead>
      <FilterBar
        fields={[
          {
            kind: 'choice',
            name: 'state',
            label: says.state,
            any: says.open,
            choices: [['closed', says.closed]],
          },
          {
            kind: 'choice',
            name: 'kind',
            label: says.columns.kind,
            choices: kinds.map((kind): [string, string] => [kind, stateWords[kind] ?? kind]),
          },
          { kind: 'choice', name: 'agent', label: says.columns.agent, choices: useAgentChoices() },
          {
            kind: 'choice',
            name: 'assignee',
            label: says.columns.assignee,
            choices: [[user.email, says.mine]],
          },
        ]}
      />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={shown}
          rows={found.data?.data}
          rowKey={(row) => row.item_id}
          to={(row) => pages.openItem(row.item_id)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} order={query.state === 'open' ? 'oldest' : 'newest'} />
      <UnprocessedReports />
    </>
  )
}
