import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { newOrderId } from '../../src/lib/ids.ts'
import { PayoutRunner } from '../../src/payouts/payout-runner.ts'
import type { Payout, PayoutOutcome } from '../../src/providers/provider.ts'
import { saveProviderState, saveRoute } from '../../src/routing/providers.ts'
import {
  attemptsOf,
  callsAbout,
  FakeProvider,
  fundedAgent,
  never,
  orderOf,
  type Process,
  patient,
  payoutEvent,
  startProcess,
  statusOf,
  takeOnlyPlace,
  told,
} from '../support/fake-provider.ts'
import { newOrder } from '../support/naive-model.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Who refuses for sure has its orders passed on to the next of these. */
const names = ['alpha', 'beta', 'gamma'] as const
type Name = (typeof names)[number]
const banks = Object.fromEntries(names.map((name) => [name, new FakeProvider(name)])) as Record<
  Name,
  FakeProvider
>

let s: TestService
let processes: Process[] = []
let runners: PayoutRunner[] = []

beforeAll(async () => {
  s = await startTestService({ outside: { providers: Object.values(banks), paysOut: false } })
  for (const [at, provider] of names.entries()) {
    await saveRoute(s.backend.pool, {
      provider,
      name: 'all',
      direction: 'withdraw',
      currency: 'THB',
      banks: null,
      minAmount: 1n,
      maxAmount: 1_000_000n,
      preference: at + 1,
      weight: 1,
    })
  }
})
afterEach(async () => {
  await Promise.all(runners.map((each) => each.stop()))
  await Promise.all(processes.map((each) => each.close()))
  runners = []
  processes = []
  await s.prove()
})
afterAll(() => s.close())

const refused: PayoutOutcome = { type: 'rejected', mayTryAnother: true, reason: 'not today' }
const accepted: PayoutOutcome = { type: 'accepted' }
const paid: PayoutOutcome = { type: 'paid' }

interface Worker {
  runner: PayoutRunner
  lines: Record<Name, FakeProvider>
  errors: unknown[]
}

/** A process with one place at each provider, all of which accept until told otherwise. */
async function worker(places = 1): Promise<Worker> {
  const lines = Object.fromEntries(names.map((name) => [name, banks[name].line()]))
  const process = await startProcess(s, Object.values(lines))
  processes.push(process)
  for (const line of Object.values(lines)) line.onSubmit = async () => accepted
  const runner = new PayoutRunner(process.desk, places, (error) => process.errors.push(error))
  runners.push(runner)
  return { runner, lines: lines as Worker['lines'], errors: process.errors }
}

/** Takes the one place of a provider, for as long as it is not let go. */
function fill({ runner }: Worker, name: Name): () => void {
  return takeOnlyPlace(runner, name).letGo
}

const withdraw = async (agent: AgentClient): Promise<string> => (await agent.withdraw()).json.txn_id

const offer = async ({ runner }: Worker, txnId: string) =>
  runner.offer(await orderOf(s.service.desk, txnId))

const callsOf = (bank: FakeProvider, txnId: string) => callsAbout(txnId, bank.submitted).length

const idle = ({ runner }: Worker) =>
  expect.poll(() => Reflect.get(runner, 'underway').size, patient).toBe(0)

const waitingAt = ({ runner }: Worker, name: Name) =>
  Reflect.get(Reflect.get(runner, 'handing').get(name) ?? {}, 'waiting') ?? 0

it('what was refused and waits for the next provider goes there only while nobody has it', async () => {
  const agent = await fundedAgent(s)
  const [one, other] = [await worker(), await worker()]
  one.lines.alpha.onSubmit = async () => refused
  const letGo = fill(one, 'beta')
  const txnId = await withdraw(agent)
  await offer(one, txnId)
  await expect.poll(() => waitingAt(one, 'beta'), patient).toBe(1)

  // Alpha keeps nothing of what it refuses at the door: when it is asked it gets it once more, and takes it.
  s.clock.advance(11_000)
  await other.runner.poll()
  await expect.poll(() => callsOf(banks.alpha, txnId), patient).toBe(2)
  await idle(other)
  letGo()
  await idle(one)
  expect(callsOf(banks.beta, txnId)).toBe(0)
  expect(await attemptsOf(s, txnId)).toMatchObject([{ provider: 'alpha', state: 'accepted' }])
})

it('a refusal that was heard too late releases nothing: its provider may have been called again', async () => {
  const agent = await fundedAgent(s)
  const [one, other] = [await worker(), await worker()]
  const txnId = await withdraw(agent)
  one.lines.alpha.onSubmit = async () => {
    s.clock.advance(11_000)
    await other.runner.poll()
    await expect.poll(() => callsOf(banks.alpha, txnId), patient).toBe(2)
    await idle(other)
    return { type: 'rejected', mayTryAnother: false, reason: 'not at this hour' }
  }
  await offer(one, txnId)
  await idle(one)
  expect(await statusOf(agent, txnId)).toBe('WAITING')
  expect(await attemptsOf(s, txnId)).toMatchObject([{ provider: 'alpha', state: 'accepted' }])
})

it('what waits for a third provider does not go there once the first says that it paid', async () => {
  const agent = await fundedAgent(s)
  const one = await worker()
  one.lines.alpha.onSubmit = async () => refused
  one.lines.beta.onSubmit = async () => refused
  const letGo = fill(one, 'gamma')
  const txnId = await withdraw(agent)
  await offer(one, txnId)
  await expect.poll(() => waitingAt(one, 'gamma'), patient).toBe(1)
  const [first] = await attemptsOf(s, txnId)
  await banks.alpha.tell(s.service.url, payoutEvent(first?.reference ?? '', paid))
  letGo()
  await idle(one)
  expect(callsOf(banks.gamma, txnId)).toBe(0)

  // Beta says again that it did not pay: there was one payment.
  one.lines.beta.onAsk = async () => refused
  s.clock.advance(61_000)
  await one.runner.poll()
  await idle(one)
  expect(await told(agent, txnId)).toEqual(['PAID'])
})

it('what the second provider cancels is paid by the first where that one says so', async () => {
  const agent = await fundedAgent(s)
  const one = await worker()
  one.lines.alpha.onSubmit = async () => refused
  const txnId = await withdraw(agent)
  await offer(one, txnId)
  await idle(one)
  const [first, second] = await attemptsOf(s, txnId)
  await banks.alpha.tell(s.service.url, payoutEvent(first?.reference ?? '', paid))
  await banks.beta.tell(s.service.url, payoutEvent(second?.reference ?? '', { type: 'cancelled' }))
  expect(await told(agent, txnId)).toEqual(['PAID'])
})

it('nothing goes to a provider that was switched off while it waited for a place there', async () => {
  const agent = await fundedAgent(s)
  const one = await worker()
  const letGo = fill(one, 'alpha')
  const ids = [await withdraw(agent), await withdraw(agent), await withdraw(agent)]
  for (const txnId of ids) await offer(one, txnId)
  await expect.poll(() => waitingAt(one, 'alpha'), patient).toBe(3)
  await saveProviderState(s.backend.pool, 'alpha', 'off', s.clock())
  try {
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    letGo()
    await idle(one)
    s.clock.advance(3_000)
    await one.runner.poll()
    await idle(one)
    expect(ids.map((txnId) => callsOf(banks.alpha, txnId))).toEqual([0, 0, 0])
    expect(ids.map((txnId) => callsOf(banks.beta, txnId))).toEqual([1, 1, 1])
  } finally {
    await saveProviderState(s.backend.pool, 'alpha', 'on', s.clock())
  }
})

it('an order that a provider cannot look at holds up no other, nor another agent', async () => {
  const [odd, even] = [await fundedAgent(s), await fundedAgent(s)]
  const one = await worker()
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const bad = (await odd.withdraw({ extraParams: { bad: true } })).json.txn_id
  const ids = [await withdraw(odd), await withdraw(even)]
  one.lines.alpha.isReadyFor = ((payout: Payout) => {
    if (payout.extraParams?.includes('bad')) throw new Error('cannot be looked at')
    return true
  }) as () => boolean
  s.clock.advance(3_000)
  await one.runner.poll().catch(() => {})
  await idle(one)
  expect(ids.map((txnId) => callsOf(banks.alpha, txnId))).toEqual([1, 1])
  expect(await statusOf(odd, bad)).toBe('WAITING')
})

it('questions are asked, however many of those that are due wait for another provider', async () => {
  const agent = await fundedAgent(s)
  const one = await worker(2)
  const asked = await withdraw(agent)
  one.lines.alpha.onAsk = async () => paid
  one.lines.alpha.onSubmit = async () => refused
  const letGo = fill(one, 'beta')
  const ids = []
  for (let n = 0; n < 6; n++) ids.push(await withdraw(agent))
  for (const txnId of ids) await offer(one, txnId)
  await expect.poll(() => waitingAt(one, 'beta'), patient).toBe(6)
  one.lines.alpha.onSubmit = async () => accepted
  // The others are due by now, and stay so.
  s.clock.advance(15_000)
  await offer(one, asked)
  await expect.poll(() => callsOf(banks.alpha, asked), patient).toBe(1)
  s.clock.advance(30_000)
  await one.runner.poll()
  await expect.poll(() => statusOf(agent, asked), patient).toBe('PAID')
  letGo()
  await idle(one)
})

it('what waits for a provider that hangs is read once, not at every look', async () => {
  const agent = await fundedAgent(s)
  const one = await worker()
  const letGo = fill(one, 'alpha')
  one.lines.alpha.onSubmit = never
  const { agentId } = agent
  const at = s.clock()
  for (let n = 0; n < 4; n++) {
    const orders = Array.from({ length: 1_000 }, (_, index) =>
      newOrder({
        agentId,
        orderId: newOrderId(at),
        kind: 'withdraw',
        refId: `many-${n}-${index}`,
        amountMinor: 100n,
        createdAt: at,
      }),
    )
    await Promise.all(
      orders.map((order) => s.service.desk.teller.do({ type: 'create', agentId, at, order })),
    )
  }
  s.clock.advance(120_000)
  await one.runner.poll()
  const { pool } = processes.at(-1)?.desk ?? s.service.desk
  // It is not time for everything, and there is a little room, as there is again and again.
  Reflect.set(Reflect.get(one.runner, 'sweep'), 'everythingAtMs', Number.POSITIVE_INFINITY)
  letGo()
  await expect.poll(() => waitingAt(one, 'alpha'), patient).toBeLessThan(256)
  const query = vi.spyOn(pool, 'query')
  await one.runner.poll()
  const pages = query.mock.calls.filter(([sql]) => String(sql).includes('order by order_id'))
  query.mockRestore()
  expect(waitingAt(one, 'alpha')).toBeGreaterThan(200)
  expect(pages.length).toBeLessThan(8)
})
