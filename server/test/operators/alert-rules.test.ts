import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { lookAtRule } from '../../src/alert-rules/look-at-rules.ts'
import { makeAlertSenders } from '../../src/alerts/alert-senders.ts'
import { type AlertSenders, deliverAlerts } from '../../src/alerts/deliver-alerts.ts'
import { handOutAlert } from '../../src/alerts/hand-out.ts'
import { gatherHeld } from '../../src/alerts/quiet-hours.ts'
import { raiseAlert } from '../../src/alerts/raise-alert.ts'
import { foldInsights } from '../../src/insights/fold-insights.ts'
import { tellDigests } from '../../src/reports/daily-digest.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Slack and the others are stand-ins on this machine; nothing here was tried with the companies. */
let mail: MailServer
let chats: Receiver
let test: TestService
let admin: OperatorClient
let operator: OperatorClient
let agent: AgentClient
let senders: AlertSenders

const all = ['mail', 'webhook', 'telegram', 'line', 'slack'] as const

beforeAll(async () => {
  mail = await startMailServer()
  chats = await startReceiver()
  const env = { SMTP_URL: mail.url, MAIL_FROM: 'sluice@pay.example', TIME_ZONE: 'UTC' }
  // Without a worker: the test does its work, step by step.
  test = await startTestService({ env: { ...env, ROLE: 'api' } })
  admin = await signIn(test, 'admin')
  operator = await signIn(test, 'operator')
  agent = await test.agent({ name: 'Chao Phraya Books' })
  senders = makeAlertSenders(test.config.alerts, {
    post: async (url, headers, body) => {
      const { status } = await fetch(url, { method: 'POST', headers, body })
      return { error: status === 200 ? null : `answered ${status}` }
    },
    link: () => 'https://pay.example/console',
    now: test.clock,
    version: 'test',
  })
})
afterEach(() => test.prove())
afterAll(async () => {
  await test?.close()
  await mail?.close()
  await chats?.close()
})

const toAdmins = { roles: ['admin'], people: [], channels: [], is_on: true }

const set = (rule: object) =>
  admin.put('/alert-rules', { ...toAdmins, ...rule, code: admin.code() })

/** Looks at every rule, as two processes at once, and tells people of what they found. */
async function look(): Promise<string[]> {
  const { pool } = test.backend
  test.clock.advance(300_000)
  const once = async () => {
    while ((await lookAtRule(pool, test.clock)) === 'more') {}
  }
  await Promise.all([once(), once()])
  return tell()
}

/** Hands out and sends what is due, without what people hear of their own accounts; who got a mail, and its first line. */
async function tell(): Promise<string[]> {
  const { pool, secretKeys } = test.backend
  const digests = () => tellDigests(pool, test.clock(), never)
  await Promise.all([digests(), digests()])
  test.clock.advance(6_000)
  await test.sql(
    `delete from alerts where handed_out_at is null
     and kind in ('sign_in_new_place', 'account_changed', 'authority_changed', 'new_secret')`,
  )
  mail.mails.length = 0
  chats.received.length = 0
  while (await handOutAlert(pool, all, test.clock())) {}
  const gather = async () => {
    while ((await gatherHeld(pool, test.clock)) === 'more') {}
  }
  await Promise.all([gather(), gather()])
  while ((await deliverAlerts(pool, secretKeys, senders, test.clock, () => {})) === 'more') {}
  return mail.mails
    .map(({ to, data }) => {
      const text = (data.split('\r\n\r\n')[1] ?? '').replaceAll('=\r\n', '').split('\r\n')[0]
      return `${to.join()} ${text}`.replaceAll('=20', ' ').replaceAll('=3D', '=')
    })
    .sort()
}

function never(error: unknown): void {
  throw error
}

async function removeRules(): Promise<void> {
  await again()
  for (const { name } of await rules()) {
    await admin.post('/alert-rules/remove', { name, code: admin.code() })
  }
}

/** Signs in anew, where so much time has passed that sessions have ended. */
async function again(): Promise<void> {
  for (const each of [admin, operator]) each.cookie = (await each.signInAgain()).cookie
}

/** Moves the clock on to a time of day in Bangkok. */
async function to(time: string): Promise<void> {
  const day = 86_400_000
  const wanted = Date.parse(`1970-01-02T${time}:00+07:00`) % day
  const now = test.clock().getTime() % day
  test.clock.advance((wanted - now + day) % day)
}

const rules = async () => (await admin.get('/alert-rules')).json.data

it('a rule fires once when it turns bad and once when it is over, to whom it names', async () => {
  await agent.fund(1000)
  const low = { name: 'Low wallet', kind: 'balance_below', threshold: '500.00' }
  expect((await set({ ...low, app_id: agent.appId, people: [operator.email] })).status).toBe(200)
  expect(await look()).toEqual([])
  await agent.withdraw({ amount: 600 })
  const said = 'Low wallet: Chao Phraya Books has 400.00 THB available, below 500.00 THB.'
  const both = [admin.email, operator.email].sort()
  expect(await look()).toEqual(both.map((to) => `${to} ${said}`))
  // It is still so, and nobody is told again.
  expect(await look()).toEqual([])
  expect((await rules())[0]).toMatchObject({
    ...{ name: 'Low wallet', threshold: '500', currency: 'THB', is_on: true },
    people: [operator.email],
    wrong: [{ words: 'Chao Phraya Books has 400.00 THB available, below 500.00 THB.' }],
  })
  await agent.fund(1000)
  expect(await look()).toEqual(
    both.map((to) => `${to} Low wallet is over. It was: ${said.slice(12)}`),
  )
  expect((await rules())[0].wrong).toEqual([])
  // Off is off.
  await set({ ...low, threshold: '999999.00', app_id: agent.appId, is_on: false })
  expect(await look()).toEqual([])
  const gone = await admin.post('/alert-rules/remove', { name: 'Low wallet', code: admin.code() })
  expect(gone.json.data).toEqual([])
})

it('each that a rule is about is told in its own words, to whom the rule names then', async () => {
  const [one, two, three] = await Promise.all(
    ['One', 'Two', 'Three'].map(async (name) => {
      const each = await test.agent({ name })
      await each.fund(1000)
      return each
    }),
  )
  if (!one || !two || !three) throw new Error('there are three')
  const low = { name: 'Low', kind: 'balance_below', threshold: '500', currency: 'THB' }
  const said = (name: string) => `Low: ${name} has 400.00 THB available, below 500.00 THB.`
  await set(low)
  expect(await look()).toEqual([])
  // One after another, sooner than the same would be told again.
  for (const [each, name] of [
    [one, 'One'],
    [two, 'Two'],
    [three, 'Three'],
  ] as const) {
    await each.withdraw({ amount: 600 })
    expect(await look()).toEqual([`${admin.email} ${said(name)}`])
  }
  // It is bad again before it is told again; meanwhile the rule is about another, for somebody else.
  await set({ ...low, app_id: one.appId })
  expect(await look()).toHaveLength(1)
  await one.fund(1000)
  expect(await look()).toHaveLength(1)
  await one.withdraw({ amount: 1000 })
  expect(await look()).toEqual([])
  await set({ ...low, app_id: two.appId, roles: [], people: [operator.email] })
  expect(await look()).toEqual(
    [`${admin.email} ${said('One')}`, `${operator.email} ${said('Two')}`].sort(),
  )
  await removeRules()
})

it('every kind is found, said in words, and over again', async () => {
  const { agentId } = agent
  const { json } = await agent.withdraw({ amount: 10 })
  const orderId = String(json.txn_id).split('-')[1]
  await set({ name: 'Unknown', kind: 'payout_unknown', threshold: '30' })
  await set({ name: 'Probing', kind: 'lane_probing' })
  await set({ name: 'Refused', kind: 'callbacks_failing', threshold: '1' })
  await set({ name: 'Proof', kind: 'proof_red' })
  await set({ name: 'Breaks', kind: 'breaks', threshold: '1' })
  await set({
    name: 'Float',
    kind: 'balance_below',
    threshold: '5',
    currency: 'EUR',
    provider: 'scb',
  })
  expect(await look()).toEqual([`${admin.email} Float: 0.00 EUR at scb, below 5.00 EUR.`])
  await test.sql(
    `insert into payouts (agent_id, order_id, attempt, provider, reference, token, state, handed_at, asks,
       ask_at) values ($1, $2::uuid, 1, 'bank', 'r', $2::uuid, 'unknown', $3, 1, $3)`,
    [agentId, orderId, test.clock()],
  )
  await test.sql(
    `insert into callback_lanes (agent_id, paused, width, failed_seqs, probe_at, probe_every_s, turn)
     values ($1, false, 1, '{}', now(), 60, 1)
     on conflict (agent_id) do update set probe_at = excluded.probe_at, probe_every_s = 60`,
    [agentId],
  )
  await test.sql(
    `insert into proofs (agent_id, proved_seq, again_seq, checked_at, finding) values ($1, 0, 0, now(), 'x')
     on conflict (agent_id) do update set finding = 'x'`,
    [agentId],
  )
  // The payout has not been unknown for long enough.
  expect((await look()).map((text) => text.split(' ')[1])).toEqual(['Probing:', 'Proof:'])
  test.clock.advance(30 * 60_000)
  expect(await look()).toEqual([
    `${admin.email} Unknown: One payout at bank without a known outcome for more than 30 minutes.`,
  ])
  await test.sql('delete from payouts where agent_id = $1', [agentId])
  await test.sql('update callback_lanes set probe_at = null, probe_every_s = null')
  await test.sql('update proofs set finding = null')
  expect((await look()).map((text) => text.split(' ').slice(1, 4).join(' '))).toEqual([
    'Probing is over.',
    'Proof is over.',
    'Unknown is over.',
  ])
  await removeRules()
})

it('success is of orders that ended in a window, and silence counts by day', async () => {
  const shop = await test.agent({ name: 'Silent shop' })
  const few = { window_minutes: 60, min_orders: 3, order_kind: 'deposit', app_id: shop.appId }
  const success = { name: 'Success', kind: 'success_below', threshold: '60', ...few }
  const silence = {
    ...{ name: 'Silence', kind: 'nothing_for', threshold: '30', app_id: shop.appId },
    ...{ hours_from: '08:00', hours_to: '20:00', zone: 'Asia/Bangkok' },
  }
  // 07:50 in Bangkok: before the day begins.
  const now = test.clock().getTime()
  const day = 86_400_000
  test.clock.advance(Math.ceil(now / day) * day + 50 * 60_000 - now)
  await again()
  await set(success)
  await set(silence)
  const end = async (how: 'PAID' | 'FAILED') => {
    const { json } = await shop.deposit()
    await shop.trigger(json.txn_id, how)
  }
  await end('PAID')
  await end('FAILED')
  expect(await look()).toEqual([])
  await end('FAILED')
  // One of three; and an order came a moment ago.
  expect(await look()).toEqual([
    `${admin.email} Success: 33.3 % of the last 60 minutes: 1 of 3 orders that ended were paid.`,
  ])
  test.clock.advance(60 * 60_000)
  // Of too few it says nothing, not that all is well. Silence it says.
  expect(await look()).toEqual([`${admin.email} Silence: No new order for 30 minutes.`])
  // By night nothing is expected, and the night ends no silence.
  test.clock.advance(11 * 3_600_000)
  expect(await look()).toEqual([])
  await again()
  for (let n = 0; n < 3; n++) await end('PAID')
  expect((await look()).map((text) => text.split(' ').slice(1, 4).join(' '))).toEqual([
    'Success is over.',
  ])
  const { pool } = test.backend
  while ((await foldInsights(pool, { timeZone: 'UTC', now: test.clock() })) === 'more') {}
  const tried = async (rule: object) =>
    (await admin.post('/alert-rules/try', { ...toAdmins, ...rule })).json
  expect(await tried(success)).toEqual({ now: [], fired: 1 })
  expect((await tried(silence)).fired).toBeGreaterThan(0)
  expect((await tried({ ...success, name: 'Other', min_orders: 1000 })).fired).toBe(0)
  expect(await tried({ name: 'Proof', kind: 'proof_red' })).toEqual({ now: [], fired: null })
  await removeRules()
})

it('a rule names channels, Slack too; its address is a secret; what was sent is shown and sent again', async () => {
  const channel = (target: string) =>
    admin.put('/me/alerts/channels', { channel: 'slack', target, code: admin.code() })
  expect((await channel('http://169.254.169.254/')).json.errors).toMatchObject([
    { field: 'target' },
  ])
  expect((await channel(`${chats.url}/services/T0/B0/secret`)).json).toEqual({ secret: null })
  const mine = await admin.get('/me/alerts')
  expect(mine.text).not.toContain('T0/B0')
  expect(mine.json.channels.at(-1)).toEqual({
    ...{ channel: 'slack', available: true, target: `${chats.url}/…` },
  })
  const stored = await test.sql(`select target from alert_channels where channel = 'slack'`)
  expect(stored.rows[0].target).not.toContain('services')
  await set({
    ...{ name: 'Below <b> & more', kind: 'balance_below', threshold: '9', currency: 'EUR' },
    ...{ provider: 'scb', roles: ['admin', 'operator'], channels: ['slack'] },
  })
  // Who has no Slack is told by mail rather than not at all.
  expect((await look()).map((text) => text.split(' ')[0])).toEqual([operator.email])
  expect(chats.received).toMatchObject([
    {
      path: '/services/T0/B0/secret',
      json: {
        text: expect.stringContaining('Below &lt;b&gt; &amp; more: 0.00 EUR'),
        mrkdwn: false,
      },
    },
  ])
  const { data } = (await admin.get('/alerts-sent?limit=2')).json
  expect(data).toMatchObject([{ state: 'sent' }, { state: 'sent' }])
  expect(data.map((each: { channel: string }) => each.channel).sort()).toEqual(['mail', 'slack'])
  const { json } = await admin.get('/alerts-sent?limit=1')
  const second = (await admin.get(`/alerts-sent?limit=1&cursor=${json.next}`)).json.data
  expect([...json.data, ...second]).toEqual(data)
  const slack = data.find((each: { channel: string }) => each.channel === 'slack')
  const { alert_id, user_id } = slack
  const again = () => admin.post('/alerts-sent/resend', { alert_id, user_id, channel: 'slack' })
  expect((await again()).status).toBe(200)
  // It is on its way.
  expect((await again()).json.code).toBe('not_found')
  expect(await look()).toEqual([])
  expect(chats.received).toHaveLength(1)
  const { rows } = await test.sql(
    `select action from audit_log where action in ('change_alert_rules', 'resend_alert') order by at desc limit 2`,
  )
  expect(rows).toEqual([{ action: 'resend_alert' }, { action: 'change_alert_rules' }])
})

it('quiet hours hold what can wait, and tell it afterwards in one message', async () => {
  const { pool } = test.backend
  await removeRules()
  const times = { zone: 'Asia/Bangkok', quiet_from: '22:00', quiet_to: '07:00', digest_at: null }
  const put = (body: object) => operator.put('/me/alerts/times', { ...body, code: operator.code() })
  expect((await put({ ...times, quiet_to: null })).json.errors).toMatchObject([
    { field: 'quiet_to' },
  ])
  expect((await put({ ...times, zone: 'Mars' })).json.errors).toMatchObject([{ field: 'zone' }])
  expect((await operator.put('/me/alerts/times', times)).json.code).toBe('code_required')
  expect((await put(times)).json.times).toEqual(times)
  const raise = (kind: 'payout_unknown' | 'reconcile_break' | 'proof_red') =>
    raiseAlert(pool, {
      ...{ kind, subject: kind, words: `About ${kind}.`, to: { roles: ['admin', 'operator'] } },
      at: test.clock(),
    })
  await to('23:30')
  await again()
  await set({ name: 'Red', kind: 'proof_red', roles: [], people: [operator.email] })
  await test.sql(`update proofs set finding = 'x' where agent_id = $1`, [agent.agentId])
  // A rule about the proof cannot wait either.
  expect((await look()).map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
    `${operator.email} Red:`,
  ])
  await test.sql('update proofs set finding = null')
  await removeRules()
  await raise('payout_unknown')
  await raise('proof_red')
  // Who has no quiet hours hears of both; who has them, of what cannot wait.
  expect(await tell()).toEqual([
    `${admin.email} About payout_unknown.`,
    `${admin.email} About proof_red.`,
    `${operator.email} About proof_red.`,
  ])
  await to('02:00')
  await raise('reconcile_break')
  expect(await tell()).toEqual([`${admin.email} About reconcile_break.`])
  await again()
  const held = (await admin.get('/alerts-sent?state=held')).json.data
  expect(held).toMatchObject([{ email: operator.email }, { email: operator.email }])
  await to('06:50')
  expect(await tell()).toEqual([])
  await to('07:00')
  expect(await tell()).toEqual([`${operator.email} 2 alerts came in your quiet hours.`])
  expect(mail.mails[0]?.data).toContain('Payout without a known outcome: About payout_unknown.')
  expect(mail.mails[0]?.data).toContain('Break in a reconciliation: About reconcile_break.')
  await again()
  const { latest } = (await operator.get('/me/alerts')).json
  const together = latest.filter(({ state }: { state: string }) => state === 'gathered')
  expect(together.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
    ...['payout_unknown', 'reconcile_break'],
  ])
})

it('a digest tells of the day before, once, at an hour in the zone of the person', async () => {
  const shop = await test.agent({ name: 'Digest shop' })
  const person = await signIn(test, 'agent', shop)
  await to('12:00')
  await again()
  const { json } = await shop.deposit({ amount: 1250 })
  await shop.trigger(json.txn_id, 'PAID')
  const lost = await shop.deposit()
  await shop.trigger(lost.json.txn_id, 'FAILED')
  const times = { zone: 'Asia/Bangkok', quiet_from: null, quiet_to: null, digest_at: '08:00' }
  person.cookie = (await person.signInAgain()).cookie
  for (const each of [operator, person]) {
    const { status } = await each.put('/me/alerts/times', { ...times, code: each.code() })
    expect(status).toBe(200)
  }
  // Not for the day that was over before it was asked for.
  expect(await tell()).toEqual([])
  await to('07:59')
  expect(await tell()).toEqual([])
  await to('08:00')
  const told = await tell()
  expect(told.map((text) => text.split(' ')[0])).toEqual([person.email, operator.email].sort())
  const textTo = (email: string) =>
    mail.mails.find((each) => each.to.includes(email))?.data.replaceAll('=\r\n', '') ?? ''
  const own = textTo(person.email)
  expect(own).toContain('THB: deposits 1 paid, 1,250.00; withdrawals 0 paid, 0.00; fees 0.00')
  expect(own).toContain('Success of deposits: 50 % (1 of 2 that ended)')
  expect(own).toContain('Callbacks: ')
  expect(own).not.toContain('Waiting for a person')
  expect(textTo(operator.email)).toContain('Waiting for a person: ')
  expect(textTo(operator.email)).toContain('Breaks: none')
  expect(await tell()).toEqual([])

  // Another hour, or none for a moment, tells no day again; one that is due is told whatever is saved before.
  await again()
  person.cookie = (await person.signInAgain()).cookie
  const hours = async (who: OperatorClient, changes: object) =>
    expect(
      (await who.put('/me/alerts/times', { ...times, ...changes, code: who.code() })).status,
    ).toBe(200)
  await hours(operator, { digest_at: '18:00' })
  await hours(person, { digest_at: null })
  await hours(person, { digest_at: '18:00' })
  await to('18:00')
  expect(await tell()).toEqual([])
  await to('18:00')
  await again()
  await hours(operator, { quiet_from: '22:00', quiet_to: '07:00', digest_at: '18:00' })
  // Somebody whose digest cannot be made keeps nobody from theirs.
  const setZone = (zone: string) =>
    test.sql(
      `update alert_times set zone = $2 where user_id = (select user_id from users where email = $1)`,
      [person.email, zone],
    )
  await setZone('Mars')
  const faults: unknown[] = []
  await tellDigests(test.backend.pool, test.clock(), (fault) => faults.push(fault))
  expect(faults).toHaveLength(1)
  const { rows: raised } = await test.sql(
    `select email from alerts join users using (user_id) where kind = 'digest' and handed_out_at is null`,
  )
  expect(raised).toEqual([{ email: operator.email }])
  await setZone(times.zone)
  expect((await tell()).map((text) => text.split(' ')[0])).toEqual(
    [person.email, operator.email].sort(),
  )
})

it("an agent's users have rules of their own, which are about nobody else and tell nobody else", async () => {
  await removeRules()
  const shops = await Promise.all(['Mine', 'Theirs'].map((name) => test.agent({ name })))
  const [mine, theirs] = shops
  if (!mine || !theirs) throw new Error('there are two')
  for (const shop of shops) await shop.fund(100)
  const [me, colleague, other] = await Promise.all([
    signIn(test, 'agent', mine),
    signIn(test, 'agent', mine),
    signIn(test, 'agent', theirs),
  ])
  const put = (who: OperatorClient, rule: object) =>
    who.put('/alert-rules', {
      ...{ name: 'Low', kind: 'balance_below', threshold: '500', is_on: true },
      ...{ roles: ['agent'], people: [], channels: [], code: who.code(), ...rule },
    })
  // The same name is another rule with each of them; but none is new by the name of an operator's.
  expect((await put(me, {})).json.data).toMatchObject([
    { name: 'Low', app_id: mine.appId, threshold: '500', currency: 'THB', updated_by: me.email },
  ])
  await set({ name: 'Low', kind: 'balance_below', threshold: '1', app_id: mine.appId })
  expect((await put(other, { roles: [], people: [other.email] })).json.errors).toEqual([
    { field: 'name', message: 'is taken: choose another one' },
  ])
  expect((await put(other, { name: 'Ours', people: [other.email], roles: [] })).status).toBe(200)
  const said = 'has 100.00 THB available, below 500.00 THB.'
  expect(await look()).toEqual(
    [
      ...[me, colleague].map(({ email }) => `${email} Low: Mine ${said}`),
      `${other.email} Ours: Theirs ${said}`,
    ].sort(),
  )
  const listed = async (who: OperatorClient) => (await who.get('/alert-rules')).json.data
  expect(await listed(colleague)).toMatchObject([
    { wrong: [{ subject: mine.appId, words: `Mine ${said}` }] },
  ])
  expect(await rules()).toMatchObject([{ threshold: '1', wrong: [] }])
  // What they ask for reaches nobody else, and tells nothing of anybody else.
  const refused = async (rule: object) =>
    (await put(me, rule)).json.errors.map(({ field }: { field: string }) => field)
  expect(await refused({ app_id: theirs.appId })).toEqual(['app_id'])
  expect(await refused({ roles: ['agent', 'admin'] })).toEqual(['roles'])
  for (const { email } of [other, admin])
    expect(await refused({ people: [email] })).toEqual(['people'])
  expect(await refused({ kind: 'payout_unknown', threshold: '5' })).toEqual(['kind'])
  const success = { kind: 'success_below', threshold: '50', window_minutes: 60, min_orders: 1 }
  expect(await refused({ ...success, provider: 'bank' })).toEqual(['provider'])
  expect(await refused({ ...success, window_minutes: 1440 })).toEqual(['window_minutes'])
  for (let n = 2; n <= 10; n++) expect((await put(me, { name: `Low ${n}` })).status).toBe(200)
  expect(await refused({ name: 'Low 11' })).toEqual(['name'])
  expect((await put(me, { threshold: '20' })).status).toBe(200)
  // Whoever removes one removes their own.
  const remove = (who: OperatorClient, name: string) =>
    who.post('/alert-rules/remove', { name, code: who.code() })
  expect((await remove(other, 'Low 2')).json.code).toBe('not_found')
  expect((await remove(me, 'Low')).status).toBe(200)
  expect((await listed(me)).length).toBe(9)
  expect((await listed(other)).length).toBe(1)
  expect(await rules()).toHaveLength(1)
  const { json } = await me.get(`/agents/${mine.appId}/audit?limit=1`)
  expect(json.data).toMatchObject([{ action: 'change_alert_rules', by: { email: me.email } }])
})

it('what cannot be a rule is refused, field by field', async () => {
  await again()
  const refused = async (rule: object) =>
    (await set(rule)).json.errors.map(({ field }: { field: string }) => field)
  const base = { name: 'x', kind: 'payout_unknown', threshold: '30' }
  expect(await refused({ ...base, threshold: '0' })).toEqual(['threshold'])
  expect(await refused({ ...base, window_minutes: 60 })).toEqual(['window_minutes'])
  expect(await refused({ ...base, roles: [] })).toEqual(['roles'])
  expect(await refused({ ...base, roles: ['agent'] })).toEqual(['roles'])
  expect(await refused({ ...base, people: ['nobody@pay.example'] })).toEqual(['people'])
  expect(await refused({ ...base, app_id: 'nobody' })).toEqual(['app_id'])
  expect(await refused({ name: 'x', kind: 'success_below', threshold: '50' })).toEqual([
    ...['window_minutes', 'min_orders'],
  ])
  const silence = { name: 'x', kind: 'nothing_for', threshold: '30', hours_from: '08:00' }
  expect(await refused({ ...silence, hours_to: '08:00', zone: 'Mars' })).toEqual([
    ...['hours_to', 'zone'],
  ])
  const person = await signIn(test, 'agent', await test.agent())
  expect(await refused({ ...base, people: [person.email] })).toEqual(['people'])
  expect((await person.get('/alert-rules')).json.data).toEqual([])
  expect((await person.get('/alerts-sent')).status).toBe(404)
  expect((await operator.put('/alert-rules', { ...toAdmins, ...base })).status).toBe(403)
})
