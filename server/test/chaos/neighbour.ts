import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { chainAnew } from '../support/chain-anew.ts'
import { freezeHolding } from '../support/frozen-holder.ts'
import { type Env, sluiceJson } from '../support/process.ts'
import type { ChaosLoad } from './load.ts'
import { type World, withOwner } from './world.ts'

/** An agent that nobody checks on: it only does to the others what a bad neighbour does. */
export interface Neighbour {
  appId: string
  secret: string
  agentId: bigint
}

/** What other agents got done in a while. */
interface Progress {
  answers: number
  callbacks: number
  payouts: number
}

export interface Disturbance {
  kind: string
  alone: Progress
  beside: Progress
}

/** Others must get at least this share of what they get done alone. */
const leastShare = 0.2
/** The bank that the provider which hangs is routed for, and nobody else uses. */
export const hungBank = 'KTB'

/** Makes the agent, with a balance and without any callback address. */
export async function makeNeighbour(env: Env): Promise<Neighbour> {
  const made = await sluiceJson(
    ['agent', 'create', '--name', 'Bad neighbour', '--rate-limit', '0', '--withdraw-fee', '0'],
    env,
  )
  await sluiceJson(['wallet', 'adjust', made.app_id, '1000000', '--reason', 'To withdraw'], env)
  const { rows } = await withOwner(env.DATABASE_OWNER_URL ?? '', (owner) =>
    owner.query<{ agent_id: string }>(routes, [made.app_id, hungBank]),
  )
  return { appId: made.app_id, secret: made.secret, agentId: BigInt(rows[0]?.agent_id ?? 0) }
}

/** A provider's own server that takes calls and does not answer, until it is healed. */
export class HungBank {
  private readonly server: Server
  private readonly kept = new Set<ServerResponse>()
  private hangs = true

  private constructor() {
    this.server = createServer((_request, response) => {
      if (!this.hangs) return void response.end('paid')
      this.kept.add(response)
      response.once('close', () => this.kept.delete(response))
    })
  }

  static async open(): Promise<HungBank> {
    const bank = new HungBank()
    await new Promise<void>((resolve) => bank.server.listen(0, '127.0.0.1', resolve))
    return bank
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** How many calls it keeps waiting. */
  get waiting(): number {
    return this.kept.size
  }

  /** From now on everything it is asked about was paid. */
  heal(): void {
    this.hangs = false
    for (const response of this.kept) response.end('paid')
  }

  close(): Promise<void> {
    this.heal()
    this.server.closeAllConnections()
    return new Promise((resolve) => {
      this.server.close(() => resolve())
    })
  }
}

/**
 * Lets the neighbour do each of its bad deeds while the load of the others goes on, and measures what
 * they got done beside it against what they get done alone.
 */
export async function disturb(
  world: World,
  load: ChaosLoad,
  { windowMs, rows }: { windowMs: number; rows: number },
): Promise<Disturbance[]> {
  const disturbances: Disturbance[] = []
  for (const [kind, deed] of Object.entries(deeds)) {
    const alone = await progress(world, load, windowMs)
    const end = await deed(world, rows)
    const beside = await progress(world, load, windowMs)
    await end()
    disturbances.push({ kind, alone, beside })
    console.info(inWords({ kind, alone, beside }))
  }
  return disturbances
}

/** What the others noticed too much of. */
export function tooMuch(disturbances: Disturbance[]): string[] {
  return disturbances.flatMap(({ kind, alone, beside }) =>
    (['answers', 'callbacks', 'payouts'] as const)
      // Where they got nothing done alone, nothing was measured.
      .filter((what) => alone[what] === 0 || beside[what] < Math.floor(alone[what] * leastShare))
      .map(
        (what) => `beside a ${kind} others got ${beside[what]} ${what} instead of ${alone[what]}`,
      ),
  )
}

function inWords({ kind, alone, beside }: Disturbance): string {
  const ratio = (what: keyof Progress) => `${what} ${beside[what]} of ${alone[what]}`
  return `beside a ${kind}: ${ratio('answers')}, ${ratio('callbacks')}, ${ratio('payouts')}`
}

/** Each deed begins at once and goes on until it is ended. */
const deeds: Record<string, (world: World, rows: number) => Promise<() => Promise<void>>> = {
  /** A process that was stopped inside a transaction. */
  'held wallet': async (world) => {
    const release = await freezeHolding(world.postgres.ownerUrl, world.neighbour.agentId)
    const ending = keepAsking(world, 20, withdrawal('SCB'))
    return async () => {
      release()
      await ending()
    }
  },

  'heap of undeliverable callbacks': async (world, rows) => {
    await giveHistory(world, rows)
    return async () => {}
  },

  'provider that hangs': async (world) => {
    const ending = keepAsking(world, 4, withdrawal(hungBank))
    await until(() => world.hungBank.waiting > 0)
    return async () => {
      await ending()
      world.hungBank.heal()
    }
  },

  'heavy reader': async (world) => {
    const path = '/payment/orders?kind=withdraw&status=PAID&limit=200'
    return keepAsking(world, 40, (client) => client.get(path))
  },
}

type Client = ReturnType<World['client']>

/** Asks again and again on many connections, whatever is answered, until it is ended. */
function keepAsking(
  world: World,
  connections: number,
  ask: (client: Client, world: World) => Promise<unknown>,
): () => Promise<void> {
  let going = true
  const asking = Array.from({ length: connections }, async (_, at) => {
    const door = world.doors[at % world.doors.length]
    while (going && door) {
      await ask(world.client(world.neighbour, door), world).catch(() => {})
      // A door that is closed for the moment is not hammered.
      await pause(5)
    }
  })
  return async () => {
    going = false
    await Promise.all(asking)
  }
}

let withdrawals = 0
function withdrawal(bankCode: string) {
  return (client: Client, world: World) =>
    client.send(
      'POST',
      '/payment/withdraw',
      JSON.stringify({
        refId: `neighbour-${++withdrawals}`,
        userId: 'user-1',
        amount: 1,
        accountName: 'Somchai Jaidee',
        accountNo: '1234567890',
        bankCode,
        timestamp: world.now().toISOString(),
      }),
    )
}

async function progress(world: World, load: ChaosLoad, windowMs: number): Promise<Progress> {
  const before = await doneSoFar(world, load)
  await pause(windowMs)
  const after = await doneSoFar(world, load)
  return {
    answers: after.answers - before.answers,
    callbacks: after.callbacks - before.callbacks,
    payouts: after.payouts - before.payouts,
  }
}

async function doneSoFar(world: World, load: ChaosLoad): Promise<Progress> {
  const { rows } = await world.asOwner((owner) =>
    owner.query<{ count: number }>('select count(*)::int from sandbox_bank.payouts'),
  )
  return {
    answers: load.served,
    callbacks: world.agents.reduce((sum, { receiver }) => sum + receiver.arrivals.length, 0),
    payouts: rows[0]?.count ?? 0,
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!condition() && performance.now() < deadline) await pause(20)
}

/**
 * Deposits that expired, in bulk, as the service writes them: each with its journal row and a callback
 * that has nowhere to go.
 */
async function giveHistory(world: World, rows: number): Promise<void> {
  await world.asOwner(async (owner) => {
    await owner.query('set search_path to sluice')
    // What foreign keys would look up row by row, the proof looks at in the end.
    await owner.query('set session_replication_role = replica')
    await owner.query('begin')
    await owner.query('select 1 from wallets where agent_id = $1 for update', [
      world.neighbour.agentId,
    ])
    await owner.query(expiredDeposits, [world.neighbour.agentId, rows])
    await chainAnew((text, values) => owner.query(text, values), world.neighbour.agentId)
    await owner.query('commit')
  })
}

/** Only the neighbour's bank leads to the provider that hangs. */
const routes = `with routed as (
    insert into sluice.provider_routes (provider, route, direction, currency, banks, min_amount,
      max_amount, preference, weight)
    values ('hung', 'all', 'withdraw', 'THB', array[$2], 1, 1000000, 1, 1),
      ('sandbox', 'baht', 'withdraw', 'THB', array['SCB'], 1, 1000000, 1, 1),
      ('sandbox', 'dong', 'withdraw', 'VND', null, 1, 1000000000, 1, 1)
  ) select agent_id from sluice.agents where app_id = $1`

const expiredDeposits = `with made as materialized (
    select w.agent_id, w.seq + n as seq, w.available, w.held, w.clearing, w.fees, w.adjustments,
      w.suspense, w.costs, w.differences, w.transfers, (select max(j.at) from journal j where j.agent_id = w.agent_id) as at,
      format('%s', 'heap-' || w.seq + n) as ref_id,
      '019a0000000070008' || lpad(to_hex(w.seq + n), 15, '0') as hex
    from wallets w, generate_series(1, $2::int) n where w.agent_id = $1
  ), new_orders as (
    insert into orders (agent_id, order_id, kind, ref_id, user_id, currency, amount, fee, fee_rule, late_money,
      account_name, account_no, bank_code, status, version, answer, created_at, expires_at, completed_at)
    select agent_id, hex::uuid, 'deposit', ref_id, 'user-1', 'THB', 10000, 0, '0%', 'review',
      'Somchai Jaidee', '1234567890', 'SCB', 'EXPIRED', 2,
      format('{"txn_id":"%s-%s","ref_id":"%s","amount":100,"fee":0,"expires_in":900,"created_at":"%s"}',
        agent_id, hex, ref_id,
        to_char((at - interval '15 minutes') at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')),
      at - interval '15 minutes', at, at
    from made
  ), new_rows as (
    insert into journal (agent_id, seq, order_id, event, at, currency, available_change, held_change,
      clearing_change, fees_change, adjustments_change, suspense_change, costs_change, differences_change,
      transfers_change, available, held, clearing, fees, adjustments, suspense, costs, differences, transfers, hash)
    select agent_id, seq, hex::uuid, 'deposit_expired', at, 'THB', 0, 0, 0, 0, 0, 0, 0, 0, 0, available, held,
      clearing, fees, adjustments, suspense, costs, differences, transfers, repeat('0', 64)
    from made
  ), new_callbacks as (
    insert into callbacks (agent_id, seq, order_id, body, state, created_at, kind, follows, attempts,
      due_at, again)
    select agent_id, seq, hex::uuid, format('{"refId":"%s","transactionId":"%s-%s","userId":"user-1",' ||
        '"amount":100,"fee":0,"status":"EXPIRED","extParams":{},"successAt":"%s","wallet":{"balance":%s}}',
        ref_id, agent_id, hex, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
        trim_scale(available / 100.0)),
      'waiting', at, 'deposit', false, 0, at, 0
    from made
  )
  update wallets w set seq = m.seq from (select max(seq) as seq from made) m where w.agent_id = $1`
