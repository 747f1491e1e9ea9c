import { Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { Panel } from '../../parts/panel.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { rulesWords as says } from './rules-words.ts'

type Stop = Row<typeof api.stops>

/** What is stopped, and the button that stops everything. */
export function Stops() {
  const [stopping, setStopping] = useState(false)
  const [lifting, setLifting] = useState<Stop>()
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'act_on_orders')
  const agents = new Map(useAgentChoices())
  const { data } = useQuery({
    queryKey: ['stops'],
    queryFn: ({ signal }) => ask(api.stops, { signal }),
    refetchInterval: 8000,
  })
  const changed = async (message: string) => {
    await queries.invalidateQueries({ queryKey: ['stops'] })
    notifications.show({ message })
  }
  const stopAll = (
    <ActButton size="sm" color="red.8" whyNot={whyDisabled} onClick={() => setStopping(true)}>
      {says.stopAll}
    </ActButton>
  )
  return (
    <Panel title={says.stops} tools={stopAll}>
      {data?.data.length === 0 && <p>{says.noStop}</p>}
      {data?.data.map((stop) => (
        <Group key={stop.id} justify="space-between" gap="xs">
          <span>
            <strong>
              {stop.app_id === null ? says.everything : (agents.get(stop.app_id) ?? stop.app_id)}
            </strong>{' '}
            {says.stoppedBy(stop.by, stop.reason)}
          </span>
          <ActButton size="xs" whyNot={whyDisabled} onClick={() => setLifting(stop)}>
            {says.lift}
          </ActButton>
        </Group>
      ))}
      {stopping && (
        <ActDialog
          draft="stopping"
          title={says.stopTitle}
          explain={says.stopExplain}
          confirm={says.stopAll}
          danger
          needsCode={false}
          close={() => setStopping(false)}
          act={async ({ reason }) => {
            await ask(api.stop, { body: { reason } })
            await changed(says.stopped)
          }}
        />
      )}
      {lifting && (
        <ActDialog
          draft="lifting"
          title={says.liftTitle}
          explain={says.liftExplain}
          confirm={says.lift}
          close={() => setLifting(undefined)}
          act={async ({ reason, code }) => {
            await ask(api.liftStop, { params: { id: lifting.id }, body: { reason, code } })
            await changed(says.lifted)
          }}
        />
      )}
    </Panel>
  )
}
