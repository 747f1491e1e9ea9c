import { forgetOldPlans, type Pool, type PoolClient } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import type { ClaimedCallback } from './claim-callbacks.ts'
import { laneAfter } from './lane.ts'
import { type LaneRow, laneFromRow, lockLane } from './lane-row.ts'
import type { Attempt } from './post-callback.ts'
import { nextDelayMs, parseRetryAfter } from './schedule.ts'

/** What became of a claimed callback: an attempt, or no address to send it to. */
export interface Outcome {
  callback: ClaimedCallback
  attempt: Attempt | 'no_address' | 'not_sent'
}

/**
 * Guarded by the claim: a process that comes back after its lease has ended changes nothing, but its
 * attempt is kept. One that was asked to be sent again meanwhile goes out again at once.
 */
const record = `with mine as (
    delete from callback_claims k using (
      select *, state in ('delivered', 'exhausted') as ended
      from unnest($2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::timestamptz[], $7::int[])
        x(agent_id, seq, token, state, due_at, attempts)
    ) u
    where k.agent_id = u.agent_id and k.seq = u.seq and k.token = u.token
    returning u.agent_id, u.seq, u.state, u.due_at, u.attempts, u.ended
  ), changed as (
    update callbacks c set
      state = case when c.again > 0 and u.ended then 'waiting' else u.state end,
      due_at = case when u.ended then $1 else u.due_at end,
      attempts = case when c.again > 0 and u.ended then 0 else u.attempts end,
      again = case when u.ended then greatest(c.again - 1, 0) else c.again end,
      delivered_at = case when u.state = 'delivered' then $1 else c.delivered_at end
    from mine u
    where c.agent_id = u.agent_id and c.seq = u.seq
  )
  insert into callback_attempts (agent_id, seq, attempt_id, started_at, duration_ms, url, address,
    status, response_headers, response_body, error)
  select agent_id, seq, attempt_id, started_at, duration_ms, url, address, status, response_headers,
    decode(response_body, 'base64'), error
  from unnest($2::bigint[], $3::bigint[], $8::uuid[], $9::timestamptz[], $10::int[], $11::text[],
    $12::text[], $13::int[], $14::text[], $15::text[], $16::text[])
    y(agent_id, seq, attempt_id, started_at, duration_ms, url, address, status, response_headers,
      response_body, error)
  where attempt_id is not null`

const updateLane = `update callback_lanes set width = $2, failed_seqs = $3, probe_at = $4,
    probe_every_s = $5, why = $6 where agent_id = $1`

export interface RecordOptions {
  now: Date
  widest: number
  random: () => number
  /** Whether nothing need be written of a lane as long as nothing fails. */
  isHealthy: (agentId: bigint) => boolean
}

/** Writes down what attempts came to, all of it or nothing. */
export async function recordAttempts(
  pool: Pool,
  results: readonly Outcome[],
  options: RecordOptions,
): Promise<void> {
  const outcomes = inKeyOrder(results)
  const values = [options.now, ...columnsOf(outcomes, options)]
  const statement = { name: 'record', text: record, values }
  const changes = laneChanges(outcomes, options)
  const client = await pool.connect()
  let broken = true
  try {
    forgetOldPlans(client)
    if (changes.length === 0) {
      await client.query(statement)
    } else {
      await client.query('begin')
      for (const [agentId, own] of changes) {
        await changeLane(client, agentId, own, options)
      }
      await client.query(statement)
      await client.query('commit')
    }
    broken = false
  } finally {
    client.release(broken)
  }
}

async function changeLane(
  client: PoolClient,
  agentId: bigint,
  results: readonly LaneResult[],
  { widest, now }: RecordOptions,
): Promise<void> {
  const { rows } = await client.query<LaneRow>(lockLane, [agentId])
  if (!rows[0]) return
  let lane = laneFromRow(rows[0])
  for (const result of results) lane = laneAfter(lane, result, widest, now)
  await client.query(updateLane, [
    agentId,
    lane.width,
    lane.failedSeqs,
    lane.probeAt,
    lane.probeEveryS,
    lane.why,
  ])
}

/** Whoever takes several rows takes them in this order, so that nobody waits in a circle. */
function inKeyOrder(outcomes: readonly Outcome[]): Outcome[] {
  return [...outcomes].sort(
    (a, b) =>
      Number(a.callback.agentId - b.callback.agentId) || Number(a.callback.seq - b.callback.seq),
  )
}

/** The columns that the statement takes, row by row. */
function columnsOf(outcomes: readonly Outcome[], { now, random }: RecordOptions): unknown[] {
  const after = outcomes.map(({ callback, attempt }) =>
    stateAfter(callback, attempt, now, random()),
  )
  const made = outcomes.map(({ attempt }) => (typeof attempt === 'string' ? undefined : attempt))
  return [
    plainArray(outcomes.map(({ callback }) => callback.agentId)),
    plainArray(outcomes.map(({ callback }) => callback.seq)),
    plainArray(outcomes.map(({ callback }) => callback.token)),
    plainArray(after.map(({ state }) => state)),
    plainArray(after.map(({ dueAt }) => dueAt?.toISOString())),
    plainArray(after.map(({ attempts }) => attempts)),
    plainArray(made.map((each) => each && newOrderId(each.startedAt))),
    plainArray(made.map((each) => each?.startedAt.toISOString())),
    plainArray(made.map((each) => each?.durationMs)),
    plainArray(made.map((each) => each && JSON.stringify(each.url))),
    plainArray(made.map((each) => each?.address)),
    plainArray(made.map((each) => each?.status)),
    plainArray(made.map((each) => each?.responseHeaders && JSON.stringify(each.responseHeaders))),
    plainArray(made.map((each) => each?.responseBody?.toString('base64'))),
    made.map((each) => each?.error),
  ]
}

/**
 * Numbers, ids, times and base64 need no quotes, and looking for what to quote costs more than all else.
 * An address and JSON hold no control characters, so that JSON's quotes are right for them here too.
 */
function plainArray(values: readonly (bigint | number | string | null | undefined)[]): string {
  return `{${values.map((value) => (value === '' ? '""' : (value ?? 'null'))).join(',')}}`
}

interface LaneResult {
  seq: bigint
  error: string | null
}

/** The results that can change a lane, by agent in id order. */
function laneChanges(outcomes: readonly Outcome[], { isHealthy }: RecordOptions) {
  const byAgent = new Map<bigint, LaneResult[]>()
  for (const { callback, attempt } of outcomes) {
    if (typeof attempt === 'string') continue
    const own = byAgent.get(callback.agentId) ?? []
    own.push({ seq: callback.seq, error: attempt.error })
    byAgent.set(callback.agentId, own)
  }
  return [...byAgent]
    .filter(([agentId, own]) => !isHealthy(agentId) || own.some(({ error }) => error !== null))
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** What has ended has no time at which it is due. */
function stateAfter(
  callback: ClaimedCallback,
  attempt: Outcome['attempt'],
  now: Date,
  random: number,
): { state: string; dueAt: Date | undefined; attempts: number } {
  const { attempts } = callback
  if (attempt === 'no_address') return { state: 'no_address', dueAt: now, attempts }
  if (attempt === 'not_sent') return { state: 'waiting', dueAt: now, attempts }
  if (attempt.error === null) {
    return { state: 'delivered', dueAt: undefined, attempts: attempts + 1 }
  }
  const asked = parseRetryAfter(attempt.retryAfter, now)
  const delayMs = nextDelayMs(attempts + 1, asked, random)
  return delayMs === undefined
    ? { state: 'exhausted', dueAt: undefined, attempts: attempts + 1 }
    : { state: 'waiting', dueAt: new Date(now.getTime() + delayMs), attempts: attempts + 1 }
}
