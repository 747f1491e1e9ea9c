import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { type Field, FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import { callbacksWords as says } from './callbacks-words.ts'
import { Lanes } from './lanes.tsx'
import { ReplayDialog } from './replay-dialog.tsx'

type Callback = Row<typeof api.callbacks>

const columns: Column<Callback>[] = [
  {
    key: 'seq',
    head: says.columns.seq,
    phone: 'plain',
    cell: (row) => <PageLink to={pages.callback(row.app_id, row.seq)}>{`#${row.seq}`}</PageLink>,
  },
  { key: 'at', head: says.columns.at, phone: 'plain', cell: (row) => <When at={row.at} /> },
  {
    key: 'agent',
    head: says.columns.agent,
    phone: 'plain',
    clip: true,
    cell: (row) => <AgentLink {...row} />,
  },
  {
    key: 'order',
    head: says.columns.order,
    phone: 'plain',
    cell: (row) => <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
  },
  { key: 'status', head: says.columns.status, cell: (row) => stateWords[row.status] },
  {
    key: 'delivery',
    head: says.columns.delivery,
    phone: 'plain',
    cell: (row) => <StateBadge state={row.delivery} />,
  },
  { key: 'attempts', head: says.columns.attempts, right: true, cell: (row) => row.attempts },
  {
    key: 'answer',
    head: says.columns.answer,
    cell: ({ last_status, last_error }) =>
      last_status === null ? (last_error ?? '–') : `HTTP ${last_status}`,
  },
  { key: 'due', head: says.columns.due, cell: (row) => <When at={row.due_at} due /> },
]

/** The states whose list is in the order in which they are due. */
const byDue = ['waiting', 'failing', 'paused']

export default function Callbacks() {
  const me = useMe()
  const isAgent = me.user.role === 'agent'
  const { filters } = useFilters()
  const [isReplaying, setReplaying] = useDraft('replay', false)
  const found = useQuery({
    queryKey: ['callbacks', filters],
    queryFn: ({ signal }) => ask(api.callbacks, { query: filters, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 5000 : false,
  })
  const { shown, picker } = useColumns(
    'callbacks',
    columns.filter(({ key }) => !isAgent || key !== 'agent'),
  )
  return (
    <>
      <PageHead title={says.title} says={isAgent ? says.saysOwn : says.says}>
        <ActButton
          size="sm"
          whyNot={whyNot(me, 'resend_callbacks')}
          onClick={() => setReplaying(true)}
        >
          {says.replay.open}
        </ActButton>
        {picker}
      </PageHead>
      <Lanes />
      <FilterBar fields={useFields(isAgent)} />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={shown}
          rows={found.data?.data}
          rowKey={(row) => `${row.app_id} ${row.seq}`}
          to={(row) => pages.callback(row.app_id, row.seq)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages
        next={found.data?.next}
        order={byDue.includes(filters.state ?? '') ? 'due' : 'newest'}
      />
      {isReplaying && <ReplayDialog close={() => setReplaying(false)} />}
    </>
  )
}

const states = [
  'undelivered',
  'failing',
  'waiting',
  'exhausted',
  'no_address',
  'superseded',
  'paused',
  'delivered',
]

function useFields(isAgent: boolean): Field[] {
  const choices = useAgentChoices()
  return [
    {
      kind: 'choice',
      name: 'state',
      label: says.columns.delivery,
      choices: states.map((state): [string, string] => [state, stateWords[state] ?? state]),
    },
    ...(isAgent
      ? []
      : [{ kind: 'choice' as const, name: 'agent', label: says.columns.agent, choices }]),
    { kind: 'choice', name: 'older_than_s', label: says.age, choices: says.ages },
  ]
}
