import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../support/load.ts'
import type { Answer } from '../support/service.ts'
import { bankCode, minor } from './model.ts'
import type { ChaosAgent, World } from './world.ts'

/** What an agent asks for under a refId. */
export interface Wish {
  kind: 'deposit' | 'withdraw'
  amount: number
  story: string | null
  /** The deposit that this withdrawal refunds. */
  refundOf?: string
}

/** A wish that was sent, and every answer it got; without a number, there was none to rely on. */
export interface Asked {
  wish: Wish
  answers: { status: number; code: string | undefined; text: string }[]
  unknowns: number
}

/** A refId with all that was asked under it. */
export interface Placed {
  agent: ChaosAgent
  refId: string
  asked: Asked[]
  /** The states that its agent was told, by whatever answer. */
  seen: Set<string>
}

const depositStories = [
  ...[null, null, 'paid', 'paid', 'paid', 'failed', 'void', 'taken-back', 'late'],
  ...['underpaid', 'overpaid', 'duplicate', 'wrong-payer', 'charged'],
]
const payoutStories = [
  ...[null, 'paid', 'failed', 'revert', 'timeout-then-paid', 'timeout-then-failed'],
  ...['duplicate-notice', 'charged', 'slow', 'slow', 'queued', 'queued'],
]
const outcomes: Record<Wish['kind'], string[]> = {
  deposit: ['PAID', 'PAID', 'PAID', 'FAILED', 'VOID', 'EXPIRED'],
  withdraw: ['PAID', 'PAID', 'FAILED', 'CANCEL', 'REVERT'],
}
/** What no amount of chaos is an excuse for. */
const expectedRefusals = [
  'ref_id_conflict',
  'insufficient_balance',
  'invalid_transition',
  'order_not_cancellable',
  'order_not_refundable',
  'refund_exceeds_payment',
]
const patienceMs = 8_000
const knownWithinMs = 120_000

/**
 * Agents at work, each on several connections and at both doors: orders with stories, the same one
 * several times at once, conflicting ones, refunds, cancels, triggers and reads. Every answer is remembered.
 */
export class ChaosLoad {
  readonly placed: Placed[] = []
  /** Answers by what they were: a status and a code, or none. */
  readonly results = new Map<string, number>()
  readonly surprises: string[] = []
  /** The ids of requests that were answered with 500. */
  readonly internals: string[] = []
  private readonly world: World
  private readonly working: Promise<unknown>
  private stopping = false
  /** Nobody asks for anything until then. */
  private held: Promise<void> = Promise.resolve()
  private readonly underway = new Set<Promise<unknown>>()

  constructor(world: World, seed: number, connections: number) {
    this.world = world
    this.working = Promise.all(
      Array.from({ length: connections }, (_, number) => this.work(number, seeded(seed + number))),
    )
    this.working.catch(() => {})
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.working
  }

  /** Does something while no request is under way. */
  async hold(work: () => Promise<void>): Promise<void> {
    let release = () => {}
    this.held = new Promise((resolve) => {
      release = resolve
    })
    await Promise.allSettled(this.underway)
    await work().finally(release)
  }

  /** Repeats every wish of which it is not known what became of it, until it is. */
  async resolve(): Promise<number> {
    const open = this.placed.flatMap((placed) =>
      placed.asked
        .filter(({ answers }) => answers.length === 0)
        .map((asked) => ({ placed, asked })),
    )
    const random = seeded(open.length)
    await inTurns(open, async ({ placed, asked }) => {
      const deadline = performance.now() + knownWithinMs
      while (asked.answers.length === 0) {
        await this.ask(placed, asked, random)
        if (performance.now() > deadline) throw new Error(`${placed.refId} does not get known`)
        if (asked.answers.length === 0) await pause(200)
      }
    })
    return open.length
  }

  /** Any request of an agent, at a door of chance; undefined where there was no answer. */
  async send(
    agent: ChaosAgent,
    path: string,
    /** Made when it is sent: it may tell the time. */
    body: object | (() => object) | undefined,
    random: () => number,
    method = body ? 'POST' : 'GET',
  ): Promise<Answer | undefined> {
    await this.held
    const doors = this.world.doors
    const door = doors[Math.floor(random() * doors.length)] ?? doors[0]
    if (!door) throw new Error('there is no door')
    const text = body && JSON.stringify(typeof body === 'function' ? body() : body)
    const given = this.world.client(agent, door).send(method, path, text)
    const told = Promise.race([given.catch(() => undefined), pause(patienceMs, undefined)])
    this.underway.add(told)
    const answer = await told
    this.underway.delete(told)
    const code: string | undefined = answer?.json?.code
    this.count(answer ? `${answer.status}${code ? ` ${code}` : ''}` : 'no answer')
    // Whatever breaks, an agent is told so in a way that it can act on.
    if (answer?.status === 500) this.internals.push(answer.json?.request_id)
    const isRefusal = answer && answer.status >= 400 && answer.status < 500
    if (isRefusal && !expectedRefusals.includes(code ?? '') && !path.includes('refId=')) {
      this.surprises.push(`${method} ${path}: ${answer.text}`)
    }
    return answer
  }

  /** How many requests were answered by a service that could. */
  get served(): number {
    return [...this.results]
      .filter(([result]) => /^[234]/.test(result))
      .reduce((sum, [, count]) => sum + count, 0)
  }

  private count(result: string): void {
    this.results.set(result, (this.results.get(result) ?? 0) + 1)
  }

  private async work(connection: number, random: () => number): Promise<void> {
    const { agents } = this.world
    const agent = agents[connection % agents.length]
    if (!agent) throw new Error('a load needs agents')
    const own: Placed[] = []
    const funded = await this.place(agent, `${connection}-fund`, random, [
      { kind: 'deposit', amount: 5_000 * unit(agent), story: 'paid' },
    ])
    own.push(funded)
    for (let count = 0; !this.stopping; count++) {
      const order = own[Math.floor(random() ** 0.3 * own.length)]
      const action = random()
      const refunds = order && refundsOf(order, random)
      if (action < 0.53 || !order) {
        own.push(await this.place(agent, `${connection}-${count}`, random, wishes(agent, random)))
      } else if (action < 0.6 && refunds) {
        own.push(await this.place(agent, `${connection}-${count}`, random, refunds))
      } else if (action < 0.7) await this.change(order, 'cancel', random)
      else if (action < 0.83) await this.change(order, 'trigger', random)
      else await this.read(order, random)
      await pause(random() * 40)
    }
  }

  private async place(
    agent: ChaosAgent,
    name: string,
    random: () => number,
    wanted: Wish[],
  ): Promise<Placed> {
    const asked = wanted.map((wish): Asked => ({ wish, answers: [], unknowns: 0 }))
    const placed: Placed = { agent, refId: `chaos-${name}`, asked, seen: new Set() }
    this.placed.push(placed)
    const copies = random() < 0.2 ? 1 + Math.floor(random() * 3) : 1
    await Promise.all(
      asked.flatMap((one) => Array.from({ length: copies }, () => this.ask(placed, one, random))),
    )
    // An agent repeats what it does not know; some only when all is over.
    for (const one of asked) {
      if (one.answers.length === 0 && random() < 0.5) await this.ask(placed, one, random)
    }
    return placed
  }

  private async ask(placed: Placed, asked: Asked, random: () => number): Promise<void> {
    const { kind, amount, story, refundOf } = asked.wish
    const common = () => ({
      refId: placed.refId,
      amount,
      timestamp: this.world.now().toISOString(),
    })
    const order = {
      path: `/payment/${kind}`,
      body: () => ({
        ...common(),
        userId: 'user-1',
        accountName: 'Somchai Jaidee',
        accountNo: '1234567890',
        bankCode: bankCode[placed.agent.terms.currency],
        ...(story !== null && { extraParams: { sandbox: story } }),
      }),
    }
    const refund = { path: `/payment/orders/${refundOf}/refund`, body: common }
    const { path, body } = refundOf === undefined ? order : refund
    const answer = await this.send(placed.agent, path, body, random)
    if (!answer || answer.status >= 500) {
      asked.unknowns++
      return
    }
    const { status, text, json } = answer
    asked.answers.push({ status, code: json?.code, text })
  }

  private async change(
    placed: Placed,
    how: 'cancel' | 'trigger',
    random: () => number,
  ): Promise<void> {
    const txnId = txnIdOf(placed)
    const kind = placed.asked[0]?.wish.kind
    if (txnId === undefined || kind === undefined) return
    const choices = outcomes[kind]
    const outcome = choices[Math.floor(random() * choices.length)]
    const other = kind === 'deposit' && outcome === 'PAID' && random() < 0.2
    const answer =
      how === 'cancel'
        ? await this.send(
            placed.agent,
            `/payment/orders/${txnId}/cancel`,
            undefined,
            random,
            'POST',
          )
        : await this.send(
            placed.agent,
            `/sandbox/orders/${txnId}`,
            {
              outcome,
              ...(other && { paidAmount: unit(placed.agent) * 7, payerAccountNo: '555' }),
            },
            random,
          )
    see(placed, answer)
  }

  private async read(placed: Placed, random: () => number): Promise<void> {
    const txnId = txnIdOf(placed)
    const byRefId = txnId === undefined || random() < 0.5
    const path = byRefId ? `/payment/orders?refId=${placed.refId}` : `/payment/orders/${txnId}`
    see(placed, await this.send(placed.agent, path, undefined, random))
  }
}

/** One wish, or two that exclude each other. */
function wishes(agent: ChaosAgent, random: () => number): Wish[] {
  const kind = random() < 0.6 ? 'deposit' : 'withdraw'
  const stories = kind === 'deposit' ? depositStories : payoutStories
  const story = stories[Math.floor(random() * stories.length)] ?? null
  const most = kind === 'deposit' ? 990 : 300
  const wish = { kind, story, amount: (10 + Math.floor(random() * most)) * unit(agent) } as const
  return random() < 0.08 ? [wish, { ...wish, amount: wish.amount + unit(agent) }] : [wish]
}

/** A refund of an order, or two that exclude each other or come to more than was paid. */
function refundsOf(placed: Placed, random: () => number): Wish[] | undefined {
  const wish = placed.asked[0]?.wish
  const refundOf = txnIdOf(placed)
  if (wish?.kind !== 'deposit' || refundOf === undefined) return undefined
  const share = random() < 0.3 ? 1 : 0.4
  const amount = Math.max(unit(placed.agent), Math.floor(wish.amount * share))
  const refund = { kind: 'withdraw', story: null, amount, refundOf } as const
  return random() < 0.1 ? [refund, { ...refund, amount: amount + unit(placed.agent) }] : [refund]
}

/** What amounts are counted in: a THB buys as much as many VND. */
function unit({ terms }: ChaosAgent): number {
  return minor(1, terms) === 1 ? 1_000 : 1
}

/** The order's id, once any answer has told it. */
export function txnIdOf({ asked }: Placed): string | undefined {
  const taken = asked.flatMap(({ answers }) => answers).find(({ status }) => status < 300)
  return taken && JSON.parse(taken.text).txn_id
}

function see(placed: Placed, answer: Answer | undefined): void {
  if (answer?.status === 200 && answer.json?.status) placed.seen.add(answer.json.status)
}

export async function inTurns<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (const item of left) await work(item)
    }),
  )
}
