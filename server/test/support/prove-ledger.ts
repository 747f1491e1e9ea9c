import type pg from 'pg'
import { isConnectionLost, type Pool } from '../../src/db/pool.ts'
import { verify } from '../../src/proof/verify.ts'

/** Every table that a proof reads. */
const tables = [
  'agents',
  'wallets',
  'journal',
  'orders',
  'callbacks',
  'callback_bodies',
  'payments',
  'payouts',
  'open_items',
]

/**
 * Proves the ledger, time and again: every agent of whom any row has been written since it was last
 * proved, however it was written. The others are, to the row, as they were then.
 */
export function ledgerProver(pool: Pool, owner: pg.Pool): () => Promise<void> {
  const proved = new Map<string, string>()
  const rowsOf = tables.map(
    (table) => `select agent_id, '${table}' as at, ctid, xmin from ${table}`,
  )
  const marks = `select app_id, mark from (
      select agent_id, sum(hashtextextended(concat_ws(' ', at, ctid, xmin), 0))::text as mark
      from (${rowsOf.join(' union all ')}) written group by agent_id
    ) marked left join agents using (agent_id)`
  return async () => {
    const { rows } = await owner.query<{ app_id: string | null; mark: string }>(marks)
    const changed = rows.filter(({ app_id, mark }) => !app_id || proved.get(app_id) !== mark)
    // Rows without an agent are for a proof of everything to find.
    const isWhole = changed.some(({ app_id }) => app_id === null) || changed.length === rows.length
    const proofs = isWhole
      ? await verifySurely(pool, {})
      : (
          await Promise.all(
            changed.map(({ app_id }) => verifySurely(pool, { appId: app_id ?? '' })),
          )
        ).flat()
    const lies = proofs.filter(({ finding }) => finding !== null)
    if (lies.length > 0) {
      throw new Error(`the ledger does not prove: ${lies.map((lie) => lie.finding).join('; ')}`)
    }
    for (const { app_id, mark } of changed) if (app_id) proved.set(app_id, mark)
  }
}

/** A proof that lost its connection has found nothing out: on a starved machine the database gives up on it. */
async function verifySurely(
  pool: Pool,
  options: Parameters<typeof verify>[1],
  tries = 5,
): ReturnType<typeof verify> {
  try {
    return await verify(pool, options)
  } catch (error) {
    if (tries === 1 || !isConnectionLost(error)) throw error
    return verifySurely(pool, options, tries - 1)
  }
}
