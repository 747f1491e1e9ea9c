import type { Pool } from '../db/pool.ts'
import type { LaneFigures } from '../providers/http/company-lane.ts'

/** How a connector has done in all processes that have made calls with it. */
export interface ConnectorFigures extends LaneFigures {
  processes: number
}

/** What a process tells counts for so long: after that the process has ended, or has had nothing to do. */
const keptMs = 86_400_000
/** A process that has not told for so long is not at it: what it has under way, and whether it pauses, is over. */
const presentMs = 60_000

/** Tells how calls go in a process, in the place of what it told before. */
export async function tellFigures(
  pool: Pool,
  process: string,
  figures: ReadonlyMap<string, LaneFigures>,
  at: Date,
): Promise<void> {
  await pool.query('delete from connector_figures where told_at < $1', [
    new Date(at.getTime() - keptMs),
  ])
  const all = [...figures.values()]
  await pool.query(
    `insert into connector_figures (connector, process, calls, failures, not_called, under_way,
       state, last_fault, last_fault_at, told_at)
     select c, $1, n, f, x, u, s, l, la, $2
     from unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[], $8::text[],
       $9::text[], $10::timestamptz[]) t(c, n, f, x, u, s, l, la)
     on conflict (connector, process) do update set calls = excluded.calls,
       failures = excluded.failures, not_called = excluded.not_called,
       under_way = excluded.under_way, state = excluded.state, last_fault = excluded.last_fault,
       last_fault_at = excluded.last_fault_at, told_at = excluded.told_at`,
    [
      process,
      at,
      [...figures.keys()],
      all.map(({ calls }) => calls),
      all.map(({ failures }) => failures),
      all.map(({ notCalled }) => notCalled),
      all.map(({ underWay }) => underWay),
      all.map(({ state }) => state),
      all.map(({ lastFault }) => lastFault?.replaceAll('\0', '').slice(0, 300) ?? null),
      all.map(({ lastFaultAt }) => lastFaultAt?.toISOString() ?? null),
    ],
  )
}

/** How each connector has done in all processes; only those that have made calls. */
export async function readFigures(pool: Pool, at: Date): Promise<Map<string, ConnectorFigures>> {
  const { rows } = await pool.query<{
    connector: string
    calls: number
    failures: number
    notCalled: number
    underWay: number
    isPaused: boolean
    isTrying: boolean
    lastFault: string | null
    lastFaultAt: Date | null
    processes: number
  }>(
    `select connector, sum(calls)::float8 as calls, sum(failures)::float8 as failures,
       sum(not_called)::float8 as "notCalled", count(*)::int as processes,
       coalesce(sum(under_way) filter (where told_at > $2), 0)::int as "underWay",
       coalesce(bool_or(state = 'paused') filter (where told_at > $2), false) as "isPaused",
       coalesce(bool_or(state = 'trying') filter (where told_at > $2), false) as "isTrying",
       (array_agg(last_fault order by last_fault_at desc nulls last))[1] as "lastFault",
       max(last_fault_at) as "lastFaultAt"
     from connector_figures where told_at > $1 group by connector`,
    [new Date(at.getTime() - keptMs), new Date(at.getTime() - presentMs)],
  )
  return new Map(
    rows.map(({ connector, isPaused, isTrying, ...figures }) => {
      const state = isPaused ? 'paused' : isTrying ? 'trying' : 'open'
      return [connector, { ...figures, state }]
    }),
  )
}
