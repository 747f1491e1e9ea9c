import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { NoticeTaker } from '../../src/payments/take-notice.ts'
import type { PayoutOutcome, ProviderEvent } from '../../src/providers/provider.ts'
import { saveRoute } from '../../src/routing/providers.ts'
import {
  attemptsOf,
  callsAbout,
  FakeProvider,
  fundedAgent,
  never,
  type Process,
  patient,
  payoutEvent,
  referencesFor,
  startProcess,
} from '../support/fake-provider.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Pays KBANK at once. */
const healthy = new FakeProvider('healthy')
/** Has SCB, and never answers. */
const hung = new FakeProvider('hung')
/** Never answers, either. Nothing that other tests left behind waits for a place at it. */
const next = new FakeProvider('next')

const anyAmount = {
  name: 'both',
  direction: 'withdraw',
  currency: 'THB',
  minAmount: 1n,
  maxAmount: 1_000_000n,
  preference: 1,
  weight: 1,
} as const

let s: TestService
let processes: Process[] = []

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [healthy, hung, next], paysOut: false } })
  for (const [provider, bank] of [
    ['healthy', 'KBANK'],
    ['hung', 'SCB'],
  ] as const) {
    await saveRoute(s.backend.pool, { ...anyAmount, name: 'all', provider, banks: [bank] })
  }
})
afterEach(async () => {
  await Promise.all(processes.map((each) => each.close()))
  processes = []
  await s.prove()
})
afterAll(() => s.close())

/** A process of the role worker: it takes no orders, and finds them by looking. */
async function worker(
  clock?: () => Date,
  outcome: PayoutOutcome = { type: 'paid' },
): Promise<Process> {
  const own = [healthy.line(), hung.line(), next.line()]
  for (const line of own) {
    line.onSubmit = line.name === 'healthy' ? async (payout) => line.take(payout, outcome) : never
  }
  const process = await startProcess(s, own, clock)
  processes.push(process)
  return process
}

async function withdrawals(agent: AgentClient, many: number, bankCode: string): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < many) {
    const answers = await Promise.all(
      Array.from({ length: Math.min(50, many - ids.length) }, () =>
        agent.withdraw({ amount: 1, bankCode }),
      ),
    )
    ids.push(...answers.map(({ json }) => json.txn_id))
  }
  return ids
}

const accepted = async (): Promise<string[]> =>
  (await s.sql(`select reference from payouts where state = 'accepted'`)).rows.map(
    ({ reference }) => reference,
  )

const sentOf = (bank: FakeProvider, ids: readonly string[]) => {
  const references = new Set(ids.flatMap(referencesFor))
  return bank.submitted.filter(({ reference }) => references.has(reference)).length
}

it('a provider that hangs holds up nobody else, however much waits for it', async () => {
  const agent = await fundedAgent(s)
  const stuck = await withdrawals(agent, 400, 'SCB')
  const quick = await withdrawals(agent, 40, 'KBANK')
  s.clock.advance(3_000)
  const process = await worker()
  await process.runner.poll()
  await expect.poll(() => sentOf(healthy, quick), patient).toBe(40)
  // Nobody waited for the calls that hang to end: hundreds have not even begun.
  expect(sentOf(hung, stuck)).toBeLessThan(400)
  expect(process.errors).toEqual([])
})

it('one agent’s hundreds of withdrawals do not hold up another’s', async () => {
  const [big, small] = [await fundedAgent(s), await fundedAgent(s)]
  const many = await withdrawals(big, 500, 'KBANK')
  const few = await withdrawals(small, 5, 'KBANK')
  s.clock.advance(3_000)
  const process = await worker()
  await process.runner.poll()
  await expect.poll(() => sentOf(healthy, many) + sentOf(healthy, few), patient).toBe(505)
  const references = healthy.submitted.map(({ reference }) => reference)
  const last = Math.max(...few.map((id) => references.indexOf(referencesFor(id)[0] ?? '')))
  const large = new Set(many.flatMap(referencesFor))
  const behind = references.slice(last).filter((reference) => large.has(reference))
  // At least those that were not read in the first go came after the small agent's last.
  expect(behind.length).toBeGreaterThan(100)
})

it('what a provider refuses in a notice waits for a place at the next, and who has none leaves it', async () => {
  await saveRoute(s.backend.pool, { ...anyAmount, provider: 'healthy', banks: ['BBL'] })
  await saveRoute(s.backend.pool, { ...anyAmount, provider: 'next', banks: ['BBL'], preference: 2 })
  const agent = await fundedAgent(s)
  const ids = await withdrawals(agent, 20, 'BBL')
  s.clock.advance(3_000)
  const process = await worker(undefined, { type: 'accepted' })
  await process.runner.poll()
  await expect.poll(() => sentOf(healthy, ids), patient).toBe(20)
  await expect.poll(async () => (await accepted()).length, patient).toBe(20)
  const refused = { type: 'rejected', mayTryAnother: true, reason: 'not today' } as const
  const events = (await accepted()).map((reference) => payoutEvent(reference, refused))
  const resultsOf = async (taker: NoticeTaker, told: ProviderEvent[]) =>
    new Set((await taker.take(healthy, told, Buffer.from('{}'))).map(({ detail }) => detail))
  const onError = (error: unknown) => process.errors.push(error)
  // A process that hands nothing over.
  const door = new NoticeTaker(process.desk, onError)
  expect(await resultsOf(door, events.slice(0, 3))).toEqual(new Set(['A worker hands it to next.']))
  expect(sentOf(next, ids)).toBe(0)
  const taker = new NoticeTaker(process.desk, onError, (...given) => process.runner.take(...given))
  expect(await resultsOf(taker, events.slice(3))).toEqual(new Set(['next gets it.']))
  // The service that took no payouts looks at what was left over, too, and leaves it again.
  const takeUp = async () => {
    s.clock.advance(60_000)
    await taker.finishLeftOvers()
    await taker.stopped()
    return sentOf(next, ids)
  }
  await expect.poll(takeUp, patient).toBe(20)
  expect(process.errors).toEqual([])
})

it('a worker hands over as many as there are after one look, each once, beside another worker', async () => {
  const agent = await fundedAgent(s)
  const ids = await withdrawals(agent, 400, 'KBANK')
  s.clock.advance(3_000)
  const [one, other] = [await worker(), await worker()]
  await Promise.all([one.runner.poll(), other.runner.poll()])
  await expect.poll(() => sentOf(healthy, ids), patient).toBe(400)
  await expect.poll(async () => (await agent.get('/payment/wallet')).json.held, patient).toBe(0)
  expect(sentOf(healthy, ids)).toBe(400)
})

it('a process whose clock is an hour off neither takes what another has, nor keeps it', async () => {
  const agent = await fundedAgent(s)
  const [txnId = ''] = await withdrawals(agent, 1, 'SCB')
  const ahead = new Date(Date.now() + 3_600_000)
  const process = await worker(systemClock)
  void process.payOut(txnId)
  await expect.poll(() => sentOf(hung, [txnId]), patient).toBe(1)
  const other = await worker(systemClock)
  vi.useFakeTimers({ toFake: ['Date'], now: ahead })
  try {
    // By its own clock the other's time is long over.
    await other.runner.poll()
    expect(sentOf(hung, [txnId])).toBe(1)
    expect(callsAbout(txnId, hung.asked)).toEqual([])
    const [second = ''] = await withdrawals(agent, 1, 'SCB')
    // What it would write is refused while its clock is ahead. Behind, it goes by the database's time.
    await other.payOut(second).catch(() => {})
    expect(sentOf(hung, [second])).toBe(0)
    vi.setSystemTime(new Date(ahead.getTime() - 2 * 3_600_000))
    void other.payOut(second)
    await expect.poll(() => sentOf(hung, [second]), patient).toBe(1)
    const { rows } = await s.sql(
      `select ask_at - now() < interval '11 seconds' as is_soon from payouts where order_id = $1`,
      [second.split('-')[1]],
    )
    expect(rows).toEqual([{ is_soon: true }])
  } finally {
    vi.useRealTimers()
  }
  expect(await attemptsOf(s, txnId)).toHaveLength(1)
})
