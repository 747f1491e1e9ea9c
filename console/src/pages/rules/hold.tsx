import { Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { rulesWords as says } from './rules-words.ts'

/** What holds payouts back since the database was restored, and what is not the same elsewhere; nothing otherwise. */
export function Hold() {
  const [releasing, setReleasing] = useState(false)
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'act_on_orders')
  const { data } = useQuery({
    queryKey: ['holds'],
    queryFn: ({ signal }) => ask(api.holds, { signal }),
    refetchInterval: 8000,
  })
  const hold = data?.data[0]
  if (!hold) return null
  const whyNotYet = hold.asked_at === null ? says.stillAsking : undefined
  const release = (
    <ActButton size="sm" whyNot={whyDisabled ?? whyNotYet} onClick={() => setReleasing(true)}>
      {says.release}
    </ActButton>
  )
  return (
    <Panel title={says.held} tools={release}>
      <Stack gap="xs">
        <p>
          {says.missingSince} <When at={hold.since} />. {hold.found} {says.heldMeans}
        </p>
        <ul>
          {hold.differences.map(({ subject, words }) => (
            <li key={subject}>{words}</li>
          ))}
        </ul>
      </Stack>
      {releasing && (
        <ActDialog
          draft="releasing"
          title={says.releaseTitle}
          explain={says.releaseExplain}
          confirm={says.release}
          danger
          close={() => setReleasing(false)}
          act={async ({ reason, code }) => {
            await ask(api.releaseHold, { params: { id: hold.id }, body: { reason, code } })
            await queries.invalidateQueries({ queryKey: ['holds'] })
            notifications.show({ message: says.released })
          }}
        />
      )}
    </Panel>
  )
}
