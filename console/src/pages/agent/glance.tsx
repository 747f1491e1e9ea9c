import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { api, pages } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
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
  const waiting = payments.data?.data.length
  const search = { agent: appId }
  return (
    <div>
      <Figures columns={3}>
        <Figure label={says.available} to={pages.wallet(appId)}>
          {wallet.data ? <Money amount={wallet.data.balance} currency={currency} /> : '–'}
        </Figure>
        <Figure label={says.held} to={pages.orders} search={{ ...search, status: 'WAITING' }}>
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
      <Group component="nav" aria-label={says.label} gap="md" my="sm">
        <PageLink to={pages.orders} search={search}>
          {says.orders}
        </PageLink>
        <PageLink to={pages.wallet(appId)}>{says.wallet}</PageLink>
        {may(me, 'manage_users') && <PageLink to={pages.users}>{says.users}</PageLink>}
        <PageLink to={pages.limits}>{says.limits}</PageLink>
        <PageLink to={pages.callbacks} search={search}>
          {says.callbacks}
        </PageLink>
      </Group>
    </div>
  )
}
