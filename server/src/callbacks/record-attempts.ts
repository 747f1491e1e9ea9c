import { timeToPass } from '../db/database-time.ts'
import { withClient } from '../db/in-transaction.ts'
import type { Pool, PoolClient } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { laneAfter } from './lane.ts'
import { type LaneRow, laneFromRow, lockLane } from './lane-row.ts'
import type { Outcome } from './outcome.ts'
import { recordStatement } from './record-statement.ts'

/**
 * After a missing address, the lane's mark is cleared: an address may have been set since the claim, and the
 * next poll checks.
 */
const updateLane = `update callback_lanes set width = $2, failed_seqs = $3, probe_at = $4,
    probe_every_s = $5, why = $6, addressed = case when $7 then '{}' else addressed end
  where agent_id = $1`

export interface RecordOptions {
  /**
   * The process that made the claim. A database that lost its latest commits may issue the same turn twice.
   */
  sender: string
  now: Clock
  widest: number
  random: () => number
  /** Whether the lane need not be written as long as nothing fails. */
  isHealthy: (agentId: bigint) => boolean
}

/** Records the results of attempts, all of them or none. */
export async function recordAttempts(
  pool: Pool,
  results: readonly Outcome[],
  options: RecordOptions,
): Promise<void> {
  const outcomes = inKeyOrder(results)
  const statement = recordStatement(outcomes, options)
  const changes = laneChanges(outcomes, options)
  await withClient(pool, async (client) => {
    if (changes.length > 0) await client.query('begin')
    for (const change of changes) await changeLane(client, change, options)
    await client.query(statement)
    if (changes.length > 0) await client.query('commit')
  })
}

async function changeLane(
  client: PoolClient,
  { agentId, results, hadNoAddress }: LaneChange,
  { widest, now }: RecordOptions,
): Promise<void> {
  const { rows } = await client.query<LaneRow>(lockLane, [agentId, timeToPass(now)])
  const [row] = rows
  if (!row) return
  let lane = laneFromRow(row)
  for (const result of results) lane = laneAfter(lane, result, widest, row.now)
  await client.query(updateLane, [
    agentId,
    lane.width,
    lane.failedSeqs,
    lane.probeAt,
    lane.probeEveryS,
    lane.why,
    hadNoAddress,
  ])
}

/** Every process locks rows in this order, which prevents deadlocks. */
function inKeyOrder(outcomes: readonly Outcome[]): Outcome[] {
  return [...outcomes].sort(({ callback: a }, { callback: b }) => {
    if (a.agentId !== b.agentId) return a.agentId < b.agentId ? -1 : 1
    return a.seq < b.seq ? -1 : 1
  })
}

interface LaneChange {
  agentId: bigint
  results: { seq: bigint; error: string | null }[]
  hadNoAddress: boolean
}

/** The outcomes that can change a lane, grouped by agent in id order. */
function laneChanges(
  outcomes: readonly Outcome[],
  { isHealthy }: RecordOptions,
): readonly LaneChange[] {
  const byAgent = new Map<bigint, LaneChange>()
  for (const { callback, attempt } of outcomes) {
    const { agentId, seq } = callback
    const own = byAgent.get(agentId) ?? { agentId, results: [], hadNoAddress: false }
    byAgent.set(agentId, own)
    if (attempt === 'no_address') own.hadNoAddress = true
    else if (attempt !== 'not_sent') own.results.push({ seq, error: attempt.error })
  }
  return [...byAgent.values()]
    .filter(
      ({ agentId, results, hadNoAddress }) =>
        hadNoAddress ||
        results.some(({ error }) => error !== null) ||
        (results.length > 0 && !isHealthy(agentId)),
    )
    .sort((a, b) => (a.agentId < b.agentId ? -1 : 1))
}
