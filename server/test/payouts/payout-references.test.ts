import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { referencesOf } from '../../src/ledger/payout-references.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { isPaymentCode } from '../../src/lib/payment-code.ts'
import { verify } from '../../src/proof/verify.ts'
import { FakeProvider, fundedAgent, payoutEvent, statusOf } from '../support/fake-provider.ts'
import { signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** A payout is known by a short code that fits every bank's field and that no other payout ever has. */

const bank = new FakeProvider('bank')
let s: TestService

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [bank], paysOut: true } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

async function withdrawal(agent: AgentClient): Promise<{ id: string; reference: string }> {
  const id: string = (await agent.withdraw()).json.txn_id
  await expect.poll(() => attemptsOf(id)).toHaveLength(1)
  return { id, reference: (await attemptsOf(id))[0].reference }
}

async function attemptsOf(txnId: string) {
  const named = parseTxnId(txnId)
  const { rows } = await s.sql(
    'select * from payouts where agent_id = $1 and order_id = $2 order by attempt',
    [named?.agentId, named?.orderId],
  )
  return rows
}

describe('a payout', () => {
  it('is handed over under a code of 13 characters, and its outcome is found by that code', async () => {
    const agent = await fundedAgent(s)
    const { id, reference } = await withdrawal(agent)
    expect(reference).toHaveLength(13)
    expect(isPaymentCode(reference)).toBe(true)
    expect(bank.submitted.at(-1)?.reference).toBe(reference)
    await bank.tell(s.service.url, payoutEvent(reference, { type: 'paid' }))
    expect(await statusOf(agent, id)).toBe('PAID')
  })

  it('gets the next code where another agent’s payout has the first, however many race for it', async () => {
    const [first, second] = [await fundedAgent(s), await fundedAgent(s)]
    const { reference: taken } = await withdrawal(first)
    // Codes of 50 bits meet among tens of millions of payouts: here they are made to.
    bank.isReady = false
    const ids = await Promise.all([1, 2, 3].map(async () => (await second.withdraw()).json.txn_id))
    const { teller, now } = s.service.desk
    const references = [taken, 'SX00000000001', 'SX00000000002', 'SX00000000003']
    const handed = await Promise.all(
      ids.map((id) => {
        const named = parseTxnId(id)
        if (!named) throw new Error('no such order')
        const hand = { provider: 'bank', references, insteadOf: null, token: randomUUID() }
        return teller.do({ type: 'hand_over', ...named, ...hand, at: now(), askAt: 1e9 })
      }),
    )
    bank.isReady = true
    expect(handed.map(({ order }) => order?.providerRef).sort()).toEqual(references.slice(1))
  })

  it('keeps its code for itself when another process took it in the meantime', async () => {
    const agent = await fundedAgent(s)
    const other = await startTestService({
      beside: s,
      outside: { providers: [bank], paysOut: false },
    })
    try {
      bank.isReady = false
      const ids = await Promise.all([1, 2].map(async () => (await agent.withdraw()).json.txn_id))
      const references = ['SX00000000011', 'SX00000000012']
      const handed = await Promise.all(
        ids.map((id, at) => {
          const named = parseTxnId(id)
          if (!named) throw new Error('no such order')
          const { teller, now } = (at === 0 ? s : other).service.desk
          const hand = { provider: 'bank', references, insteadOf: null, token: randomUUID() }
          return teller.do({ type: 'hand_over', ...named, ...hand, at: now(), askAt: 1e9 })
        }),
      )
      expect(handed.map(({ order }) => order?.providerRef).sort()).toEqual(references)
    } finally {
      bank.isReady = true
      await other.close()
    }
  })

  it('has the same code again in a database that was restored', async () => {
    const { id, reference } = await withdrawal(await fundedAgent(s))
    const named = parseTxnId(id)
    if (!named) throw new Error('no such order')
    expect(referencesOf(named.agentId, named.orderId, 1)[0]).toBe(reference)
  })

  it('that was handed over under a long reference is still understood', async () => {
    const agent = await fundedAgent(s)
    const { id, reference } = await withdrawal(agent)
    const long = `${id}-1`
    // As an earlier release wrote it.
    await s.sql('update payouts set reference = $2 where reference = $1', [reference, long])
    await s.sql('update orders set provider_ref = $2 where provider_ref = $1', [reference, long])
    await s.sql('delete from payout_references where reference = $1', [reference])
    await bank.tell(s.service.url, payoutEvent(long, { type: 'paid' }))
    expect(await statusOf(agent, id)).toBe('PAID')
    const admin = await signIn(s, 'admin')
    const found = await admin.get(`/orders?q=${long}`)
    expect(found.json.data.map((each: { txn_id: string }) => each.txn_id)).toEqual([id])
  })

  it('whose outcome was refused as unknown turns the proof red', async () => {
    const { reference } = await withdrawal(await fundedAgent(s))
    const event = payoutEvent(reference, { type: 'paid' })
    await bank.tell(s.service.url, event)
    const findings = async () =>
      (await verify(s.backend.pool, {})).flatMap(({ finding }) => finding ?? [])
    expect(await findings()).toEqual([])
    // As a process of an earlier release did, which does not know the code.
    await s.sql(`update notice_events set result = 'refused', detail = $2 where event_id = $1`, [
      event.id,
      'There is no such payout.',
    ])
    expect(await findings()).toEqual([
      `event ${event.id} of bank is about payout ${reference}, but was refused`,
    ])
    await s.sql(`update notice_events set result = 'applied' where event_id = $1`, [event.id])
    await s.sql(`update notice_events set detail = null where event_id = $1`, [event.id])
  })

  it('is found by its code', async () => {
    const { id, reference } = await withdrawal(await fundedAgent(s))
    const admin = await signIn(s, 'admin')
    const found = await admin.get(`/orders?q=${reference}`)
    expect(found.json.data.map((each: { txn_id: string }) => each.txn_id)).toEqual([id])
  })
})
