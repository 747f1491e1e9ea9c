import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import type { ConnectorDetail } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'

const { use: says, facts } = connectorWords

/** Uses a version with the newest secrets. */
export function UseDialog(props: {
  connector: ConnectorDetail
  version: number
  close: () => void
}) {
  const { connector, version } = props
  const { name, use } = connector
  const me = useMe()
  const queries = useQueryClient()
  const set = connector.secrets.filter(({ newest }) => newest !== null)
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
        await ask(api.useConnector, { params: { name }, body: { version, use, reason, code } })
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
