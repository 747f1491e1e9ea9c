import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { houseBook } from '../../src/ledger/house.ts'
import { sampleBankCode } from '../../src/lib/banks.ts'
import { currencyRow } from '../../src/lib/currencies.ts'
import { currencies } from '../../src/lib/money.ts'
import { said } from '../support/order-answers.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  s = await startTestService({ realTime: true, outside: { paysOut: true } })
})
afterAll(async () => {
  await s.prove()
  await s.close()
  await receiver.close()
})

/** What 200 with the smallest fraction of the currency looks like on an English payment page. */
const shown: Record<string, string> = {
  THB: '฿200.00',
  VND: '₫200',
  SGD: 'SGD 200.00',
  MYR: 'RM 200.00',
  IDR: 'Rp 200.00',
  PHP: '₱200.00',
  INR: '₹200.00',
  BRL: 'R$200.00',
  EUR: '€200.00',
  CHF: 'CHF 200.00',
  GBP: '£200.00',
  USD: '$200.00',
}

describe.each(currencies)('in %s', (currency) => {
  it('a deposit is paid, a withdrawal is paid out, and both are called back', async () => {
    const agent = await s.agent({
      currency,
      depositFee: '1.5%+1',
      depositCallbackUrl: receiver.url,
      withdrawCallbackUrl: receiver.url,
    })
    const toBank = { bankCode: sampleBankCode(currency) }
    const told = (txnId: string) =>
      receiver.received.filter(({ json }) => json.transactionId === txnId).map(({ json }) => json)

    const deposit = await agent.deposit({
      amount: 200,
      extraParams: { sandbox: 'paid' },
      ...toBank,
    })
    expect(said(deposit)).toEqual([201, 'none'])
    const page = await (await fetch(deposit.json.link)).text()
    expect(page.replace(/\u00a0/g, ' ')).toContain(shown[currency])
    await expect.poll(() => told(deposit.json.txn_id)).toHaveLength(1)
    expect(told(deposit.json.txn_id)[0]).toMatchObject({
      status: 'PAID',
      amount: 200,
      fee: 4,
      wallet: { balance: 196 },
    })

    const withdraw = await agent.withdraw({ amount: 50, ...toBank })
    expect(said(withdraw)).toEqual([201, 'none'])
    await expect.poll(() => told(withdraw.json.txn_id)).toHaveLength(1)
    expect(told(withdraw.json.txn_id)[0]).toMatchObject({ status: 'PAID', amount: 50 })
    const wallet = (await agent.get('/payment/wallet')).json
    expect(wallet).toMatchObject({ currency, balance: 146, held: 0 })
  })

  it('money that is nobody’s waits in the house’s book', async () => {
    const at = s.clock()
    await s.service.desk.teller.do({
      type: 'receive_unmatched',
      agentId: houseBook(currency),
      at,
      unmatched: {
        paymentId: `sandbox:lost-${currency}`,
        reference: 'no order',
        amountMinor: 12_345n,
        currency,
        why: 'unmatched',
        contradicts: null,
        paidAt: at,
        payer: null,
      },
    })
    const { rows } = await s.sql('select currency, suspense from wallets where agent_id = $1', [
      houseBook(currency),
    ])
    expect(rows).toEqual([{ currency, suspense: '12345' }])
  })

  it('the list of banks is empty where the currency has no table', async () => {
    const agent = await s.agent({ currency })
    const { status, json } = await agent.get('/payment/banks')
    expect(status).toBe(200)
    expect(json.data.length > 0).toBe(currencyRow(currency).bankCode === 'table')
  })
})

describe('codes of banks without a table', () => {
  test.each([
    ['EUR', 'DEUTDEFF', 201],
    ['EUR', 'deutdeff500', 201],
    ['EUR', 'KASITHBK', 201],
    ['USD', 'CHASUS33XXX', 201],
    ['EUR', 'KBANK', 422],
    ['EUR', 'DEUTDEFF5', 422],
    ['GBP', 'DEUT1EFF', 422],
    ['INR', 'HDFC0001234', 201],
    ['INR', 'hdfc0abc123', 201],
    ['INR', 'HDFC1001234', 422],
    ['INR', 'HDFCINBB', 422],
  ] as const)('in %s, %s is answered with %i', async (currency, bankCode, status) => {
    const agent = await s.agent({ currency })
    const answer = await agent.deposit({ bankCode })
    expect(answer.status).toBe(status)
    if (status === 201) return
    expect(answer.json.code).toBe('unknown_bank_code')
    expect(answer.json.detail).toContain(currency === 'INR' ? 'an IFSC' : 'a BIC of 8 or 11')
  })

  test('the code is kept in capitals', async () => {
    const agent = await s.agent({ currency: 'EUR' })
    const { json } = await agent.deposit({ bankCode: 'deutdeff500' })
    const { rows } = await s.sql('select bank_code from orders where agent_id = $1', [
      agent.agentId,
    ])
    expect(json.txn_id).toBeDefined()
    expect(rows).toEqual([{ bank_code: 'DEUTDEFF500' }])
  })
})

describe('account numbers', () => {
  test.each([
    ['EUR', 'DE75 5121 0800 1245 1261 99', undefined],
    ['CHF', 'ch5604835012345678009', undefined],
    ['USD', '1234567890', undefined],
    ['GBP', '12345678', undefined],
    ['EUR', 'DE76 5121 0800 1245 1261 99', 'check digits are wrong'],
    ['EUR', 'DE7551210800124512619', 'has 22 characters, this has 21'],
    ['USD', 'GB33BUKB20201555555556', 'check digits are wrong'],
    // Vietnamese accounts may have names of letters and digits.
    ['VND', 'DE12345678', undefined],
  ] as const)('in %s, of %s it is said: %s', async (currency, accountNo, fault) => {
    const agent = await s.agent({ currency })
    const answer = await agent.deposit({ accountNo, bankCode: sampleBankCode(currency) })
    if (fault === undefined) expect(said(answer)).toEqual([201, 'none'])
    else {
      expect(said(answer)).toEqual([422, 'invalid_request'])
      expect(answer.json.errors).toEqual([
        { field: 'accountNo', message: expect.stringContaining(fault) },
      ])
    }
  })
})
