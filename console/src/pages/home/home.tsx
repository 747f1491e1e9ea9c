import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { use } from 'react'
import { ask } from '../../api.ts'
import { numberText } from '../../languages/language.ts'
import { Figures } from '../../parts/figures.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { TimeZone, When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { Attention } from './attention.tsx'
import classes from './home.module.css'
import type { HomeView } from './home-view.ts'
import { homeWords as says } from './home-words.ts'
import { PayoutAlarms } from './payout-alarms.tsx'
import { SetUp } from './set-up.tsx'
import { Today } from './today.tsx'
import { VolumeCharts } from './volume-charts.tsx'

export default function Home() {
  const me = useMe()
  // A person may read times in another zone than the one in which the service counts its days.
  const zone = use(TimeZone)
  const found = useQuery({
    queryKey: ['home'],
    queryFn: ({ signal }) => ask(api.home, { signal }),
    refetchInterval: 15_000,
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? (
          <ProblemPanel error={found.error} retry={() => void found.refetch()} />
        ) : (
          <Coming />
        )}
      </>
    )
  }
  const { data: home } = found
  return (
    <>
      <PageHead
        title={says.title}
        says={
          <>
            {says.asOf} <When at={home.at} />
            {zone !== me.time_zone && ` · ${says.zone(me.time_zone)}`}
          </>
        }
      >
        {home.stopped_users !== null && home.stopped_users > 0 && (
          <PageLink to={pages.users}>
            <span className={classes.proof} data-ok={false} role="alert">
              {says.stoppedUsers(home.stopped_users)}
            </span>
          </PageLink>
        )}
        {home.open_items && <Alarm items={home.open_items} />}
        {home.proof && <Proof proof={home.proof} />}
      </PageHead>
      {home.restore_hold && <Held hold={home.restore_hold} />}
      {home.refuses && home.refuses.length > 0 && <Refused orders={home.refuses} />}
      {home.set_up && <SetUp steps={home.set_up} />}
      {home.payout_alarms && <PayoutAlarms alarms={home.payout_alarms} />}
      <Attention home={home} />
      <Today home={home} />
      <VolumeCharts home={home} />
      {home.providers && <Providers providers={home.providers} />}
    </>
  )
}

/** Placeholders, so that the layout does not jump when the numbers arrive. */
function Coming() {
  return (
    <>
      {[5, 4].map((columns) => (
        <Figures key={columns} columns={columns} rowsOnPhone={columns === 5}>
          {Array.from({ length: columns }, (_, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have nothing else
            <Skeleton key={at} height={96} radius="md" />
          ))}
        </Figures>
      ))}
      <Skeleton height={280} radius="md" />
    </>
  )
}

/** Warns that nothing is paid out since the database was restored. */
function Held({ hold }: { hold: NonNullable<HomeView['restore_hold']> }) {
  const open = hold.open_differences
  return (
    <Panel title={says.restoreHold.title}>
      <p role="alert">
        <PageLink to={pages.rules}>
          {hold.asked
            ? open > 0
              ? says.restoreHold.open(numberText(open))
              : says.restoreHold.none
            : says.restoreHold.asking}
        </PageLink>
      </p>
    </Panel>
  )
}

/** Warns that orders are answered with 503, because no provider takes them. */
function Refused({ orders }: { orders: NonNullable<HomeView['refuses']> }) {
  const what = orders.map(({ kind, currency }) =>
    kind === 'deposit' ? says.refused.deposit(currency) : says.refused.withdraw(currency),
  )
  return (
    <Panel title={says.refused.title}>
      <p role="alert">
        <PageLink to={pages.providers}>{says.refused.orders(what.join(', '))}</PageLink>
      </p>
    </Panel>
  )
}

/** Warns of payouts that a provider reports as paid against the books. */
function Alarm({ items }: { items: NonNullable<HomeView['open_items']> }) {
  const many = items
    .filter(({ kind }) => kind !== 'failed_after_paid')
    .reduce((sum, { count }) => sum + count, 0)
  if (many === 0) return null
  return (
    <PageLink to={pages.openItems}>
      <span className={classes.proof} data-ok={false} role="alert">
        {says.openItemsAlarm(many)}
      </span>
    </PageLink>
  )
}

/** Whether every agent's book is proved, in green or red. */
function Proof({ proof }: { proof: NonNullable<HomeView['proof']> }) {
  return (
    <PageLink to={pages.wallets}>
      <span className={classes.proof} data-ok={proof.ok}>
        {proof.ok ? says.proofGreen(proof.unproved_rows) : says.proofRed(proof.red_agents)}
      </span>
    </PageLink>
  )
}

function Providers({ providers }: { providers: NonNullable<HomeView['providers']> }) {
  return (
    <Panel title={says.providers}>
      <ul className={classes.providers}>
        {providers.map((provider) => (
          <li key={provider.name}>
            <PageLink to={pages.providers}>{provider.name}</PageLink>
            <StateBadge state={provider.state} />
            <span>{says.providerPaid(provider.paid, provider.failed)}</span>
            <span>{says.providerOpen(provider.open, provider.unknown)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
