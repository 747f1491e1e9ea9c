import { Figure, Figures } from '../../parts/figures.tsx'
import { Money } from '../../parts/money.tsx'
import { pages } from '../../paths.ts'
import { words } from '../../words.ts'
import type { HomeView } from './home.tsx'

const { home: says } = words

/** Today beside yesterday until the same time; each number opens what it counts. */
export function Today({ home }: { home: HomeView }) {
  const from = home.today_from
  return (
    <Figures>
      {home.volumes.flatMap((volume) => {
        const { currency } = volume
        const paid = { status: 'PAID', currency, from }
        return [
          <Figure
            key={`in ${currency}`}
            label={says.volumeIn}
            to={pages.orders}
            search={{ ...paid, kind: 'deposit' }}
            note={<Before amount={volume.in_yesterday} currency={currency} />}
          >
            <Money amount={volume.in_today} currency={currency} />
          </Figure>,
          <Figure
            key={`out ${currency}`}
            label={says.volumeOut}
            to={pages.orders}
            search={{ ...paid, kind: 'withdraw' }}
            note={<Before amount={volume.out_yesterday} currency={currency} />}
          >
            <Money amount={volume.out_today} currency={currency} />
          </Figure>,
        ]
      })}
      <DayFigure kind="deposit" days={home.deposits} from={from} />
      <DayFigure kind="withdraw" days={home.withdrawals} from={from} />
    </Figures>
  )
}

function Before({ amount, currency }: { amount: number; currency: string }) {
  return (
    <>
      {says.yesterday} <Money amount={amount} currency={currency} bare />
    </>
  )
}

function DayFigure(props: {
  kind: 'deposit' | 'withdraw'
  days: HomeView['deposits']
  from: string
}) {
  const { today, yesterday } = props.days
  return (
    <Figure
      label={says.success[props.kind]}
      to={pages.orders}
      search={{ kind: props.kind, from: props.from }}
      note={says.dayNote(today.paid, today.orders, rate(yesterday.success_rate))}
    >
      {rate(today.success_rate)}
    </Figure>
  )
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

function rate(value: number | null): string {
  return value === null ? '–' : percent.format(value)
}
