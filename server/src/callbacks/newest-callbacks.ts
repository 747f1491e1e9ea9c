import type { Pool } from '../db/pool.ts'
import { archivedSeqs } from '../ledger/archived.ts'
import { seqsAsOf } from '../ledger/wallet-as-of.ts'
import { type CallbackSearch, conditionOf, undelivered } from './callback-search.ts'
import { type FoundCallback, type FoundRow, foundFromRow, withLatest } from './found-callback.ts'

/** Finds callbacks of some agents, newest first. */
export function newestCallbacks(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  return search.agentIds.length === 1 ? newestOfOne(pool, search) : newestOfAll(pool, search)
}

/** Sorts one agent's callbacks by sequence number, which is always in order. */
function newestOfOne(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  const { agentIds, after } = search
  const range = { tops: [after ? after.seq - 1n : maxSeq], bottoms: [0n] }
  return readRanges(pool, { ...search, after: undefined }, { agentIds, ...range }, 'seq desc')
}

const maxSeq = 9_223_372_036_854_775_807n

/**
 * How far the times of one agent's callbacks may deviate from the order of their sequence numbers. Every
 * process has its own clock; `sluice doctor` reports clocks that are further off.
 */
const clocksDifferMs = 60_000

/**
 * No index sorts the callbacks of all agents by time. But within each agent, sequence numbers follow time to
 * within a minute. So this converts a time into a sequence number per agent, guesses where the page ends from
 * the newest few of each agent, and reads everything between the previous page and that end, with a minute's
 * margin on both sides.
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
  // Archived rows have no known times, and few callbacks are left there.
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

/** An agent's newest matching callback, by sequence number. */
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

/** A time at or before the page's last callback; undefined if the page is not full. */
async function guessEnd(
  pool: Pool,
  search: CallbackSearch,
  heads: Head[],
): Promise<Date | undefined> {
  // One callback from each of these agents would already fill the page.
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

/** Reads the matching callbacks within these agents' sequence ranges. */
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

/** Callbacks of agent `a` in a state, after the previous page; valuesOf supplies $2 to $5. */
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
