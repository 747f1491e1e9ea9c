import type { Order } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { txnId } from '../lib/ids.ts'
import { inParallel } from '../lib/in-parallel.ts'
import type { PayoutOutcome, Provider } from '../providers/provider.ts'
import { askAbout, handOver, type PayoutDesk, settle } from './pay-out.ts'
import { type PayoutAttempt, payoutsOfOrder } from './payouts.ts'
import { type Difference, type Hold, noteAsked, noteDifference, openHold } from './restore-hold.ts'

const atOnce = 8
const pageSize = 200

/** How often an order may have been passed on in the time that was lost. */
const mostAttempts = 5

/**
 * Asks all providers about the withdrawals that waited when the database was restored, once. What a provider has of
 * them is handed over to it here, under the reference that it knows, and nothing is sent.
 */
export async function askAfterRestore(
  desk: PayoutDesk,
  onError: (error: unknown) => void,
): Promise<void> {
  const hold = await openHold(desk.pool)
  if (!hold || hold.askedAt !== null) return
  await desk.providers.freshen()
  const note = (difference: Difference) =>
    noteDifference(desk.pool, hold.restoreId, difference, desk.now())
  let failed = false
  for await (const page of waitingSince(desk, hold)) {
    await inParallel(atOnce, page, (order) =>
      askAboutOrder(desk, order, note).catch((error) => {
        failed = true
        onError(error)
      }),
    )
  }
  // What could not be asked because of a fault of ours is asked again.
  if (failed) return
  for (const { name } of payersOf(desk)) {
    await note({
      subject: `unknown payouts at ${name}`,
      words: `${name} may have payouts of orders that were created and lost since ${hold.since.toISOString()}: lay its own list beside the orders here, and book what is missing as adjustments.`,
    })
  }
  await noteAsked(desk.pool, hold.restoreId, desk.now())
}

async function* waitingSince(desk: PayoutDesk, hold: Hold): AsyncGenerator<Order[]> {
  const { rows: agents } = await desk.pool.query<{ agent_id: bigint }>(
    'select agent_id from wallets where agent_id > 0 order by agent_id',
  )
  for (const { agent_id: agentId } of agents) {
    let after = '0'.repeat(32)
    for (;;) {
      const { rows } = await desk.pool.query<{ order_id: string }>(
        `select order_id from orders where agent_id = $1 and order_id > $2 and status = 'WAITING'
           and kind = 'withdraw' and created_at <= $3 order by order_id limit $4`,
        [agentId, after, hold.markedAt, pageSize],
      )
      const found = await Promise.all(
        rows.map(({ order_id }) => findOrder(desk.pool, agentId, order_id)),
      )
      yield found.filter((order) => order !== undefined)
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) break
      after = last.order_id
    }
  }
}

function payersOf({ providers }: PayoutDesk): Provider[] {
  return providers.all.filter((each) => each.can.payouts && !each.paysByFile)
}

/**
 * Goes the way that an order went in the time that was lost: to the provider that has it and, if that one refused it, on
 * to the next that does.
 */
async function askAboutOrder(
  desk: PayoutDesk,
  { agentId, orderId }: Order,
  note: (difference: Difference) => Promise<void>,
): Promise<void> {
  const txn = txnId(agentId, orderId)
  for (let round = 0; round < mostAttempts; round++) {
    const order = await findOrder(desk.pool, agentId, orderId)
    if (order?.status !== 'WAITING') return
    const refused = await refusedBy(desk, order)
    // It is with a provider, who is asked about it as always.
    if (order.handedOverAt !== null && !refused) return
    const [reference] = referencesOf(agentId, orderId, order.version)
    const known: [Provider, PayoutOutcome][] = []
    for (const provider of payersOf(desk)) {
      if (!provider.can.currencies.includes(order.currency)) continue
      const outcome = await askAbout(provider, reference, order)
      if (outcome.type === 'unknown' || outcome.type === 'not_sent') {
        await note({
          subject: `${txn} at ${provider.name}`,
          words: `${provider.name} could not say whether it has ${reference}, of ${txn}: ${outcome.reason}`,
        })
      } else if (outcome.type !== 'not_found') known.push([provider, outcome])
    }
    const [first, second] = known
    if (!first) return
    const [provider, outcome] = first
    const handed = second
      ? undefined
      : await handOver(desk, order, provider, { insteadOf: refused, isDebited: true })
    if (!handed) {
      const names = known.map(([{ name }]) => name).join(' and ')
      return note({
        subject: `${txn} at ${names}`,
        words: `${names} has ${reference}, of ${txn}, which could not be handed over here: find out what became of it.`,
      })
    }
    if (outcome.type !== 'rejected') {
      await settle(desk, handed, outcome)
      return
    }
  }
}

/** The attempt of an order that its provider has definitely refused, if another may get it. */
async function refusedBy(desk: PayoutDesk, order: Order): Promise<PayoutAttempt | undefined> {
  if (order.handedOverAt === null) return undefined
  const attempts = await payoutsOfOrder(desk.pool, order.agentId, order.orderId)
  const last = attempts.find(({ reference }) => reference === order.providerRef)
  const provider = last && desk.providers.find(last.provider)
  if (!last || !provider || provider.paysByFile) return undefined
  const outcome = await askAbout(provider, last.reference, order)
  return outcome.type === 'rejected' && outcome.mayTryAnother ? last : undefined
}
