import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findAgent } from '../../src/agents/find-agent.ts'
import { releaseExpected } from '../../src/bank-accounts/expected-deposits.ts'
import { movementView } from '../../src/bank-accounts/movement-view.ts'
import { updateBankAccount } from '../../src/bank-accounts/save-bank-account.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { referencesOf } from '../../src/ledger/payout-references.ts'
import { txnId } from '../../src/lib/ids.ts'
import { paymentCode } from '../../src/lib/payment-code.ts'
import { swissReference } from '../../src/lib/qr/creditor-reference.ts'
import { bookMovements } from '../../src/payments/book-movement.ts'
import { explainReturn } from '../../src/payments/explain-movement.ts'
import { importBankFile } from '../../src/payments/import-bank-file.ts'
import { creditPayment, returnPayment } from '../../src/payments/payments.ts'
import { possibleOrders } from '../../src/payments/possible-orders.ts'
import { allToDecide, searchPayments } from '../../src/payments/search-payments.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  movementsOf,
  push,
  routed,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { FakeProvider, fundedAgent, told } from '../support/fake-provider.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Which order a movement pays: the first rule with exactly one order decides, and a person where none does. */

const minute = 60_000
let users = 0
const bank = new FakeProvider('bank', { deposits: false })
let s: TestService
let agent: AgentClient

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [bank], paysOut: true } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

/** A deposit that waits at the account, and what it is recognised by. */
async function deposit(fields: Record<string, unknown> = {}, by = agent) {
  const { status, json, text } = await by.deposit({ userId: `user-${++users}`, ...fields })
  expect([status, text]).toEqual([201, text])
  const id: string = json.txn_id
  const { rows } = await s.sql(
    'select code, payable, account from expected_deposits where order_id = $1',
    [id.split('-')[1]],
  )
  const { code, payable } = rows[0]
  return { id, code: code as string, payable: baht(BigInt(payable)), account: rows[0].account }
}

function baht(minor: bigint): string {
  return `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`
}

/** An account that gets all orders from now on, and an agent who has none yet. */
async function onlyAccount(terms: Parameters<typeof makeAccount>[1] = {}): Promise<TestAccount> {
  await s.sql(
    `insert into providers (name, state, updated_at) select name, 'off', now() from bank_accounts
     on conflict (name) do update set state = 'off'`,
  )
  agent = await s.agent({ expiresInS: 900 })
  return makeAccount(s, terms)
}

/** Goes on to ten o'clock of a day of the bank, so that it stays the same day for a while. */
function toMorning(): void {
  const day = 24 * 60 * minute
  const morning = 3 * 60 * minute
  s.clock.advance((morning - (s.clock().getTime() % day) + day) % day)
}

const statusOf = async (id: string, by = agent) =>
  (await by.get(`/payment/orders/${id}`)).json.status as string

/** Pushes a movement, and says what became of it. */
async function pushed(account: TestAccount, fields: Record<string, unknown>) {
  const { status, json } = await push(s, account, fields)
  expect(status).toBe(200)
  await booked(s, account.account.name)
  return (await movementsOf(s, account)).find(({ movementId }) => sameId(movementId, json.movement))
}

function sameId(a: string, b: string): boolean {
  return a.replaceAll('-', '') === b.replaceAll('-', '')
}

describe('unique amounts', () => {
  let account: TestAccount
  beforeAll(async () => {
    account = await onlyAccount({ match: 'code+amount' })
  })

  it('the exact amount pays its order, and the statement of the next morning adds nothing', async () => {
    const [a, b] = [await deposit(), await deposit()]
    expect(a.payable).not.toBe(b.payable)
    await pushed(account, { id: 'e1', amount: a.payable })
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['PAID', 'WAITING'])
    const day = dayAt(s.clock())
    await importFile(
      s,
      account,
      camt({ account: account.account, day, lines: [{ amount: a.payable, text: 'CREDIT' }] }),
    )
    expect(await movementsOf(s, account)).toHaveLength(1)
    expect(await agent.balance()).toBe(Number(a.payable))
  })

  it('an amount that nobody was told to pay waits', async () => {
    await deposit()
    const movement = await pushed(account, { id: 'e2', amount: '100.00' })
    expect(movement).toMatchObject({ paymentState: 'waiting', why: 'unmatched' })
  })

  it('a code names its order whatever the amount: another amount waits at the order', async () => {
    const { id, code } = await deposit()
    const movement = await pushed(account, {
      id: 'e3',
      amount: '100.00',
      text: `trf ${code.toLowerCase()} thanks`,
    })
    expect(movement).toMatchObject({
      paymentState: 'waiting',
      orderId: expect.stringContaining(id.split('-')[1]?.slice(0, 8) ?? '-'),
    })
    const { rows } = await s.sql(
      `select why from payments where agent_id = $1 and order_id = $2`,
      id.split('-'),
    )
    expect(rows).toEqual([{ why: 'wrong_amount' }])
  })

  it('two codes in one text are ambiguous, whatever the amount', async () => {
    const [a, b] = [await deposit(), await deposit()]
    const text = `${a.code} and ${b.code}`
    expect(await pushed(account, { id: 'e4', amount: a.payable, text })).toMatchObject({
      paymentState: 'waiting',
      why: 'ambiguous',
    })
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['WAITING', 'WAITING'])
  })

  it('money that comes within the hold is late money of its order', async () => {
    const b = await deposit()
    s.clock.advance(80 * minute)
    await pushed(account, { id: 'e5', amount: b.payable })
    const { rows } = await s.sql(
      'select why, state from payments where agent_id = $1 and order_id = $2',
      b.id.split('-'),
    )
    expect(rows).toMatchObject([{ why: 'late' }])
  })

  it('an amount that is used again pays the order whose time it is', async () => {
    const own = await onlyAccount({ match: 'amount', surplusSteps: 1 })
    const b = await deposit({ amount: 300 })
    s.clock.advance(15 * minute + 7_200_000 + minute)
    while ((await releaseExpected(s.backend.pool, s.clock())) === 'more');
    while ((await releaseExpected(s.backend.pool, s.clock())) === 'more');
    await expect.poll(() => statusOf(b.id)).toBe('EXPIRED')
    const d = await deposit({ amount: 300 })
    expect(d.payable).toBe(b.payable)
    s.clock.advance(10 * minute)
    await pushed(own, { id: 'e6', amount: b.payable })
    expect([await statusOf(b.id), await statusOf(d.id)]).toEqual(['EXPIRED', 'PAID'])
  })

  it('a bank that tells only the day is late by no minute of it', async () => {
    const own = await onlyAccount({ match: 'amount', feed: 'none', holdS: 172_800 })
    const a = await deposit()
    s.clock.advance(14 * minute)
    const day = dayAt(new Date(s.clock().getTime() - 14 * minute))
    await importFile(s, own, camt({ account: own.account, day, lines: [{ amount: a.payable }] }))
    expect(await statusOf(a.id)).toBe('PAID')
  })
})

describe('accounts without unique amounts', () => {
  it('the payer’s full account number and the amount name the one open order', async () => {
    const account = await onlyAccount({ match: 'code' })
    const c = await deposit({ amount: 500, accountNo: '1234567890' })
    await deposit({ amount: 500, accountNo: '1234567891' })
    await pushed(account, {
      id: 'f1',
      amount: '500.00',
      payer: { account_no: '123-4-56789-0' },
    })
    expect(await statusOf(c.id)).toBe('PAID')
  })

  it('a masked number counts with four visible digits and the payer’s bank', async () => {
    const account = await onlyAccount({ match: 'code' })
    const c = await deposit({ amount: 500, accountNo: '1234567890', bankCode: 'SCB' })
    const say = (id: string, account_no: string, of: string | null) =>
      pushed(account, { id, amount: '500.00', payer: { account_no, bank: of } })
    const waits = { why: 'unmatched', paymentState: 'waiting' }
    expect(await say('g1', 'xxx-x-x6789-x', null)).toMatchObject(waits)
    expect(await say('g2', 'xxx-x-x6789-x', 'KBANK')).toMatchObject(waits)
    expect(await say('g3', 'xxx-x-xx789-x', 'SCB')).toMatchObject(waits)
    expect(await statusOf(c.id)).toBe('WAITING')
    await say('g4', 'xxx-x-x6789-x', 'SCB')
    expect(await statusOf(c.id)).toBe('PAID')
  })

  it('two open orders of one payer and amount are ambiguous', async () => {
    const account = await onlyAccount({ match: 'code' })
    const [a, b] = [await deposit({ amount: 500 }), await deposit({ amount: 500 })]
    const movement = await pushed(account, {
      id: 'h1',
      amount: '500.00',
      payer: { account_no: '1234567890' },
    })
    expect(movement).toMatchObject({ why: 'ambiguous', paymentState: 'waiting' })
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['WAITING', 'WAITING'])
  })

  it('of one payer’s orders only open ones count, while there is one', async () => {
    const account = await onlyAccount({ match: 'code' })
    const paid = await deposit({ amount: 500 })
    await pushed(account, { id: 'i0', amount: '500.00', text: paid.code })
    const over = await deposit({ amount: 500 })
    // Beyond what the bank's clock and ours may differ by.
    s.clock.advance(20 * minute)
    await expect.poll(() => statusOf(over.id)).toBe('EXPIRED')
    const open = await deposit({ amount: 500 })
    const payer = { account_no: '1234567890' }
    await pushed(account, { id: 'i1', amount: '500.00', payer })
    const states = async () => [
      await statusOf(paid.id),
      await statusOf(over.id),
      await statusOf(open.id),
    ]
    expect(await states()).toEqual(['PAID', 'EXPIRED', 'PAID'])
    s.clock.advance(minute)
    // None is open any more: it is late money of the one that is over.
    expect(await pushed(account, { id: 'i2', amount: '500.00', payer })).toMatchObject({
      paymentState: 'waiting',
      orderId: expect.stringContaining(over.id.split('-')[1]?.slice(0, 8) ?? '-'),
    })
  })

  it('an order that was open when the money came counts, although it is over when the bank reports', async () => {
    const account = await onlyAccount({ match: 'code', holdS: 86_400 })
    toMorning()
    const day = dayAt(s.clock())
    const paid = await deposit({ amount: 500 })
    s.clock.advance(20 * minute)
    await expect.poll(() => statusOf(paid.id)).toBe('EXPIRED')
    const open = await deposit({ amount: 500 })
    const lines = [{ amount: '500.00', payerNo: '1234567890' }]
    await importFile(s, account, camt({ account: account.account, day, lines }))
    expect(await movementsOf(s, account)).toMatchObject([
      { why: 'ambiguous', paymentState: 'waiting' },
    ])
    expect([await statusOf(paid.id), await statusOf(open.id)]).toEqual(['EXPIRED', 'WAITING'])
  })

  it('what is ambiguous stays so, whichever of its orders ends', async () => {
    const account = await onlyAccount({ match: 'code', holdS: 86_400 })
    toMorning()
    const first = await deposit({ amount: 500 })
    s.clock.advance(10 * minute)
    const second = await deposit({ amount: 500 })
    const day = dayAt(s.clock())
    const payer = { account_no: '1234567890' }
    const said = await pushed(account, { id: 'j1', amount: '500.00', payer })
    expect(said).toMatchObject({ why: 'ambiguous' })
    s.clock.advance(6 * minute)
    await expect.poll(() => statusOf(first.id)).toBe('EXPIRED')
    const lines = [{ amount: '500.00', payerNo: '1234567890', text: 'more words' }]
    await importFile(s, account, camt({ account: account.account, day, lines }))
    expect(await movementsOf(s, account)).toMatchObject([
      { why: 'ambiguous', paymentState: 'waiting' },
    ])
    expect(await statusOf(second.id)).toBe('WAITING')
  })

  it('a payment that a person credits to an order names it from then on', async () => {
    const account = await onlyAccount({ match: 'code' })
    const a = await deposit({ amount: 250 })
    const waiting = await pushed(account, { id: 'p1', amount: '250.00' })
    if (!waiting) throw new Error('there is no movement')
    expect(movementView(waiting)).toMatchObject({ txn_id: null, amount: '250.00' })
    const [agentId, orderId = ''] = a.id.split('-')
    const to = { agentId: BigInt(agentId ?? 0), orderId }
    const paymentId = `${account.account.name}:${waiting.movementId}`
    await creditPayment(s.service.desk, paymentId, to, 'a receipt')
    const [movement] = await movementsOf(s, account)
    expect(movement && movementView(movement)).toMatchObject({ txn_id: a.id, state: 'credited' })
  })

  it('two equal lines of one day are two movements, matched one by one', async () => {
    const account = await onlyAccount({ match: 'code' })
    const line = { amount: '250.00', text: 'coffee' }
    await importFile(
      s,
      account,
      camt({ account: account.account, day: dayAt(s.clock()), lines: [line, line] }),
    )
    expect((await movementsOf(s, account)).map(({ paymentState }) => paymentState)).toEqual([
      'waiting',
      'waiting',
    ])
  })

  it('a code is found through line breaks and words of the bank, and in the ids of a statement', async () => {
    const account = await onlyAccount({ match: 'code' })
    const [a, b, c] = [await deposit(), await deposit(), await deposit()]
    const broken = `MBVCB.123.${a.code.slice(0, 5)} ${a.code.slice(5)} CT tu 0123`
    await importFile(
      s,
      account,
      camt({
        account: account.account,
        day: dayAt(s.clock()),
        lines: [
          { amount: '100.00', text: broken },
          { amount: '100.00', endToEndId: b.code },
          // As the end of a virtual account number.
          { amount: '100.00', text: `963${c.code}` },
        ],
      }),
    )
    const states = await Promise.all([a, b, c].map(({ id }) => statusOf(id)))
    expect(states).toEqual(['PAID', 'PAID', 'PAID'])
  })

  it('a Swiss reference carries the code as digits', async () => {
    const account = await onlyAccount({ match: 'code' })
    const a = await deposit()
    const digits = swissReference(a.code)
    await pushed(account, {
      id: 'q1',
      amount: '100.00',
      text: `QRR ${digits.slice(0, 2)} ${digits.slice(2)}`,
    })
    expect(await statusOf(a.id)).toBe('PAID')
  })

  it('the code has the form of its account, and an order keeps its own', async () => {
    const account = await onlyAccount({ match: 'code', codeForm: 'digits' })
    const a = await deposit()
    expect(a.code).toMatch(/^\d{13}$/)
    // With another amount it may be there by chance, if other digits are beside it.
    const joined = `${a.code.slice(0, 5)}-${a.code.slice(5)}`
    const chance = await pushed(account, { id: 'd0', amount: '77.00', text: joined })
    expect(chance).toMatchObject({ why: 'ambiguous', paymentState: 'waiting', orderId: null })
    const less = await pushed(account, { id: 'd00', amount: '77.00', text: `REF ${a.code}.` })
    expect(less).toMatchObject({ paymentState: 'waiting', orderId: expect.any(String) })
    // Thirteen digits that nobody was given name nobody.
    const text = `0812345678 REF ${a.code.slice(0, 5)} ${a.code.slice(5)} 16/11/26`
    const { pool, secretKeys } = s.backend
    const terms = { ...account.account, codeForm: 'K7' }
    const by = { name: 'test', at: s.clock(), confirmedBy: 'another test', newSecret: false }
    const changed = await inTransaction(pool, (tx) =>
      updateBankAccount(tx, secretKeys, account.account, terms, by),
    )
    expect(changed?.account).toMatchObject({ codeForm: 'K7', formerCodeForms: 'digits' })
    await routed(s, account.account.name)
    const b = await deposit()
    expect(b.code).toMatch(/^K7/)
    await pushed(account, { id: 'd1', amount: '100.00', text: `to 6348449622502 ${b.code}` })
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['WAITING', 'PAID'])
    await pushed(account, { id: 'd2', amount: '100.00', text })
    expect(await statusOf(a.id)).toBe('PAID')
    // Two that were given out are two orders.
    const [c, d] = [await deposit(), await deposit()]
    const both = await pushed(account, {
      id: 'd3',
      amount: '100.00',
      text: `${c.code} ${d.code}`,
    })
    expect(both).toMatchObject({ why: 'ambiguous' })
  })

  it('what looks like a code, and was given to nobody, makes no second payment', async () => {
    const account = await onlyAccount({ match: 'code' })
    toMorning()
    const a = await deposit()
    await pushed(account, { id: 'n1', amount: '100.00', text: a.code })
    const lines = [{ amount: '100.00', text: `TRANSFER ${paymentCode('of nobody')}` }]
    await importFile(s, account, camt({ account: account.account, day: dayAt(s.clock()), lines }))
    const { rows } = await s.sql('select amount from bank_movements where account = $1', [
      account.account.name,
    ])
    expect([rows.length, await statusOf(a.id)]).toEqual([1, 'PAID'])
  })

  it('money from an account of our own pays no order', async () => {
    const account = await onlyAccount({ match: 'amount', ownAccounts: '5550001111' })
    const a = await deposit()
    const movement = await pushed(account, {
      id: 'o1',
      amount: a.payable,
      payer: { account_no: '555-0-00111-1' },
    })
    expect(movement).toMatchObject({ why: 'unmatched', paymentState: 'waiting' })
    expect(await statusOf(a.id)).toBe('WAITING')
    // Nor does what comes from another account that is a provider; the same number at another bank is a payer's.
    const { account: other } = await makeAccount(s, { bankCode: 'SCB' }, { isOff: true })
    const payer = { account_no: other.accountNo, bank: 'SCB' }
    const swept = await pushed(account, { id: 'o2', amount: a.payable, payer })
    expect(swept).toMatchObject({ why: 'unmatched', paymentState: 'waiting' })
    const b = await deposit()
    await pushed(account, { id: 'o3', amount: b.payable, payer: { ...payer, bank: 'KBANK' } })
    expect(await statusOf(b.id)).toBe('PAID')
  })
})

describe('a rail that deducts a fixed fee', () => {
  let account: TestAccount
  beforeAll(async () => {
    account = await onlyAccount({ match: 'code+amount', expectedDeductionMinor: 300n })
  })

  /** What is at the account, what the agent has and what its orders cost, in satang. */
  async function books() {
    const { rows } = await s.sql(
      `select w.available, w.costs, (select -coalesce(sum(balance), 0) from clearings
         where provider = $2) as there from wallets w where w.agent_id = $1`,
      [agent.agentId, account.account.name],
    )
    const { available, costs, there } = rows[0]
    return { available: BigInt(available), costs: BigInt(costs), there: BigInt(there) }
  }
  const less = (payable: string, by: number) => (Number(payable) - by).toFixed(2)

  it('all that was paid is credited, what was deducted is a cost, and the day is green', async () => {
    const { id, code, payable } = await deposit({ amount: 500 })
    const before = await books()
    const amount = less(payable, 3)
    expect(await pushed(account, { id: 'f1', amount, text: code })).toMatchObject({
      paymentState: 'credited',
      deductedMinor: 300n,
    })
    expect(await statusOf(id)).toBe('PAID')
    const paid = BigInt(Math.round(Number(payable) * 100))
    expect(await books()).toEqual({
      available: before.available + paid,
      costs: before.costs - 300n,
      there: before.there + paid - 300n,
    })
    const day = dayAt(s.clock())
    const statement = { account: account.account, day, opening: '0.00', closing: amount }
    await importFile(s, account, camt({ ...statement, lines: [{ amount, text: code }] }))
    expect(await daysOf(s, account)).toEqual([`${day} green`])
    s.clock.advance(24 * 60 * minute)
  })

  it('what the bank says that it kept of a payment is a cost of its order, if that is all that is missing', async () => {
    const [a, b] = [await deposit({ amount: 500 }), await deposit({ amount: 500 })]
    const before = await books()
    const amounts = [less(a.payable, 12.5), less(b.payable, 12.5)]
    const lines = [
      { amount: amounts[0] ?? '', text: a.code, ref: 'kept-1', charges: '12.50' },
      { amount: amounts[1] ?? '', text: b.code, ref: 'kept-2', charges: '12.49' },
    ]
    await importFile(s, account, camt({ account: account.account, day: dayAt(s.clock()), lines }))
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['PAID', 'WAITING'])
    const paid = BigInt(Math.round(Number(a.payable) * 100))
    const waits = BigInt(Math.round(Number(amounts[1]) * 100))
    expect(await books()).toEqual({
      available: before.available + paid,
      costs: before.costs - 1_250n,
      there: before.there + paid - 1_250n + waits,
    })
    s.clock.advance(24 * 60 * minute)
  })

  it('only that much may be missing, and only if the code says whose it is', async () => {
    const [a, b, c] = [await deposit(), await deposit(), await deposit()]
    const found = [
      await pushed(account, { id: 'f2', amount: less(a.payable, 3.01), text: a.code }),
      await pushed(account, { id: 'f3', amount: less(b.payable, 3) }),
      await pushed(account, { id: 'f4', amount: c.payable, text: c.code }),
    ]
    expect(found.map((each) => [each?.paymentState, each?.why, each?.deductedMinor]))
      // Another amount waits at its order, one without a code is nobody's, and the whole is the whole.
      .toEqual([
        ['waiting', null, 0n],
        ['waiting', 'unmatched', 0n],
        ['credited', null, 0n],
      ])
    expect([await statusOf(a.id), await statusOf(b.id), await statusOf(c.id)]).toEqual([
      'WAITING',
      'WAITING',
      'PAID',
    ])
  })

  it('a code that comes later gives the order no less than one that came at once: a person decides', async () => {
    toMorning()
    const { id, code, payable } = await deposit({ amount: 700 })
    const amount = less(payable, 3)
    // The newest movement is meant below: not of the same millisecond as another.
    s.clock.advance(1_000)
    await pushed(account, { id: 'f20', amount })
    const day = dayAt(s.clock())
    const lines = [{ amount, text: code }]
    await importFile(s, account, camt({ account: account.account, day, lines }))
    const movement = (await movementsOf(s, account)).at(-1)
    expect(movement).toMatchObject({ paymentState: 'waiting', why: 'unmatched' })
    const { rows } = await s.sql('select 1 from payments where order_id = $1', [id.split('-')[1]])
    expect([rows, await statusOf(id)]).toEqual([[], 'WAITING'])
  })

  it.each([
    ['what had arrived', 3, 0n],
    ['all that was paid', 0, -300n],
  ])(
    'a bank that takes back %s leaves the books as they were, and what it kept a cost',
    async (_, missing, cost) => {
      const { id, code, payable } = await deposit({ amount: 600 + missing })
      const before = await books()
      const amount = less(payable, 3)
      const ref = `R${missing}`
      const paid = { amount, text: code, ref }
      const back = { amount: `-${less(payable, missing)}`, ref, isReturn: true }
      const day = dayAt(s.clock())
      await importFile(s, account, camt({ account: account.account, day, lines: [paid, back] }))
      expect(await statusOf(id)).toBe('VOID')
      expect(await books()).toEqual({
        available: before.available,
        costs: before.costs + cost,
        there: before.there + cost,
      })
    },
  )

  it('a second payment of an order waits with all that was paid, and leaves as it was sent back', async () => {
    const { code, payable } = await deposit()
    const before = await books()
    const amount = less(payable, 3)
    await pushed(account, { id: 'f5', amount, text: code })
    const second = await pushed(account, { id: 'f6', amount, text: code })
    expect(second).toMatchObject({ paymentState: 'waiting', deductedMinor: 300n })
    const paymentId = `${account.account.name}:${second?.movementId}`
    await returnPayment(s.service.desk, paymentId, 'sent back')
    await s.prove()
    const out = await pushed(account, { id: 'f7', amount, direction: 'debit' })
    const says = [out?.movementId ?? '', second?.movementId ?? '', 'sent back'] as const
    await explainReturn(s.service.desk, account.account, ...says)
    const { costs, there } = await books()
    expect([costs, there]).toEqual([
      before.costs - 300n,
      before.there + BigInt(Math.round(Number(amount) * 100)),
    ])
  })

  it('a payment of an order that is at another account is nobody’s, and nothing was deducted', async () => {
    const other = account
    account = await onlyAccount({ match: 'code', expectedDeductionMinor: 300n })
    const { id, code } = await deposit()
    expect(await pushed(other, { id: 'f8', amount: '97.00', text: code })).toMatchObject({
      paymentState: 'waiting',
      why: 'wrong_provider',
      deductedMinor: 0n,
    })
    expect(await statusOf(id)).toBe('WAITING')
  })

  it('a deduction that was changed in between changes nothing of what was decided', async () => {
    const { id, code } = await deposit()
    // The process ends after the decision, before the books change.
    const { teller } = s.service.desk
    const gone = { ...s.service.desk, teller: Object.create(teller, { do: { value: fails } }) }
    s.clock.advance(1_000)
    await push(s, account, { id: 'f9', amount: '97.00', text: code })
    await bookMovements(gone, () => undefined, account.account.name)
    await s.sql('update bank_accounts set expected_deduction = 0 where name = $1', [
      account.account.name,
    ])
    s.clock.advance(minute)
    await booked(s, account.account.name)
    expect(await statusOf(id)).toBe('PAID')
    expect((await movementsOf(s, account)).at(-1)).toMatchObject({ deductedMinor: 300n })
  })

  it('a deduction that was changed changes nothing of a deposit that was created before', async () => {
    account = await onlyAccount({ match: 'code', expectedDeductionMinor: 300n })
    const set = (minor: number) =>
      s.sql('update bank_accounts set expected_deduction = $2 where name = $1', [
        account.account.name,
        minor,
      ])
    const [before, exact] = [await deposit(), await deposit()]
    await set(500)
    const arrives = async (id: string, { code }: { code: string }, amount: string) =>
      (await pushed(account, { id, amount, text: code }))?.deductedMinor
    expect(await arrives('c1', before, '97.00')).toBe(300n)
    // What was not deducted then is an amount of its own.
    expect(await arrives('c2', exact, '95.00')).toBe(0n)
    expect([await statusOf(before.id), await statusOf(exact.id)]).toEqual(['PAID', 'WAITING'])
  })
})

async function fails(): Promise<never> {
  throw new Error('the process ended')
}

it('what waits has candidates, best first: those that its text names, then by name, amount and time', async () => {
  const account = await onlyAccount({ match: 'code' })
  const of = (accountName: string) =>
    deposit({ amount: 700, accountName, accountNo: `9${++users}000` })
  const [a, b, c] = [
    await of('Somsak Rakthai'),
    await of('Somchai Jaidee'),
    await of('Anan Deemak'),
  ]
  const candidatesOf = async (fields: Record<string, unknown>) => {
    const movement = await pushed(account, fields)
    const paymentId = `${account.account.name}:${movement?.movementId}`
    const [payment] = await searchPayments(s.backend.pool, { ...allToDecide, paymentId, limit: 1 })
    const whose = await findAgent(s.backend.pool, agent.appId)
    if (!payment || !whose) throw new Error('there is no payment to decide on')
    const found = await possibleOrders(s.backend.pool, payment, [whose])
    return found.map(({ order }) => txnId(order.agentId, order.orderId))
  }
  const named = await candidatesOf({ id: 'n1', amount: '700.00', payer: { name: 'MR SOMCHAI J' } })
  expect([named[0], named.length]).toEqual([b.id, 3])
  const about = await candidatesOf({
    id: 'n2',
    amount: '705.00',
    payer: { name: 'RAKTHAI SOMSAK' },
  })
  expect(about).toEqual([a.id])
  const coded = await candidatesOf({ id: 'n3', amount: '1.00', text: `${c.code} ${a.code}` })
  expect(coded.sort()).toEqual([a.id, c.id].sort())
})

describe('money that goes back', () => {
  it('a reversal with the payment’s id takes it back: the order is VOID, and the agent is told', async () => {
    const account = await onlyAccount({ match: 'amount' })
    const a = await deposit()
    const day = dayAt(s.clock())
    await importFile(
      s,
      account,
      camt({ account: account.account, day, lines: [{ amount: a.payable, ref: 'BANK-77' }] }),
    )
    expect(await statusOf(a.id)).toBe('PAID')
    const reversal = { amount: `-${a.payable}`, ref: 'BANK-77', isReturn: true }
    const file = camt({
      account: account.account,
      day,
      opening: '0.00',
      closing: '0.00',
      lines: [{ amount: a.payable, ref: 'BANK-77' }, reversal],
    })
    await importFile(s, account, file)
    await importFile(s, account, file)
    expect(await statusOf(a.id)).toBe('VOID')
    expect(await told(agent, a.id)).toEqual(['PAID', 'VOID'])
    expect(await agent.balance()).toBe(0)
    expect(await daysOf(s, account)).toEqual([`${day} green`])
  })

  it('a reversal in the file of the payment takes it back, and a second one of it is unexplained', async () => {
    const account = await onlyAccount({ match: 'amount' })
    const a = await deposit()
    const paid = { amount: a.payable, ref: 'BANK-78' }
    const back = { amount: `-${a.payable}`, endToEndId: 'E-78', isReturn: true }
    await importFile(
      s,
      account,
      camt({
        account: account.account,
        day: dayAt(s.clock()),
        lines: [back, { ...paid, endToEndId: 'E-78' }, { ...back, text: 'again' }],
      }),
    )
    expect(await statusOf(a.id)).toBe('VOID')
    const states = (await movementsOf(s, account)).map((each) => each.explainedBy ?? each.state)
    expect(states.sort()).toEqual(['payment', 'payment_taken_back', 'unexplained'])
  })

  it('a debit that nobody sent is unexplained, and the day red', async () => {
    const account = await onlyAccount({ match: 'amount' })
    const day = dayAt(s.clock())
    await importFile(
      s,
      account,
      camt({
        account: account.account,
        day,
        opening: '100.00',
        closing: '90.00',
        lines: [{ amount: '-10.00', text: 'who knows' }],
      }),
    )
    expect(await daysOf(s, account)).toEqual([`${day} red unexplained_debit`])
  })

  it('a bounced payout never pays a deposit of the same amount', async () => {
    const account = await onlyAccount({ match: 'amount' })
    const payer = await fundedAgent(s, { withdrawFee: '0' })
    const withdrawal = (await payer.withdraw({ amount: 100 })).json.txn_id as string
    const [agentId, orderId] = withdrawal.split('-')
    await expect.poll(() => bank.submitted.length).toBeGreaterThan(0)
    const [reference] = referencesOf(BigInt(agentId ?? 0), orderId ?? '', 1)
    const d = await deposit({ amount: 100 })
    const bounce = { id: 'b1', amount: d.payable, text: `RETURN ${reference}` }
    expect(await pushed(account, bounce)).toMatchObject({
      paymentState: 'waiting',
      why: 'unmatched',
    })
    expect(await statusOf(d.id)).toBe('WAITING')
  })
})

describe('whichever report comes first', () => {
  /** Brings a push and a statement of the same money in both orders, each to an account of its own. */
  async function inBothOrders(
    say: (order: Awaited<ReturnType<typeof deposit>>) => {
      pushes: Record<string, unknown>[]
      lines: Parameters<typeof camt>[0]['lines']
    },
    fields: Record<string, unknown> = {},
  ) {
    const ends: unknown[] = []
    for (const isPushFirst of [true, false]) {
      const account = await onlyAccount({ match: 'code' })
      const order = await deposit(fields)
      const { pushes, lines } = say(order)
      const day = dayAt(s.clock())
      const steps = [
        async () => {
          for (const each of pushes) await pushed(account, each)
        },
        () => importFile(s, account, camt({ account: account.account, day, lines })),
      ]
      for (const step of isPushFirst ? steps : steps.toReversed()) {
        await step()
        await s.prove()
      }
      const movements = await movementsOf(s, account)
      ends.push({
        status: await statusOf(order.id),
        balance: await agent.balance(),
        movements: movements
          .map((each) => [each.amountMinor, each.explainedBy, each.paymentState].join(' '))
          .sort(),
      })
    }
    expect(ends[0]).toEqual(ends[1])
    return ends[0]
  }

  it('a code that only the statement tells pays its order', async () => {
    const end = await inBothOrders(({ code }) => ({
      pushes: [{ id: 'w1', amount: '100.00', text: '' }],
      lines: [{ amount: '100.00', text: code }],
    }))
    expect(end).toEqual({ status: 'PAID', balance: 100, movements: ['10000 payment credited'] })
  })

  it('a code that only the push tells pays its order', async () => {
    const end = await inBothOrders(({ code }) => ({
      pushes: [{ id: 'w2', amount: '100.00', text: code }],
      lines: [{ amount: '100.00', text: 'CREDIT' }],
    }))
    expect(end).toMatchObject({ status: 'PAID', balance: 100 })
  })

  it('a payer that only the statement tells pays the order', async () => {
    const end = await inBothOrders(
      () => ({
        pushes: [{ id: 'w3', amount: '100.00', text: '' }],
        lines: [{ amount: '100.00', payerNo: '1234567890' }],
      }),
      { accountNo: '1234567890' },
    )
    expect(end).toMatchObject({ status: 'PAID', balance: 100 })
  })

  it('another amount than the order’s waits at the order', async () => {
    const end = await inBothOrders(({ code }) => ({
      pushes: [{ id: 'w4', amount: '90.00', text: '' }],
      lines: [{ amount: '90.00', text: code }],
    }))
    expect(end).toMatchObject({ status: 'WAITING', movements: ['9000 payment waiting'] })
  })

  it('a reversal that was pushed as a plain debit takes the payment back', async () => {
    const end = await inBothOrders(({ code }) => ({
      pushes: [
        { id: 'w5', amount: '100.00', text: code },
        { id: 'w6', amount: '100.00', direction: 'debit' },
      ],
      lines: [
        { amount: '100.00', text: code, ref: 'B-1' },
        { amount: '-100.00', ref: 'B-1', isReturn: true },
      ],
    }))
    expect(end).toMatchObject({
      status: 'VOID',
      balance: 0,
      movements: ['-10000 payment_taken_back ', '10000 payment taken_back'],
    })
  })

  it('an order that has expired since is paid, if the money came in time', async () => {
    const account = await onlyAccount({ match: 'code' })
    const { id, code } = await deposit()
    const day = dayAt(s.clock())
    await pushed(account, { id: 'w7', amount: '100.00' })
    s.clock.advance(60 * minute)
    await expect.poll(() => statusOf(id)).toBe('EXPIRED')
    const lines = [{ amount: '100.00', text: code }]
    await importFile(s, account, camt({ account: account.account, day, lines }))
    expect([await statusOf(id), await agent.balance()]).toEqual(['PAID', 100])
  })

  it('a code that comes later makes no money late that came in time: a person decides', async () => {
    const account = await onlyAccount({ match: 'code', feed: 'none' })
    toMorning()
    while (new Date(dayAt(s.clock())).getUTCDay() !== 6) s.clock.advance(24 * 60 * minute)
    const { id, code } = await deposit()
    s.clock.advance(48 * 60 * minute)
    await expect.poll(() => statusOf(id)).toBe('EXPIRED')
    // Paid on Saturday perhaps, and booked on Monday.
    const of = { account: account.account, day: dayAt(s.clock()) }
    await importFile(s, account, camt({ ...of, lines: [{ amount: '100.00' }] }))
    const lines = [{ amount: '100.00', text: code }]
    await importFile(s, account, camt({ ...of, lines, isIntraday: true }))
    expect(await movementsOf(s, account)).toMatchObject([
      { paymentState: 'waiting', why: 'unmatched' },
    ])
  })

  it('a return that the bank names only later shows as one', async () => {
    const account = await onlyAccount({ match: 'code' })
    toMorning()
    const day = dayAt(s.clock())
    await pushed(account, { id: 'w9', amount: '64.00' })
    const lines = [{ amount: '64.00', isReturn: true }]
    const balances = { opening: '0.00', closing: '64.00' }
    await importFile(s, account, camt({ account: account.account, day, ...balances, lines }))
    expect(await movementsOf(s, account)).toMatchObject([
      { paymentState: 'waiting', detail: expect.stringContaining('return_unknown:') },
    ])
    expect(await daysOf(s, account)).toEqual([`${day} red return_unknown`])
  })

  it.each([true, false])(
    'whether a line is a return is what the bank says, not who brought it before: %s',
    async (isReturn) => {
      const account = await onlyAccount({ match: 'code', feed: 'none' })
      const { id, code } = await deposit()
      const of = { account: account.account, day: dayAt(s.clock()) }
      const line = { amount: '100.00', text: code }
      const file = (says: boolean) => camt({ ...of, lines: [{ ...line, isReturn: says }] })
      await importFile(s, account, file(!isReturn), { via: 'command', mode: 'live' })
      expect(await movementsOf(s, account)).toMatchObject([{ state: 'unconfirmed' }])
      await importFile(s, account, file(isReturn), { via: 'folder' })
      expect(await movementsOf(s, account)).toHaveLength(1)
      expect(await statusOf(id)).toBe(isReturn ? 'WAITING' : 'PAID')
    },
  )

  it('what a person has decided stays, whatever the bank says later', async () => {
    const account = await onlyAccount({ match: 'code' })
    const { id, code } = await deposit()
    const movement = await pushed(account, { id: 'w8', amount: '100.00' })
    const paymentId = `${account.account.name}:${movement?.movementId}`
    await returnPayment(s.service.desk, paymentId, 'sent back')
    const lines = [{ amount: '100.00', text: code }]
    const day = dayAt(s.clock())
    await importFile(s, account, camt({ account: account.account, day, lines }))
    expect(await statusOf(id)).toBe('WAITING')
    expect(await movementsOf(s, account)).toMatchObject([
      { state: 'booked', paymentState: 'returned' },
    ])
  })

  it('what the bank says of an equal payment is no reason to look again at one that a person has decided on', async () => {
    const account = await onlyAccount({ match: 'code' })
    const codes = `${(await deposit()).code} ${(await deposit()).code}`
    const ambiguous: string[] = []
    for (const id of ['w9', 'w10']) {
      const movement = await pushed(account, { id, amount: '100.00', text: codes })
      expect(movement).toMatchObject({ why: 'ambiguous', paymentState: 'waiting' })
      ambiguous.push(movement?.movementId ?? '')
    }
    await returnPayment(s.service.desk, `${account.account.name}:${ambiguous[0]}`, 'sent back')
    const versions = async () => {
      const { rows } = await s.sql(
        `select version from bank_movements where movement_id = any($1::uuid[])
         order by array_position($1::uuid[], movement_id)`,
        [ambiguous],
      )
      return rows.map(({ version }) => version as number)
    }
    const [decided, waiting] = await versions()
    // Days later, so that the file's line is about this payment.
    s.clock.advance(10 * 24 * 60 * minute)
    await pushed(account, { id: 'w11', amount: '100.00' })
    const lines = [{ amount: '100.00' }]
    const day = dayAt(s.clock())
    await importFile(s, account, camt({ account: account.account, day, lines }))
    expect(await movementsOf(s, account)).toHaveLength(3)
    expect(await versions()).toEqual([decided, expect.toSatisfy((now) => now > (waiting ?? 0))])
  })

  it('what the bank says while a movement is being booked is heard', async () => {
    const account = await onlyAccount({ match: 'code', feed: 'none' })
    const { id, code } = await deposit()
    const of = account.account
    const { desk } = s.service
    const day = dayAt(s.clock())
    const file = (text: string) => ({
      name: text || 'f',
      bytes: camt({ account: of, day, lines: [{ amount: '100.00', text }] }),
      via: 'folder' as const,
      by: 'test',
    })
    // Ahead of the service's clock, so that nobody else books it.
    const later = new Date(s.clock().getTime() + 60 * minute)
    const ahead = { ...desk, now: () => later }
    await importBankFile(ahead, of, file(''), 'sandbox')
    // The second file comes after the decision, just before the books change.
    const files = [file(code)]
    const teller = Object.create(desk.teller, {
      do: {
        value: async (command: Parameters<typeof desk.teller.do>[0]) => {
          for (const each of files.splice(0)) await importBankFile(ahead, of, each, 'sandbox')
          return desk.teller.do(command)
        },
      },
    })
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    expect(await bookMovements({ ...ahead, teller }, onError, of.name)).toBe(1)
    expect([files, await statusOf(id)]).toEqual([[], 'WAITING'])
    expect(await bookMovements({ ...ahead, teller }, onError, of.name)).toBe(1)
    expect(errors).toEqual([])
    expect(await statusOf(id)).toBe('PAID')
  })
})

it('what is booked after long holidays is what was pushed before them, and pays the order of their first day', async () => {
  toMorning()
  while (new Date(dayAt(s.clock())).getUTCDay() !== 6) s.clock.advance(24 * 60 * minute)
  const later = (days: number) => dayAt(new Date(s.clock().getTime() + days * 24 * 60 * minute))
  // Saturday until the Monday of the week after the next.
  const holidays = Array.from({ length: 9 }, (_, at) => later(at)).join(',')
  const account = await onlyAccount({ match: 'code+amount', payoutHolidays: holidays })
  const [told, silent] = [await deposit({ amount: 310 }), await deposit({ amount: 320 })]
  await pushed(account, { id: 'x1', amount: told.payable })
  expect(await statusOf(told.id)).toBe('PAID')
  s.clock.advance(9 * 24 * 60 * minute)
  const lines = [{ amount: told.payable }, { amount: silent.payable }]
  await importFile(s, account, camt({ account: account.account, day: dayAt(s.clock()), lines }))
  expect(await movementsOf(s, account)).toHaveLength(2)
  expect([await statusOf(told.id), await statusOf(silent.id)]).toEqual(['PAID', 'PAID'])
})

it('a movement that another process holds is left to it, and nobody waits', async () => {
  const { account } = await makeAccount(s, { match: 'code', feed: 'none' })
  // Ahead of the service's clock, so that nobody else books it.
  const later = new Date(s.clock().getTime() + 60 * minute)
  const ahead = { ...s.service.desk, now: () => later }
  const lines = [{ amount: '9.00' }, { amount: '10.00' }]
  const bytes = camt({ account, day: dayAt(s.clock()), lines })
  const file = { name: 'f', bytes, via: 'folder', by: 'test' } as const
  await importBankFile(ahead, account, file, 'sandbox')
  const onError = (error: unknown) => expect(error).toBeUndefined()
  await inTransaction(ahead.pool, async (tx) => {
    const held = 'select 1 from bank_movements where account = $1 and amount = 900 for update'
    await tx.query(held, [account.name])
    expect(await bookMovements(ahead, onError, account.name)).toBe(1)
  })
  expect(await bookMovements(ahead, onError, account.name)).toBe(1)
})

it('an account that cannot be booked holds up no other', async () => {
  const accounts = [
    await makeAccount(s, { match: 'code', feed: 'none' }),
    await makeAccount(s, { match: 'code', feed: 'none' }),
  ]
  // Ahead of the service's clock, so that nobody else books it.
  const later = new Date(s.clock().getTime() + 60 * minute)
  const ahead = { ...s.service.desk, now: () => later }
  for (const { account } of accounts) {
    const bytes = camt({ account, day: dayAt(s.clock()), lines: [{ amount: '9.00' }] })
    const file = { name: 'f', bytes, via: 'folder', by: 'test' } as const
    await importBankFile(ahead, account, file, 'sandbox')
  }
  // The first one that is booked is the one that fails.
  const [refused = '', other = ''] = accounts.map(({ account }) => account.name)
  const pool = Object.create(ahead.pool, {
    query: {
      value: (text: string, values: unknown[] = []) => {
        if (/from bank_accounts/.test(text) && values.includes(refused)) throw new Error('refused')
        return ahead.pool.query(text, values)
      },
    },
  })
  const errors: unknown[] = []
  await bookMovements({ ...ahead, pool }, (error) => errors.push(error))
  const states = async (name: string) =>
    (await s.sql('select state from bank_movements where account = $1', [name])).rows
  expect([await states(refused), await states(other)]).toEqual([
    [{ state: 'new' }],
    [{ state: 'booked' }],
  ])
  expect(errors).toMatchObject([{ message: 'refused' }])
  s.clock.advance(70 * minute)
  await expect.poll(() => states(refused)).toEqual([{ state: 'booked' }])
})

it('a movement that cannot be decided on holds up no other, and is tried again', async () => {
  const account = await onlyAccount({ match: 'code', feed: 'none' })
  const orders = [await deposit(), await deposit(), await deposit()]
  await s.sql(`alter table bank_movements add constraint refuses
    check (text <> 'refused' or state = 'new') not valid`)
  const lines = [
    ...orders.map(({ code }) => ({ amount: '100.00', text: code })),
    { amount: '7.00', text: 'refused' },
    { amount: '8.00', text: 'nobody' },
  ]
  const bytes = camt({ account: account.account, day: dayAt(s.clock()), lines })
  const file = { name: 'f', bytes, via: 'folder', by: 'test' } as const
  await importBankFile(s.service.desk, account.account, file, 'sandbox')
  const states = async () => (await movementsOf(s, account)).map(({ state }) => state).sort()
  await bookMovements(s.service.desk, () => {}, account.account.name)
  await expect.poll(states).toEqual(['booked', 'booked', 'booked', 'booked', 'new'])
  for (const { id } of orders) expect(await statusOf(id)).toBe('PAID')
  await s.sql('alter table bank_movements drop constraint refuses')
  s.clock.advance(minute)
  await expect.poll(states).toEqual(Array(5).fill('booked'))
})

describe('an account that is edited', () => {
  it('changes no order that exists: not its answer, its page nor how it is recognised', async () => {
    const account = await onlyAccount({ match: 'amount' })
    const order = agent.order()
    const first = await agent.post('/payment/deposit', order)
    const page = async () => (await fetch(first.json.link)).text()
    const shown = await page()
    expect(shown).toContain(first.json.transfer.account_number)
    const terms = { ...account.account, accountNo: '9990001111', qrValue: '0899999999' }
    const changed = await updateBankAccount(
      s.backend.pool,
      s.backend.secretKeys,
      account.account,
      { ...terms, match: 'code', accountName: 'Somebody Else' },
      { name: 'test', at: s.clock(), confirmedBy: 'another test', newSecret: false },
    )
    expect(changed?.account.version).toBe(2)
    await routed(s, account.account.name)
    const fresh = await agent.deposit()
    expect(fresh.json.transfer).toMatchObject({ account_number: '9990001111', amount: 100 })
    const again = await agent.post('/payment/deposit', order)
    expect([again.status, again.text]).toEqual([200, first.text])
    const now = await page()
    expect(now).toContain(first.json.transfer.account_number)
    expect(now).not.toContain('9990001111')
    await pushed(account, { id: 'x1', amount: first.json.transfer.amount.toFixed(2) })
    expect(await statusOf(first.json.txn_id)).toBe('PAID')
  })
})
