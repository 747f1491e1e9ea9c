import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DepositInstructions } from '../../src/providers/provider.ts'
import { FakeProvider } from '../support/fake-provider.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A provider may give a QR code, an account or a page of its own: each alone is a way to pay. */

const bank = new FakeProvider('bank')
let s: TestService
let given: DepositInstructions

const qrcodeText = 'PAY <ME>'
const transfer = { bankCode: 'FAKE', accountNumber: '123', accountName: 'Shop & Co' }
const link = 'https://pay.example/p?a=1&b=2'

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [bank], paysOut: false } })
  bank.instructions = () => given
})
afterEach(() => s.prove())
afterAll(() => s.close())

async function deposit(method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer') {
  const agent = await s.agent({ method })
  const { status, json } = await agent.deposit()
  expect(status).toBe(201)
  const page = await (await fetch(json.link)).text()
  return { agent, json, page }
}

const ways = (page: string) => ({
  qr: page.includes('Scan the QR code'),
  transfer: /transfer to this account/i.test(page),
  online: page.includes('Continue to payment'),
})

describe.each([true, false])('instructions that need no call: %s', (instructsAtOnce) => {
  beforeAll(() => {
    bank.instructsAtOnce = instructsAtOnce
  })

  it('a QR code alone', async () => {
    given = { qrcodeText }
    const { json, page } = await deposit('link+qrcode+transfer')
    expect(json.qrcode.qrcode_text).toBe(qrcodeText)
    expect(json).not.toHaveProperty('transfer')
    expect(ways(page)).toEqual({ qr: true, transfer: false, online: false })
  })

  it('a QR code of a kind, with the words for it on the page and in the larger view', async () => {
    given = { qrcodeText, qrKind: 'promptpay-mobile' }
    const { json, page } = await deposit('link+qrcode')
    expect(page).toContain('point the camera at this PromptPay code')
    const larger = await (await fetch(`${json.link}/qr`)).text()
    expect(larger).toContain('point the camera at this PromptPay code')
    given = { qrcodeText, qrKind: 'template' }
    expect((await deposit('link+qrcode')).page).toContain('choose to scan or pay by QR')
  })

  it('an account alone', async () => {
    given = { transfer }
    const { json, page } = await deposit('link+qrcode+transfer')
    expect(json).not.toHaveProperty('qrcode')
    expect(json.transfer.account_number).toBe('123')
    expect(page).toContain('Shop &#38; Co')
    expect(ways(page)).toEqual({ qr: false, transfer: true, online: false })
  })

  it('a page of the provider’s alone', async () => {
    given = { link }
    const { json, page } = await deposit('link+qrcode+transfer')
    expect(json).not.toHaveProperty('qrcode')
    expect(json).not.toHaveProperty('transfer')
    // The agent's link is always the payment page.
    expect(json.link).toContain('/pay/')
    expect(page).toContain('href="https://pay.example/p?a=1&#38;b=2"')
    expect(ways(page)).toEqual({ qr: false, transfer: false, online: true })
  })

  it('the payer gets the ways that the agent’s method names, and all where it names none', async () => {
    given = { qrcodeText, transfer, link }
    const all = { qr: true, transfer: true, online: true }
    expect(ways((await deposit('link+qrcode')).page)).toEqual({
      qr: true,
      transfer: false,
      online: false,
    })
    expect(ways((await deposit('link+transfer')).page)).toEqual({
      qr: false,
      transfer: true,
      online: false,
    })
    expect(ways((await deposit('link')).page)).toEqual(all)
    // What is not given cannot be named.
    given = { transfer }
    expect(ways((await deposit('link+qrcode')).page)).toEqual({
      qr: false,
      transfer: true,
      online: false,
    })
  })

  it('an order keeps the instructions that it was created with', async () => {
    given = { transfer }
    const { agent, json, page } = await deposit('link+transfer')
    given = { transfer: { ...transfer, accountNumber: '9990001112' } }
    await s.sql(`update agents set method = 'link' where agent_id = $1`, [agent.agentId])
    const later = await (await fetch(json.link)).text()
    expect(page).toContain('123')
    expect(later).toContain('123')
    expect(later).not.toContain('9990001112')
    const { json: read } = await agent.get(`/payment/orders/${json.txn_id}`)
    expect(read).toMatchObject({ ...json, kind: 'deposit', status: 'WAITING' })
  })
})

describe('instructions that nobody can follow', () => {
  beforeAll(() => {
    bank.instructsAtOnce = false
  })

  it.each([
    ['none', {}],
    ['a page that is not by https', { link: 'http://pay.example/' }],
    ['a page that is a script', { link: 'javascript:alert(1)' }],
    ['a page that is no address', { link: 'pay here' }],
    ['an empty QR code', { qrcodeText: '' }],
    ['more than a QR code holds', { qrcodeText: 'x'.repeat(2_400) }],
    ['an account without a number', { transfer: { ...transfer, accountNumber: '' } }],
    ['more than is kept', { transfer: { ...transfer, accountName: 'x'.repeat(5_000) } }],
  ])('%s: the deposit is not taken, and can be repeated', async (_name, nothing) => {
    given = nothing
    const agent = await s.agent()
    const refId = 'again'
    const first = await agent.deposit({ refId })
    expect([first.status, first.json.code]).toEqual([503, 'provider_unavailable'])
    given = { transfer }
    expect((await agent.deposit({ refId })).status).toBe(200)
  })

  it('an empty QR code beside a page is none', async () => {
    given = { qrcodeText: '', link }
    const { json, page } = await deposit('link+qrcode')
    expect(json).not.toHaveProperty('qrcode')
    expect(ways(page)).toEqual({ qr: false, transfer: false, online: true })
  })

  it('an order that is repeated after its agent’s terms changed keeps its own time', async () => {
    given = {}
    const agent = await s.agent({ expiresInS: 900 })
    const refId = 'slow'
    expect((await agent.deposit({ refId })).status).toBe(503)
    await s.sql('update agents set expires_in_s = 1800 where agent_id = $1', [agent.agentId])
    given = { transfer }
    const { status, json } = await agent.deposit({ refId })
    expect([status, json.expires_in]).toEqual([200, 900])
  })
})
