import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'

/** An agent's currency never changes, so it is read once. */
const known = new WeakMap<Pool, Map<bigint, Currency>>()

export async function currencyOf(pool: Pool, agentId: bigint): Promise<Currency | undefined> {
  const ofPool = known.get(pool) ?? new Map<bigint, Currency>()
  known.set(pool, ofPool)
  const cached = ofPool.get(agentId)
  if (cached) return cached
  const { rows } = await pool.query<{ currency: Currency }>(
    'select currency from agents where agent_id = $1',
    [agentId],
  )
  if (rows[0]) ofPool.set(agentId, rows[0].currency)
  return rows[0]?.currency
}
