import { Group, Progress, Skeleton, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import type { Limit } from './limit.ts'
import { LimitForm } from './limit-form.tsx'
import { limitsWords as says } from './limits-words.ts'

/** Limits and lists that new orders are measured against, with what is used of each now. */
export default function LimitsPage() {
  const [editing, setEditing] = useState<Limit | 'new'>()
  const [removing, setRemoving] = useState<Limit>()
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'manage_policy')
  const { filters } = useFilters()
  const agents = useAgentChoices()
  const found = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => ask(api.limits, { signal }),
    refetchInterval: 15_000,
  })
  const changed = async (message: string) => {
    await queries.invalidateQueries({ queryKey: ['limits'] })
    notifications.show({ message })
  }
  const add = (
    <ActButton size="sm" whyNot={whyDisabled} onClick={() => setEditing('new')}>
      {says.add}
    </ActButton>
  )
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <FilterBar
        fields={[{ kind: 'choice', name: 'agent', label: says.columns.agent, choices: agents }]}
      />
      {found.isError && <ProblemPanel error={found.error} />}
      {found.data ? (
        <Panel title={says.rules} tools={add}>
          <Rules
            limits={found.data.data.filter(
              ({ app_id }) =>
                filters.agent === undefined || app_id === null || app_id === filters.agent,
            )}
            whyDisabled={whyDisabled}
            edit={setEditing}
            remove={setRemoving}
          />
        </Panel>
      ) : (
        <Skeleton height={240} />
      )}
      {editing && (
        <LimitForm
          limit={editing === 'new' ? undefined : editing}
          close={() => setEditing(undefined)}
          saved={() => changed(says.saved)}
        />
      )}
      {removing && (
        <ActDialog
          draft="removing"
          title={says.removeTitle(removing.name)}
          explain={`${removing.words}. ${says.removeExplain}`}
          confirm={says.remove}
          danger
          close={() => setRemoving(undefined)}
          act={async ({ reason, code }) => {
            const { app_id, name } = removing
            await ask(api.removeLimit, { body: { app_id, name, reason, code } })
            await changed(says.removed)
          }}
        />
      )}
    </>
  )
}

function Rules(props: {
  limits: Limit[]
  whyDisabled: string | undefined
  edit: (limit: Limit) => void
  remove: (limit: Limit) => void
}) {
  const agents = new Map(useAgentChoices())
  const nameOf = (appId: string | null) =>
    appId === null ? says.each : (agents.get(appId) ?? appId)
  const columns: Column<Limit>[] = [
    {
      key: 'rule',
      head: says.columns.rule,
      phone: 'wide',
      cell: (row) => (
        <span>
          <strong>{row.name}</strong> {row.words}
          {row.counting && ` (${says.counting})`}
          {row.values.length > 0 && ` (${says.values(row.values.length)})`}
        </span>
      ),
    },
    {
      key: 'agent',
      head: says.columns.agent,
      cell: (row) =>
        row.app_id === null ? (
          says.each
        ) : (
          <PageLink to={pages.agent(row.app_id)}>{nameOf(row.app_id)}</PageLink>
        ),
    },
    {
      key: 'used',
      head: says.columns.used,
      phone: 'wide',
      cell: (row) => <Used limit={row} nameOf={nameOf} />,
    },
    {
      key: 'tools',
      head: says.columns.tools,
      cell: (row) => (
        <Group gap="xs">
          <ActButton size="xs" whyNot={props.whyDisabled} onClick={() => props.edit(row)}>
            {says.change}
          </ActButton>
          <ActButton size="xs" whyNot={props.whyDisabled} onClick={() => props.remove(row)}>
            {says.remove}
          </ActButton>
        </Group>
      ),
    },
  ]
  return (
    <DataTable
      label={says.rules}
      columns={columns}
      rows={props.limits}
      rowKey={(row) => `${row.app_id} ${row.name}`}
      {...(props.whyDisabled === undefined && { open: props.edit })}
      empty={<Empty title={says.none} teach={says.noneTeach} />}
    />
  )
}

/** Who uses most of a limit now. */
function Used(props: { limit: Limit; nameOf: (appId: string | null) => string }) {
  const { limit, nameOf } = props
  if (limit.frees_at === null) return says.notCounted
  if (limit.used.length === 0) return says.nothingUsed
  return (
    <Stack gap={4}>
      {limit.used.map((use) => {
        const whose = [
          limit.app_id === null ? nameOf(use.app_id) : '',
          use.subject === '' ? says.agentAsWhole : use.subject,
        ]
        const label = whose.filter((each) => each !== '').join(', ')
        return (
          <div key={`${use.app_id} ${use.subject}`}>
            {label}: {says.of(use.used, limit.most ?? '')}
            <Progress
              aria-label={label}
              size="sm"
              value={Math.min(100, use.share * 100)}
              color={use.share >= 0.9 ? 'red.8' : undefined}
            />
          </div>
        )
      })}
      <span>
        {says.frees} <When at={limit.frees_at} />
      </span>
    </Stack>
  )
}
