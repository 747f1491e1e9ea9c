import { Modal, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { useFocusBack } from '../../parts/focus-back.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { SubjectLink } from '../../parts/subject-link.tsx'
import { subjectWords } from '../../parts/subject-words.ts'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { words } from '../../words.ts'
import { actionText, actionWords } from './action-text.ts'
import { auditWords as says } from './audit-words.ts'

type Entry = Row<typeof api.audit>

const kinds = Object.entries(subjectWords).sort(([, a], [, b]) => a.localeCompare(b))
const actions = Object.entries(actionWords).sort(([, a], [, b]) => a.localeCompare(b))

export default function Audit() {
  const { filters } = useFilters()
  const { kind, id, ...rest } = filters
  const query = {
    ...rest,
    ...(kind !== undefined && { subject: id === undefined ? kind : `${kind}:${id}` }),
  }
  const [opened, setOpened] = useState<Entry>()
  const found = useQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => ask(api.audit, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 10_000 : false,
  })
  const columns: Column<Entry>[] = [
    { key: 'at', head: says.columns.at, phone: 'plain', cell: (row) => <When at={row.at} /> },
    {
      key: 'actor',
      head: says.columns.actor,
      phone: 'plain',
      cell: ({ actor: { email } }) => (
        <PageLink to={pages.audit} search={{ actor: email }}>
          {email}
        </PageLink>
      ),
    },
    { key: 'ip', head: says.columns.ip, cell: (row) => row.actor.ip ?? '–' },
    { key: 'action', head: says.columns.action, phone: 'plain', cell: actionText },
    {
      key: 'subject',
      head: says.columns.subject,
      phone: 'wide',
      cell: ({ subject }) => <SubjectLink subject={subject} />,
    },
    {
      key: 'outcome',
      head: says.columns.outcome,
      phone: 'plain',
      cell: (row) => <StateBadge state={row.outcome} />,
    },
    { key: 'reason', head: says.columns.reason, cell: (row) => row.reason ?? '' },
    {
      key: 'more',
      head: says.columns.more,
      phone: 'plain',
      cell: (row) => (
        <ActButton size="compact-xs" onClick={() => setOpened(row)}>
          {says.openRow}
        </ActButton>
      ),
    },
  ]
  const { shown, picker } = useColumns('audit', columns)
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        {picker}
      </PageHead>
      <FilterBar
        fields={[
          { kind: 'search', name: 'actor', label: says.filters.actor, hint: says.filters.actor },
          {
            kind: 'choice',
            name: 'action',
            label: says.filters.action,
            any: says.filters.anyAction,
            choices: actions,
          },
          {
            kind: 'choice',
            name: 'kind',
            label: says.filters.kind,
            any: says.filters.anyKind,
            choices: kinds,
          },
          { kind: 'text', name: 'id', label: says.filters.id },
          { kind: 'time', name: 'from', label: says.filters.from, more: true },
          { kind: 'time', name: 'to', label: says.filters.to, more: true },
        ]}
      />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={shown}
          rows={found.data?.data}
          rowKey={(row) => row.id}
          open={setOpened}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} />
      {opened && <Details row={opened} close={() => setOpened(undefined)} />}
    </>
  )
}

function Told({ label, raw }: { label: string; raw: unknown }) {
  return (
    <div>
      <strong>{label}</strong>
      {raw === null ? <div>{says.nothing}</div> : <RawView raw={raw} label={label} />}
    </div>
  )
}

function Details({ row, close }: { row: Entry; close: () => void }) {
  useFocusBack()
  return (
    <Modal
      opened
      size="lg"
      onClose={close}
      title={<strong>{actionText(row)}</strong>}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack gap="xs">
        <div>
          {row.actor.email}, {row.actor.ip ?? '–'}, <When at={row.at} />
        </div>
        {row.asked_at !== null && (
          <div>
            {says.askedAt} <When at={row.asked_at} />
          </div>
        )}
        {row.reason !== null && <div>{row.reason}</div>}
        <Told label={says.before} raw={row.before} />
        <Told label={says.after} raw={row.after} />
      </Stack>
    </Modal>
  )
}
