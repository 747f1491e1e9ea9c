import { Group, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { use } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { TimeZone, timeText, When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import classes from './order.module.css'
import { OrderActions } from './order-actions.tsx'
import { type OrderDetail, orderKey } from './order-detail.ts'
import { OrderMarks } from './order-marks.tsx'
import { OrderTimeline } from './order-timeline.tsx'
import { orderWords as says } from './order-words.ts'

export default function Order() {
  const { txnId = '' }: { txnId?: string } = useParams({ strict: false })
  const me = useMe()
  const found = useQuery({
    queryKey: orderKey(txnId),
    queryFn: ({ signal }) => ask(api.order, { params: { txn_id: txnId }, signal }),
    refetchInterval: ({ state }) => (state.data?.order.status === 'WAITING' ? 4000 : 15_000),
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { order, timeline, refunds } = found.data
  return (
    <>
      <PageHead
        title={says.heading(stateWords[order.kind] ?? order.kind, order.ref_id)}
        says={<CopyId id={order.txn_id} />}
      >
        <OrderActions detail={found.data} />
        <RecordPayment order={order} />
      </PageHead>
      <Group className={classes.columns} align="flex-start" wrap="nowrap">
        <Stack gap="md" className={classes.wide}>
          <WhyPanel detail={found.data} />
          <OrderTimeline timeline={timeline} />
        </Stack>
        <Stack gap="md" className={classes.narrow}>
          <OrderFacts order={order} />
          <AsOfNow detail={found.data} />
          {me.user.role !== 'agent' && <OrderMarks txnId={order.txn_id} />}
          {refunds.length > 0 && <Refunds order={order} refunds={refunds} />}
          {order.extra_params !== null && (
            <Panel title={says.extraParams}>
              <RawView raw={order.extra_params} label={says.extraParams} />
            </Panel>
          )}
        </Stack>
      </Group>
    </>
  )
}

/** Money for the order may have arrived without a word of the bank's. */
function RecordPayment({ order }: Pick<OrderDetail, 'order'>) {
  const me = useMe()
  const navigate = useNavigate()
  const isUnpaid = order.kind === 'deposit' && ['WAITING', 'EXPIRED'].includes(order.status)
  const accounts = useQuery({
    queryKey: ['bank-accounts'],
    queryFn: ({ signal }) => ask(api.bankAccounts, { signal }),
    enabled: isUnpaid && may(me, 'decide_payments'),
  })
  const account = accounts.data?.data.find(({ name }) => name === order.provider)
  if (!account) return null
  const search = { order: order.txn_id, amount: String(order.payable ?? order.amount) }
  return (
    <ActButton
      size="sm"
      onClick={() => void navigate({ to: pages.recordPayment(account.name), search })}
    >
      {says.recordPayment}
    </ActButton>
  )
}

function WhyPanel({ detail: { order, words: told } }: { detail: OrderDetail }) {
  const zone = use(TimeZone)
  const say = (codes: typeof told.why_codes, english: string) => {
    if (codes.some(({ code }) => says.told[code] === undefined)) return english
    const sentences = codes.map(({ code, text, at }) => {
      const sentence = says.told[code]
      if (typeof sentence !== 'function') return sentence
      return sentence(at === null ? (text ?? '–') : timeText(at, zone))
    })
    return sentences.join(' ')
  }
  return (
    <Panel>
      <div className={classes.state}>
        <StateBadge state={order.status} />
        <span className={classes.amount}>
          <Money amount={order.paid_amount ?? order.amount} currency={order.currency} />
        </span>
      </div>
      <p className={classes.why}>{say(told.why_codes, told.why)}</p>
      <p className={classes.next}>{say(told.next_codes, told.next)}</p>
    </Panel>
  )
}

/** How each payout, payment and callback stands; the timeline tells only what was known at each moment. */
function AsOfNow({ detail }: { detail: OrderDetail }) {
  const { order, payouts, payments, callbacks } = detail
  if (payouts.length + payments.length + callbacks.length === 0) return null
  return (
    <Panel title={says.now}>
      <Stack gap="xs">
        {payments.map((payment) => (
          <Group key={payment.payment_id} justify="space-between" wrap="nowrap">
            <PageLink to={pages.payment(payment.payment_id)}>
              <Money amount={payment.amount} currency={order.currency} />
            </PageLink>
            <StateBadge state={payment.state === 'waiting' ? 'to_decide' : payment.state} />
          </Group>
        ))}
        {payouts.map((payout) => (
          <div key={payout.reference}>
            <Group justify="space-between" wrap="nowrap">
              <PageLink to={pages.orders} search={{ provider: payout.provider }}>
                {payout.provider}
              </PageLink>
              <StateBadge state={payout.state} />
            </Group>
            {[payout.said, payout.evidence].map(
              (text) => text !== null && <p key={text}>{text}</p>,
            )}
          </div>
        ))}
        {callbacks.map((callback) => (
          <Group key={callback.seq} justify="space-between" wrap="nowrap">
            <PageLink to={pages.callback(order.app_id, callback.seq)}>
              {says.callback(callback.status, callback.attempts)}
            </PageLink>
            <StateBadge state={callback.delivery} />
          </Group>
        ))}
      </Stack>
    </Panel>
  )
}

/** The refunds of a deposit, with what has become of each. */
function Refunds({ order, refunds }: Pick<OrderDetail, 'order' | 'refunds'>) {
  return (
    <Panel title={says.refunds}>
      <Stack gap="xs">
        {refunds.map((refund) => (
          <Group key={refund.txn_id} justify="space-between" wrap="nowrap">
            <PageLink to={pages.order(refund.txn_id)}>{refund.ref_id}</PageLink>
            <Group gap="xs" wrap="nowrap">
              <Money amount={refund.amount} currency={order.currency} />
              <StateBadge state={refund.status} />
            </Group>
          </Group>
        ))}
      </Stack>
    </Panel>
  )
}

function OrderFacts({ order }: Pick<OrderDetail, 'order'>) {
  const isAgent = useMe().user.role === 'agent'
  const { facts } = says
  const money = (amount: number | null) => <Money amount={amount} currency={order.currency} />
  return (
    <Panel title={says.about}>
      <Facts
        facts={[
          !isAgent && [
            facts.agent,
            <PageLink key="a" to={pages.agent(order.app_id)}>
              {order.agent_name}
            </PageLink>,
          ],
          [
            facts.refId,
            <CopyId
              key="r"
              id={order.ref_id}
              to={pages.orders}
              search={{ agent: order.app_id, q: order.ref_id }}
            />,
          ],
          [
            facts.userId,
            <CopyId
              key="u"
              id={order.user_id}
              to={pages.orders}
              search={{ agent: order.app_id, user: order.user_id }}
            />,
          ],
          [facts.amount, money(order.amount)],
          order.paid_amount !== null && [facts.paidAmount, money(order.paid_amount)],
          [facts.fee, money(order.paid_fee ?? order.fee)],
          [facts.feeRule, order.fee_rule],
          order.refund_of !== null && [
            facts.refundOf,
            <PageLink key="f" to={pages.order(order.refund_of)}>
              {order.refund_of}
            </PageLink>,
          ],
          order.status === 'PAID' &&
            order.refundable !== null && [facts.refundable, money(order.refundable)],
          [
            facts.account,
            <CopyId
              key="n"
              id={order.account_no}
              to={pages.orders}
              search={{ agent: order.app_id, account: order.account_no }}
            />,
          ],
          [facts.accountName, order.account_name],
          [facts.bank, order.bank_code],
          order.provider !== null && [
            facts.provider,
            <PageLink key="v" to={pages.orders} search={{ provider: order.provider }}>
              {order.provider}
            </PageLink>,
          ],
          order.provider_ref !== null && [
            facts.providerRef,
            <CopyId
              key="p"
              id={order.provider_ref}
              to={pages.orders}
              search={{ agent: order.app_id, q: order.provider_ref }}
            />,
          ],
          order.limits !== null && [facts.limits, order.limits.words],
          order.limits?.wait_until != null && [
            facts.waitsUntil,
            <When key="w" at={order.limits.wait_until} />,
          ],
          [facts.createdAt, <When key="c" at={order.created_at} />],
          order.expires_at !== null && [facts.expiresAt, <When key="e" at={order.expires_at} />],
          order.handed_over_at !== null && [
            facts.handedOverAt,
            <When key="h" at={order.handed_over_at} />,
          ],
          order.completed_at !== null && [
            facts.completedAt,
            <When key="d" at={order.completed_at} />,
          ],
          order.link !== null && [
            facts.link,
            <a key="l" href={order.link} target="_blank" rel="noreferrer">
              {facts.openLink}
            </a>,
          ],
        ]}
      />
    </Panel>
  )
}
