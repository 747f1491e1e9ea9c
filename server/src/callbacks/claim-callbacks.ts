import { stampOfAgent } from '../agents/agent-finder.ts'
import { databaseTime, timeToPass } from '../db/database-time.ts'
import { withClient } from '../db/in-transaction.ts'
import type { Pool, PoolClient } from '../db/pool.ts'
import { storedBody } from '../ledger/stored-body.ts'
import type { Clock } from '../lib/clock.ts'
import type { ClaimedCallback } from './claimed-callback.ts'
import { type EventEpochs, epochsOfAgent } from './event-epochs.ts'
import { lockLane } from './lane-row.ts'
import { Lease, leaseS } from './lease.ts'
import { packedCallbacks, unpackCallbacks } from './packed-callbacks.ts'

/** How long a later callback of an order waits for an earlier one. */
const supersedeAfterS = 15 * 60

export interface Claim {
  callbacks: ClaimedCallback[]
  /** The lane's turn after this claim. The next claim can pass it and needs no lock. */
  turn: bigint
  /** How many callbacks there was room for. If that many were claimed, more may be due. */
  room: number
  /** The lane has its full width and no recent failures. */
  healthy: boolean
  /** The current stamp of the agent and its secrets. */
  agentStamp: string
  epochs: EventEpochs
}

interface ClaimRow {
  turn: bigint
  healthy: boolean
  room: number
  agent_stamp: string
  packed: string | null
  epochs: string[]
}

const makeLane = `insert into callback_lanes (agent_id, paused, width, failed_seqs, turn)
  values ($1, false, $2, '{}', 0) on conflict do nothing`

/** The sequence numbers of an agent's claimed callbacks, as an SQL array. */
export function underWayOf(agentId: string): string {
  return `array(select unnest(k.seqs) from callback_claims k where k.agent_id = ${agentId})`
}

/**
 * Earlier outcomes of the same order that may still reach the agent. Each `offset 0` makes PostgreSQL look a
 * row up by its key before it goes on: left to choose, it may join all of an agent's rows with each other.
 */
const unfinishedEarlier = `select e.agent_id, e.seq
  from (select order_id from journal where agent_id = c.agent_id and seq = c.seq offset 0) j,
  lateral (
    select i.seq from journal i
    where i.agent_id = c.agent_id and i.order_id = j.order_id and i.seq < c.seq offset 0
  ) i
  join callbacks e on e.agent_id = c.agent_id and e.seq = i.seq
  where e.state in ('waiting', 'no_address')`

/**
 * After a quarter of an hour the later state goes first, and the earlier one is no longer sent. The time
 * counts from when the later one came due, so that old outcomes can be sent again in order. It does not run
 * while the agent's callbacks are paused: the earlier one gets its chance afterwards.
 */
const supersede = `with at as (
    select ${databaseTime('$2')} - interval '${supersedeAfterS} s' as overdue
  )
  update callbacks e set state = 'superseded'
  where e.agent_id = $1 and e.state in ('waiting', 'no_address') and e.seq = any(array(
    select earlier.seq from at, callback_lanes l, callbacks c, lateral (
      ${unfinishedEarlier} offset 0
    ) earlier
    where l.agent_id = $1 and not l.paused and (l.resumed_at is null or l.resumed_at <= at.overdue)
      and c.agent_id = $1 and c.state = 'waiting' and c.follows
      and c.due_at <= at.overdue and c.created_at <= at.overdue
    -- An agent whose address is dead may have any number; the rest is for the next claim.
    limit 1000
  )) and e.seq <> all(${underWayOf('$1')})`

/**
 * Claims an agent's due callbacks, as many as its lane has room for. Callbacks that this process has under
 * way count against the room, and so do the claims of other processes.
 *
 * Every claim increments the lane's turn. The count is correct if the caller holds the lane's lock or knows
 * the current turn: an unchanged turn means that no process has claimed since this statement began. A lane
 * that another process has locked is skipped, because other agents' claims wait behind this one.
 *
 * Failed callbacks come due later than the rest, so one bad order cannot keep a probed lane closed. A later
 * state is sent only once the end of the earlier one is on disk: its claim waits for the disk, and so for
 * everything written before it.
 */
const claim = `with at as (
    select ${databaseTime('$5')} as now
  ), free as (
    select agent_id from callback_lanes where agent_id = $1 and ($2::bigint is null or turn = $2)
    for no key update skip locked
  ), lane as (
    update callback_lanes l set turn = l.turn + 1
    where l.agent_id = $1 and ($2::bigint is null or l.turn = $2)
      and l.agent_id = any(array(select agent_id from free))
    returning l.turn, l.width >= $7 and l.failed_seqs = '{}' as healthy,
      case when l.paused or l.probe_at > (select now from at) then 0 else least($3, least(l.width, $7) - $4 - (
        select coalesce(sum(cardinality(k.seqs)), 0) from callback_claims k
        where k.agent_id = $1 and k.sender <> $6
      )) end::int as room
  ), due as (
    select c.seq, c.kind, c.attempts, ${storedBody} as body,
      date_part('epoch', c.created_at) * 1000 as created_at_ms,
      case when c.follows then set_config('synchronous_commit', 'on', true) end as flushed
    from callbacks c
    where c.agent_id = $1 and c.state = 'waiting' and c.due_at <= (select now from at)
      and c.seq <> all(${underWayOf('$1')})
      and (not c.follows or (select true from (${unfinishedEarlier}) earlier limit 1) is null)
    order by c.due_at
    limit coalesce((select greatest(0, room) from lane), 0)
  ), taken as (
    select array_agg(seq) as seqs, count(flushed) as flushed,
      ${packedCallbacks} as packed
    from due where body is not null
  ), claimed as (
    insert into callback_claims (agent_id, turn, sender, seqs, lease_until)
    select $1, turn, $6, seqs, now + interval '${leaseS} s' from lane, taken, at where seqs is not null
  )
  select l.turn, l.healthy, l.room, ${stampOfAgent} as agent_stamp, taken.packed,
    ${epochsOfAgent} as epochs
  from lane l, taken, agents a
  where a.agent_id = $1`

export interface ClaimOptions {
  /** The process that will send the claimed callbacks. */
  sender: string
  now: Clock
  widest: number
}

export interface Wanted {
  agentId: bigint
  /** The lane's turn as last seen, or null if the caller holds the lane's lock. */
  turn: bigint | null
  most: number
  /**
   * How many of the agent's callbacks this process is sending. It does not grow while the claim is under way.
   */
  underWay: number
}

/**
 * Claims the due callbacks of several agents, with one statement per agent, all pipelined on one connection.
 * Calls `onClaim` as each claim arrives, without a claim if another process has taken a turn or holds the
 * lane's lock.
 */
export async function claimAtTurns(
  pool: Pool,
  wanted: readonly Wanted[],
  options: ClaimOptions,
  onClaim: (wanted: Wanted, claim: Claim | undefined) => void,
): Promise<void> {
  await withClient(pool, async (client) => {
    const claims = await Promise.allSettled(
      wanted.map(async (each) => onClaim(each, await take(client, each, options))),
    )
    for (const each of claims) if (each.status === 'rejected') throw each.reason
  })
}

/**
 * Claims an agent's due callbacks whatever the lane's turn is. Creates the lane if it is missing and
 * supersedes overtaken states. All statements are pipelined in one round trip.
 */
export async function claimThoroughly(
  pool: Pool,
  { firstWidth, ...wanted }: Wanted & { firstWidth: number },
  options: ClaimOptions,
): Promise<Claim> {
  const { agentId } = wanted
  return withClient(pool, async (client) => {
    const at = timeToPass(options.now)
    // The database counts from the start of the transaction, so the lease starts before it.
    const lease = new Lease(options.now)
    const begun = client.query('begin')
    const made = client.query({ name: 'make-lane', text: makeLane, values: [agentId, firstWidth] })
    const locked = client.query({ name: 'lock-lane', text: lockLane, values: [agentId, at] })
    const superseded = client.query({
      name: 'supersede',
      text: supersede,
      values: [agentId, at],
    })
    const taken = take(client, { ...wanted, turn: null }, options, lease)
    const committed = client.query('commit')
    await Promise.allSettled([begun, made, locked, superseded, taken, committed])
    await Promise.all([begun, made, locked, superseded, committed])
    const claim = await taken
    if (!claim) throw new Error(`agent ${agentId} has no lane`)
    return claim
  })
}

async function take(
  client: PoolClient,
  { agentId, turn, most, underWay }: Wanted,
  options: ClaimOptions,
  lease = new Lease(options.now),
): Promise<Claim | undefined> {
  const { sender, now, widest } = options
  const { rows } = await client.query<ClaimRow>({
    name: 'claim',
    text: claim,
    values: [agentId, turn, most, underWay, timeToPass(now), sender, widest],
  })
  const [lane] = rows
  if (!lane) return undefined
  const { room, healthy, agent_stamp: agentStamp } = lane
  const callbacks = unpackCallbacks(lane.packed, { agentId, turn: lane.turn, lease })
  return { callbacks, turn: lane.turn, room, healthy, agentStamp, epochs: lane.epochs }
}
