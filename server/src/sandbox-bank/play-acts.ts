import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { playDepositAct, readDeposit } from './deposits.ts'
import { addCharge, addNotice } from './notices.ts'
import { canGo, lockPayout, outcomeOf, writeState } from './payouts.ts'
import { depositStories, payoutStories, plainPayout } from './stories.ts'

const actsAtOnce = 50

/** Plays every act that is due. Returns how many there were. */
export async function playDueActs(pool: Pool, now: Date): Promise<number> {
  let played = 0
  for (;;) {
    const count = await playSomeDueActs(pool, now)
    if (count === 0) return played
    played += count
  }
}

/**
 * Plays some acts. The changes, their notices and the fact that the acts were played are committed together.
 * Row locks keep other processes from playing the same acts or the next steps of their stories.
 */
function playSomeDueActs(pool: Pool, now: Date): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Act>(
      `update sandbox_bank.acts set played_at = $1 where act_no = any(array(
         select a.act_no from sandbox_bank.acts a
         where a.played_at is null and a.due_at <= $1 and not exists (
           select 1 from sandbox_bank.acts e where e.party = a.party
             and e.reference = a.reference and e.step < a.step and e.played_at is null)
         order by a.due_at limit $2 for update skip locked
       )) returning party, reference, step, due_at`,
      [now, actsAtOnce],
    )
    for (const act of rows) {
      await (act.party === 'deposit' ? playOfDeposit(tx, act, now) : playOfPayout(tx, act, now))
    }
    return rows.length
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
  const payout = await lockPayout(tx, reference)
  if (!payout) return
  const story = payoutStory(payout.story)
  const act = story?.acts[step]
  if (act && 'does' in act) {
    if (payout.state === 'paid') await addCharge(tx, { ...payout, reference }, now)
    return
  }
  // An act that a trigger has overtaken changes nothing and sends no notice.
  if (!act || !canGo(payout.state, act.state)) return
  await writeState(tx, reference, act.state)
  if (story.notices === 0) return
  const event = { reference, type: 'payout' as const, outcome: outcomeOf(act.state) }
  await addNotice(tx, event, now, story.notices)
}

export function payoutStory(name: string | null): typeof plainPayout | undefined {
  return name === null ? plainPayout : payoutStories[name]
}
