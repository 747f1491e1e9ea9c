import { NativeSelect } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { type Tone, Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { alertsWords as says } from './alerts-words.ts'

type Delivery = Answer<typeof api.alertsSent>['data'][number]

const tones: Record<string, Tone> = {
  waiting: 'warn',
  held: 'info',
  gathered: 'calm',
  sent: 'good',
  given_up: 'bad',
}

/** What people were told, whether it reached them, and once more if it did not. */
export function Sent() {
  const queries = useQueryClient()
  const { filters, set } = useFilters()
  const whyDisabled = whyNot(useMe(), 'manage_policy')
  const { state, cursor } = filters
  const found = useQuery({
    queryKey: ['alerts-sent', state, cursor],
    queryFn: ({ signal }) =>
      ask(api.alertsSent, {
        query: { ...(state && { state }), ...(cursor && { cursor }) },
        signal,
      }),
    refetchInterval: 15_000,
  })
  const resending = useMutation({
    mutationFn: ({ alert_id, user_id, channel }: Delivery) =>
      ask(api.resendAlert, { body: { alert_id, user_id, channel } }),
    onSuccess: async () => {
      notifications.show({ message: says.resent })
      await queries.invalidateQueries({ queryKey: ['alerts-sent'] })
    },
  })
  const { sentColumns: heads } = says
  const columns: Column<Delivery>[] = [
    { key: 'at', head: heads.at, cell: ({ at }) => <When at={at} /> },
    {
      key: 'what',
      head: heads.what,
      phone: 'wide',
      cell: ({ title, words }) => (
        <span>
          <strong>{title}</strong> {words}
        </span>
      ),
    },
    {
      key: 'who',
      head: heads.who,
      phone: 'wide',
      cell: ({ email, channel }) => `${email}, ${says.channels[channel] ?? channel}`,
    },
    {
      key: 'state',
      head: heads.state,
      phone: 'wide',
      cell: ({ state: now, error, due_at }) => (
        <span>
          <Toned tone={tones[now] ?? 'calm'}>{says.states[now] ?? now}</Toned>{' '}
          {due_at !== null && <When at={due_at} />} {error}
        </span>
      ),
    },
    { key: 'attempts', head: heads.attempts, right: true, cell: ({ attempts }) => attempts },
    {
      key: 'tools',
      head: heads.tools,
      cell: (row) =>
        row.ended_at !== null && (
          <ActButton size="xs" whyNot={whyDisabled} onClick={() => resending.mutate(row)}>
            {says.resend}
          </ActButton>
        ),
    },
  ]
  const choose = (
    <NativeSelect
      aria-label={says.state}
      value={state ?? ''}
      data={[
        { value: '', label: says.allStates },
        ...Object.entries(says.states).map(([value, label]) => ({ value, label })),
      ]}
      onChange={(event) => set({ state: event.currentTarget.value })}
    />
  )
  const error = found.error ?? resending.error
  return (
    <Panel title={says.sent} tools={choose}>
      {error && <ProblemPanel error={error} />}
      <DataTable
        label={says.sent}
        columns={columns}
        rows={found.data?.data}
        rowKey={({ alert_id, user_id, channel }) => `${alert_id} ${user_id} ${channel}`}
        empty={<Empty title={says.sentNone} teach={says.sentNoneTeach} />}
      />
      <CursorPages next={found.data?.next} />
    </Panel>
  )
}
