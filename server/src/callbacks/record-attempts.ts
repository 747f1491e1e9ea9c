import { databaseTime, timeToPass } from '../db/database-time.ts'
import { withClient } from '../db/in-transaction.ts'
import { forgetOldPlans, type Pool, type PoolClient } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
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
 * attempt is kept. A claim goes with the last of its callbacks. One that was asked to be sent again
 * meanwhile goes out again at once.
 */
const record = `with told as (
    select x.*, now, now + delay_ms * interval '1 ms' as due_at, state in ('delivered', 'exhausted') as ended
    from (select ${databaseTime('$1')} as now) at,
      unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::int[], $7::int[])
        x(agent_id, seq, turn, state, delay_ms, attempts)
  ), told_of as (
    select agent_id, turn, array_agg(seq) as seqs from told group by agent_id, turn
  ), let_go as (
    delete from callback_claims k using told_of u
    where k.agent_id = u.agent_id and k.turn = u.turn and k.sender = $18 and k.seqs <@ u.seqs
    returning k.agent_id, k.turn, k.seqs
  ), kept as (
    update callback_claims k
    set seqs = array(select unnest(k.seqs) except select unnest(u.seqs))
    from told_of u, callback_claims before
    where k.agent_id = u.agent_id and k.turn = u.turn and k.sender = $18
      and not k.seqs <@ u.seqs
      and before.agent_id = u.agent_id and before.turn = u.turn
    returning k.agent_id, k.turn, before.seqs
  ), held as (
    select * from let_go union all select * from kept
  ), changed as (
    update callbacks c set
      state = case when c.again > 0 and u.ended then 'waiting' else u.state end,
      due_at = u.due_at,
      attempts = case when c.again > 0 and u.ended then 0 else u.attempts end,
      again = case when u.ended then greatest(c.again - 1, 0) else c.again end,
      delivered_at = case when u.state = 'delivered' then u.now else c.delivered_at end
    from told u, held h
    where h.agent_id = u.agent_id and h.turn = u.turn and u.seq = any(h.seqs)
      and c.agent_id = u.agent_id and c.seq = u.seq
  )
  insert into callback_attempts (agent_id, seq, attempt_id, started_at, duration_ms, url, address,
    status, response_headers, response_body, error)
  select agent_id, seq, attempt_id, to_timestamp(started_ms / 1000), duration_ms, ($12::text[])[n],
    ($13::text[])[n], ($14::int[])[n], ($15::text[])[n], decode(($16::text[])[n], 'base64'),
    ($17::text[])[n]
  from unnest($2::bigint[], $3::bigint[], $8::uuid[], $9::float8[], $10::int[], $11::int[])
    y(agent_id, seq, attempt_id, started_ms, duration_ms, n)
  where attempt_id is not null`

/** Where there was no address, it may have been set since the callback was claimed: the next poll looks. */
const updateLane = `update callback_lanes set width = $2, failed_seqs = $3, probe_at = $4,
    probe_every_s = $5, why = $6, addressed = case when $7 then '{}' else addressed end
  where agent_id = $1`

export interface RecordOptions {
  /** The process that claimed: a database that lost its last moments may give a turn out again. */
  sender: string
  now: Clock
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
  const values = [timeToPass(options.now), ...columnsOf(outcomes, options), options.sender]
  const statement = { name: 'record', text: record, values }
  const changes = laneChanges(outcomes, options)
  await withClient(pool, async (client) => {
    forgetOldPlans(client)
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

/** Whoever takes several rows takes them in this order, so that nobody waits in a circle. */
function inKeyOrder(outcomes: readonly Outcome[]): Outcome[] {
  return [...outcomes].sort(({ callback: a }, { callback: b }) => {
    if (a.agentId !== b.agentId) return a.agentId < b.agentId ? -1 : 1
    return a.seq < b.seq ? -1 : 1
  })
}

/** The columns that the statement takes: row by row, and of the answers each one that differs from the last. */
function columnsOf(outcomes: readonly Outcome[], { now, random }: RecordOptions): unknown[] {
  const columns = Array.from({ length: 10 }, () => [] as Plain[])
  const answers: Attempt[] = []
  const at = now()
  for (const { callback, attempt } of outcomes) {
    const { state, delayMs, attempts } = stateAfter(callback, attempt, at, random())
    const made = typeof attempt === 'string' ? undefined : attempt
    const last = answers.at(-1)
    if (made && !(last && isSameAnswer(made, last))) answers.push(made)
    const row = [
      callback.agentId,
      callback.seq,
      callback.turn,
      state,
      delayMs,
      attempts,
      made && newOrderId(made.startedAt),
      made?.startedAt.getTime(),
      made?.durationMs,
      answers.length,
    ]
    for (let at = 0; at < row.length; at++) columns[at]?.push(row[at])
  }
  return [
    ...columns.map(plainArray),
    plainArray(answers.map(({ url }) => JSON.stringify(url))),
    plainArray(answers.map(({ address }) => address)),
    plainArray(answers.map(({ status }) => status)),
    plainArray(answers.map((each) => each.responseHeaders && JSON.stringify(each.responseHeaders))),
    plainArray(answers.map(({ responseBody }) => responseBody?.toString('base64'))),
    answers.map(({ error }) => error),
  ]
}

/** Receivers mostly say the same to every callback. */
function isSameAnswer(a: Attempt, b: Attempt): boolean {
  return (
    a.url === b.url &&
    a.address === b.address &&
    a.status === b.status &&
    a.responseHeaders === b.responseHeaders &&
    a.error === b.error &&
    (a.responseBody === b.responseBody ||
      (a.responseBody !== null && b.responseBody !== null && a.responseBody.equals(b.responseBody)))
  )
}

/**
 * Numbers, ids, times and base64 need no quotes, and looking for what to quote costs more than all else.
 * An address and JSON hold no control characters, so that JSON's quotes are right for them here too.
 */
function plainArray(values: readonly Plain[]): string {
  return `{${values.map((value) => (value === '' ? '""' : (value ?? 'null'))).join(',')}}`
}

type Plain = bigint | number | string | null | undefined

interface LaneChange {
  agentId: bigint
  results: { seq: bigint; error: string | null }[]
  hadNoAddress: boolean
}

/** What can change a lane, by agent in id order. */
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

/** What becomes of a callback, and how long from now it is due. */
function stateAfter(
  callback: ClaimedCallback,
  attempt: Outcome['attempt'],
  now: Date,
  random: number,
): { state: string; delayMs: number; attempts: number } {
  const { attempts } = callback
  if (attempt === 'no_address') return { state: 'no_address', delayMs: 0, attempts }
  if (attempt === 'not_sent') return { state: 'waiting', delayMs: 0, attempts }
  if (attempt.error === null) {
    return { state: 'delivered', delayMs: 0, attempts: attempts + 1 }
  }
  const asked = parseRetryAfter(attempt.retryAfter, now)
  const delayMs = nextDelayMs(attempts + 1, asked, random)
  return delayMs === undefined
    ? { state: 'exhausted', delayMs: 0, attempts: attempts + 1 }
    : { state: 'waiting', delayMs, attempts: attempts + 1 }
}
