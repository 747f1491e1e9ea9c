import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { saveProviderState } from '../../src/routing/providers.ts'
import { builtInFeedProfiles } from '../../src/statements/feed-profile.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  feedSignature,
  importFile,
  makeAccount,
  movementsOf,
  push,
  routed,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { type Answer, startTestService, type TestService } from '../support/service.ts'

/** `POST /bank-feed/{name}`: who may report, what is refused and why, and that a repetition counts once. */

let s: TestService
let shop: TestAccount

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
  shop = await makeAccount(s, { match: 'code' })
})
afterEach(() => s.prove())
afterAll(() => s.close())

/** An order, and what its payer writes. */
async function expectPayment(amount = 100) {
  const agent = await s.agent()
  const { status, json } = await agent.deposit({ amount })
  expect(status).toBe(201)
  const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
    json.txn_id.split('-')[1],
  ])
  return { agent, id: json.txn_id as string, code: rows[0].code as string }
}

describe('who may report', () => {
  const denied = ({ status, json }: Answer) => ({ status, json: { ...json, request_id: '' } })

  it('an unknown name, a wrong signature and none at all get the same answer', async () => {
    const wrong = await push(s, { ...shop, secret: 'fs_wrong' }, { amount: '1.00' })
    expect(wrong.status).toBe(401)
    expect(wrong.json.code).toBe('invalid_signature')
    const unknown = { account: { ...shop.account, name: 'nobody' }, secret: shop.secret }
    expect(denied(await push(s, unknown, { amount: '1.00' }))).toEqual(denied(wrong))
    expect(denied(await push(s, shop, { amount: '1.00' }, () => ({})))).toEqual(denied(wrong))
    const quiet = await makeAccount(s, { feed: 'none', match: 'code' }, { isOff: true })
    expect(denied(await push(s, { ...quiet, secret: '' }, { amount: '1.00' }))).toEqual(
      denied(wrong),
    )
  })

  it('a signature of another time, path or body is wrong', async () => {
    const at = (ms: number) => (body: string, path: string) => ({
      'x-signature': feedSignature(shop.secret, path, body, new Date(s.clock().getTime() + ms)),
    })
    expect((await push(s, shop, { amount: '1.00' }, at(-400_000))).status).toBe(401)
    expect((await push(s, shop, { amount: '1.00' }, at(400_000))).status).toBe(401)
    const other = (body: string) => ({
      'x-signature': feedSignature(shop.secret, '/bank-feed/other', body, s.clock()),
    })
    expect((await push(s, shop, { amount: '1.00' }, other)).status).toBe(401)
    const changed = (body: string, path: string) => ({
      'x-signature': feedSignature(shop.secret, path, `${body} `, s.clock()),
    })
    expect((await push(s, shop, { amount: '1.00' }, changed)).status).toBe(401)
    expect(await movementsOf(s, shop)).toEqual([])
  })

  it('a phone that cannot sign sends a token, which no other account takes', async () => {
    const phone = await makeAccount(s, { feed: 'token', match: 'code' }, { isOff: true })
    const bearer = (secret: string) => () => ({ authorization: `Bearer ${secret}` })
    expect((await push(s, phone, { amount: '1.00' })).status).toBe(401)
    expect((await push(s, phone, { amount: '1.00' }, bearer(shop.secret))).status).toBe(401)
    expect((await push(s, phone, { amount: '1.00' }, bearer(phone.secret))).status).toBe(200)
    // A signed feed is not opened by its secret as a token.
    expect((await push(s, shop, { amount: '1.00' }, bearer(shop.secret))).status).toBe(401)
    expect(await movementsOf(s, phone)).toHaveLength(1)
  })
})

it('a sender with words of its own is read by the account’s profile, and answered as it expects', async () => {
  const feedProfile = JSON.stringify(builtInFeedProfiles.sepay)
  const terms = { feed: 'token', match: 'code', feedProfile } as const
  const theirs = await makeAccount(s, terms, { isOff: true })
  const fields = {
    transaction_id: 'T-1',
    transfer_type: 'credit',
    amount: 55.5,
    content: 'for rent',
    transaction_date: '2026-11-16 10:01:00',
  }
  const token = () => ({ authorization: `Apikey ${theirs.secret}` })
  const first = await push(s, theirs, fields, token)
  expect([first.status, first.json.success]).toEqual([200, true])
  expect((await push(s, theirs, fields, token)).json).toEqual(first.json)
  await booked(s, theirs.account.name)
  expect(await movementsOf(s, theirs)).toMatchObject([
    { amountMinor: 5_550n, text: 'for rent', bookedAt: new Date('2026-11-16T03:01:00Z') },
  ])
  const odd = await push(s, theirs, { ...fields, transfer_type: 'fee' }, token)
  expect([odd.status, odd.json.errors[0].message]).toEqual([
    422,
    'What stands at /transfer_type is neither credit nor debit.',
  ])
})

it('what SePay tells of an account and what its statement says are one credit', async () => {
  const feedProfile = JSON.stringify(builtInFeedProfiles.sepay)
  await saveProviderState(s.backend.pool, shop.account.name, 'draining', s.clock())
  const theirs = await makeAccount(s, { feed: 'token', match: 'code', feedProfile })
  const { agent, code } = await expectPayment()
  const told = {
    transaction_id: 'sepay-1',
    transfer_type: 'credit',
    amount: 100,
    accumulated: 0,
    content: `CT DEN ${code}`,
    reference_code: 'FT26001',
    transaction_date: localTime(s.clock()),
  }
  const token = () => ({ authorization: `Apikey ${theirs.secret}` })
  // It tells the same again until it is answered, and again after that.
  const answers = await Promise.all(Array.from({ length: 7 }, () => push(s, theirs, told, token)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const lines = [{ amount: '100.00', text: `CT DEN ${code}` }]
  const { account } = theirs
  await importFile(s, theirs, camt({ account, day: dayAt(s.clock()), lines }))
  await push(s, theirs, told, token)
  await booked(s, account.name)
  expect(await movementsOf(s, theirs)).toHaveLength(1)
  expect(await agent.balance()).toBe(100)
  await saveProviderState(s.backend.pool, account.name, 'off', s.clock())
  await saveProviderState(s.backend.pool, shop.account.name, 'on', s.clock())
  await routed(s, shop.account.name)
})

/** As SePay writes it: without a zone, in the bank's. */
function localTime(at: Date): string {
  return new Date(at.getTime() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
}

describe('what is refused', () => {
  it.each([
    ['amount', { amount: 100 }],
    ['amount', { amount: '-1.00' }],
    ['amount', { amount: '0.00' }],
    ['amount', { amount: '100.005' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: '99999999999999999999' }],
    ['amount', {}],
    ['currency', { amount: '1.00', currency: 'VND' }],
    ['direction', { amount: '1.00', direction: 'sideways' }],
    ['booked_at', { amount: '1.00', booked_at: '2026-11-16 10:00' }],
    ['booked_at', { amount: '1.00', booked_at: '2099-01-01T00:00:00Z' }],
    ['booked_at', { amount: '1.00', booked_at: '0001-01-01T00:00:00Z' }],
    ['id', { amount: '1.00', id: '', booked_at: null }],
    ['balance', { amount: '1.00', balance: '1.0.0' }],
    ['payer', { amount: '1.00', payer: 'Somchai' }],
  ])('a wrong %s is named in the answer: %j', async (field, fields) => {
    const { status, json } = await push(s, shop, fields)
    expect([status, json.code]).toEqual([422, 'invalid_request'])
    expect(json.errors.map((error: { field: string }) => error.field.split('.')[0])).toContain(
      field,
    )
    expect(await movementsOf(s, shop)).toEqual([])
  })

  it('nothing that the database cannot hold: it is kept without', async () => {
    const odd = 'a\u0000b\ud800c'
    const payer = { account_no: odd, name: odd, bank: odd }
    const { status } = await push(s, shop, { id: odd, amount: '0.37', text: odd, payer })
    expect(status).toBe(200)
    await booked(s, shop.account.name)
    const found = (await movementsOf(s, shop)).find(({ amountMinor }) => amountMinor === 37n)
    expect(found).toMatchObject({ text: 'a\ufffdb\ufffdc', payerName: 'a\ufffdb\ufffdc' })
    for (const name of ['%00', 'A', 'x'.repeat(40), 'x'.repeat(300)]) {
      const { status } = await fetch(`${s.service.url}/bank-feed/${name}`, { method: 'POST' })
      expect(status).toBe(401)
    }
  })

  it('a text that is longer than any bank writes', async () => {
    const { status, json } = await push(s, shop, { amount: '1.00', text: 'x'.repeat(4_001) })
    expect([status, json.errors[0].field]).toEqual([422, 'text'])
  })

  it('a body that is no JSON, or too large', async () => {
    const raw = (body: string) =>
      fetch(`${s.service.url}/bank-feed/${shop.account.name}`, {
        method: 'POST',
        headers: {
          'x-signature': feedSignature(
            shop.secret,
            `/bank-feed/${shop.account.name}`,
            body,
            s.clock(),
          ),
        },
        body,
      })
    expect((await raw('not json')).status).toBe(400)
    expect((await raw(`{"text": "${'x'.repeat(70_000)}"}`)).status).toBe(413)
  })
})

describe('a movement', () => {
  it('is credited once, however often and at once its id is reported', async () => {
    const { agent, code } = await expectPayment()
    const fields = { id: 'm-1', amount: '100.00', text: `pay ${code}` }
    const answers = await Promise.all(Array.from({ length: 10 }, () => push(s, shop, fields)))
    answers.push(await push(s, shop, fields))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers[0]?.json.movement).toMatch(/^[0-9a-f-]{32,36}$/)
    await expect.poll(() => agent.balance()).toBe(100)
  })

  it('with an id that was reported with another amount is refused', async () => {
    const { agent, code } = await expectPayment()
    expect((await push(s, shop, { id: 'm-2', amount: '100.00', text: code })).status).toBe(200)
    const again = await push(s, shop, { id: 'm-2', amount: '100.01', text: code })
    expect([again.status, again.json.code]).toEqual([409, 'invalid_transition'])
    const debit = await push(s, shop, { id: 'm-2', amount: '100.00', direction: 'debit' })
    expect(debit.status).toBe(409)
    await expect.poll(() => agent.balance()).toBe(100)
  })

  it('without an id is the same if amount, balance, text and minute are', async () => {
    const before = (await movementsOf(s, shop)).length
    const fields = { amount: '7.00', text: 'sms', balance: '900.00' }
    const [first, second] = [await push(s, shop, fields), await push(s, shop, fields)]
    expect(second.text).toBe(first.text)
    const other = await push(s, shop, { ...fields, balance: '907.00' })
    expect(other.json.movement).not.toBe(first.json.movement)
    expect(await movementsOf(s, shop)).toHaveLength(before + 2)
  })

  it('that left the account and that nobody sent turns the day red', async () => {
    const own = await makeAccount(s, { match: 'code' }, { isOff: true })
    expect((await push(s, own, { id: 'd', amount: '5.00', direction: 'debit' })).status).toBe(200)
    expect((await movementsOf(s, own))[0]).toMatchObject({
      state: 'unexplained',
      amountMinor: -500n,
    })
    expect((await daysOf(s, own))[0]).toMatch(/ red unexplained_debit$/)
  })
})
