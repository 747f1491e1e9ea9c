import { Button, Group, NativeSelect, Textarea, TextInput, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import classes from './agent.module.css'
import { type AgentDetail, agentKey } from './agent-detail.ts'
import { agentWords as says } from './agent-words.ts'
import { LogoField } from './logo-field.tsx'
import { PagePreview } from './page-preview.tsx'
import {
  changedFields,
  changesIn,
  type TermField,
  type Typed,
  termGroups,
  termText,
  termWords,
  typedFrom,
} from './term-fields.ts'
import { TermValue } from './term-value.tsx'

/** Limits, fees, methods and origins. Saving sends when they were read, so no other change is overwritten. */
export function Terms({ agent }: { agent: AgentDetail }) {
  const me = useMe()
  const whyDisabled = me.user.role === 'agent' ? says.operatorsChange : whyNot(me, 'manage_agents')
  // Only the fields the user edited; the others keep following the agent's saved values.
  const [edits, setEdits] = useDraft<Partial<Typed>>('terms', {})
  const typed = { ...typedFrom(agent), ...edits }
  // When the values being changed were read; null while the save dialog is closed.
  const [readAt, setReadAt] = useDraft<string | null>('save-terms', null)
  const isChanged = changedFields(agent, typed).length > 0
  return (
    <Panel
      title={says.termsTitle}
      tools={
        <Group gap="xs">
          {isChanged && (
            <Button variant="default" onClick={() => setEdits({})}>
              {says.discard}
            </Button>
          )}
          <ActButton
            variant="filled"
            whyNot={whyDisabled ?? (isChanged ? undefined : says.nothingChanged)}
            onClick={() => setReadAt(agent.updated_at)}
          >
            {says.saveTerms}
          </ActButton>
        </Group>
      }
    >
      <div className={whyDisabled === undefined ? classes.groups : classes.panels}>
        {termGroups.map(([title, fields]) => (
          <div key={title}>
            <Title order={3} mb={6}>
              {title}
            </Title>
            {whyDisabled === undefined ? (
              <div className={classes.fields}>
                {fields.map((field) => (
                  <Term
                    key={field.name}
                    field={field}
                    value={typed[field.name]}
                    change={(value) => setEdits((now) => ({ ...now, [field.name]: value }))}
                  />
                ))}
              </div>
            ) : (
              <Facts
                facts={fields.map((field) => [
                  termWords[field.name][0],
                  <TermValue key={field.name} field={field} value={typed[field.name]} />,
                ])}
              />
            )}
          </div>
        ))}
      </div>
      {me.user.role !== 'agent' && (
        <>
          <Title order={3} mt="lg" mb={6}>
            {says.looks.preview}
          </Title>
          <PagePreview agent={agent} colour={typed.colour} logo={typed.logo} />
        </>
      )}
      {readAt !== null && (
        <SaveTerms
          agent={agent}
          readAt={readAt}
          typed={typed}
          saved={() => setEdits({})}
          close={() => setReadAt(null)}
        />
      )}
    </Panel>
  )
}

function Term(props: { field: TermField; value: string; change: (value: string) => void }) {
  const { name, kind, choices = [] } = props.field
  const [label, description] = termWords[name]
  const shared = { label, description, value: props.value }
  if (kind === 'choice') {
    return (
      <NativeSelect
        {...shared}
        data={choices.map((value) => ({ value, label: termText(props.field, value) }))}
        onChange={(event) => props.change(event.currentTarget.value)}
      />
    )
  }
  if (kind === 'picture') return <LogoField {...shared} change={props.change} />
  if (kind === 'lines') {
    return <Textarea {...shared} onChange={(event) => props.change(event.currentTarget.value)} />
  }
  return (
    <TextInput
      {...shared}
      inputMode={kind === 'number' ? 'numeric' : 'text'}
      onChange={(event) => props.change(event.currentTarget.value)}
    />
  )
}

function SaveTerms(props: {
  agent: AgentDetail
  readAt: string
  typed: Typed
  saved: () => void
  close: () => void
}) {
  // The values from when the dialog opened, so that another user's change is reported, not overwritten.
  const [{ agent, typed }] = useState(props)
  const before = typedFrom(agent)
  const queries = useQueryClient()
  return (
    <ActDialog
      draft="save-terms"
      title={says.titleOf(says.saveTerms, agent.name)}
      explain={says.termsExplain}
      confirm={words.save}
      close={props.close}
      act={async ({ reason, code }) => {
        await ask(api.changeAgent, {
          params: { app_id: agent.app_id },
          body: { ...changesIn(agent, typed), updated_at: props.readAt, reason, code },
        })
        notifications.show({ message: says.saved })
        await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
        props.saved()
        void queries.invalidateQueries({ queryKey: ['agents'] })
      }}
    >
      <Facts
        facts={changedFields(agent, typed).map((field) => [
          termWords[field.name][0],
          <span key={field.name} className={classes.change}>
            <TermValue field={field} value={before[field.name]} />
            {says.becomes}
            <TermValue field={field} value={typed[field.name]} />
          </span>,
        ])}
      />
    </ActDialog>
  )
}
