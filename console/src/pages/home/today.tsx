import { Figure, Figures } from '../../parts/figures.tsx'
import { Money } from '../../parts/money.tsx'
import { pages } from '../../paths.ts'
import type { HomeView } from './home-view.ts'
import { homeWords as says } from './home-words.ts'

/** Today compared with yesterday up to the same time; each number links to the list it counts. */
export function Today({ home }: { home: HomeView }) {
  const from = home.today_from
  const rates = [
    <DayFigure key="deposit" kind="deposit" days={home.deposits} from={from} />,
    <DayFigure key="withdraw" kind="withdraw" days={home.withdrawals} from={from} />,
  ]
  // One row per currency; the two rates are at the ends of the first two rows.
  const isOneRow = home.volumes.length < 2
  return (
    <Figures columns={isOneRow ? 5 : 4}>
      {home.volumes.flatMap((volume, at) => [
        ...volumeFigures(home, volume),
        ...(isOneRow ? rates : rates.slice(at, at + 1)),
      ])}
      {home.volumes.length === 0 && rates}
    </Figures>
  )
}

function volumeFigures(home: HomeView, volume: HomeView['volumes'][number]) {
  const { currency } = volume
  const paid = { status: 'PAID', currency, from: home.today_from }
  const held = home.waiting.held.find((each) => each.currency === currency)
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
    <Figure
      key={`held ${currency}`}
      label={says.held}
      to={pages.orders}
      search={{ kind: 'withdraw', status: 'WAITING', currency }}
      note={says.heldNote}
    >
      <Money amount={held?.amount ?? 0} currency={currency} />
    </Figure>,
  ]
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
