import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { houseBook } from '../../src/ledger/house.ts'
import { findItem } from '../../src/ledger/open-items.ts'
import { audited } from '../../src/operators/audit.ts'
import { bookItem } from '../../src/payouts/book-item.ts'
import { itemNext } from '../../src/payouts/item-words.ts'
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
  payoutEvent,
  resolve,
  startProcess,
  statusOf,
  takeOnlyPlace,
  told,
} from '../support/fake-provider.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A withdrawal that went on to another provider, and that the first one then says it has paid. */

const alpha = new FakeProvider('alpha')
const beta = new FakeProvider('beta')
const gamma = new FakeProvider('gamma')

let s: TestService
let process: Process
let banks: { alpha: FakeProvider; beta: FakeProvider; gamma: FakeProvider }

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [alpha, beta, gamma], paysOut: false } })
  for (const [index, provider] of ['alpha', 'beta', 'gamma'].entries()) {
    await saveRoute(s.backend.pool, {
      ...{ provider, name: 'all', direction: 'withdraw', currency: 'THB', banks: null },
      ...{ minAmount: 1n, maxAmount: 1_000_000n, preference: index + 1, weight: 1 },
    })
  }
  banks = { alpha: alpha.line(), beta: beta.line(), gamma: gamma.line() }
  process = await startProcess(s, Object.values(banks))
})
afterEach(async () => {
  expect(process.errors.splice(0)).toEqual([])
  await s.prove()
})
afterAll(async () => {
  await process.close()
  await s.close()
})

const paid: PayoutOutcome = { type: 'paid' }
const unknown: PayoutOutcome = { type: 'unknown', reason: 'no answer' }
const notSent: PayoutOutcome = { type: 'not_sent', reason: 'the line was down' }
const refusedForSure: PayoutOutcome = { type: 'rejected', mayTryAnother: true, reason: 'no' }
const refusedFinally: PayoutOutcome = { type: 'rejected', mayTryAnother: false, reason: 'no' }

/** Alpha refuses it; beta is called with it and answers so. */
async function goesOnToBeta(answer: PayoutOutcome) {
  const agent = await fundedAgent(s, { withdrawFee: '1' })
  const txnId: string = (await agent.withdraw()).json.txn_id
  banks.alpha.onSubmit = async () => refusedForSure
  banks.beta.onSubmit = async () => answer
  banks.beta.onAsk = async () => unknown
  banks.gamma.onSubmit = async () => ({ type: 'accepted' })
  await process.payOut(txnId)
  const [first, second] = await attemptsOf(s, txnId)
  return { agent, txnId, first: first?.reference ?? '', second: second?.reference ?? '' }
}

const tell = (bank: FakeProvider, reference: string, outcome: PayoutOutcome) =>
  bank.tell(s.service.url, payoutEvent(reference, outcome))

async function itemOf(txnId: string) {
  const { rows } = await s.sql(
    'select * from open_items where agent_id = $1 and order_id = $2 order by opened_at',
    txnId.split('-'),
  )
  expect(rows).toHaveLength(1)
  return rows[0]
}

const close = async (txnId: string) => closeAsSeen(s, (await itemOf(txnId)).item_id)

async function expectPaidByAlpha({ agent, txnId }: Awaited<ReturnType<typeof goesOnToBeta>>) {
  expect(await told(agent, txnId)).toEqual(['PAID'])
  expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 99_899, held: 0 })
  expect(await orderOf(process.desk, txnId)).toMatchObject({ provider: 'alpha' })
  expect(await itemOf(txnId)).toMatchObject({ kind: 'paid_twice', resolution: 'order_paid' })
}

describe('if nothing has left for the second, it is not sent there and is PAID by the first', () => {
  it('although the second was to be called again', async () => {
    const payout = await goesOnToBeta(notSent)
    await tell(alpha, payout.first, paid)
    banks.beta.onSubmit = async () => paid
    s.clock.advance(60_000)
    await process.round()
    expect(callsAbout(payout.txnId, beta.submitted)).toHaveLength(1)
    await expectPaidByAlpha(payout)
    expect(await attemptsOf(s, payout.txnId)).toMatchObject([
      { provider: 'alpha', state: 'paid' },
      { provider: 'beta', state: 'rejected', ask_at: null },
    ])
  })

  it('while it waits for a place at a third', async () => {
    const { lane, letGo } = takeOnlyPlace(process.runner, 'gamma')
    const agent = await fundedAgent(s, { withdrawFee: '1' })
    const txnId: string = (await agent.withdraw()).json.txn_id
    banks.alpha.onSubmit = async () => refusedForSure
    banks.beta.onSubmit = async () => refusedForSure
    banks.beta.onAsk = async () => unknown
    process.runner.offer(await orderOf(s.service.desk, txnId))
    await expect.poll(() => Reflect.get(lane, 'waiting'), patient).toBe(1)
    const [first] = await attemptsOf(s, txnId)
    await tell(alpha, first?.reference ?? '', paid)
    letGo()
    await expect.poll(() => statusOf(agent, txnId), patient).toBe('PAID')
    Reflect.get(process.runner, 'handing').delete('gamma')
    expect(callsAbout(txnId, gamma.submitted)).toHaveLength(0)
    await expectPaidByAlpha({ agent, txnId, first: '', second: '' })
  })
})

describe('if the second does not know it, a call may still be on its way: it is not sent again, and waits', () => {
  async function unknownToBeta() {
    const payout = await goesOnToBeta(unknown)
    await tell(alpha, payout.first, paid)
    banks.beta.onSubmit = async () => paid
    banks.beta.onAsk = async () => ({ type: 'not_found' })
    s.clock.advance(60_000)
    await process.round()
    expect(callsAbout(payout.txnId, beta.submitted)).toHaveLength(1)
    expect(await statusOf(payout.agent, payout.txnId)).toBe('WAITING')
    expect((await attemptsOf(s, payout.txnId))[1]).toMatchObject({
      state: 'not_found',
      ask_at: expect.any(Date),
    })
    return payout
  }

  const askBeta = async (outcome: PayoutOutcome) => {
    banks.beta.onAsk = async () => outcome
    s.clock.advance(3_600_000)
    await process.round()
  }

  it('until the second says that it paid', async () => {
    const { agent, txnId } = await unknownToBeta()
    await askBeta(paid)
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect(await orderOf(process.desk, txnId)).toMatchObject({ provider: 'beta' })
    expect(await itemOf(txnId)).toMatchObject({ kind: 'paid_twice', closed_at: null })
  })

  it('until the second refuses it', async () => {
    const payout = await unknownToBeta()
    await askBeta(refusedForSure)
    await expectPaidByAlpha(payout)
  })

  it('until a person finds that the first has not paid', async () => {
    const { agent, txnId } = await unknownToBeta()
    await close(txnId)
    await askBeta({ type: 'not_found' })
    expect(callsAbout(txnId, beta.submitted)).toHaveLength(2)
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect(await orderOf(process.desk, txnId)).toMatchObject({ provider: 'beta' })
  })
})

it('goes to the second if the first got its money back before', async () => {
  const { agent, txnId, first } = await goesOnToBeta(notSent)
  await tell(alpha, first, { type: 'returned' })
  banks.beta.onSubmit = async () => paid
  s.clock.advance(60_000)
  await process.round()
  expect(await told(agent, txnId)).toEqual(['PAID'])
  expect(await orderOf(process.desk, txnId)).toMatchObject({ provider: 'beta' })
  expect(await itemOf(txnId)).toMatchObject({ provider_said: 'REVERT', closed_at: null })
})

describe('where a person found that the first had not paid,', () => {
  it('a refusal by the second does not make it PAID: the item is open again, and it waits', async () => {
    const { agent, txnId, first, second } = await goesOnToBeta({ type: 'accepted' })
    await tell(alpha, first, paid)
    expect(await close(txnId)).toBe(true)
    // However often it is said.
    for (let times = 0; times < 2; times++) {
      await tell(beta, second, refusedForSure)
      expect(await statusOf(agent, txnId)).toBe('WAITING')
      expect(await itemOf(txnId)).toMatchObject({ provider_said: 'PAID', closed_at: null })
    }
    expect(callsAbout(txnId, gamma.submitted)).toHaveLength(0)
    expect(await attemptsOf(s, txnId)).toMatchObject([
      { state: 'paid' },
      { state: 'rejected', ask_at: null },
    ])
    // Nobody would see that it waits.
    expect(await close(txnId)).toBe(false)
  })

  it('a person then says which of the two is true', async () => {
    const ends: ['paid' | 'failed', number, string | null][] = [
      ['paid', 99_899, 'order_paid'],
      ['failed', 100_000, null],
    ]
    for (const [to, balance, resolution] of ends) {
      const { agent, txnId, first, second } = await goesOnToBeta({ type: 'accepted' })
      await tell(alpha, first, paid)
      await close(txnId)
      await tell(beta, second, refusedForSure)
      await resolve(s, txnId, to, `statement 8: ${to}`)
      expect(await told(agent, txnId)).toEqual([to.toUpperCase()])
      expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance, held: 0 })
      expect(await itemOf(txnId)).toMatchObject({ resolution })
      const { provider } = await orderOf(process.desk, txnId)
      expect(provider).toBe(to === 'paid' ? 'alpha' : 'beta')
    }
  })

  it('it is not sent to the second again once that has refused it, though it was not written down', async () => {
    for (const to of ['paid', 'failed'] as const) {
      const { agent, txnId, first, second } = await goesOnToBeta({ type: 'accepted' })
      await tell(alpha, first, paid)
      await close(txnId)
      await tell(beta, second, refusedForSure)
      // As if the process had died before it saved the refusal.
      await s.sql(`update payouts set state = 'accepted', ask_at = $2 where reference = $1`, [
        second,
        s.clock(),
      ])
      banks.beta.onSubmit = async () => paid
      banks.beta.onAsk = async () => ({ type: 'not_found' })
      s.clock.advance(60_000)
      await process.round()
      expect(callsAbout(txnId, beta.submitted)).toHaveLength(1)
      expect(await statusOf(agent, txnId)).toBe('WAITING')
      await resolve(s, txnId, to, `statement 8: ${to}`)
      expect(await told(agent, txnId)).toEqual([to.toUpperCase()])
      const { provider } = await orderOf(process.desk, txnId)
      expect(provider).toBe(to === 'paid' ? 'alpha' : 'beta')
      s.clock.advance(3_600_000)
      await process.round()
      expect(callsAbout(txnId, beta.submitted)).toHaveLength(1)
      // A call that arrives late may pay.
      const open = { state: 'not_found', asks: 2, ask_at: expect.any(Date) }
      const ended = { state: 'rejected', ask_at: null }
      expect((await attemptsOf(s, txnId))[1]).toMatchObject(to === 'paid' ? open : ended)
    }
  })

  it('and the second neither, a person can still say that it was paid', async () => {
    const { agent, txnId, first, second } = await goesOnToBeta(refusedForSure)
    const [, , third] = await attemptsOf(s, txnId)
    await tell(alpha, first, paid)
    s.clock.advance(1_000)
    await tell(beta, second, paid)
    const { rows } = await s.sql(
      'select item_id from open_items where agent_id = $1 and order_id = $2',
      txnId.split('-'),
    )
    expect(rows).toHaveLength(2)
    for (const { item_id } of rows) expect(await closeAsSeen(s, item_id)).toBe(true)
    await tell(gamma, third?.reference ?? '', refusedForSure)
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    await resolve(s, txnId, 'paid', 'statement 8')
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect(await orderOf(process.desk, txnId)).toMatchObject({ provider: 'alpha' })
  })

  it('and its money comes back while a person is asked, it still waits for them', async () => {
    const { agent, txnId, first, second } = await goesOnToBeta({ type: 'accepted' })
    await tell(alpha, first, paid)
    await close(txnId)
    await tell(beta, second, refusedForSure)
    await tell(alpha, first, { type: 'returned' })
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    await s.prove()
    // Nobody would see that it waits.
    expect(await close(txnId)).toBe(false)
    const item = await findItem(s.backend.pool, (await itemOf(txnId)).item_id)
    if (!item) throw new Error('there is no item')
    expect(itemNext(item, await orderOf(process.desk, txnId))).toContain('mark it as failed')
    await resolve(s, txnId, 'failed', 'statement 8: it came back')
    expect(await close(txnId)).toBe(true)
    expect(await told(agent, txnId)).toEqual(['FAILED'])
    expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 100_000, held: 0 })
  })

  it('it goes its way with the second', async () => {
    const { agent, txnId, first, second } = await goesOnToBeta(notSent)
    await tell(alpha, first, paid)
    await close(txnId)
    banks.beta.onSubmit = async () => paid
    s.clock.advance(60_000)
    await process.round()
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect(await orderOf(process.desk, txnId)).toMatchObject({ providerRef: second })
  })
})

describe('an item that a person has closed', () => {
  async function cancelledThenPaid() {
    const agent = await fundedAgent(s)
    const txnId: string = (await agent.withdraw()).json.txn_id
    banks.alpha.onSubmit = async () => ({ type: 'cancelled' })
    await process.payOut(txnId)
    const [attempt] = await attemptsOf(s, txnId)
    const reference = attempt?.reference ?? ''
    await tell(alpha, reference, paid)
    return { agent, txnId, reference }
  }

  it('is open again when the bank says that the money came back', async () => {
    const { agent, txnId, reference } = await cancelledThenPaid()
    await close(txnId)
    // The same said again is no news.
    await tell(alpha, reference, paid)
    expect((await itemOf(txnId)).closed_at).not.toBeNull()
    await tell(alpha, reference, { type: 'returned' })
    expect(await itemOf(txnId)).toMatchObject({
      ...{ kind: 'paid_after_failed', provider_said: 'REVERT' },
      ...{ closed_at: null, resolution: null, closed_by: null, evidence: null },
    })
    expect(await told(agent, txnId)).toEqual(['CANCEL'])
  })

  it('is not closed on what the bank had said before', async () => {
    const { txnId, reference } = await cancelledThenPaid()
    const { item_id } = await itemOf(txnId)
    const meanwhile = () => tell(alpha, reference, { type: 'returned' })
    expect(await closeAsSeen(s, item_id, meanwhile)).toBe(false)
    expect(await itemOf(txnId)).toMatchObject({ provider_said: 'REVERT', closed_at: null })
  })
})

describe('money that comes back', () => {
  const back: PayoutOutcome = { type: 'returned' }

  const itemsOf = async (txnId: string) =>
    (
      await s.sql(
        `select kind, provider_said, resolution, closed_at is null as "isOpen" from open_items
         where agent_id = $1 and order_id = $2 order by kind`,
        txnId.split('-'),
      )
    ).rows

  it('is said by every item of its payout, though the order has failed since the first', async () => {
    for (const isClosed of [false, true]) {
      const { agent, txnId, first, second } = await goesOnToBeta({ type: 'accepted' })
      await tell(alpha, first, paid)
      if (isClosed) await close(txnId)
      if (isClosed) await tell(beta, second, refusedForSure)
      await resolve(s, txnId, 'failed', 'statement 9: nothing went out')
      await tell(alpha, first, back)
      expect(await itemsOf(txnId)).toEqual([
        { kind: 'paid_after_failed', provider_said: 'REVERT', resolution: null, isOpen: true },
        { kind: 'paid_twice', provider_said: 'REVERT', resolution: null, isOpen: true },
      ])
      await s.prove()
      expect(await told(agent, txnId)).toEqual(['FAILED'])
    }
  })

  it('is said by every item of its payout, though another has paid since the first', async () => {
    const { agent, txnId, first, second } = await goesOnToBeta(refusedFinally)
    expect(await statusOf(agent, txnId)).toBe('FAILED')
    await tell(alpha, first, paid)
    await tell(beta, second, paid)
    await resolve(s, txnId, 'paid', 'statement 9')
    expect(await orderOf(process.desk, txnId)).toMatchObject({ status: 'PAID', provider: 'beta' })
    // However often it is said, and though the payment is said again.
    for (const said of [back, paid]) {
      await tell(alpha, first, said)
      const { rows } = await s.sql(
        'select item_id, provider_said from open_items where reference = $1 order by kind',
        [first],
      )
      expect(rows).toMatchObject([{ provider_said: 'REVERT' }, { provider_said: 'REVERT' }])
      for (const { item_id } of rows) {
        const item = await findItem(s.backend.pool, item_id)
        if (!item) throw new Error('there is no item')
        // The order is paid by beta: to revert it would give the agent what it owes.
        expect(itemNext(item, await orderOf(process.desk, txnId))).not.toContain('revert the order')
      }
    }
  })

  it('comes back to the order if that was marked as paid, though the item was closed before', async () => {
    const { agent, txnId, first } = await goesOnToBeta(refusedFinally)
    await tell(alpha, first, paid)
    await close(txnId)
    await resolve(s, txnId, 'paid', 'statement 9')
    await tell(alpha, first, back)
    expect(await told(agent, txnId)).toEqual(['FAILED', 'PAID', 'REVERT'])
    expect(await itemOf(txnId)).toMatchObject({ provider_said: 'PAID', resolution: 'looked_into' })
  })
})

describe('money that left against the books is booked where it left', () => {
  /** What the house's book says of alpha, and what agents' books say. */
  async function clearingAtAlpha(agentId: bigint): Promise<string[]> {
    const { rows } = await s.sql(
      `select balance from clearings where provider = 'alpha' and agent_id = any($1) order by agent_id`,
      [[agentId, houseBook('THB')]],
    )
    return rows.map(({ balance }) => balance)
  }

  /** Does what the item's words say, as who reads them would, twice. */
  async function bookAsTold(txnId: string, as: 'write_off' | 'received_back'): Promise<void> {
    const item = await findItem(s.backend.pool, (await itemOf(txnId)).item_id)
    if (!item) throw new Error('there is no item')
    expect(itemNext(item, await orderOf(process.desk, txnId))).toContain(
      as === 'write_off' ? 'writes off 100 THB at alpha' : 'books 100 THB back at alpha',
    )
    const { desk } = s.service
    const operator = { userId: null, email: 'command line', ip: null }
    const subject = { kind: 'open_item', id: item.itemId }
    const entry = { operator, action: 'close_open_item', subject, agentId: item.agentId }
    const said = { reason: 'as the words say', by: operator.email }
    const book = () => bookItem(desk, item, as, said)
    for (let times = 0; times < 2; times++) await audited(desk.pool, desk.now, entry, book)
  }

  it('if it was paid twice, and if it comes back', async () => {
    const { agent, txnId, first, second } = await goesOnToBeta({ type: 'accepted' })
    await tell(alpha, first, paid)
    await tell(beta, second, paid)
    const [before = '0'] = await clearingAtAlpha(houseBook('THB'))
    await bookAsTold(txnId, 'write_off')
    expect(await clearingAtAlpha(houseBook('THB'))).toEqual([String(BigInt(before) + 10_000n)])
    await tell(alpha, first, { type: 'returned' })
    await bookAsTold(txnId, 'received_back')
    expect(await clearingAtAlpha(houseBook('THB'))).toEqual([before])
    expect((await itemOf(txnId)).closed_at).not.toBeNull()
    // The agent has paid for one payout, and was told of one.
    expect(await told(agent, txnId)).toEqual(['PAID'])
    expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 99_899, held: 0 })
  })

  it('if it was paid after the order was cancelled', async () => {
    const agent = await fundedAgent(s)
    const txnId: string = (await agent.withdraw()).json.txn_id
    banks.alpha.onSubmit = async () => ({ type: 'cancelled' })
    await process.payOut(txnId)
    const [attempt] = await attemptsOf(s, txnId)
    await tell(alpha, attempt?.reference ?? '', paid)
    const [before = '0'] = await clearingAtAlpha(houseBook('THB'))
    await bookAsTold(txnId, 'write_off')
    expect(await clearingAtAlpha(houseBook('THB'))).toEqual([String(BigInt(before) + 10_000n)])
    expect(await told(agent, txnId)).toEqual(['CANCEL'])
    expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 100_000 })
  })
})
