import { NativeSelect, SegmentedControl, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Money, moneyText } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import classes from './insights.module.css'
import { changeText, type InsightsView, rateText } from './insights-view.ts'
import { insightsWords as says } from './insights-words.ts'
import { Plots } from './plots.tsx'
import { Callbacks, Costs, Endings, Facets, Funnel, League } from './tables.tsx'

const periods = ['24h', '7d', '30d', '12m'] as const

/** How business goes, compared with the period before. */
export default function Insights() {
  const { filters, set } = useFilters()
  const isAgent = useMe().user.role === 'agent'
  const choices = useAgentChoices()
  const period = periods.find((each) => each === filters.period) ?? '24h'
  const query = { period, ...(filters.agent && { agent: filters.agent }) }
  const found = useQuery({
    queryKey: ['insights', query],
    queryFn: ({ signal }) => ask(api.insights, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  return (
    <>
      <PageHead
        title={says.title}
        says={
          found.data && (
            <>
              {says.asOf} <When at={found.data.at} />
            </>
          )
        }
      >
        {!isAgent && (
          <NativeSelect
            aria-label={says.agent}
            value={filters.agent ?? ''}
            onChange={(event) => set({ agent: event.currentTarget.value })}
            data={[
              { value: '', label: says.allAgents },
              ...choices.map(([value, label]) => ({ value, label })),
            ]}
          />
        )}
        <SegmentedControl
          aria-label={says.period}
          size="sm"
          value={period}
          data={periods.map((value) => ({ value, label: says.periods[value] }))}
          onChange={(value) => set({ period: value })}
        />
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!found.data && !found.isError && <Skeleton height={520} radius="md" />}
      {found.data && !found.isError && <Shown found={found.data} agent={filters.agent} />}
    </>
  )
}

function Shown({ found, agent }: { found: InsightsView; agent: string | undefined }) {
  // A list of orders is of the same agent and time as its figure.
  const within = { from: found.from, ...(agent && { agent }) }
  return (
    <>
      {found.behind > 0 && <p className={classes.behind}>{says.behind(found.behind)}</p>}
      {found.money.map((each) => (
        <MoneyFigures key={each.currency} money={each} within={within} />
      ))}
      <Figures columns={2}>
        {found.totals.map(({ kind, now, before }) => (
          <Figure
            key={kind}
            label={says.success[kind as 'deposit' | 'withdraw']}
            to={pages.orders}
            search={{ kind, ...within }}
            note={`${says.ended(now.paid, now.ended)}, ${says.before} ${rateText(before.success_rate)}`}
          >
            {rateText(now.success_rate)}
          </Figure>
        ))}
      </Figures>
      <Plots found={found} />
      <div className={classes.panels}>
        <Funnel found={found} kind="deposit" />
        <Funnel found={found} kind="withdraw" />
      </div>
      {[Endings, Facets, Callbacks].map((Part) => (
        <div key={Part.name} className={classes.wide}>
          <Part found={found} />
        </div>
      ))}
      {found.league && (
        <div className={classes.wide}>
          <League league={found.league} />
        </div>
      )}
      {found.costs && <Costs costs={found.costs} />}
    </>
  )
}

type OfCurrency = InsightsView['money'][number]

/** Money of a currency; how it changed since the period before stands below it. */
function MoneyFigures({ money, within }: { money: OfCurrency; within: Record<string, string> }) {
  const { currency, now, before } = money
  const paid = (kind: string) => ({
    to: pages.orders,
    search: { kind, status: 'PAID', currency, ...within },
  })
  const all = [
    { name: 'in', label: says.volumeIn, link: paid('deposit') },
    { name: 'out', label: says.volumeOut, link: paid('withdraw') },
    { name: 'fees', label: says.fees, link: {} },
    { name: 'costs', label: says.costs, link: {} },
  ] as const
  const shown = all.filter(({ name }) => now[name] !== null)
  return (
    <Figures columns={shown.length}>
      {shown.map(({ name, label, link }) => (
        <Figure
          key={name}
          label={label}
          {...link}
          note={
            <>
              {says.before} {moneyText(before[name] ?? 0, currency)}
              <span className={classes.change}>
                {changeText(now[name] ?? 0, before[name] ?? 0)}
              </span>
            </>
          }
        >
          <Money amount={now[name] ?? 0} currency={currency} />
        </Figure>
      ))}
    </Figures>
  )
}
