import { forgetOldPlans, type Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import type { ClaimedCallback } from './claim-callbacks.ts'
import { type Lane, laneAfter } from './lane.ts'
import { type LaneRow, laneFromRow, lockLane } from './lane-row.ts'
import type { Attempt } from './post-callback.ts'
import { nextDelayMs, parseRetryAfter } from './schedule.ts'

/** What became of a claimed callback: an attempt, or no address to send it to. */
export interface Outcome {
  callback: ClaimedCallback
  attempt: Attempt | 'no_address' | 'not_sent'
}

const insertAttempts = `insert into callback_attempts (agent_id, seq, attempt_id, started_at,
    duration_ms, url, address, status, response_headers, response_body, error)
  select a, s, i, t, d, u, ad, st, h, decode(b, 'base64'), e
  from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::int[], $6::text[],
    $7::text[], $8::int[], $9::text[], $10::text[], $11::text[])
    x(a, s, i, t, d, u, ad, st, h, b, e)`

/**
 * Guarded by the token: a process that comes back after its lease has ended changes nothing. One
 * that was asked to be sent again meanwhile goes out again at once.
 */
const updateCallbacks = `update callbacks c set
    state = case when c.again > 0 and u.state in ('delivered', 'exhausted') then 'waiting' else u.state end,
    due_at = case when c.again > 0 and u.state in ('delivered', 'exhausted') then u.now else u.due_at end,
    attempts = case when c.again > 0 and u.state in ('delivered', 'exhausted') then 0 else u.attempts end,
    again = case when u.state in ('delivered', 'exhausted') then greatest(c.again - 1, 0) else c.again end,
    delivered_at = case when u.state = 'delivered' then u.now else c.delivered_at end,
    lease_token = null, lease_until = null
  from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::int[],
    $7::timestamptz[]) u(agent_id, seq, token, state, due_at, attempts, now)
  where c.agent_id = u.agent_id and c.seq = u.seq and c.state = 'sending' and c.lease_token = u.token
  returning c.agent_id, c.state`

const updateLane = `update callback_lanes set width = $2, failures = $3, last_failed_seq = $4,
    probe_at = $5, probe_every_s = $6, why = $7 where agent_id = $1`

export interface RecordOptions {
  now: Date
  widest: number
  random: () => number
  /** What the lanes looked like when they were claimed: a healthy one needs no writing. */
  laneOf: (agentId: bigint) => Lane | undefined
}

/** Writes down what attempts came to, in one transaction. */
export async function recordAttempts(
  pool: Pool,
  outcomes: readonly Outcome[],
  options: RecordOptions,
): Promise<void> {
  const { now, random } = options
  const client = await pool.connect()
  let broken = true
  try {
    forgetOldPlans(client)
    await client.query('begin')
    for (const [agentId, own] of laneChanges(outcomes, options)) {
      const { rows } = await client.query<LaneRow>(lockLane, [agentId])
      if (!rows[0]) continue
      let lane = laneFromRow(rows[0])
      for (const result of own) lane = laneAfter(lane, result, options.widest, now)
      await client.query(updateLane, [
        agentId,
        lane.width,
        lane.failures,
        lane.lastFailedSeq,
        lane.probeAt,
        lane.probeEveryS,
        lane.why,
      ])
    }
    const made = outcomes.flatMap(({ callback, attempt }) =>
      typeof attempt === 'string' ? [] : [{ callback, attempt }],
    )
    if (made.length > 0) {
      await client.query({
        name: 'insert-attempts',
        text: insertAttempts,
        values: columns(
          made.map(({ callback, attempt }) => [
            callback.agentId,
            callback.seq,
            newOrderId(attempt.startedAt),
            attempt.startedAt.toISOString(),
            attempt.durationMs,
            attempt.url,
            attempt.address,
            attempt.status,
            attempt.responseHeaders,
            attempt.responseBody?.toString('base64') ?? null,
            attempt.error,
          ]),
        ),
      })
    }
    await client.query({
      name: 'update-callbacks',
      text: updateCallbacks,
      values: columns(
        outcomes.map(({ callback, attempt }) => {
          const { state, dueAt, attempts } = stateAfter(callback, attempt, now, random())
          return [
            callback.agentId,
            callback.seq,
            callback.token,
            state,
            dueAt.toISOString(),
            attempts,
            now.toISOString(),
          ]
        }),
      ),
    })
    await client.query('commit')
    broken = false
  } finally {
    client.release(broken)
  }
}

/** The results that can change a lane, by agent in id order. */
function laneChanges(outcomes: readonly Outcome[], { laneOf, widest }: RecordOptions) {
  const byAgent = new Map<bigint, { seq: bigint; error: string | null }[]>()
  for (const { callback, attempt } of outcomes) {
    if (typeof attempt === 'string') continue
    const own = byAgent.get(callback.agentId) ?? []
    own.push({ seq: callback.seq, error: attempt.error })
    byAgent.set(callback.agentId, own)
  }
  return [...byAgent]
    .filter(([agentId, own]) => {
      const lane = laneOf(agentId)
      const isHealthy = lane && lane.width >= widest && lane.failures === 0
      return !isHealthy || own.some(({ error }) => error !== null)
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function stateAfter(
  callback: ClaimedCallback,
  attempt: Outcome['attempt'],
  now: Date,
  random: number,
): { state: string; dueAt: Date; attempts: number } {
  const { attempts } = callback
  if (attempt === 'no_address') return { state: 'no_address', dueAt: now, attempts }
  if (attempt === 'not_sent') return { state: 'waiting', dueAt: now, attempts }
  if (attempt.error === null) return { state: 'delivered', dueAt: now, attempts: attempts + 1 }
  const asked = parseRetryAfter(attempt.retryAfter, now)
  const delayMs = nextDelayMs(attempts + 1, asked, random)
  return delayMs === undefined
    ? { state: 'exhausted', dueAt: now, attempts: attempts + 1 }
    : { state: 'waiting', dueAt: new Date(now.getTime() + delayMs), attempts: attempts + 1 }
}

function columns(rows: unknown[][]): unknown[][] {
  return (rows[0] ?? []).map((_, at) => rows.map((row) => row[at]))
}
