import { Group, NativeSelect, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import { zones } from '../../parts/zone-choice.ts'
import { api } from '../../paths.ts'
import { meWords } from './me-words.ts'

const { times: says } = meWords

type Times = Answer<typeof api.myAlerts>['times']

/** When the user is not told what can wait, and when they get a digest of the day before. */
export function AlertTimes({ times }: { times: Times }) {
  const [isSetting, setSetting] = useState(false)
  const quiet =
    times.quiet_from === null || times.quiet_to === null
      ? says.never
      : says.between(times.quiet_from, times.quiet_to)
  return (
    <Panel
      title={says.title}
      tools={<ActButton onClick={() => setSetting(true)}>{says.set}</ActButton>}
    >
      <Facts
        facts={[
          [says.quiet, quiet],
          [says.digest, times.digest_at ?? says.never],
          [says.zone, times.zone],
        ]}
      />
      {isSetting && <SetTimes times={times} close={() => setSetting(false)} />}
    </Panel>
  )
}

function SetTimes({ times, close }: { times: Times; close: () => void }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useDraft('alert-times/form', () => ({
    zone: times.zone,
    quiet_from: times.quiet_from ?? '',
    quiet_to: times.quiet_to ?? '',
    digest_at: times.digest_at ?? '',
  }))
  const time = (name: 'quiet_from' | 'quiet_to' | 'digest_at', label: string) => (
    <TextInput
      type="time"
      label={label}
      value={draft[name]}
      onChange={(event) => {
        const { value } = event.currentTarget
        setDraft((now) => ({ ...now, [name]: value }))
      }}
    />
  )
  return (
    <ActDialog
      draft="alert-times"
      title={says.title}
      explain={says.explain}
      confirm={says.set}
      needsReason={false}
      close={close}
      act={async ({ code }) => {
        const orNull = (text: string) => (text === '' ? null : text)
        await ask(api.setAlertTimes, {
          body: {
            zone: draft.zone,
            quiet_from: orNull(draft.quiet_from),
            quiet_to: orNull(draft.quiet_to),
            digest_at: orNull(draft.digest_at),
            code,
          },
        })
        await queries.invalidateQueries({ queryKey: ['alerts'] })
        notifications.show({ message: says.saved })
      }}
    >
      <Group grow>
        {time('quiet_from', says.quietFrom)}
        {time('quiet_to', says.quietTo)}
      </Group>
      {time('digest_at', says.digestAt)}
      <NativeSelect
        label={says.zone}
        value={draft.zone}
        data={[...new Set([draft.zone, ...zones])]}
        onChange={(event) => {
          const { value } = event.currentTarget
          setDraft((now) => ({ ...now, zone: value }))
        }}
      />
    </ActDialog>
  )
}
