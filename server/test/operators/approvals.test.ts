import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { approve } from '../../src/approvals/decide-proposal.ts'
import { findProposal, propose } from '../../src/approvals/proposal.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { recordUnmatched } from '../../src/payments/unmatched-payments.ts'
import { booked, makeAccount, push } from '../support/bank-accounts.ts'
import { companyDocument, prepare } from '../support/company.ts'
import { FakeProvider } from '../support/fake-provider.ts'
import { handOver } from '../support/hand-over.ts'
import { acceptInvitation, type OperatorClient, signIn } from '../support/operator.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { newKey } from '../support/sftp-server.ts'

/** What two people decide on: proposals and decisions, in a live service beside a sandbox. */

let s: TestService
let live: TestService
let shop: AgentClient
/** Of the live service; of the sandbox. */
let ann: OperatorClient
let bob: OperatorClient
let sam: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  live = await startTestService({
    beside: s,
    env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) },
    outside: { moreProviders: [new FakeProvider('bank')] },
  })
  shop = await s.agent({ name: 'Shop' })
  await shop.fund(10_000)
  sam = await signIn(s, 'admin')
  ann = await signIn(live, 'admin')
  bob = await signIn(live, 'admin')
})

afterAll(async () => {
  await s?.prove()
  await live?.close()
  await s?.close()
})

const reason = 'as agreed on the phone'
const reportKey = newKey().private

async function adjustment(client: OperatorClient, amount = 5): Promise<Answer> {
  const body = { amount, ref: randomUUID(), reason, code: client.code() }
  return client.post(`/wallets/${shop.appId}/adjust`, body)
}

/** An adjustment that waits for a second person, as it is shown to who looks. */
async function proposed(client = ann, amount = 5): Promise<Answer['json']> {
  const { status, json, text } = await adjustment(client, amount)
  expect(status, text).toBe(202)
  return (await client.get(`/approvals/${json.proposal}`)).json
}

const approved = (client: OperatorClient, { id, digest }: { id: string; digest: string }) =>
  client.post(`/approvals/${id}/approve`, { digest, code: client.code() })

/** A picture of one point. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let payments = 0

async function unmatched(): Promise<string> {
  const paymentId = `sandbox:two-people-${++payments}`
  await recordUnmatched(s.service.desk, {
    paymentId,
    reference: 'a note of the payer',
    amountMinor: 700n,
    currency: 'THB',
    paidAt: s.clock(),
    payer: null,
    why: 'unmatched',
    contradicts: null,
  })
  return paymentId
}

async function paidDeposit(): Promise<string> {
  const { json } = await shop.deposit({ amount: 50 })
  await shop.trigger(json.txn_id, 'PAID')
  return json.txn_id
}

async function doubtfulPayout(): Promise<string> {
  const { json } = await shop.withdraw({ amount: 20 })
  await handOver(s, json.txn_id, 'unknown')
  return json.txn_id
}

async function paidPayout(): Promise<string> {
  const txnId = await doubtfulPayout()
  const answer = await sam.post(`/orders/${txnId}/mark-paid`, {
    reason,
    evidence: 'statement 7',
    code: sam.code(),
  })
  expect(answer.status, answer.text).toBe(200)
  return txnId
}

const agentNow = async (appId = shop.appId) => (await sam.get(`/agents/${appId}`)).json
const newUser = () => ({ email: `${randomUUID()}@sluice.example`, role: 'viewer' })

async function someUser(): Promise<string> {
  const made = await signIn(s, 'viewer')
  const users = (await sam.get('/users')).json.data as { id: string; email: string }[]
  return users.find(({ email }) => email === made.email)?.id ?? ''
}

type Make = () => Promise<{ path: string; body: Record<string, unknown> }>

/** A good request of every route that two people may have to decide on. */
const requests: Record<string, Make> = {
  'POST /wallets/{app_id}/adjust': async () => ({
    path: `/wallets/${shop.appId}/adjust`,
    body: { amount: 3, ref: randomUUID() },
  }),
  'POST /payments/{payment_id}/credit': async () => ({
    path: `/payments/${await unmatched()}/credit`,
    body: { agent: shop.appId },
  }),
  'POST /payments/{payment_id}/return': async () => ({
    path: `/payments/${await unmatched()}/return`,
    body: { evidence: 'transfer 7' },
  }),
  'POST /payments/{payment_id}/dismiss': async () => ({
    path: `/payments/${await unmatched()}/dismiss`,
    body: { evidence: 'not on statement 7' },
  }),
  'POST /books/write-off': async () => ({
    path: '/books/write-off',
    body: { amount: '0.5', currency: 'THB', provider: 'sandbox', ref: randomUUID() },
  }),
  'POST /orders/{txn_id}/mark-paid': async () => ({
    path: `/orders/${await doubtfulPayout()}/mark-paid`,
    body: { evidence: 'statement 7' },
  }),
  'POST /orders/{txn_id}/mark-failed': async () => ({
    path: `/orders/${await doubtfulPayout()}/mark-failed`,
    body: { evidence: 'statement 7' },
  }),
  'POST /orders/{txn_id}/take-back': async () => ({
    path: `/orders/${await paidDeposit()}/take-back`,
    body: { evidence: 'statement 7' },
  }),
  'POST /orders/{txn_id}/revert': async () => ({
    path: `/orders/${await paidPayout()}/revert`,
    body: { evidence: 'statement 7' },
  }),
  'POST /orders/{txn_id}/refund': async () => ({
    path: `/orders/${await paidDeposit()}/refund`,
    body: { amount: '10', ref: randomUUID() },
  }),
  'POST /agents': async () => ({
    path: '/agents',
    body: { name: `Made by two ${randomUUID()}`, currency: 'THB', frame_origin: ['none'] },
  }),
  'PATCH /agents/{app_id}': async () => ({
    path: `/agents/${shop.appId}`,
    body: { support: `call ${randomUUID()}`, updated_at: (await agentNow()).updated_at },
  }),
  'POST /agents/{app_id}/resume': async () => {
    await sam.post(`/agents/${shop.appId}/suspend`, { reason })
    return { path: `/agents/${shop.appId}/resume`, body: {} }
  },
  'PUT /agents/{app_id}/callback-addresses': async () => ({
    path: `/agents/${shop.appId}/callback-addresses`,
    body: {
      deposit_callback: `https://93.184.216.34/${randomUUID()}`,
      updated_at: (await agentNow()).updated_at,
    },
  }),
  'POST /agents/{app_id}/keys': async () => ({
    path: `/agents/${(await s.agent()).appId}/keys`,
    body: { overlap_s: 86_400 },
  }),
  'POST /agents/{app_id}/secrets': async () => ({
    path: `/agents/${(await s.agent()).appId}/secrets`,
    body: { name: 'reports', scopes: ['read'] },
  }),
  'PUT /limits': async () => ({ path: '/limits', body: await newLimit() }),
  'POST /limits/remove': async () => {
    const limit = await newLimit()
    await sam.put('/limits', { ...limit, reason, code: sam.code() })
    return { path: '/limits/remove', body: { app_id: limit.app_id, name: limit.name } }
  },
  'PATCH /providers/{id}': async () => ({ path: '/providers/PROVIDER', body: { state: 'on' } }),
  'PUT /provider-routes': async () => ({
    path: '/provider-routes',
    body: { routes: [], version: (await sam.get('/provider-routes')).json.version },
  }),
  'POST /connectors/{name}/use': async () => {
    const name = `pay-${randomUUID().slice(0, 8)}`
    await prepare(s, name, companyDocument({ url: 'https://pay.example' }, 1))
    return {
      path: `/connectors/${name}/use`,
      body: { version: 1, use: 0, secrets: { api: 1, hook: 1 } },
    }
  },
  'POST /stops/{id}/lift': async () => {
    const { appId } = await s.agent()
    const { json } = await sam.post('/stops', { app_id: appId, reason })
    const { id } = json.data.find(({ app_id }: { app_id: string }) => app_id === appId)
    return { path: `/stops/${id}/lift`, body: {} }
  },
  'POST /bank-accounts/{name}/movements/{movement_id}/explain': async () => {
    const account = await makeAccount(s, {}, { isOff: true })
    const { name } = account.account
    const { json } = await push(s, account, { id: 'fee', direction: 'debit', amount: '5.00' })
    await booked(s, name)
    return {
      path: `/bank-accounts/${name}/movements/${json.movement}/explain`,
      body: { as: 'bank_fee' },
    }
  },
  'POST /users': async () => ({ path: '/users', body: newUser() }),
  'PATCH /users/{id}': async () => ({
    path: `/users/${await someUser()}`,
    body: { role: 'operator' },
  }),
  'POST /users/{id}/reset': async () => ({ path: `/users/${await someUser()}/reset`, body: {} }),
  'PUT /report-schedules': newReport,
  'PUT /approval-rules': async () => ({
    path: '/approval-rules',
    body: { rules: [], version: (await sam.get('/approval-rules')).json.version },
  }),
}
async function newReport() {
  return {
    path: '/report-schedules',
    body: {
      ...{ name: `Report ${randomUUID()}`, every: 'day', made_at: '06:00', zone: 'Asia/Bangkok' },
      ...{ app_id: null, formats: ['csv'], with_rows: false, is_on: true },
      ...{
        way: 'sftp',
        recipients: [],
        sftp_host: '93.184.216.34',
        sftp_port: 22,
        sftp_user: 'us',
      },
      ...{ sftp_host_key: `SHA256:${'A'.repeat(43)}`, sftp_folder: '/in', sftp_key: reportKey },
    },
  }
}

async function newLimit() {
  const rule = { kind: 'withdraw', measure: 'orders', per: 'user', period: 'day', most: '9' }
  return { app_id: (await s.agent()).appId, name: 'user-day', outcome: 'refuse', ...rule }
}

/** Two people in every mode, which the tests of payout files show. */
const testedElsewhere = [
  'POST /payout-files/{id}/reports/{report_id}/reject',
  'POST /payout-files/{id}/take-out',
  'POST /payout-files/{id}/abandon',
  'POST /bank-accounts/{name}/release-payouts',
  'POST /restores/{id}/release',
  'POST /bank-accounts/{name}/payments',
  'POST /payment-decisions',
  'POST /open-items/{item_id}/book',
]

/** These take no reason. */
const withoutReason = ['POST /agents', 'POST /users', 'PUT /report-schedules']

interface Described {
  paths: Record<string, Record<string, { 'x-approval'?: string; responses: object }>>
}

describe('every action of the registry', () => {
  it('is known to this test, with its route', async () => {
    const { json } = await sam.get('/openapi.json')
    const found = Object.entries((json as Described).paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation['x-approval'] !== undefined)
        .map(([method, operation]) => {
          expect(Object.keys(operation.responses)).toContain('202')
          return `${method.toUpperCase()} ${path.replace('/console/api', '')}`
        }),
    )
    expect(found.sort()).toEqual([...Object.keys(requests), ...testedElsewhere].sort())
  })

  it.each(Object.keys(requests))('%s: one person in the sandbox, two in live', async (route) => {
    const make = requests[route]
    if (!make) throw new Error(route)
    const [method = ''] = route.split(' ')
    const send = async (client: OperatorClient) => {
      const { path, body } = await make()
      const why = withoutReason.includes(route) ? {} : { reason }
      // Each service has a provider of its own.
      const at = path.replace('PROVIDER', client === sam ? 'sandbox' : 'bank')
      return client.send(method, at, { ...body, ...why, code: client.code() })
    }
    const alone = await send(sam)
    expect([200, 201], alone.text).toContain(alone.status)
    const asked = await send(ann)
    expect(asked.status, asked.text).toBe(202)
    const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    expect(shown).toMatchObject({ state: 'open', may_approve: true, own: false })
    const { json, text } = await approved(bob, shown)
    expect(json.state, text).toBe('done')
    const { rows } = await s.sql('select 1 from proposal_effects where proposal_id = $1', [
      shown.id,
    ])
    const isOneTransaction = !/wallets|payments|books|orders|movements/.test(route)
    expect(rows.length === 1).toBe(isOneTransaction)
  })
})

describe('a proposal', () => {
  it('does nothing until another person approves what they were shown', async () => {
    const before = await shop.balance()
    const shown = await proposed()
    expect(shown).toMatchObject({
      action: 'adjust_wallet',
      subject: { kind: 'wallet', id: shop.appId },
      amount: 5,
      currency: 'THB',
      after: { adjusted_by: 5 },
      proposed_by: ann.email,
      own: true,
      may_approve: false,
    })
    expect(await shop.balance()).toBe(before)
    const inbox = (await bob.get('/approvals')).json
    expect(inbox.data.map(({ id }: { id: string }) => id)).toContain(shown.id)
    expect(inbox.to_decide).toBeGreaterThan(0)
    const other = await bob.post(`/approvals/${shown.id}/approve`, {
      digest: '0'.repeat(64),
      code: bob.code(),
    })
    expect(other).toMatchObject({ status: 409, json: { code: 'digest_changed' } })
    expect((await approved(bob, shown)).json.state).toBe('done')
    expect(await shop.balance()).toBe(before + 5)
    expect((await approved(bob, shown)).json.code).toBe('already_decided')
    const { rows } = await s.sql(
      `select action, email from audit_log where subject_id = $1 or action = 'adjust_wallet'
       order by audit_id desc limit 4`,
      [shown.id],
    )
    expect(rows.map(({ action }) => action)).toContain('approve_proposal')
  })

  it('on a payment is told on the payment: who proposed it, who approved it, and why', async () => {
    const paymentId = await unmatched()
    const path = `/payments/${encodeURIComponent(paymentId)}`
    const asked = await ann.post(`${path}/credit`, { agent: shop.appId, reason, code: ann.code() })
    expect((await ann.get(path)).json.decision).toBeNull()
    const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    expect((await approved(bob, shown)).json.state).toBe('done')
    expect((await ann.get(path)).json.decision).toMatchObject({
      action: 'credit_payment',
      by: ann.email,
      approved_by: bob.email,
      reason,
      wallet: shop.appId,
    })
  })

  it('that sends reports elsewhere keeps the key sealed, and one person switches them off without a code', async () => {
    const { body }: Awaited<ReturnType<Make>> = await newReport()
    const asked = await ann.put('/report-schedules', { ...body, code: ann.code() })
    expect(asked.status, asked.text).toBe(202)
    const { rows } = await s.sql(
      'select input::text as input from proposals where proposal_id = $1',
      [asked.json.proposal],
    )
    expect(rows[0].input).toContain('"sftp_key":"sealed:')
    expect(rows[0].input).not.toContain('PRIVATE')
    const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    expect(shown.after).toMatchObject({ sftp_host: '93.184.216.34', sftp_key: 'another one' })
    expect((await approved(bob, shown)).json.state).toBe('done')
    const named = async () =>
      (await ann.get('/report-schedules')).json.data.find(
        (each: { name: string }) => each.name === body.name,
      )
    const { id, has_key } = await named()
    expect(has_key).toBe(true)
    const { sftp_key: _key, ...rest } = body
    const off = { ...rest, id, is_on: false }
    const elsewhere = await ann.put('/report-schedules', { ...off, sftp_folder: '/mine' })
    expect(elsewhere.json.code).toBe('code_required')
    expect((await ann.put('/report-schedules', off)).status).toBe(200)
    expect((await named()).is_on).toBe(false)
    const on = await ann.put('/report-schedules', { ...off, is_on: true, code: ann.code() })
    expect(on.status).toBe(202)
  })

  it('shows beside it what helps to decide: the balance that there would be, and a picture', async () => {
    const shown = await proposed(ann, 7)
    const balance = await shop.balance()
    expect((await bob.get(`/approvals/${shown.id}`)).json.beside).toEqual({
      before: { balance },
      after: { balance: balance + 7 },
    })
    const png = `data:image/png;base64,${pixel}`
    const change = { logo: png, updated_at: (await agentNow()).updated_at, reason }
    const asked = await ann.send('PATCH', `/agents/${shop.appId}`, { ...change, code: ann.code() })
    expect(asked.status, asked.text).toBe(202)
    const logo = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    expect(logo).toMatchObject({
      after: { logo: expect.stringMatching(/^image\/png, \d+ bytes, sha256 /) },
      beside: { before: { picture: null }, after: { picture: png } },
    })
    expect((await approved(bob, logo)).json.state).toBe('done')
  })

  it('of somebody whose sessions ended for wrong codes, or who has a new password, is proposed again', async () => {
    const eve = await signIn(live, 'admin')
    const shown = await proposed(eve)
    const wrong = { amount: 1, ref: randomUUID(), reason, code: '000000' }
    for (let n = 0; n < 10; n++) {
      s.clock.advance(30_000)
      await eve.post(`/wallets/${shop.appId}/adjust`, wrong)
    }
    expect((await eve.get('/me')).status).toBe(401)
    const refused = await approved(bob, shown)
    expect(refused.json.code, refused.text).toBe('changed_meanwhile')
    expect(refused.json.detail).toContain('wrong codes')
  })

  it('is not approved by who made it, nor without a fresh code', async () => {
    const shown = await proposed()
    expect(await approved(ann, shown)).toMatchObject({ status: 403, json: { code: 'same_person' } })
    const { digest } = shown
    const bare = await bob.post(`/approvals/${shown.id}/approve`, { digest })
    expect(bare.json.code).toBe('code_required')
    expect((await ann.post(`/approvals/${shown.id}/withdraw`)).json.state).toBe('withdrawn')
    expect((await approved(bob, shown)).json.code).toBe('already_decided')
  })

  it('is not approved by who may not do it', async () => {
    const { json } = await ann.post('/users', { ...newUser(), code: ann.code() })
    const shown = (await ann.get(`/approvals/${json.proposal}`)).json
    const operator = await signIn(live, 'operator')
    expect((await approved(operator, shown)).json.code).toBe('not_permitted')
    const owner = await signIn(live, 'agent', shop)
    expect((await approved(owner, shown)).status).toBe(404)
    const declined = await bob.post(`/approvals/${shown.id}/decline`, {
      reason: 'nobody knows them',
      code: bob.code(),
    })
    expect(declined.json).toMatchObject({ state: 'declined', decision_reason: 'nobody knows them' })
  })

  it('twice of the same request by the same person is one', async () => {
    const body = { amount: 4, ref: randomUUID(), reason }
    const send = () => ann.post(`/wallets/${shop.appId}/adjust`, { ...body, code: ann.code() })
    const [one, two] = [await send(), await send()]
    expect(two.json.proposal).toBe(one.json.proposal)
  })

  it('is counted in the inbox with a few statements, however many wait', async () => {
    const statementsOf = async () => {
      const query = vi.spyOn(s.backend.pool, 'query')
      const { json } = await sam.get('/approvals')
      const texts = query.mock.calls.map(([text]) => String(text))
      query.mockRestore()
      return { waiting: json.to_decide, about: texts.filter((text) => /credentials/.test(text)) }
    }
    const before = await statementsOf()
    for (let n = 0; n < 3; n++) await proposed()
    const after = await statementsOf()
    expect(after.waiting).toBe(before.waiting + 3)
    expect(after.about.length).toBe(before.about.length)
    expect(after.about.length).toBeGreaterThan(0)
  })

  it('of a user from before credentials were noted is taken and decided on', async () => {
    const [old, older] = [await signIn(live, 'admin'), await signIn(live, 'admin')]
    await s.sql(
      `delete from user_credentials where user_id in (
         select user_id from users where email = any($1::text[]))`,
      [[old.email, older.email]],
    )
    expect((await approved(older, await proposed(old))).json.state).toBe('done')
  })

  it('expires', async () => {
    const shown = await proposed()
    s.clock.advance(73 * 3_600_000)
    const later = await bob.signInAgain()
    expect((await approved(later, shown)).json.code).toBe('proposal_expired')
    await expect
      .poll(async () => (await findProposal(s.backend.pool, shown.id))?.verdict)
      .toBe('expired')
    ann = await ann.signInAgain()
    bob = later
    sam = await sam.signInAgain()
  })

  it('is refused, with words, where what it is about has changed since', async () => {
    const { updated_at } = await agentNow()
    const asked = await ann.patch(`/agents/${shop.appId}`, {
      support: 'call nobody',
      updated_at,
      reason,
      code: ann.code(),
    })
    const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    await sam.patch(`/agents/${shop.appId}`, {
      support: 'call somebody',
      updated_at,
      reason,
      code: sam.code(),
    })
    expect((await approved(bob, shown)).json).toMatchObject({
      state: 'refused',
      problem: { code: 'changed_meanwhile' },
    })
    expect((await agentNow()).support).toBe('call somebody')
  })

  it('of two who approve at once, one does, and it happens once', async () => {
    const cat = await signIn(live, 'admin')
    const before = await shop.balance()
    const shown = await proposed()
    const answers = await Promise.all([approved(bob, shown), approved(cat, shown)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await shop.balance()).toBe(before + 5)
  })

  it('that a process left between approval and action is finished, once', async () => {
    const before = await shop.balance()
    const { id, digest } = await proposed()
    const { json } = await ann.post(`/agents/${(await s.agent()).appId}/keys`, {
      overlap_s: 3600,
      reason,
      code: ann.code(),
    })
    const key = (await bob.get(`/approvals/${json.proposal}`)).json
    const users = (await sam.get('/users')).json.data as { id: string; email: string }[]
    const userId = BigInt(users.find(({ email }) => email === bob.email)?.id ?? 0)
    const decider = {
      userId,
      email: bob.email,
      role: 'admin',
      agentId: null,
      sessionId: randomUUID(),
      ip: '::1',
    } as const
    for (const [proposalId, of] of [
      [id, digest],
      [key.id, key.digest],
    ]) {
      const found = await findProposal(s.backend.pool, proposalId)
      if (!found) throw new Error('no proposal')
      await approve(s.backend.pool, found, decider, of, s.clock())
    }
    s.clock.advance(61_000)
    const state = async (of: string) => (await bob.get(`/approvals/${of}`)).json.state
    await expect.poll(() => state(id)).toBe('done')
    await expect.poll(() => state(key.id)).toBe('done')
    expect(await shop.balance()).toBe(before + 5)
  })

  it('shows the secret that it made to who proposed it, with a code, once', async () => {
    const { json } = await ann.post('/agents', {
      name: 'Secretive',
      currency: 'THB',
      frame_origin: ['none'],
      code: ann.code(),
    })
    const shown = (await bob.get(`/approvals/${json.proposal}`)).json
    const after = await approved(bob, shown)
    expect(after.text).not.toMatch(/sk_/)
    const look = (client: OperatorClient) =>
      client.post(`/approvals/${shown.id}/answer`, { code: client.code() })
    expect((await look(bob)).json.code).toBe('not_permitted')
    expect((await ann.get(`/approvals/${shown.id}`)).json.has_answer).toBe(true)
    expect((await look(ann)).json.answer).toMatchObject({ secret: expect.stringMatching(/^sk_/) })
    expect((await look(ann)).status).toBe(404)
    const { rows } = await s.sql(
      'select count(*)::int as n from proposal_answers where proposal_id = $1',
      [shown.id],
    )
    expect(rows[0]?.n).toBe(0)
  })

  it('of a proposer who is locked out or demoted since then is refused', async () => {
    const dan = await signIn(live, 'operator')
    const users = (await sam.get('/users')).json.data as { id: string; email: string }[]
    const danId = users.find(({ email }) => email === dan.email)?.id
    const shown = await proposed(dan)
    await sam.patch(`/users/${danId}`, { disabled: true, reason, code: sam.code() })
    expect((await approved(bob, shown)).json).toMatchObject({
      state: 'refused',
      problem: { code: 'not_permitted' },
    })
  })
})

describe('who resets a colleague', () => {
  it('can neither approve as them nor for them', async () => {
    const eve = await signIn(live, 'admin')
    const users = (await sam.get('/users')).json.data as { id: string; email: string }[]
    const eveId = users.find(({ email }) => email === eve.email)?.id
    const mine = await proposed(ann)
    const hers = await proposed(eve)
    const asked = await ann.post(`/users/${eveId}/reset`, { reason, code: ann.code() })
    expect(asked.status).toBe(202)
    const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    expect((await approved(bob, shown)).json.state).toBe('done')
    const { json } = await ann.post(`/approvals/${shown.id}/answer`, { code: ann.code() })
    const token = json.answer.link.split(/[#/]/).at(-1)
    const taken = await acceptInvitation(live, token, eve.email)
    expect((await approved(taken, mine)).json.code).toBe('same_person')
    const asEve = await proposed(taken)
    expect((await approved(ann, asEve)).json.code).toBe('same_person')
    // What she proposed before nobody can vouch for any more.
    expect((await approved(bob, hers)).json.code).toBe('changed_meanwhile')
    expect((await approved(bob, asEve)).json.state).toBe('done')
  })

  it('nor can the database be told otherwise, with the service’s login', async () => {
    const { id } = await proposed()
    const url = new URL(s.database.url)
    const service = new pg.Client({
      connectionString: url.href,
      options: '-c search_path=sluice',
    })
    await service.connect()
    const decide = (decidedBy: string, more = '') =>
      service.query(
        `insert into proposal_decisions (proposal_id, digest, proposed_by, proposer_reset_by,
           expires_at, verdict, decided_by, decider, credential, reset_by, decided_at)
         select p.proposal_id, ${more === 'digest' ? "'\\x00'" : 'p.digest'}, p.proposed_by,
           p.proposer_reset_by, p.expires_at, 'approved', c.user_id, 'somebody', c.n, c.reset_by,
           ${more === 'late' ? 'p.expires_at' : 'p.proposed_at'}
         from proposals p, user_credentials c
         where p.proposal_id = $1 and c.user_id = ${decidedBy} order by c.n desc limit 1`,
        [id],
      )
    try {
      const other =
        "(select user_id from users where role = 'admin' and user_id <> p.proposed_by order by 1 limit 1)"
      await expect(decide('p.proposed_by')).rejects.toThrow(/decisions_by_another/)
      await expect(decide('0')).rejects.toThrow(/decisions_by_another/)
      await expect(decide(other, 'digest')).rejects.toThrow(/foreign key/)
      await expect(decide(other, 'late')).rejects.toThrow(/decisions_in_time/)
      for (const table of [
        'proposals',
        'proposal_decisions',
        'proposal_ends',
        'user_credentials',
      ]) {
        await expect(service.query(`delete from ${table}`)).rejects.toThrow(/permission denied/)
        await expect(
          service.query(
            `update ${table} set ${table === 'user_credentials' ? 'n' : 'proposal_id'} = null`,
          ),
        ).rejects.toThrow(/permission denied/)
      }
      await decide(other)
      await expect(decide(other)).rejects.toThrow(/proposal_decisions_pkey/)
    } finally {
      await service.end()
    }
  })
})

describe('a refund to another account than the payer’s', () => {
  it('takes two people in the sandbox too, and goes where both saw it go', async () => {
    const other = await signIn(s, 'admin')
    const txnId = await paidDeposit()
    const to = { account_no: '987-6543 210', account_name: 'Her Mother', bank_code: 'KTB' }
    const ask = (client: OperatorClient, more: object = {}) =>
      client.post(`/orders/${txnId}/refund`, {
        ...{ reason, amount: '20', ref: 'for her mother', to, code: client.code() },
        ...more,
      })
    expect((await ask(sam, { to: { ...to, bank_code: 'NOBANK' } })).json.code).toBe(
      'unknown_bank_code',
    )
    expect((await ask(sam, { to: { ...to, account_no: '12' } })).status).toBe(422)
    const asked = await ask(sam)
    expect(asked.status, asked.text).toBe(202)
    const { rows: before } = await s.sql('select 1 from orders where refund_of is not null')
    const shown = (await other.get(`/approvals/${asked.json.proposal}`)).json
    expect(shown.before.to).toMatchObject({ accountNo: expect.any(String) })
    expect(shown.after.to).toEqual({
      ...{ accountNo: '9876543210', accountName: 'Her Mother', bankCode: 'KTB' },
    })
    expect((await approved(other, shown)).json.state).toBe('done')
    const { rows } = await s.sql(
      `select account_no, account_name, bank_code, amount from orders where ref_id = $1`,
      ['refund-for her mother'],
    )
    expect(rows).toEqual([
      { account_no: '9876543210', account_name: 'Her Mother', bank_code: 'KTB', amount: '2000' },
    ])
    expect((await s.sql('select 1 from orders where refund_of is not null')).rows).toHaveLength(
      before.length + 1,
    )
    await s.prove()
    // Sent to a third account, it is not what they decided on.
    const send = (accountNo: string) =>
      s.sql('update orders set account_no = $1 where ref_id = $2', [
        accountNo,
        'refund-for her mother',
      ])
    await send('1111111111')
    await expect(s.prove()).rejects.toThrow('refunds to another account')
    await send('9876543210')
    await s.prove()
    // Proposed and approved again, it is the refund that was made.
    const again = (await other.get(`/approvals/${(await ask(sam)).json.proposal}`)).json
    expect((await approved(other, again)).json.state).toBe('done')
    const elsewhere = await ask(sam, { to: { ...to, account_no: '1111111111' } })
    const third = (await other.get(`/approvals/${elsewhere.json.proposal}`)).json
    expect((await approved(other, third)).json).toMatchObject({
      state: 'refused',
      problem: { code: 'ref_id_conflict' },
    })
    expect((await s.sql('select 1 from orders where refund_of is not null')).rows).toHaveLength(
      before.length + 1,
    )
  })

  it('that was proposed before refunds had references is made once, by the proposal’s id', async () => {
    const other = await signIn(s, 'admin')
    const txnId = await paidDeposit()
    const to = { account_no: '9876543210', account_name: 'Her Mother', bank_code: 'KTB' }
    const { json } = await sam.post(`/orders/${txnId}/refund`, {
      ...{ reason, amount: '20', ref: randomUUID(), to, code: sam.code() },
    })
    const { pool } = s.service.desk
    const now = await findProposal(pool, json.proposal)
    if (!now) throw new Error('there is no proposal')
    const { params, body } = JSON.parse(now.input)
    const { ref, ...after } = JSON.parse(now.after ?? '')
    const { proposalId, ...asked } = now
    const earlier = {
      ...asked,
      subject: { kind: now.subjectKind, id: now.subjectId },
      amount: { minor: 2000n, currency: 'THB' },
      input: { params, body: { ...body, ref: undefined } },
      before: JSON.parse(now.before ?? ''),
      after,
    }
    expect([ref, proposalId]).toEqual([body.ref, json.proposal])
    const person = { userId: now.proposedBy, email: now.proposer, ip: null }
    const id = await inTransaction(pool, (tx) => propose(tx, earlier, person, s.clock()))
    const shown = (await other.get(`/approvals/${id}`)).json
    expect((await approved(other, shown)).json).toMatchObject({ state: 'done' })
    const { rows } = await s.sql('select 1 from orders where ref_id = $1', [`refund-${shown.id}`])
    expect(rows).toHaveLength(1)
    await s.prove()
  })

  it('that was interrupted before it was made is refused where the payer has changed since', async () => {
    const other = await signIn(s, 'admin')
    const txnId = await paidDeposit()
    const to = { account_no: '9876543210', account_name: 'Her Mother', bank_code: 'KTB' }
    const { json } = await sam.post(`/orders/${txnId}/refund`, {
      ...{ reason, amount: '20', ref: randomUUID(), to, code: sam.code() },
    })
    const shown = (await other.get(`/approvals/${json.proposal}`)).json
    const orderId = parseTxnId(txnId)?.orderId
    await s.sql(`insert into proposal_runs (proposal_id, n, at) values ($1, 1, $2)`, [
      shown.id,
      new Date(s.clock().getTime() - 120_000),
    ])
    const say = (name: string) =>
      s.sql('update orders set account_name = $1 where order_id = $2', [name, orderId])
    const { rows } = await s.sql('select account_name from orders where order_id = $1', [orderId])
    await say('Somebody Else')
    expect((await approved(other, shown)).json).toMatchObject({
      state: 'refused',
      problem: { code: 'changed_meanwhile' },
    })
    await say(rows[0]?.account_name)
  })

  it('is not freed by any rule', async () => {
    const { version, rules } = (await sam.get('/approval-rules')).json
    const rule = {
      ...{ action: 'refund_elsewhere', app_id: null, currency: null, above: null },
      ...{ needs_two: false, admin_only: false },
    }
    const answer = await sam.put('/approval-rules', {
      ...{ version, rules: [...rules, rule], reason, code: sam.code() },
    })
    expect(answer.json.errors).toMatchObject([{ message: 'always takes two people' }])
  })
})

it('a stolen secret that may do everything ends now by one person, while the next waits for two', async () => {
  const robbed = await s.agent()
  const [owner, stranger] = [await signIn(live, 'agent', robbed), await signIn(live, 'agent', shop)]
  const url = `/agents/${robbed.appId}/keys`
  const asked = await owner.post(url, { overlap_s: 0, reason, code: owner.code() })
  expect(asked.status).toBe(202)
  expect((await robbed.get('/payment/wallet')).status).toBe(200)
  const [{ slot }] = (await owner.get(`/agents/${robbed.appId}`)).json.keys
  expect((await stranger.post(`${url}/${slot}/revoke`, { reason })).status).toBe(404)
  expect((await owner.post(`${url}/${slot}/revoke`, { reason })).json).toEqual({ keys: [] })
  expect((await robbed.get('/payment/wallet')).status).toBe(401)
  expect((await owner.post(`${url}/${slot}/revoke`, { reason })).status).toBe(404)
  const shown = (await ann.get(`/approvals/${asked.json.proposal}`)).json
  expect((await approved(ann, shown)).json.state).toBe('done')
})

it('a provider that is off starts nothing again by one person, not even to drain', async () => {
  const set = (state: string, code?: string) =>
    ann.send('PATCH', '/providers/bank', { state, reason, ...(code && { code }) })
  const stateOf = async () => {
    const { data } = (await ann.get('/providers')).json
    return data.find(({ name }: { name: string }) => name === 'bank').state
  }
  expect((await set('draining')).json).toEqual({ name: 'bank', state: 'draining' })
  expect((await set('off')).json).toEqual({ name: 'bank', state: 'off' })
  expect((await set('draining')).json.code).toBe('code_required')
  expect(await stateOf()).toBe('off')
  const asked = await set('draining', ann.code())
  expect(asked.status, asked.text).toBe(202)
  expect(await stateOf()).toBe('off')
  const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
  expect(shown).toMatchObject({ before: { state: 'off' }, after: { state: 'draining' } })
  expect((await approved(bob, shown)).json.state).toBe('done')
  expect(await stateOf()).toBe('draining')
})

describe('policy', () => {
  it('frees what it frees, above an amount or not, and is changed by two', async () => {
    const { json: now } = await ann.get('/approval-rules')
    expect(now).toMatchObject({
      ...{ by_default: true, rules: [] },
      together: [{ currency: 'THB', most: '1000000' }],
    })
    const rule = {
      action: 'adjust_wallet',
      app_id: null,
      currency: 'THB',
      needs_two: true,
      above: '100',
      admin_only: true,
    }
    const open = { ...rule, action: 'change_policy', needs_two: false, above: null, currency: null }
    const refused = await ann.put('/approval-rules', {
      rules: [open],
      version: now.version,
      reason,
      code: ann.code(),
    })
    expect(refused.json.errors).toMatchObject([{ field: 'rules[0].needs_two' }])
    // In live no rule lets one person believe a slip.
    const slips = await ann.put('/approval-rules', {
      ...{ rules: [{ ...open, action: 'record_payment' }], version: now.version },
      ...{ reason, code: ann.code() },
    })
    expect(slips.json.errors).toMatchObject([{ message: 'always takes two people' }])
    // A rule that no request could match says something that is not so.
    const never = await ann.put('/approval-rules', {
      ...{ rules: [{ ...rule, action: 'change_agent', above: null }], version: now.version },
      ...{ reason, code: ann.code() },
    })
    expect(never.json.errors).toMatchObject([{ field: 'rules[0].currency' }])
    // A tier for each of two amounts, but not two rules for one of them.
    const tiers = [
      { ...rule, admin_only: false },
      { ...rule, above: '200' },
    ]
    const twice = await ann.put('/approval-rules', {
      ...{ rules: [...tiers, rule], version: now.version, reason, code: ann.code() },
    })
    expect(twice.json.errors).toMatchObject([{ message: 'has two rules for the same' }])
    const asked = await ann.put('/approval-rules', {
      rules: tiers,
      version: now.version,
      reason,
      code: ann.code(),
    })
    const shown = (await bob.get(`/approvals/${asked.json.proposal}`)).json
    expect(shown).toMatchObject({ before: { rules: [] }, after: { rules: tiers } })
    expect((await approved(bob, shown)).json.state).toBe('done')
    expect((await adjustment(ann, 100)).status).toBe(200)
    expect((await adjustment(ann, -101)).status).toBe(202)
    const operator = await signIn(live, 'operator')
    expect((await approved(operator, await proposed(ann, 200))).json.state).toBe('done')
    const large = await proposed(ann, 201)
    expect((await approved(operator, large)).json.code).toBe('not_permitted')
    await s.sql('delete from approval_rules')
  })

  it('lets the only admin invite one colleague, and no second one alone', async () => {
    const alone = await startTestService({ env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) } })
    try {
      const first = await signIn(alone, 'admin')
      const invite = () => first.post('/users', { ...newUser(), role: 'admin', code: first.code() })
      const made = await invite()
      expect(made.status).toBe(201)
      const { status, json } = await invite()
      expect(status).toBe(202)
      expect(json.detail).toMatch(/nobody else can approve it yet/)
      const token = made.json.link.split(/[#/]/).at(-1)
      const second = await acceptInvitation(alone, token, made.json.user.email)
      const shown = (await second.get(`/approvals/${json.proposal}`)).json
      expect((await approved(second, shown)).json.state).toBe('done')
    } finally {
      await alone.close()
    }
  })

  it('lets the only admin try again with a second admin whose link ended unused', async () => {
    const alone = await startTestService({ env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) } })
    try {
      const agent = await alone.agent()
      let first = await signIn(alone, 'admin')
      const invite = () => first.post('/users', { ...newUser(), role: 'admin', code: first.code() })
      const dayLater = async () => {
        alone.clock.advance(25 * 3_600_000)
        first = await first.signInAgain()
      }
      // The address was wrong.
      const wrong = await invite()
      await dayLater()
      const right = await invite()
      expect(right.status, right.text).toBe(201)
      const { json: users } = await first.get('/users')
      const disabled = users.data.filter(({ state }: { state: string }) => state === 'disabled')
      expect(disabled).toMatchObject([{ email: wrong.json.user.email }])
      // The link came too late.
      await dayLater()
      const again = await first.post(`/users/${right.json.user.id}/reset`, {
        reason,
        code: first.code(),
      })
      expect(again.status, again.text).toBe(200)
      const second = await acceptInvitation(
        alone,
        again.json.link.split('#').at(-1),
        right.json.user.email,
      )
      const asked = async (client: OperatorClient) => {
        const body = { amount: 5, ref: randomUUID(), reason, code: client.code() }
        const { json } = await client.post(`/wallets/${agent.appId}/adjust`, body)
        expect(json.detail).toContain('One other person can approve it')
        return (await client.get(`/approvals/${json.proposal}`)).json
      }
      expect((await approved(second, await asked(first))).json.state).toBe('done')
      expect((await approved(first, await asked(second))).json.state).toBe('done')
      // Two are there now: nobody is first once more.
      expect((await invite()).status).toBe(202)
      await alone.prove()
    } finally {
      await alone.close()
    }
  })

  it('lets the only admin make no second person but the first colleague and the first admin', async () => {
    const alone = await startTestService({ env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) } })
    try {
      const agent = await alone.agent()
      const first = await signIn(alone, 'admin')
      const invited = async (role: string) => {
        const { json } = await first.post('/users', { ...newUser(), role, code: first.code() })
        return acceptInvitation(alone, json.link.split('#').at(-1), json.user.email)
      }
      const asks = async (client: OperatorClient) => {
        const body = { amount: 5, ref: randomUUID(), reason, code: client.code() }
        const { json } = await client.post(`/wallets/${agent.appId}/adjust`, body)
        return (await client.get(`/approvals/${json.proposal}`)).json
      }
      const [one, two, three] = [
        await invited('operator'),
        await invited('operator'),
        await invited('operator'),
      ]
      expect((await approved(two, await asks(first))).json.code).toBe('same_person')
      expect((await approved(first, await asks(two))).json.code).toBe('same_person')
      expect((await approved(three, await asks(two))).json.code).toBe('same_person')
      expect((await approved(one, await asks(first))).json.state).toBe('done')
      const other = await invited('admin')
      expect((await approved(other, await asks(first))).json.state).toBe('done')
      expect((await approved(two, await asks(other))).json.state).toBe('done')
      await alone.prove()
    } finally {
      await alone.close()
    }
  })
})
