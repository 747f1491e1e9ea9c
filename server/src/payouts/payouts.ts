import { columns } from '../db/columns.ts'
import { databaseTime } from '../db/database-time.ts'
import type { Pool } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import { handedColumns, orderColumns } from '../ledger/book-columns.ts'
import type { PayoutState } from '../ledger/payout-state.ts'

/** One attempt to pay out a withdrawal. */
export interface PayoutAttempt {
  agentId: bigint
  orderId: string
  attempt: number
  provider: string
  reference: string
  /** The connector's version, and its use, that it was handed over with. */
  version: number | null
  use: number | null
  state: PayoutState
  handedAt: Date
  asks: number
  askAt: Date | null
  /** Increases with every claim. A process that read an older number is too late. */
  turn: number
  said: string | null
  evidence: string | null
  /** The provider's own id of it. */
  theirId: string | null
  /** Nothing of it has left for the provider. A claim ends this, because its holder may send it. */
  unsent: boolean
}

const payoutColumns = columns<PayoutAttempt>({
  ...handedColumns.pick(
    'agentId',
    'orderId',
    'attempt',
    'provider',
    'reference',
    'version',
    'use',
    'handedAt',
  ).description,
  state: ['state', 'text'],
  asks: ['asks', 'int'],
  askAt: ['ask_at', 'timestamptz', 'null'],
  turn: ['turn', 'int'],
  said: ['said', 'text', 'null'],
  evidence: ['evidence', 'text', 'null'],
  theirId: ['their_id', 'text', 'null'],
  unsent: ['unsent', 'boolean'],
})

/** The columns of `payouts p`. */
const selected = payoutColumns.select('p')

/** Agents with a withdrawal that no provider has. */
export async function findAgentsToHandOver(pool: Pool): Promise<bigint[]> {
  const { rows } = await pool.query<{ agent_id: bigint }>(
    `select w.agent_id from wallets w cross join lateral (
       select 1 from orders o
       where o.agent_id = w.agent_id and o.status = 'WAITING' and o.kind = 'withdraw'
         and o.handed_over_at is null
       limit 1
     ) x`,
  )
  return rows.map(({ agent_id }) => agent_id)
}

/**
 * Withdrawals of an agent that no provider has, in order of id after the given one. Those created less than
 * `headStartMs` ago are left to the process that created them; a creation time in the future comes from a
 * wrong clock.
 */
export async function findToHandOver(
  pool: Pool,
  agentId: bigint,
  after: string,
  at: Date | null,
  headStartMs: number,
  limit: number,
): Promise<Order[]> {
  const { rows } = await pool.query<Order>(
    `select ${orderColumns.select('o')} from orders o
     where agent_id = $1 and order_id > $2
       and status = 'WAITING' and kind = 'withdraw' and handed_over_at is null
       and (created_at <= ${databaseTime('$3')} - $4 * interval '1 millisecond'
         or created_at > ${databaseTime('$3')})
     order by order_id limit $5`,
    [agentId, after, at, headStartMs, limit],
  )
  return rows
}

/**
 * Payouts to ask a provider about now, the longest due first. If more are due than that, each agent gets its share, so
 * that those of one agent do not hold up the others'.
 */
export async function findDuePayouts(
  pool: Pool,
  provider: string,
  at: Date | null,
  limit: number,
): Promise<PayoutAttempt[]> {
  const isDue = `p.provider = $1 and p.ask_at <= ${databaseTime('$2')}`
  const { rows } = await pool.query<PayoutAttempt>(
    `select ${selected} from payouts p where ${isDue} order by p.ask_at limit $3`,
    [provider, at, limit],
  )
  if (rows.length < limit) return rows
  const { rows: fair } = await pool.query<PayoutAttempt>(
    `select d.* from wallets w cross join lateral (
       select ${selected}, row_number() over (order by p.ask_at) as nth from payouts p
       where p.agent_id = w.agent_id and ${isDue} order by p.ask_at limit $3
     ) d order by d.nth, d."askAt" limit $3`,
    [provider, at, limit],
  )
  return fair
}

/** Payouts that are due at providers that are not configured. */
export async function findStrandedPayouts(
  pool: Pool,
  setUp: readonly string[],
  at: Date | null,
  limit: number,
): Promise<PayoutAttempt[]> {
  const { rows } = await pool.query<PayoutAttempt>(
    `select ${selected} from payouts p where provider <> all($1::text[]) and ask_at <= ${databaseTime('$2')}
     limit $3`,
    [setUp, at, limit],
  )
  return rows
}

/**
 * Claims a payout for a limited time, to ask about it or to hand it over again. Returns undefined if another
 * process has claimed it since it was read.
 */
export async function claimPayout(
  pool: Pool,
  payout: PayoutAttempt,
  next: Pick<PayoutAttempt, 'state' | 'asks'>,
  at: Date | null,
  leaseMs: number,
): Promise<PayoutAttempt | undefined> {
  const { rows } = await pool.query<PayoutAttempt>({
    name: 'claim-payout',
    text: `update payouts p set state = $5, asks = $6, turn = turn + 1, unsent = false,
       ask_at = ${databaseTime('$7')} + $8 * interval '1 millisecond'
     where agent_id = $1 and order_id = $2 and attempt = $3 and turn = $4 and ask_at is not null
     returning ${selected}`,
    values: [
      payout.agentId,
      payout.orderId,
      payout.attempt,
      payout.turn,
      next.state,
      next.asks,
      at,
      leaseMs,
    ],
  })
  return rows[0]
}

/** Whether a provider is being called with a payout, for all that is known. */
export async function isBeingHanded(
  pool: Pool,
  { agentId, orderId, attempt }: PayoutAttempt,
  at: Date | null,
): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from payouts where agent_id = $1 and order_id = $2 and attempt = $3
       and state = 'handed' and ask_at > ${databaseTime('$4')}`,
    [agentId, orderId, attempt, at],
  )
  return rows.length > 0
}

/**
 * Prevents processes from handing a payout over for a limited time, including one that has just asked about
 * it. Returns false if the provider is being called with it and may be paying it.
 */
export async function holdPayout(
  pool: Pool,
  payout: PayoutAttempt,
  at: Date | null,
  holdMs: number,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update payouts set ask_at = ${databaseTime('$4')} + $5 * interval '1 millisecond',
       turn = turn + 1
     where agent_id = $1 and order_id = $2 and attempt = $3
       and ask_at is not null and (state <> 'handed' or ask_at <= ${databaseTime('$4')})`,
    [payout.agentId, payout.orderId, payout.attempt, at, holdMs],
  )
  return rowCount === 1
}

/** A payout's state and, while it is open, when to ask about it next. */
export interface KnownOfPayout {
  state: PayoutState
  askInMs: number | null
  said: string | null
  evidence?: string
  unsent?: boolean
}

/**
 * Saves a payout's state. A final state stays, unless a person confirms that it was paid or a paid one is
 * returned; an open state is saved only by the process that holds the claim.
 */
export async function savePayout(
  pool: Pool,
  payout: Pick<PayoutAttempt, 'agentId' | 'orderId' | 'attempt' | 'turn'>,
  what: KnownOfPayout,
  at: Date | null,
): Promise<void> {
  await pool.query({
    name: 'save-payout',
    text: `update payouts set state = $4, turn = turn + 1, said = coalesce($6, said),
       ask_at = ${databaseTime('$9')} + $5::double precision * interval '1 millisecond',
       evidence = coalesce($7::text, evidence), unsent = $10
     where agent_id = $1 and order_id = $2 and attempt = $3
       and (ask_at is not null or (state = 'paid' and $4 = 'returned')
         or (state in ('rejected', 'cancelled') and $4 = 'paid' and $7::text is not null))
       and ($5::double precision is null or turn = $8)`,
    values: [
      payout.agentId,
      payout.orderId,
      payout.attempt,
      what.state,
      what.askInMs,
      // A provider's text may contain anything, and PostgreSQL accepts no NUL.
      what.said?.replaceAll('\0', '').slice(0, 1_000) ?? null,
      what.evidence ?? null,
      payout.turn,
      at,
      what.unsent ?? false,
    ],
  })
}

export async function findPayout(
  pool: Pool,
  agentId: bigint,
  provider: string,
  reference: string,
): Promise<PayoutAttempt | undefined> {
  const { rows } = await pool.query<PayoutAttempt>({
    name: 'find-payout',
    text: `select ${selected} from payouts p where agent_id = $1 and provider = $2 and reference = $3`,
    values: [agentId, provider, reference],
  })
  return rows[0]
}

export async function payoutsOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<PayoutAttempt[]> {
  const { rows } = await pool.query<PayoutAttempt>(
    `select ${selected} from payouts p where agent_id = $1 and order_id = $2 order by attempt`,
    [agentId, orderId],
  )
  return rows
}

/** Payouts whose outcome is not known, oldest first. */
export async function listOpenPayouts(
  pool: Pool,
  filter: { agentId: bigint | null; state: PayoutState | null; limit: number },
): Promise<PayoutAttempt[]> {
  const { rows } = await pool.query<PayoutAttempt>(
    `select ${selected} from payouts p
     where ask_at is not null and ($1::bigint is null or agent_id = $1)
       and ($2::text is null or state = $2)
     order by handed_at limit $3`,
    [filter.agentId, filter.state, filter.limit],
  )
  return rows
}

/**
 * Keeps the provider's own id of a payout; the first one is asked by. Returns what is wrong with it, in words: an id that
 * is another payout's already, or a second one, because the provider may have made two payouts of one.
 */
export async function keepTheirId(
  pool: Pool,
  { agentId, orderId, attempt, provider, reference, use }: PayoutAttempt,
  theirId: string,
): Promise<string | undefined> {
  const { rows: uses } = await pool.query<{ same_since: number }>(
    'select same_since from connector_uses where connector = $1 and n = $2',
    [provider, use],
  )
  const sameSince = uses[0]?.same_since ?? 0
  const { rowCount: isNew } = await pool.query(
    `insert into payout_ids (provider, their_id, same_since, agent_id, order_id, attempt)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [provider, theirId, sameSince, agentId, orderId, attempt],
  )
  // Of 0 it is not known which account it is of.
  const { rows: others } = await pool.query(
    `select 1 from payout_ids where provider = $1 and their_id = $2 and same_since in ($3, 0)
       and (agent_id, order_id, attempt) is distinct from ($4, $5::uuid, $6)`,
    [provider, theirId, sameSince, agentId, orderId, attempt],
  )
  if (others.length > 0) {
    return `${provider} answered about ${reference} with the id of another payout, ${theirId}.`
  }
  const { rows } = await pool.query<{ their_id: string }>(
    `update payouts set their_id = coalesce(their_id, $4)
     where agent_id = $1 and order_id = $2 and attempt = $3 returning their_id`,
    [agentId, orderId, attempt, theirId],
  )
  const first = rows[0]?.their_id ?? theirId
  if (first === theirId || isNew !== 1) return undefined
  return `${provider} has two ids of ${reference}, ${first} and ${theirId}: it may pay it twice.`
}

/** Why a refusal of a payout is not believed, in words: it may be of one of two payouts that its provider made of it. */
export async function whyInDoubt(
  pool: Pool,
  { agentId, orderId, attempt, provider, reference }: PayoutAttempt,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ their_id: string }>(
    `select distinct their_id from payout_ids where agent_id = $1 and order_id = $2
       and attempt = $3 and provider = $4 order by their_id`,
    [agentId, orderId, attempt, provider],
  )
  if (rows.length < 2) return undefined
  const ids = rows.map(({ their_id }) => their_id).join(' and ')
  return `${provider} has two ids of ${reference}, ${ids}: find out about both, then run sluice payout resolve.`
}

/** How many payouts are open in each state, and the age of the oldest. */
export async function countOpenPayouts(
  pool: Pool,
): Promise<{ state: PayoutState; count: number; oldest: Date }[]> {
  const { rows } = await pool.query<{ state: PayoutState; count: bigint; oldest: Date }>(
    `select state, count(*) as count, min(handed_at) as oldest
     from payouts where ask_at is not null group by state`,
  )
  return rows.map(({ state, count, oldest }) => ({ state, count: Number(count), oldest }))
}
