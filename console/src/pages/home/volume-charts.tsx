import { locale } from '../../languages/language.ts'
import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { use } from 'react'
import { moneyText } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { localText, TimeZone } from '../../parts/when.tsx'
import classes from './home.module.css'
import type { HomeView } from './home-view.ts'
import { homeWords as says } from './home-words.ts'

const shortly = new Intl.NumberFormat(locale, { notation: 'compact' })

/** Hourly volumes in and out, yesterday and today, one chart per currency. */
export default function VolumeCharts({ home }: { home: HomeView }) {
  const zone = use(TimeZone)
  return (
    <div className={classes.charts}>
      {home.volumes.map(({ currency }) => {
        const hours = home.hours.filter((hour) => hour.currency === currency)
        const data = hours.map((hour) => ({
          hour: localText(hour.at, zone).slice(5, 16),
          [says.in]: hour.in,
          [says.out]: hour.out,
        }))
        return (
          <Panel key={currency} title={says.volumes(currency)}>
            {/* Hidden from screen readers: the figures above link to lists with the numbers. */}
            <div aria-hidden="true">
              <BarChart
                h={220}
                data={data}
                dataKey="hour"
                withLegend
                gridAxis="y"
                tickLine="none"
                barChartProps={{ accessibilityLayer: false }}
                yAxisProps={{ width: 48, tickFormatter: (value) => shortly.format(value) }}
                valueFormatter={(value) => moneyText(value, currency)}
                series={[
                  { name: says.in, color: 'var(--accent)' },
                  { name: says.out, color: 'var(--odd)' },
                ]}
              />
            </div>
          </Panel>
        )
      })}
    </div>
  )
}
