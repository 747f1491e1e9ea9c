import { Checkbox, Group, NativeSelect, Skeleton, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog, type Given } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { currencies } from '../../parts/currencies.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { moneyText } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { titleWords } from '../approval/title-words.ts'
import { Hold } from './hold.tsx'
import { rulesWords as says } from './rules-words.ts'
import { Stops } from './stops.tsx'

type Rules = Answer<typeof api.approvalRules>
type Rule = Rules['rules'][number]

/** Which actions need two people, and what is stopped. */
export default function RulesPage() {
  const found = useQuery({
    queryKey: ['approval-rules'],
    queryFn: ({ signal }) => ask(api.approvalRules, { signal }),
  })
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <Stack gap="md">
        <Hold />
        <Stops />
        {found.isError && <ProblemPanel error={found.error} />}
        {found.data ? <RulesPanel rules={found.data} /> : <Skeleton height={240} />}
      </Stack>
    </>
  )
}

function RulesPanel({ rules }: { rules: Rules }) {
  const [removing, setRemoving] = useState<Rule>()
  const [adding, setAdding] = useState(false)
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'manage_policy')
  const agents = new Map(useAgentChoices())
  const save = async (next: Rule[], { reason, code }: Given) => {
    const body = { rules: next, version: rules.version, reason, code }
    await ask(api.setApprovalRules, { body })
    await queries.invalidateQueries({ queryKey: ['approval-rules'] })
    notifications.show({ message: says.saved })
  }
  const columns: Column<Rule>[] = [
    {
      key: 'action',
      head: says.columns.action,
      phone: 'wide',
      cell: (row) => titleWords[row.action] ?? row.action,
    },
    {
      key: 'agent',
      head: says.columns.agent,
      cell: (row) => (row.app_id === null ? says.every : (agents.get(row.app_id) ?? row.app_id)),
    },
    { key: 'currency', head: says.columns.currency, cell: (row) => row.currency ?? says.every },
    {
      key: 'people',
      head: says.columns.people,
      cell: (row) => (row.needs_two ? says.two : says.one),
    },
    { key: 'above', head: says.columns.above, cell: (row) => row.above ?? says.anyAmount },
    {
      key: 'by',
      head: says.columns.by,
      cell: (row) => (row.admin_only ? says.admin : says.anybody),
    },
    {
      key: 'tools',
      head: says.columns.tools,
      cell: (row) => (
        <ActButton size="xs" whyNot={whyDisabled} onClick={() => setRemoving(row)}>
          {says.remove}
        </ActButton>
      ),
    },
  ]
  const add = (
    <ActButton size="sm" whyNot={whyDisabled} onClick={() => setAdding(true)}>
      {says.add}
    </ActButton>
  )
  return (
    <Panel title={says.rules} tools={add}>
      <p>{says.byDefault(rules.by_default)}</p>
      {rules.together.length > 0 && (
        <p>
          {says.together(
            rules.together
              .map(({ most, currency }) => `${moneyText(Number(most), currency)} ${currency}`)
              .join(', '),
          )}
        </p>
      )}
      <DataTable
        label={says.rules}
        columns={columns}
        rows={rules.rules}
        rowKey={(row) => `${row.action} ${row.app_id} ${row.currency}`}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
      />
      {removing && (
        <ActDialog
          draft="removing"
          title={says.removeTitle}
          explain={says.removeExplain}
          confirm={says.remove}
          close={() => setRemoving(undefined)}
          act={(given) =>
            save(
              rules.rules.filter((each) => each !== removing),
              given,
            )
          }
        />
      )}
      {adding && (
        <AddRule
          rules={rules}
          close={() => setAdding(false)}
          save={(rule, given) => save([...rules.rules, rule], given)}
        />
      )}
    </Panel>
  )
}

function AddRule(props: {
  rules: Rules
  save: (rule: Rule, given: Given) => Promise<void>
  close: () => void
}) {
  const { actions } = props.rules
  const [rule, setRule] = useState<Rule>({
    action: actions[0]?.action ?? '',
    app_id: null,
    currency: null,
    needs_two: true,
    above: null,
    admin_only: false,
  })
  const change = (changes: Partial<Rule>) => setRule((now) => ({ ...now, ...changes }))
  const agents = useAgentChoices()
  const every = <option value="">{says.every}</option>
  return (
    <ActDialog
      draft="adding"
      title={says.addTitle}
      explain={says.addExplain}
      confirm={says.add}
      close={props.close}
      act={(given) => props.save({ ...rule, above: rule.above && plainNumber(rule.above) }, given)}
    >
      <NativeSelect
        label={says.columns.action}
        value={rule.action}
        data={actions.map(({ action, title }) => ({
          value: action,
          label: titleWords[action] ?? title,
        }))}
        onChange={(event) => change({ action: event.currentTarget.value })}
      />
      <Group grow>
        <NativeSelect
          label={says.columns.agent}
          value={rule.app_id ?? ''}
          onChange={(event) => change({ app_id: event.currentTarget.value || null })}
        >
          {every}
          {agents.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </NativeSelect>
        <NativeSelect
          label={says.columns.currency}
          value={rule.currency ?? ''}
          onChange={(event) => {
            const chosen = currencies.find((each) => each === event.currentTarget.value)
            change({ currency: chosen ?? null })
          }}
        >
          {every}
          {currencies.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </NativeSelect>
      </Group>
      <NativeSelect
        label={says.columns.people}
        value={rule.needs_two ? says.two : says.one}
        data={[says.two, says.one]}
        onChange={(event) => change({ needs_two: event.currentTarget.value === says.two })}
      />
      <TextInput
        label={says.columns.above}
        description={says.aboveHint}
        inputMode="decimal"
        value={rule.above ?? ''}
        onChange={(event) => change({ above: event.currentTarget.value || null })}
      />
      <Checkbox
        label={says.adminOnly}
        checked={rule.admin_only}
        onChange={(event) => change({ admin_only: event.currentTarget.checked })}
      />
    </ActDialog>
  )
}
