import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Answer, ask } from '../../api.ts'
import { numberText, percentText } from '../../languages/language.ts'
import { Money } from '../../parts/money.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { TimeZone, When } from '../../parts/when.tsx'
import { useZone } from '../../parts/zone-choice.ts'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { Brand } from '../../shell/brand.tsx'
import classes from './wall.module.css'
import { wallWords as says } from './wall-words.ts'

type Home = Answer<typeof api.home>
type Tone = 'good' | 'warn' | 'bad'

const everyMs = 10_000

/**
 * For a screen on the wall: today in large type, without navigation. It asks in the background, which keeps no session
 * alive: nobody is there.
 */
export default function Wall() {
  const [zone] = useZone(useMe())
  const home = useQuery({
    queryKey: ['home'],
    queryFn: ({ signal }) => ask(api.home, { signal }),
    refetchInterval: everyMs,
    refetchIntervalInBackground: true,
  })
  const queue = useQuery({
    queryKey: ['queue', 'counts'],
    queryFn: ({ signal }) => ask(api.queueCounts, { signal }),
    refetchInterval: everyMs,
    refetchIntervalInBackground: true,
  })
  return (
    <TimeZone value={zone}>
      <main className={classes.wall}>
        <header className={classes.head}>
          <Brand size={40} />
          <h1>{says.title}</h1>
          {home.data && (
            <span role="status" data-old={home.isError || undefined}>
              {home.isError ? says.old : says.asOf} <When at={home.data.at} />
            </span>
          )}
          <Link to={pages.home}>{says.leave}</Link>
        </header>
        {home.data ? (
          <Figures home={home.data} queue={queue.data?.all} />
        ) : home.isError ? (
          <ProblemPanel error={home.error} />
        ) : (
          <Skeleton height="60vh" radius="md" />
        )}
        <p className={classes.foot}>{says.signsOut}</p>
      </main>
    </TimeZone>
  )
}

function Figures({ home, queue }: { home: Home; queue: number | undefined }) {
  const { waiting, callbacks } = home
  const stuck = callbacks.lanes_probing + callbacks.lanes_paused
  return (
    <>
      {home.volumes.map(({ currency, ...volume }) => (
        <div key={currency} className={classes.row}>
          <Tile label={says.in} note={<Before amount={volume.in_yesterday} currency={currency} />}>
            <Money amount={volume.in_today} currency={currency} />
          </Tile>
          <Tile
            label={says.out}
            note={<Before amount={volume.out_yesterday} currency={currency} />}
          >
            <Money amount={volume.out_today} currency={currency} />
          </Tile>
        </div>
      ))}
      <div className={classes.row}>
        <Tile label={says.success.deposit} note={ofDay(home.deposits.today)}>
          {rate(home.deposits.today.success_rate)}
        </Tile>
        <Tile label={says.success.withdraw} note={ofDay(home.withdrawals.today)}>
          {rate(home.withdrawals.today.success_rate)}
        </Tile>
        {home.proof && (
          <Tile
            label={says.proof}
            tone={home.proof.ok ? 'good' : 'bad'}
            note={home.proof.unproved_rows > 0 && says.behind(home.proof.unproved_rows)}
          >
            {home.proof.ok ? says.proved : says.red(home.proof.red_agents)}
          </Tile>
        )}
      </div>
      <div className={classes.row}>
        <Tile label={says.queue} tone={queue ? 'warn' : undefined}>
          {queue === undefined ? '–' : numberText(queue)}
        </Tile>
        <Tile
          label={says.unknown}
          tone={waiting.payouts.count > 0 ? 'bad' : undefined}
          note={<Oldest at={waiting.payouts.oldest_at} />}
        >
          {numberText(waiting.payouts.count)}
        </Tile>
        <Tile
          label={says.callbacks}
          tone={callbacks.failing.count > 0 ? 'warn' : undefined}
          note={<Oldest at={callbacks.failing.oldest_at} />}
        >
          {numberText(callbacks.failing.count)}
        </Tile>
        <Tile label={says.lanes} tone={stuck > 0 ? 'warn' : 'good'}>
          {stuck === 0
            ? says.lanesFine
            : says.lanesStuck(callbacks.lanes_probing, callbacks.lanes_paused)}
        </Tile>
      </div>
      {home.providers && home.providers.length > 0 && (
        <ul className={classes.providers} aria-label={says.providers}>
          {home.providers.map(({ name, state, unknown }) => (
            <li key={name}>
              {name} <StateBadge state={state} /> {says.unknownAt(unknown)}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Tile(props: {
  label: string
  tone?: Tone | undefined
  note?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={classes.tile} data-tone={props.tone}>
      <h2>{props.label}</h2>
      <p className={classes.value}>{props.children}</p>
      {props.note && <p className={classes.note}>{props.note}</p>}
    </section>
  )
}

function Before({ amount, currency }: { amount: number; currency: string }) {
  return (
    <>
      <Money amount={amount} currency={currency} bare /> {says.yesterday}
    </>
  )
}

function Oldest({ at }: { at: string | null }) {
  return at === null ? null : (
    <>
      {says.oldest} <When at={at} ago />
    </>
  )
}

const ofDay = ({ paid, ended }: Home['deposits']['today']) => says.of(paid, ended)
const rate = (value: number | null) => (value === null ? '–' : percentText(value))
