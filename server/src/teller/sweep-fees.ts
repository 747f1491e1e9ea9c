import { sweepKey } from '../ledger/decide-house.ts'
import { houseBook } from '../ledger/house.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import type { Desk } from './desk.ts'

/** What was moved from one agent's book to the house's. */
export interface Swept {
  agentId: bigint
  currency: Currency
  feesMinor: bigint
  costsMinor: bigint
}

/** The day before the one that contains a moment, as `YYYY-MM-DD` in the service's time zone. */
export function dayBefore(at: Date, localTime: LocalTime): string {
  const midnight = Date.parse(`${localTime(at).slice(0, 10)}T00:00:00Z`)
  return new Date(midnight - 86_400_000).toISOString().slice(0, 10)
}

/**
 * Moves the fees and costs of some agents to the house, in order of their ids. Each agent's book is swept once
 * a day, and not at all if there is nothing to move. `next` is where the following page begins; null after
 * the last one.
 */
export async function sweepPage(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  { day, after, limit }: { day: string; after: bigint; limit: number },
): Promise<{ swept: Swept[]; next: bigint | null }> {
  const { rows } = await desk.pool.query<{ agent_id: bigint; currency: Currency }>(
    `select w.agent_id, w.currency from wallets w
     where w.agent_id > $1 and (w.fees <> 0 or w.costs <> 0) and not exists (
       select 1 from journal j where j.agent_id = w.agent_id and j.once_key = $2)
     order by w.agent_id limit $3`,
    [after, sweepKey({ day }), limit],
  )
  const swept: Swept[] = []
  // One after the other: they all change the book of the house.
  for (const { agent_id: agentId, currency } of rows) {
    const houseId = houseBook(currency)
    const { changed } = await desk.teller.do({
      type: 'sweep',
      agentId,
      houseId,
      day,
      at: desk.now(),
    })
    const row = changed && (await readJournalByKey(desk.pool, agentId, sweepKey({ day })))
    if (!row) continue
    const { fees, costs } = row.change
    swept.push({ agentId, currency, feesMinor: -fees, costsMinor: -costs })
  }
  return { swept, next: rows.length < limit ? null : (rows.at(-1)?.agent_id ?? null) }
}
