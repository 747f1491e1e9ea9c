import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { AgentFinder } from '../../src/agents/agent-finder.ts'
import { findAgentById } from '../../src/agents/find-agent.ts'
import { makeResolveHost, type ResolveHost } from '../../src/agents/resolve-host.ts'
import { openCallbackPool } from '../../src/callbacks/callback-pool.ts'
import { CallbackPoster } from '../../src/callbacks/post-callback.ts'
import { CallbackSender } from '../../src/callbacks/sender.ts'
import { listen } from '../../src/callbacks/wake-up.ts'
import { openPool } from '../../src/db/pool.ts'
import type { OrderStatus } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { createDeposit } from '../../src/orders/create-order.ts'
import { repeat } from '../../src/worker/repeat.ts'
import type { AgentClient, TestService } from './service.ts'

export interface TestSender {
  sender: CallbackSender
  /** What it could not do. */
  errors: unknown[]
  /** Looks for what is due, and resolves when nothing is under way any more. */
  round(): Promise<void>
  stop(): Promise<void>
}

export interface TestSenderOptions {
  /** Callbacks of one agent under way at once, over all senders. */
  widest?: number
  /** Callbacks of all agents that it has under way at once. */
  maxInFlight?: number
  resolveHost?: ResolveHost
  /** Another clock than the service's. */
  clock?: Clock
  /** Without it, only what `round` finds is sent, and what is heard. */
  pollEveryMs?: number
  listens?: boolean
}

/** A sender with pools and connections of its own, as in a process of its own. */
export function startSender(s: TestService, options: TestSenderOptions = {}): TestSender {
  const { widest = 32, maxInFlight = 1_000, clock = s.clock } = options
  const { resolveHost = makeResolveHost(), pollEveryMs, listens = false } = options
  const { databaseUrl: url } = s.backend
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const pool = openCallbackPool(url, onError)
  const agentPool = openPool({ url, max: 2, name: 'sluice', onError })
  const poster = new CallbackPoster({
    targets: 'near',
    resolveHost,
    now: clock,
  })
  const sender = new CallbackSender({
    pool,
    agents: new AgentFinder(agentPool, s.backend.secretKeys, clock, onError),
    poster,
    now: clock,
    random: Math.random,
    version: 'test',
    widest,
    maxInFlight,
    onError,
  })
  const listening = listens
    ? listen(
        url,
        (agentIds) => {
          if (agentIds.length > 0) sender.wake(agentIds)
          else sender.poll().catch(onError)
        },
        onError,
      )
    : undefined
  const polling =
    pollEveryMs === undefined
      ? undefined
      : repeat(pollEveryMs, () => sender.poll().then(() => 'done' as const), onError)
  return {
    sender,
    errors,
    async round() {
      await sender.poll()
      while (!sender.isIdle) await pause(1)
    },
    async stop() {
      await polling?.stop()
      await sender.stop()
      await listening?.stop()
      await poster.close()
      await pool.end()
      await agentPool.end()
    },
  }
}

/** Deposits that come to these outcomes, one after the other, past the HTTP API. Returns their ids. */
export async function makeOutcomes(
  s: TestService,
  { agentId }: AgentClient,
  orders: number,
  outcomes: readonly ('PAID' | 'FAILED' | 'VOID')[],
): Promise<string[]> {
  const { desk } = s.service
  const agent = await findAgentById(s.backend.pool, agentId)
  if (!agent) throw new Error('there is no such agent')
  const made: string[] = []
  while (made.length < orders) {
    const created = await Promise.all(
      Array.from({ length: Math.min(500, orders - made.length) }, () =>
        createDeposit(desk, agent, {
          refId: crypto.randomUUID(),
          userId: 'user-1',
          amount: 100n,
          accountName: 'Somchai Jaidee',
          accountNo: '1234567890',
          bankCode: 'SCB',
          extraParams: null,
        }),
      ),
    )
    const txnIds = created.map(({ answer }): string => JSON.parse(answer).txn_id)
    await Promise.all(
      txnIds.flatMap((id) =>
        outcomes.map((to, at) => desk.teller.do(commandOf(id, to, outcomes[at - 1], s.clock()))),
      ),
    )
    made.push(...txnIds)
  }
  return made
}

function commandOf(id: string, to: OrderStatus, from: string | undefined, at: Date): Command {
  const named = parseTxnId(id)
  if (!named) throw new Error(`${id} is not a transaction id`)
  const paymentId = `test:${id}`
  if (from === 'PAID') return { type: 'take_back_payment', ...named, at, paymentId }
  if (to !== 'PAID') return { type: 'outcome', ...named, at, to }
  const payment = { paymentId, amountMinor: 10_000n, paidAt: at, payer: null }
  return { type: 'receive_payment', provider: null, ...named, at, payment }
}

export interface BlackHole {
  url: string
  /** Connections that are held open. */
  readonly held: number
  close(): Promise<void>
}

/** Takes every connection and answers nothing. */
export async function startBlackHole(): Promise<BlackHole> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.resume()
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    get held() {
      return sockets.size
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      return closed
    },
  }
}

/**
 * What was to be told has been told, to one agent or to all, none with an address: once the sender has
 * found that there is none, it changes nothing any more.
 */
export async function deliverCallbacks(s: TestService, agent?: AgentClient): Promise<void> {
  const whose = '($1::bigint is null or agent_id = $1)'
  const untold = async () =>
    (
      await s.sql(`select 1 from callbacks where ${whose} and state = 'waiting' and not follows`, [
        agent?.agentId,
      ])
    ).rowCount
  // Whether or not the service has a worker, which sends at times of its own.
  const own = startSender(s)
  const told = async () => {
    await own.round()
    return untold()
  }
  await expect.poll(told).toBe(0).finally(own.stop)
  await s.sql(
    `update callbacks set state = 'delivered', delivered_at = created_at where ${whose}`,
    [agent?.agentId],
  )
}
