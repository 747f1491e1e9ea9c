import { Figure, Figures } from '../../parts/figures.tsx'
import { agoText } from '../../parts/when.tsx'
import { pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import type { HomeView } from './home-view.ts'
import { homeWords as says } from './home-words.ts'

interface Waiting {
  label: string
  aged: { count: number; oldest_at: string | null }
  to: string
  search?: Record<string, string>
  /** Whether it is shown in red immediately, whatever its age. */
  isAlarm?: boolean
}

/** What needs attention, with the age of the oldest. */
export function Attention({ home }: { home: HomeView }) {
  const isAgent = useMe().user.role === 'agent'
  const { waiting, callbacks } = home
  const openWithdrawals = { kind: 'withdraw', status: 'WAITING' }
  const isAlarm = home.open_items?.some(({ kind }) => kind !== 'failed_after_paid') ?? false
  const rows: Waiting[] = [
    ...(isAgent ? [] : [{ label: says.payments, aged: waiting.payments, to: pages.payments }]),
    ...(home.open_items
      ? [{ label: says.openItems, aged: together(home.open_items), to: pages.openItems, isAlarm }]
      : []),
    { label: says.payouts, aged: waiting.payouts, to: pages.orders, search: { payout: 'unknown' } },
    {
      label: says.withdrawals,
      aged: waiting.withdrawals,
      to: pages.orders,
      search: openWithdrawals,
    },
    ...(waiting.notice_events && waiting.notice_events.count > 0
      ? [{ label: says.noticeEvents, aged: waiting.notice_events, to: pages.openItems }]
      : []),
    {
      label: says.failing,
      aged: callbacks.failing,
      to: pages.callbacks,
      search: { state: 'failing' },
    },
    {
      label: says.givenUp,
      aged: callbacks.given_up,
      to: pages.callbacks,
      search: { state: 'exhausted' },
    },
  ]
  return (
    <Figures columns={rows.length} rowsOnPhone>
      {rows.map(({ label, aged, to, search, isAlarm }) => (
        <Figure
          key={label}
          label={label}
          to={to}
          {...(search && { search })}
          tone={isAlarm ? 'bad' : toneOf(aged)}
          note={aged.oldest_at === null ? says.nothing : says.oldest(agoText(aged.oldest_at))}
        >
          {aged.count >= 1000 ? '1000+' : aged.count}
        </Figure>
      ))}
    </Figures>
  )
}

function together(items: NonNullable<HomeView['open_items']>): Waiting['aged'] {
  const [oldest = null] = items.map(({ oldest_at }) => oldest_at).sort()
  return { count: items.reduce((sum, { count }) => sum + count, 0), oldest_at: oldest }
}

const hourMs = 3_600_000

/** A warning after an hour, an alarm after a day. */
function toneOf({ oldest_at }: Waiting['aged']): 'warn' | 'bad' | undefined {
  if (oldest_at === null) return undefined
  const ageMs = Date.now() - Date.parse(oldest_at)
  return ageMs > 24 * hourMs ? 'bad' : ageMs > hourMs ? 'warn' : undefined
}
