import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Sparkline, useTrends } from '../../parts/sparkline.tsx'
import { api, pages } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { rateText } from '../insights/insights-view.ts'
import type { AgentDetail } from './agent-detail.ts'
import { agentWords } from './agent-words.ts'

const { glance: says } = agentWords

/** What an agent has, what waits of it, and where the rest of it is found. */
export function Glance({ agent }: { agent: AgentDetail }) {
  const me = useMe()
  const { app_id: appId, currency } = agent
  const wallet = useQuery({
    queryKey: ['wallet', appId, 'now'],
    queryFn: ({ signal }) => ask(api.wallet, { params: { app_id: appId }, signal }),
    refetchInterval: 15_000,
  })
  const payments = useQuery({
    queryKey: ['payments', { agent: appId, limit: 100 }],
    queryFn: ({ signal }) => ask(api.payments, { query: { agent: appId, limit: 100 }, signal }),
  })
  const insights = useQuery({
    queryKey: ['insights', { period: '30d', agent: appId }],
    queryFn: ({ signal }) => ask(api.insights, { query: { period: '30d', agent: appId }, signal }),
    refetchInterval: 60_000,
  })
  const trend = useTrends('agents')(appId)
  const month = insights.data
  const from: Record<string, string> = month ? { from: month.from } : {}
  const waiting = payments.data?.data.length
  const search = { agent: appId }
  return (
    <div>
      <Figures columns={3}>
        <Figure label={says.available} to={pages.wallet(appId)}>
          {wallet.data ? <Money amount={wallet.data.balance} currency={currency} /> : '–'}
        </Figure>
        <Figure
          label={says.held}
          to={pages.orders}
          search={{ ...search, kind: 'withdraw', status: 'WAITING' }}
        >
          {wallet.data ? <Money amount={wallet.data.held} currency={currency} /> : '–'}
        </Figure>
        <Figure
          label={says.toDecide}
          to={pages.payments}
          search={search}
          tone={waiting ? 'warn' : undefined}
        >
          {waiting === undefined ? '–' : waiting >= 100 ? '100+' : waiting}
        </Figure>
      </Figures>
      <Figures columns={4}>
        {(['in', 'out'] as const).map((way) => (
          <Figure
            key={way}
            label={way === 'in' ? says.paidIn : says.paidOut}
            note={way === 'in' && <Sparkline of="agents" trend={trend} />}
            to={pages.orders}
            search={{
              ...search,
              ...from,
              kind: way === 'in' ? 'deposit' : 'withdraw',
              status: 'PAID',
            }}
          >
            <Money amount={month?.money[0]?.now[way] ?? 0} currency={currency} />
          </Figure>
        ))}
        {(['deposit', 'withdraw'] as const).map((kind) => {
          const now = month?.totals.find((each) => each.kind === kind)?.now
          return (
            <Figure
              key={kind}
              label={kind === 'deposit' ? says.depositsPaid : says.withdrawalsPaid}
              note={now && says.ended(now.paid, now.ended)}
              to={pages.orders}
              search={{ ...search, ...from, kind }}
            >
              {rateText(now?.success_rate)}
            </Figure>
          )
        })}
      </Figures>
      <Group component="nav" aria-label={says.label} gap="md" my="sm">
        <PageLink to={pages.orders} search={search}>
          {says.orders}
        </PageLink>
        <PageLink to={pages.wallet(appId)}>{says.wallet}</PageLink>
        <PageLink to={pages.insights} search={{ ...search, period: '30d' }}>
          {says.insights}
        </PageLink>
        {may(me, 'manage_users') && (
          <PageLink to={pages.users} search={search}>
            {says.users}
          </PageLink>
        )}
        <PageLink to={pages.limits} search={search}>
          {says.limits}
        </PageLink>
        <PageLink to={pages.callbacks} search={search}>
          {says.callbacks}
        </PageLink>
      </Group>
    </div>
  )
}
