import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { parseTxnId } from '../../src/lib/ids.ts'
import type { PayoutOutcome } from '../../src/providers/provider.ts'
import { saveRoute } from '../../src/routing/providers.ts'
import {
  attemptsOf,
  callsAbout,
  closeAsSeen,
  FakeProvider,
  fundedAgent,
  orderOf,
  type Process,
  patient,
  startProcess,
  statusOf,
  takeOnlyPlace,
  told,
} from '../support/fake-provider.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What becomes of a refund that a provider has, or had, when its deposit is taken back. */

const alpha = new FakeProvider('alpha')
const beta = new FakeProvider('beta')
const refused: PayoutOutcome = { type: 'rejected', mayTryAnother: true, reason: 'not today' }
let s: TestService
let process: Process

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [alpha, beta], paysOut: false } })
  await saveRoute(s.backend.pool, {
    ...{ provider: 'alpha', name: 'first', direction: 'withdraw', currency: 'THB', banks: null },
    ...{ minAmount: 1n, maxAmount: 1_000_000n, preference: 1, weight: 1 },
  })
  process = await startProcess(s, [alpha, beta])
})
afterEach(async () => {
  expect(process.errors.splice(0)).toEqual([])
  await s.prove()
})
afterAll(async () => {
  await process.runner.stop()
  await process.close()
  await s.close()
})

interface Refunded {
  agent: AgentClient
  txnId: string
  takeBack: () => Promise<unknown>
  /** Another payment pays the deposit. */
  payAgain: () => Promise<unknown>
}

/** A refund that waits, and how to take its deposit back. */
async function refund(): Promise<Refunded> {
  const agent = await fundedAgent(s, { lateMoney: 'credit' })
  const { json } = await agent.deposit()
  const { orderId = '' } = parseTxnId(json.txn_id) ?? {}
  const [at, paymentId] = [s.clock(), `alpha:${randomUUID()}`]
  const common = { agentId: agent.agentId, at, orderId }
  const payment = { paymentId, amountMinor: 10_000n, paidAt: at, payer: null }
  const { teller } = s.service.desk
  await teller.do({ ...common, type: 'receive_payment', provider: null, payment })
  const body = { refId: randomUUID(), amount: 100, timestamp: at.toISOString() }
  const made = await agent.post(`/payment/orders/${json.txn_id}/refund`, body)
  expect(made.status).toBe(201)
  const takeBack = () => teller.do({ ...common, type: 'take_back_payment', paymentId })
  const payAgain = () => {
    const other = { ...payment, paymentId: `alpha:${randomUUID()}` }
    return teller.do({ ...common, type: 'receive_payment', provider: null, payment: other })
  }
  return { agent, txnId: made.json.txn_id, takeBack, payAgain }
}

it('goes to the next provider while its deposit is paid', async () => {
  alpha.onSubmit = async () => refused
  const { agent, txnId } = await refund()
  await process.payOut(txnId)
  expect(callsAbout(txnId, beta.submitted)).toHaveLength(1)
  expect(await statusOf(agent, txnId)).toBe('WAITING')
})

it('fails if its provider refuses it after the deposit was taken back; nobody else gets it', async () => {
  const { agent, txnId, takeBack } = await refund()
  alpha.onSubmit = async () => {
    await takeBack()
    return refused
  }
  await process.payOut(txnId)
  expect(callsAbout(txnId, beta.submitted)).toHaveLength(0)
  expect(await told(agent, txnId)).toEqual(['FAILED'])
  expect(await attemptsOf(s, txnId)).toMatchObject([{ provider: 'alpha', state: 'rejected' }])
})

it('fails if the deposit is taken back while it waits for a place at the next provider', async () => {
  const { agent, txnId, takeBack } = await refund()
  alpha.onSubmit = async () => refused
  const { lane, letGo } = takeOnlyPlace(process.runner, 'beta')
  process.runner.offer(await orderOf(s.service.desk, txnId))
  await expect.poll(() => Reflect.get(lane, 'waiting'), patient).toBe(1)
  await takeBack()
  letGo()
  await expect.poll(() => told(agent, txnId), patient).toEqual(['FAILED'])
  expect(callsAbout(txnId, beta.submitted)).toHaveLength(0)
  await expect
    .poll(() => attemptsOf(s, txnId), patient)
    .toMatchObject([{ provider: 'alpha', state: 'rejected', ask_at: null }])
  Reflect.get(process.runner, 'handing').delete('beta')
})

it('is not sent again after the deposit was taken back, if its provider does not know it', async () => {
  const { agent, txnId, takeBack } = await refund()
  alpha.onSubmit = async () => {
    throw new Error('the line is dead')
  }
  await process.payOut(txnId)
  await takeBack()
  alpha.onSubmit = async (payout) => alpha.take(payout)
  s.clock.advance(60_000)
  await process.round()
  expect(callsAbout(txnId, alpha.submitted)).toHaveLength(1)
  expect(await statusOf(agent, txnId)).toBe('WAITING')
  expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'not_found' }])
})

it('goes to nobody else once its deposit was taken back, even if somebody else has paid it since', async () => {
  for (const isClosed of [false, true]) {
    const { agent, txnId, takeBack, payAgain } = await refund()
    alpha.onSubmit = async () => {
      await takeBack()
      await payAgain()
      if (isClosed) {
        const { rows } = await s.sql('select item_id from open_items where agent_id = $1', [
          agent.agentId,
        ])
        await closeAsSeen(s, rows[0]?.item_id)
      }
      return refused
    }
    await process.payOut(txnId)
    expect(callsAbout(txnId, beta.submitted)).toHaveLength(0)
    expect(await told(agent, txnId)).toEqual(['FAILED'])
  }
})

it('is not sent again either, by a provider that has not got it yet', async () => {
  const { agent, txnId, takeBack, payAgain } = await refund()
  alpha.onSubmit = async () => ({ type: 'not_sent', reason: 'the line was down' })
  await process.payOut(txnId)
  await takeBack()
  await payAgain()
  s.clock.advance(60_000)
  await process.round()
  expect(callsAbout(txnId, alpha.submitted)).toHaveLength(1)
  expect(await told(agent, txnId)).toEqual(['FAILED'])
})
