import { Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { Panel } from '../../parts/panel.tsx'
import { type Tone, Toned } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from '../bank-account-form/form.module.css'
import type { ConnectorDetail, ConnectorSecret } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'

const { secrets: says, facts } = connectorWords

/** The secrets of a connector by their names. What they are is never shown. */
export function ConnectorSecrets({ connector }: { connector: ConnectorDetail }) {
  const [asked, setAsked] = useDraft<string | null>('secret', null)
  const whyMayNot = whyNot(useMe(), 'manage_providers')
  return (
    <Panel title={says.title}>
      <DataTable
        label={says.title}
        rows={connector.secrets}
        rowKey={(row) => row.name}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
        columns={[
          {
            key: 'name',
            head: says.name,
            phone: 'plain',
            cell: (row) => <strong>{row.name}</strong>,
          },
          { key: 'state', head: says.state, phone: 'plain', cell: State },
          {
            key: 'found',
            head: says.found,
            phone: 'wide',
            cell: (row) => row.found ?? says.unnamed,
          },
          {
            key: 'set',
            head: says.set,
            cell: (row) =>
              row.added_by === null ? (
                '–'
              ) : (
                <>
                  <When at={row.added_at} /> {facts.by(row.added_by)}
                </>
              ),
          },
          {
            key: 'act',
            head: says.act,
            phone: 'plain',
            cell: (row) => (
              <ActButton
                size="compact-xs"
                whyNot={whyMayNot ?? (row.found === null ? says.unnamed : undefined)}
                aria-label={`${says.button(row.newest !== null)} ${row.name}`}
                onClick={() => setAsked(row.name)}
              >
                {says.button(row.newest !== null)}
              </ActButton>
            ),
          },
        ]}
      />
      {asked !== null && (
        <SecretDialog connector={connector.name} secret={asked} close={() => setAsked(null)} />
      )}
    </Panel>
  )
}

function State({ newest, in_use }: ConnectorSecret) {
  const state = newest === null ? 'missing' : newest === in_use ? 'used' : 'newer'
  const tones: Record<typeof state, Tone> = { missing: 'bad', used: 'good', newer: 'warn' }
  return <Toned tone={tones[state]}>{says.states[state]}</Toned>
}

function SecretDialog(props: { connector: string; secret: string; close: () => void }) {
  const { connector: name, secret } = props
  const queries = useQueryClient()
  // No draft: a secret stays in no storage of the browser.
  const [value, setValue] = useState('')
  return (
    <ActDialog
      draft="secret"
      title={says.dialog.title(secret)}
      explain={says.dialog.explain}
      confirm={says.dialog.save}
      isReady={value.trim() !== ''}
      close={props.close}
      act={async ({ reason, code }) => {
        await ask(api.addConnectorSecret, {
          params: { name },
          body: { secret, value: value.trim(), reason, code },
        })
        notifications.show({ message: says.kept(secret) })
        await queries.invalidateQueries({ queryKey: ['connector', name] })
      }}
    >
      <Textarea
        label={says.dialog.value}
        description={says.dialog.valueHint}
        classNames={{ input: classes.code }}
        required
        autosize
        minRows={2}
        maxRows={8}
        maxLength={8192}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
