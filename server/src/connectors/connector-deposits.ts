import { databaseTime } from '../db/database-time.ts'
import type { Pool } from '../db/pool.ts'

/** A deposit that a connector was asked to expect. */
export interface ConnectorDeposit {
  agentId: bigint
  orderId: string
  connector: string
  use: number
  version: number
  /** What the company knows it by; null: our id. */
  code: string | null
  /** The company's own ids of it: more than one if it was asked for again. */
  theirIds: string[]
  madeAt: Date
  asks: number
  /** How often it is asked about. */
  everyS: number | null
}

const selected = `d.agent_id as "agentId", d.order_id as "orderId", d.connector, d.use, d.version, d.code,
  d.made_at as "madeAt", d.asks, d.every_s as "everyS",
  array(select i.their_id from connector_deposit_ids i where i.agent_id = d.agent_id
    and i.order_id = d.order_id and i.connector = d.connector order by i.their_id) as "theirIds"`

/**
 * Binds a deposit to a use of a connector before the company is called. Returns what it was bound to first: a
 * repetition is asked for in the same words.
 */
export async function bindDeposit(
  pool: Pool,
  deposit: Pick<
    ConnectorDeposit,
    'agentId' | 'orderId' | 'connector' | 'use' | 'version' | 'code' | 'madeAt'
  >,
): Promise<ConnectorDeposit & { isNew: boolean }> {
  const { agentId, orderId, connector, use, version, code, madeAt } = deposit
  const { rows } = await pool.query<{ calls: number }>(
    `insert into connector_deposits as d
       (agent_id, order_id, connector, use, version, code, made_at, asks, calls)
     values ($1, $2, $3, $4, $5, $6, $7, 0, 1)
     on conflict (agent_id, order_id, connector) do update set calls = d.calls + 1
     returning d.calls`,
    [agentId, orderId, connector, use, version, code, madeAt],
  )
  const bound = await findAskedDeposit(pool, deposit, connector)
  if (!bound) throw new Error('a deposit was not bound to its connector')
  return { ...bound, isNew: rows[0]?.calls === 1 }
}

/** A deposit as a connector was asked to expect it. */
export async function findAskedDeposit(
  pool: Pool,
  { agentId, orderId }: Pick<ConnectorDeposit, 'agentId' | 'orderId'>,
  connector: string,
): Promise<ConnectorDeposit | undefined> {
  const { rows } = await pool.query<ConnectorDeposit>(
    `select ${selected} from connector_deposits d
     where agent_id = $1 and order_id = $2 and connector = $3`,
    [agentId, orderId, connector],
  )
  return rows[0]
}

/**
 * Takes a deposit from a use that it was bound to a moment ago and of which the company has heard nothing. Returns false
 * if another request has been bound to it since, because the company may have heard of it by that one.
 */
export async function unbindDeposit(
  pool: Pool,
  { agentId, orderId, connector }: ConnectorDeposit,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from connector_deposits
     where agent_id = $1 and order_id = $2 and connector = $3 and calls = 1`,
    [agentId, orderId, connector],
  )
  return rowCount === 1
}

/**
 * Whether a company may have taken a deposit: one that was called more than once, or that is not among those that refused
 * it now, may have it from a call whose answer was lost.
 */
export async function mayBeTaken(
  pool: Pool,
  { agentId, orderId }: Pick<ConnectorDeposit, 'agentId' | 'orderId'>,
  refusedBy: readonly string[],
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select 1 from connector_deposits where agent_id = $1 and order_id = $2
       and (calls > 1 or connector <> all($3::text[])) limit 1`,
    [agentId, orderId, refusedBy],
  )
  return rowCount !== 0
}

/**
 * When to ask about a deposit next while the payer may pay any moment: steadily, and once more just before its end. What
 * is found after that is late unless the provider says when it was paid.
 */
export function nextAskMs(everyS: number, leftMs: number): number {
  const everyMs = everyS * 1_000
  return leftMs > 0 ? Math.min(everyMs, Math.max(1_000, leftMs - 1_000)) : everyMs
}

/**
 * Keeps the company's own id of a deposit beside those that it told before, and how often to ask about it. All ids are
 * kept: which of them the payer was shown is not known for sure. `leftMs` is the time until the deposit's end.
 */
export async function keepAsked(
  pool: Pool,
  { agentId, orderId, connector }: Pick<ConnectorDeposit, 'agentId' | 'orderId' | 'connector'>,
  theirId: string | null,
  everyS: number | null,
  leftMs: number,
  at: Date | null,
): Promise<void> {
  if (theirId !== null) {
    await pool.query(
      `insert into connector_deposit_ids (agent_id, order_id, connector, their_id)
       values ($1, $2, $3, $4) on conflict do nothing`,
      [agentId, orderId, connector, theirId],
    )
  }
  await pool.query(
    `update connector_deposits set every_s = $4::int,
       ask_at = ${databaseTime('$5')} + $6::double precision * interval '1 millisecond'
     where agent_id = $1 and order_id = $2 and connector = $3`,
    [agentId, orderId, connector, everyS, at, everyS === null ? null : nextAskMs(everyS, leftMs)],
  )
}

/**
 * Takes deposits that are due to be asked about. Whoever takes one has `leaseMs` for it; then another process may.
 */
export async function claimDueDeposits(
  pool: Pool,
  connectors: readonly string[],
  at: Date | null,
  leaseMs: number,
  limit: number,
): Promise<ConnectorDeposit[]> {
  const { rows: due } = await pool.query<ConnectorDeposit>(
    `select ${selected} from connector_deposits d
     where ask_at <= ${databaseTime('$2')} and connector = any($1) order by ask_at limit $3`,
    [connectors, at, limit],
  )
  const taken = await Promise.all(due.map((each) => claim(pool, each, at, leaseMs)))
  return taken.flat()
}

/** Takes one; nothing if another process did so since it was read. */
async function claim(
  pool: Pool,
  { agentId, orderId, connector, asks }: ConnectorDeposit,
  at: Date | null,
  leaseMs: number,
): Promise<ConnectorDeposit[]> {
  const { rows } = await pool.query<ConnectorDeposit>(
    `update connector_deposits d set asks = asks + 1,
       ask_at = ${databaseTime('$5')} + $6 * interval '1 millisecond'
     where agent_id = $1 and order_id = $2 and connector = $3 and asks = $4
       and ask_at is not null
     returning ${selected}`,
    [agentId, orderId, connector, asks, at, leaseMs],
  )
  return rows
}

/** Says when to ask about a deposit next; null if never again. */
export async function askDepositAgain(
  pool: Pool,
  { agentId, orderId, connector, asks }: ConnectorDeposit,
  askInMs: number | null,
  at: Date | null,
): Promise<void> {
  await pool.query(
    `update connector_deposits
     set ask_at = ${databaseTime('$6')} + $5::double precision * interval '1 millisecond'
     where agent_id = $1 and order_id = $2 and connector = $3 and asks = $4
       and ask_at is not null`,
    [agentId, orderId, connector, asks, askInMs, at],
  )
}

/** Forgets deposits that nobody asks about any more. */
export async function forgetDeposits(
  pool: Pool,
  before: Date,
  limit: number,
): Promise<'more' | 'done'> {
  const { rowCount } = await pool.query(
    `delete from connector_deposits d using (
       select agent_id, order_id, connector from connector_deposits
       where ask_at is null and made_at < $1 order by made_at limit $2) old
     where d.agent_id = old.agent_id and d.order_id = old.order_id
       and d.connector = old.connector`,
    [before, limit],
  )
  return (rowCount ?? 0) >= limit ? 'more' : 'done'
}
