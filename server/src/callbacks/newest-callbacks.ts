import type { Pool } from '../db/pool.ts'
import { archivedSeqs } from '../ledger/archived.ts'
import { seqsAsOf } from '../ledger/wallet-as-of.ts'
import { type CallbackSearch, conditionOf, undelivered } from './callback-search.ts'
import { type FoundCallback, type FoundRow, foundFromRow, withLatest } from './found-callback.ts'

/** Callbacks of some agents, the newest first. */
export function newestCallbacks(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  return search.agentIds.length === 1 ? newestOfOne(pool, search) : newestOfAll(pool, search)
}

/** Of one agent: by its own numbers, which are never in doubt. */
function newestOfOne(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  const { agentIds, after } = search
  const range = { tops: [after ? after.seq - 1n : maxSeq], bottoms: [0n] }
  return readRanges(pool, { ...search, after: undefined }, { agentIds, ...range }, 'seq desc')
}

const maxSeq = 9_223_372_036_854_775_807n

/**
 * How far the times of one agent's callbacks may be from the order of their numbers. Processes have clocks of
 * their own; `sluice doctor` finds fault with those that are further off.
 */
const clocksDifferMs = 60_000

/**
 * Over all agents no index goes by time. Numbers go up with time, though, but for a minute: so a time becomes
 * a number of each agent's, the page's end is guessed from the newest few of each, and what happened between
 * the page before and that end is read completely, with a minute to spare on both sides.
 */
async function newestOfAll(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  const { agentIds, until, after } = search
  const latest = [until, after?.time].filter((time) => time !== undefined)
  const starts =
    latest.length > 0 && (await seqsAsOf(pool, agentIds, moved(earliest(latest), clocksDifferMs)))
  const tops = agentIds.map((agentId) => (starts ? (starts.get(agentId) ?? 0n) : maxSeq))
  const heads = await readHeads(pool, search, { agentIds, tops })
  const end = await guessEnd(pool, search, heads)
  const near = heads.filter(({ at }) => !end || at >= moved(end, -clocksDifferMs))
  const ids = near.map(({ agentId }) => agentId)
  const ends = end && (await seqsAsOf(pool, ids, moved(end, -clocksDifferMs - 1)))
  const archived = await archivedSeqs(pool, ids)
  // Of what is archived no times are known, and little is left there.
  const bottomOf = (agentId: bigint) => {
    const seq = ends?.get(agentId) ?? 0n
    return seq > (archived.get(agentId) ?? 0n) ? seq : 0n
  }
  const ranges = {
    agentIds: ids,
    tops: near.map(({ top }) => top),
    bottoms: ids.map(bottomOf),
  }
  return readRanges(pool, search, ranges, 'created_at desc, agent_id desc, seq desc')
}

function moved(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms)
}

function earliest(times: Date[]): Date {
  return new Date(Math.min(...times.map((time) => time.getTime())))
}

/** An agent's newest callback that fits, by number. */
interface Head {
  agentId: bigint
  top: bigint
  at: Date
}

async function readHeads(
  pool: Pool,
  search: CallbackSearch,
  { agentIds, tops }: { agentIds: readonly bigint[]; tops: bigint[] },
): Promise<Head[]> {
  const { rows } = await pool.query<{ agent_id: bigint; top: bigint; created_at: Date }>(
    `select a.agent_id, a.top, y.created_at from unnest($1::bigint[], $6::bigint[]) a(agent_id, top)
     cross join lateral (
       select z.created_at from (${fitting(search.state, 'x.seq <= a.top', 'seq desc', '1')}) z
       order by z.seq desc limit 1
     ) y order by y.created_at desc`,
    [agentIds, ...valuesOf(search), tops],
  )
  return rows.map((row) => ({ agentId: row.agent_id, top: row.top, at: row.created_at }))
}

/** When the page's last callback happened, or something before it; undefined where the page is not full. */
async function guessEnd(
  pool: Pool,
  search: CallbackSearch,
  heads: Head[],
): Promise<Date | undefined> {
  // One of each would fill the page already.
  const newest = heads.slice(0, search.limit)
  const { rows } = await pool.query<{ created_at: Date }>(
    `select y.created_at from unnest($1::bigint[], $6::bigint[]) a(agent_id, top)
     cross join lateral (
       select z.created_at from (${fitting(search.state, 'x.seq <= a.top', 'seq desc', '$7')}) z
       order by z.seq desc limit $7
     ) y order by y.created_at desc offset $7 - 1 limit 1`,
    [
      newest.map(({ agentId }) => agentId),
      ...valuesOf(search),
      newest.map(({ top }) => top),
      search.limit,
    ],
  )
  return rows[0]?.created_at
}

/** What fits among these numbers of these agents. */
async function readRanges(
  pool: Pool,
  search: CallbackSearch,
  ranges: { agentIds: readonly bigint[]; tops: bigint[]; bottoms: bigint[] },
  order: string,
): Promise<FoundCallback[]> {
  const between = 'x.seq <= a.top and x.seq > a.bottom'
  const page = `
    select y.* from unnest($1::bigint[], $6::bigint[], $7::bigint[]) a(agent_id, top, bottom)
    cross join lateral (${fitting(search.state, between, order, '$8')}) y
    order by ${order} limit $8`
  const { rows } = await pool.query<FoundRow>(withLatest(page, order), [
    ranges.agentIds,
    ...valuesOf(search),
    ranges.tops,
    ranges.bottoms,
    search.limit,
  ])
  return rows.map(foundFromRow)
}

/** Callbacks of agent `a` in a state, after the page before; for $2 to $5, see valuesOf. */
function fitting(state: string | undefined, among: string, order: string, limit: string): string {
  const branch = (each: string | undefined) => `(select x.* from callbacks x
    where x.agent_id = a.agent_id and ${conditionOf(each)} and ${among}
      and ($2::timestamptz is null or x.created_at <= $2)
      and ($3::timestamptz is null
        or (x.created_at, x.agent_id, x.seq) < ($3, $4::bigint, $5::bigint))
    order by ${order} limit ${limit})`
  return state === 'undelivered' ? undelivered.map(branch).join(' union all ') : branch(state)
}

function valuesOf({ until, after }: CallbackSearch): unknown[] {
  return [until ?? null, after?.time ?? null, after?.agentId ?? null, after?.seq ?? null]
}
