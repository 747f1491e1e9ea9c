import type { Pool } from '../db/pool.ts'
import { playDepositAct, readDeposit } from './deposits.ts'
import { inTransaction, type Tx } from './in-transaction.ts'
import { playPayoutAct } from './payouts.ts'
import { depositStories, payoutStories, plainPayout } from './stories.ts'

const playersAtOnce = 4

/** Plays every act that is due. Returns how many those were. */
export async function playDueActs(pool: Pool, now: Date): Promise<number> {
  if (!(await playDueAct(pool, now))) return 0
  const player = async () => {
    let played = 0
    while (await playDueAct(pool, now)) played++
    return played
  }
  const counts = await Promise.all(Array.from({ length: playersAtOnce }, player))
  return counts.reduce((sum, count) => sum + count, 1)
}

/**
 * Plays one act: what it changes, what is to be told of it and that it was played are written
 * together. The lock on its row keeps others from playing it, and from the next step of its story.
 */
function playDueAct(pool: Pool, now: Date): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Act>(
      `update sandbox_bank.acts set played_at = $1 where act_no = (
         select a.act_no from sandbox_bank.acts a
         where a.played_at is null and a.due_at <= $1 and not exists (
           select 1 from sandbox_bank.acts e where e.party = a.party
             and e.reference = a.reference and e.step < a.step and e.played_at is null)
         order by a.due_at limit 1 for update skip locked
       ) returning party, reference, step, due_at`,
      [now],
    )
    const act = rows[0]
    if (!act) return false
    await (act.party === 'deposit' ? playOfDeposit(tx, act, now) : playOfPayout(tx, act, now))
    return true
  })
}

interface Act {
  party: 'deposit' | 'payout'
  reference: string
  step: number
  due_at: Date
}

async function playOfDeposit(tx: Tx, { reference, step, due_at }: Act, now: Date): Promise<void> {
  const deposit = await readDeposit(tx, reference)
  const act = deposit && depositStories[deposit.story]?.acts[step]
  if (act) await playDepositAct(tx, deposit, act, due_at, now)
}

async function playOfPayout(tx: Tx, { reference, step }: Act, now: Date): Promise<void> {
  const { rows } = await tx.query<{ story: string | null }>(
    'select story from sandbox_bank.payouts where reference = $1',
    [reference],
  )
  const story = payoutStory(rows[0]?.story ?? null)
  const act = story?.acts[step]
  if (act) await playPayoutAct(tx, reference, act.state, story.notices, now)
}

export function payoutStory(name: string | null): typeof plainPayout | undefined {
  return name === null ? plainPayout : payoutStories[name]
}
