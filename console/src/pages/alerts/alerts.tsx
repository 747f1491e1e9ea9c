import { Group, Skeleton, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { may, whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { alertsWords as says } from './alerts-words.ts'
import type { Rule } from './rule.ts'
import { RuleForm } from './rule-form.tsx'
import { Sent } from './sent.tsx'

/** Rules of what people are told of outside of the console, and what they were told. */
export default function AlertsPage() {
  const me = useMe()
  const [editing, setEditing] = useState<Rule | 'new'>()
  const [removing, setRemoving] = useState<Rule>()
  const queries = useQueryClient()
  const isAgent = me.user.role === 'agent'
  const whyDisabled = whyNot(me, 'manage_alert_rules')
  const found = useQuery({
    queryKey: ['alert-rules'],
    queryFn: ({ signal }) => ask(api.alertRules, { signal }),
    refetchInterval: 15_000,
  })
  const changed = async (message: string) => {
    await queries.invalidateQueries({ queryKey: ['alert-rules'] })
    notifications.show({ message })
  }
  const add = (
    <ActButton size="sm" whyNot={whyDisabled} onClick={() => setEditing('new')}>
      {says.add}
    </ActButton>
  )
  return (
    <>
      <PageHead title={says.title} says={isAgent ? says.ownSays : says.says} />
      {found.isError && <ProblemPanel error={found.error} />}
      {found.data ? (
        <Panel title={says.rules} tools={add}>
          <Rules
            rules={found.data.data}
            whyDisabled={whyDisabled}
            teach={isAgent ? says.ownNoneTeach : says.noneTeach}
            edit={setEditing}
            remove={setRemoving}
          />
        </Panel>
      ) : (
        <Skeleton height={240} />
      )}
      {may(me, 'view_audit') && <Sent />}
      {isAgent && <PageLink to={pages.me}>{says.ownSent}</PageLink>}
      {editing && (
        <RuleForm
          rule={editing === 'new' ? undefined : editing}
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
          needsReason={false}
          close={() => setRemoving(undefined)}
          act={async ({ code }) => {
            await ask(api.removeAlertRule, { body: { name: removing.name, code } })
            await changed(says.removed)
          }}
        />
      )}
    </>
  )
}

function Rules(props: {
  rules: Rule[]
  whyDisabled: string | undefined
  teach: string
  edit: (rule: Rule) => void
  remove: (rule: Rule) => void
}) {
  const columns: Column<Rule>[] = [
    {
      key: 'rule',
      head: says.columns.rule,
      phone: 'wide',
      cell: (row) => (
        <span>
          <strong>{row.name}</strong> {row.words}
        </span>
      ),
    },
    {
      key: 'state',
      head: says.columns.state,
      phone: 'wide',
      cell: (row) => <Now rule={row} />,
    },
    { key: 'told', head: says.columns.told, phone: 'wide', cell: told },
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
      rows={props.rules}
      rowKey={({ name }) => name}
      empty={<Empty title={says.none} teach={props.teach} />}
    />
  )
}

function Now({ rule }: { rule: Rule }) {
  if (!rule.is_on) return <Toned tone="calm">{says.off}</Toned>
  if (rule.wrong.length === 0) return <Toned tone="good">{says.on}</Toned>
  return (
    <Stack gap={4}>
      {rule.wrong.map(({ subject, since, words }) => (
        <span key={subject}>
          <Toned tone="bad">{says.bad}</Toned> {says.since} <When at={since} />: {words}
        </span>
      ))}
    </Stack>
  )
}

function told({ roles, people, channels }: Rule): string {
  const names = [...roles.map((role) => says.roles[role as keyof typeof says.roles]), ...people]
  const where = channels.map((each) => says.channels[each] ?? each).join(', ') || says.wherever
  return `${names.join(', ')}: ${where}`
}
