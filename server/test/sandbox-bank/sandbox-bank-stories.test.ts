import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { depositStories, payoutStories, plainPayout } from '../../src/sandbox-bank/stories.ts'
import { aDeposit, aPayout, type Counter, makeTestBank, type TestBank } from '../support/bank.ts'

const { signal } = new AbortController()

let bank: TestBank
let counter: Counter

beforeAll(async () => {
  bank = await makeTestBank()
  counter = await bank.open()
})
afterAll(() => bank.close())
beforeEach(() => {
  bank.receiver.received.length = 0
})

/** Plays on for a while and says what was told about a reference, and how long after the beginning. */
async function playFor(seconds: number, reference: string): Promise<[number, object][]> {
  const heard: [number, object][] = []
  const seen = new Set<string>()
  for (let quarter = 0; quarter <= seconds * 4; quarter++) {
    await counter.tick()
    for (const { id, ...event } of bank.told()) {
      if (event.reference !== reference || seen.has(id)) continue
      seen.add(id)
      heard.push([quarter / 4, event])
    }
    bank.clock.advance(250)
  }
  expect(bank.errors).toEqual([])
  return heard
}

const payer = { accountNo: '1234567890', accountName: 'Somchai Jaidee', bankCode: 'SCB' }
const payment = { type: 'payment', amount: '100.5', currency: 'THB', payer }

const charge = { type: 'cost', costId: expect.any(String), amount: '1', currency: 'THB' }

/** Each story of a deposit of 100.50, with what is told of it and when. */
const depositCases: Record<string, [seconds: number, event: object][]> = {
  paid: [[1, payment]],
  failed: [[1, { type: 'deposit_ended', status: 'FAILED' }]],
  void: [[1, { type: 'deposit_ended', status: 'VOID' }]],
  'taken-back': [
    [1, payment],
    [3, { type: 'payment_taken_back' }],
  ],
  late: [[4, payment]],
  underpaid: [[1, { ...payment, amount: '50.25' }]],
  overpaid: [[1, { ...payment, amount: '150.75' }]],
  duplicate: [
    [1, payment],
    [3, payment],
  ],
  'wrong-payer': [
    [1, { ...payment, payer: { ...payer, accountNo: '2234567890', accountName: 'SOMEBODY ELSE' } }],
  ],
  charged: [
    [1, payment],
    [1, charge],
  ],
}

/** Each story of a payout, with what is told of it and when, and what asking tells in the end. */
const payoutCases: Record<string, { told: [seconds: number, type: string][]; end: string }> = {
  none: { told: [[2, 'paid']], end: 'paid' },
  paid: { told: [[1, 'paid']], end: 'paid' },
  failed: { told: [[1, 'rejected']], end: 'rejected' },
  revert: {
    told: [
      [1, 'paid'],
      [3, 'returned'],
    ],
    end: 'returned',
  },
  'timeout-then-paid': { told: [], end: 'paid' },
  'timeout-then-failed': { told: [], end: 'rejected' },
  'duplicate-notice': { told: [[1, 'paid']], end: 'paid' },
  charged: {
    told: [
      [1, 'paid'],
      [1, 'cost'],
    ],
    end: 'paid',
  },
  slow: { told: [], end: 'accepted' },
  queued: { told: [], end: 'accepted' },
}

it('every story has a case here, and the provider takes exactly the stories that the bank knows', () => {
  expect(Object.keys(depositCases)).toEqual(Object.keys(depositStories))
  expect(Object.keys(payoutCases)).toEqual(['none', ...Object.keys(payoutStories)])
  const fault = (kind: 'deposit' | 'withdraw', sandbox: unknown) =>
    counter.provider.faultIn?.(kind, JSON.stringify({ sandbox }))
  for (const [kind, stories] of [
    ['deposit', depositStories],
    ['withdraw', payoutStories],
  ] as const) {
    for (const story of Object.keys(stories)) expect(fault(kind, story)).toBeUndefined()
    const message = `must be one of ${Object.keys(stories).join(', ')}`
    for (const story of ['', 'Paid', 'toString', '__proto__', 1, null, ['paid'], {}]) {
      expect(fault(kind, story)).toEqual({ field: 'extraParams.sandbox', message })
    }
  }
  expect(fault('deposit', 'slow')).toBeDefined()
  expect(fault('withdraw', 'late')).toBeDefined()
  for (const extraParams of [null, '{}', '{"__proto__":{"sandbox":"x"}}']) {
    expect(counter.provider.faultIn?.('deposit', extraParams)).toBeUndefined()
  }
})

it('an act that cannot be played keeps no other from it', async () => {
  const deposits = Array.from({ length: 5 }, () => aDeposit(bank.clock.now(), 'paid'))
  const expected = (some: typeof deposits) =>
    Promise.all(some.map((each) => counter.provider.expectDeposit?.(each, signal)))
  await expected(deposits.slice(0, 2))
  // Half as much again is more than a column holds.
  await bank.pool.query(
    `with bad as (insert into sandbox_bank.deposits select 'bad', 9000000000000000000, 'THB',
       $1::timestamptz + interval '1 hour', '1', 'A', 'SCB', 'overpaid', $1)
     insert into sandbox_bank.acts (party, reference, step, due_at) values ('deposit', 'bad', 0, $1)`,
    [bank.clock.now()],
  )
  await expected(deposits.slice(2))
  bank.clock.advance(1_000)
  await counter.tick()
  const paid = bank.told().map(({ reference }) => reference)
  expect(paid.sort()).toEqual(deposits.map(({ txnId }) => txnId).sort())
  expect(bank.errors).toMatchObject([{ code: '22003' }])
  await bank.pool.query(`update sandbox_bank.acts set played_at = due_at where reference = 'bad'`)
  bank.errors.length = 0
})

describe('a deposit', () => {
  it.each(Object.entries(depositCases))('"%s" is told in time', async (story, expected) => {
    const start = bank.clock.now().getTime()
    const deposit = { ...aDeposit(bank.clock.now(), story), expiresAt: new Date(start + 3_000) }
    expect(counter.provider.depositInstructions(deposit)).toBeUndefined()
    const outcome = await counter.provider.expectDeposit?.(deposit, signal)
    expect(outcome).toMatchObject({ type: 'accepted' })

    const heard = await playFor(5, deposit.txnId)
    expect(heard).toEqual(
      expected.map(([seconds, event]) => [
        seconds,
        {
          ...event,
          reference: deposit.txnId,
          ...('payer' in event && {
            paidAt: new Date(start + seconds * 1_000).toISOString(),
            paymentId: expect.stringMatching(/^pay-\d+$/),
          }),
          ...('type' in event &&
            event.type === 'payment_taken_back' && { paymentId: expect.any(String) }),
        },
      ]),
    )
    const payments = heard.flatMap(([, event]) => ('paymentId' in event ? [event.paymentId] : []))
    expect(new Set(payments).size).toBe(story === 'taken-back' ? 1 : payments.length)
  })

  it('without a story needs no call, and has the same instructions as one with a story', async () => {
    const deposit = aDeposit(bank.clock.now(), null)
    const instructions = counter.provider.depositInstructions(deposit)
    expect(instructions).toEqual({
      qrcodeText: `SLUICE SANDBOX - NOT A PAYMENT ${deposit.txnId} 100.5 THB`,
      transfer: {
        bankCode: 'SANDBOX',
        accountNumber: `TEST${deposit.txnId.slice(-8)}`,
        accountName: 'SANDBOX NOT A REAL ACCOUNT',
      },
    })
    const outcome = await counter.provider.expectDeposit?.(
      { ...deposit, extraParams: '{"sandbox":"paid"}' },
      signal,
    )
    expect(outcome).toEqual({ type: 'accepted', instructions })
  })

  it('of the smallest amount is never underpaid with nothing', async () => {
    const deposit = { ...aDeposit(bank.clock.now(), 'underpaid'), amountMinor: 1n }
    await counter.provider.expectDeposit?.({ ...deposit, currency: 'VND' }, signal)
    expect(await playFor(1, deposit.txnId)).toMatchObject([[1, { amount: '1', currency: 'VND' }]])
  })
})

describe('a payout', () => {
  it.each(Object.entries(payoutCases))('"%s" is told in time', async (story, expected) => {
    const payout = aPayout(story === 'none' ? null : story)
    const isUnanswered = story.startsWith('timeout')
    const { signal: giveUp, giveUpNow } = givingUp()
    const submitted = counter.provider.submitPayout(payout, isUnanswered ? giveUp : signal)
    if (isUnanswered) {
      // It is booked before the call is left without an answer.
      await expect
        .poll(() => counter.provider.askPayout(payout, signal))
        .toEqual({ type: 'accepted' })
      giveUpNow()
      const reason = 'the bank did not answer in time'
      expect(await submitted).toEqual({ type: 'unknown', reason })
    } else {
      expect(await submitted).toEqual({ type: 'accepted' })
      expect(await counter.provider.askPayout(payout, signal)).toEqual({ type: 'accepted' })
    }

    const heard = await playFor(6, payout.reference)
    const rejected = { reason: "the payee's bank refused the payment", mayTryAnother: false }
    const inFull = (type: string) => (type === 'rejected' ? { type, ...rejected } : { type })
    expect(heard).toEqual(
      expected.told.map(([seconds, type]) => [
        seconds,
        type === 'cost'
          ? { ...charge, reference: payout.reference, amount: '25' }
          : { type: 'payout', reference: payout.reference, outcome: inFull(type) },
      ]),
    )
    expect(await counter.provider.askPayout(payout, signal)).toEqual(inFull(expected.end))
  })

  it('"timeout-then-paid" is accepted, when asked, until three seconds have passed', async () => {
    const payout = aPayout('timeout-then-paid')
    const { signal: giveUp, giveUpNow } = givingUp()
    const submitted = counter.provider.submitPayout(payout, giveUp)
    await expect
      .poll(() => counter.provider.askPayout(payout, signal))
      .toEqual({ type: 'accepted' })
    bank.clock.advance(2_999)
    await counter.tick()
    expect(await counter.provider.askPayout(payout, signal)).toEqual({ type: 'accepted' })
    bank.clock.advance(1)
    await counter.tick()
    expect(await counter.provider.askPayout(payout, signal)).toEqual({ type: 'paid' })
    giveUpNow()
    await submitted
  })

  it('"duplicate-notice" is told three times or more, always with the same id', async () => {
    const payout = aPayout('duplicate-notice')
    await counter.provider.submitPayout(payout, signal)
    await playFor(5, payout.reference)
    const told = bank.told().filter(({ reference }) => reference === payout.reference)
    expect(told.length).toBeGreaterThanOrEqual(3)
    expect(new Set(told.map(({ id }) => id)).size).toBe(1)
  })

  it('only "queued" is not handed over', () => {
    for (const story of [null, ...Object.keys(payoutStories)]) {
      expect(counter.provider.isReadyFor?.(aPayout(story))).toBe(story !== 'queued')
    }
  })
})

it('about one notice in ten is sent twice although it was accepted', async () => {
  const transfers = Array.from({ length: 100 }, (_, n) => ({
    reference: `free-${n}`,
    amountMinor: 100n,
    currency: 'THB' as const,
    payer: null,
  }))
  for (const transfer of transfers) await counter.client.transfer(transfer)
  bank.clock.advance(1_000)
  await counter.tick()
  bank.clock.advance(60_000)
  await counter.tick()
  const repeats = bank.told().length - 100
  expect(repeats).toBeGreaterThan(2)
  expect(repeats).toBeLessThan(25)
})

it('docs/sandbox.md tells every story as it is', () => {
  const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')
  const rows = page.split('\n').map((line) => line.replace(/\s+/g, ' '))
  for (const [name, { happens, agentSees }] of [
    ...Object.entries(depositStories),
    ...Object.entries(payoutStories),
    ['none', plainPayout] as const,
  ]) {
    const first = name === 'none' ? 'none' : `\`${name}\``
    expect(rows).toContain(`| ${first} | ${happens} | ${agentSees} |`)
  }
})

function givingUp() {
  const controller = new AbortController()
  return { signal: controller.signal, giveUpNow: () => controller.abort() }
}
