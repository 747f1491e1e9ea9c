import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Answer, ask, type Row } from '../../api.ts'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { SubjectLink } from '../../parts/subject-link.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { titleWords } from '../approval/title-words.ts'
import { approvalsWords as says } from './approvals-words.ts'

type Proposal = Row<typeof api.approvals>

/** A proposal, or what waits for a second person on a page of its own. */
type Shown = Pick<
  Proposal,
  'id' | 'title' | 'amount' | 'currency' | 'proposed_by' | 'proposed_at' | 'state'
> & { about: ReactNode; at: string; until: string | null }

const columns: Column<Shown>[] = [
  {
    key: 'action',
    head: says.columns.action,
    phone: 'wide',
    cell: (row) => <PageLink to={row.at}>{row.title}</PageLink>,
  },
  {
    key: 'about',
    head: says.columns.about,
    clip: true,
    cell: (row) => row.about,
  },
  {
    key: 'amount',
    head: says.columns.amount,
    right: true,
    phone: 'first',
    cell: (row) =>
      row.amount === null || row.currency === null ? (
        '–'
      ) : (
        <Money amount={row.amount} currency={row.currency} />
      ),
  },
  {
    key: 'by',
    head: says.columns.by,
    clip: true,
    cell: (row) => (
      <PageLink to={pages.audit} search={{ actor: row.proposed_by }}>
        {row.proposed_by}
      </PageLink>
    ),
  },
  { key: 'at', head: says.columns.at, cell: (row) => <When at={row.proposed_at} ago /> },
  {
    key: 'state',
    head: says.columns.state,
    cell: (row) => <StateBadge state={`proposal_${row.state}`} />,
  },
  {
    key: 'until',
    head: says.columns.until,
    cell: (row) => (row.until === null ? '–' : <When at={row.until} />),
  },
]

function shownOf({ data, others }: Answer<typeof api.approvals>): Shown[] {
  const proposals = data.map((row) => ({
    ...row,
    title: titleWords[row.action] ?? row.title,
    about: row.agent_name === null ? <SubjectLink subject={row.subject} /> : <AgentLink {...row} />,
    at: pages.approval(row.id),
    until: row.expires_at,
  }))
  const elsewhere = others.map((row) => ({
    ...row,
    about: row.account,
    state: 'open' as const,
    until: row.expires_at,
  }))
  return [...elsewhere, ...proposals].sort((a, b) => (a.proposed_at < b.proposed_at ? 1 : -1))
}

/** What waits for a second person, the newest first. */
export default function Approvals() {
  const { filters } = useFilters()
  const found = useQuery({
    queryKey: ['approvals', filters],
    queryFn: ({ signal }) => ask(api.approvals, { query: filters, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 8000 : false,
  })
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <FilterBar
        fields={[
          {
            kind: 'choice',
            name: 'state',
            label: says.state,
            any: says.open,
            choices: [['ended', says.ended]],
          },
          { kind: 'choice', name: 'by', label: says.by, choices: [['me', says.mine]] },
        ]}
      />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={columns}
          rows={found.data && shownOf(found.data)}
          rowKey={(row) => row.id}
          to={(row) => row.at}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} />
    </>
  )
}
