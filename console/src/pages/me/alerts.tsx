import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask, type Body } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { ShownOnce } from '../../parts/secret-once.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { AlertTimes } from './alert-times.tsx'
import classes from './me.module.css'
import { meWords } from './me-words.ts'

const { alerts: says } = meWords

type Mine = Answer<typeof api.myAlerts>
type Channel = Mine['channels'][number]
type Kind = Mine['kinds'][number]
type Settable = Body<typeof api.setAlertChannel>['channel']
type Choosable = Body<typeof api.chooseAlerts>['kind']

const key = ['alerts']

/** What the user is told of outside of the console, and where. */
export function Alerts() {
  const [setting, setSetting] = useState<Channel>()
  const [choosing, setChoosing] = useState<Kind>()
  const found = useQuery({ queryKey: key, queryFn: ({ signal }) => ask(api.myAlerts, { signal }) })
  const testing = useMutation({
    mutationFn: () => ask(api.testAlert),
    onSuccess: () => notifications.show({ message: says.tested }),
  })
  const error = found.error ?? testing.error
  const kindColumns: Column<Kind>[] = [
    { key: 'title', head: says.kind, phone: 'wide', cell: ({ title }) => title },
    {
      key: 'channels',
      head: says.where,
      cell: ({ always, channels }) =>
        always ? says.always : channels.map((each) => says.names[each]).join(', ') || says.nowhere,
    },
    {
      key: 'tools',
      head: says.choose,
      cell: (row) => (
        <ActButton
          size="xs"
          whyNot={row.always ? says.whyAlways : undefined}
          onClick={() => setChoosing(row)}
        >
          {says.choose}
        </ActButton>
      ),
    },
  ]
  const channels = found.data?.channels ?? []
  return (
    <>
      <Panel
        title={says.channels}
        tools={
          <Button variant="default" loading={testing.isPending} onClick={() => testing.mutate()}>
            {says.test}
          </Button>
        }
      >
        {error && <ProblemPanel error={error} />}
        <ul className={classes.sessions}>
          {channels.map((channel) => (
            <li key={channel.channel}>
              <div>
                <strong>{says.names[channel.channel]}</strong>
                <div className={classes.agent}>
                  {channel.available ? (channel.target ?? says.notSet) : says.notAvailable}
                </div>
              </div>
              {channel.available && channel.channel !== 'mail' && (
                <Button variant="default" onClick={() => setSetting(channel)}>
                  {says.set}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={says.title}>
        <DataTable
          label={says.title}
          rows={found.data?.kinds}
          rowKey={({ kind }) => kind}
          columns={kindColumns}
          empty={<p>{says.none}</p>}
        />
        <Latest latest={found.data?.latest ?? []} />
      </Panel>
      {found.data && <AlertTimes times={found.data.times} />}
      {setting && <SetChannel channel={setting} close={() => setSetting(undefined)} />}
      {choosing && (
        <Choose kind={choosing} channels={channels} close={() => setChoosing(undefined)} />
      )}
    </>
  )
}

function Latest({ latest }: { latest: Mine['latest'] }) {
  if (latest.length === 0) return null
  return (
    <Stack gap={4} mt="sm">
      <strong>{says.latest}</strong>
      {latest.map((each, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is shown as it came, whole
        <div key={at} className={classes.agent}>
          <When at={each.at} />, {says.names[each.channel]}, {says.states[each.state]}: {each.words}
          {each.error !== null && ` (${each.error})`}
        </div>
      ))}
    </Stack>
  )
}

function SetChannel({ channel, close }: { channel: Channel; close: () => void }) {
  const queries = useQueryClient()
  // Of a Slack channel only the host is known here.
  const known = channel.channel === 'slack' ? '' : (channel.target ?? '')
  const [target, setTarget] = useDraft('alert-channel/target', known)
  const [secret, setSecret] = useState<string>()
  const name = channel.channel as Settable
  if (secret !== undefined) {
    return <ShownOnce title={says.secret} says={says.secretOnce} value={secret} close={close} />
  }
  return (
    <ActDialog
      draft="alert-channel"
      title={says.setTitle(says.names[name])}
      explain={says.hints[name]}
      confirm={target.trim() === '' ? says.remove : says.set}
      needsReason={false}
      stays
      close={close}
      act={async ({ code }) => {
        if (target.trim() === '') {
          await ask(api.removeAlertChannel, { body: { channel: name, code } })
        } else {
          const body = { channel: name, target: target.trim(), code }
          const made = await ask(api.setAlertChannel, { body })
          if (made.secret !== null) setSecret(made.secret)
          else close()
        }
        await queries.invalidateQueries({ queryKey: key })
        if (target.trim() === '') close()
      }}
    >
      <TextInput
        label={says.target}
        description={says.targetHint}
        value={target}
        onChange={(event) => setTarget(event.currentTarget.value)}
      />
    </ActDialog>
  )
}

function Choose(props: { kind: Kind; channels: Channel[]; close: () => void }) {
  const queries = useQueryClient()
  const [chosen, setChosen] = useState(props.kind.channels)
  return (
    <ActDialog
      draft="alert-choice"
      title={props.kind.title}
      explain={says.chooseExplain}
      confirm={says.choose}
      needsReason={false}
      close={props.close}
      act={async ({ code }) => {
        const body = { kind: props.kind.kind as Choosable, channels: chosen, code }
        await ask(api.chooseAlerts, { body })
        await queries.invalidateQueries({ queryKey: key })
      }}
    >
      <Checkbox.Group
        label={says.where}
        value={chosen}
        onChange={(next) => setChosen(next as Kind['channels'])}
      >
        <Group gap="md">
          {props.channels.map(({ channel }) => (
            <Checkbox key={channel} value={channel} label={says.names[channel]} />
          ))}
        </Group>
      </Checkbox.Group>
    </ActDialog>
  )
}
