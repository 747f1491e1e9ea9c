import { useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { trendColumn, useTrends } from '../../parts/sparkline.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { agentWords } from '../agent/agent-words.ts'
import { agentsWords as says } from './agents-words.ts'
import { CreateAgent } from './create-agent.tsx'

type Agent = Row<typeof api.agents>

const { choices: termChoices } = agentWords

const columns: Column<Agent>[] = [
  {
    key: 'name',
    head: says.columns.name,
    phone: 'wide',
    cell: (row) => <PageLink to={pages.agent(row.app_id)}>{row.name}</PageLink>,
  },
  {
    key: 'app_id',
    head: says.columns.appId,
    phone: 'plain',
    cell: (row) => <CopyId id={row.app_id} short />,
  },
  {
    key: 'status',
    head: says.columns.status,
    phone: 'plain',
    cell: (row) => <StateBadge state={row.status} />,
  },
  { key: 'currency', head: says.columns.currency, cell: (row) => row.currency },
  { key: 'deposit_fee', head: says.columns.depositFee, cell: (row) => row.deposit_fee },
  { key: 'withdraw_fee', head: says.columns.withdrawFee, cell: (row) => row.withdraw_fee },
  { key: 'method', head: says.columns.method, cell: (row) => termChoices[row.method] },
  {
    key: 'callback',
    head: says.columns.callback,
    extra: true,
    cell: (row) => row.deposit_callback ?? '–',
  },
  {
    key: 'created',
    head: says.columns.created,
    extra: true,
    cell: (row) => <When at={row.created_at} />,
  },
]

export default function Agents() {
  const me = useMe()
  const trendOf = useTrends('agents')
  const [isCreating, setCreating] = useDraft('create', false)
  const found = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => ask(api.agents, { signal }),
  })
  const { shown, picker } = useColumns('agents', [
    ...columns,
    trendColumn<Agent>('agents', (row) => trendOf(row.app_id)),
  ])
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        <ActButton
          size="sm"
          variant="filled"
          whyNot={whyNot(me, 'manage_agents')}
          onClick={() => setCreating(true)}
        >
          {says.create}
        </ActButton>
        {picker}
      </PageHead>
      {found.isError ? (
        <ProblemPanel error={found.error} retry={() => void found.refetch()} />
      ) : (
        <DataTable
          label={says.title}
          columns={shown}
          rows={found.data?.data}
          rowKey={(row) => row.app_id}
          to={(row) => pages.agent(row.app_id)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      {isCreating && <CreateAgent close={() => setCreating(false)} />}
    </>
  )
}
