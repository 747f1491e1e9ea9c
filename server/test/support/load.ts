import { setTimeout as pause } from 'node:timers/promises'
import { AgentClient, type Answer } from './service.ts'

export interface LoadAgent {
  appId: string
  secret: string
  /** Whether a returned payout costs its fee all the same. */
  keepsRevertFee: boolean
}

/** An order as its agent knows it, from the answers alone. */
export interface Placed {
  agent: LoadAgent
  kind: 'deposit' | 'withdraw'
  refId: string
  amount: number
  /** The answer to its creation; undefined where it was refused. */
  answer: string | undefined
  txnId: string
  status: string
  /** The outcomes that were acknowledged, in order. */
  outcomes: string[]
}

/** What may be made to happen to an order in a state. */
const steps: Record<string, string[]> = {
  'deposit WAITING': ['PAID', 'PAID', 'PAID', 'FAILED', 'VOID', 'EXPIRED'],
  'deposit PAID': ['VOID'],
  'withdraw WAITING': ['PAID', 'PAID', 'FAILED', 'CANCEL'],
  'withdraw PAID': ['REVERT'],
}

const knownWithinMs = 120_000

/** Numbers from 0 to 1 that a seed repeats. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Agents at work on several connections. Each places orders and makes things happen to them, and,
 * as an agent should, repeats whatever was not answered, or answered with a 5xx, until it knows.
 */
export class Load {
  /** Where the service is now; to be set again when it moved. */
  url: string
  readonly placed: Placed[] = []
  /** Answers that no agent should get. */
  readonly surprises: string[] = []
  answers = 0
  /** Requests whose outcome was not known at first. */
  unknowns = 0
  private readonly agents: LoadAgent[]
  private readonly working: Promise<unknown>
  private stopping = false
  private wake: (() => void)[] = []

  constructor(url: string, agents: LoadAgent[], seed: number, connections: number) {
    this.url = url
    this.agents = agents
    this.working = Promise.all(
      Array.from({ length: connections }, (_, number) =>
        this.work(number, seeded(seed + 1 + number)),
      ),
    )
    // Whoever waits for answers is told.
    this.working.catch(() => {})
  }

  /** Resolves after so many further answers. */
  async answered(more: number): Promise<void> {
    const goal = this.answers + more
    while (this.answers < goal) {
      await Promise.race([
        this.working,
        new Promise<void>((resolve) => {
          this.wake.push(resolve)
        }),
      ])
    }
  }

  /** Ends when everything under way is known. */
  async stop(): Promise<void> {
    this.stopping = true
    await this.working
  }

  private async work(connection: number, random: () => number): Promise<void> {
    const pick = <T>(items: readonly T[]): T | undefined =>
      items[Math.floor(random() * items.length)]
    const own: Placed[] = []
    for (let count = 0; !this.stopping; count++) {
      const open = own.filter(({ kind, status }) => steps[`${kind} ${status}`])
      const chosen = random() < 0.45 ? pick(open) : undefined
      if (chosen) {
        const outcome = pick(steps[`${chosen.kind} ${chosen.status}`] ?? [])
        // Money that stays makes withdrawals possible.
        if (outcome && (chosen.status === 'WAITING' || random() < 0.1)) {
          await this.makeHappen(chosen, outcome)
        }
        continue
      }
      const agent = this.agents[connection % this.agents.length]
      if (!agent) throw new Error('a load needs agents')
      const kind = random() < 0.6 ? 'deposit' : 'withdraw'
      const amount =
        kind === 'deposit' ? 10 + Math.floor(random() * 990) : 1 + Math.floor(random() * 300)
      const order = await this.place(agent, kind, `load-${connection}-${count}`, amount)
      if (order.answer !== undefined) own.push(order)
    }
  }

  private async place(
    agent: LoadAgent,
    kind: Placed['kind'],
    refId: string,
    amount: number,
  ): Promise<Placed> {
    const answer = await this.untilKnown(agent, `/payment/${kind}`, () => ({
      refId,
      userId: 'user-1',
      amount,
      accountName: 'Somchai Jaidee',
      accountNo: '1234567890',
      bankCode: 'SCB',
      timestamp: new Date().toISOString(),
      // Nothing happens to it but what we make happen.
      ...(kind === 'withdraw' && { extraParams: { sandbox: 'queued' } }),
    }))
    const isTaken = answer.status === 201 || answer.status === 200
    if (!isTaken && answer.json?.code !== 'insufficient_balance') this.surprises.push(answer.text)
    const order: Placed = {
      agent,
      kind,
      refId,
      amount,
      answer: isTaken ? answer.text : undefined,
      txnId: isTaken ? answer.json.txn_id : '',
      status: isTaken ? 'WAITING' : 'refused',
      outcomes: [],
    }
    this.placed.push(order)
    return order
  }

  private async makeHappen(order: Placed, outcome: string): Promise<void> {
    const answer = await this.untilKnown(order.agent, `/sandbox/orders/${order.txnId}`, () => ({
      outcome,
    }))
    // Taken back after it was spent, a deposit may leave less than nothing, but it is taken back.
    if (answer.status !== 200 || answer.json.status !== outcome) this.surprises.push(answer.text)
    order.status = outcome
    order.outcomes.push(outcome)
  }

  private async untilKnown(agent: LoadAgent, path: string, body: () => object): Promise<Answer> {
    const deadline = performance.now() + knownWithinMs
    for (;;) {
      const client = new AgentClient(this.url, agent.appId, agent.secret, 0n, () => new Date())
      const answer = await client.post(path, body()).catch(() => undefined)
      if (answer && answer.status < 500) {
        this.answers++
        for (const wake of this.wake.splice(0)) wake()
        return answer
      }
      if (performance.now() > deadline) {
        throw new Error(`${path} was not answered for a minute: ${answer?.text ?? 'no connection'}`)
      }
      this.unknowns++
      await pause(100)
    }
  }
}

/** What an agent's wallet holds if its answers are true, in hundredths. */
export function walletImpliedBy(orders: Placed[]): { balance: number; held: number } {
  let [balance, held] = [0, 0]
  for (const { agent, kind, status, answer } of orders) {
    if (answer === undefined) continue
    const { amount, fee } = JSON.parse(answer)
    const [amountMinor, feeMinor] = [Math.round(amount * 100), Math.round(fee * 100)]
    if (kind === 'deposit') {
      if (status === 'PAID') balance += amountMinor - feeMinor
    } else if (status === 'WAITING' || status === 'PAID') {
      balance -= amountMinor + feeMinor
      if (status === 'WAITING') held += amountMinor + feeMinor
    } else if (status === 'REVERT' && agent.keepsRevertFee) {
      balance -= feeMinor
    }
  }
  return { balance, held }
}
