import { sweepKey } from '../ledger/decide-house.ts'
import { houseBook } from '../ledger/house.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import { localTimeIn, startOfDay } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from './desk.ts'

/** What was moved from one agent's book to the house's. */
export interface Swept {
  agentId: bigint
  currency: Currency
  feesMinor: bigint
  costsMinor: bigint
}

/** The day before the one that contains a moment, in a time zone, and when it ended. */
export function dayBefore(at: Date, timeZone: string): { day: string; end: Date } {
  const end = startOfDay(at, timeZone)
  const day = localTimeIn(timeZone)(new Date(end.getTime() - 1)).slice(0, 10)
  return { day, end }
}

interface SweepPage {
  day: string
  /** The page begins after this agent. */
  after: bigint
  limit: number
  /** Leaves out books that began at this time or later. */
  begunBefore?: Date
}

/**
 * Moves the fees and costs of some agents to the house, in order of their ids. Each agent's book is swept once
 * a day, and not at all if there is nothing to move. `next` is where the following page begins; null after
 * the last one. `heldUp` are those whose book could not be reached in time.
 */
export async function sweepPage(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  { day, after, limit, begunBefore }: SweepPage,
): Promise<{ swept: Swept[]; next: bigint | null; heldUp: bigint[] }> {
  const { rows } = await desk.pool.query<{ agent_id: bigint; currency: Currency }>(
    `select w.agent_id, w.currency from wallets w
     where w.agent_id > $1 and (w.fees <> 0 or w.costs <> 0) and not exists (
       select 1 from journal j where j.agent_id = w.agent_id and j.once_key = $2)
     and not exists (
       select 1 from journal j where j.agent_id = w.agent_id and j.seq = 1 and j.at >= $4)
     order by w.agent_id limit $3`,
    [after, sweepKey({ day }), limit, begunBefore ?? null],
  )
  const swept: Swept[] = []
  const heldUp: bigint[] = []
  // One after the other: they all change the book of the house.
  for (const { agent_id: agentId, currency } of rows) {
    const houseId = houseBook(currency)
    const sweeping = desk.teller.do({ type: 'sweep', agentId, houseId, day, at: desk.now() })
    // One book that cannot be swept must not keep the others from it.
    const { changed } = await sweeping.catch((error) => {
      if (!(error instanceof Problem)) throw error
      if (error.status >= 500) heldUp.push(agentId)
      return { changed: false }
    })
    const row = changed && (await readJournalByKey(desk.pool, agentId, sweepKey({ day })))
    if (!row) continue
    const { fees, costs } = row.change
    swept.push({ agentId, currency, feesMinor: -fees, costsMinor: -costs })
  }
  return { swept, next: rows.length < limit ? null : (rows.at(-1)?.agent_id ?? null), heldUp }
}

const pageSize = 50
/** Clocks of other processes may be behind: by now they have all reached the new day. */
const settledMs = 10 * 60_000

/**
 * Sweeps every agent's book once a day, a page at a time. A book that began today has nothing of yesterday.
 * The day is over for ten minutes before the first sweep, so that no sweep is near the moment for which
 * people ask.
 */
export class FeeSweeper {
  private readonly desk: Pick<Desk, 'pool' | 'teller' | 'now'>
  private readonly timeZone: string
  private day = ''
  private next: bigint | null = null
  private isAnyHeldUp = false

  constructor(desk: Pick<Desk, 'pool' | 'teller' | 'now'>, timeZone: string) {
    this.desk = desk
    this.timeZone = timeZone
  }

  async poll(): Promise<'done' | 'more'> {
    const at = new Date(this.desk.now().getTime() - settledMs)
    const { day, end } = dayBefore(at, this.timeZone)
    if (day !== this.day) {
      this.day = day
      this.next = 0n
    }
    if (this.next === null) return 'done'
    const page = { day, after: this.next, limit: pageSize, begunBefore: end }
    const { next, heldUp } = await sweepPage(this.desk, page)
    this.isAnyHeldUp ||= heldUp.length > 0
    this.next = next
    if (next !== null) return 'more'
    // Those are looked for once more, after a pause.
    if (this.isAnyHeldUp) this.next = 0n
    this.isAnyHeldUp = false
    return 'done'
  }
}
