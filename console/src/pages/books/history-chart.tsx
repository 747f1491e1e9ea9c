import { locale } from '../../languages/language.ts'
import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import { moneyText } from '../../parts/money.tsx'
import { booksWords as says } from './books-words.ts'
import type { DayEnd } from './trial-balance.ts'

const shortly = new Intl.NumberFormat(locale, { notation: 'compact' })

/** What is owed to agents, and what is at providers, at the end of each day. */
export default function HistoryChart(props: { days: DayEnd[]; currency: string }) {
  const { days, currency } = props
  const data = days.toReversed().map((day) => ({
    day: day.day.slice(5),
    [says.owed]: day.owed_to_agents,
    [says.atProviders]: -day.clearing,
  }))
  return (
    // Hidden from screen readers: the table below it has the numbers.
    <div aria-hidden="true">
      <AreaChart
        h={220}
        data={data}
        dataKey="day"
        curveType="linear"
        withDots={false}
        withLegend
        gridAxis="y"
        tickLine="none"
        areaChartProps={{ accessibilityLayer: false }}
        yAxisProps={{ width: 48, tickFormatter: (value) => shortly.format(value) }}
        valueFormatter={(value) => moneyText(value, currency)}
        series={[
          { name: says.owed, color: 'var(--accent)' },
          { name: says.atProviders, color: 'var(--odd)' },
        ]}
      />
    </div>
  )
}
