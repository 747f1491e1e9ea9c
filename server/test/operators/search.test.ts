import { afterAll, beforeAll, expect, it } from 'vitest'
import { handOver } from '../support/hand-over.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let shop: AgentClient
let other: AgentClient
let admin: OperatorClient
let viewer: OperatorClient
let user: OperatorClient
let order: string
let foreign: string

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Chao Phraya Books' })
  other = await s.agent({ name: 'Mekong Toys' })
  const person = { accountName: 'Malee Srisuk', accountNo: '5550001234' }
  const fields = { refId: 'INV-77', userId: 'member-9001', amount: 4_321, ...person }
  order = (await shop.deposit(fields)).json.txn_id
  // The newest is first in lists: not in the same millisecond.
  s.clock.advance(1_000)
  foreign = (await other.deposit({ refId: 'INV-78', userId: 'member-9002' })).json.txn_id
  await shop.trigger(order, 'PAID', { payerAccountNo: '9998887777' })
  admin = await signIn(s, 'admin')
  viewer = await signIn(s, 'viewer')
  user = await signIn(s, 'agent', shop)
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

async function hits(who: OperatorClient, q: string): Promise<string[]> {
  const { json, text } = await who.get(`/search?${new URLSearchParams({ q })}`)
  expect(json?.hits, text).toBeDefined()
  return json.hits.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`)
}

it('anything that is known of an order finds it, some of it by how it begins', async () => {
  const { rows } = await s.sql('select payment_id from payments')
  const paymentId: string = rows[0].payment_id
  const known = [
    ...[order, 'INV-77', 'member-9001', 'Malee Srisuk', '5550001234', '4321', '4,321.00'],
    ...['malee', '555-000', paymentId, paymentId.split(':')[1] ?? ''],
    ...['INV-7', 'INV', order.slice(0, 14), order.split('-')[1]?.slice(0, 10) ?? ''],
  ]
  for (const q of known) expect(await hits(admin, q), q).toContain(`order ${order}`)
  expect(await hits(admin, 'member-900')).toEqual(
    expect.arrayContaining([`order ${order}`, `order ${foreign}`]),
  )
  for (const q of [paymentId, '9998887777', '99988']) {
    expect(await hits(admin, q), q).toContain(`payment ${paymentId}`)
  }
  expect(await hits(admin, 'mekong')).toEqual([`agent ${other.appId}`])
  const { json } = await admin.get('/search?q=%231')
  expect(json.hits).toContainEqual(
    expect.objectContaining({ kind: 'callback', id: shop.appId, seq: 1 }),
  )
  // The list of orders finds the same, if nothing has the text as a whole id.
  const found = async (query: string) =>
    (await admin.get(`/orders?${query}`)).json.data.map((each: { txn_id: string }) => each.txn_id)
  expect(await found('q=INV-7')).toEqual([foreign, order])
  expect(await found('q=INV-77')).toEqual([order])
  expect(await found('q=INV-7&kind=withdraw')).toEqual([])
  expect(await found('account=5550001234')).toEqual([order])
  expect((await viewer.get('/orders?account=5550001234')).json.data).toEqual([])
  const csv = await admin.get('/orders.csv?q=INV-7')
  expect(csv.text.trim().split('\n')).toHaveLength(3)
  // What a pattern would mean is text here.
  expect(await hits(admin, 'member%')).toEqual([])
  expect(await hits(admin, 'm_mber-9001')).toEqual([])
  expect(await hits(admin, 'INV_7')).toEqual([])
})

it('a payment that waits is found by its amount, a payout by its reference and by the id that its provider gave it', async () => {
  const { txn_id } = (await other.deposit({ amount: 700 })).json
  await other.trigger(txn_id, 'PAID', { paidAmount: 7_654.5 })
  const { rows } = await s.sql('select payment_id from payments where amount = 765450')
  // As people write it in the language that they speak, beside the plain number.
  for (const q of ['7654.5', '7,654.50', '7.654,50&amount=7654.50']) {
    const { json } = await admin.get(`/search?q=${q}`)
    expect(json.hits, q).toContainEqual(
      expect.objectContaining({ kind: 'payment', id: rows[0].payment_id, amount: 7654.5 }),
    )
    expect(json.searched_to).toBeNull()
  }
  await other.fund(500)
  const payout = (await other.withdraw({ amount: 40 })).json.txn_id
  await handOver(s, payout, 'unknown')
  const { reference } = (await admin.get(`/orders/${payout}`)).json.payouts[0]
  expect(await hits(admin, reference)).toContain(`order ${payout}`)
  await s.sql(
    `insert into payout_ids (provider, their_id, same_since, agent_id, order_id, attempt)
     values ('sandbox', 'po_4711', 0, $1, $2, 1)`,
    [other.agentId, payout.split('-')[1]],
  )
  expect(await hits(admin, 'po_4711')).toEqual([`order ${payout}`])
  expect(await hits(user, 'po_4711')).toEqual([])
})

it('nobody finds what they may not see', async () => {
  expect(await hits(user, 'member-9002')).toEqual([])
  expect(await hits(user, foreign)).toEqual([])
  expect(await hits(user, 'INV-78')).toEqual([])
  expect(await hits(user, 'Mekong')).toEqual([])
  expect(await hits(user, '9998887777')).toEqual([])
  expect(await hits(user, 'member-9001')).toEqual([`order ${order}`])
  for (const q of ['Malee Srisuk', '5550001234', '9998887777']) {
    expect(await hits(viewer, q), q).toEqual([])
  }
  const { text } = await viewer.get('/search?q=member-9001')
  expect(text).not.toContain('Malee')
  expect((await admin.get('/search?q=a')).status).toBe(422)
})
