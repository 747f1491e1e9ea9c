import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { words } from '../../words.ts'
import type { User } from './user.ts'
import { type AskedKind, UserDialogs } from './user-dialogs.tsx'
import { usersWords as says } from './users-words.ts'

export default function Users() {
  const [asked, setAsked] = useDraft<{ kind: AskedKind; id: string | null } | null>('user', null)
  const agents = useAgentChoices()
  const { filters } = useFilters()
  const found = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => ask(api.users, { signal }),
  })
  const columns: Column<User>[] = [
    { key: 'email', head: says.columns.email, phone: 'wide', cell: (user) => user.email },
    {
      key: 'role',
      head: says.columns.role,
      phone: 'plain',
      cell: (user) => words.roles[user.role],
    },
    {
      key: 'agent',
      head: says.columns.agent,
      cell: (user) =>
        user.app_id === null ? (
          '–'
        ) : (
          <PageLink to={pages.agent(user.app_id)}>
            {agents.find(([appId]) => appId === user.app_id)?.[1] ?? user.app_id}
          </PageLink>
        ),
    },
    {
      key: 'state',
      head: says.columns.state,
      phone: 'plain',
      cell: (user) => (
        <>
          <StateBadge state={user.state} />
          {user.codes_stopped_at !== null && <div role="alert">{says.stopped}</div>}
        </>
      ),
    },
    {
      key: 'seen',
      head: says.columns.lastSeen,
      cell: (user) => <When at={user.last_seen_at} ago />,
    },
    {
      key: 'did',
      head: says.columns.did,
      cell: (user) => (
        <PageLink to={pages.audit} search={{ actor: user.email }}>
          {words.nav.audit}
        </PageLink>
      ),
    },
    {
      key: 'act',
      head: says.columns.act,
      phone: 'wide',
      cell: (user) => (
        <Group gap={4} wrap="nowrap">
          <ActButton size="compact-xs" onClick={() => setAsked({ kind: 'role', id: user.id })}>
            {says.changeRole}
          </ActButton>
          <ActButton
            size="compact-xs"
            onClick={() =>
              setAsked({ kind: user.state === 'disabled' ? 'enable' : 'disable', id: user.id })
            }
          >
            {user.state === 'disabled' ? says.enable : says.disable}
          </ActButton>
          <ActButton size="compact-xs" onClick={() => setAsked({ kind: 'reset', id: user.id })}>
            {says.reset}
          </ActButton>
        </Group>
      ),
    },
  ]
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        <ActButton
          size="sm"
          variant="filled"
          onClick={() => setAsked({ kind: 'create', id: null })}
        >
          {says.create}
        </ActButton>
      </PageHead>
      <FilterBar
        fields={[{ kind: 'choice', name: 'agent', label: says.columns.agent, choices: agents }]}
      />
      {found.isError ? (
        <ProblemPanel error={found.error} retry={() => void found.refetch()} />
      ) : (
        <DataTable
          label={says.title}
          columns={columns}
          rows={found.data?.data.filter(
            ({ app_id }) => filters.agent === undefined || app_id === filters.agent,
          )}
          rowKey={(user) => user.id}
          to={(user) => ({ to: pages.audit, search: { actor: user.email } })}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      {asked && found.data && (
        <UserDialogs
          key={`${asked.kind} ${asked.id}`}
          kind={asked.kind}
          user={found.data.data.find(({ id }) => id === asked.id)}
          close={() => setAsked(null)}
        />
      )}
    </>
  )
}
