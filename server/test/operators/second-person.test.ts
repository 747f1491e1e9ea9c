import { afterAll, beforeAll, expect, it } from 'vitest'
import { forgetDrafts } from '../../src/payout-files/forget-drafts.ts'
import { adjustWallet } from '../../src/teller/adjust-wallet.ts'
import { camt, dayAt, makeAccount } from '../support/bank-accounts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { payingAccount, withdrawals } from '../support/payout-files.ts'
import { cleanUp, command, commandJson, type Env } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What waits for a second person on a page of its own is in the inbox too, is told of, and does not wait for ever. */

const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example.com', METRICS_TOKEN: 'x'.repeat(32) }
let s: TestService
let env: Env
let ann: OperatorClient
let bob: OperatorClient
let operator: OperatorClient

beforeAll(async () => {
  s = await startTestService({ env: live, outside: { providers: [] } })
  env = {
    ...live,
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'warn',
  }
  ann = await signIn(s, 'admin')
  bob = await signIn(s, 'admin')
  operator = await signIn(s, 'operator')
})
afterAll(async () => {
  await s.prove()
  await cleanUp()
  await s.close()
})

const dayMs = 86_400_000
const reason = 'as agreed in the morning'

interface Other {
  id: string
  kind: string
  may_approve: boolean
  why_not: string | null
  proposed_by: string
}

/** One thing in somebody's inbox, and how much they can decide on. */
async function inbox(who: OperatorClient, id: string) {
  const { json } = await who.get('/approvals')
  const counts = (await who.get('/queue/counts')).json
  expect(counts.approval).toBe(json.to_decide)
  const other: Other | undefined = json.others.find((each: Other) => each.id === id)
  return { other, count: json.to_decide as number }
}

const told = async (words: string) =>
  (
    await s.sql(`select roles from alerts where kind = 'approval_waiting' and words like $1`, [
      words,
    ])
  ).rows

const terms = {
  ...{ bank: 'KBANK', account_no: '123-4-56789-0', account_name: 'Acme Co Ltd', city: null },
  ...{ address: null, qr_kind: 'none', qr_value: null, day_limit: null, file_limit: '0' },
  ...{ feed: 'none', zone: 'Asia/Bangkok', csv_profile: null, encoding: null, own_accounts: [] },
}

async function signInAgain() {
  for (const who of [ann, bob, operator]) who.cookie = (await who.signInAgain()).cookie
}

it('the command line proposes a bank account, which the admin who approves makes and confirms', async () => {
  const create = ['bank-account', 'create', 'by-hand', '--currency', 'THB', '--bank', 'SCB']
    .concat(['--account-no', '5556667778', '--account-name', 'Shop', '--qr', 'none', '--no-route'])
    .concat(['--reason', 'a new bank', '--json'])
  const { proposal } = await commandJson(create, env)
  const path = `/approvals/${proposal}`
  const shown = (await bob.get(path)).json
  expect(shown).toMatchObject({
    ...{ action: 'change_bank_account', reason: 'a new bank', may_approve: true },
    ...{ before: null, after: { account_no: '5556667778', state: 'off' } },
  })
  expect((await operator.get(path)).json.may_approve).toBe(false)
  expect((await bob.get('/bank-accounts/by-hand')).status).toBe(404)
  const approve = (each: { id: string; digest: string }) =>
    bob.post(`/approvals/${each.id}/approve`, { digest: each.digest, code: bob.code() })
  expect((await approve(shown)).json.state).toBe('done')
  expect((await bob.get('/bank-accounts/by-hand')).json).toMatchObject({
    ...{ state: 'off', confirmed_by: bob.email, created_by: 'command line' },
  })

  const set = ['bank-account', 'set', 'by-hand', '--account-name', 'Other', '--json']
  const change = (await commandJson(set, env)).proposal
  const changed = (await bob.get(`/approvals/${change}`)).json
  expect(changed).toMatchObject({
    ...{ before: { account_name: 'Shop' }, after: { account_name: 'Other' } },
  })
  expect((await approve(changed)).json.state).toBe('done')
  expect(await commandJson(['bank-account', 'show', 'by-hand'], env)).toMatchObject({
    account_name: 'Other',
  })
  // Acting alone is an alarm, and can be switched off.
  const alone = [...set, '--break-glass', '--reason', 'the bank calls']
  expect((await command(alone, { ...env, BREAK_GLASS: 'off' })).code).toBe(1)
  expect((await command(alone, env)).code).toBe(0)
  expect((await bob.get('/alarms')).json.data[0].words).toContain('Why: the bank calls')
})

it('a bank account waits for three days, and anew when somebody saves it again', async () => {
  const path = '/bank-accounts/kbank'
  const body = { name: 'kbank', currency: 'THB', ...terms, route: false, reason, code: ann.code() }
  expect((await ann.post('/bank-accounts', body)).status).toBe(201)
  const before = await inbox(bob, 'kbank')
  expect(before.other).toMatchObject({
    ...{ kind: 'bank_account', may_approve: true, proposed_by: ann.email },
  })
  expect((await inbox(ann, 'kbank')).other?.why_not).toContain('another person')
  expect((await inbox(operator, 'kbank')).other?.may_approve).toBe(false)
  expect(await told('%kbank waits for a second person%')).toEqual([{ roles: ['admin'] }])
  s.clock.advance(3 * dayMs + 1)
  await signInAgain()
  const confirm = async () => {
    const { version } = (await bob.get(path)).json
    return bob.post(`${path}/confirm`, { version, reason, code: bob.code() })
  }
  expect((await confirm()).json.code).toBe('proposal_expired')
  const { version } = (await ann.get(path)).json
  const again = { ...terms, version, reason, code: ann.code() }
  expect((await ann.send('PATCH', path, again)).status).toBe(200)
  expect((await confirm()).json.account.confirmed_by).toBe(bob.email)
  const after = await inbox(bob, 'kbank')
  expect([after.other, after.count]).toEqual([undefined, before.count - 1])
})

it('who saves a bank account does not take on what another changed and nobody confirmed', async () => {
  const body = { name: 'scb', currency: 'THB', ...terms, account_no: '5556667001', route: false }
  expect((await ann.post('/bank-accounts', { ...body, reason, code: ann.code() })).status).toBe(201)
  const path = '/bank-accounts/scb'
  const version = async () => (await ann.get(path)).json.version
  const save = async (who: typeof ann, fields: object) => {
    const draft = { ...terms, account_no: '5556667001', ...fields }
    const sent = { ...draft, version: await version(), reason, code: who.code() }
    return (await who.send('PATCH', path, sent)).json
  }
  const confirm = async (who: typeof ann) =>
    (await who.post(`${path}/confirm`, { version: await version(), reason, code: who.code() })).json
  expect((await confirm(bob)).account.confirmed_by).toBe(bob.email)
  await save(ann, { account_no: '5556667002' })
  const other = { account_no: '5556667002', payout_holidays: ['2027-01-01'] }
  expect((await save(bob, { ...other, hold_hours: 30 })).code).toBe('not_permitted')
  expect((await confirm(ann)).code).toBe('not_permitted')
  // What it was, or is to be instead, is bob's, and ann may confirm that.
  expect((await save(bob, {})).account).toMatchObject({ account_no: '5556667001' })
  expect((await confirm(ann)).account.confirmed_by).toBe(ann.email)
})

it("a bank's file that somebody brought is for another person, and for an admin if a command did", async () => {
  const { account } = await makeAccount(s, { match: 'amount' }, { mode: 'live' })
  const lines = [{ amount: '12.00', text: 'TRF' }]
  const content = camt({ account, day: dayAt(s.clock()), lines }).toString('base64')
  const file = { name: 'day.xml', content, code: operator.code() }
  const brought = await operator.post(`/bank-accounts/${account.name}/files`, file)
  expect(brought.status, brought.text).toBe(201)
  const id: string = brought.json.file_id
  expect((await inbox(operator, id)).other?.why_not).toContain('It is yours')
  expect((await inbox(ann, id)).other).toMatchObject({ kind: 'bank_file', may_approve: true })
  expect(await told(`A file of ${account.name}%`)).toEqual([{ roles: ['admin', 'operator'] }])
  const path = `/bank-accounts/${account.name}/files/${id}/confirm`
  expect((await ann.post(path, { reason, code: ann.code() })).status).toBe(200)
  expect((await inbox(ann, id)).other).toBeUndefined()
})

it('a draft of a payout file waits for three days; then its withdrawals wait for the next one', async () => {
  const agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  const { rows } = await s.sql('select agent_id from agents where app_id = $1', [agent.appId])
  const agentId = BigInt(rows[0].agent_id)
  const account = await payingAccount(s)
  await adjustWallet(s.service.desk, agentId, { amountMinor: 100_000n, reason, ref: 'begin' })
  const [txnId] = await withdrawals(s, agent, account, 100)
  const draft = () => operator.post('/payout-files', { account: account.name })
  const made = await draft()
  expect(made.status, made.text).toBe(201)
  const { id } = made.json
  expect((await inbox(operator, id)).other?.why_not).toContain('You made this file')
  expect((await inbox(ann, id)).other).toMatchObject({ kind: 'payout_file', may_approve: true })
  expect(await told(`A payout file of ${account.name}%`)).toEqual([
    { roles: ['admin', 'operator'] },
  ])
  const fail = (error: unknown) => {
    throw error
  }
  await forgetDrafts(s.service.desk, fail)
  expect((await ann.get(`/payout-files/${id}`)).json.state).toBe('draft')
  s.clock.advance(3 * dayMs + 1)
  await signInAgain()
  await forgetDrafts(s.service.desk, fail)
  expect((await ann.get(`/payout-files/${id}`)).json.state).toBe('cancelled')
  expect((await draft()).json.items).toMatchObject([{ txn_id: txnId }])
})

it('nobody is left without a way to hear of their own account, where mail is not set up', async () => {
  const channel = 'webhook'
  const target = 'https://93.184.216.34/alerts'
  const set = { channel, target, code: bob.code() }
  expect((await bob.put('/me/alerts/channels', set)).status).toBe(200)
  const remove = () => bob.post('/me/alerts/channels/remove', { channel, code: bob.code() })
  expect((await remove()).json.code).toBe('invalid_transition')
  const { rows } = await s.sql(`select target from alert_channels where channel = 'webhook'`)
  expect(rows).toEqual([{ target }])
})
