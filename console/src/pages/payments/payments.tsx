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
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import { paymentsWords as says } from './payments-words.ts'
import { Unexplained } from './unexplained.tsx'

type Payment = Row<typeof api.payments>

const columns: Column<Payment>[] = [
  {
    key: 'payment',
    head: says.columns.payment,
    phone: 'wide',
    cell: (row) => <CopyId id={row.payment_id} to={pages.payment(row.payment_id)} />,
  },
  {
    key: 'why',
    head: says.columns.why,
    phone: 'beside',
    cell: (row) => <StateBadge state={row.why ?? row.state} />,
  },
  {
    key: 'amount',
    head: says.columns.amount,
    right: true,
    phone: 'first',
    cell: (row) => <Money amount={row.amount} currency={row.currency} />,
  },
  { key: 'age', head: says.columns.age, cell: (row) => <When at={row.reported_at} ago /> },
  {
    key: 'paid_at',
    head: says.columns.paidAt,
    extra: true,
    cell: (row) => <When at={row.paid_at} />,
  },
  { key: 'agent', head: says.columns.agent, clip: true, cell: (row) => <AgentLink {...row} /> },
  {
    key: 'payer',
    head: says.columns.payer,
    clip: true,
    cell: (row) => row.payer?.account_name ?? row.payer?.account_no ?? '–',
  },
  {
    key: 'reference',
    head: says.columns.reference,
    clip: true,
    cell: (row) => row.reference ?? '–',
  },
  { key: 'assignee', head: says.columns.assignee, cell: (row) => row.assignee ?? '–' },
]

const whys = [
  'late',
  'wrong_amount',
  'duplicate',
  'unmatched',
  'claimed_twice',
  'ambiguous',
  'wrong_provider',
  'wrong_currency',
  'fee',
  'bound',
]

/** Payments that need a decision, the oldest first. */
export default function Payments() {
  const { filters } = useFilters()
  const { user } = useMe()
  const query = { state: 'to_decide', ...filters }
  const found = useQuery({
    queryKey: ['payments', query],
    queryFn: ({ signal }) => ask(api.payments, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 8000 : false,
  })
  const { shown, picker } = useColumns('payments', columns)
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
            any: says.toDecide,
            choices: [['decided', says.decided]],
          },
          {
            kind: 'choice',
            name: 'why',
            label: says.columns.why,
            choices: whys.map((why): [string, string] => [why, stateWords[why] ?? why]),
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
          rowKey={(row) => row.payment_id}
          to={(row) => pages.payment(row.payment_id)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages
        next={found.data?.next}
        order={query.state === 'to_decide' ? 'oldest' : 'newest'}
      />
      {filters.state !== 'decided' && <Unexplained />}
    </>
  )
}
