import { NativeSelect, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { useDraft } from '../../parts/draft.ts'
import { TimeZone } from '../../parts/when.tsx'
import { fromLocal, toLocal } from '../../parts/zoned-time.ts'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import { callbacksWords } from './callbacks-words.ts'

const { replay: says } = callbacksWords
const dayMs = 86_400_000

/** Resends all callbacks that were given up since a given time. */
export function ReplayDialog({ close }: { close: () => void }) {
  const zone = use(TimeZone)
  const queries = useQueryClient()
  const isAgent = useMe().user.role === 'agent'
  const choices = useAgentChoices()
  const [agent, setAgent] = useDraft('replay/agent', '')
  const [since, setSince] = useDraft('replay/since', () =>
    toLocal(new Date(Date.now() - dayMs).toISOString(), zone),
  )
  return (
    <ActDialog
      draft="replay"
      title={says.title}
      explain={says.explain}
      confirm={says.confirm}
      needsCode={false}
      close={close}
      act={async ({ reason }) => {
        const { resent, left_out } = await ask(api.replayCallbacks, {
          body: {
            failed_since: fromLocal(since, zone),
            reason,
            ...(agent !== '' && { agent }),
          },
        })
        await queries.invalidateQueries({ queryKey: ['callbacks'] })
        notifications.show({ message: says.done(resent, left_out) })
      }}
    >
      {!isAgent && (
        <NativeSelect
          label={callbacksWords.columns.agent}
          value={agent}
          onChange={(event) => setAgent(event.currentTarget.value)}
        >
          <option value="">{says.allAgents}</option>
          {choices.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </NativeSelect>
      )}
      <TextInput
        label={says.since}
        description={words.timeZone(zone)}
        type="datetime-local"
        required
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
