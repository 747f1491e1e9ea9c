import { forgetOldPlans, type Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import type { Lane } from './lane.ts'
import { type LaneRow, laneFromRow, lockLane } from './lane-row.ts'

/** How long a claim holds. Whoever does not report by then has lost it. */
export const leaseMs = 60_000

/** How long a later callback of an order waits for an earlier one. */
export const supersedeAfterMs = 15 * 60_000

export interface ClaimedCallback {
  agentId: bigint
  seq: bigint
  kind: OrderKind
  body: string
  /** Attempts before this one. */
  attempts: number
  createdAt: Date
  token: string
  leaseUntil: Date
}

export interface Claim {
  callbacks: ClaimedCallback[]
  lane: Lane
}

interface CallbackRow {
  seq: bigint
  kind: OrderKind
  body: string
  attempts: number
  created_at: Date
}

const makeLane = `insert into callback_lanes (agent_id, paused, width, failures)
  values ($1, false, $2, 0) on conflict do nothing`

/** An earlier outcome of the same order that may still reach the agent. */
const unfinishedEarlier = (states: string) => `select e.agent_id, e.seq
  from journal j
  join journal i on i.agent_id = j.agent_id and i.order_id = j.order_id and i.seq < j.seq
  join callbacks e on e.agent_id = i.agent_id and e.seq = i.seq
  where j.agent_id = c.agent_id and j.seq = c.seq and e.state in (${states})`

/**
 * After a quarter of an hour the later state goes first, and the earlier one is not sent any more.
 * It counts from when the later one came due, so that old outcomes can be sent again in their order.
 */
const supersede = `update callbacks e set state = 'superseded'
  where e.agent_id = $1 and e.state in ('waiting', 'no_address') and e.seq in (
    select earlier.seq from callbacks c, lateral (
      ${unfinishedEarlier("'waiting', 'no_address'")}
    ) earlier
    where c.agent_id = $1 and c.state = 'waiting' and c.follows and c.due_at <= $2
  )`

/**
 * Claims what is due, as much as the lane has room for: what other processes have under way counts.
 * What failed comes due later than the rest, so that one bad order cannot keep a probed lane closed.
 */
const claim = `update callbacks set state = 'sending', lease_token = $3, lease_until = $4
  where agent_id = $1 and seq in (
    select c.seq from callbacks c
    where c.agent_id = $1 and c.state = 'waiting' and c.due_at <= $2
      and (not c.follows or not exists (${unfinishedEarlier("'waiting', 'sending', 'no_address'")}))
    order by c.due_at
    limit (
      select case when l.paused or l.probe_at > $2 then 0 else greatest(0, least($6, least(l.width, $5)
        - (select count(*) from callbacks s where s.agent_id = $1 and s.state = 'sending'))) end
      from callback_lanes l where l.agent_id = $1
    )
    for update skip locked
  )
  returning seq, kind, body, attempts, created_at`

/** Claims an agent's due callbacks. All statements go out together: one round trip. */
export async function claimCallbacks(
  pool: Pool,
  agentId: bigint,
  options: { token: string; now: Date; most: number; widest: number; firstWidth: number },
): Promise<Claim> {
  const { token, now, most, widest, firstWidth } = options
  const leaseUntil = new Date(now.getTime() + leaseMs)
  const client = await pool.connect()
  let broken = true
  try {
    forgetOldPlans(client)
    const begun = client.query('begin')
    const made = client.query({
      name: 'make-lane',
      text: makeLane,
      values: [agentId, firstWidth],
    })
    const locked = client.query<LaneRow>({ name: 'lock-lane', text: lockLane, values: [agentId] })
    const superseded = client.query({
      name: 'supersede',
      text: supersede,
      values: [agentId, new Date(now.getTime() - supersedeAfterMs)],
    })
    const claimed = client.query<CallbackRow>({
      name: 'claim',
      text: claim,
      values: [agentId, now, token, leaseUntil, widest, most],
    })
    const committed = client.query('commit')
    await Promise.allSettled([begun, made, locked, superseded, claimed, committed])
    await Promise.all([begun, made, superseded, committed])
    const lane = (await locked).rows[0]
    if (!lane) throw new Error(`agent ${agentId} has no lane`)
    broken = false
    return {
      callbacks: (await claimed).rows
        .map((row) => ({
          agentId,
          seq: row.seq,
          kind: row.kind,
          body: row.body,
          attempts: row.attempts,
          createdAt: row.created_at,
          token,
          leaseUntil,
        }))
        .sort((a, b) => (a.seq < b.seq ? -1 : 1)),
      lane: laneFromRow(lane),
    }
  } finally {
    client.release(broken)
  }
}

/**
 * Agents that have something due. Also gives back what a process that died had claimed, and sets
 * going what had no address and has one now.
 */
export async function findDueAgents(pool: Pool, now: Date): Promise<bigint[]> {
  await pool.query(
    `update callbacks c set state = 'waiting', due_at = $1 from agents a
     where c.agent_id = a.agent_id and c.state = 'no_address' and c.kind = any(array[
       case when a.deposit_callback_url is not null then 'deposit' end,
       case when a.withdraw_callback_url is not null then 'withdraw' end])`,
    [now],
  )
  await pool.query(
    `update callbacks set state = 'waiting', due_at = $1, lease_token = null, lease_until = null
     where state = 'sending' and lease_until <= $1`,
    [now],
  )
  const { rows } = await pool.query<{ agent_id: bigint }>(
    `select a.agent_id from agents a
     left join callback_lanes l using (agent_id),
     lateral (
       select 1 from callbacks c
       where c.agent_id = a.agent_id and c.state = 'waiting' and c.due_at <= $1 limit 1
     ) due
     where not coalesce(l.paused, false) and (l.probe_at is null or l.probe_at <= $1)`,
    [now],
  )
  return rows.map(({ agent_id }) => agent_id)
}
