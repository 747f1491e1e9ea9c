import { NativeSelect } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { api } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import { providersWords as says } from './providers-words.ts'

type Provider = Pick<Row<typeof api.providers>, 'name' | 'state'>

/** Switches a provider on or off, or drains it. */
export function SwitchDialog({ provider, close }: { provider: Provider; close: () => void }) {
  const queries = useQueryClient()
  const [state, setState] = useDraft(`switch/${provider.name}/state`, provider.state)
  const states: Provider['state'][] = ['on', 'draining', 'off']
  // From off, draining lets what waits leave.
  const needsCode = state === 'on' || (state === 'draining' && provider.state === 'off')
  return (
    <ActDialog
      draft={`switch/${provider.name}`}
      title={says.switchTitle(provider.name)}
      explain={says.states[state]}
      confirm={says.switch}
      danger={state === 'off'}
      close={close}
      needsCode={needsCode}
      act={async ({ reason, code }) => {
        await ask(api.setProvider, {
          params: { id: provider.name },
          body: { state, reason, ...(needsCode && { code }) },
        })
        void queries.invalidateQueries({ queryKey: ['connectors'] })
        void queries.invalidateQueries({ queryKey: ['connector', provider.name] })
        await queries.invalidateQueries({ queryKey: ['providers'] })
      }}
    >
      <NativeSelect
        label={says.columns.state}
        value={state}
        data={states.map((value) => ({ value, label: stateWords[value] ?? value }))}
        onChange={({ currentTarget: { value } }) =>
          setState(states.find((each) => each === value) ?? 'on')
        }
      />
    </ActDialog>
  )
}
