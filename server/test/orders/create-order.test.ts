import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Method } from '../../src/agents/terms.ts'
import { maxBalanceMinor } from '../../src/lib/money.ts'
import { qrDataUrl } from '../../src/lib/qr-png.ts'
import { adjust, lastCallback, money, queued, said, utc } from '../support/order-answers.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

describe('creating a deposit', () => {
  const always = ['txn_id', 'ref_id', 'amount', 'fee', 'method', 'link', 'expires_in', 'created_at']

  test.each<[Method, string[]]>([
    ['link', []],
    ['link+qrcode', ['qrcode']],
    ['link+transfer', ['transfer']],
    ['link+qrcode+transfer', ['qrcode', 'transfer']],
  ])('by %s is answered with exactly the fields of the contract', async (method, more) => {
    const agent = await s.agent({ method, expiresInS: 600, depositFee: '1.5%+0.25' })
    const { status, json } = await agent.deposit({ refId: `r-${method}`, amount: 333 })
    expect(status).toBe(201)
    expect(Object.keys(json).toSorted()).toEqual([...always, ...more].toSorted())
    expect(json).toMatchObject({
      txn_id: expect.stringMatching(/^[1-9]\d*-[0-9a-f]{32}$/),
      ref_id: `r-${method}`,
      amount: 333,
      fee: 5.25,
      method,
      expires_in: 600,
      created_at: utc(s.clock()),
    })
    const base = s.service.desk.publicUrl()
    expect(json.link).toMatch(new RegExp(`^${base}/pay/[\\w-]{40,}$`))
    if (json.qrcode) {
      expect(Object.keys(json.qrcode)).toEqual(['qrcode_text', 'link', 'qrcode_date_url'])
      expect(json.qrcode.link).toBe(`${json.link}/qr`)
      expect(json.qrcode.qrcode_date_url).toBe(qrDataUrl(json.qrcode.qrcode_text))
      expect(json.qrcode.qrcode_text.toLowerCase()).toContain(json.txn_id)
    }
    if (json.transfer) {
      expect(Object.keys(json.transfer)).toEqual([
        'bank_code',
        'account_number',
        'account_name',
        'amount',
      ])
      expect(json.transfer.amount).toBe(333)
    }
  })

  test('an order is valid for 900 seconds unless the agent has other terms', async () => {
    expect((await (await s.agent()).deposit()).json.expires_in).toBe(900)
  })

  test.each([
    ['THB', '1.5%', 333, '"amount":333,"fee":5,'],
    ['THB', '1.5%', 331, '"amount":331,"fee":4.97,'],
    ['THB', '0.1', 1, '"amount":1,"fee":0.1,'],
    ['THB', '0%', 7, '"amount":7,"fee":0,'],
    ['THB', '0.01%', 1e12, '"amount":1000000000000,"fee":100000000,'],
    ['VND', '1.5%', 333, '"amount":333,"fee":5,'],
    ['VND', '1.5%', 331, '"amount":331,"fee":5,'],
    ['VND', '1.4%+2', 100, '"amount":100,"fee":3,'],
  ] as const)(
    'in %s with a fee of %s, %i is written %s',
    async (currency, depositFee, amount, written) => {
      const agent = await s.agent({ currency, depositFee })
      expect((await agent.deposit({ amount })).text).toContain(written)
    },
  )

  test('no two orders have the same link or id', async () => {
    const agent = await s.agent()
    const answers = await Promise.all(Array.from({ length: 20 }, () => agent.deposit()))
    expect(new Set(answers.map(({ json }) => json.link)).size).toBe(20)
    expect(new Set(answers.map(({ json }) => json.txn_id)).size).toBe(20)
  })

  test('moves no money', async () => {
    const agent = await s.agent()
    await agent.deposit()
    expect((await agent.get('/payment/wallet')).json).toEqual({
      balance: 0,
      held: 0,
      currency: 'THB',
      seq: 0,
    })
  })
})

describe('creating a withdrawal', () => {
  test('is answered with exactly the fields that were decided, after the hold', async () => {
    const agent = await s.agent({ withdrawFee: '1%+0.5' })
    await agent.fund(1000)
    const { status, json } = await agent.withdraw({ refId: 'w-1', amount: 333 })
    expect(status).toBe(201)
    expect(json).toEqual({
      txn_id: expect.stringMatching(/^[1-9]\d*-[0-9a-f]{32}$/),
      ref_id: 'w-1',
      amount: 333,
      fee: 3.83,
      status: 'WAITING',
      wallet: { balance: 663.17 },
      created_at: utc(s.clock()),
    })
    expect(await money(s, agent)).toEqual([663.17, 336.83, 0])
  })

  test('has no decimals in VND', async () => {
    const agent = await s.agent({ currency: 'VND', withdrawFee: '1.5%' })
    await agent.fund(1000)
    const { text } = await agent.withdraw({ amount: 333 })
    expect(text).toContain('"amount":333,"fee":5,')
    expect(text).toContain('"wallet":{"balance":662}')
  })

  test('ten at once never spend more than there is', async () => {
    const agent = await s.agent({ withdrawFee: '1' })
    await agent.fund(100)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => agent.withdraw({ amount: 24, ...queued })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(said)).toEqual(Array(6).fill([422, 'insufficient_balance']))
    expect(await money(s, agent)).toEqual([0, 100, 0])
  })
})

describe('banks', () => {
  test.each([
    ['THB', 'SCB', '014', ['RBS', 'TBANK']],
    ['VND', 'BIDV', '970418', []],
  ] as const)(
    'the table of %s has every bank once, closed ones marked',
    async (currency, code, numeric, closed) => {
      const agent = await s.agent({ currency })
      const { data } = (await agent.get('/payment/banks')).json
      type Bank = (typeof data)[number]
      for (const bank of data) {
        expect(Object.keys(bank)).toEqual([
          'code',
          'name',
          'numeric_code',
          'swift',
          'aliases',
          'closed',
        ])
      }
      expect(data.find((bank: Bank) => bank.code === code).numeric_code).toBe(numeric)
      expect(data.filter((bank: Bank) => bank.closed).map((bank: Bank) => bank.code)).toEqual(
        closed,
      )
      expect(new Set(data.map((bank: Bank) => bank.code)).size).toBe(data.length)
    },
  )

  test('every open bank of the table is taken, by its code and by each alias', async () => {
    const agent = await s.agent()
    const { data } = (await agent.get('/payment/banks')).json
    const answers = await Promise.all(
      data.flatMap((bank: { code: string; aliases: string[]; closed: boolean }) =>
        [bank.code, ...bank.aliases].map(async (bankCode) => {
          const { status } = await agent.deposit({ bankCode })
          return status === (bank.closed ? 422 : 201) ? '' : bankCode
        }),
      ),
    )
    expect(answers.filter((wrong) => wrong !== '')).toEqual([])
  })
})

describe('the bounds of money', () => {
  test.each(['THB', 'VND'] as const)(
    '10^12 %s go in and out to the last unit',
    async (currency) => {
      const agent = await s.agent({ currency })
      await agent.fund(1e12)
      expect((await agent.get('/payment/wallet')).text).toContain('"balance":1000000000000,')
      const { text, json } = await agent.withdraw({ amount: 1e12, ...queued })
      expect(text).toContain('"wallet":{"balance":0}')
      await agent.trigger(json.txn_id, 'PAID')
      expect((await lastCallback(agent)).text).toContain('"amount":1000000000000,')
    },
  )

  test('the largest balance is told to the satang, though doubles could not', async () => {
    const agent = await s.agent({ withdrawFee: '0.01' })
    await adjust(s, agent, maxBalanceMinor, 'all')
    expect((await agent.get('/payment/wallet')).text).toContain('"balance":90071992547409.91,')
    const { text } = await agent.withdraw({ amount: 409, ...queued })
    expect(text).toContain('"wallet":{"balance":90071992547000.9}')
    expect((await agent.get('/payment/wallet')).text).toContain('"held":409.01,')
    const entries = await agent.get('/payment/wallet/entries')
    expect(entries.text).toContain('"amount":90071992547409.91,')
    expect(entries.text).toContain('"amount":-409.01,')
  })

  test('a deposit that the wallet cannot hold waits, and nothing is lost', async () => {
    const agent = await s.agent({ currency: 'VND' })
    await adjust(s, agent, maxBalanceMinor - 99n, 'almost all')
    const { txn_id } = (await agent.deposit({ amount: 100 })).json
    const answer = await agent.trigger(txn_id, 'PAID')
    expect([answer.status, answer.json.status]).toEqual([200, 'WAITING'])
    expect((await agent.get('/payment/wallet')).text).toContain('"balance":9007199254740892,')
    const { rows } = await s.sql('select state, why from payments where agent_id = $1', [
      agent.agentId,
    ])
    expect(rows).toEqual([{ state: 'waiting', why: 'bound' }])
    const fits = (await agent.deposit({ amount: 99 })).json
    expect((await agent.trigger(fits.txn_id, 'PAID')).json.status).toBe('PAID')
    expect((await agent.get('/payment/wallet')).text).toContain('"balance":9007199254740991,')
  })

  test('an adjustment past the bound is refused and changes nothing', async () => {
    const agent = await s.agent()
    await adjust(s, agent, maxBalanceMinor, 'all')
    await expect(adjust(s, agent, 1n, 'more')).rejects.toMatchObject({
      code: 'amount_out_of_range',
    })
    expect((await agent.get('/payment/wallet')).json.seq).toBe(1)
  })

  test('a return that the wallet cannot hold changes nothing until there is room for it', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    const { txn_id } = (await agent.withdraw(queued)).json
    await agent.trigger(txn_id, 'PAID')
    await adjust(s, agent, maxBalanceMinor, 'all')
    expect(said(await agent.trigger(txn_id, 'REVERT'))).toEqual([503, 'overloaded'])
    expect((await agent.get(`/payment/orders/${txn_id}`)).json.status).toBe('PAID')
    // The money did come back: the bank says so until it is taken.
    await adjust(s, agent, -maxBalanceMinor, 'room')
    s.clock.advance(60_000)
    const reverted = async () =>
      (await agent.get(`/payment/orders/${txn_id}`)).json.status === 'REVERT'
    while (!(await reverted())) await new Promise((resolve) => setTimeout(resolve, 50))
  })
})
