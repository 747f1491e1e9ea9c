import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../support/load.ts'
import { allPages } from './all-pages.ts'
import type { ChaosLoad } from './load.ts'
import type { ToldOrder } from './model.ts'
import type { World } from './world.ts'

/** Less than what a signature may be off, with room for clocks that were moved. */
const stepMs = 240_000
/** How many steps may pass in a row without anything coming to its end. */
const idleSteps = 20

/**
 * Lets everything come to its end: what waits for a time, for its agent, or for somebody to hear.
 * Returns what does not.
 */
export async function settle(world: World, load: ChaosLoad): Promise<string[]> {
  for (const { receiver } of world.agents) receiver.heal()
  let open: Open[] = []
  let fewest = Number.POSITIVE_INFINITY
  for (let idle = 0; idle < idleSteps; idle++) {
    await endWithdrawals(world, load)
    for (let look = 0; look < 8; look++) {
      open = await whatIsOpen(world).catch((error) => [{ what: String(error), count: fewest }])
      if (open.length === 0) return []
      await pause(250)
    }
    const left = open.reduce((sum, { count }) => sum + count, 0)
    if (left < fewest) idle = 0
    fewest = Math.min(fewest, left)
    await world.pass(stepMs)
  }
  const words = open.map(({ what, count }) => `${count} ${what}`)
  return [`this does not come to an end: ${words.join(', ')}`, await openWithdrawals(world)]
}

/** How far withdrawals have come, by us and by the bank. */
async function openWithdrawals(world: World): Promise<string> {
  const { rows } = await world.asOwner((owner) =>
    owner.query(
      `select o.*, p.state as payout, p.said, p.asks, p.ask_at, b.state as at_bank, b.story,
         (select jsonb_agg(n) from sandbox_bank.notices n where n.reference = p.reference) as notices
       from sluice.orders o
       left join sluice.payouts p using (agent_id, order_id)
       left join sandbox_bank.payouts b on b.reference = p.reference
       where o.status = 'WAITING' or p.ask_at is not null limit 5`,
    ),
  )
  return JSON.stringify(rows, null, 1)
}

/** Those that the bank, or we, keep waiting until somebody says what is to become of them. */
async function endWithdrawals(world: World, load: ChaosLoad): Promise<void> {
  const random = seeded(1)
  for (const agent of world.agents) {
    const path = '/payment/orders?status=WAITING&kind=withdraw'
    const waiting = await allPages<ToldOrder>(world, agent, path)
    for (const { txn_id, ref_id } of waiting) {
      const placed = load.placed.find((each) => each.agent === agent && each.refId === ref_id)
      const { story, refundOf } = placed?.asked[0]?.wish ?? {}
      // A refund of what was taken back is not sent again by itself if the bank never got it.
      if (story !== 'slow' && story !== 'queued' && !refundOf) continue
      const cancel = () =>
        load.send(agent, `/payment/orders/${txn_id}/cancel`, undefined, random, 'POST')
      // A trigger that was broken off may have taken it to the bank already.
      if (story === 'queued' && random() < 0.5 && (await cancel())?.status === 200) continue
      await load.send(agent, `/sandbox/orders/${txn_id}`, { outcome: 'PAID' }, random)
    }
  }
}

interface Open {
  what: string
  count: number
}

async function whatIsOpen(world: World): Promise<Open[]> {
  const { rows } = await world.asOwner((owner) =>
    owner.query<Open>(
      `select what, count(*)::int from (
         select 'orders that wait' as what from sluice.orders where status = 'WAITING'
         union all select 'callbacks' from sluice.callbacks where state = 'waiting'
         union all select 'payouts' from sluice.payouts where ask_at is not null
         union all select 'acts of the bank' from sandbox_bank.acts where played_at is null
         union all select 'notices of the bank' from sandbox_bank.notices where copies_left > 0
       ) open group by what`,
    ),
  )
  return rows
}
