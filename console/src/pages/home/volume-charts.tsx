import { use } from 'react'
import { locale } from '../../languages/language.ts'
import { moneyText } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Plot } from '../../parts/plot.tsx'
import { localText, TimeZone } from '../../parts/when.tsx'
import classes from './home.module.css'
import type { HomeView } from './home-view.ts'
import { homeWords as says } from './home-words.ts'

const shortly = new Intl.NumberFormat(locale, { notation: 'compact' })

/** Hourly volumes in and out, yesterday and today, one plot per currency. */
export function VolumeCharts({ home }: { home: HomeView }) {
  const zone = use(TimeZone)
  return (
    <div className={classes.charts}>
      {home.volumes.map(({ currency }) => {
        const hours = home.hours.filter((hour) => hour.currency === currency)
        return (
          <Panel key={currency} title={says.volumes(currency)}>
            <Plot
              label={says.volumes(currency)}
              as="bars"
              points={hours.map(({ at }) => {
                const time = localText(at, zone)
                return { short: time.slice(11, 16), full: time.slice(0, 16) }
              })}
              series={[
                { name: says.in, values: hours.map((hour) => hour.in) },
                { name: says.out, values: hours.map((hour) => hour.out) },
              ]}
              format={(value) => moneyText(value, currency)}
              short={(value) => shortly.format(value)}
            />
          </Panel>
        )
      })}
    </div>
  )
}
