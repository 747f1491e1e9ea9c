import { randomUUID } from 'node:crypto'
import { AgentFinder } from '../dist/agents/agent-finder.js'
import { ApiLog } from '../dist/agents/api-log.js'
import { makeResolveHost } from '../dist/agents/resolve-host.js'
import { createAgent, defaultTerms, updateAgent } from '../dist/agents/save-agent.js'
import { openBackend } from '../dist/backend.js'
import { CallbackPoster } from '../dist/callbacks/post-callback.js'
import { readConfig } from '../dist/config.js'
import { SharedBuckets } from '../dist/db/shared-buckets.js'
import { Metrics } from '../dist/http/metrics.js'
import { buildServer } from '../dist/http/server.js'
import { noChange } from '../dist/ledger/accounts.js'
import { fold, noBooks } from '../dist/ledger/fold.js'
import { noHash } from '../dist/lib/chain-hash.js'
import { txnId } from '../dist/lib/ids.js'
import { derivedKey } from '../dist/lib/secret-box.js'
import { signCallback } from '../dist/lib/signature.js'
import { saveProviderState } from '../dist/routing/providers.js'
import { makeLog } from '../dist/service/make-log.js'
import { openDesk } from '../dist/service/open-desk.js'
import { startService } from '../dist/service/start-service.js'
import { makeBankAccount } from './bank-account.js'
import { newDeposit } from './new-deposit.js'
import { plainTeller } from './plain-teller.js'

/**
 * A service for the benchmark, told by IPC where it listens and who its agents are. `database`
 * is the real thing, `bank account` the same with a bank account as its only provider; `none` is the same server whose teller decides in memory and whose agents are
 * known beforehand: what HTTP, the door and the answers cost by themselves.
 */
const [kind, agentCount, method, fund, callbackUrl] = process.argv.slice(2)
const read = readConfig()
if ('faults' in read) throw new Error(read.faults.join('\n'))
const { config } = read
const log = makeLog('silent')
const backend = await openBackend(config, 'serve', () => {})
const { desk } = openDesk(config, backend, {})

const agents: { appId: string; secret: string }[] = []
const found = new Map()
const finder = new AgentFinder(backend.pool, backend.secretKeys, desk.now, () => {})
const terms = {
  rateLimit: 0,
  method: method as 'link',
  ...(callbackUrl !== undefined && {
    depositCallbackUrl: callbackUrl,
    withdrawCallbackUrl: callbackUrl,
  }),
}
// A number of new agents, or some that are there.
const given: number | { appId: string; secret: string }[] = JSON.parse(agentCount ?? '0')
for (const known of typeof given === 'number' ? Array(given).fill(undefined) : given) {
  const { agent, secret } = known ? await takeOver(known) : await newAgent()
  await desk.teller.do({
    type: 'adjust',
    agentId: agent.agentId,
    at: new Date(),
    amountMinor: BigInt(fund ?? 0) * 100n,
    reason: 'benchmark',
    ref: 'benchmark',
  })
  agents.push({ appId: agent.appId, secret })
  found.set(agent.appId, { agent, keys: [{ slot: 1, createdAt: '', expiresAt: null, secret }] })
}

function newAgent() {
  return createAgent(
    backend.pool,
    backend.secretKeys,
    { ...defaultTerms, ...terms, name: `Bench ${agents.length}`, currency: 'THB' },
    new Date(),
  )
}

async function takeOver(known: { appId: string; secret: string }) {
  const there = await finder.find(known.appId)
  if (!there) throw new Error(`there is no agent ${known.appId}`)
  await updateAgent(backend.pool, there.agent, { ...there.agent, ...terms }, new Date())
  return { agent: there.agent, secret: known.secret }
}

// Asked at any time, it says how much CPU it has used and memory it has, or makes notices for deposits of its agents.
process.on('message', async (message: 'cpu' | 'memory' | { notices: number }) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  } else if (message === 'memory') process.send?.(process.memoryUsage().rss)
  else process.send?.(await makeNotices(message.notices))
})

if (kind === 'bank account') {
  await makeBankAccount(backend)
  await saveProviderState(backend.pool, 'sandbox', 'off', new Date())
}
if (kind === 'database' || kind === 'mixed' || kind === 'bank account') {
  // Only the mixed day is about where withdrawals go.
  const service = await startService(config, backend, log, { paysOut: kind === 'mixed' })
  process.send?.({ url: service.url, agents })
} else {
  const metrics = new Metrics()
  const wallets = new Map(
    [...found.values()].map(({ agent }) => [
      agent.agentId,
      {
        agentId: agent.agentId,
        currency: agent.currency,
        seq: 1n,
        balances: { ...noChange, available: 10n ** 15n, adjustments: -(10n ** 15n) },
        hash: noHash,
      },
    ]),
  )
  const books = { ...noBooks, wallets }
  finder.find = async (appId: string) => found.get(appId)
  const app = await buildServer({
    log,
    version: 'bench',
    desk: {
      ...desk,
      teller:
        kind === 'plain'
          ? plainTeller(backend.databaseUrl, desk.localTime)
          : {
              async do(command) {
                const { decisions, writes } = fold(books, [command], desk.localTime)
                for (const { wallet } of writes.wallets) {
                  wallets.set(wallet.agentId, wallet)
                }
                const decision = decisions[0]
                if (decision?.type !== 'changed') throw new Error('refused')
                return { order: decision.order, changed: true }
              },
            },
    },
    agents: finder,
    listPool: backend.pool,
    buckets: new SharedBuckets(backend.pool, desk.now, () => {}),
    keyUse: { note: () => {} } as never,
    apiLog: new ApiLog(backend.pool, (error) => log.error({ err: error })),
    lookAround: undefined,
    metrics,
    metricsToken: undefined,
    securityContact: undefined,
    mode: 'sandbox',
    callbackTargets: 'near',
    role: 'all',
    timeZone: 'UTC',
    consoleDir: '',
    poster: new CallbackPoster({ targets: 'near', resolveHost: makeResolveHost(), now: desk.now }),
    resolveHost: makeResolveHost(),
    settings: {},
    isDraining: () => false,
    wake: () => {},
    alertChannels: [],
    oidc: undefined,
    consoleAddresses: [],
    portalAddresses: [],
    trustedProxies: [],
    publicUrl: () => 'http://localhost',
    onResponse: (answer) => metrics.answered(answer),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  process.send?.({ url: `http://127.0.0.1:${port}`, agents })
}

/** As many requests with a notice of a payment as asked for, each for a deposit of its own. */
async function makeNotices(count: number): Promise<string[]> {
  const key = derivedKey(backend.secretKeys[0], 'sandbox bank')
  const ids = [...found.values()].map(({ agent }) => agent.agentId as bigint)
  const orders = Array.from({ length: count }, (_, at) => newDeposit(ids[at % ids.length] ?? 1n))
  for (let at = 0; at < orders.length; at += 500) {
    await Promise.all(
      orders
        .slice(at, at + 500)
        .map((order) =>
          desk.teller.do({ type: 'create', agentId: order.agentId, at: order.createdAt, order }),
        ),
    )
  }
  return orders.map((order) => {
    const id = randomUUID()
    const event = {
      id,
      type: 'payment',
      paymentId: id,
      reference: txnId(order.agentId, order.orderId),
      amount: '100',
      currency: 'THB',
      paidAt: new Date().toISOString(),
      payer: null,
    }
    const body = JSON.stringify({ events: [event] })
    const t = String(Math.floor(Date.now() / 1000))
    return `POST /providers/sandbox/notices HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-bank-signature: t=${t},v1=${signCallback(key, t, body)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  })
}
