import type { Agent } from '../../agents/agent.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { spanSeconds } from '../../insights/insight-cells.ts'
import { type Period, type PeriodName, periodNames, periodOf } from '../../insights/period.ts'
import {
  balanceFigures,
  calledFigures,
  type EarnedFigure,
  earnedFigures,
  type FacetFigure,
  facetFigures,
  type OrderFigure,
  orderFigures,
  rowsBehind,
  waitingOrders,
} from '../../insights/read-insights.ts'
import { type OrderKind, orderKinds } from '../../ledger/book.ts'
import { allHouseBooks } from '../../ledger/house.ts'
import { findBank } from '../../lib/banks.ts'
import { jsonText } from '../../lib/json-text.ts'
import { localTimeIn } from '../../lib/local-time.ts'
import type { Currency } from '../../lib/money.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import { InsightsQuery, InsightsView, insightFacets } from './schemas/insights.ts'
import { agentsInScope } from './scope.ts'

type Waiting = Awaited<ReturnType<typeof waitingOrders>>
type When = 'now' | 'before'
const bothPeriods = ['now', 'before'] as const

/** `GET /insights`: how business goes in a period, compared with the one before. */
export function insightsRoute(api: OperatorApi, desk: Desk, timeZone: string): void {
  const localTime = localTimeIn(timeZone)
  operatorRoute(api, {
    method: 'GET',
    url: '/insights',
    summary: 'How business goes, compared with the period before',
    tag: 'Home',
    permission: 'view',
    agents: 'own',
    schema: { querystring: InsightsQuery, response: InsightsView },
    handler: async ({ operator, query }) => {
      const { pool } = desk
      const isOwn = operator.agentId !== null
      const at = desk.now()
      const name = periodNames.find((each) => each === query.period) ?? '24h'
      const period = periodOf(name, at, { timeZone, localTime })
      const agents = await agentsInScope(pool, operator, query.agent)
      const currencies = [...new Set(agents.map(({ currency }) => currency))].sort()
      const isAll = !isOwn && query.agent === undefined
      const house = isAll ? allHouseBooks.filter((book) => currencies.includes(book.currency)) : []
      const books = [...agents, ...house]
      // One snapshot, so that the parts of the page agree with each other.
      const found = await inTransaction(
        pool,
        async (tx) => ({
          orders: await orderFigures(tx, agents, period, timeZone),
          facets: await facetFigures(tx, agents, period),
          called: await calledFigures(tx, agents, period),
          earned: await earnedFigures(tx, books, period),
          balances: await balanceFigures(tx, agents, period, timeZone),
          waiting: await waitingOrders(tx, agents, period, timeZone),
          behind: await rowsBehind(tx, books),
        }),
        'isolation level repeatable read read only',
      )
      const byAgent = found.orders.filter(({ step }) => step === null)
      const facets = isOwn ? found.facets.filter(({ facet }) => facet !== 'provider') : found.facets
      return jsonText({
        at,
        period: name satisfies PeriodName,
        from: period.from,
        before_from: period.beforeFrom,
        before_to: period.beforeTo,
        step: period.step,
        behind: found.behind,
        totals: orderKinds.map((kind) => ({
          kind,
          now: countsOf(byAgent, found.waiting, kind, 'now'),
          before: countsOf(byAgent, found.waiting, kind, 'before'),
        })),
        money: currencies.map((currency) => ({
          currency,
          now: volumesOf(byAgent, found.earned, currency, 'now', isOwn),
          before: volumesOf(byAgent, found.earned, currency, 'before', isOwn),
        })),
        series: seriesOf(found.orders, found.waiting, currencies, period),
        facets: facetsOf(facets),
        endings: endingsOf(isOwn ? byAgent.map(withoutProvider) : facets.filter(isOfProvider)),
        time_to_paid: timeToPaid(found.facets),
        callbacks: callbacksOf(agents, byAgent, found.called),
        balances: found.balances.map(({ step, currency, available, held, reserve }) => ({
          at: step,
          currency,
          available: exact(available, currency),
          held: exact(held, currency),
          reserve: exact(reserve, currency),
        })),
        costs: isOwn ? null : costsOf(found.earned),
        league: isOwn ? null : leagueOf(agents, byAgent, found.earned),
      })
    },
  })
}

/** What the figures of finished orders come to. */
function sumOf(figures: readonly Pick<OrderFigure, 'status' | 'orders' | 'paidMinor'>[]) {
  let [ended, paid, paidMinor] = [0, 0, 0n]
  for (const figure of figures) {
    ended += figure.orders
    if (figure.status !== 'PAID') continue
    paid += figure.orders
    paidMinor += figure.paidMinor
  }
  return { ended, paid, success_rate: rateOf(paid, ended), paidMinor }
}

function rateOf(paid: number, ended: number): number | null {
  return ended === 0 ? null : Math.round((paid / ended) * 10_000) / 10_000
}

function countsOf(figures: OrderFigure[], waiting: Waiting, kind: OrderKind, when: When) {
  const own = figures.filter((figure) => figure.kind === kind && figure.when === when)
  const { ended, paid, success_rate } = sumOf(own)
  const open = waiting
    .filter((each) => each.kind === kind && (each.step === null) === (when === 'before'))
    .reduce((sum, { orders }) => sum + orders, 0)
  const calledBack = own
    .filter(({ status }) => status === 'PAID')
    .reduce((sum, { called }) => sum + called, 0)
  return {
    ...{ created: ended + open, waiting: open, ended, paid },
    ...{ called_back: calledBack, success_rate },
  }
}

function volumesOf(
  figures: OrderFigure[],
  earned: EarnedFigure[],
  currency: Currency,
  when: When,
  isOwn: boolean,
) {
  const paid = (kind: OrderKind) =>
    sumOf(
      figures.filter(
        (each) => each.currency === currency && each.kind === kind && each.when === when,
      ),
    ).paidMinor
  const own = earned.filter((each) => each.currency === currency && each.when === when)
  const total = (value: (each: EarnedFigure) => bigint) =>
    exact(
      own.reduce((sum, each) => sum + value(each), 0n),
      currency,
    )
  return {
    in: exact(paid('deposit'), currency),
    out: exact(paid('withdraw'), currency),
    fees: total(({ feesMinor }) => feesMinor),
    costs: isOwn ? null : total(({ costsMinor }) => costsMinor),
  }
}

/** Every step of the period: one without orders is a step without money. */
function seriesOf(
  figures: OrderFigure[],
  waiting: Waiting,
  currencies: Currency[],
  { steps }: Period,
) {
  const key = (step: Date | null, currency: Currency, kind: OrderKind) =>
    `${step?.getTime()} ${currency} ${kind}`
  const groups = new Map<string, OrderFigure[]>()
  for (const figure of figures) {
    if (figure.step === null) continue
    const name = key(figure.step, figure.currency, figure.kind)
    groups.set(name, [...(groups.get(name) ?? []), figure])
  }
  const open = new Map(
    waiting.map(({ step, currency, kind, orders }) => [key(step, currency, kind), orders]),
  )
  return currencies.flatMap((currency) =>
    steps.flatMap((at) =>
      orderKinds.map((kind) => {
        const { paidMinor, ...results } = sumOf(groups.get(key(at, currency, kind)) ?? [])
        const created = results.ended + (open.get(key(at, currency, kind)) ?? 0)
        return { at, currency, kind, created, ...results, volume: exact(paidMinor, currency) }
      }),
    ),
  )
}

function facetsOf(figures: FacetFigure[]) {
  const groups = new Map<string, FacetFigure[]>()
  for (const figure of figures) {
    if (!insightFacets.some((facet) => facet === figure.facet)) continue
    const { facet, currency, kind, value } = figure
    const name = [facet, currency, kind, value].join(' ')
    groups.set(name, [...(groups.get(name) ?? []), figure])
  }
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group
      if (!first) return []
      const { facet, currency, kind, value } = first
      const [now, before] = bothPeriods.map((when) => {
        const { paidMinor, ...results } = sumOf(group.filter((each) => each.when === when))
        return { ...results, volume: exact(paidMinor, currency) }
      })
      const label = labelOf(facet, value, currency)
      // The last day of the period before is cut by hours, which are not told apart by hour again.
      return [
        { facet, value, label, currency, kind, ...now, before: facet === 'hour' ? null : before },
      ]
    })
    .sort((a, b) => inOrder(a.facet, a.value, b.facet, b.value))
}

/** Amounts and hours in their own order, the rest by name. */
function inOrder(facetA: string, a: string, facetB: string, b: string): number {
  if (facetA !== facetB) return facetA < facetB ? -1 : 1
  if (facetA === 'amount') return Number(a) - Number(b)
  return a < b ? -1 : a > b ? 1 : 0
}

const units = new Intl.NumberFormat('en')

function labelOf(facet: string, value: string, currency: Currency): string {
  switch (facet) {
    case 'bank':
      return findBank(currency, value)?.name ?? value
    case 'amount':
      return value === '0'
        ? 'below 1'
        : `${units.format(Number(value))} to ${units.format(Number(value) * 10)}`
    case 'hour':
      return `${value}:00`
    default:
      return value === '' ? 'no provider' : value
  }
}

const isOfProvider = ({ facet }: FacetFigure) => facet === 'provider'

function withoutProvider(figure: OrderFigure) {
  return { ...figure, value: '' }
}

/** What became of orders that are not paid, and who had them. */
function endingsOf(
  figures: {
    when: When | null
    kind: OrderKind
    status: string
    value: string
    orders: number
  }[],
) {
  const endings = new Map<
    string,
    { kind: OrderKind; status: string; provider: string | null; orders: number; before: number }
  >()
  for (const { when, kind, status, value, orders } of figures) {
    if (status === 'PAID') continue
    const name = [kind, status, value].join(' ')
    const known = endings.get(name) ?? {
      ...{ kind, status, provider: value === '' ? null : value },
      ...{ orders: 0, before: 0 },
    }
    known[when === 'now' ? 'orders' : 'before'] += orders
    endings.set(name, known)
  }
  return [...endings.values()].sort((a, b) => b.orders - a.orders || b.before - a.before)
}

const spans = [...spanSeconds.map((end) => ({ value: String(end), within_s: end })), lastSpan()]

function lastSpan(): { value: string; within_s: number | null } {
  return { value: 'more', within_s: null }
}

function timeToPaid(figures: FacetFigure[]) {
  return orderKinds.flatMap((kind) =>
    spans.map(({ value, within_s }) => ({
      kind,
      within_s,
      orders: figures
        .filter((each) => each.facet === 'paid_within' && each.when === 'now')
        .filter((each) => each.kind === kind && each.value === value)
        .reduce((sum, { orders }) => sum + orders, 0),
    })),
  )
}

function callbacksOf(
  agents: Agent[],
  figures: OrderFigure[],
  called: { agentId: bigint; value: string; orders: number }[],
) {
  return agents
    .map(({ agentId, appId, name }) => {
      const own = figures.filter((each) => each.agentId === agentId && each.when === 'now')
      const times = called.filter((each) => each.agentId === agentId)
      return {
        app_id: appId,
        agent_name: name,
        ended: own.reduce((sum, { orders }) => sum + orders, 0),
        accepted: own.reduce((sum, each) => sum + each.called, 0),
        half_within_s: shareWithin(times, 0.5),
        most_within_s: shareWithin(times, 0.95),
      }
    })
    .filter(({ ended }) => ended > 0)
    .sort((a, b) => b.ended - a.ended)
}

/** The span within which a share of the callbacks was accepted; null if none was, or it took more than a day. */
function shareWithin(times: { value: string; orders: number }[], share: number): number | null {
  const all = times.reduce((sum, { orders }) => sum + orders, 0)
  let seen = 0
  for (const { value, within_s } of spans) {
    seen += times.find((each) => each.value === value)?.orders ?? 0
    if (all > 0 && seen >= all * share) return within_s
  }
  return null
}

function costsOf(earned: EarnedFigure[]) {
  const costs = new Map<string, { provider: string; currency: Currency } & Record<When, bigint>>()
  for (const { provider, currency, when, costsMinor } of earned) {
    if (costsMinor === 0n) continue
    const name = `${provider} ${currency}`
    const known = costs.get(name) ?? { provider, currency, now: 0n, before: 0n }
    known[when] += costsMinor
    costs.set(name, known)
  }
  return [...costs.values()].map(({ provider, currency, now, before }) => ({
    ...{ provider, currency },
    now: exact(now, currency),
    before: exact(before, currency),
  }))
}

function leagueOf(agents: Agent[], figures: OrderFigure[], earned: EarnedFigure[]) {
  return agents
    .flatMap(({ agentId, appId, name, currency }) => {
      const own = figures.filter((each) => each.agentId === agentId)
      const fees = (when: When) =>
        earned
          .filter((each) => each.agentId === agentId && each.when === when)
          .reduce((sum, { feesMinor }) => sum + feesMinor, 0n)
      if (own.length === 0 && fees('now') === 0n && fees('before') === 0n) return []
      const of = (when: When, kind?: OrderKind) =>
        sumOf(own.filter((each) => each.when === when && (!kind || each.kind === kind)))
      const inMinor = of('now', 'deposit').paidMinor
      const { ended, paid, success_rate } = of('now')
      const row = {
        ...{ app_id: appId, agent_name: name, currency },
        in: exact(inMinor, currency),
        in_before: exact(of('before', 'deposit').paidMinor, currency),
        out: exact(of('now', 'withdraw').paidMinor, currency),
        out_before: exact(of('before', 'withdraw').paidMinor, currency),
        ...{ ended, paid, success_rate },
        success_rate_before: of('before').success_rate,
        fees: exact(fees('now'), currency),
        fees_before: exact(fees('before'), currency),
      }
      return [{ row, inMinor, currency }]
    })
    .sort((a, b) => {
      if (a.currency !== b.currency) return a.currency < b.currency ? -1 : 1
      return a.inMinor === b.inMinor ? 0 : a.inMinor < b.inMinor ? 1 : -1
    })
    .map(({ row }) => row)
}
