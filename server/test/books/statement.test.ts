import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { findAgent } from '../../src/agents/find-agent.ts'
import type { Order, OrderStatus } from '../../src/ledger/book.ts'
import { houseBook } from '../../src/ledger/house.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { type Currency, decimalText, printedMoney } from '../../src/lib/money.ts'
import { daysAfter } from '../../src/lib/period.ts'
import { movementKinds, readStatement } from '../../src/reports/statement.ts'
import { usually } from '../support/long.ts'
import { newOrder } from '../support/naive-model.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { printedIn } from '../support/printed-text.ts'
import { command } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Statements of an agent: what came in and went out, between two balances. */

const hourMs = 3_600_000
let s: TestService
beforeAll(async () => {
  s = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

const agentOf = async ({ appId }: AgentClient): Promise<Agent> => {
  const agent = await findAgent(s.backend.pool, appId)
  if (!agent) throw new Error('no such agent')
  return agent
}

/** What the test itself knows to have happened; it never looks at the journal. */
interface Fact {
  at: number
  kind: string
  minor: bigint
}

let sweeps = 0
const fees = { deposit: 3_21n, withdraw: 1_07n }

/** A shop that has things happen to it, and notes each with its own arithmetic. */
class Shop {
  readonly facts: Fact[] = []
  readonly paid: { orderId: string; paymentId: string; minor: bigint }[] = []
  readonly waiting: Order[] = []
  readonly paidOut: Order[] = []
  readonly credited: { paymentId: string; minor: bigint }[] = []
  private made = 0
  private readonly client: AgentClient
  private readonly currency: Currency

  constructor(client: AgentClient, currency: Currency) {
    this.client = client
    this.currency = currency
  }

  private get common() {
    return { agentId: this.client.agentId, at: s.clock() }
  }

  private note(kind: string, minor: bigint): void {
    this.facts.push({ at: s.clock().getTime(), kind, minor })
  }

  private order(kind: 'deposit' | 'withdraw', minor: bigint, more: Partial<Order> = {}): Order {
    const { agentId, at } = this.common
    const fixed = kind === 'deposit' ? fees.deposit : fees.withdraw
    const rule = { feeRule: decimalText(fixed, this.currency), feeMinor: fixed }
    const about = { agentId, orderId: newOrderId(at), kind, createdAt: at, amountMinor: minor }
    return newOrder({ ...about, ...rule, ...more }, this.currency)
  }

  async deposit(minor: bigint): Promise<void> {
    const { teller } = s.service.desk
    const order = this.order('deposit', minor)
    const { orderId } = order
    // A part of it that is held back is still the agent's.
    if (this.currency === 'VND') order.reserveRule = '30%/1'
    await teller.do({ type: 'create', ...this.common, order })
    const paymentId = `bank:${randomUUID()}`
    const payment = { paymentId, amountMinor: minor, paidAt: s.clock(), payer: null }
    const received = { type: 'receive_payment', orderId, provider: null, payment } as const
    await teller.do({ ...received, ...this.common })
    this.paid.push({ orderId, paymentId, minor })
    this.note('deposits_paid', minor)
    this.note('deposit_fees', -fees.deposit)
  }

  async takeBack(): Promise<void> {
    const deposit = this.paid.pop()
    if (!deposit) return
    const { orderId, paymentId, minor } = deposit
    const { teller } = s.service.desk
    await teller.do({ type: 'take_back_payment', ...this.common, orderId, paymentId })
    this.note('deposits_taken_back', -minor)
    this.note('deposit_fees_returned', fees.deposit)
    // Its refunds that no provider has are cancelled.
    const isOfIt = ({ refundOf }: Order) => refundOf === orderId
    this.waiting.splice(0, Infinity, ...this.waiting.filter((each) => !isOfIt(each)))
  }

  async withdraw(minor: bigint, refundOf: string | null = null): Promise<void> {
    const { teller } = s.service.desk
    const order = this.order('withdraw', minor, {
      refundOf,
      revertFee: this.made++ % 2 === 0 ? 'return' : 'keep',
    })
    const version = refundOf === null ? {} : { depositVersion: 2 }
    const made = teller.do({ type: 'create', ...this.common, order, ...version })
    if (await made.then(Boolean, () => false)) this.waiting.push(order)
  }

  async refund(minor: bigint): Promise<void> {
    const deposit = this.paid.at(-1)
    if (deposit) await this.withdraw(minor < deposit.minor ? minor : deposit.minor, deposit.orderId)
  }

  async end(to: OrderStatus): Promise<void> {
    const order = this.waiting.shift()
    if (!order) return
    const { orderId, refundOf } = order
    await s.service.desk.teller.do({ type: 'outcome', ...this.common, orderId, to })
    if (to !== 'PAID') return
    this.paidOut.push(order)
    const what = refundOf === null ? 'withdrawal' : 'refund'
    this.note(`${what}s_paid`, -order.amountMinor)
    this.note(`${what}_fees`, -order.feeMinor)
  }

  async revert(): Promise<void> {
    const order = this.paidOut.shift()
    if (!order) return
    const { orderId, refundOf, revertFee } = order
    const to = 'REVERT'
    await s.service.desk.teller.do({ type: 'outcome', ...this.common, orderId, to })
    const what = refundOf === null ? 'withdrawal' : 'refund'
    this.note(`${what}s_reverted`, order.amountMinor)
    if (revertFee === 'return') this.note(`${what}_fees_returned`, order.feeMinor)
  }

  async adjust(minor: bigint): Promise<void> {
    const about = { amountMinor: minor, reason: 'a test', ref: randomUUID() }
    await s.service.desk.teller.do({ type: 'adjust', ...this.common, ...about })
    this.note('adjustments', minor)
  }

  async credit(minor: bigint): Promise<void> {
    const { teller } = s.service.desk
    const paymentId = `bank:${randomUUID()}`
    const payment = { paymentId, amountMinor: minor, paidAt: s.clock(), payer: null }
    const received = { type: 'receive_payment', orderId: null, provider: 'bank', payment } as const
    await teller.do({ ...received, ...this.common })
    await teller.do({ type: 'credit_wallet', ...this.common, paymentId, reason: 'theirs' })
    this.credited.push({ paymentId, minor })
    this.note('payments_credited', minor)
  }

  async takeCreditBack(): Promise<void> {
    const payment = this.credited.pop()
    if (!payment) return
    const { paymentId, minor } = payment
    const { teller } = s.service.desk
    await teller.do({ type: 'take_back_payment', ...this.common, orderId: null, paymentId })
    this.note('payments_taken_back', -minor)
  }

  async release(): Promise<void> {
    for (const { orderId } of this.paid) {
      await s.service.desk.teller.do({ type: 'release_reserve', ...this.common, orderId })
    }
  }

  async sweep(): Promise<void> {
    const houseId = houseBook(this.currency)
    await s.service.desk.teller.do({
      type: 'sweep',
      ...this.common,
      houseId,
      day: daysAfter('2000-01-01', ++sweeps),
    })
  }

  act(what: number, minor: bigint): Promise<void> {
    switch (what) {
      case 0:
        return this.takeBack()
      case 1:
        return this.withdraw(minor)
      case 2:
        return this.refund(minor)
      case 3:
        return this.end('PAID')
      case 4:
        return this.end('FAILED')
      case 5:
        return this.revert()
      case 6:
        return this.adjust(minor)
      case 7:
        return this.adjust(-minor)
      case 8:
        return this.credit(minor)
      case 9:
        return this.takeCreditBack()
      case 10:
        return this.sweep().then(() => this.release())
      default:
        return this.deposit(minor)
    }
  }
}

/** What a period must come to, from the facts alone. */
function expected(facts: readonly Fact[], from: number, to: number) {
  const sum = (some: readonly Fact[]) => some.reduce((all, { minor }) => all + minor, 0n)
  const within = facts.filter(({ at }) => at >= from && at < to)
  const kinds = [...new Set(within.map(({ kind }) => kind))]
  return {
    opening: sum(facts.filter(({ at }) => at < from)),
    closing: sum(facts.filter(({ at }) => at < to)),
    movements: kinds
      .map((kind) => {
        const same = within.filter((fact) => fact.kind === kind)
        return { kind, count: same.length, amountMinor: sum(same) }
      })
      .sort((a, b) => (a.kind < b.kind ? -1 : 1)),
  }
}

/** A history with every kind of movement, each with the fee given back and kept. */
const everything = [11, 11, 11, 1, 3, 1, 3, 5, 5, 2, 3, 2, 3, 5, 5, 8, 9, 6, 7, 10, 11, 0].map(
  (what): [number, bigint, number] => [what, 100_00n, 7],
)
const windowsOfIt: [number, number][] = [
  [0, 24],
  [0.5, 24],
  [0.9, 200],
]

it('come to what happened, for every period of every history', async () => {
  const seen = new Set<string>()
  const step = fc.tuple(
    fc.constantFrom(0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 11, 11, 11),
    fc.bigInt({ min: 4_00n, max: 900_00n }),
    fc.nat({ max: 30 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Currency>('THB', 'VND'),
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 300 })), {
        minLength: 3,
        maxLength: 3,
      }),
      async (currency, steps, windows) => {
        const client = await s.agent({ currency })
        const agent = await agentOf(client)
        const shop = new Shop(client, currency)
        const start = s.clock().getTime()
        for (const [what, minor, hours] of steps) {
          await shop.act(what, minor)
          s.clock.advance(hours * hourMs + 1)
        }
        for (const { kind } of shop.facts) seen.add(kind)
        const lengthMs = s.clock().getTime() - start
        const periods = windows.map(([part, hours]) => {
          const from = start + Math.floor(part * lengthMs)
          return { from, to: from + hours * hourMs + 1 }
        })
        for (const { from, to } of [{ from: start, to: start + lengthMs }, ...periods]) {
          const wanted = expected(shop.facts, from, to)
          const period = { from: new Date(from), to: new Date(to) }
          const statement = await readStatement(s.backend.pool, agent, period)
          const { opening, closing, movements, feesMinor } = statement
          expect(movements.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual(wanted.movements)
          expect([opening.total, closing.total]).toEqual([wanted.opening, wanted.closing])
          const charged = wanted.movements.filter(({ kind }) => kind.includes('_fees'))
          expect(-feesMinor).toBe(charged.reduce((sum, each) => sum + each.amountMinor, 0n))
          const moved = movements.reduce((sum, each) => sum + each.amountMinor, 0n)
          expect(opening.total + moved).toBe(closing.total)
          expect(closing.available + closing.held + closing.reserve).toBe(closing.total)
        }
      },
    ),
    {
      numRuns: Number(process.env.PROPERTY_RUNS ?? usually(5, { long: 12 })),
      examples: [['THB', everything, windowsOfIt]],
    },
  )
  expect([...seen].sort()).toEqual([...movementKinds].sort())
})

describe('a month', () => {
  const query = 'from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z&content=summary'
  let client: AgentClient
  let admin: OperatorClient

  beforeAll(async () => {
    admin = await signIn(s, 'admin')
    client = await s.agent({ name: 'Corner shop' })
    const shop = new Shop(client, 'THB')
    await shop.deposit(1_000_00n)
    await shop.deposit(2_500_00n)
    await shop.takeBack()
    await shop.withdraw(400_00n)
    await shop.end('PAID')
    await shop.withdraw(100_00n)
    await shop.adjust(12_34n)
  })

  it('is a table whose amounts come to the closing balance', async () => {
    const { text } = await admin.get(`/wallets/${client.appId}/statement.csv?${query}`)
    const lines = text.trimEnd().split('\r\n')
    expect(lines[0]).toBe('app_id,currency,from,to,line,count,amount')
    expect(lines.slice(1).map((line) => line.split(',').slice(4))).toEqual([
      ['opening_balance', '', '0'],
      ['deposits_paid', '2', '3500'],
      ['deposits_taken_back', '1', '-2500'],
      ['withdrawals_paid', '1', '-400'],
      ['adjustments', '1', '12.34'],
      ['deposit_fees', '2', '-6.42'],
      ['deposit_fees_returned', '1', '3.21'],
      ['withdrawal_fees', '1', '-1.07'],
      ['closing_balance', '', '608.06'],
      ['closing_available', '', '506.99'],
      ['closing_held', '', '101.07'],
      ['closing_reserve', '', '0'],
    ])
  })

  it('is printed with every figure, alone and above the rows', async () => {
    for (const content of ['summary', 'rows']) {
      const answer = await fetch(
        `${admin.url}/console/api/wallets/${client.appId}/statement.pdf?${query.replace('summary', content)}`,
        { headers: { cookie: admin.cookie } },
      )
      const pieces = printedIn(Buffer.from(await answer.arrayBuffer()))
      const texts = pieces.map(({ copied }) => copied)
      const figure = (name: string) => texts[texts.indexOf(name) + 1]
      expect(figure('Deposits paid (2)')).toBe(printedMoney(3_500_00n, 'THB'))
      expect(figure('Deposits taken back (1)')).toBe('-2,500.00')
      expect(figure('Deposit fees (2)')).toBe('-6.42')
      expect(figure('Adjustments (1)')).toBe('12.34')
      expect(figure('Closing balance')).toBe('608.06')
      expect(figure('Of it held')).toBe('101.07')
      expect(figure('Fees')).toBe('4.28')
      expect(texts.includes('Transaction or reason')).toBe(content === 'rows')
    }
  })

  it('is for the agent’s own users too, and for nobody of another', async () => {
    const owner = await signIn(s, 'agent', client)
    const other = await s.agent()
    const path = (appId: string) => `/wallets/${appId}/statement.csv?${query}`
    expect((await owner.get(path(client.appId))).text).toContain('closing_balance,,608.06')
    expect((await owner.get(path(other.appId))).status).toBe(404)
    expect((await owner.get(path(client.appId).replace('summary', 'all'))).status).toBe(422)
  })

  it('is told on the command line, by period or between two times', async () => {
    const env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      TIME_ZONE: 'Asia/Bangkok',
    }
    const run = (...args: string[]) => command(['wallet', 'statement', client.appId, ...args], env)
    const local = new Date(s.clock().getTime() + 7 * hourMs).toISOString()
    const json = JSON.parse((await run('--period', local.slice(0, 7), '--json')).stdout)
    expect(json).toMatchObject({
      app_id: client.appId,
      currency: 'THB',
      opening: { balance: 0 },
      fees: 4.28,
      closing: { balance: 608.06, available: 506.99, held: 101.07 },
    })
    expect(json.movements[0]).toEqual({ kind: 'deposits_paid', count: 2, amount: 3_500 })
    const before = await run('--from', '2000-01-01T00:00:00Z', '--to', '2001-01-01T00:00:00Z')
    expect(before.stdout).toMatch(/opening balance +0\nclosing balance +0\n/)
    expect((await run('--period', local.slice(0, 10), '--csv')).stdout).toContain(
      'deposits_paid,2,3500',
    )
    const folder = await mkdtemp(join(tmpdir(), 'statement-'))
    try {
      const file = join(folder, 'statement.pdf')
      await run('--period', local.slice(0, 7), '--pdf', file)
      const texts = printedIn(await readFile(file)).map(({ copied }) => copied)
      expect(texts[texts.indexOf('Closing balance') + 1]).toBe('608.06')
    } finally {
      await rm(folder, { recursive: true })
    }
    for (const wrong of [[], ['--period', '2026-13'], ['--from', '2026-01-01T00:00:00Z']]) {
      expect((await run(...wrong)).code).not.toBe(0)
    }
  })
})
