import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
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
  return (
    <ActDialog
      draft="use"
      title={says.title(name, version)}
      explain={
        me.mode === 'live' ? `${says.explain(version)} ${says.explainLive}` : says.explain(version)
      }
      confirm={says.button(version)}
      close={props.close}
      act={async ({ reason, code }) => {
        const body = { version, use, secrets, reason, code }
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
    </ActDialog>
  )
}
