import { AgentFinder } from '../dist/agents/agent-finder.js'
import { createAgent, defaultTerms } from '../dist/agents/save-agent.js'
import { openBackend } from '../dist/backend.js'
import { readConfig } from '../dist/config.js'
import { Metrics } from '../dist/http/metrics.js'
import { buildServer } from '../dist/http/server.js'
import { fold } from '../dist/ledger/fold.js'
import { makeLog, openDesk, startService } from '../dist/service.js'

/**
 * A service for the benchmark, told by IPC where it listens and who its agents are. `database`
 * is the real thing; `none` is the same server whose teller decides in memory and whose agents are
 * known beforehand: what HTTP, the door and the answers cost by themselves.
 */
const [kind, agentCount, method, fund] = process.argv.slice(2)
const read = readConfig()
if ('faults' in read) throw new Error(read.faults.join('\n'))
const { config } = read
const log = makeLog('silent')
const backend = await openBackend(config, 'serve', () => {})
const { desk } = openDesk(config, backend, {})

const agents: { appId: string; secret: string }[] = []
const found = new Map()
for (let at = 0; at < Number(agentCount); at++) {
  const { agent, secret } = await createAgent(
    backend.pool,
    backend.secretKeys,
    {
      ...defaultTerms,
      name: `Bench ${at}`,
      currency: 'THB',
      rateLimit: 0,
      method: method as 'link',
    },
    new Date(),
  )
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

// Asked at any time, it says how much CPU it has used.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})

if (kind === 'database') {
  const service = await startService(config, backend, log)
  process.send?.({ url: service.url, agents })
} else {
  const metrics = new Metrics()
  const wallets = new Map(
    [...found.values()].map(({ agent }) => [
      agent.agentId,
      {
        wallet: {
          agentId: agent.agentId,
          seq: 1n,
          balances: {
            available: 10n ** 15n,
            held: 0n,
            clearing: 0n,
            fees: 0n,
            adjustments: -(10n ** 15n),
          },
        },
        terms: { currency: agent.currency, revertFee: agent.revertFee, lateMoney: agent.lateMoney },
      },
    ]),
  )
  const books = {
    wallets,
    orders: new Map(),
    refIds: new Map(),
    payments: new Map(),
    adjustments: new Set<string>(),
  }
  const finder = new AgentFinder(backend.pool, backend.secretKeys, desk.now, () => {})
  finder.find = async (appId: string) => found.get(appId)
  const app = await buildServer({
    log,
    version: 'bench',
    desk: {
      ...desk,
      teller: {
        async do(command) {
          const { decisions, writes } = fold(books, [command], desk.localTime)
          for (const { wallet } of writes.wallets) {
            const account = wallets.get(wallet.agentId)
            if (account) wallets.set(wallet.agentId, { ...account, wallet })
          }
          const decision = decisions[0]
          if (decision?.type !== 'changed') throw new Error('refused')
          return { order: decision.order, changed: true }
        },
      },
    },
    agents: finder,
    keyUse: { note: () => {} } as never,
    metrics,
    metricsToken: undefined,
    mode: 'sandbox',
    role: 'all',
    timeZone: 'UTC',
    isDraining: () => false,
    wake: () => {},
    trustedProxies: [],
    publicUrl: () => 'http://localhost',
    onResponse: (answer) => metrics.answered(answer),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  process.send?.({ url: `http://127.0.0.1:${port}`, agents })
}
