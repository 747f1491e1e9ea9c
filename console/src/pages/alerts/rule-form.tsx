import { Button, Checkbox, Group, MultiSelect, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ask, type Body } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { currencies } from '../../parts/currencies.ts'
import { useDraft } from '../../parts/draft.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useZone, zones } from '../../parts/zone-choice.ts'
import { api } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { alertsWords as says } from './alerts-words.ts'
import type { Rule } from './rule.ts'

interface Draft {
  name: string
  kind: string
  threshold: string
  windowMinutes: string
  minOrders: string
  orderKind: string
  appId: string
  provider: string
  currency: string
  from: string
  to: string
  zone: string
  roles: string[]
  people: string[]
  channels: string[]
  isOn: boolean
}

/** What the form asks for besides who is told, by kind. */
const asks: Record<string, readonly string[]> = {
  payout_unknown: ['agent', 'provider'],
  lane_probing: ['agent'],
  callbacks_failing: ['agent'],
  success_below: ['window', 'orders', 'agent', 'provider'],
  balance_below: ['currency', 'agent', 'provider'],
  proof_red: [],
  breaks: ['provider'],
  nothing_for: ['hours', 'orders', 'agent'],
}

/** What an agent's users may be told of. */
const ownKinds = [
  'balance_below',
  'success_below',
  'nothing_for',
  'lane_probing',
  'callbacks_failing',
]

/** Makes or changes a rule, and shows first what it would say. An agent's users make theirs for themselves. */
export function RuleForm(props: {
  rule: Rule | undefined
  close: () => void
  saved: () => Promise<void>
}) {
  const { rule } = props
  const me = useMe()
  const [zone] = useZone(me)
  const own = me.user.role === 'agent' ? (me.user.app_id ?? '') : undefined
  const [draft, setDraft] = useDraft<Draft>(`alert-rule/${rule?.name ?? ''}`, () =>
    draftOf(rule, zone, own),
  )
  const change = (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes }))
  const agents = useAgentChoices()
  const users = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => ask(api.users, { signal }),
    enabled: may(me, 'manage_users'),
  })
  const trying = useMutation({ mutationFn: () => ask(api.tryAlertRule, { body: bodyOf(draft) }) })
  const { fields } = says
  const asked = asks[draft.kind] ?? []
  const threshold = says.thresholds[draft.kind] ?? ''
  const text = (
    name: 'threshold' | 'windowMinutes' | 'minOrders' | 'from' | 'to',
    label: string,
  ) => (
    <TextInput
      label={label}
      required
      inputMode={name === 'from' || name === 'to' ? 'text' : 'decimal'}
      value={draft[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
  const choice = (
    name: 'kind' | 'orderKind' | 'appId' | 'currency' | 'zone',
    label: string,
    data: { value: string; label: string }[],
  ) => (
    <NativeSelect
      label={label}
      value={draft[name]}
      data={data}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
  const labelled = (labels: Record<string, string>) =>
    Object.entries(labels).map(([value, label]) => ({ value, label }))
  return (
    <ActDialog
      draft="alert-rule"
      title={says.addTitle}
      explain={says.addExplain}
      confirm={rule ? says.change : says.add}
      wide
      needsReason={false}
      close={props.close}
      act={async ({ code }) => {
        await ask(api.setAlertRule, { body: { ...bodyOf(draft), code } })
        await props.saved()
      }}
    >
      <Group grow preventGrowOverflow={false}>
        <TextInput
          label={fields.name}
          required
          maxLength={60}
          disabled={rule !== undefined}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        {choice(
          'kind',
          fields.kind,
          labelled(says.kinds).filter(({ value }) => own === undefined || ownKinds.includes(value)),
        )}
        {threshold !== '' && text('threshold', threshold)}
      </Group>
      <Group grow preventGrowOverflow={false}>
        {asked.includes('window') && text('windowMinutes', fields.window_minutes)}
        {asked.includes('window') && text('minOrders', fields.min_orders)}
        {asked.includes('orders') &&
          choice('orderKind', fields.order_kind, [
            { value: '', label: says.bothKinds },
            ...labelled(says.orderKinds),
          ])}
        {asked.includes('hours') && text('from', fields.hours_from)}
        {asked.includes('hours') && text('to', fields.hours_to)}
        {asked.includes('hours') &&
          choice(
            'zone',
            fields.zone,
            // The service's own, such as UTC, may be none that the browser lists.
            [...new Set([draft.zone, ...zones])].map((value) => ({ value, label: value })),
          )}
      </Group>
      <Group grow preventGrowOverflow={false}>
        {own === undefined &&
          asked.includes('agent') &&
          choice('appId', fields.app_id, [
            { value: '', label: says.eachAgent },
            ...agents.map(([value, label]) => ({ value, label })),
          ])}
        {own === undefined && asked.includes('provider') && (
          <TextInput
            label={fields.provider}
            description={fields.providerHint}
            value={draft.provider}
            onChange={(event) => change({ provider: event.currentTarget.value })}
          />
        )}
        {asked.includes('currency') &&
          draft.appId === '' &&
          choice(
            'currency',
            fields.currency,
            currencies.map((value) => ({ value, label: value })),
          )}
      </Group>
      {own === undefined ? (
        <>
          <Checkbox.Group
            label={fields.roles}
            value={draft.roles}
            onChange={(roles) => change({ roles })}
          >
            <Group gap="md">
              {labelled(says.roles)
                .filter(({ value }) => value !== 'agent' || draft.appId !== '')
                .map((each) => (
                  <Checkbox key={each.value} {...each} />
                ))}
            </Group>
          </Checkbox.Group>
          <MultiSelect
            label={fields.people}
            data={[
              ...new Set([...(users.data?.data ?? []).map(({ email }) => email), ...draft.people]),
            ]}
            searchable
            value={draft.people}
            onChange={(people) => change({ people })}
          />
        </>
      ) : (
        <NativeSelect
          label={fields.told}
          value={draft.people.includes(me.user.email) ? 'me' : 'agent'}
          data={labelled(says.ownTold)}
          onChange={(event) =>
            change(
              event.currentTarget.value === 'me'
                ? { roles: [], people: [me.user.email] }
                : { roles: ['agent'], people: [] },
            )
          }
        />
      )}
      <Checkbox.Group
        label={fields.channels}
        description={fields.channelsHint}
        value={draft.channels}
        onChange={(channels) => change({ channels })}
      >
        <Group gap="md">
          {labelled(says.channels).map((each) => (
            <Checkbox key={each.value} {...each} />
          ))}
        </Group>
      </Checkbox.Group>
      <Checkbox
        label={fields.is_on}
        checked={draft.isOn}
        onChange={(event) => change({ isOn: event.currentTarget.checked })}
      />
      <Stack gap="xs" aria-live="polite">
        <div>
          <Button
            size="xs"
            variant="default"
            loading={trying.isPending}
            onClick={() => trying.mutate()}
          >
            {says.tryIt}
          </Button>
        </div>
        {trying.isError && <ProblemPanel error={trying.error} />}
        {trying.data && (
          <>
            <strong>{says.triedNow(trying.data.now.length)}</strong>
            {trying.data.now.map((words) => (
              <span key={words}>{words}</span>
            ))}
            <span>
              {trying.data.fired === null ? says.triedUnknown : says.tried(trying.data.fired)}
            </span>
          </>
        )}
      </Stack>
    </ActDialog>
  )
}

/** `own`: the app id of an agent whose users make the rule for themselves. */
function draftOf(rule: Rule | undefined, zone: string, own: string | undefined): Draft {
  return {
    name: rule?.name ?? '',
    kind: rule?.kind ?? (own === undefined ? 'payout_unknown' : 'balance_below'),
    threshold: rule?.threshold ?? '',
    windowMinutes: String(rule?.window_minutes ?? 60),
    minOrders: String(rule?.min_orders ?? 20),
    orderKind: rule?.order_kind ?? '',
    appId: rule?.app_id ?? own ?? '',
    provider: rule?.provider ?? '',
    currency: rule?.currency ?? currencies[0] ?? '',
    from: rule?.hours_from ?? '08:00',
    to: rule?.hours_to ?? '22:00',
    zone: rule?.zone ?? zone,
    roles: rule?.roles ?? (own === undefined ? ['admin', 'operator'] : ['agent']),
    people: rule?.people ?? [],
    channels: rule?.channels ?? [],
    isOn: rule?.is_on ?? true,
  }
}

type Form = Body<typeof api.tryAlertRule>

function bodyOf(draft: Draft): Form {
  const asked = asks[draft.kind] ?? []
  const appId = asked.includes('agent') ? draft.appId : ''
  return {
    name: draft.name.trim(),
    kind: draft.kind,
    app_id: appId || null,
    ...((says.thresholds[draft.kind] ?? '') !== '' && { threshold: plainNumber(draft.threshold) }),
    ...(asked.includes('window') && {
      window_minutes: Number(draft.windowMinutes),
      min_orders: Number(draft.minOrders),
    }),
    ...(asked.includes('orders') && draft.orderKind !== '' && { order_kind: draft.orderKind }),
    ...(asked.includes('provider') &&
      draft.provider.trim() !== '' && { provider: draft.provider.trim() }),
    ...(asked.includes('currency') && appId === '' && { currency: draft.currency }),
    ...(asked.includes('hours') && {
      hours_from: draft.from.trim(),
      hours_to: draft.to.trim(),
      zone: draft.zone,
    }),
    roles: draft.roles.filter((role) => role !== 'agent' || appId !== ''),
    people: draft.people,
    channels: draft.channels,
    is_on: draft.isOn,
  } as Form
}
