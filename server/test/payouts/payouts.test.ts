import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseTxnId } from '../../src/lib/ids.ts'
import { PayoutRunner } from '../../src/payouts/payout-runner.ts'
import { holdPayout, payoutsOfOrder } from '../../src/payouts/payouts.ts'
import type { Payout, PayoutOutcome } from '../../src/providers/provider.ts'
import { providerFigures } from '../../src/reports/provider-figures.ts'
import { saveRoute } from '../../src/routing/providers.ts'
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
  referencesFor,
  resolve,
  startProcess,
  statusOf,
  told,
} from '../support/fake-provider.ts'
import { cleanUp, command, commandJson, tempFolder } from '../support/process.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'
import type { CutAtCommit } from '../support/tcp-proxy.ts'

/** Pays SCB first; where it refuses for sure, beta does. Both pay a reference once. */
const alpha = new FakeProvider('alpha')
const beta = new FakeProvider('beta')
/** Chance decides between beta and this one, for large amounts. */
const delta = new FakeProvider('delta')
const large = { amount: 600 }
/** Pays KBANK, and pays again whatever it is sent again. */
const gamma = new FakeProvider('gamma', { idempotentByReference: false })
const atGamma = { bankCode: 'KBANK' }

let s: TestService
let processes: Process[] = []

beforeAll(async () => {
  s = await startTestService({
    outside: { providers: [alpha, beta, gamma, delta], paysOut: false },
  })
  for (const [provider, bank, preference, minAmount] of [
    ['alpha', 'SCB', 1, 1n],
    ['beta', 'SCB', 2, 1n],
    ['delta', 'SCB', 2, 600n],
    ['gamma', 'KBANK', 1, 1n],
  ] as const) {
    await saveRoute(s.backend.pool, {
      provider,
      name: 'all',
      direction: 'withdraw',
      currency: 'THB',
      banks: [bank],
      minAmount,
      maxAmount: 1_000_000n,
      preference,
      weight: 1,
    })
  }
})
afterEach(async () => {
  // Those that died go on trying for a while; they are waited for at the end.
  await Promise.all(processes.filter(({ isDead }) => !isDead).map((each) => each.close()))
  processes = processes.filter(({ isDead }) => isDead)
  await s.prove()
  // What is left over ends with the next question.
  for (const [reference, { type }] of alpha.book) {
    if (type === 'accepted') alpha.book.set(reference, paid)
  }
})
afterAll(async () => {
  await Promise.all(processes.map((each) => each.close()))
  await s.close()
  await cleanUp()
})

/** A process with its own lines to the banks. */
async function start(): Promise<Process & { alpha: FakeProvider; gamma: FakeProvider }> {
  const own = { alpha: alpha.line(), beta: beta.line(), gamma: gamma.line(), delta: delta.line() }
  const process = await startProcess(s, Object.values(own))
  processes.push(process)
  return Object.assign(process, own)
}

async function withdrawal(more = {}): Promise<{ agent: AgentClient; txnId: string }> {
  const agent = await fundedAgent(s)
  const { json } = await agent.withdraw(more)
  return { agent, txnId: json.txn_id }
}

/** What reached a bank of this order. */
const sentTo = (bank: FakeProvider, txnId: string) => callsAbout(txnId, bank.submitted)
const askedOf = (bank: FakeProvider, txnId: string) => callsAbout(txnId, bank.asked)

const held = async (agent: AgentClient) => (await agent.get('/payment/wallet')).json.held

/** Moves the clock past every pause that is shorter than this. */
const silenceMs = 11_000

const paid: PayoutOutcome = { type: 'paid' }
const unknown: PayoutOutcome = { type: 'unknown', reason: 'no answer' }
const refusedForSure: PayoutOutcome = {
  type: 'rejected',
  mayTryAnother: true,
  reason: 'not served here',
}

describe('handing over', () => {
  it('is on disk before the provider is called', async () => {
    const { txnId } = await withdrawal()
    const process = await start()
    let onDisk: unknown
    process.alpha.onSubmit = async (payout) => {
      const order = await orderOf(s.service.desk, txnId)
      const [attempt] = await attemptsOf(s, txnId)
      onDisk = { ...attempt, order: order.providerRef, at: order.handedOverAt }
      return alpha.take(payout)
    }
    await process.payOut(txnId)
    const [{ reference = '' } = {}] = sentTo(alpha, txnId)
    expect(onDisk).toMatchObject({ provider: 'alpha', reference, order: reference, at: s.clock() })
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'accepted', attempt: 1 }])
  })

  it('and a cancel exclude each other over all processes', async () => {
    const [one, other] = [await start(), await start()]
    const agent = await fundedAgent(s)
    const ids: string[] = await Promise.all(
      Array.from({ length: 60 }, async () => (await agent.withdraw({ amount: 1 })).json.txn_id),
    )
    s.clock.advance(3_000)
    const cancel = (from: number, to: number) =>
      Promise.all(ids.slice(from, to).map((id) => agent.post(`/payment/orders/${id}/cancel`)))
    const answers = await cancel(0, 5)
    const rounds = Promise.all([one.round(), other.round()])
    for (let from = 5; from < 55; from += 5) answers.push(...(await cancel(from, from + 5)))
    await rounds
    answers.push(...(await cancel(55, 60)))
    let cancelled = 0
    for (const [at, id] of ids.entries()) {
      const isCancelled = answers[at]?.status === 200
      if (isCancelled) cancelled++
      else expect(answers[at]?.json.code).toBe('order_not_cancellable')
      expect(sentTo(alpha, id)).toHaveLength(isCancelled ? 0 : 1)
      expect(await statusOf(agent, id)).toBe(isCancelled ? 'CANCEL' : 'WAITING')
    }
    expect([cancelled >= 5, cancelled <= 55]).toEqual([true, true])
  })

  it('is done by one of many processes, and each question is asked by one', async () => {
    const all = await Promise.all([start(), start(), start()])
    const agent = await fundedAgent(s)
    const ids: string[] = await Promise.all(
      Array.from({ length: 40 }, async () => (await agent.withdraw({ amount: 1 })).json.txn_id),
    )
    s.clock.advance(3_000)
    for (const expected of [0, 1, 2]) {
      await Promise.all(all.map((each) => each.round()))
      for (const id of ids) {
        expect(sentTo(alpha, id)).toHaveLength(1)
        expect(askedOf(alpha, id)).toHaveLength(expected)
      }
      s.clock.advance(silenceMs)
    }
  })

  it('is known as one’s own after a lost commit, and never taken for one’s own', async () => {
    const agent = await fundedAgent(s)
    const [first, second] = await Promise.all([agent.withdraw(), agent.withdraw()])
    const orders = [first, second].map(({ json }) => parseTxnId(json.txn_id)?.orderId ?? '')
    const process = await start()
    const handOver = (orderId: string) => ({
      type: 'hand_over' as const,
      agentId: agent.agentId,
      orderId,
      at: s.clock(),
      provider: 'alpha',
      references: [`lost-${orderId}`],
      insteadOf: null,
      token: randomUUID(),
      askAt: s.clock(),
    })
    const { teller } = process.desk
    let other: Promise<{ changed: boolean }> | undefined
    process.proxy.cutNextCommits(['before'], () => {
      other ??= s.service.desk.teller.do(handOver(orders[0] ?? ''))
    })
    const done = await Promise.all(orders.map((orderId) => teller.do(handOver(orderId))))
    // The other process got the first one, in the same millisecond: it alone may call the provider.
    expect([(await other)?.changed, ...done.map(({ changed }) => changed)]).toEqual([
      true,
      false,
      true,
    ])
    expect(await attemptsOf(s, second.json.txn_id)).toHaveLength(1)

    const { txnId } = await withdrawal()
    process.proxy.cutNextCommits(['after'])
    await process.payOut(txnId)
    expect([process.proxy.cuts, sentTo(alpha, txnId).length]).toEqual([2, 1])
  })
})

/** Ends a payout, then tries to end it again. */
async function byFunction(_agent: AgentClient, txnId: string, word: 'paid' | 'failed') {
  await resolve(s, txnId, word, `statement 7: ${word}`)
  await resolve(s, txnId, word, 'once more')
}

/** The same by the command line. */
async function byHand(agent: AgentClient, txnId: string, word: 'paid' | 'failed') {
  const env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATA_DIR: await tempFolder(),
  }
  const said = expect.stringMatching(/payout resolve/)
  expect(await commandJson(['payout', 'list', '--agent', agent.appId], env)).toMatchObject([
    { txn_id: txnId, provider: 'gamma', state: 'not_found', asks: 4, said },
  ])
  const evidence = ['--evidence', `statement 7: ${word}`]
  const done = await commandJson(['payout', 'resolve', txnId, word, ...evidence], env)
  expect(done).toMatchObject({ txn_id: txnId, status: word === 'paid' ? 'PAID' : 'FAILED' })
  const other = await command(['payout', 'resolve', txnId, 'failed', '--evidence', 'no'], env)
  expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/cannot become/)])
}

/** What a process does until it is cut off for good, at one step after the other. */
type Step = [
  name: string,
  cut: CutAtCommit | 'in the call',
  bank: (payout: Payout) => PayoutOutcome,
]

describe('a crash', () => {
  const steps: [...Step, reached: boolean][] = [
    ['as the reference is committed, which fails', 'before', (p) => alpha.take(p, paid), false],
    ['after the reference was committed', 'after', (p) => alpha.take(p, paid), false],
    ['in the call, which the bank never saw', 'in the call', () => paid, false],
    ['in the call, after the bank booked it', 'in the call', (p) => alpha.take(p, paid), true],
  ]
  it.each(steps)('%s: it is paid once', async (_name, cut, bank, reached) => {
    const { agent, txnId } = await withdrawal()
    const dying = await start()
    const dead = new Promise<void>((resolve) => {
      const die = () => {
        dying.die()
        resolve()
      }
      dying.alpha.onSubmit = (payout) => {
        if (reached) bank(payout)
        die()
        return never()
      }
      if (cut !== 'in the call') dying.proxy.cutNextCommits([cut], die)
    })
    dying.runner.offer(await orderOf(s.service.desk, txnId))
    await dead
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    const calls = sentTo(alpha, txnId).length

    const next = await start()
    next.alpha.onSubmit = async (payout) => alpha.take(payout, paid)
    s.clock.advance(silenceMs)
    await next.round()
    s.clock.advance(silenceMs)
    await next.round()
    expect(await statusOf(agent, txnId)).toBe('PAID')
    const [attempt, ...others] = await attemptsOf(s, txnId)
    expect([attempt?.state, others]).toEqual(['paid', []])
    // Only one that never reached the bank is sent to it again, under the very same reference.
    expect(sentTo(alpha, txnId).length).toBe(reached ? calls : calls + 1)
    expect(new Set(sentTo(alpha, txnId).map(({ reference }) => reference)).size).toBe(1)
    expect(sentTo(beta, txnId)).toEqual([])
    expect(await told(agent, txnId)).toEqual(['PAID'])
  })

  const outcomes: [name: string, said: PayoutOutcome, cut: CutAtCommit, states: string[]][] = [
    ['before paid is committed', paid, 'before', ['PAID']],
    ['after paid was committed, its row still open', paid, 'after', ['PAID']],
    [
      'after failed was committed',
      { ...refusedForSure, mayTryAnother: false },
      'after',
      ['FAILED'],
    ],
    ['before anything of a return', { type: 'returned' }, 'before', ['PAID', 'REVERT']],
    ['between paid and returned', { type: 'returned' }, 'after', ['PAID', 'REVERT']],
  ]
  it.each(outcomes)('%s: the next question ends it', async (_name, said, cut, states) => {
    const { agent, txnId } = await withdrawal()
    const dying = await start()
    const dead = new Promise<void>((resolve) => {
      dying.alpha.onSubmit = async (payout) => {
        dying.proxy.cutNextCommits([cut], () => {
          dying.die()
          resolve()
        })
        return alpha.take(payout, said)
      }
    })
    dying.runner.offer(await orderOf(s.service.desk, txnId))
    await dead
    const next = await start()
    s.clock.advance(silenceMs)
    await next.round()
    expect(await told(agent, txnId)).toEqual(states)
    const ended = { PAID: 'paid', FAILED: 'rejected', REVERT: 'returned' }[states.at(-1) ?? '']
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: ended, ask_at: null }])
    expect([sentTo(alpha, txnId).length, await held(agent)]).toEqual([1, 0])
  })

  it('before the next provider was called after a sure no: it is called, once', async () => {
    const { agent, txnId } = await withdrawal()
    const dying = await start()
    const dead = new Promise<void>((resolve) => {
      dying.alpha.onSubmit = async (payout) => {
        dying.proxy.cutNextCommits(['after'], () => {
          dying.die()
          resolve()
        })
        return alpha.take(payout, refusedForSure)
      }
    })
    dying.runner.offer(await orderOf(s.service.desk, txnId))
    await dead
    expect(sentTo(beta, txnId)).toEqual([])
    const next = await start()
    s.clock.advance(silenceMs)
    await next.round()
    expect(await attemptsOf(s, txnId)).toMatchObject([
      { provider: 'alpha', state: 'rejected' },
      { provider: 'beta', state: 'accepted' },
    ])
    expect([sentTo(alpha, txnId).length, sentTo(beta, txnId).length]).toEqual([1, 1])
    await beta.tell(s.service.url, payoutEvent(sentTo(beta, txnId)[0]?.reference ?? '', paid))
    expect(await told(agent, txnId)).toEqual(['PAID'])
  })

  it.each(['paid', 'failed'] as const)(
    'before a call to who might pay it twice: never again, until a person says %s',
    async (word) => {
      const { agent, txnId } = await withdrawal(atGamma)
      const dying = await start()
      const dead = new Promise<void>((resolve) => {
        dying.proxy.cutNextCommits(['after'], () => {
          dying.die()
          resolve()
        })
      })
      dying.runner.offer(await orderOf(s.service.desk, txnId))
      await dead
      const next = await start()
      for (let round = 1; round <= 4; round++) {
        s.clock.advance(3_600_000)
        await next.round()
        expect(askedOf(gamma, txnId)).toHaveLength(round)
      }
      expect(sentTo(gamma, txnId)).toEqual([])
      expect(await held(agent)).toBe(100)
      expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'not_found', asks: 4 }])

      await (word === 'paid' ? byHand : byFunction)(agent, txnId, word)
      const status = word === 'paid' ? 'PAID' : 'FAILED'
      expect(await told(agent, txnId)).toEqual([status])
      const { rows } = await s.sql(
        'select reason from journal where agent_id = $1 order by seq desc limit 1',
        [agent.agentId],
      )
      expect(rows).toEqual([{ reason: `statement 7: ${word}` }])
      expect(await attemptsOf(s, txnId)).toMatchObject([{ evidence: `statement 7: ${word}` }])
      expect(await held(agent)).toBe(0)
      s.clock.advance(3_600_000)
      await next.round()
      expect([sentTo(gamma, txnId), askedOf(gamma, txnId).length]).toEqual([[], 4])
    },
  )
})

describe('what is not a clear word', () => {
  const unclear: [name: string, call: () => Promise<PayoutOutcome>, said: RegExp][] = [
    ['unknown', async () => unknown, /no answer/],
    ['an error', () => Promise.reject(new Error('socket hang up\0')), /socket hang up/],
    ['nothing', async () => undefined as unknown as PayoutOutcome, /cannot be read/],
    ['nonsense', async () => ({ type: 'toString' }) as unknown as PayoutOutcome, /cannot be read/],
    ['no answer at all', never, /in time/],
  ]
  it('leaves the money held, to be asked about, whatever it was', async () => {
    const process = await start()
    const agent = await fundedAgent(s)
    const ids: string[] = []
    for (const at of unclear.keys())
      ids.push((await agent.withdraw({ amount: at + 1 })).json.txn_id)
    process.alpha.onSubmit = ({ amountMinor }) =>
      unclear[Number(amountMinor / 100n) - 1]?.[1]() ?? never()
    await Promise.all(ids.map((id) => process.payOut(id)))
    for (const [at, [name, , said]] of unclear.entries()) {
      const attempts = await attemptsOf(s, ids[at] ?? '')
      const expected = { state: 'unknown', asks: 0, said: expect.stringMatching(said) }
      expect(attempts, name).toMatchObject([expected])
      expect(attempts[0]?.ask_at, name).toEqual(new Date(s.clock().getTime() + 2_000))
      expect([sentTo(alpha, ids[at] ?? '').length, sentTo(beta, ids[at] ?? '').length]).toEqual([
        1, 0,
      ])
    }
    expect(await held(agent)).toBe(1 + 2 + 3 + 4 + 5)
    expect(process.errors).toEqual([])
  })

  it('is asked again after 2 s, 4 s, 8 s and so on, at most an hour apart, and never given up', async () => {
    const { agent, txnId } = await withdrawal(atGamma)
    const process = await start()
    process.gamma.onSubmit = async () => unknown
    process.gamma.onAsk = async () => unknown
    await process.payOut(txnId)
    const pauses: number[] = []
    for (let question = 1; question <= 15; question++) {
      const [{ ask_at } = { ask_at: null }] = await attemptsOf(s, txnId)
      const pauseMs = (ask_at?.getTime() ?? 0) - s.clock().getTime()
      pauses.push(pauseMs / 1000)
      s.clock.advance(pauseMs - 1)
      await process.round()
      expect(askedOf(gamma, txnId)).toHaveLength(question - 1)
      s.clock.advance(1)
      await process.round()
      expect(askedOf(gamma, txnId)).toHaveLength(question)
    }
    const growing = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
    expect(pauses).toEqual([...growing, 3600, 3600, 3600, 3600])
    expect(await held(agent)).toBe(100)
    process.gamma.onAsk = async () => paid
    s.clock.advance(3_600_000)
    await process.round()
    expect([await statusOf(agent, txnId), sentTo(gamma, txnId).length]).toEqual(['PAID', 1])
  })

  it('of one provider, however much of it, does not keep payouts from another', async () => {
    const process = await start()
    process.gamma.onSubmit = async () => unknown
    for (let n = 0; n < 3; n++) await process.payOut((await withdrawal(atGamma)).txnId)
    process.gamma.onAsk = never
    s.clock.advance(silenceMs)
    const narrow = new PayoutRunner(process.desk, 2, (error) => process.errors.push(error))
    await narrow.poll()
    const { txnId } = await withdrawal()
    narrow.offer(await orderOf(s.service.desk, txnId))
    await expect.poll(() => sentTo(alpha, txnId).length, patient).toBe(1)
    await narrow.stop()
    expect(process.errors).toEqual([])
  })

  it('a payout that was ended during the question is not sent again', async () => {
    const { agent, txnId } = await withdrawal()
    const process = await start()
    process.alpha.onSubmit = async () => unknown
    await process.payOut(txnId)
    process.alpha.onAsk = async () => {
      await resolve(s, txnId, 'failed', 'the bank has nothing')
      return { type: 'not_found' }
    }
    s.clock.advance(silenceMs)
    await process.round()
    expect([await statusOf(agent, txnId), sentTo(alpha, txnId).length]).toEqual(['FAILED', 1])
  })
})

describe('marking a payout as failed', () => {
  const markFailed = (txnId: string) => resolve(s, txnId, 'failed', 'the bank has nothing')
  const refusal = 'alpha is being called with it at this moment and may be paying it: try again in'

  it('waits while the provider is being called with it, for the first time or again', async () => {
    const { agent, txnId } = await withdrawal()
    const process = await start()
    const called: string[] = []
    process.alpha.onSubmit = async (payout) => {
      if (!referencesFor(txnId).includes(payout.reference)) return unknown
      called.push(
        await markFailed(txnId).then(
          () => 'failed',
          (error) => error.message,
        ),
      )
      return called.length === 1 ? unknown : { type: 'paid' }
    }
    await process.payOut(txnId)
    process.alpha.onAsk = async () => ({ type: 'not_found' })
    s.clock.advance(silenceMs)
    await process.round()
    expect(called).toEqual([expect.stringContaining(refusal), expect.stringContaining(refusal)])
    expect([await told(agent, txnId), await held(agent)]).toEqual([['PAID'], 0])
  })

  it('is possible when whoever called the provider has died', async () => {
    const { agent, txnId } = await withdrawal()
    const process = await start()
    process.alpha.onSubmit = never
    void process.payOut(txnId)
    await expect.poll(() => sentTo(alpha, txnId).length, patient).toBe(1)
    await expect(markFailed(txnId)).rejects.toThrow(refusal)
    s.clock.advance(silenceMs)
    await markFailed(txnId)
    expect([await statusOf(agent, txnId), await held(agent)]).toEqual(['FAILED', 0])
  })

  it('keeps a question that is under way from sending it again', async () => {
    const { agent, txnId } = await withdrawal()
    const process = await start()
    process.alpha.onSubmit = async () => unknown
    await process.payOut(txnId)
    process.alpha.onAsk = async () => {
      // The person's word is about to be written down.
      const { agentId, orderId } = parseTxnId(txnId) ?? { agentId: 0n, orderId: '' }
      const [attempt] = await payoutsOfOrder(s.backend.pool, agentId, orderId)
      expect(attempt && (await holdPayout(s.backend.pool, attempt, s.clock(), 60_000))).toBe(true)
      return { type: 'not_found' }
    }
    s.clock.advance(silenceMs)
    await process.round()
    expect([await statusOf(agent, txnId), sentTo(alpha, txnId).length]).toEqual(['WAITING', 1])
    process.alpha.onAsk = async () => ({ type: 'not_found' })
    s.clock.advance(60_000)
    await process.round()
    expect(sentTo(alpha, txnId)).toHaveLength(2)
  })
})

describe('a sure no', () => {
  it('that is final fails the order and gives the money back', async () => {
    const { agent, txnId } = await withdrawal()
    const process = await start()
    process.alpha.onSubmit = async () => ({ ...refusedForSure, mayTryAnother: false })
    await process.payOut(txnId)
    expect([await told(agent, txnId), await held(agent)]).toEqual([['FAILED'], 0])
    expect(sentTo(beta, txnId)).toEqual([])
  })

  it('heard by several at once is one more payout, and what the first bank says then waits for a person', async () => {
    const all = await Promise.all([start(), start()])
    for (let round = 0; round < 8; round++) {
      const { agent, txnId } = await withdrawal(large)
      const [process] = all
      process.alpha.onSubmit = async () => unknown
      await process.payOut(txnId)
      const [{ reference = '' } = {}] = await attemptsOf(s, txnId)
      alpha.book.set(reference, refusedForSure)
      s.clock.advance(silenceMs)
      await Promise.all([
        ...all.map((each) => each.round()),
        alpha.tell(s.service.url, payoutEvent(reference, refusedForSure)),
        alpha.tell(s.service.url, payoutEvent(reference, refusedForSure)),
      ])
      const others = () => [...sentTo(beta, txnId), ...sentTo(delta, txnId)]
      expect([sentTo(alpha, txnId).length, others().length]).toEqual([1, 1])
      const next = sentTo(beta, txnId).length > 0 ? beta : delta
      const second = { provider: next.name, state: 'accepted', attempt: 2 }
      const attempts = [{ provider: 'alpha', state: 'rejected', attempt: 1 }, second]
      expect(await attemptsOf(s, txnId)).toMatchObject(attempts)

      for (const late of [refusedForSure, paid, { type: 'cancelled' } as const, unknown]) {
        const answer = await alpha.tell(s.service.url, payoutEvent(reference, late))
        expect(answer.status).toBe(200)
      }
      expect([await statusOf(agent, txnId), others().length]).toEqual(['WAITING', 1])
      const paidTwice = { provider: 'alpha', state: 'paid', attempt: 1 }
      expect(await attemptsOf(s, txnId)).toMatchObject([paidTwice, second])
      next.book.set(others()[0]?.reference ?? '', paid)
      s.clock.advance(silenceMs)
      await process.round()
      expect(await told(agent, txnId)).toEqual(['PAID'])
    }
  })

  it('counts against who said it, and the payment for who made it', async () => {
    const { agent, txnId } = await withdrawal()
    const process = await start()
    process.alpha.onSubmit = async () => refusedForSure
    await process.payOut(txnId)
    beta.book.set(sentTo(beta, txnId)[0]?.reference ?? '', paid)
    s.clock.advance(silenceMs)
    await process.round()
    expect(await told(agent, txnId)).toEqual(['PAID'])
    const agents = [{ agentId: agent.agentId, currency: 'THB' as const }]
    const { figures } = await providerFigures(s.backend.pool, agents, new Date(0))
    const payouts = figures.filter(({ kind }) => kind === 'withdraw')
    expect(payouts.toSorted((a, b) => a.provider.localeCompare(b.provider))).toEqual([
      { provider: 'alpha', kind: 'withdraw', paid: 0, ended: 1 },
      { provider: 'beta', kind: 'withdraw', paid: 1, ended: 1 },
    ])
  })

  it('of the last provider fails the order', async () => {
    const { agent, txnId } = await withdrawal(atGamma)
    const process = await start()
    process.gamma.onSubmit = async () => refusedForSure
    await process.payOut(txnId)
    expect(await told(agent, txnId)).toEqual(['FAILED'])
  })
})

it('money that came back is told as PAID and then REVERT, even where the first was never told', async () => {
  const { agent, txnId } = await withdrawal()
  const process = await start()
  await process.payOut(txnId)
  const reference = sentTo(alpha, txnId)[0]?.reference ?? ''
  await alpha.tell(s.service.url, payoutEvent(reference, { type: 'returned' }))
  expect(await told(agent, txnId)).toEqual(['PAID', 'REVERT'])
  for (const late of [paid, { type: 'accepted' } as const, refusedForSure]) {
    await alpha.tell(s.service.url, payoutEvent(reference, late))
  }
  expect(await told(agent, txnId)).toEqual(['PAID', 'REVERT'])
  expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'returned', ask_at: null }])
})

describe('a whole service', () => {
  it('pays out by itself; stopped during a call it leaves it unknown, and the next one asks', async () => {
    const line = alpha.line()
    const outside = { providers: [line, beta, gamma, delta], paysOut: true }
    const first = await startTestService({ beside: s, outside })
    let reason: unknown
    line.onSubmit = (payout, signal) => {
      alpha.take(payout, paid)
      signal.addEventListener('abort', () => {
        reason = signal.reason
      })
      return never()
    }
    const owner = await fundedAgent(s)
    const agent = new AgentClient(
      first.service.url,
      owner.appId,
      owner.secret,
      owner.agentId,
      s.clock,
    )
    const txnId = (await agent.withdraw()).json.txn_id
    await expect.poll(() => sentTo(alpha, txnId).length, patient).toBe(1)
    await first.close()
    expect(String(reason)).toMatch(/stopped/)
    expect(await attemptsOf(s, txnId)).toMatchObject([
      { state: 'unknown', said: 'The service was stopped during the call.' },
    ])
    expect(await held(owner)).toBe(100)

    const metrics = async () => (await fetch(`${s.service.url}/metrics`)).text()
    s.clock.advance(90_000)
    const shown = await metrics()
    const open = (state: string) =>
      Number(new RegExp(`sluice_payouts_open\\{state="${state}"\\} (\\d+)`).exec(shown)?.[1])
    expect(open('unknown')).toBeGreaterThan(0)
    expect(open('accepted')).toBeGreaterThan(0)
    expect(shown).toMatch(/sluice_payouts_oldest_seconds\{state="unknown"\} (9\d|\d{3,})/)

    const next = await startTestService({ beside: s, outside })
    await expect.poll(() => statusOf(owner, txnId), patient).toBe('PAID')
    await next.close()
    expect(sentTo(alpha, txnId)).toHaveLength(1)
  })
})
