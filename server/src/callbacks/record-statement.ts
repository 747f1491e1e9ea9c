/**
 * Builds the statement that records a batch of results. The obvious way takes three statements per result
 * (update the claim, update the callback, insert the attempt), and a statement costs nearly the same for one
 * row as for fifty. So every column is an array, which makes 18 parameters:
 * - $2 to $11 have one element per result. $12 to $17 have one element per run of equal answers, and $11 maps
 *   each result to its answer. Receivers mostly give the same answer to every callback, so this saves 2 µs of
 *   the sender and 2 µs of PostgreSQL per result (see docs/performance.md).
 * - The array literals are written here, because pg would check every value for characters to quote, which
 *   takes 1.3 instead of 0.4 µs of the sender per result.
 */
import { databaseTime, timeToPass } from '../db/database-time.ts'
import type { Clock } from '../lib/clock.ts'
import { newOrderId } from '../lib/ids.ts'
import { type Outcome, stateAfter } from './outcome.ts'
import type { Attempt } from './post-callback.ts'

/**
 * Guarded by the claim: a process that returns after its lease has ended changes nothing, but its attempt is
 * kept. A claim is deleted with the last of its callbacks. A callback for which a resend was requested during
 * the attempt is due again at once.
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

/** Returns the statement for results that are sorted by key. */
export function recordStatement(
  outcomes: readonly Outcome[],
  { sender, now, random }: { sender: string; now: Clock; random: () => number },
): { name: string; text: string; values: unknown[] } {
  const values = [timeToPass(now), ...columnsOf(outcomes, now(), random), sender]
  return { name: 'record', text: record, values }
}

/** The statement's columns: one element per result, and one per run of equal answers. */
function columnsOf(outcomes: readonly Outcome[], at: Date, random: () => number): unknown[] {
  const columns = Array.from({ length: 10 }, () => [] as Plain[])
  const answers: Attempt[] = []
  for (const outcome of outcomes) {
    const { callback, attempt } = outcome
    const { state, delayMs, attempts } = stateAfter(outcome, at, random())
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
    for (let n = 0; n < row.length; n++) columns[n]?.push(row[n])
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

/** Receivers mostly give the same answer to every callback. */
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
 * Numbers, ids, times and base64 need no quoting, and checking for it would cost more than everything else.
 * Addresses and JSON contain no control characters, so JSON quoting is valid for them here.
 */
function plainArray(values: readonly Plain[]): string {
  return `{${values.map((value) => (value === '' ? '""' : (value ?? 'null'))).join(',')}}`
}

type Plain = bigint | number | string | null | undefined
