import { databaseTime } from '../db/database-time.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Effect } from '../payouts/pay-out.ts'
import type { ProviderEvent } from '../providers/provider.ts'
import { eventText } from './event-text.ts'

/** Identifies an event. */
export interface EventKey {
  /** The agent that the event names; 0 if it names none. */
  agentId: bigint
  provider: string
  eventId: string
}

export interface NoticeRecord {
  noticeId: string
  provider: string
  receivedAt: Date
  body: Buffer
  events: NoticeEvent[]
}

export interface NoticeEvent extends EventKey {
  orderId: string | null
  event: ProviderEvent
}

export interface RecordedEvent extends NoticeEvent {
  /** When the event first arrived. */
  receivedAt: Date
  /** The result of the earlier processing; undefined if the event is still to be processed. */
  before: Effect | undefined
  /**
   * What is stored under its id: this event, a different one, or nothing (events from before they were stored
   * with their notices).
   */
  kept: 'itself' | 'another' | 'nothing'
}

/** The process that took a notice processes its events within this time, unless it died. */
const underWayMs = 30_000
const pausesMs = [0, 5_000, 15_000, 60_000, 300_000]
const longestPauseMs = 900_000

/** How long to wait before an event is tried again after this many failed attempts. */
function pauseMsAfter(tries: number): number {
  return pausesMs[tries] ?? longestPauseMs
}

/**
 * Stores notices with all their events, or nothing. Events that are already stored are not stored again.
 * Returns what is known of each notice's events. Here and below, `at` is the time to pass to the database.
 */
export async function recordNotices(
  pool: Pool,
  notices: NoticeRecord[],
  at: Date | null,
): Promise<RecordedEvent[][]> {
  const events = notices.flatMap(({ events, noticeId, receivedAt }) =>
    events.map((event) => ({ ...event, noticeId, receivedAt })),
  )
  if (events.length === 0) return notices.map(() => [])
  const keys = keyColumns(events)
  const isNew = await inTransaction(pool, async (tx) => {
    // A process that stopped while it stored the same event must not keep a connection from the others for long. The
    // provider sends it again.
    await tx.query(`set local lock_timeout = '1s'`)
    // Inserted in key order, so that two processes with the same events do not deadlock.
    const { rows } = await tx.query<{ notice_id: string; event: string } & KeyRow>(
      `insert into notice_events (agent_id, provider, event_id, received_at, order_id, notice_id, event,
         act_at)
       select a, p, e, r, o, i, t, ${databaseTime('$8')} + interval '${underWayMs} milliseconds'
       from unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::uuid[],
         $6::uuid[], $7::text[]) n(a, p, e, r, o, i, t)
       order by a, p, e
       on conflict do nothing
       returning agent_id, provider, event_id, notice_id::text, event`,
      [
        ...keys,
        events.map(({ receivedAt }) => receivedAt.toISOString()),
        events.map(({ orderId }) => orderId),
        events.map(({ noticeId }) => noticeId),
        events.map(({ event }) => eventText(event)),
        at,
      ],
    )
    const withNews = new Set(rows.map(({ notice_id }) => notice_id))
    const kept = notices.filter(({ noticeId }) => withNews.has(noticeId))
    if (kept.length > 0) {
      await tx.query(
        `insert into notices (notice_id, provider, received_at, body)
         select i, p, r, decode(b, 'base64')
         from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[]) n(i, p, r, b)`,
        [
          kept.map(({ noticeId }) => noticeId),
          kept.map(({ provider }) => provider),
          kept.map(({ receivedAt }) => receivedAt.toISOString()),
          kept.map(({ body }) => body.toString('base64')),
        ],
      )
    }
    return new Map(
      rows.map((row) => [`${row.notice_id} ${keyText(keyFromRow(row))}`, row.event] as const),
    )
  })
  const before: Map<string, KnownEvent> =
    isNew.size === events.length ? new Map() : await readEvents(pool, keys)
  return notices.map(({ events, noticeId, receivedAt }) =>
    events.map((event): RecordedEvent => {
      const text = isNew.get(`${noticeId} ${keyText(event)}`)
      const known = text === undefined ? before.get(keyText(event)) : { text, receivedAt }
      if (!known) throw new Error(`event ${keyText(event)} was not recorded`)
      const isItself = known.text === eventText(event.event)
      const kept = known.text === null ? 'nothing' : isItself ? 'itself' : 'another'
      return { ...event, receivedAt: known.receivedAt, before: known.before, kept }
    }),
  )
}

interface KnownEvent {
  text: string | null
  receivedAt: Date
  before?: Effect | undefined
}

async function readEvents(pool: Pool, keys: unknown[]): Promise<Map<string, KnownEvent>> {
  const { rows } = await pool.query<
    KeyRow & {
      event: string | null
      received_at: Date
      result: Effect['result'] | null
      detail: string | null
    }
  >(
    `select n.agent_id, n.provider, n.event_id, n.event, n.received_at, n.result, n.detail
     from notice_events n join unnest($1::bigint[], $2::text[], $3::text[]) k(a, p, e)
       on n.agent_id = k.a and n.provider = k.p and n.event_id = k.e`,
    keys,
  )
  return new Map(
    rows.map((row) => {
      const said = row.detail === null ? {} : { detail: row.detail }
      const before: Effect | undefined = row.result ? { result: 'unchanged', ...said } : undefined
      const known = { text: row.event, receivedAt: row.received_at, before }
      return [keyText(keyFromRow(row)), known]
    }),
  )
}

/** Records the results of events that had none. */
export async function finishEvents(
  pool: Pool,
  done: { key: EventKey; effect: Effect }[],
): Promise<undefined[]> {
  await pool.query(
    `update notice_events n set result = u.r, detail = u.d, act_at = null
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) u(a, p, e, r, d)
     where n.agent_id = u.a and n.provider = u.p and n.event_id = u.e and n.result is null`,
    [
      ...keyColumns(done.map(({ key }) => key)),
      done.map(({ effect }) => effect.result),
      done.map(({ effect }) => storedDetail(effect.detail)),
    ],
  )
  return done.map(() => undefined)
}

/** Records why an event could not be processed, and makes it due again later; never if only a person can tell. */
export async function postponeEvent(
  pool: Pool,
  { agentId, provider, eventId }: EventKey,
  why: string,
  at: Date | null,
  isForPerson = false,
): Promise<void> {
  await pool.query(
    `with at as (select ${databaseTime('$5')} as now)
     update notice_events set detail = $4, tries = greatest(tries, 1),
       act_at = case when $7 then 'infinity'
         when tries = 0 then (select now from at) + $6 * interval '1 millisecond' else act_at end
     where agent_id = $1 and provider = $2 and event_id = $3 and result is null and event is not null`,
    [agentId, provider, eventId, storedDetail(why), at, pauseMsAfter(1), isForPerson],
  )
}

/** How many due events are looked at in one go. */
const duePage = 50

type DueRow = KeyRow & { tries: number; event: string; received_at: Date }

/**
 * Claims due events that were left over, at most `roomOf` of each agent and provider. The caller holds each
 * until it is due again. If more are due than fit on a page, every agent gets a share of it, so that events
 * that cannot be processed hold up only their own agent's.
 */
export async function claimDueEvents(
  pool: Pool,
  at: Date | null,
  providers: readonly string[],
  roomOf: (key: EventKey) => number,
): Promise<{ key: EventKey; text: string; receivedAt: Date }[]> {
  const columns = 'agent_id, provider, event_id, tries, event, received_at'
  let { rows: found } = await pool.query<DueRow>(
    `select ${columns} from notice_events where act_at <= ${databaseTime('$1')}
     order by act_at limit $2`,
    [at, duePage],
  )
  if (found.length === duePage) {
    const fair = await pool.query<DueRow>(
      `select d.* from (select 0::bigint as agent_id union all select agent_id from agents) a
       cross join unnest($2::text[]) p(provider)
       cross join lateral (
         select ${columns} from notice_events n
         where n.agent_id = a.agent_id and n.provider = p.provider
           and n.act_at <= ${databaseTime('$1')}
         order by n.act_at limit $3
       ) d`,
      [at, providers, eventsPerAgent],
    )
    found = fair.rows
  }
  const taken = new Map<string, number>()
  const due = found.filter((row) => {
    const key = keyFromRow(row)
    const lane = laneOfEvent(key)
    const before = taken.get(lane) ?? 0
    if (before >= roomOf(key)) return false
    taken.set(lane, before + 1)
    return true
  })
  if (due.length === 0) return []
  const { rows } = await pool.query<KeyRow>(
    `with at as (select ${databaseTime('$6')} as now)
     update notice_events n set tries = u.t + 1,
       act_at = (select now from at) + u.ms * interval '1 millisecond'
     from unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::int[]) u(a, p, e, t, ms)
     where n.agent_id = u.a and n.provider = u.p and n.event_id = u.e and n.tries = u.t
       and n.act_at <= (select now from at) and n.result is null
     returning n.agent_id, n.provider, n.event_id`,
    [
      ...keyColumns(due.map(keyFromRow)),
      due.map(({ tries }) => tries),
      due.map(({ tries }) => pauseMsAfter(tries + 1)),
      at,
    ],
  )
  const mine = new Set(rows.map((row) => keyText(keyFromRow(row))))
  return due
    .map((row) => ({
      key: keyFromRow(row),
      text: row.event,
      receivedAt: row.received_at,
    }))
    .filter(({ key }) => mine.has(keyText(key)))
}

/** How many leftover events of one agent and provider are processed at once. */
export const eventsPerAgent = 8

/** Names the events that have places of their own: those of one agent and provider. */
export const laneOfEvent = ({ agentId, provider }: EventKey): string => `${agentId} ${provider}`

interface KeyRow {
  agent_id: bigint
  provider: string
  event_id: string
}

const keyFromRow = (row: KeyRow): EventKey => ({
  agentId: row.agent_id,
  provider: row.provider,
  eventId: row.event_id,
})

const keyText = ({ agentId, provider, eventId }: EventKey) => `${agentId} ${provider} ${eventId}`

const keyColumns = (keys: EventKey[]) => [
  keys.map(({ agentId }) => agentId),
  keys.map(({ provider }) => provider),
  keys.map(({ eventId }) => eventId),
]

const storedDetail = (detail: string | undefined) =>
  detail?.replaceAll('\0', '').slice(0, 1_000) ?? null
