import { randomBytes } from 'node:crypto'
import { Agent, request } from 'undici'
import { createAgent, defaultTerms } from '../dist/agents/save-agent.js'
import { openBackend } from '../dist/backend.js'
import { readConfig } from '../dist/config.js'
import type { Order } from '../dist/ledger/book.js'
import { newOrderId } from '../dist/lib/ids.js'
import { makeLog, startService } from '../dist/service.js'

/**
 * Delivers callbacks for the benchmark: through the whole path (outcome committed, signed, sent,
 * recorded), or the same bodies from a bare loop. Told by IPC what to do.
 */
const [receiverUrl = '', agentCount = '1'] = process.argv.slice(2)
const read = readConfig()
if ('faults' in read) throw new Error(read.faults.join('\n'))
const { config } = read
const backend = await openBackend(config, 'serve', () => {})
const service = await startService(config, backend, makeLog('silent'))
const { desk } = service
const agentIds: bigint[] = []
for (let at = 0; at < Number(agentCount); at++) {
  const { agent } = await createAgent(
    backend.pool,
    backend.secretKeys,
    { ...defaultTerms, name: `Bench ${at}`, currency: 'THB', depositCallbackUrl: receiverUrl },
    new Date(),
  )
  agentIds.push(agent.agentId)
}
const bare = new Agent({ connections: 64, pipelining: 1 })
let bodies: string[] = []

async function deliver(count: number): Promise<void> {
  const orders = Array.from({ length: count }, (_, at) =>
    newDeposit(agentIds[at % agentIds.length] ?? 1n),
  )
  await inParts(orders, (order) =>
    desk.teller.do({ type: 'create', agentId: order.agentId, at: order.createdAt, order }),
  )
  process.send?.('ready')
  await new Promise((resolve) => process.once('message', resolve))
  await inParts(orders, ({ agentId, orderId, amountMinor }) =>
    desk.teller.do({
      type: 'receive_payment',
      agentId,
      orderId,
      at: new Date(),
      payment: { paymentId: `bench:${orderId}`, amountMinor, paidAt: new Date(), payer: null },
    }),
  )
  for (;;) {
    const { rows } = await backend.pool.query<{ open: bigint }>(
      `select count(*) as open from callbacks where state <> 'delivered'`,
    )
    if (rows[0]?.open === 0n) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const { rows } = await backend.pool.query<{ body: string }>('select body from callbacks limit 1')
  bodies = Array.from({ length: count }, () => rows[0]?.body ?? '{}')
  process.send?.('done')
}

async function loop(): Promise<void> {
  process.send?.('ready')
  await new Promise((resolve) => process.once('message', resolve))
  let next = 0
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
        const answer = await request(receiverUrl, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
          dispatcher: bare,
        })
        await answer.body.dump()
      }
    }),
  )
  process.send?.('done')
}

function newDeposit(agentId: bigint): Order {
  const createdAt = new Date()
  return {
    agentId,
    orderId: newOrderId(createdAt),
    kind: 'deposit',
    refId: randomBytes(12).toString('hex'),
    userId: 'user-1',
    amountMinor: 10_000n,
    feeMinor: 0n,
    feeRule: '0%',
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    extraParams: null,
    status: 'WAITING',
    version: 1,
    answer: '{}',
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 3_600_000),
    completedAt: null,
    paidAmountMinor: null,
    paidFeeMinor: null,
    provider: null,
    providerRef: null,
    handedOverAt: null,
    instructions: null,
  }
}

async function inParts<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 500) {
    await Promise.all(items.slice(at, at + 500).map(work))
  }
}

process.on('message', (message: { run: 'service' | 'bare'; count: number }) => {
  if (message.run === 'service') void deliver(message.count)
  if (message.run === 'bare') void loop()
})
process.send?.('up')
