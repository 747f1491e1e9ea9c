import type pg from 'pg'
import { isConnectionLost, openPool, type Pool } from '../../src/db/pool.ts'
import { prepareReads } from '../../src/db/prepare-reads.ts'
import { verify } from '../../src/proof/verify.ts'

/** Every table that a proof reads. */
const tables = [
  'agents',
  'wallets',
  'journal',
  'clearings',
  'orders',
  'callbacks',
  'callback_bodies',
  'payments',
  'payouts',
  'open_items',
]

export interface LedgerProver {
  /**
   * Proves every agent of whom any row has been written since it was last proved, however it was written: the
   * others are, to the row, as they were then. Proves what holds across agents too if a book of the house has changed,
   * or if it is asked for.
   */
  prove(what?: 'also across agents'): Promise<void>
  /** What a proof of everything finds, for tests that lie: as `prove` does across agents, and it proves nothing. */
  findings(): Promise<string[]>
  /** Proves what holds across agents as well, if `prove` left it out. */
  proveRest(): Promise<void>
  close(): Promise<void>
}

/** Proves with the service's own login, at `url`. */
export function ledgerProver(url: string, owner: pg.Pool): LedgerProver {
  const pool = preparingPool(url)
  const proved = new Map<string, string>()
  let isRestOwed = false
  const rowsOf = tables.map(
    (table) => `select agent_id, '${table}' as at, ctid, xmin from ${table}`,
  )
  const marks = `select agent_id::text, app_id, mark from (
      select agent_id, sum(hashtextextended(concat_ws(' ', at, ctid, xmin), 0))::text as mark
      from (${rowsOf.join(' union all ')}) written group by agent_id
    ) marked left join agents using (agent_id)`
  const findingsOf = async (options: Parameters<typeof verify>[1][]) => {
    const proofs: Awaited<ReturnType<typeof verify>> = []
    for (const each of options) proofs.push(...(await verifySurely(pool, each)))
    return proofs.flatMap(({ finding }) => finding ?? [])
  }
  const verifyAll = async (options: Parameters<typeof verify>[1][]) => {
    const findings = await findingsOf(options)
    if (findings.length > 0) throw new Error(`the ledger does not prove: ${findings.join('; ')}`)
  }
  /** The agents of whom anything was written since they were proved, and those who are as they were. */
  const readMarks = async () => {
    const { rows } = await owner.query<{ agent_id: string; app_id: string | null; mark: string }>(
      marks,
    )
    const changed = rows.filter(({ agent_id, mark }) => proved.get(agent_id) !== mark)
    const asBefore = rows.filter((row) => !changed.includes(row))
    return { changed, asBefore: new Set(asBefore.flatMap((row) => row.app_id ?? [])) }
  }
  return {
    async findings() {
      const { asBefore } = await readMarks()
      return findingsOf([{ except: asBefore }])
    },
    async prove(what) {
      const { changed, asBefore } = await readMarks()
      const appIds = changed.flatMap(({ app_id }) => app_id ?? [])
      // Books of the house, and rows without an agent, are for a proof of what holds across agents.
      const isWhole = what !== undefined || appIds.length < changed.length
      await verifyAll(isWhole ? [{ except: asBefore }] : appIds.map((appId) => ({ appId })))
      isRestOwed = !isWhole
      for (const { agent_id, mark } of changed) proved.set(agent_id, mark)
    },
    async proveRest() {
      if (isRestOwed) await verifyAll([{}])
      isRestOwed = false
    },
    close: () => pool.end(),
  }
}

/** One connection that plans every statement once: small books are proved again and again. */
function preparingPool(url: string): Pool {
  const settings = { plan_cache_mode: 'force_generic_plan' }
  return prepareReads(openPool({ url, max: 1, name: 'prover', onError: () => {}, settings }))
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
