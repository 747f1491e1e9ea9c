import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import classes from './agent.module.css'
import { type AgentDetail, agentKey } from './agent.tsx'
import {
  changesIn,
  type TermField,
  type Typed,
  termFields,
  termWords,
  typedFrom,
} from './term-fields.ts'

const { agent: says } = words

/** Limits, fees, methods and origins. Saving tells the service what was read, so that nobody's change is lost. */
export function Terms({ agent }: { agent: AgentDetail }) {
  const me = useMe()
  const shut = me.user.role === 'agent' ? says.operatorsChange : whyNot(me, 'manage_agents')
  // Only what was typed: the rest follows the agent, whoever changes it.
  const [edits, setEdits] = useState<Partial<Typed>>({})
  const typed = { ...typedFrom(agent), ...edits }
  const [isSaving, setSaving] = useState(false)
  const changes = changesIn(agent, typed)
  const isChanged = Object.keys(changes).length > 0
  return (
    <Panel
      title={says.termsTitle}
      tools={
        <ActButton
          variant="filled"
          whyNot={shut ?? (isChanged ? undefined : says.nothingChanged)}
          onClick={() => setSaving(true)}
        >
          {says.saveTerms}
        </ActButton>
      }
    >
      <div className={classes.fields}>
        {termFields.map((field) => (
          <Term
            key={field.name}
            field={field}
            value={typed[field.name]}
            isShut={shut !== undefined}
            change={(value) => setEdits((now) => ({ ...now, [field.name]: value }))}
          />
        ))}
      </div>
      {isSaving && (
        <SaveTerms
          agent={agent}
          changes={changes}
          saved={() => setEdits({})}
          close={() => setSaving(false)}
        />
      )}
    </Panel>
  )
}

function Term(props: {
  field: TermField
  value: string
  isShut: boolean
  change: (value: string) => void
}) {
  const { name, kind, choices = [] } = props.field
  const [label, description] = termWords[name]
  const shared = { label, description, value: props.value }
  if (kind === 'choice') {
    return (
      <NativeSelect
        {...shared}
        disabled={props.isShut}
        data={choices}
        onChange={(event) => props.change(event.currentTarget.value)}
      />
    )
  }
  if (kind === 'lines') {
    return (
      <Textarea
        {...shared}
        readOnly={props.isShut}
        onChange={(event) => props.change(event.currentTarget.value)}
      />
    )
  }
  return (
    <TextInput
      {...shared}
      readOnly={props.isShut}
      inputMode={kind === 'number' ? 'numeric' : 'text'}
      onChange={(event) => props.change(event.currentTarget.value)}
    />
  )
}

function SaveTerms(props: {
  agent: AgentDetail
  changes: ReturnType<typeof changesIn>
  saved: () => void
  close: () => void
}) {
  // As they were when this was opened: a change that came in between is told, not written over.
  const [{ agent, changes }] = useState(props)
  const queries = useQueryClient()
  return (
    <ActDialog
      title={says.titleOf(says.saveTerms, agent.name)}
      explain={says.termsExplain}
      confirm={words.save}
      close={props.close}
      act={async ({ reason }) => {
        await ask(api.changeAgent, {
          params: { app_id: agent.app_id },
          body: { ...changes, updated_at: agent.updated_at, reason },
        })
        notifications.show({ message: says.saved })
        await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
        props.saved()
        void queries.invalidateQueries({ queryKey: ['agents'] })
      }}
    >
      <RawView raw={changes} label={says.changes} />
    </ActDialog>
  )
}
