import { Group, Skeleton, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addressOf, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { type Tone, Toned } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import type { Report } from './report.ts'
import { ReportForm } from './report-form.tsx'
import { reportsWords as says } from './reports-words.ts'

/** Statements that are made and sent by themselves. */
export default function ReportsPage() {
  const [editing, setEditing] = useState<Report | 'new'>()
  const [removing, setRemoving] = useState<Report>()
  const [running, setRunning] = useState<Report>()
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'manage_policy')
  const found = useQuery({
    queryKey: ['reports'],
    queryFn: ({ signal }) => ask(api.reportSchedules, { signal }),
    refetchInterval: 15_000,
  })
  const changed = async (message: string) => {
    await queries.invalidateQueries({ queryKey: ['reports'] })
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
      {found.isError && <ProblemPanel error={found.error} />}
      {found.data && !found.data.mail && <Text mb="sm">{says.noMail}</Text>}
      {found.data ? (
        <>
          <Panel title={says.schedules} tools={add}>
            <Schedules
              reports={found.data.data}
              whyDisabled={whyDisabled}
              edit={setEditing}
              remove={setRemoving}
              run={setRunning}
            />
          </Panel>
          <Runs reports={found.data.data} whyDisabled={whyDisabled} changed={changed} />
        </>
      ) : (
        <Skeleton height={240} />
      )}
      {editing && (
        <ReportForm
          report={editing === 'new' ? undefined : editing}
          close={() => setEditing(undefined)}
          saved={() => changed(says.saved)}
        />
      )}
      {running && (
        <ActDialog
          draft="running"
          title={says.runTitle(running.name)}
          explain={says.runExplain}
          confirm={says.run}
          needsReason={false}
          close={() => setRunning(undefined)}
          act={async ({ code }) => {
            await ask(api.runReport, { body: { id: running.id, code } })
            await changed(says.ran)
          }}
        />
      )}
      {removing && (
        <ActDialog
          draft="removing"
          title={says.removeTitle(removing.name)}
          explain={says.removeExplain}
          confirm={says.remove}
          danger
          needsReason={false}
          close={() => setRemoving(undefined)}
          act={async ({ code }) => {
            await ask(api.removeReportSchedule, { body: { id: removing.id, code } })
            await changed(says.removed)
          }}
        />
      )}
    </>
  )
}

function Schedules(props: {
  reports: Report[]
  whyDisabled: string | undefined
  edit: (report: Report) => void
  remove: (report: Report) => void
  run: (report: Report) => void
}) {
  const agents = new Map(useAgentChoices())
  const columns: Column<Report>[] = [
    {
      key: 'report',
      head: says.columns.report,
      phone: 'wide',
      cell: ({ name, app_id, formats, is_on }) => (
        <span>
          <strong>{name}</strong> {app_id === null ? says.house : (agents.get(app_id) ?? app_id)},{' '}
          {formats.map((each) => says.formats[each] ?? each).join(', ')}{' '}
          {!is_on && <Toned tone="calm">{says.off}</Toned>}
        </span>
      ),
    },
    {
      key: 'when',
      head: says.columns.when,
      phone: 'wide',
      cell: ({ every, made_at, zone }) => says.at(says.every[every] ?? every, made_at, zone),
    },
    {
      key: 'to',
      head: says.columns.to,
      phone: 'wide',
      cell: ({ way, recipients, sftp_host, sftp_folder }) =>
        way === 'mail' ? recipients.join(', ') : `${sftp_host}: ${sftp_folder}`,
    },
    { key: 'last', head: says.columns.last, cell: ({ runs }) => runs[0]?.period ?? says.never },
    {
      key: 'tools',
      head: says.columns.tools,
      cell: (row) => (
        <Group gap="xs">
          <ActButton size="xs" whyNot={props.whyDisabled} onClick={() => props.run(row)}>
            {says.run}
          </ActButton>
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
      label={says.schedules}
      columns={columns}
      rows={props.reports}
      rowKey={({ id }) => id}
      empty={<Empty title={says.none} teach={says.noneTeach} />}
    />
  )
}

const tones: Record<string, Tone> = { waiting: 'warn', sent: 'good', given_up: 'bad' }

type Run = Report['runs'][number] & Pick<Report, 'id' | 'name'>

function Runs(props: {
  reports: Report[]
  whyDisabled: string | undefined
  changed: (message: string) => Promise<void>
}) {
  const resending = useMutation({
    mutationFn: ({ id, period }: Run) => ask(api.resendReport, { body: { id, period } }),
    onSuccess: () => props.changed(says.resent),
  })
  const runs: Run[] = props.reports
    .flatMap(({ id, name, runs: own }) => own.map((run) => ({ ...run, id, name })))
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  const { runColumns: heads } = says
  const columns: Column<Run>[] = [
    {
      key: 'report',
      head: heads.report,
      phone: 'wide',
      cell: ({ name }) => <strong>{name}</strong>,
    },
    { key: 'period', head: heads.period, cell: ({ period }) => period },
    {
      key: 'state',
      head: heads.state,
      phone: 'wide',
      cell: ({ state, attempts, error, due_at, ended_at }) => (
        <span>
          <Toned tone={tones[state] ?? 'calm'}>{says.states[state] ?? state}</Toned>{' '}
          <When at={ended_at ?? due_at ?? ''} />, {says.attempts(attempts)}
          {error !== null && `: ${error}`}
        </span>
      ),
    },
    {
      key: 'files',
      head: heads.files,
      cell: ({ id, period, files }) => (
        <Group gap="sm">
          {files.map(({ format, name }) => (
            <a
              key={format}
              href={addressOf(api.reportFile, { params: { id, period, format } })}
              download={name}
              aria-label={says.download(name)}
            >
              {says.formats[format] ?? format}
            </a>
          ))}
        </Group>
      ),
    },
    {
      key: 'tools',
      head: heads.tools,
      cell: (row) =>
        row.ended_at !== null && (
          <ActButton size="xs" whyNot={props.whyDisabled} onClick={() => resending.mutate(row)}>
            {says.resend}
          </ActButton>
        ),
    },
  ]
  return (
    <Panel title={says.runs}>
      {resending.isError && <ProblemPanel error={resending.error} />}
      <DataTable
        label={says.runs}
        columns={columns}
        rows={runs}
        rowKey={({ id, period }) => `${id} ${period}`}
        empty={<Empty title={says.runsNone} teach={says.runsNoneTeach} />}
      />
    </Panel>
  )
}
