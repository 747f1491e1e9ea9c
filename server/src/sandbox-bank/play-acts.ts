import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { type Deed, type Deposit, deedOnDeposit, readDeposits } from './deposits.ts'
import { addNotices, type ClaimedNotice, chargeFor, type NewNotice } from './notices.ts'
import { receiveTransfers, takeBack } from './payments.ts'
import {
  canGo,
  type LockedPayout,
  lockPayouts,
  outcomeOf,
  type PayoutState,
  writeStates,
} from './payouts.ts'
import { Refusal } from './refusal.ts'
import { depositStories, payoutStories, plainPayout } from './stories.ts'

/** Each of them is a few rows, and all of them a handful of statements. */
const actsAtOnce = 200

/** Sends notices, as many as it has room for. */
export interface Sending {
  readonly room: number
  start(notices: readonly ClaimedNotice[]): void
}

/**
 * Plays every act that is due. Returns how many there were, with the notices that are on their way. One that cannot be
 * played keeps no other from it: fewer and fewer are played together until it is alone.
 */
export async function playDueActs(
  pool: Pool,
  now: Clock,
  sending: Sending,
  onError: (error: unknown) => void,
): Promise<number> {
  let played = 0
  let most = actsAtOnce
  const failed: bigint[] = []
  for (;;) {
    const taken: Act[] = []
    try {
      const { count, notices } = await playSomeDueActs(pool, now, sending.room, {
        ...{ most, failed, taken },
      })
      sending.start(notices)
      if (count === 0) return played
      played += count + notices.length
    } catch (error) {
      const [first, second] = taken
      if (!first) throw error
      if (second) most = Math.ceil(taken.length / 2)
      else {
        failed.push(first.act_no)
        onError(error)
        most = actsAtOnce
      }
    }
  }
}

/**
 * Plays some acts. The changes, their notices and the fact that the acts were played are committed together.
 * Row locks keep other processes from playing the same acts or the next steps of their stories: at most one of
 * each reference is among them.
 */
function playSomeDueActs(
  pool: Pool,
  now: Clock,
  room: number,
  { most, failed, taken }: { most: number; failed: readonly bigint[]; taken: Act[] },
) {
  return inTransaction(pool, async (tx) => {
    const at = now()
    const { rows: acts } = await tx.query<Act>({
      name: 'bank-play',
      text: `update sandbox_bank.acts set played_at = $1 where act_no = any(array(
         select a.act_no from sandbox_bank.acts a
         where a.played_at is null and a.due_at <= $1 and a.act_no <> all($3::bigint[])
         and not exists (
           select 1 from sandbox_bank.acts e where e.party = a.party
             and e.reference = a.reference and e.step < a.step and e.played_at is null)
         order by a.due_at limit $2 for update skip locked
       )) returning act_no, party, reference, step, due_at`,
      values: [at, most, failed],
    })
    taken.push(...acts)
    const told = [...(await playOfDeposits(tx, acts, at)), ...(await playOfPayouts(tx, acts))]
    return { count: acts.length, notices: await addNotices(tx, told, now, room) }
  })
}

interface Act {
  act_no: bigint
  party: 'deposit' | 'payout'
  reference: string
  step: number
  due_at: Date
}

const referencesOf = (acts: readonly Act[]) => acts.map(({ reference }) => reference)

/** Returns what is to be told. */
async function playOfDeposits(tx: Tx, all: readonly Act[], now: Date): Promise<NewNotice[]> {
  const acts = all.filter(({ party }) => party === 'deposit')
  if (acts.length === 0) return []
  const deposits = await readDeposits(tx, referencesOf(acts))
  const deeds = acts.flatMap((act) => deedOf(deposits.get(act.reference), act))
  for (const deed of deeds) {
    // A trigger may have taken it back already.
    if ('takeBack' in deed) await takeBack(tx, { reference: deed.takeBack }, now).catch(ifRefused)
  }
  const received = deeds.flatMap((deed) => ('receive' in deed ? deed.receive : []))
  const events = [
    ...(await receiveTransfers(tx, received)),
    ...deeds.flatMap((deed) => ('tell' in deed ? deed.tell : [])),
  ]
  return events.map((event) => ({ event, copies: 1 }))
}

function deedOf(deposit: Deposit | undefined, { step, due_at }: Act): Deed[] {
  const act = deposit && depositStories[deposit.story]?.acts[step]
  return act ? [deedOnDeposit(deposit, act, due_at)] : []
}

function ifRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}

/** Returns what is to be told. */
async function playOfPayouts(tx: Tx, all: readonly Act[]): Promise<NewNotice[]> {
  const acts = all.filter(({ party }) => party === 'payout')
  if (acts.length === 0) return []
  const payouts = await lockPayouts(tx, referencesOf(acts))
  const played = acts.flatMap((act) => playOfPayout(payouts.get(act.reference), act))
  const changes = played.flatMap(({ change }) => change ?? [])
  if (changes.length > 0) await writeStates(tx, changes)
  return played.flatMap(({ notice }) => notice ?? [])
}

function playOfPayout(
  payout: LockedPayout | undefined,
  { step }: Act,
): { change?: { reference: string; state: PayoutState }; notice?: NewNotice }[] {
  if (!payout) return []
  const { reference, state } = payout
  const story = payoutStory(payout.story)
  const act = story?.acts[step]
  if (!act) return []
  if ('does' in act) return state === 'paid' ? [{ notice: once(chargeFor(payout)) }] : []
  // An act that a trigger has overtaken changes nothing and sends no notice.
  if (!canGo(state, act.state)) return []
  const change = { reference, state: act.state }
  if (story.notices === 0) return [{ change }]
  const event = { reference, type: 'payout' as const, outcome: outcomeOf(act.state) }
  return [{ change, notice: { event, copies: story.notices } }]
}

const once = (event: NewNotice['event']): NewNotice => ({ event, copies: 1 })

export function payoutStory(name: string | null): typeof plainPayout | undefined {
  return name === null ? plainPayout : payoutStories[name]
}
