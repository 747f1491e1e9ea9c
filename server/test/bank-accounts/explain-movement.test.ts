import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { finishedOrders } from '../../src/archive/order-records.ts'
import { explainMovement, explainReturn } from '../../src/payments/explain-movement.ts'
import { creditPayment, returnPayment } from '../../src/payments/payments.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  movementsOf,
  push,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { deliverCallbacks } from '../support/sender.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A person says what a movement was, and the books agree with the bank again. */

let s: TestService
let account: TestAccount

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

async function one(fields: Record<string, unknown>): Promise<string> {
  account = await makeAccount(s)
  const { json } = await push(s, account, { id: '1', ...fields })
  await booked(s, account.account.name)
  return json.movement
}

const explain = (id: string, as: 'bank_fee' | 'interest' | 'own_transfer' | 'correction') =>
  explainMovement(s.service.desk, account.account, id, as, 'statement 7')

async function house() {
  const { rows } = await s.sql(
    `select costs, differences, suspense from wallets where agent_id = -1`,
  )
  return { costs: rows[0].costs, differences: rows[0].differences, suspense: rows[0].suspense }
}

it('a fee of the bank is a cost of the house, once, and the day is green', async () => {
  const before = await house()
  const id = await one({ amount: '12.50', direction: 'debit' })
  const day = dayAt(s.clock())
  const lines = [{ amount: '-12.50' }]
  const statement = { account: account.account, day, opening: '100.00', closing: '87.50', lines }
  await importFile(s, account, camt(statement))
  expect(await daysOf(s, account)).toEqual([`${day} red unexplained_debit`])
  expect(await explain(id, 'bank_fee')).toEqual({ changed: true })
  expect(await explain(id, 'bank_fee')).toEqual({ changed: false })
  expect(BigInt((await house()).costs) - BigInt(before.costs)).toBe(-1_250n)
  expect(await daysOf(s, account)).toEqual([`${day} green`])
  await expect(explain(id, 'correction')).rejects.toThrow('explained already: bank_fee')
})

it('a debit that nothing explains is in an account of the house from its report; to explain it moves it', async () => {
  const figures = async () => {
    const { rows } = await s.sql(
      `select w.unexplained::int, w.differences::int, coalesce((select c.balance from clearings c
         where c.agent_id = -1 and c.provider = $1), 0)::int as clearing
       from wallets w where w.agent_id = -1`,
      [account.account.name],
    )
    return rows[0]
  }
  const id = await one({ amount: '7.50', direction: 'debit' })
  const reported = await figures()
  expect(reported.clearing).toBe(750)
  const rowsOf = async () => {
    const { rows } = await s.sql(
      `select event from journal where agent_id = -1 and once_key like '%:' || $1 order by seq`,
      [id],
    )
    return rows.map(({ event }) => event)
  }
  expect(await rowsOf()).toEqual(['debit_reported'])
  await s.prove()
  // As if the process had died after it wrote the row, and before it noted that.
  const note = (held: boolean) =>
    s.sql('update bank_movements set held = $2 where movement_id = $1', [id, held])
  await note(false)
  await booked(s, account.account.name)
  expect(await rowsOf()).toEqual(['debit_reported'])
  const tries = await Promise.allSettled([explain(id, 'own_transfer'), explain(id, 'correction')])
  expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await rowsOf()).toEqual(['debit_reported', 'written_off'])
  expect(await figures()).toEqual({
    unexplained: reported.unexplained + 750,
    differences: reported.differences - 750,
    clearing: 750,
  })
  await note(true)
  await booked(s, account.account.name)
  expect(await rowsOf()).toEqual(['debit_reported', 'written_off'])
  const { rows } = await s.sql('select held from bank_movements where movement_id = $1', [id])
  expect(rows).toEqual([{ held: false }])
})

it('interest that waited for a decision is no payment then, but the house’s', async () => {
  const before = await house()
  const id = await one({ amount: '3.21' })
  expect(BigInt((await house()).suspense) - BigInt(before.suspense)).toBe(321n)
  await explain(id, 'interest')
  // It left suspense and became the house's in one transaction.
  const { rows } = await s.sql(
    `select event, suspense_change, differences_change, xmin::text from journal
     where agent_id = -1 order by seq desc limit 2`,
  )
  expect(rows.map(({ event }) => event)).toEqual(['written_off', 'payment_dismissed'])
  expect(rows[0].xmin).toBe(rows[1].xmin)
  expect(BigInt(rows[0].differences_change)).toBe(-BigInt(rows[1].suspense_change))
  const after = await house()
  expect(after.suspense).toBe(before.suspense)
  expect(BigInt(after.differences) - BigInt(before.differences)).toBe(321n)
  expect(await movementsOf(s, account)).toMatchObject([
    { state: 'booked', explainedBy: 'interest', paymentState: 'dismissed' },
  ])
})

it('money that came in is no fee', async () => {
  const id = await one({ amount: '3.00' })
  await expect(explain(id, 'bank_fee')).rejects.toThrow('no fee')
  expect(await movementsOf(s, account)).toMatchObject([{ explainedBy: 'payment' }])
})

it('a payment that was taken back by hand is named until its debit is explained as that', async () => {
  const agent = await s.agent()
  account = await makeAccount(s, { match: 'amount' })
  let { json } = await agent.deposit()
  // The accounts of other tests take orders too.
  for (let user = 0; json.transfer.account_number !== account.account.accountNo; user++) {
    json = (await agent.deposit({ userId: `user-${user}` })).json
  }
  const amount = json.transfer.amount.toFixed(2)
  const paid = (await push(s, account, { id: 'in', amount })).json.movement
  await booked(s, account.account.name)
  const { desk } = s.service
  const [agentId, orderId = ''] = json.txn_id.split('-')
  const paymentId = `${account.account.name}:${paid}`
  const order = { agentId: BigInt(agentId), orderId }
  await desk.teller.do({ type: 'take_back_payment', ...order, paymentId, at: desk.now() })
  const day = dayAt(s.clock())
  const lines = [{ amount }, { amount: `-${amount}` }]
  const statement = { account: account.account, day, opening: '0.00', closing: '0.00', lines }
  await importFile(s, account, camt(statement))
  expect(await daysOf(s, account)).toEqual([`${day} red unexplained_debit return_not_debited`])
  await s.prove()
  const out = (await movementsOf(s, account)).find(({ amountMinor }) => amountMinor < 0n)
  // Until then it is not archived, so that what is at the account stays provable.
  const finished = async () => {
    const client = await s.backend.pool.connect()
    const range = { after: 0n, before: 1_000n, limit: 10 }
    const { orderIds } = await finishedOrders(client, order.agentId, range)
    client.release()
    return orderIds
  }
  await deliverCallbacks(s, agent)
  expect(await finished()).toEqual([])
  await explainReturn(desk, account.account, out?.movementId ?? '', paid, 'the bank took it back')
  expect(await daysOf(s, account)).toEqual([`${day} green`])
  expect(await finished()).toEqual([orderId])
})

it('what was given to an agent stays a payment', async () => {
  const agent = await s.agent()
  const id = await one({ amount: '9.00' })
  const to = { agentId: agent.agentId, orderId: null }
  await creditPayment(s.service.desk, `${account.account.name}:${id}`, to, 'theirs')
  await expect(explain(id, 'interest')).rejects.toThrow('explained already: payment')
  expect(await movementsOf(s, account)).toMatchObject([{ explainedBy: 'payment' }])
})

it('a payment that a person returned leaves once, and is not booked again', async () => {
  const id = await one({ amount: '40.00' })
  const paymentId = `${account.account.name}:${id}`
  const day = dayAt(s.clock())
  const { desk } = s.service
  const goes = (movement: string) =>
    explainReturn(desk, account.account, movement, id, 'sent back by transfer')
  const debit = async (n: string, amount = '40.00') => {
    const { json } = await push(s, account, { id: n, amount, direction: 'debit' })
    await booked(s, account.account.name)
    return json.movement as string
  }
  const out = await debit('out')
  await expect(goes(out)).rejects.toThrow('The payment is waiting: mark it as returned first.')
  await returnPayment(desk, paymentId, 'sent back')
  const lines = [{ amount: '40.00' }, { amount: '-40.00' }]
  const statement = { account: account.account, day, opening: '0.00', closing: '0.00', lines }
  await importFile(s, account, camt(statement))
  expect(await daysOf(s, account)).toEqual([`${day} red unexplained_debit return_not_debited`])
  expect(await goes(out)).toEqual({ changed: true })
  expect(await goes(out)).toEqual({ changed: false })
  expect(await daysOf(s, account)).toEqual([`${day} green`])
  await expect(goes(await debit('again'))).rejects.toThrow('Another movement is this payment')
  await expect(goes(await debit('other', '41.00'))).rejects.toThrow('another amount')
})

it('many people at once explain it once', async () => {
  const before = await house()
  const id = await one({ amount: '5.00', direction: 'debit' })
  const all = await Promise.allSettled(Array.from({ length: 8 }, () => explain(id, 'bank_fee')))
  expect(all.some(({ status }) => status === 'fulfilled')).toBe(true)
  await booked(s, account.account.name)
  expect(BigInt((await house()).costs) - BigInt(before.costs)).toBe(-500n)
})

it('a movement that is not there is named', async () => {
  account = await makeAccount(s)
  await expect(explain('0'.repeat(32), 'bank_fee')).rejects.toThrow('has no movement')
})
