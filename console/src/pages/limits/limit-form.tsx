import { Button, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ask, type Body } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { currencies } from '../../parts/currencies.ts'
import { useDraft } from '../../parts/draft.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api, pages } from '../../paths.ts'
import type { Limit } from './limit.ts'
import { limitsWords as says } from './limits-words.ts'

interface Draft {
  appId: string
  name: string
  kind: string
  measure: string
  per: string
  period: string
  most: string
  currency: string
  hours: string
  field: string
  outcome: string
  values: string
}

const blank: Draft = {
  appId: '',
  name: '',
  kind: 'withdraw',
  measure: 'amount',
  per: 'user',
  period: 'day',
  most: '',
  currency: currencies[0] ?? '',
  hours: '24',
  field: 'account',
  outcome: 'refuse',
  values: '',
}

/** Sets a rule, and shows first what it would have done. */
export function LimitForm(props: {
  limit: Limit | undefined
  close: () => void
  saved: () => Promise<void>
}) {
  const { limit } = props
  const [draft, setDraft] = useDraft<Draft>(`limit/${limit?.name ?? ''}`, () =>
    limit ? draftOf(limit) : blank,
  )
  const change = (changes: Partial<Draft>) => setDraft((now) => fitting({ ...now, ...changes }))
  const trying = useMutation({
    mutationFn: () =>
      ask(api.tryLimit, { body: { ...bodyOf(draft), app_id: draft.appId || null } }),
  })
  const isSum = draft.measure === 'amount' || draft.measure === 'orders'
  const isList = draft.measure === 'blocked' || draft.measure === 'allowed'
  const { fields } = says
  return (
    <ActDialog
      draft="limit"
      title={says.addTitle}
      explain={says.addExplain}
      confirm={limit ? says.change : says.add}
      wide
      close={props.close}
      act={async ({ reason, code }) => {
        const body = { ...bodyOf(draft), app_id: draft.appId || null, reason, code }
        await ask(api.setLimit, { body })
        await props.saved()
      }}
    >
      <Group grow preventGrowOverflow={false}>
        <AgentChoice draft={draft} change={change} isFixed={limit !== undefined} />
        <TextInput
          label={fields.name}
          description={fields.nameHint}
          required
          maxLength={40}
          disabled={limit !== undefined}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
      </Group>
      <Group grow preventGrowOverflow={false}>
        <Choice name="kind" draft={draft} change={change} labels={says.kinds} />
        <Choice name="measure" draft={draft} change={change} labels={says.measures} />
      </Group>
      {isSum && (
        <Group grow preventGrowOverflow={false}>
          <Choice name="per" draft={draft} change={change} labels={says.subjects} />
          <Choice name="period" draft={draft} change={change} labels={says.periods} />
          <TextInput
            label={fields.most}
            description={draft.measure === 'amount' ? fields.mostAmount : fields.mostOrders}
            inputMode="decimal"
            required
            value={draft.most}
            onChange={(event) => change({ most: event.currentTarget.value })}
          />
          {draft.measure === 'amount' && draft.appId === '' && (
            <NativeSelect
              label={fields.currency}
              value={draft.currency}
              data={[...currencies]}
              onChange={(event) => change({ currency: event.currentTarget.value })}
            />
          )}
        </Group>
      )}
      {isList && (
        <>
          <Choice name="field" draft={draft} change={change} labels={says.lists} />
          <Textarea
            label={fields.values}
            description={fields.valuesHint}
            required
            autosize
            minRows={3}
            maxRows={10}
            value={draft.values}
            onChange={(event) => change({ values: event.currentTarget.value })}
          />
        </>
      )}
      <Group grow preventGrowOverflow={false}>
        <Choice name="outcome" draft={draft} change={change} labels={says.outcomes} />
        {draft.outcome === 'wait' && (
          <TextInput
            label={fields.hours}
            inputMode="numeric"
            required
            value={draft.hours}
            onChange={(event) => change({ hours: event.currentTarget.value })}
          />
        )}
      </Group>
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
        {trying.data && <Tried tried={trying.data} />}
      </Stack>
    </ActDialog>
  )
}

function Tried({ tried }: { tried: Awaited<ReturnType<typeof ask<typeof api.tryLimit>>> }) {
  return (
    <>
      <strong>{triedWords(tried)}</strong>
      {tried.agents.length > 1 &&
        tried.agents.slice(0, 10).map((each) => (
          <span key={each.app_id}>
            {each.app_id}: {triedWords(each)}
          </span>
        ))}
      {!tried.whole && <span>{says.triedPart}</span>}
      {tried.first.slice(0, 5).map((each) => (
        <span key={each.txn_id}>
          <PageLink to={pages.order(each.txn_id)}>{each.amount}</PageLink> {each.words}
        </span>
      ))}
    </>
  )
}

/** Amounts of several currencies have no sum. */
function triedWords(tried: {
  hits: number
  orders: number
  amount: string | null
  currency: string | null
}): string {
  const amount = tried.amount === null ? '–' : `${tried.amount} ${tried.currency}`
  return says.tried(tried.hits, tried.orders, amount)
}

type Change = (changes: Partial<Draft>) => void

function AgentChoice(props: { draft: Draft; change: Change; isFixed: boolean }) {
  const agents = useAgentChoices()
  return (
    <NativeSelect
      label={says.fields.agent}
      value={props.draft.appId}
      disabled={props.isFixed}
      onChange={(event) => props.change({ appId: event.currentTarget.value })}
    >
      <option value="">{says.each}</option>
      {agents.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </NativeSelect>
  )
}

function Choice(props: {
  name: 'kind' | 'measure' | 'per' | 'period' | 'field' | 'outcome'
  draft: Draft
  change: Change
  labels: Record<string, string>
}) {
  const { name, draft, change, labels } = props
  return (
    <NativeSelect
      label={says.fields[name]}
      value={draft[name]}
      data={Object.entries(labels)
        .filter(([value]) => isPossible(name, value, draft))
        .map(([value, label]) => ({ value, label }))}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
}

/** Whether a choice makes sense beside the others. */
function isPossible(name: string, value: string, { kind, measure }: Draft): boolean {
  if (name === 'kind') return value === 'withdraw' || measure !== 'new_account'
  if (name === 'period') return value !== 'order' || measure === 'amount'
  if (name !== 'outcome') return true
  if (value === 'wait') return measure === 'new_account'
  if (value === 'refuse') return measure !== 'new_account'
  return value !== 'hold' || kind === 'withdraw'
}

/** Replaces choices that have become impossible. */
function fitting(draft: Draft): Draft {
  const next = { ...draft }
  if (next.measure === 'new_account') next.kind = 'withdraw'
  if (!isPossible('period', next.period, next)) next.period = 'day'
  if (!isPossible('outcome', next.outcome, next)) {
    next.outcome = next.measure === 'new_account' ? 'wait' : 'refuse'
  }
  return next
}

function draftOf(limit: Limit): Draft {
  return {
    ...blank,
    appId: limit.app_id ?? '',
    name: limit.name,
    kind: limit.kind,
    measure: limit.measure,
    per: limit.per ?? blank.per,
    period: limit.period ?? blank.period,
    most: limit.most ?? '',
    currency: limit.currency ?? blank.currency,
    hours: limit.hours === null ? blank.hours : String(limit.hours),
    field: limit.field ?? blank.field,
    outcome: limit.outcome,
    values: limit.values.join('\n'),
  }
}

type Form = Omit<Body<typeof api.tryLimit>, 'app_id'>

function bodyOf(draft: Draft): Form {
  const { name, kind, measure, outcome } = draft
  const isSum = measure === 'amount' || measure === 'orders'
  const isList = measure === 'blocked' || measure === 'allowed'
  const isForEach = measure === 'amount' && draft.appId === ''
  return {
    name: name.trim(),
    kind,
    measure,
    outcome,
    ...(isSum && { per: draft.per, period: draft.period, most: plainNumber(draft.most) }),
    ...(isForEach && { currency: draft.currency }),
    ...(outcome === 'wait' && { hours: Number(draft.hours) }),
    ...(isList && {
      field: draft.field,
      values: draft.values.split('\n').filter((line) => line.trim() !== ''),
    }),
  } as Form
}
