import { Button, Group, NativeSelect, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import { paymentKey } from '../payment/payment-detail.ts'
import type { Chosen } from './basket.tsx'
import classes from './queue.module.css'
import { queueWords as says } from './queue-words.ts'
import { placeOf, titleOf, type Waiting } from './waiting.ts'

interface Props {
  item: Waiting
  place: string
  chosen: Chosen | undefined
  go: (step: number) => void
  choose: (chosen: Chosen | undefined) => void
}

/** One thing that waits: a payment is decided here, everything else on its own page. */
export function QueueItem(props: Props) {
  const { item } = props
  const navigate = useNavigate()
  const { facts } = says
  return (
    <Panel
      title={titleOf(item)}
      tools={
        <Group gap="xs" wrap="nowrap">
          <span className={classes.quiet}>{props.place}</span>
          <Button variant="default" size="compact-sm" onClick={() => props.go(-1)}>
            {says.previous}
          </Button>
          <Button variant="default" size="compact-sm" onClick={() => props.go(1)}>
            {says.next}
          </Button>
        </Group>
      }
    >
      <Stack gap="md">
        {item.amount !== null && item.currency !== null && (
          <strong className={classes.amount}>
            <Money amount={item.amount} currency={item.currency} />
          </strong>
        )}
        <Facts
          facts={[
            [facts.kind, says.kinds[item.kind] ?? item.kind],
            item.agent_name !== null && [facts.agent, <AgentLink key="a" {...item} />],
            [facts.since, <When key="s" at={item.since} />],
            item.assignee !== null && [facts.assignee, item.assignee],
          ]}
        />
        {item.kind === 'payment' ? (
          <PaymentChoices {...props} />
        ) : (
          <p className={classes.quiet}>{says.ownCode}</p>
        )}
        <Group>
          <Button
            size="sm"
            variant={item.kind === 'payment' ? 'default' : 'filled'}
            onClick={() => void navigate(placeOf(item))}
          >
            {says.open}
          </Button>
        </Group>
      </Stack>
    </Panel>
  )
}

function PaymentChoices({ item, chosen, choose }: Props) {
  const me = useMe()
  const agents = useAgentChoices()
  // Looking through the list chooses nothing: a button does.
  const [agent, setAgent] = useState(chosen?.agent ?? '')
  const found = useQuery({
    queryKey: paymentKey(item.id),
    queryFn: ({ signal }) => ask(api.payment, { params: { payment_id: item.id }, signal }),
  })
  if (found.isError) return <ProblemPanel error={found.error} />
  if (!found.data) return <Skeleton height={120} />
  const { payment, candidates } = found.data
  const about = { id: item.id, amount: payment.amount, currency: payment.currency }
  const whyDisabled = whyNot(me, 'decide_payments')
  const { facts } = says
  const payer = payment.payer
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          payer !== null && [
            facts.payer,
            [payer.account_name, payer.bank_code, payer.account_no].filter(Boolean).join(' · '),
          ],
          payment.reference !== null && [facts.reference, payment.reference],
        ]}
      />
      {candidates.length === 0 && <p className={classes.quiet}>{says.noOrder}</p>}
      {candidates.slice(0, 5).map(({ order, because, why_not }) => (
        <Group key={order.txn_id} justify="space-between" gap="xs">
          <div>
            <Group gap="xs">
              <CopyId id={order.txn_id} to={pages.order(order.txn_id)} short />
              <StateBadge state={order.status} />
              <Money amount={order.amount} currency={order.currency} />
            </Group>
            <span className={classes.quiet}>
              {order.ref_id} · {order.account_name} · {because}
            </span>
          </div>
          <ActButton
            size="compact-sm"
            whyNot={whyDisabled ?? why_not}
            {...(chosen?.txnId === order.txn_id && { variant: 'filled' })}
            aria-label={says.creditTo(order.ref_id)}
            onClick={() =>
              choose({ ...about, does: 'credit', txnId: order.txn_id, agent: undefined })
            }
          >
            {says.credit}
          </ActButton>
        </Group>
      ))}
      <Group gap="xs" align="flex-end">
        <NativeSelect
          size="xs"
          label={says.wallet}
          disabled={whyDisabled !== undefined}
          value={agent}
          onChange={({ currentTarget: { value } }) => setAgent(value)}
        >
          <option value="">{words.chooseAgent}</option>
          {agents
            .filter(([value]) => payment.app_id === null || value === payment.app_id)
            .map(([value, label]) => (
              <option key={value} value={value}>
                {label} ({value})
              </option>
            ))}
        </NativeSelect>
        <ActButton
          size="xs"
          whyNot={whyDisabled ?? (agent === '' ? words.chooseAgent : undefined)}
          {...(chosen?.agent !== undefined && { variant: 'filled' })}
          onClick={() => choose({ ...about, does: 'credit', agent, txnId: undefined })}
        >
          {says.creditWallet}
        </ActButton>
        <ActButton
          size="xs"
          whyNot={whyDisabled}
          {...(chosen?.does === 'return' && { variant: 'filled' })}
          onClick={() => choose({ ...about, does: 'return', txnId: undefined, agent: undefined })}
        >
          {says.return}
        </ActButton>
        {payment.app_id === null && (
          <ActButton
            size="xs"
            whyNot={whyDisabled}
            {...(chosen?.does === 'dismiss' && { variant: 'filled' })}
            onClick={() =>
              choose({ ...about, does: 'dismiss', txnId: undefined, agent: undefined })
            }
          >
            {says.dismiss}
          </ActButton>
        )}
        {chosen && (
          <Button size="xs" variant="subtle" onClick={() => choose(undefined)}>
            {says.leave}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
