import { locale, numberText } from '../../languages/language.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Money } from '../../parts/money.tsx'
import { pages } from '../../paths.ts'
import type { HomeView } from './home-view.ts'
import { homeWords as says } from './home-words.ts'

/**
 * Today compared with yesterday up to the same time; each number links to the list it counts. Money has a row per
 * currency; how many orders were paid is over all of them, and has a row of its own.
 */
export function Today({ home }: { home: HomeView }) {
  const from = home.today_from
  return (
    <>
      {home.volumes.map((volume) => (
        <Figures key={volume.currency} columns={3}>
          {volumeFigures(home, volume)}
        </Figures>
      ))}
      <Figures columns={2}>
        <DayFigure kind="deposit" days={home.deposits} from={from} />
        <DayFigure kind="withdraw" days={home.withdrawals} from={from} />
      </Figures>
    </>
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
      note={says.dayNote(
        numberText(today.paid),
        numberText(today.ended),
        numberText(today.orders - today.ended),
        rate(yesterday.success_rate),
      )}
    >
      {rate(today.success_rate)}
    </Figure>
  )
}

const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

function rate(value: number | null): string {
  return value === null ? '–' : percent.format(value)
}
