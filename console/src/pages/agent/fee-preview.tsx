import { Button, Group, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Answer, ask } from '../../api.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Money } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import type { AgentDetail } from './agent-detail.ts'
import { agentWords } from './agent-words.ts'

const { fees: says } = agentWords

/** Shows what different fees would have cost on the orders of the last month. */
export function FeePreview({ agent }: { agent: AgentDetail }) {
  const [deposit, setDeposit] = useDraft('fees/deposit', agent.deposit_fee)
  const [withdraw, setWithdraw] = useDraft('fees/withdraw', agent.withdraw_fee)
  const whyDisabled = whyNot(useMe(), 'manage_agents')
  const previewing = useMutation({
    mutationFn: () =>
      ask(api.feePreview, {
        params: { app_id: agent.app_id },
        body: { deposit_fee: deposit.trim(), withdraw_fee: withdraw.trim() },
      }),
  })
  return (
    <Panel title={says.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          previewing.mutate()
        }}
      >
        <Group align="flex-end" gap="xs" mb="sm">
          <TextInput
            w={130}
            label={says.deposit}
            value={deposit}
            onChange={(event) => setDeposit(event.currentTarget.value)}
          />
          <TextInput
            w={130}
            label={says.withdraw}
            value={withdraw}
            onChange={(event) => setWithdraw(event.currentTarget.value)}
          />
          <Button
            type="submit"
            size="sm"
            variant="default"
            disabled={whyDisabled !== undefined}
            title={whyDisabled}
            loading={previewing.isPending}
          >
            {says.preview}
          </Button>
        </Group>
      </form>
      {previewing.isError && <ProblemPanel error={previewing.error} />}
      {previewing.data && <Sides preview={previewing.data} />}
    </Panel>
  )
}

function Sides({ preview }: { preview: Answer<typeof api.feePreview> }) {
  const { currency } = preview
  const rows = (['deposit', 'withdraw'] as const).map((kind) => ({ kind, ...preview[kind] }))
  const money = (amount: number) => <Money amount={amount} currency={currency} bare />
  return (
    <>
      <DataTable
        label={says.title}
        rows={rows}
        rowKey={(row) => row.kind}
        empty={null}
        columns={[
          { key: 'kind', head: currency, cell: (row) => stateWords[row.kind] },
          { key: 'orders', head: says.orders, right: true, cell: (row) => row.orders },
          { key: 'amount', head: says.amount, right: true, cell: (row) => money(row.amount) },
          { key: 'now', head: says.now, right: true, cell: (row) => money(row.fees_now) },
          { key: 'would', head: says.wouldBe, right: true, cell: (row) => money(row.fees_then) },
        ]}
      />
      <p>
        {preview.complete ? says.since : says.newestSince} <When at={preview.from} />
      </p>
    </>
  )
}
