import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { createAgent, defaultTerms } from '../dist/agents/save-agent.js'
import { openBackend } from '../dist/backend.js'
import { pauseCallbacks } from '../dist/callbacks/resend-callbacks.js'
import { WakeUp } from '../dist/callbacks/wake-up.js'
import { readConfig } from '../dist/config.js'
import type { Order } from '../dist/ledger/book.js'
import { systemClock } from '../dist/lib/clock.js'
import { txnId } from '../dist/lib/ids.js'
import { makeLog } from '../dist/service/make-log.js'
import { startService } from '../dist/service/start-service.js'
import { newDeposit } from './new-deposit.js'

/**
 * Delivers callbacks for the benchmark: committed outcomes through the service (claimed, signed, sent,
 * recorded), or the same bodies and headers from a bare loop. Told by IPC what to do.
 */
const [receiverUrl = '', agentCount = '1'] = process.argv.slice(2)
const read = readConfig()
if ('faults' in read) throw new Error(read.faults.join('\n'))
const { config } = read
const backend = await openBackend(config, 'serve', () => {})
const service = await startService(config, backend, makeLog('silent'))
const { desk } = service
const agents: { agentId: bigint; appId: string; secret: string; url: string }[] = []
for (let at = 0; at < Number(agentCount); at++) {
  // As agents have them: an address each.
  const url = `${receiverUrl}/${at}`
  const { agent, secret } = await createAgent(
    backend.pool,
    backend.secretKeys,
    { ...defaultTerms, name: `Bench ${at}`, currency: 'THB', depositCallbackUrl: url },
    new Date(),
  )
  agents.push({ ...agent, secret, url })
}
const bare = new Agent({ connections: 64, pipelining: 1 })
/** The numbers up to which callbacks had been delivered before the last round. */
let seqsBefore = new Map<bigint, bigint>()

/** Commits outcomes while callbacks are held back; lets them go; ends with the last one on disk. */
async function deliver(count: number): Promise<void> {
  const orders = await newDeposits(count)
  seqsBefore = await lastSeqs()
  await Promise.all(
    agents.map(({ agentId }) => pauseCallbacks(backend.pool, agentId, true, systemClock)),
  )
  await inParts(orders, pay)
  await proved()
  const { cpu } = await timed(async (arrived) => {
    // All at once: one after the other they would take a part of the time that is measured.
    await backend.pool.query('update callback_lanes set paused = false, resumed_at = now()')
    await new WakeUp(backend.pool, () => {}).tellNow(agents.map(({ agentId }) => agentId))
    await arrived
    while (await isAnyOpen()) await pause(1)
  })
  process.send?.({ done: { cpuUs: (cpu.user + cpu.system) / count } })
}

/** Waits until the background proof has caught up with what was committed for the round. */
async function proved(): Promise<void> {
  const behind = () =>
    backend.pool.query(
      'select from wallets w left join proofs p using (agent_id) where p.proved_seq is distinct from w.seq',
    )
  while ((await behind()).rowCount !== 0) await pause(50)
}

async function isAnyOpen(): Promise<boolean> {
  const { rows } = await backend.pool.query(
    `select from callbacks where agent_id = any($1) and state = 'waiting' limit 1`,
    [agents.map(({ agentId }) => agentId)],
  )
  return rows.length > 0
}

/** The same bodies with the same headers, signed beforehand. */
async function loop(count: number): Promise<void> {
  const posts = await postsAfter(seqsBefore)
  if (posts.length !== count) throw new Error(`${posts.length} callbacks instead of ${count}`)
  const { cpu } = await timed(async () => {
    let next = 0
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (let post = posts[next++]; post !== undefined; post = posts[next++]) {
          const { url, headers, body } = post
          const answer = await request(url, { method: 'POST', dispatcher: bare, headers, body })
          await answer.body.dump()
        }
      }),
    )
  })
  process.send?.({ done: { cpuUs: (cpu.user + cpu.system) / posts.length } })
}

/** Outcomes at a steady pace; tells when each of them was on disk. */
async function trickle(count: number): Promise<void> {
  const orders = await newDeposits(count)
  const committed: Promise<{ orderId: string; atNs: string }>[] = []
  await timed(async (arrived) => {
    const started = performance.now()
    for (const [at, order] of orders.entries()) {
      const wait = at * 10 - (performance.now() - started)
      if (wait > 0) await pause(wait)
      committed.push(
        pay(order).then(() => ({
          orderId: txnId(order.agentId, order.orderId),
          atNs: String(process.hrtime.bigint()),
        })),
      )
    }
    await arrived
  })
  process.send?.({ done: { committed: await Promise.all(committed) } })
}

/** Says that it is ready, waits for the word, and says what the work has cost this process. */
async function timed(work: (arrived: Promise<unknown>) => Promise<void>) {
  const heard = (word: string) =>
    new Promise<void>((resolve) => {
      const hear = (message: unknown) => {
        if (message !== word) return
        process.off('message', hear)
        resolve()
      }
      process.on('message', hear)
    })
  const go = heard('go')
  const arrived = heard('arrived')
  process.send?.('ready')
  await go
  const before = process.cpuUsage()
  await work(arrived)
  return { cpu: process.cpuUsage(before) }
}

async function newDeposits(count: number): Promise<Order[]> {
  const orders = Array.from({ length: count }, (_, at) =>
    newDeposit(agents[at % agents.length]?.agentId ?? 1n),
  )
  await inParts(orders, (order) =>
    desk.teller.do({ type: 'create', agentId: order.agentId, at: order.createdAt, order }),
  )
  return orders
}

function pay({ agentId, orderId, amountMinor }: Order) {
  return desk.teller.do({
    type: 'receive_payment',
    agentId,
    orderId,
    provider: null,
    at: new Date(),
    payment: { paymentId: `bench:${orderId}`, amountMinor, paidAt: new Date(), payer: null },
  })
}

async function lastSeqs(): Promise<Map<bigint, bigint>> {
  const { rows } = await backend.pool.query<{ agent_id: bigint; seq: bigint }>(
    'select agent_id, seq from wallets where agent_id > 0',
  )
  return new Map(rows.map(({ agent_id, seq }) => [agent_id, seq]))
}

interface Post {
  url: string
  body: string
  headers: Record<string, string>
}

/** What was delivered after these numbers, as it was sent. */
async function postsAfter(before: Map<bigint, bigint>): Promise<Post[]> {
  const made: Post[] = []
  for (const { agentId, appId, secret, url } of agents) {
    const { rows } = await backend.pool.query<{ seq: bigint; body: string }>(
      `select seq, b.body from callbacks join callback_bodies b using (agent_id, seq, created_at)
       where agent_id = $1 and seq > $2 and state = 'delivered'`,
      [agentId, before.get(agentId)],
    )
    for (const { seq, body } of rows) {
      const t = Math.floor(Date.now() / 1000)
      const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
      made.push({
        url,
        body,
        headers: {
          'content-type': 'application/json',
          'x-appid': appId,
          'x-signature': `t=${t},v1=${v1}`,
          'x-event-seq': String(seq),
          'x-attempt': '1',
          'user-agent': 'Sluice/bench',
        },
      })
    }
  }
  return made
}

async function inParts<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 500) {
    await Promise.all(items.slice(at, at + 500).map(work))
  }
}

process.on('message', (message: { run?: 'service' | 'bare' | 'trickle'; count: number }) => {
  if (message.run === 'service') void deliver(message.count)
  if (message.run === 'bare') void loop(message.count)
  if (message.run === 'trickle') void trickle(message.count)
})
process.send?.('up')
