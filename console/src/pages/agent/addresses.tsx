import { Button, Group, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import classes from './agent.module.css'
import { type AgentDetail, agentKey } from './agent-detail.ts'
import { agentWords as says } from './agent-words.ts'

/** The agent's callback addresses. Each can be tested with a real request before it is saved. */
export function Addresses({ agent }: { agent: AgentDetail }) {
  const whyDisabled = whyNot(useMe(), 'manage_own_keys')
  const queries = useQueryClient()
  // Only the fields the user edited; the others keep following the agent's saved values.
  const [edits, setEdits] = useDraft<{ deposit?: string; withdraw?: string }>('addresses', {})
  const deposit = edits.deposit ?? agent.deposit_callback ?? ''
  const withdraw = edits.withdraw ?? agent.withdraw_callback ?? ''
  // When the values being changed were read; null while the save dialog is closed.
  const [readAt, setReadAt] = useDraft<string | null>('save-addresses', null)
  const isChanged =
    deposit !== (agent.deposit_callback ?? '') || withdraw !== (agent.withdraw_callback ?? '')
  return (
    <Panel title={says.addresses}>
      <Stack gap="sm">
        <AddressField
          appId={agent.app_id}
          label={says.depositCallback}
          value={deposit}
          change={(value) => setEdits({ ...edits, deposit: value })}
          whyDisabled={whyDisabled}
        />
        <AddressField
          appId={agent.app_id}
          label={says.withdrawCallback}
          value={withdraw}
          change={(value) => setEdits({ ...edits, withdraw: value })}
          whyDisabled={whyDisabled}
        />
        <Group>
          <ActButton
            variant="filled"
            whyNot={whyDisabled ?? (isChanged ? undefined : says.nothingChanged)}
            onClick={() => setReadAt(agent.updated_at)}
          >
            {says.saveAddresses}
          </ActButton>
          {isChanged && (
            <Button variant="default" onClick={() => setEdits({})}>
              {says.discard}
            </Button>
          )}
        </Group>
      </Stack>
      {readAt !== null && (
        <ActDialog
          draft="save-addresses"
          title={says.saveAddresses}
          explain={says.addressesExplain}
          confirm={words.save}
          close={() => setReadAt(null)}
          act={async ({ reason, code }) => {
            await ask(api.changeAddresses, {
              params: { app_id: agent.app_id },
              body: {
                deposit_callback: deposit.trim() || null,
                withdraw_callback: withdraw.trim() || null,
                updated_at: readAt,
                reason,
                code,
              },
            })
            notifications.show({ message: says.saved })
            await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
            setEdits({})
          }}
        />
      )}
    </Panel>
  )
}

function AddressField(props: {
  appId: string
  label: string
  value: string
  change: (value: string) => void
  whyDisabled: string | undefined
}) {
  const checking = useMutation({
    mutationFn: () =>
      ask(api.checkAddress, { params: { app_id: props.appId }, body: { url: props.value.trim() } }),
  })
  return (
    <div>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label={props.label}
          type="url"
          placeholder={says.noAddress}
          readOnly={props.whyDisabled !== undefined}
          value={props.value}
          onChange={(event) => {
            checking.reset()
            props.change(event.currentTarget.value)
          }}
        />
        {props.whyDisabled === undefined && (
          <Button
            variant="default"
            size="sm"
            aria-label={says.checkWhat(props.label)}
            disabled={props.value.trim() === ''}
            loading={checking.isPending}
            onClick={() => checking.mutate()}
          >
            {says.check}
          </Button>
        )}
      </Group>
      {checking.isError && <ProblemPanel error={checking.error} />}
      <ol className={classes.steps} aria-live="polite">
        {checking.data?.steps.map(({ step, ok, says: told }) => (
          <li key={step}>
            <Toned tone={ok ? 'good' : 'bad'}>{says.steps[step]}</Toned>
            {told}
          </li>
        ))}
      </ol>
    </div>
  )
}
