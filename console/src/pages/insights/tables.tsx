import { SegmentedControl } from '@mantine/core'
import { locale } from '../../languages/language.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { spanText } from '../../parts/when.tsx'
import { pages } from '../../paths.ts'
import { changeText, type InsightsView, rateText } from './insights-view.ts'
import { insightsWords as says } from './insights-words.ts'
import { Share } from './share.tsx'

const number = (value: number) => value.toLocaleString(locale)
const nothing = <Empty title={says.none} teach={says.noneTeach} />

interface Stage {
  name: string
  orders: number
  created: number
}

/** How many orders come how far. */
export function Funnel({ found, kind }: { found: InsightsView; kind: 'deposit' | 'withdraw' }) {
  const now = found.totals.find((each) => each.kind === kind)?.now
  if (!now || now.created === 0) return null
  const stages = (['created', 'ended', 'paid', 'called_back'] as const).map((stage) => ({
    name: says.stages[stage],
    orders: now[stage],
    created: now.created,
  }))
  const columns: Column<Stage>[] = [
    { key: 'stage', head: says.stage, phone: 'plain', cell: ({ name }) => name },
    { key: 'orders', head: says.orders, right: true, cell: ({ orders }) => number(orders) },
    {
      key: 'share',
      head: says.share,
      right: true,
      cell: ({ orders, created }) => <Share rate={orders / created} />,
    },
  ]
  return (
    <Panel title={says.funnel[kind]}>
      <DataTable
        label={says.funnel[kind]}
        columns={columns}
        rows={stages}
        rowKey={({ name }) => name}
        empty={nothing}
      />
    </Panel>
  )
}

type Ending = InsightsView['endings'][number]

/** What became of orders that were not paid; each leads to them. */
export function Endings({ found }: { found: InsightsView }) {
  const { filters } = useFilters()
  const search = (row: Ending) => ({
    kind: row.kind,
    status: row.status,
    from: found.from,
    ...(filters.agent && { agent: filters.agent }),
    ...(row.provider && { provider: row.provider }),
  })
  const columns: Column<Ending>[] = [
    {
      key: 'kind',
      head: says.kind,
      phone: 'plain',
      cell: (row) => <StateBadge state={row.kind} />,
    },
    {
      key: 'status',
      head: says.status,
      phone: 'plain',
      cell: (row) => <StateBadge state={row.status} />,
    },
    { key: 'provider', head: says.provider, cell: (row) => <Provider name={row.provider} /> },
    {
      key: 'orders',
      head: says.orders,
      right: true,
      cell: (row) => (
        <PageLink to={pages.orders} search={search(row)}>
          {number(row.orders)}
        </PageLink>
      ),
    },
    { key: 'before', head: says.rateBefore, right: true, cell: (row) => number(row.before) },
  ]
  const shown = columns.filter(({ key }) => key !== 'provider' || found.league !== null)
  return (
    <Panel title={says.endings}>
      <DataTable
        label={says.endings}
        columns={shown}
        rows={found.endings}
        rowKey={({ kind, status, provider }) => `${kind} ${status} ${provider}`}
        to={(row) => ({ to: pages.orders, search: search(row) })}
        empty={<p>{says.endingsNone}</p>}
      />
    </Panel>
  )
}

/** A provider's name, which leads to its orders, of the agent that is shown. */
function Provider({ name }: { name: string | null }) {
  const { filters } = useFilters()
  if (!name) return '–'
  const search = { provider: name, ...(filters.agent && { agent: filters.agent }) }
  return (
    <PageLink to={pages.orders} search={search}>
      {name}
    </PageLink>
  )
}

type Facet = InsightsView['facets'][number]

/** The share of orders that were paid, by what they have in common. */
export function Facets({ found }: { found: InsightsView }) {
  const { filters, set } = useFilters()
  const names = (Object.keys(says.facets) as (keyof typeof says.facets)[]).filter((name) =>
    found.facets.some(({ facet }) => facet === name),
  )
  const chosen = names.find((name) => name === filters.by) ?? names[0]
  if (chosen === undefined) return null
  const columns: Column<Facet>[] = [
    {
      key: 'label',
      head: says.facets[chosen],
      phone: 'wide',
      cell: ({ label, value, currency }) =>
        chosen === 'provider' ? (
          <Provider name={value} />
        ) : chosen === 'amount' ? (
          `${label} ${currency}`
        ) : (
          label
        ),
    },
    {
      key: 'kind',
      head: says.kind,
      phone: 'plain',
      cell: ({ kind }) => <StateBadge state={kind} />,
    },
    {
      key: 'rate',
      head: says.rate,
      right: true,
      cell: ({ success_rate }) => <Share rate={success_rate} />,
    },
    {
      key: 'before',
      head: says.rateBefore,
      right: true,
      cell: ({ before }) => rateText(before?.success_rate),
    },
    {
      key: 'paid',
      head: says.paid,
      right: true,
      cell: ({ paid, ended }) => says.ended(paid, ended),
    },
    {
      key: 'volume',
      head: says.volumeHead,
      right: true,
      cell: ({ volume, currency }) => <Money amount={volume} currency={currency} />,
    },
  ]
  return (
    <Panel
      title={says.by}
      tools={
        <SegmentedControl
          aria-label={says.by}
          size="xs"
          value={chosen}
          data={names.map((value) => ({ value, label: says.facets[value] }))}
          onChange={(by) => set({ by })}
        />
      }
    >
      <DataTable
        label={says.by}
        columns={columns.filter(({ key }) => key !== 'before' || chosen !== 'hour')}
        rows={found.facets.filter(({ facet, ended }) => facet === chosen && ended > 0)}
        rowKey={({ value, kind, currency }) => `${value} ${kind} ${currency}`}
        empty={nothing}
      />
    </Panel>
  )
}

type Called = InsightsView['callbacks'][number]

const within = (seconds: number | null) => (seconds === null ? '–' : spanText(seconds))

export function Callbacks({ found }: { found: InsightsView }) {
  const columns: Column<Called>[] = [
    {
      key: 'agent',
      head: says.agent,
      phone: 'wide',
      cell: ({ app_id, agent_name }) => (
        <PageLink to={pages.callbacks} search={{ agent: app_id }}>
          {agent_name}
        </PageLink>
      ),
    },
    {
      key: 'accepted',
      head: says.accepted,
      right: true,
      cell: ({ accepted, ended }) => <Share rate={ended === 0 ? null : accepted / ended} />,
    },
    {
      key: 'orders',
      head: says.orders,
      right: true,
      cell: ({ accepted, ended }) => `${number(accepted)} / ${number(ended)}`,
    },
    { key: 'half', head: says.half, right: true, cell: (row) => within(row.half_within_s) },
    { key: 'most', head: says.most, right: true, cell: (row) => within(row.most_within_s) },
  ]
  return (
    <Panel title={says.callbacks}>
      <DataTable
        label={says.callbacks}
        columns={columns}
        rows={found.callbacks}
        rowKey={({ app_id }) => app_id}
        to={({ app_id }) => ({ to: pages.callbacks, search: { agent: app_id } })}
        empty={nothing}
      />
    </Panel>
  )
}

type Cost = NonNullable<InsightsView['costs']>[number]

export function Costs({ costs }: { costs: Cost[] }) {
  if (costs.length === 0) return null
  const columns: Column<Cost>[] = [
    {
      key: 'provider',
      head: says.facets.provider,
      cell: ({ provider }) => <Provider name={provider} />,
    },
    {
      key: 'now',
      head: says.costs,
      right: true,
      cell: ({ now, currency }) => <Money amount={now} currency={currency} />,
    },
    {
      key: 'before',
      head: says.rateBefore,
      right: true,
      cell: ({ before, currency }) => <Money amount={before} currency={currency} />,
    },
  ]
  return (
    <Panel title={says.costsBy}>
      <DataTable
        label={says.costsBy}
        columns={columns}
        rows={costs}
        rowKey={({ provider, currency }) => `${provider} ${currency}`}
        empty={null}
      />
    </Panel>
  )
}

type Standing = NonNullable<InsightsView['league']>[number]

/** Agents by what they turn over. */
export function League({ league }: { league: Standing[] }) {
  const money = (key: 'in' | 'out' | 'fees', head: string): Column<Standing> => ({
    key,
    head,
    right: true,
    cell: (row) => <Money amount={row[key]} currency={row.currency} />,
  })
  const columns: Column<Standing>[] = [
    {
      key: 'agent',
      head: says.agent,
      phone: 'wide',
      cell: ({ app_id, agent_name }) => <PageLink to={pages.agent(app_id)}>{agent_name}</PageLink>,
    },
    money('in', says.in),
    {
      key: 'change',
      head: says.change,
      right: true,
      cell: (row) => changeText(row.in, row.in_before) ?? '–',
    },
    money('out', says.out),
    money('fees', says.fees),
    {
      key: 'rate',
      head: says.rate,
      right: true,
      cell: ({ success_rate }) => <Share rate={success_rate} />,
    },
    {
      key: 'before',
      head: says.rateBefore,
      right: true,
      cell: (row) => rateText(row.success_rate_before),
    },
  ]
  return (
    <Panel title={says.league}>
      <DataTable
        label={says.league}
        columns={columns}
        rows={league}
        rowKey={({ app_id }) => app_id}
        to={({ app_id }) => pages.agent(app_id)}
        empty={nothing}
      />
    </Panel>
  )
}
