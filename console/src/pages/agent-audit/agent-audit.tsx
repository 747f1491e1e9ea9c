import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask, type Row } from '../../api.ts'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { pageOfSubject, SubjectLink } from '../../parts/subject-link.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { actionText } from '../audit/action-text.ts'
import { agentAuditWords as says } from './agent-audit-words.ts'

type Entry = Row<typeof api.agentAudit>

const { columns: heads } = says

const columns: Column<Entry>[] = [
  { key: 'at', head: heads.at, phone: 'plain', cell: (row) => <When at={row.at} /> },
  { key: 'by', head: heads.by, phone: 'plain', cell: (row) => row.by?.email ?? says.operator },
  { key: 'ip', head: heads.ip, cell: (row) => row.by?.ip ?? '–' },
  { key: 'action', head: heads.action, phone: 'plain', cell: actionText },
  {
    key: 'subject',
    head: heads.subject,
    phone: 'wide',
    cell: ({ subject }) => <SubjectLink subject={subject} />,
  },
  {
    key: 'outcome',
    head: heads.outcome,
    phone: 'plain',
    cell: (row) => <StateBadge state={row.outcome} />,
  },
  { key: 'reason', head: heads.reason, cell: (row) => row.reason ?? '' },
]

export default function AgentAudit() {
  const { appId = '' }: { appId?: string } = useParams({ strict: false })
  const { filters } = useFilters()
  const found = useQuery({
    queryKey: ['agent-audit', appId, filters],
    queryFn: ({ signal }) =>
      ask(api.agentAudit, { params: { app_id: appId }, query: filters, signal }),
    placeholderData: keepPreviousData,
  })
  const { shown, picker } = useColumns('agent-audit', columns)
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        {picker}
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={shown}
          rows={found.data?.data}
          rowKey={(row) => row.id}
          to={({ subject }) => pageOfSubject(subject)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} />
    </>
  )
}
