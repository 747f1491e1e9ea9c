import type { Agent } from '../agents/agent.ts'
import { createAgent, defaultTerms } from '../agents/save-agent.ts'
import {
  type PastAttempt,
  type PastCallback,
  writePastCallbacks,
} from '../callbacks/past-callbacks.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { forgetOldPlans, type Pool, type PoolClient } from '../db/pool.ts'
import type { Callback } from '../ledger/book.ts'
import { type BatchTx, readBooks, writeBooks } from '../ledger/books-store.ts'
import type { Command } from '../ledger/commands.ts'
import { fold } from '../ledger/fold.ts'
import { houseBook } from '../ledger/house.ts'
import { type Currency, minorPerUnit, toMinor } from '../lib/money.ts'
import { depositAnswer } from '../orders/deposit-answer.ts'
import { type PastPayout, writePastPayouts } from '../payouts/past-payouts.ts'
import type { Desk } from '../teller/desk.ts'
import { type Chance, chanceFrom, planOrder } from './seed-plan.ts'

type SeedDesk = Pick<
  Desk,
  'pool' | 'secretKeys' | 'publicUrl' | 'localTime' | 'picturesDrawnSince'
> & {
  /** A pipelined pool, like the teller's: it sends statements without waiting for the previous answer. */
  bulkPool: Pool
}

/** A made-up agent: how its callback address behaves, and its share of the orders. */
interface Shop {
  name: string
  currency: Currency
  share: number
  depositFee: string
  withdrawFee: string
  address: 'well' | 'failing' | 'none'
}

const shops: readonly Shop[] = [
  {
    name: 'Lotus Games',
    currency: 'THB',
    share: 34,
    depositFee: '1.5%',
    withdrawFee: '10',
    address: 'well',
  },
  {
    name: 'Siam Market',
    currency: 'THB',
    share: 24,
    depositFee: '1.2%+1',
    withdrawFee: '8',
    address: 'well',
  },
  {
    name: 'Mekong Travel',
    currency: 'VND',
    share: 18,
    depositFee: '1.8%',
    withdrawFee: '3300',
    address: 'well',
  },
  {
    name: 'Hanoi Books',
    currency: 'VND',
    share: 12,
    depositFee: '2%',
    withdrawFee: '4400',
    address: 'failing',
  },
  {
    name: 'Chao Phraya Tickets',
    currency: 'THB',
    share: 9,
    depositFee: '1%+2',
    withdrawFee: '12',
    address: 'well',
  },
  {
    name: 'Night Bazaar',
    currency: 'THB',
    share: 3,
    depositFee: '2.5%',
    withdrawFee: '15',
    address: 'none',
  },
]

const spanMs = 28 * 86_400_000
const chunk = 1_000
/** How many orders of each agent are only minutes old. */
const recent = 4
const refused = 'connection refused by the agent'

export interface Seeded {
  agents: { appId: string; secret: string; name: string }[]
  orders: number
}

/**
 * Makes up weeks of business: new agents and their orders. It uses the same pure core as the teller and
 * writes in bulk, so every balance can be proved. The same `start` gives the same data.
 */
export async function seedOrders(
  desk: SeedDesk,
  options: { orders: number; now: Date; start: number; onProgress?: (orders: number) => void },
): Promise<Seeded> {
  const { orders, now, start, onProgress } = options
  let done = 0
  let given = 0
  const total = shops.reduce((sum, { share }) => sum + share, 0)
  const made: { agent: Agent; secret: string; shop: Shop; orders: number }[] = []
  for (const shop of shops) {
    const isLast = shop === shops.at(-1)
    const own = isLast ? orders - given : Math.floor((orders * shop.share) / total)
    given += own
    made.push({ ...(await openShop(desk, shop, now)), shop, orders: own })
  }
  // The agents run in parallel: the database works on one while another is being made up.
  const tell = (count: number) => {
    done += count
    onProgress?.(done)
  }
  const working = made.map(({ agent, shop, orders: own }, at) =>
    seedAgent(desk, agent, shop, { orders: own, now, chance: chanceFrom(start + at), tell }),
  )
  await Promise.allSettled(working)
  await Promise.all(working)
  await seedUnmatched(desk, now, chanceFrom(start + 99))
  return {
    agents: made.map(({ agent, secret }) => ({ appId: agent.appId, secret, name: agent.name })),
    orders: done,
  }
}

function openShop(desk: SeedDesk, shop: Shop, now: Date) {
  const url = `https://${shop.name.toLowerCase().replaceAll(' ', '-')}.example/callbacks`
  const addresses =
    shop.address === 'none'
      ? {}
      : { depositCallbackUrl: `${url}/deposit`, withdrawCallbackUrl: `${url}/withdraw` }
  return createAgent(
    desk.pool,
    desk.secretKeys,
    {
      ...defaultTerms,
      ...addresses,
      name: shop.name,
      currency: shop.currency,
      depositFee: shop.depositFee,
      withdrawFee: shop.withdrawFee,
      // QR codes in every answer would make up most of the data.
      method: 'link',
    },
    new Date(now.getTime() - spanMs),
  )
}

interface AgentSeed {
  orders: number
  now: Date
  chance: Chance
  tell: (orders: number) => void
}

/**
 * Makes up one agent's weeks, chunk by chunk. Commands later than a chunk's last order go to the next
 * chunk.
 */
async function seedAgent(desk: SeedDesk, agent: Agent, shop: Shop, seed: AgentSeed): Promise<void> {
  const { orders, now, chance, tell } = seed
  const times = timesOf(orders, now, chance)
  const openedAt = new Date(now.getTime() - spanMs)
  let pending: Command[] = [openingBalance(agent, orders, openedAt)]
  const payouts = new Map<string, PastPayout>()
  for (let from = 0; from < orders || pending.length > 0; from += chunk) {
    const own = times.slice(from, from + chunk)
    own.forEach((at, index) => {
      const planned = planOrder(agent, from + index + 1, at, now, chance)
      for (const command of planned.commands) {
        pending.push(command.type === 'create' ? answered(desk, agent, command) : command)
      }
      if (planned.payout) payouts.set(planned.payout.orderId, planned.payout)
    })
    const until = times[from + chunk - 1] ?? now
    pending.sort((a, b) => a.at.getTime() - b.at.getTime())
    const due = pending.filter(({ at }) => at <= until)
    pending = pending.filter(({ at }) => at > until)
    const ended = endedPayouts(payouts, pending)
    await writeChunk(desk, due, shop, now, chance, ended)
    for (const { orderId } of ended) payouts.delete(orderId)
    tell(own.length)
  }
}

/** The payouts without pending commands: a payout that has ended is written together with its order. */
function endedPayouts(payouts: Map<string, PastPayout>, pending: readonly Command[]): PastPayout[] {
  const toCome = new Set(pending.flatMap((each) => ('orderId' in each ? (each.orderId ?? []) : [])))
  return [...payouts.values()].filter(({ orderId }) => !toCome.has(orderId))
}

/** Adds the answer to a deposit; the core makes that of a withdrawal. */
function answered(desk: SeedDesk, agent: Agent, command: Command & { type: 'create' }): Command {
  const { order } = command
  if (order.kind === 'withdraw') return command
  return { ...command, order: { ...order, answer: depositAnswer(desk, agent, order, undefined) } }
}

/**
 * Withdrawals are about as large as deposits but fewer, so the balance must only last through the first
 * days.
 */
function openingBalance(agent: Agent, orders: number, at: Date): Command {
  const perOrder = minorPerUnit(agent.currency) === 1n ? 4_000_000n : 4_000n
  return {
    type: 'adjust',
    agentId: agent.agentId,
    at,
    amountMinor: toMinor(perOrder * BigInt(Math.ceil(orders / 20) + 50), agent.currency),
    reason: 'Opening balance',
    ref: 'opening balance',
  }
}

/** Creation times, oldest first: more in the evening than at night, and slightly more every week. */
function timesOf(orders: number, now: Date, chance: Chance): Date[] {
  const times = new Float64Array(orders)
  for (let at = 0; at < orders; ) {
    const ageMs = spanMs * (1 - Math.sqrt(0.15 + 0.85 * chance())) * 1.6
    const hour = new Date(now.getTime() - ageMs).getUTCHours()
    const isKept = chance() < 0.35 + 0.65 * Math.sin((Math.PI * ((hour + 2) % 24)) / 24) ** 2
    if (ageMs < spanMs - 3_600_000 && isKept) times[at++] = now.getTime() - ageMs
  }
  // Some orders are always recent, so that something is open.
  for (let at = 0; at < Math.min(recent, orders); at++) {
    times[at] = now.getTime() - 30_000 - chance() * 500_000
  }
  return Array.from(times.sort(), (ms) => new Date(Math.floor(ms)))
}

async function writeChunk(
  desk: SeedDesk,
  commands: Command[],
  shop: Shop,
  now: Date,
  chance: Chance,
  payouts: readonly PastPayout[],
): Promise<void> {
  if (commands.length === 0) return
  const client = await desk.bulkPool.connect()
  let broken = true
  try {
    forgetOldPlans(client)
    await client.query('begin')
    await fill(client, desk, commands, shop, now, chance, payouts)
    await client.query('commit')
    broken = false
  } finally {
    client.release(broken)
  }
}

async function fill(
  client: PoolClient,
  desk: SeedDesk,
  commands: Command[],
  shop: Shop,
  now: Date,
  chance: Chance,
  payouts: readonly PastPayout[],
): Promise<void> {
  const tx = client as unknown as BatchTx
  const books = await readBooks(tx, commands)
  const { writes } = fold(books, commands, desk.localTime)
  // Made-up orders are not measured against limits; what counts is added up with the first real one.
  await writeBooks(tx, { ...writes, callbacks: [], unlimited: [] })
  await writePastCallbacks(
    tx,
    writes.callbacks.map((callback) => delivered(callback, shop, now, chance)),
  )
  await writePastPayouts(tx, payouts)
}

/** Makes up the state of a callback, from its age and from how the agent's address behaves. */
function delivered(callback: Callback, shop: Shop, now: Date, chance: Chance): PastCallback {
  const { createdAt } = callback
  const url = `https://${shop.name.toLowerCase().replaceAll(' ', '-')}.example/callbacks/${callback.kind}`
  const attempt = (afterMs: number, status: number | null, error: string | null): PastAttempt => ({
    startedAt: new Date(createdAt.getTime() + afterMs),
    durationMs: Math.ceil(20 + chance() * 300),
    url,
    status,
    error,
  })
  if (shop.address === 'none') return { callback, state: 'no_address', dueAt: null, attempts: [] }
  const ageMs = now.getTime() - createdAt.getTime()
  if (shop.address === 'failing' && ageMs < 6 * 3_600_000) {
    const tries = Math.min(9, 2 + Math.floor(ageMs / 1_800_000))
    const attempts = Array.from({ length: tries }, (_, at) =>
      attempt((ageMs * at) / (tries + 1), null, refused),
    )
    const dueAt = new Date(now.getTime() + 600_000 + chance() * 7_200_000)
    return { callback, state: 'waiting', dueAt, attempts }
  }
  if (shop.address === 'failing' && chance() < 0.002) {
    const attempts = [attempt(100, 500, 'answered with status 500'), attempt(5_100, null, refused)]
    return { callback, state: 'exhausted', dueAt: null, attempts }
  }
  const failed = chance() < 0.02 ? [attempt(80, 503, 'answered with status 503')] : []
  const accepted = attempt(failed.length > 0 ? 5_200 : 90, 200, null)
  return { callback, state: 'delivered', dueAt: null, attempts: [...failed, accepted] }
}

/** Makes up payments that belong to no known agent. */
async function seedUnmatched(desk: SeedDesk, now: Date, chance: Chance): Promise<void> {
  const commands = Array.from({ length: 7 }, (_, at) => unmatchedPayment(now, chance, at + 1))
  commands.sort((a, b) => a.at.getTime() - b.at.getTime())
  await inTransaction(desk.bulkPool, async (client) => {
    const tx = client as unknown as BatchTx
    const books = await readBooks(tx, commands)
    // The rows of a book are in order of time: what it has already came before these.
    const inOrder = commands.map((command) =>
      books.wallets.get(command.agentId)?.seq === 0n ? command : { ...command, at: now },
    )
    const { writes } = fold(books, inOrder, desk.localTime)
    await writeBooks(tx, writes)
  })
}

function unmatchedPayment(now: Date, chance: Chance, number: number): Command {
  const paidAt = new Date(now.getTime() - chance() * 4 * 86_400_000)
  const { currency } = shops[Math.floor(chance() * shops.length)] as Shop
  return {
    type: 'receive_unmatched',
    agentId: houseBook(currency),
    at: new Date(paidAt.getTime() + 2_000),
    unmatched: {
      paymentId: `sandbox:seed-unmatched-${paidAt.getTime()}-${number}`,
      reference: `INV ${Math.floor(chance() * 100_000)}`,
      amountMinor: toMinor(BigInt(Math.ceil(chance() * 5_000)) * 100n, currency),
      currency,
      why: 'unmatched',
      contradicts: null,
      paidAt,
      payer: {
        accountNo: `${Math.floor(chance() * 8_999_999) + 1_000_000}`,
        accountName: 'Unknown payer',
        bankCode: null,
      },
    },
  }
}
