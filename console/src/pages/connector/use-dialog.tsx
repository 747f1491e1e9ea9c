import { Checkbox, Radio, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import type { ConnectorDetail } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'

const { use: says, facts } = connectorWords

/** Uses a version with the newest secrets, as they are shown. */
export function UseDialog(props: {
  connector: ConnectorDetail
  version: number
  close: () => void
}) {
  const { connector, version } = props
  const { name, use } = connector
  const me = useMe()
  const queries = useQueryClient()
  const used = connector.versions.find((each) => each.version === version)?.secrets ?? []
  const set = connector.secrets.filter(({ name, newest }) => used.includes(name) && newest !== null)
  // Exactly those that are shown here: who adds another meanwhile does not have it used.
  const secrets = Object.fromEntries(set.map(({ name, newest }) => [name, newest]))
  const ofCalls = connector.versions.find((each) => each.version === version)?.secrets_of_calls
  const changesKeys =
    use > 0 && set.some(({ name, newest, in_use }) => ofCalls?.includes(name) && newest !== in_use)
  const [account, setAccount] = useDraft<'same' | 'other' | ''>('use/account', '')
  const [isVoid, setVoid] = useDraft('use/void', false)
  return (
    <ActDialog
      draft="use"
      title={says.title(name, version)}
      explain={
        me.mode === 'live' ? `${says.explain(version)} ${says.explainLive}` : says.explain(version)
      }
      confirm={says.button(version)}
      close={props.close}
      isReady={!changesKeys || account !== ''}
      act={async ({ reason, code }) => {
        const body = {
          version,
          use,
          secrets,
          ...(changesKeys && { same_account: account === 'same' }),
          ...(isVoid && { former_void: true }),
          reason,
          code,
        }
        await ask(api.useConnector, { params: { name }, body })
        void queries.invalidateQueries({ queryKey: ['connectors'] })
        void queries.invalidateQueries({ queryKey: ['providers'] })
        await queries.invalidateQueries({ queryKey: ['connector', name] })
      }}
    >
      <Facts
        facts={[
          [facts.version, connector.version ?? facts.noVersion],
          set.length > 0 && [
            says.secrets,
            set.map((each) => says.secret(each.name, each.newest)).join(', '),
          ],
        ]}
      />
      {changesKeys && (
        <Radio.Group
          label={says.account}
          description={says.accountHint}
          value={account}
          onChange={(value) => setAccount(value === 'same' ? 'same' : 'other')}
          required
        >
          <Stack gap="xs" mt="xs">
            <Radio value="same" label={says.sameAccount} />
            <Radio value="other" label={says.otherAccount} />
          </Stack>
        </Radio.Group>
      )}
      {use > 0 && (
        <Checkbox
          label={says.formerVoid}
          description={says.formerVoidHint}
          checked={isVoid}
          onChange={(event) => setVoid(event.currentTarget.checked)}
        />
      )}
    </ActDialog>
  )
}
