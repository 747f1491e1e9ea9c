import { Checkbox, Group, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ask, type Body } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { useDraft } from '../../parts/draft.ts'
import { useZone, zones } from '../../parts/zone-choice.ts'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import type { Report } from './report.ts'
import { reportsWords as says } from './reports-words.ts'

interface Draft {
  name: string
  appId: string
  every: string
  madeAt: string
  zone: string
  formats: string[]
  withRows: boolean
  way: string
  recipients: string
  host: string
  port: string
  user: string
  hostKey: string
  folder: string
  isOn: boolean
}

type TextField = 'name' | 'madeAt' | 'recipients' | 'host' | 'port' | 'user' | 'hostKey' | 'folder'

/** Makes or changes a scheduled report. */
export function ReportForm(props: {
  report: Report | undefined
  close: () => void
  saved: () => Promise<void>
}) {
  const { report } = props
  const [zone] = useZone(useMe())
  const [draft, setDraft] = useDraft<Draft>(`report/${report?.id ?? ''}`, () =>
    draftOf(report, zone),
  )
  // Not among the drafts: these are kept in the browser.
  const [key, setKey] = useState('')
  const change = (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes }))
  const agents = useAgentChoices()
  const { fields } = says
  const text = (name: TextField, label: string, more: object = {}) => (
    <TextInput
      label={label}
      required
      value={draft[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
      {...more}
    />
  )
  const choice = (
    name: 'appId' | 'every' | 'zone' | 'way',
    label: string,
    data: { value: string; label: string }[],
    more: object = {},
  ) => (
    <NativeSelect
      label={label}
      value={draft[name]}
      data={data}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
      {...more}
    />
  )
  const labelled = (labels: Record<string, string>) =>
    Object.entries(labels).map(([value, label]) => ({ value, label }))
  return (
    <ActDialog
      draft="report"
      title={says.addTitle}
      explain={says.addExplain}
      confirm={report ? says.change : says.add}
      wide
      needsReason={false}
      close={props.close}
      act={async ({ code }) => {
        await ask(api.setReportSchedule, { body: { ...bodyOf(draft, report, key), code } })
        await props.saved()
      }}
    >
      <Group grow preventGrowOverflow={false}>
        {text('name', fields.name, { maxLength: 60, disabled: report !== undefined })}
        {choice(
          'appId',
          fields.agent,
          [{ value: '', label: says.house }, ...agents.map(([value, label]) => ({ value, label }))],
          { disabled: report !== undefined },
        )}
      </Group>
      <Group grow preventGrowOverflow={false}>
        {choice('every', fields.every, labelled(says.every))}
        {text('madeAt', fields.madeAt, { type: 'time' })}
        {choice(
          'zone',
          fields.zone,
          [...new Set([draft.zone, ...zones])].map((value) => ({ value, label: value })),
        )}
      </Group>
      <Checkbox.Group
        label={fields.formats}
        value={draft.formats}
        onChange={(formats) => change({ formats })}
      >
        <Group gap="md">
          {labelled(says.formats).map((each) => (
            <Checkbox key={each.value} {...each} />
          ))}
        </Group>
      </Checkbox.Group>
      <Checkbox
        label={fields.withRows}
        description={fields.withRowsHint}
        checked={draft.withRows}
        onChange={(event) => change({ withRows: event.currentTarget.checked })}
      />
      {choice('way', fields.way, labelled(says.ways))}
      {draft.way === 'mail' ? (
        <Textarea
          label={fields.recipients}
          description={fields.recipientsHint}
          required
          value={draft.recipients}
          onChange={(event) => change({ recipients: event.currentTarget.value })}
        />
      ) : (
        <>
          <Group grow preventGrowOverflow={false}>
            {text('host', fields.host)}
            {text('port', fields.port, { inputMode: 'numeric' })}
            {text('user', fields.user)}
            {text('folder', fields.folder)}
          </Group>
          {text('hostKey', fields.hostKey, { description: fields.hostKeyHint })}
          <Textarea
            label={fields.key}
            description={report?.has_key ? fields.keyKept : fields.keyHint}
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
        </>
      )}
      <Checkbox
        label={fields.isOn}
        checked={draft.isOn}
        onChange={(event) => change({ isOn: event.currentTarget.checked })}
      />
    </ActDialog>
  )
}

function draftOf(report: Report | undefined, zone: string): Draft {
  return {
    name: report?.name ?? '',
    appId: report?.app_id ?? '',
    every: report?.every ?? 'day',
    madeAt: report?.made_at ?? '06:00',
    zone: report?.zone ?? zone,
    formats: report?.formats ?? ['xlsx', 'pdf'],
    withRows: report?.with_rows ?? false,
    way: report?.way ?? 'mail',
    recipients: report?.recipients.join('\n') ?? '',
    host: report?.sftp_host ?? '',
    port: String(report?.sftp_port ?? 22),
    user: report?.sftp_user ?? '',
    hostKey: report?.sftp_host_key ?? '',
    folder: report?.sftp_folder ?? '',
    isOn: report?.is_on ?? true,
  }
}

function bodyOf(
  draft: Draft,
  report: Report | undefined,
  key: string,
): Body<typeof api.setReportSchedule> {
  const isMail = draft.way === 'mail'
  return {
    id: report?.id ?? null,
    name: draft.name.trim(),
    app_id: draft.appId || null,
    every: draft.every,
    made_at: draft.madeAt,
    zone: draft.zone,
    formats: draft.formats,
    with_rows: draft.withRows,
    way: draft.way,
    recipients: isMail ? draft.recipients.split(/[\s,;]+/).filter((each) => each !== '') : [],
    is_on: draft.isOn,
    ...(!isMail && {
      sftp_host: draft.host.trim(),
      sftp_port: Number(draft.port),
      sftp_user: draft.user.trim(),
      sftp_host_key: draft.hostKey.trim(),
      sftp_folder: draft.folder.trim(),
      ...(key.trim() !== '' && { sftp_key: key }),
    }),
  } as Body<typeof api.setReportSchedule>
}
