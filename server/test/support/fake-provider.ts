import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { type Backend, openBackend } from '../../src/backend.ts'
import { readConfig } from '../../src/config.ts'
import type { Order } from '../../src/ledger/book.ts'
import { findOrder } from '../../src/ledger/find-order.ts'
import { closeItem, findItem } from '../../src/ledger/open-items.ts'
import { referencesOf } from '../../src/ledger/payout-references.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { audited } from '../../src/operators/audit.ts'
import { PayoutLane } from '../../src/payouts/payout-lane.ts'
import { PayoutRunner } from '../../src/payouts/payout-runner.ts'
import { payoutsOfOrder } from '../../src/payouts/payouts.ts'
import { resolvePayout } from '../../src/payouts/resolve-payout.ts'
import type {
  Capabilities,
  DepositInstructions,
  DepositOutcome,
  DepositToCollect,
  Payout,
  PayoutOutcome,
  Provider,
  ProviderEvent,
} from '../../src/providers/provider.ts'
import { openDesk } from '../../src/service/open-desk.ts'
import type { Desk } from '../../src/teller/desk.ts'
import type { AgentClient, TestService } from './service.ts'
import { TcpProxy } from './tcp-proxy.ts'

export const never = () => new Promise<never>(() => {})
export const patient = { interval: 25 }

/** A bank with a book that outlives every process; each process may have a line of its own to it. */
export class FakeProvider implements Provider {
  readonly name: string
  readonly can: Capabilities
  /** What it says when it is asked about a reference. */
  readonly book = new Map<string, PayoutOutcome>()
  /** Every call that reached it, in order. */
  readonly submitted: Payout[] = []
  readonly asked: Payout[] = []
  readonly expected: DepositToCollect[] = []
  isReady = true
  /** Whether deposits can be paid without a call. */
  instructsAtOnce = true
  onSubmit: (payout: Payout, signal: AbortSignal) => Promise<PayoutOutcome> = async (payout) =>
    this.take(payout)
  onAsk: (payout: Payout, signal: AbortSignal) => Promise<PayoutOutcome> = async ({ reference }) =>
    this.book.get(reference) ?? { type: 'not_found' }
  onExpect: (deposit: DepositToCollect) => Promise<DepositOutcome> = async (deposit) => ({
    type: 'accepted',
    instructions: this.instructions(deposit),
  })

  constructor(name: string, can: Partial<Capabilities> = {}) {
    this.name = name
    this.can = {
      currencies: ['THB', 'VND'],
      deposits: true,
      payouts: true,
      idempotentByReference: true,
      ...can,
    }
  }

  /** Books a payout, as an idempotent bank does: a reference that it knows stays as it is. */
  take({ reference }: Payout, as: PayoutOutcome = { type: 'accepted' }): PayoutOutcome {
    const known = this.book.get(reference)
    if (!known) this.book.set(reference, as)
    return known ?? as
  }

  /** Another line to the same bank, for another process: it may behave in its own way. */
  line(): FakeProvider {
    const line = new FakeProvider(this.name, this.can)
    Object.assign(line, { book: this.book, submitted: this.submitted, asked: this.asked })
    return line
  }

  isReadyFor = () => this.isReady

  instructions({ txnId }: DepositToCollect): DepositInstructions {
    const transfer = { bankCode: 'FAKE', accountNumber: '000', accountName: this.name }
    return { qrcodeText: `${this.name} ${txnId}`, transfer }
  }

  depositInstructions(deposit: DepositToCollect): DepositInstructions | undefined {
    return this.instructsAtOnce ? this.instructions(deposit) : undefined
  }

  expectDeposit(deposit: DepositToCollect): Promise<DepositOutcome> {
    this.expected.push(deposit)
    return this.onExpect(deposit)
  }

  submitPayout(payout: Payout, signal: AbortSignal): Promise<PayoutOutcome> {
    this.submitted.push(payout)
    return this.onSubmit(payout, signal)
  }

  askPayout(payout: Payout, signal: AbortSignal): Promise<PayoutOutcome> {
    this.asked.push(payout)
    return this.onAsk(payout, signal)
  }

  readNotice(body: Buffer, headers: Record<string, string | string[] | undefined>) {
    if (headers['x-fake-signature'] !== this.sign(body)) return undefined
    return JSON.parse(body.toString(), (key, value) => {
      if (key === 'amountMinor') return BigInt(value)
      return key === 'paidAt' && value !== null ? new Date(value) : value
    }) as ProviderEvent[]
  }

  sign(body: string | Buffer): string {
    return createHmac('sha256', this.name).update(body).digest('hex')
  }

  /** Reports events to a service, as a notice of its own. */
  async tell(url: string, ...events: ProviderEvent[]) {
    const body = JSON.stringify(events, (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    const answer = await fetch(`${url}/providers/${this.name}/notices`, {
      method: 'POST',
      headers: { 'x-fake-signature': this.sign(body) },
      body,
    })
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
    return { status: answer.status, body, json: JSON.parse(text) as any }
  }
}

const references = new Map<string, string[]>()

/** What the attempts at a withdrawal are known by, in their order. */
export function referencesFor(txnId: string): string[] {
  const known = references.get(txnId)
  if (known) return known
  const named = parseTxnId(txnId)
  if (!named) throw new Error(`${txnId} is no transaction id`)
  const { agentId, orderId } = named
  const made = [1, 2, 3].map((attempt) => referencesOf(agentId, orderId, attempt)[0])
  references.set(txnId, made)
  return made
}

/** The calls about a withdrawal, of all that reached a provider. */
export function callsAbout(txnId: string, calls: readonly Payout[]): Payout[] {
  const own = referencesFor(txnId)
  return calls.filter(({ reference }) => own.includes(reference))
}

/** Takes the only place that a provider has in a process, for as long as it is not let go. */
export function takeOnlyPlace(runner: object, provider: string) {
  let letGo = () => {}
  const lane = new PayoutLane(1)
  // Whatever its document allows meanwhile.
  Object.defineProperty(lane, 'places', { get: () => 1, set: () => {} })
  Reflect.get(runner, 'handing').set(provider, lane)
  void lane.run(0n, () => new Promise<void>((resolve) => (letGo = resolve)))
  return { lane, letGo: () => letGo() }
}

/** Ends a payout by a person's word. */
export async function resolve(
  { backend, service }: TestService,
  txnId: string,
  to: 'paid' | 'failed',
  evidence: string,
) {
  const named = parseTxnId(txnId)
  const order = named && (await findOrder(backend.pool, named.agentId, named.orderId))
  if (!order) throw new Error(`there is no order ${txnId}`)
  const attempts = await payoutsOfOrder(backend.pool, order.agentId, order.orderId)
  return resolvePayout(service.desk, order, attempts, to, evidence)
}

/** A person closes an item on what they have seen of it. */
export async function closeAsSeen(
  { backend: { pool }, clock }: TestService,
  itemId: string,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<boolean> {
  const item = await findItem(pool, itemId)
  if (!item) throw new Error(`there is no item ${itemId}`)
  await meanwhile()
  const operator = { userId: null, email: 'command line', ip: null }
  const subject = { kind: 'open_item', id: itemId }
  const entry = { operator, action: 'close_open_item', subject, agentId: item.agentId }
  const closed = { at: clock(), by: operator.email, evidence: 'statement 7' }
  return audited(pool, clock, entry, () => closeItem(pool, item, closed))
}

let events = 0
export const eventId = () => `event-${++events}`

/** What a bank says of a payout in a notice. */
export function payoutEvent(reference: string, outcome: PayoutOutcome): ProviderEvent {
  return { id: eventId(), type: 'payout', reference, outcome }
}

/** Money that came in, 100 baht at the given time unless told otherwise. */
export function paymentEvent(
  reference: string,
  paidAt: Date | null,
  more: Partial<ProviderEvent & { type: 'payment' }> = {},
): ProviderEvent & { type: 'payment' } {
  const id = eventId()
  return {
    id,
    type: 'payment',
    paymentId: `pay-${id}`,
    reference,
    amountMinor: 100_00n,
    currency: 'THB',
    paidAt,
    payer: null,
    ...more,
  }
}

/** Puts money into an agent's wallet without any bank. */
export async function fund(s: TestService, agentId: bigint, amountMinor = 100_000_00n) {
  const ref = `fund-${eventId()}`
  await s.service.desk.teller.do({
    type: 'adjust',
    agentId,
    at: s.clock(),
    amountMinor,
    reason: 'test',
    ref,
  })
}

export async function fundedAgent(s: TestService, ...terms: Parameters<TestService['agent']>) {
  const agent = await s.agent(...terms)
  await fund(s, agent.agentId)
  return agent
}

export async function orderOf(desk: Pick<Desk, 'pool'>, txnId: string): Promise<Order> {
  const { agentId, orderId } = parseTxnId(txnId) ?? { agentId: 0n, orderId: '' }
  const order = await findOrder(desk.pool, agentId, orderId)
  if (!order) throw new Error(`there is no order ${txnId}`)
  return order
}

export interface PayoutLine {
  attempt: number
  provider: string
  reference: string
  state: string
  asks: number
  ask_at: Date | null
  said: string | null
  evidence: string | null
}

/** The attempts at paying an order out, the first one first. */
export async function attemptsOf(s: TestService, txnId: string): Promise<PayoutLine[]> {
  const { rows } = await s.sql(
    'select * from payouts where agent_id = $1 and order_id = $2 order by attempt',
    txnId.split('-'),
  )
  return rows
}

export const statusOf = async (agent: AgentClient, txnId: string): Promise<string> =>
  (await agent.get(`/payment/orders/${txnId}`)).json.status

/** The outcomes an agent was told of an order, in order. */
export async function told(agent: AgentClient, txnId: string): Promise<string[]> {
  const { json } = await agent.get('/payment/events?limit=200')
  const own = json.data.filter((event: { txn_id: string }) => event.txn_id === txnId)
  return own.map((event: { status: string }) => event.status)
}

/** A process without doors: a teller and a runner of its own, and a wire to the database to cut. */
export interface Process {
  desk: Desk
  runner: PayoutRunner
  proxy: TcpProxy
  errors: unknown[]
  isDead: boolean
  /** From here on it cannot read or write anything: as good as dead. */
  die(): void
  /** Hands a withdrawal over and calls the provider, as for a new order. */
  payOut(txnId: string): Promise<void>
  /** Asks whatever is due, and waits for all of it. */
  round(): Promise<void>
  close(): Promise<void>
}

export async function startProcess(
  s: TestService,
  providers: Provider[],
  clock: () => Date = s.clock,
): Promise<Process> {
  const proxy = await TcpProxy.open(s.database.url)
  const read = readConfig({
    DATABASE_URL: proxy.url,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  const backend: Backend = await openBackend(read.config, 'serve', () => {})
  const { desk, close } = openDesk(read.config, backend, { clock, providers })
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const runner = new PayoutRunner(desk, 64, onError)
  const idle = () => expect.poll(() => Reflect.get(runner, 'underway').size, patient).toBe(0)
  const process: Process = {
    desk,
    runner,
    proxy,
    errors,
    isDead: false,
    die() {
      process.isDead = true
      proxy.refuse(true)
      proxy.cutAll()
    },
    async payOut(txnId) {
      runner.offer(await orderOf(s.service.desk, txnId))
      await idle()
    },
    async round() {
      // As often as it takes until a look finds nothing more: there may be more than it does at once.
      let due = 1
      for (let looks = 0; looks < 2 || due > 0; looks++) {
        if (looks === 10) throw new Error('there is no end to the questions')
        await runner.poll()
        await idle()
        const found = await s.sql('select 1 from payouts where ask_at <= $1 limit 1', [s.clock()])
        due = found.rowCount ?? 0
      }
    },
    async close() {
      await runner.stop()
      await close()
      await backend.close()
      await proxy.close()
    },
  }
  return process
}
