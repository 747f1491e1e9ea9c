import type { Order } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { txnId } from '../lib/ids.ts'
import { inParallel } from '../lib/in-parallel.ts'
import { type FieldError, Problem } from '../lib/problem.ts'
import type { PayoutOutcome, Provider } from '../providers/provider.ts'
import { askAbout, handOver, type PayoutDesk, settle, silenceMs } from './pay-out.ts'
import { type PayoutAttempt, payoutsOfOrder } from './payouts.ts'
import {
  type Difference,
  type DifferenceFinding,
  differencesOf,
  type Hold,
  type KnownDifference,
  noteAsked,
  noteDifference,
  noteFindings,
  openHold,
} from './restore-hold.ts'

const atOnce = 8
const mostTries = 3
const pageSize = 200
/** How many orders are asked about once more in a round. */
const askedAgain = 64

/** How often an order may have been passed on in the time that was lost. */
const mostAttempts = 5
/** How many attempts in a row may have left no trace at their providers. */
const mostTraceless = 2

/**
 * Asks all providers about the withdrawals that waited when the database was restored. What a provider has of them is
 * handed over to it here, under the reference that it knows, and nothing is sent. A provider that could not say is asked
 * again, until it can or two people have found out.
 */
export async function askAfterRestore(
  desk: PayoutDesk,
  onError: (error: unknown) => void,
): Promise<void> {
  const hold = await openHold(desk.pool)
  if (!hold) return
  await desk.providers.freshen()
  if (hold.askedAt !== null) return askAgain(desk, hold, onError)
  // A call that was under way when the hold began may still pay what its provider does not know yet.
  const silentMs = Math.max(0, ...payersOf(desk).map(silenceMs))
  if (desk.now().getTime() - hold.markedAt.getTime() < silentMs) return
  const note = (difference: Difference) =>
    noteDifference(desk.pool, hold.restoreId, difference, desk.now())
  let failed = false
  for await (const page of waitingSince(desk, hold)) {
    await inParallel(atOnce, page, (order) =>
      askPatiently(desk, order, note, onError).catch((error) => {
        failed = true
        onError(error)
      }),
    )
  }
  // What could not even be noted is asked again, and so is whoever cannot be asked at the moment.
  if (failed || desk.providers.connectors?.hasUnreadable) return
  for (const { name } of payersOf(desk)) {
    await note({
      subject: `unknown payouts at ${name}`,
      words: `${name} may have payouts of orders that were created and lost since ${hold.since.toISOString()}: lay its own list beside the orders here, and book what is missing as adjustments.`,
    })
  }
  await noteAsked(desk.pool, hold.restoreId, desk.now())
}

/** Asks once more about orders that a provider could not say anything about; those that it can now are settled. */
async function askAgain(
  desk: PayoutDesk,
  { restoreId }: Hold,
  onError: (error: unknown) => void,
): Promise<void> {
  const open = (await differencesOf(desk.pool, restoreId)).filter(({ isOpen }) => isOpen)
  const orders = new Map(
    open.flatMap(({ order }) => (order ? [[txnId(order.agentId, order.orderId), order]] : [])),
  )
  // A few at a time, not always the same: there may be thousands, and the provider may be down for hours.
  const some = [...orders].sort(() => Math.random() - 0.5).slice(0, askedAgain)
  await inParallel(atOnce, some, async ([txn, order]) => {
    const still = new Set<string>()
    const findings: { subject: string; finding: 'answered' }[] = []
    try {
      await askAboutOrder(desk, order, async (difference) => {
        still.add(difference.subject)
        // Another may be unsure by now.
        await noteDifference(desk.pool, restoreId, difference, desk.now())
      })
      for (const each of open) {
        const { subject, order: named } = each
        if (!named || txnId(named.agentId, named.orderId) !== txn || still.has(subject)) continue
        // That nobody could be asked is over once everybody has answered.
        const isOver = each.at
          ? await hasAnswered(desk, named, each.at)
          : still.size === 0 && !desk.providers.connectors?.hasUnreadable
        if (isOver) findings.push({ subject, finding: 'answered' })
      }
    } catch (error) {
      onError(error)
      return
    }
    await noteFindings(desk.pool, restoreId, findings, desk.now())
  })
}

/**
 * Whether the provider of a difference says of each reference that it did not pay it, or has what is handed over to it
 * here. One that is not there to be asked has not answered, wherever its order is by now.
 */
async function hasAnswered(
  desk: PayoutDesk,
  { agentId, orderId }: Pick<Order, 'agentId' | 'orderId'>,
  at: NonNullable<KnownDifference['at']>,
): Promise<boolean> {
  const provider = payersOf(desk).find(({ name }) => name === at.provider)
  const order = await findOrder(desk.pool, agentId, orderId)
  if (!provider || !order) return false
  for (const reference of at.references) {
    const { type } = await askAbout(provider, reference, order)
    if (type === 'not_found' || type === 'rejected' || type === 'cancelled') continue
    if (type === 'unknown' || type === 'not_sent') return false
    if (!(await isWith(desk, order, provider, reference))) return false
  }
  return true
}

/** An order that cannot be asked about, for whatever fault of ours, is for people to find out about. */
async function askPatiently(
  desk: PayoutDesk,
  order: Order,
  note: (difference: Difference) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      return await askAboutOrder(desk, order, note)
    } catch (error) {
      onError(error)
    }
  }
  const txn = txnId(order.agentId, order.orderId)
  const words = `Nobody could be asked about ${txn}: find out who has it.`
  await note({ subject: txn, words, order })
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
  { agentId, orderId }: Pick<Order, 'agentId' | 'orderId'>,
  note: (difference: Difference) => Promise<void>,
): Promise<void> {
  const txn = txnId(agentId, orderId)
  /** How many attempts of the lost time nobody knows of. */
  let traceless = 0
  for (let round = 0; round < mostAttempts; round++) {
    const order = await findOrder(desk.pool, agentId, orderId)
    if (order?.status !== 'WAITING') return
    const left = await leftBy(desk, order)
    // It is with a provider, who is asked about it as always.
    if (order.handedOverAt !== null && !left) return
    const found = await findKnown(desk, order, order.version + traceless, note)
    if (!found) return
    const { reference, known } = found
    traceless = found.attempt - order.version
    const [[provider, outcome], second] = known
    const handed = second
      ? undefined
      : await handOver(desk, order, provider, {
          insteadOf: left,
          isDebited: true,
          references: [reference],
        })
    if (!handed) {
      if (!second && (await isWith(desk, order, provider, reference))) return
      const names = known.map(([{ name }]) => name).join(' and ')
      for (const [{ name }] of known) {
        await note({
          subject: `${txn} at ${name}`,
          words: `${names} has ${reference}, of ${txn}, which could not be handed over here: find out what became of it.`,
          order,
          at: { provider: name, references: [reference] },
        })
      }
      return
    }
    if (outcome.type !== 'rejected') {
      await settle(desk, handed, outcome)
      return
    }
  }
}

/** Whether an order was handed over to a provider under a reference: by another process, which asks as well, for one. */
async function isWith(
  desk: PayoutDesk,
  { agentId, orderId }: Order,
  { name }: Provider,
  reference: string,
): Promise<boolean> {
  const attempts = await payoutsOfOrder(desk.pool, agentId, orderId)
  return attempts.some((each) => each.provider === name && each.reference === reference)
}

interface Known {
  attempt: number
  reference: string
  known: [[Provider, PayoutOutcome], ...[Provider, PayoutOutcome][]]
}

/**
 * The first attempt from one on that a provider knows. Many keep nothing of what they refuse on the spot, so the next
 * attempts are asked about as well.
 */
async function findKnown(
  desk: PayoutDesk,
  order: Order,
  from: number,
  note: (difference: Difference) => Promise<void>,
): Promise<Known | undefined> {
  const { agentId, orderId } = order
  const txn = txnId(agentId, orderId)
  const unsure = new Map<string, { references: string[]; reason: string }>()
  let found: Known | undefined
  for (let attempt = from; attempt <= from + mostTraceless && !found; attempt++) {
    const [reference] = referencesOf(agentId, orderId, attempt)
    const known: [Provider, PayoutOutcome][] = []
    for (const provider of payersOf(desk)) {
      if (!provider.can.currencies.includes(order.currency)) continue
      const outcome = await askAbout(provider, reference, order)
      if (outcome.type === 'unknown' || outcome.type === 'not_sent') {
        const { references = [], reason = outcome.reason } = unsure.get(provider.name) ?? {}
        unsure.set(provider.name, { references: [...references, reference], reason })
      } else if (outcome.type !== 'not_found') known.push([provider, outcome])
    }
    const [first, ...others] = known
    if (first) found = { attempt, reference, known: [first, ...others] }
  }
  for (const [name, { references, reason }] of unsure) {
    await note({
      subject: `${txn} at ${name}`,
      words: `${name} could not say whether it has ${references.join(' or ')}, of ${txn}: ${reason}`,
      order,
      at: { provider: name, references },
    })
  }
  return found
}

/**
 * The attempt that an order is at, if its provider does not say that it has it: then another may have got it since. That
 * a provider has a later attempt proves that this one was refused.
 */
async function leftBy(desk: PayoutDesk, order: Order): Promise<PayoutAttempt | undefined> {
  if (order.handedOverAt === null) return undefined
  const attempts = await payoutsOfOrder(desk.pool, order.agentId, order.orderId)
  const last = attempts.find(({ reference }) => reference === order.providerRef)
  const provider = last && desk.providers.find(last.provider)
  if (!last || provider?.paysByFile) return undefined
  // One that is not set up any more cannot be asked; the others can.
  if (!provider) return last
  const outcome = await askAbout(provider, last.reference, order)
  const mayHaveGoneOn =
    outcome.type === 'rejected'
      ? outcome.mayTryAnother
      : ['not_found', 'not_sent', 'unknown'].includes(outcome.type)
  return mayHaveGoneOn ? last : undefined
}

/**
 * Refuses what two people say of the differences if it is not about each that is open, or says of an order both that it
 * was not paid and that a provider has it.
 */
export function refuseUnlessAllNamed(
  differences: readonly KnownDifference[],
  findings: readonly DifferenceFinding[],
): void {
  const named = new Map(findings.map((each) => [each.subject, each]))
  const errors: FieldError[] = []
  const refuse = (message: string) => errors.push({ field: 'differences', message })
  const orders = new Map<string, DifferenceFinding[]>()
  for (const { subject, isOpen, order, at } of differences) {
    const found = named.get(subject)
    named.delete(subject)
    if (!found) {
      if (isOpen) refuse(`must say what was found of "${subject}"`)
      continue
    }
    if (found.finding === 'has_it' && !at?.references.includes(found.reference ?? '')) {
      refuse(`must name a reference that "${subject}" was asked about by`)
    }
    if (!order) {
      if (found.finding !== 'seen') refuse(`can only say "seen" of "${subject}"`)
      continue
    }
    const txn = txnId(order.agentId, order.orderId)
    orders.set(txn, [...(orders.get(txn) ?? []), found])
  }
  for (const subject of named.keys()) refuse(`names "${subject}", which is no difference`)
  for (const [txn, found] of orders) {
    const many = found.filter(({ finding }) => finding === 'has_it').length
    const isUnpaid = found.every(({ finding }) => finding === 'not_paid')
    if (many > 1 || (many === 0 && !isUnpaid)) {
      refuse(`must say of ${txn} that nobody paid it, or which one provider has it`)
    }
  }
  if (errors.length > 0) {
    throw new Problem('invalid_request', 'Say of each difference what was found.', { errors })
  }
}

/**
 * Hands an order over in the books to the provider that two people say has it, under its reference. Nothing is sent;
 * the provider is asked about it as about any other.
 */
export async function handToWhoHasIt(
  desk: PayoutDesk,
  differences: readonly KnownDifference[],
  findings: readonly DifferenceFinding[],
): Promise<void> {
  for (const { subject, finding, reference } of findings) {
    const { order: named, at } = differences.find((each) => each.subject === subject) ?? {}
    if (finding !== 'has_it' || !named || !at || !reference) continue
    const order = await findOrder(desk.pool, named.agentId, named.orderId)
    if (order?.status !== 'WAITING' || order.providerRef === reference) continue
    const provider = desk.providers.find(at.provider)
    const insteadOf = await leftBy(desk, order)
    const handed =
      provider &&
      (await handOver(desk, order, provider, {
        insteadOf,
        isDebited: true,
        references: [reference],
      }))
    if (!handed) {
      const txn = txnId(order.agentId, order.orderId)
      throw new Problem('changed_meanwhile', `${txn} cannot be handed to ${at.provider} any more.`)
    }
  }
}
