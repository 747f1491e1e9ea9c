import { locale } from '../../languages/language.ts'
import { moneyText } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Plot } from '../../parts/plot.tsx'
import { localText, spanText } from '../../parts/when.tsx'
import { useMe } from '../../session.tsx'
import classes from './insights.module.css'
import { type InsightsView, rateText } from './insights-view.ts'
import { insightsWords as says } from './insights-words.ts'

const shortly = new Intl.NumberFormat(locale, { notation: 'compact' })
const kinds = ['deposit', 'withdraw'] as const
const nameOf = { deposit: says.in, withdraw: says.out }

/** The points of a plot: when each step begins. */
function usePoints(step: string, times: string[]) {
  // Days begin in the service's zone, whatever zone its user reads times in.
  const { time_zone: zone } = useMe()
  return times.map((time) => {
    const text = localText(time, zone)
    switch (step) {
      case 'hour':
        return { short: text.slice(11, 16), full: text.slice(0, 16) }
      case 'day':
        return { short: text.slice(5, 10), full: text.slice(0, 10) }
      default:
        return { short: text.slice(2, 7), full: text.slice(0, 7) }
    }
  })
}

function stepsOf({ series }: InsightsView): string[] {
  return [...new Set(series.map(({ at }) => at))]
}

/** Paid deposits and withdrawals by when they were created. */
export function VolumePlot({ found, currency }: { found: InsightsView; currency: string }) {
  const steps = stepsOf(found)
  const points = usePoints(found.step, steps)
  return (
    <Panel title={says.volume(currency)}>
      <Plot
        label={says.volume(currency)}
        as="bars"
        points={points}
        format={(value) => moneyText(value, currency)}
        short={(value) => shortly.format(value)}
        series={kinds.map((kind) => ({
          name: nameOf[kind],
          values: found.series
            .filter((each) => each.currency === currency && each.kind === kind)
            .map(({ volume }) => volume),
        }))}
      />
    </Panel>
  )
}

/** The share of orders that were paid, over all currencies; a step in which none ended has no share. */
export function RatePlot({ found }: { found: InsightsView }) {
  const steps = stepsOf(found)
  const points = usePoints(found.step, steps)
  const rate = (at: string, kind: string) => {
    const own = found.series.filter((each) => each.at === at && each.kind === kind)
    const ended = own.reduce((sum, each) => sum + each.ended, 0)
    return ended === 0 ? null : own.reduce((sum, each) => sum + each.paid, 0) / ended
  }
  return (
    <Panel title={says.rates}>
      <Plot
        label={says.rates}
        as="lines"
        top={1}
        points={points}
        format={rateText}
        short={rateText}
        series={kinds.map((kind) => ({
          name: nameOf[kind],
          values: steps.map((at) => rate(at, kind)),
        }))}
      />
    </Panel>
  )
}

/** What agents had at the end of each step. */
export function BalancePlot({ found, currency }: { found: InsightsView; currency: string }) {
  const own = found.balances.filter((each) => each.currency === currency)
  const points = usePoints(
    found.step,
    own.map(({ at }) => at),
  )
  const hasReserve = own.some(({ reserve }) => reserve !== 0)
  return (
    <Panel title={says.balance(currency)}>
      <Plot
        label={says.balance(currency)}
        as="lines"
        points={points}
        format={(value) => moneyText(value, currency)}
        short={(value) => shortly.format(value)}
        series={[
          { name: says.available, values: own.map(({ available }) => available) },
          { name: says.held, values: own.map(({ held }) => held) },
          ...(hasReserve
            ? [{ name: says.reserve, values: own.map(({ reserve }) => reserve) }]
            : []),
        ]}
      />
    </Panel>
  )
}

/** How long it took until orders were paid. */
export function TimePlot({ found }: { found: InsightsView }) {
  const spans = found.time_to_paid.filter(({ kind }) => kind === 'deposit')
  const points = spans.map(({ within_s }) =>
    within_s === null
      ? { short: says.longer, full: says.longer }
      : { short: spanText(within_s), full: says.within(spanText(within_s)) },
  )
  return (
    <Panel title={says.timeToPaid}>
      <Plot
        label={says.timeToPaid}
        as="bars"
        points={points}
        format={(value) => value.toLocaleString(locale)}
        short={(value) => shortly.format(value)}
        series={kinds.map((kind) => ({
          name: nameOf[kind],
          values: found.time_to_paid
            .filter((each) => each.kind === kind)
            .map(({ orders }) => orders),
        }))}
      />
    </Panel>
  )
}

export function Plots({ found }: { found: InsightsView }) {
  const currencies = found.money.map(({ currency }) => currency)
  return (
    <div className={classes.panels}>
      {currencies.map((currency) => (
        <VolumePlot key={currency} found={found} currency={currency} />
      ))}
      <RatePlot found={found} />
      {currencies.map((currency) => (
        <BalancePlot key={currency} found={found} currency={currency} />
      ))}
      <TimePlot found={found} />
    </div>
  )
}
