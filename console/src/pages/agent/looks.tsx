import { Group, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { type AgentDetail, agentKey } from './agent-detail.ts'
import { agentWords } from './agent-words.ts'
import { LogoField } from './logo-field.tsx'
import { PagePreview } from './page-preview.tsx'

const { looks: says, terms } = agentWords

/** The payment page's colour and logo, shown as they are changed; the agent's own users may. */
export function Looks({ agent }: { agent: AgentDetail }) {
  const me = useMe()
  const queries = useQueryClient()
  const [edits, setEdits] = useState<{ colour?: string; logo?: string }>({})
  const [isAsked, setAsked] = useState(false)
  const colour = edits.colour ?? agent.colour ?? ''
  const logo = edits.logo ?? agent.logo ?? ''
  const isColour = colour === '' || /^#[0-9a-f]{6}$/i.test(colour)
  const isChanged = colour !== (agent.colour ?? '') || logo !== (agent.logo ?? '')
  const params = { app_id: agent.app_id }
  return (
    <Panel
      title={says.title}
      tools={
        <ActButton
          size="compact-sm"
          whyNot={
            whyNot(me, 'manage_own_keys') ??
            (!isChanged ? says.same : isColour ? undefined : says.noColour)
          }
          onClick={() => setAsked(true)}
        >
          {says.save}
        </ActButton>
      }
    >
      <Group align="flex-start" gap="md">
        <div>
          <TextInput
            label={terms.colour[0]}
            description={terms.colour[1]}
            error={isColour ? undefined : says.noColour}
            value={colour}
            onChange={(event) => setEdits({ ...edits, colour: event.currentTarget.value })}
          />
          <LogoField
            label={terms.logo[0]}
            description={terms.logo[1]}
            value={logo}
            change={(value) => setEdits({ ...edits, logo: value })}
          />
        </div>
        <PagePreview agent={agent} colour={isColour ? colour : ''} logo={logo} />
      </Group>
      {isAsked && (
        <ActDialog
          draft="looks"
          title={says.title}
          explain={says.explain}
          confirm={says.save}
          needsReason={false}
          close={() => setAsked(false)}
          act={async ({ code }) => {
            const body = { colour: colour || null, logo: logo || null, code }
            await ask(api.setLooks, { params, body })
            await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
            setEdits({})
            notifications.show({ message: says.done })
          }}
        />
      )}
    </Panel>
  )
}
