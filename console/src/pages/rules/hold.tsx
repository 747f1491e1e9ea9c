import { NativeSelect, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
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
          {hold.differences.map(({ subject, words, open }) => (
            <li key={subject}>
              {words} {!open && <strong>({says.settled})</strong>}
            </li>
          ))}
        </ul>
      </Stack>
      {releasing && (
        <Release
          differences={hold.differences.filter(({ open }) => open)}
          close={() => setReleasing(false)}
          release={async (body) => {
            await ask(api.releaseHold, { params: { id: hold.id }, body })
            await queries.invalidateQueries({ queryKey: ['holds'] })
            notifications.show({ message: says.released })
          }}
        />
      )}
    </Panel>
  )
}

type Difference = Answer<typeof api.holds>['data'][number]['differences'][number]
type Finding = { subject: string; finding: 'not_paid' | 'has_it' | 'seen'; reference?: string }

/** Payouts go on once something is said of every difference that is open. */
function Release(props: {
  differences: Difference[]
  close: () => void
  release: (body: { reason: string; code: string; differences: Finding[] }) => Promise<void>
}) {
  const { differences } = props
  const [chosen, setChosen] = useDraft<Record<string, string>>('releasing/findings', {})
  const findings = differences.flatMap(({ subject }): Finding[] => {
    const [finding, reference] = (chosen[subject] ?? '').split(' ')
    if (finding !== 'not_paid' && finding !== 'has_it' && finding !== 'seen') return []
    return [{ subject, finding, ...(reference && { reference }) }]
  })
  return (
    <ActDialog
      draft="releasing"
      title={says.releaseTitle}
      explain={says.releaseExplain}
      confirm={says.release}
      danger
      wide
      isReady={findings.length === differences.length}
      close={props.close}
      act={({ reason, code }) => props.release({ reason, code, differences: findings })}
    >
      {differences.map((difference) => (
        <NativeSelect
          key={difference.subject}
          label={says.findingOf(difference.subject)}
          value={chosen[difference.subject] ?? ''}
          onChange={({ currentTarget: { value } }) =>
            setChosen((now) => ({ ...now, [difference.subject]: value }))
          }
          data={[{ value: '', label: says.chooseFinding }, ...choicesFor(difference)]}
        />
      ))}
    </ActDialog>
  )
}

function choicesFor({ txn_id, provider, references }: Difference) {
  const seen = { value: 'seen', label: says.findings.seen }
  if (txn_id === null) return [seen]
  return [
    { value: 'not_paid', label: says.findings.not_paid },
    ...references.map((reference) => ({
      value: `has_it ${reference}`,
      label: says.findings.has_it(provider ?? '', reference),
    })),
    seen,
  ]
}
