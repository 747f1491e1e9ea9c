import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { verify } from '../../src/proof/verify.ts'
import type { PayoutOutcome } from '../../src/providers/provider.ts'
import { saveRoute } from '../../src/routing/providers.ts'
import {
  attemptsOf,
  FakeProvider,
  fundedAgent,
  type Process,
  payoutEvent,
  resolve,
  startProcess,
  statusOf,
  told,
} from '../support/fake-provider.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Pays first; where it refuses for sure, beta does. */
const alpha = new FakeProvider('alpha')
const beta = new FakeProvider('beta')

let s: TestService
let process: Process
let banks: { alpha: FakeProvider; beta: FakeProvider }

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [alpha, beta], paysOut: false } })
  for (const [provider, preference] of [
    ['alpha', 1],
    ['beta', 2],
  ] as const) {
    await saveRoute(s.backend.pool, {
      provider,
      name: 'all',
      direction: 'withdraw',
      currency: 'THB',
      banks: null,
      minAmount: 1n,
      maxAmount: 1_000_000n,
      preference,
      weight: 1,
    })
  }
  banks = { alpha: alpha.line(), beta: beta.line() }
  process = await startProcess(s, Object.values(banks))
})
afterEach(async () => {
  Object.assign(banks.alpha, { onSubmit: async () => unknown, onAsk: async () => unknown })
  Object.assign(banks.beta, { onSubmit: async () => unknown, onAsk: async () => unknown })
  await s.prove()
  expect(process.errors).toEqual([])
})
afterAll(async () => {
  await process.close()
  await s.close()
})

const paid: PayoutOutcome = { type: 'paid' }
const unknown: PayoutOutcome = { type: 'unknown', reason: 'no answer' }
const refusedForSure: PayoutOutcome = { type: 'rejected', mayTryAnother: true, reason: 'no' }
const final: PayoutOutcome = { type: 'rejected', mayTryAnother: false, reason: 'never' }
const silenceMs = 11_000

/** A withdrawal of 100 baht and a fee of one, which alpha has been called with. */
async function payout(answer: PayoutOutcome = unknown) {
  const agent = await fundedAgent(s, { withdrawFee: '1' })
  const txnId: string = (await agent.withdraw()).json.txn_id
  banks.alpha.onSubmit = async () => answer
  banks.beta.onSubmit = async () => ({ type: 'accepted' })
  await process.payOut(txnId)
  const [first, second] = await attemptsOf(s, txnId)
  const references = { first: first?.reference ?? '', second: second?.reference ?? '' }
  return { agent, txnId, ...references }
}

const tell = (bank: FakeProvider, reference: string, outcome: PayoutOutcome) =>
  bank.tell(s.service.url, payoutEvent(reference, outcome))

async function itemsOf(txnId: string) {
  const { rows } = await s.sql(
    'select * from open_items where agent_id = $1 and order_id = $2 order by kind',
    txnId.split('-'),
  )
  return rows
}

const walletOf = async (agent: AgentClient) => (await agent.get('/payment/wallet')).json

describe('a payout that failed, and that the bank then says it paid,', () => {
  const ways: [way: string, (txnId: string, reference: string) => Promise<unknown>][] = [
    [
      'by a notice',
      async (txnId, reference) => {
        await resolve(s, txnId, 'failed', 'statement 7: failed')
        const { json, status } = await tell(alpha, reference, paid)
        expect(status).toBe(200)
        expect(json.results).toMatchObject([{ result: 'waiting' }])
      },
    ],
    [
      'when it is asked',
      async (txnId) => {
        banks.alpha.onAsk = async () => {
          await resolve(s, txnId, 'failed', 'statement 7: failed')
          return paid
        }
        s.clock.advance(silenceMs)
        await process.round()
      },
    ],
  ]
  it.each(ways)('%s, is one open item, however often it says so', async (_way, told) => {
    const { agent, txnId, first } = await payout()
    await told(txnId, first)
    await tell(alpha, first, paid)
    await tell(alpha, first, paid)
    expect(await statusOf(agent, txnId)).toBe('FAILED')
    expect(await walletOf(agent)).toMatchObject({ balance: 100_000, held: 0 })
    expect(await itemsOf(txnId)).toMatchObject([
      {
        kind: 'paid_after_failed',
        provider: 'alpha',
        reference: first,
        amount: '10000',
        currency: 'THB',
        provider_said: 'PAID',
        order_status: 'FAILED',
        closed_at: null,
      },
    ])
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'paid', ask_at: null }])
  })

  it('as a late answer to the call itself, is one too', async () => {
    const agent = await fundedAgent(s)
    const txnId: string = (await agent.withdraw()).json.txn_id
    banks.alpha.onSubmit = async () => {
      s.clock.advance(silenceMs)
      await resolve(s, txnId, 'failed', 'statement 7: failed')
      return paid
    }
    await process.payOut(txnId)
    expect(await statusOf(agent, txnId)).toBe('FAILED')
    expect(await itemsOf(txnId)).toMatchObject([{ kind: 'paid_after_failed', closed_at: null }])
  })

  it('is taken to PAID by an operator alone: amount and fee are debited, below zero if need be', async () => {
    const { agent, txnId, first } = await payout()
    await resolve(s, txnId, 'failed', 'statement 7: failed')
    await tell(alpha, first, paid)
    await agent.withdraw({ amount: 99_950 })
    expect(await walletOf(agent)).toMatchObject({ balance: 49 })

    const { changed } = await resolve(s, txnId, 'paid', 'statement 7: paid')
    expect([changed, (await resolve(s, txnId, 'paid', 'statement 7: paid')).changed]).toEqual([
      true,
      false,
    ])
    expect(await walletOf(agent)).toMatchObject({ balance: -52 })
    expect(await told(agent, txnId)).toEqual(['FAILED', 'PAID'])
    const entries = (await agent.get('/payment/wallet/entries?limit=200')).json.data
    expect(entries.at(-1)).toMatchObject({ event: 'withdraw_paid_after_failed' })
    const { rows } = await s.sql(
      'select follows from callbacks where agent_id = $1 order by seq desc limit 1',
      [agent.agentId],
    )
    expect(rows[0]?.follows).toBe(true)
    // Its item is closed by that, with the evidence.
    const closed = { resolution: 'order_paid', evidence: 'statement 7: paid' }
    expect(await itemsOf(txnId)).toMatchObject([closed])

    await tell(alpha, first, { type: 'returned' })
    expect(await told(agent, txnId)).toEqual(['FAILED', 'PAID', 'REVERT'])
    expect(await walletOf(agent)).toMatchObject({ balance: 49 })
  })

  it('and got back, is not said to be paid by older news, nor settled by being PAID', async () => {
    const { agent, txnId, first } = await payout()
    await resolve(s, txnId, 'failed', 'statement 7: failed')
    await tell(alpha, first, { type: 'returned' })
    await tell(alpha, first, paid)
    const item = { kind: 'paid_after_failed', provider_said: 'REVERT', closed_at: null }
    expect(await itemsOf(txnId)).toMatchObject([item])
    // A person who had heard only that it was paid.
    await resolve(s, txnId, 'paid', 'statement 7: paid')
    expect(await told(agent, txnId)).toEqual(['FAILED', 'PAID'])
    expect(await itemsOf(txnId)).toMatchObject([item])
  })

  it('and a person who fails it at the same moment: one of both stories, and never neither', async () => {
    const stories = new Set<string>()
    for (let round = 0; round < 10; round++) {
      const { agent, txnId, first } = await payout()
      const both = [
        () => resolve(s, txnId, 'failed', 'statement 7: failed'),
        () => tell(alpha, first, paid),
      ]
      if (round % 2 === 1) both.reverse()
      await Promise.allSettled(both.map((each) => each()))
      const status = await statusOf(agent, txnId)
      const items = (await itemsOf(txnId)).map(({ kind }) => kind)
      stories.add(status)
      expect(items).toEqual(status === 'PAID' ? [] : ['paid_after_failed'])
      expect(await told(agent, txnId)).toEqual([status])
    }
    expect([...stories].every((status) => ['PAID', 'FAILED'].includes(status))).toBe(true)
  })

  it('cannot be told beside its order without the item that says so', async () => {
    const { agent, txnId, first } = await payout()
    await resolve(s, txnId, 'failed', 'statement 7: failed')
    await tell(alpha, first, paid)
    const { rows } = await s.sql('delete from open_items where reference = $1 returning *', [first])
    const [proof] = await verify(s.backend.pool, { appId: agent.appId })
    expect(proof?.finding).toBe(
      `payout ${first} was paid, but its order is FAILED and there is no open item that says so`,
    )
    await s.sql('insert into open_items select * from json_populate_record(null::open_items, $1)', [
      JSON.stringify(rows[0]),
    ])
    expect(await itemsOf(txnId)).toHaveLength(1)
  })
})

describe('a payout that went on to another provider, and that the first then says it paid,', () => {
  it('is an open item, and charged to nobody: the order goes its way with the second', async () => {
    const { agent, txnId, first, second } = await payout(refusedForSure)
    const { json } = await tell(alpha, first, paid)
    expect(json.results).toMatchObject([{ result: 'waiting' }])
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    await tell(beta, second, paid)
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect(await walletOf(agent)).toMatchObject({ balance: 99_899, held: 0 })
    await tell(alpha, first, paid)
    const item = { kind: 'paid_twice', provider: 'alpha', order_provider: 'beta', closed_at: null }
    expect(await itemsOf(txnId)).toMatchObject([item])
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'paid' }, { state: 'paid' }])
    // Money that came back is said in the same item.
    await tell(alpha, first, { type: 'returned' })
    expect(await itemsOf(txnId)).toMatchObject([{ ...item, provider_said: 'REVERT' }])
  })

  it('is paid by the first where the second refuses it: there was one payment', async () => {
    const { agent, txnId, first, second } = await payout(refusedForSure)
    await tell(alpha, first, paid)
    await tell(beta, second, refusedForSure)
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect(await walletOf(agent)).toMatchObject({ balance: 99_899, held: 0 })
    expect(await itemsOf(txnId)).toMatchObject([{ resolution: 'order_paid' }])
    await tell(alpha, first, { type: 'returned' })
    expect(await told(agent, txnId)).toEqual(['PAID', 'REVERT'])
  })

  it('at the very moment it goes on: it is paid by the first and stays there, or is told twice', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, txnId, first } = await payout()
      const both = [() => tell(alpha, first, refusedForSure), () => tell(alpha, first, paid)]
      if (round % 2 === 1) both.reverse()
      await Promise.all(both.map((each) => each()))
      const attempts = await attemptsOf(s, txnId)
      const kinds = (await itemsOf(txnId)).map(({ kind }) => kind)
      if (attempts.length === 1) {
        expect(await statusOf(agent, txnId)).toBe('PAID')
        expect(kinds).not.toContain('paid_twice')
      } else {
        expect(await statusOf(agent, txnId)).toBe('WAITING')
        expect(kinds).toEqual(['paid_twice'])
      }
    }
  })
})

it('a payout that is paid and then said to have failed stays paid, and is an open item', async () => {
  const { agent, txnId, first } = await payout(paid)
  const { json } = await tell(alpha, first, final)
  expect(json.results).toMatchObject([{ result: 'waiting' }])
  expect(await told(agent, txnId)).toEqual(['PAID'])
  expect(await itemsOf(txnId)).toMatchObject([{ kind: 'failed_after_paid', order_status: 'PAID' }])
  expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'paid', ask_at: null }])
  const metrics = await (await fetch(`${s.service.url}/metrics`)).text()
  expect(metrics).toMatch(/sluice_open_items\{kind="failed_after_paid"\} [1-9]/)
  expect(metrics).toMatch(/sluice_open_items\{kind="paid_after_failed"\} \d+/)
})
