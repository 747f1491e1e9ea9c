import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseTxnId, txnId } from '../../src/lib/ids.ts'
import { mayPayOut } from '../../src/payouts/payout-approval.ts'
import type { Desk } from '../../src/teller/desk.ts'
import {
  eventId,
  FakeProvider,
  fundedAgent,
  orderOf,
  patient,
  paymentEvent,
} from '../support/fake-provider.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Withdrawals above an amount wait for a second person; a stop holds all of them up. */

const bank = new FakeProvider('bank')
bank.onSubmit = async () => ({ type: 'paid' })
let s: TestService
let shop: AgentClient
let admin: OperatorClient

beforeAll(async () => {
  s = await startTestService({
    realTime: true,
    outside: { paysOut: true, moreProviders: [bank] },
  })
  shop = await fundedAgent(s, { name: 'Shop' })
  await s.sql(`insert into providers (name, state, updated_at) values ('sandbox', 'off', now())
    on conflict (name) do update set state = 'off'`)
  await s.sql(
    `insert into approval_rules values ('pay_out', 0, 'THB', true, 100000, false, now(), 'a test')`,
  )
  admin = await signIn(s, 'admin')
})
afterAll(async () => {
  await s?.prove()
  await s?.close()
})

const statusOf = async (txnId: string) => (await shop.get(`/payment/orders/${txnId}`)).json.status
const idOf = (txnId: string) => parseTxnId(txnId)?.orderId ?? ''
const isSubmitted = (txnId: string) =>
  bank.submitted.some(({ reference }) => reference.includes(idOf(txnId).slice(-12)))

/** Waits until a withdrawal is proposed, and returns it as it is shown. */
async function proposalOf(txnId: string) {
  await expect.poll(async () => (await admin.get(`/approvals/${idOf(txnId)}`)).status).toBe(200)
  return (await admin.get(`/approvals/${idOf(txnId)}`)).json
}

const approve = ({ id, digest }: { id: string; digest: string }) =>
  admin.post(`/approvals/${id}/approve`, { digest, code: admin.code() })

async function large(): Promise<string> {
  const { status, json, text } = await shop.withdraw({ amount: 1_001 })
  expect(status, text).toBe(201)
  return json.txn_id
}

/** A smaller one that is made later shows that the runner has come past. */
async function runnerHasPassed(): Promise<void> {
  const { json } = await shop.withdraw({ amount: 1_000 })
  await expect.poll(() => statusOf(json.txn_id), patient).toBe('PAID')
}

it('one above the amount is not handed over before somebody approves; smaller ones are', async () => {
  const before = bank.submitted.length
  const txnId = await large()
  const shown = await proposalOf(txnId)
  await runnerHasPassed()
  expect(bank.submitted.length).toBe(before + 1)
  expect(await statusOf(txnId)).toBe('WAITING')
  expect(shown).toMatchObject({
    action: 'pay_out',
    amount: 1001,
    may_approve: true,
    after: { account_no: '1234567890' },
  })
  expect((await approve(shown)).json.state).toBe('done')
  await expect.poll(() => statusOf(txnId), patient).toBe('PAID')
  expect(bank.submitted.length).toBe(before + 2)
})

it('a later rule of admins alone holds for one that waits already', async () => {
  const operator = await signIn(s, 'operator')
  const txnId = await large()
  const { id, digest } = await proposalOf(txnId)
  await s.sql(`update approval_rules set admin_only = true where action = 'pay_out'`)
  const early = await operator.post(`/approvals/${id}/approve`, { digest, code: operator.code() })
  expect(early.json.code).toBe('not_permitted')
  await s.sql(`update approval_rules set admin_only = false where action = 'pay_out'`)
  expect((await approve(await proposalOf(txnId))).json.state).toBe('done')
  await expect.poll(() => statusOf(txnId), patient).toBe('PAID')
})

it('one that is declined fails, and its amount is free again', async () => {
  const before = await shop.balance()
  const txnId = await large()
  const { id } = await proposalOf(txnId)
  await admin.post(`/approvals/${id}/decline`, { reason: 'nobody knows them', code: admin.code() })
  await expect.poll(() => statusOf(txnId), patient).toBe('FAILED')
  expect(await shop.balance()).toBe(before)
  const { rows } = await s.sql('select body from callback_bodies order by created_at desc limit 1')
  expect(String(rows[0]?.body)).toContain('FAILED')
})

it('a refund above the amount is not handed over before somebody approves, like any withdrawal', async () => {
  const events: ReturnType<typeof paymentEvent>[] = []
  const paidDeposit = async () => {
    const { json } = await shop.deposit({ amount: 2_500 })
    const event = paymentEvent(json.txn_id, s.clock(), { amountMinor: 250_000n })
    events.push(event)
    expect((await bank.tell(s.service.url, event)).json.results).toMatchObject([
      { result: 'applied' },
    ])
    return json.txn_id as string
  }
  let refunds = 0
  const refund = async (of: string, amount: number) => {
    const timestamp = s.clock().toISOString()
    const body = { refId: `refund-${++refunds}`, amount, timestamp }
    const { status, json, text } = await shop.post(`/payment/orders/${of}/refund`, body)
    expect(status, text).toBe(201)
    return json.txn_id as string
  }
  const deposit = await paidDeposit()
  const [small, approved] = [await refund(deposit, 1_000), await refund(deposit, 1_001)]
  await expect.poll(() => statusOf(small), patient).toBe('PAID')
  const shown = await proposalOf(approved)
  expect([await statusOf(approved), isSubmitted(approved)]).toEqual(['WAITING', false])
  expect((await approve(shown)).json.state).toBe('done')
  await expect.poll(() => statusOf(approved), patient).toBe('PAID')

  // Declined, it fails, and may be asked for anew; cancelled or taken back, it leaves the inbox.
  const other = await paidDeposit()
  const declined = await refund(other, 2_500)
  const { id } = await proposalOf(declined)
  await admin.post(`/approvals/${id}/decline`, { reason: 'not theirs', code: admin.code() })
  await expect.poll(() => statusOf(declined), patient).toBe('FAILED')
  const stopped = await refund(other, 2_500)
  await proposalOf(stopped)
  const back = { id: eventId(), type: 'payment_taken_back', reference: other } as const
  const { paymentId } = events.at(-1) ?? { paymentId: '' }
  expect((await bank.tell(s.service.url, { ...back, paymentId })).json.results).toMatchObject([
    { result: 'applied' },
  ])
  expect(await statusOf(stopped)).toBe('CANCEL')
  await runnerHasPassed()
  await expect
    .poll(async () => (await admin.get(`/approvals/${idOf(stopped)}`)).json.state, patient)
    .toBe('withdrawn')
  expect([isSubmitted(declined), isSubmitted(stopped)]).toEqual([false, false])
})

it('one that was declined is not paid, though no rule asks for a person any more', async () => {
  const txnId = await large()
  const { id } = await proposalOf(txnId)
  const order = await orderOf(s.service.desk, txnId)
  await admin.post(`/approvals/${id}/decline`, { reason: 'nobody knows them', code: admin.code() })
  await s.sql(`update approval_rules set above = 100000000 where action = 'pay_out'`)
  const commands: unknown[] = []
  const teller = {
    do: async (command: unknown) => commands.push(command),
  } as unknown as Desk['teller']
  const { pool, now } = s.service.desk
  expect(await mayPayOut({ pool, now, teller }, order)).toBe(false)
  expect(commands).toMatchObject([{ to: 'FAILED', evidence: 'It was declined: nobody knows them' }])
  await expect.poll(() => statusOf(txnId), patient).toBe('FAILED')
  await s.sql(`update approval_rules set above = 100000 where action = 'pay_out'`)
})

it('cancelled while somebody approves, it is cancelled or paid, never both', async () => {
  const made = await Promise.all([large(), large(), large()])
  const shown = await Promise.all(made.map(proposalOf))
  for (const [at, txnId] of made.entries()) {
    const proposal = shown[at]
    const [cancelled] = await Promise.all([
      shop.post(`/payment/orders/${txnId}/cancel`, {}),
      proposal && approve(proposal),
    ])
    const ended = expect.poll(() => statusOf(txnId), patient)
    if (cancelled.status === 200) {
      await ended.toBe('CANCEL')
      expect(isSubmitted(txnId)).toBe(false)
    } else await ended.toBe('PAID')
  }
})

it('who refunds in the console does not approve the payout of that refund', async () => {
  const operator = await signIn(s, 'operator')
  const { json } = await shop.deposit({ amount: 2_400 })
  const event = paymentEvent(json.txn_id, s.clock(), { amountMinor: 240_000n })
  await bank.tell(s.service.url, event)
  const refund = async (ref: string) => {
    const asked = { amount: '1200', ref, reason: 'they ask for it', code: admin.code() }
    const { status, text } = await admin.post(`/orders/${json.txn_id}/refund`, asked)
    expect(status, text).toBe(200)
    const { rows } = await s.sql(
      `select agent_id, replace(order_id::text, '-', '') as id from orders
       where refund_of is not null and ref_id like $1`,
      [`%${ref}`],
    )
    return txnId(BigInt(rows[0].agent_id), rows[0].id)
  }
  const paid = await refund('one-refund')
  const shown = await proposalOf(paid)
  expect(shown).toMatchObject({ proposed_by: admin.email, own: true, may_approve: false })
  expect((await approve(shown)).json.code).toBe('same_person')
  await runnerHasPassed()
  expect(await statusOf(paid)).toBe('WAITING')
  const second = { digest: shown.digest, code: operator.code() }
  expect((await operator.post(`/approvals/${shown.id}/approve`, second)).json.state).toBe('done')
  await expect.poll(() => statusOf(paid), patient).toBe('PAID')

  // Its agent may still cancel it, and then it is nobody's to decide.
  const cancelled = await refund('another-refund')
  const { id } = await proposalOf(cancelled)
  expect((await shop.post(`/payment/orders/${cancelled}/cancel`, {})).status).toBe(200)
  await expect.poll(async () => (await admin.get(`/approvals/${id}`)).json.state).toBe('withdrawn')
})

it('cancelled before, it leaves the inbox', async () => {
  const txnId = await large()
  const { id } = await proposalOf(txnId)
  expect((await shop.post(`/payment/orders/${txnId}/cancel`, {})).status).toBe(200)
  await expect.poll(async () => (await admin.get(`/approvals/${id}`)).json.state).toBe('withdrawn')
})

it('a second stop frees nothing that the first has stopped, and is not lifted with it', async () => {
  const operator = await signIn(s, 'operator')
  const first = await admin.post('/stops', { reason: 'a stolen key', deposits: true })
  expect(first.status).toBe(201)
  await expect.poll(async () => (await shop.deposit({ amount: 10 })).status).toBe(503)
  const again = await operator.post('/stops', { reason: 'again' })
  expect(again.json.data).toMatchObject([
    { deposits: true, by: admin.email, reason: 'a stolen key' },
  ])
  await s.service.desk.providers.freshen()
  expect((await shop.deposit({ amount: 10 })).status).toBe(503)
  const lift = ({ id }: { id: string }) =>
    admin.post(`/stops/${id}/lift`, { reason: 'a new key', code: admin.code() })
  expect((await lift(first.json.data[0])).status).toBe(404)
  expect((await lift(again.json.data[0])).json).toEqual({ data: [] })
  // A stop of more than the first has the words of who stopped more.
  await operator.post('/stops', { reason: 'payouts alone' })
  const more = await admin.post('/stops', { reason: 'deposits too', deposits: true })
  expect(more.json.data).toMatchObject([{ deposits: true, reason: 'deposits too' }])
  await lift(more.json.data[0])
  await expect.poll(async () => (await shop.deposit({ amount: 10 })).status).toBe(201)
})

it('a stop refuses new withdrawals at once and hands nothing over until it is lifted', async () => {
  const stopped = await admin.post('/stops', { reason: 'a stolen key' })
  expect(stopped.status).toBe(201)
  const before = bank.submitted.length
  await expect.poll(async () => (await shop.withdraw({ amount: 10 })).status).toBe(503)
  const waiting = await s.sql(`select count(*)::int as n from orders where status = 'WAITING'
    and kind = 'withdraw' and handed_over_at is not null`)
  expect(waiting.rows[0]?.n).toBe(0)
  const paidIn = await shop.deposit({ amount: 10 })
  expect(paidIn.status).toBe(201)
  const { id } = stopped.json.data[0]
  const lifted = await admin.post(`/stops/${id}/lift`, { reason: 'a new key', code: admin.code() })
  expect(lifted.json).toEqual({ data: [] })
  await expect.poll(async () => (await shop.withdraw({ amount: 10 })).status).toBe(201)
  expect(bank.submitted.length - before).toBeLessThanOrEqual(1)
})
