import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'

/**
 * Counts an amount that is believed because of a token alone. Returns false, and counts nothing, if a day (UTC) would
 * have more than `most`. What is counted and then fails for another reason stays counted: that errs towards asking.
 */
export async function believeToken(
  pool: Pool,
  what: { connector: string; currency: Currency; amountMinor: bigint; most: bigint },
  at: Date,
): Promise<boolean> {
  const { connector, currency, amountMinor, most } = what
  if (amountMinor <= 0n || amountMinor > most) return false
  const { rowCount } = await pool.query(
    `insert into connector_token_days as d (connector, currency, day, believed)
     values ($1, $2, $3, $4)
     on conflict (connector, currency, day) do update set believed = d.believed + excluded.believed
       where d.believed + excluded.believed <= $5`,
    [connector, currency, at.toISOString().slice(0, 10), amountMinor, most],
  )
  return rowCount === 1
}
