import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeAlertSenders } from '../../src/alerts/alert-senders.ts'
import { type AlertSenders, deliverAlerts } from '../../src/alerts/deliver-alerts.ts'
import { forgetAlerts, handOutAlert } from '../../src/alerts/hand-out.ts'
import { keepWatch } from '../../src/alerts/keep-watch.ts'
import { raiseAlert } from '../../src/alerts/raise-alert.ts'
import { stuckLanes } from '../../src/callbacks/stuck-lanes.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { unknownPayouts } from '../../src/payouts/unknown-payouts.ts'
import { redBooks } from '../../src/proof/red-books.ts'
import { redDays } from '../../src/reconcile/red-days.ts'
import { makeAccount } from '../support/bank-accounts.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Telegram and LINE are stand-ins on this machine; nothing here was tried with the companies. */
let mail: MailServer
let chats: Receiver
let env: Record<string, string>
let test: TestService
let admin: OperatorClient
let agent: AgentClient
let person: OperatorClient
let senders: AlertSenders
const givenUp: string[] = []

const lineUser = `U${'a'.repeat(32)}`

beforeAll(async () => {
  mail = await startMailServer()
  chats = await startReceiver()
  env = {
    SMTP_URL: mail.url,
    MAIL_FROM: 'sluice@pay.example',
    TELEGRAM_BOT_TOKEN: '123:bot-token',
    TELEGRAM_URL: `${chats.url}/telegram`,
    LINE_CHANNEL_TOKEN: 'line-token',
    LINE_URL: `${chats.url}/line/`,
  }
  // Without a worker: the test does its work, step by step.
  test = await startTestService({ env: { ...env, ROLE: 'api' } })
  admin = await signIn(test, 'admin')
  agent = await test.agent({ name: 'Chao Phraya Books' })
  person = await signIn(test, 'agent', agent)
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
beforeEach(async () => {
  // What came before is told before.
  await tell()
  mail.mails.length = 0
  chats.received.length = 0
  test.clock.advance(16 * 60_000)
  for (const each of [admin, person]) each.cookie = (await each.signInAgain()).cookie
  await quiet()
})
afterEach(() => test.prove())
afterAll(async () => {
  await test.close()
  await mail.close()
  await chats.close()
})

/** Forgets what users who come and go in these tests would be told of. */
async function quiet(): Promise<void> {
  await test.sql(`delete from alerts where handed_out_at is null
    and kind in ('sign_in_new_place', 'account_changed', 'authority_changed')`)
}

const all = ['mail', 'webhook', 'telegram', 'line'] as const

/** Hands out and delivers what is due, after what happens at once has gathered. */
async function tell(): Promise<void> {
  test.clock.advance(6_000)
  while (await handOutAlert(test.backend.pool, all, test.clock())) {}
  await send()
}

async function send(by = senders): Promise<void> {
  const { pool, secretKeys } = test.backend
  while (
    (await deliverAlerts(pool, secretKeys, by, test.clock, (said) => givenUp.push(said))) === 'more'
  ) {}
}

/** Who got a mail, and the first line of its text. */
function mailed(): string[][] {
  return mail.mails
    .map(({ to, data }) => [
      ...to,
      (data.split('\r\n\r\n')[1] ?? '').replaceAll('=\r\n', '').split('\r\n')[0] ?? '',
    ])
    .sort()
}

describe('what happens', () => {
  it('is told to whom it concerns: a new secret, new addresses, a new account to be paid to', async () => {
    const other = await signIn(test, 'agent', await test.agent())
    await tell()
    mail.mails.length = 0
    test.clock.advance(16 * 60_000)
    await person.post(`/agents/${agent.appId}/keys`, {
      overlap_s: 0,
      reason: 'lost',
      code: person.code(),
    })
    const { json } = await admin.get(`/agents/${agent.appId}`)
    await admin.patch(`/agents/${agent.appId}`, {
      updated_at: json.updated_at,
      deposit_callback: 'http://127.0.0.1:9/new',
      settle_to: 'SCB:1234567890:Chao Phraya Books',
      reason: 'as agreed',
      code: admin.code(),
    })
    await tell()
    const words = [
      'A new secret of Chao Phraya Books was made.',
      'The addresses that callbacks of Chao Phraya Books are sent to were changed.',
      'The bank account that the balance of Chao Phraya Books is paid out to was changed.',
    ]
    const expected = [admin.email, person.email].flatMap((to) => words.map((text) => [to, text]))
    expect(mailed()).toEqual(expected.sort())
    for (const { data } of mail.mails) {
      for (const secret of ['1234567890', '127.0.0.1:9', 'sk_test', other.email]) {
        expect(data).not.toContain(secret)
      }
      expect(data).toContain('Content-Type: text/plain')
    }
  })

  it('is told of one’s own sign-ins from a browser or an address that are new', async () => {
    const again = await person.signInAgain()
    await tell()
    expect(mailed()).toMatchObject([[person.email, expect.stringContaining('Somebody signed in')]])
    mail.mails.length = 0
    // The browser that signed in before, at the same address, is no news.
    const { email, password } = person
    const code = again.code()
    expect((await again.post('/sign-in', { email, password, code })).status).toBe(200)
    test.clock.advance(16 * 60_000)
    await tell()
    expect(mailed()).toEqual([])
  })

  it('is told of bank accounts to admins, with what was changed and no number', async () => {
    const { account } = await makeAccount(test, {}, { isOff: true })
    await tell()
    expect(mailed()).toEqual([[admin.email, `The bank account ${account.name} was added.`]])
    expect(mail.mails[0]?.data).not.toContain(account.accountNo)
  })

  it('is told of an account to its owner, reset and locked out though they are, and of authority to admins', async () => {
    const moved = await signIn(test, 'operator')
    await tell()
    expect(mailed()).toEqual(
      [
        [admin.email, `${moved.email} was invited as operator, by test.`],
        [moved.email, expect.stringContaining('were chosen for your account')],
      ].sort(),
    )
    const changes: [
      what: string,
      work: () => Promise<unknown>,
      owner: RegExp,
      admins: RegExp | null,
    ][] = [
      ['password', () => newPassword(moved), /password was changed/, null],
      [
        'guesses',
        () => guesses(moved),
        /knows the password of your account/,
        /knows the password of operator/,
      ],
      ['role', () => ofUser(moved, { role: 'viewer' }), /is viewer now/, /is viewer now/],
      ['lock', () => ofUser(moved, { disabled: true }), /was locked out/, /was locked out/],
      ['unlock', () => ofUser(moved, { disabled: false }), /is viewer now/, /is viewer now/],
      ['reset', () => reset(moved), /were reset/, /was reset/],
    ]
    for (const [what, work, owner, admins] of changes) {
      test.clock.advance(16 * 60_000)
      admin.cookie = (await admin.signInAgain()).cookie
      await quiet()
      mail.mails.length = 0
      await work()
      await test.sql(
        `delete from alerts where kind = 'sign_in_new_place' and handed_out_at is null`,
      )
      await tell()
      const expected = [[moved.email, expect.stringMatching(owner)]]
      if (admins) expected.push([admin.email, expect.stringMatching(admins)])
      expect(mailed(), what).toEqual(expected.sort())
    }
    await quiet()
    mail.mails.length = 0
    const { json } = await admin.get('/approval-rules')
    const rules = { rules: [], version: json.version, reason: 'as agreed', code: admin.code() }
    expect((await admin.put('/approval-rules', rules)).status).toBe(200)
    await tell()
    expect(mailed()).toMatchObject([[admin.email, expect.stringContaining('were changed by')]])
  })

  async function newPassword(client: OperatorClient) {
    const again = await client.signInAgain()
    const password = 'seven other words put together'
    const body = { current_password: client.password, password, code: again.code() }
    expect((await again.post('/me/password', body)).status).toBe(200)
  }
  async function guesses({ email }: OperatorClient) {
    const password = 'seven other words put together'
    for (let n = 0; n < 10; n++) {
      test.clock.advance(120_000)
      await admin.post('/sign-in', { email, password, code: '000000' })
    }
    admin.cookie = (await admin.signInAgain()).cookie
  }
  const idOf = async ({ email }: OperatorClient) =>
    (await admin.get('/users')).json.data.find((each: { email: string }) => each.email === email).id
  const ofUser = async (client: OperatorClient, change: object) =>
    admin.patch(`/users/${await idOf(client)}`, {
      ...{ ...change, reason: 'as agreed', code: admin.code() },
    })
  const reset = async (client: OperatorClient) =>
    admin.post(`/users/${await idOf(client)}/reset`, { reason: 'a lost phone', code: admin.code() })

  it('is not told if it did not happen', async () => {
    const { pool } = test.backend
    const to = { roles: ['admin'] }
    const alert = { kind: 'new_secret', subject: 'x', words: 'x', to, at: test.clock() } as const
    await expect(
      inTransaction(pool, async (tx) => {
        await raiseAlert(tx, alert)
        throw new Error('after all not')
      }),
    ).rejects.toThrow('after all not')
    await tell()
    expect(mailed()).toEqual([])
  })
})

describe('a storm', () => {
  it('is one alert with a count, and another one a quarter of an hour later', async () => {
    const { pool } = test.backend
    const raise = () =>
      raiseAlert(pool, {
        ...{ kind: 'payout_unknown', subject: 'bank', words: 'It is not known.' },
        ...{ to: { roles: ['admin'] }, at: test.clock() },
      })
    await Promise.all(Array.from({ length: 20 }, raise))
    await tell()
    expect(mail.mails).toHaveLength(1)
    expect(mail.mails[0]?.data).toContain('20 times')
    for (let n = 0; n < 5; n++) await raise()
    await tell()
    expect(mail.mails).toHaveLength(1)
    test.clock.advance(15 * 60_000)
    await tell()
    expect(mail.mails[1]?.data).toContain('5 times')
  })
})

describe('channels', () => {
  it('are set with a code, get what is chosen, and always what concerns security', async () => {
    const set = (channel: string, target: string, code: string | undefined = person.code()) =>
      person.put('/me/alerts/channels', { channel, target, code })
    expect(
      (await person.put('/me/alerts/channels', { channel: 'line', target: lineUser })).json.code,
    ).toBe('code_required')
    expect((await set('line', 'somebody')).json.errors).toMatchObject([{ field: 'target' }])
    expect((await set('telegram', 'x/../y')).json.errors).toMatchObject([{ field: 'target' }])
    expect((await set('webhook', 'http://169.254.169.254/')).json.errors).toMatchObject([
      { field: 'target' },
    ])
    expect((await set('line', lineUser)).json).toEqual({ secret: null })
    expect((await set('telegram', '-1001')).status).toBe(200)
    const { secret } = (await set('webhook', `${chats.url}/hook?key=1`)).json
    expect(secret).toMatch(/^whsec_/)
    const { json, text } = await person.get('/me/alerts')
    expect(text).not.toContain(secret)
    expect(json.kinds.map(({ kind }: { kind: string }) => kind)).not.toContain('proof_red')
    const choose = (kind: string, channels: string[]) =>
      person.put('/me/alerts/choices', { kind, channels, code: person.code() })
    expect((await choose('new_secret', [])).status).toBe(422)
    expect((await choose('callbacks_failing', ['telegram'])).status).toBe(200)
    expect((await person.post('/me/alerts/test')).status).toBe(200)
    await quiet()
    await tell()
    expect(mailed()).toEqual([[person.email, 'This is a test: alerts reach you here.']])
    const byPath = (path: string) => chats.received.find((each) => each.path.startsWith(path))
    expect(byPath('/telegram')).toMatchObject({
      path: '/telegram/bot123:bot-token/sendMessage',
      json: { chat_id: '-1001', text: expect.stringContaining('This is a test') },
    })
    expect(byPath('/telegram')?.json.parse_mode).toBeUndefined()
    expect(byPath('/line')).toMatchObject({
      path: '/line/v2/bot/message/push',
      headers: { authorization: 'Bearer line-token' },
      json: { to: lineUser, messages: [{ type: 'text' }] },
    })
    const hook = byPath('/hook')
    const [, t = '', v1] = /^t=(\d+),v1=(\w+)$/.exec(String(hook?.headers['x-signature'])) ?? []
    expect(createHmac('sha256', secret).update(`${t}.${hook?.body}`).digest('hex')).toBe(v1)
    expect(hook?.json).toMatchObject({ kind: 'test', count: 1 })

    mail.mails.length = 0
    chats.received.length = 0
    await test.sql(
      `insert into callback_lanes (agent_id, paused, width, failed_seqs, probe_at, probe_every_s, turn)
       values ($1, false, 1, '{}', now(), 60, 1)`,
      [agent.agentId],
    )
    const { pool } = test.backend
    for (let look = 0; look < 3; look++) {
      await keepWatch(pool, 'callbacks_failing', await stuckLanes(pool), test.clock())
    }
    await tell()
    const failing =
      'Callbacks to Chao Phraya Books are failing. They are kept, and tried until they are accepted.'
    expect(mailed()).toEqual([[admin.email, failing]])
    expect(chats.received.map(({ path }) => path.split('/')[1])).toEqual(['telegram'])
    await test.sql('delete from callback_lanes where agent_id = $1', [agent.agentId])

    mail.mails.length = 0
    chats.received.length = 0
    await person.post(`/agents/${agent.appId}/keys`, {
      overlap_s: 0,
      reason: 'lost',
      code: person.code(),
    })
    await tell()
    expect(mailed().map(([to]) => to)).toEqual([admin.email, person.email].sort())
    expect(chats.received).toHaveLength(3)
    const gone = await person.post('/me/alerts/channels/remove', {
      channel: 'line',
      code: person.code(),
    })
    expect(gone.status).toBe(200)
    const { rows } = await test.sql(`select before::text || after::text as said from audit_log
      where action like '%alert%'`)
    for (const { said } of rows) expect(said ?? '').not.toContain('key=1')
  })

  it('are written to a few times an hour at most by the button', async () => {
    const statuses = []
    for (let n = 0; n < 5; n++) statuses.push((await admin.post('/me/alerts/test')).status)
    expect(statuses).toContain(429)
  })
})

describe('a delivery', () => {
  const raise = () =>
    raiseAlert(test.backend.pool, {
      ...{ kind: 'proof_red', subject: 'books', words: 'The books do not prove.' },
      ...{ to: { roles: ['admin'] }, at: test.clock() },
    })
  const states = async () =>
    (
      await test.sql(`select d.state, d.attempts from alert_deliveries d join alerts a using (alert_id)
       where a.kind = 'proof_red' order by a.alert_id desc limit 1`)
    ).rows

  it('is made again by others if a process dies while it makes it', async () => {
    await raise()
    test.clock.advance(6_000)
    await handOutAlert(test.backend.pool, all, test.clock())
    let begun = () => {}
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    // It never comes back, as a process that was killed.
    const died = { mail: () => new Promise<undefined>(() => begun()) }
    const { pool, secretKeys } = test.backend
    deliverAlerts(pool, secretKeys, died, test.clock, () => {}).catch(() => {})
    await hasBegun
    await send()
    expect(mail.mails).toEqual([])
    test.clock.advance(2 * 60_000)
    await send()
    expect(mail.mails).toHaveLength(1)
    expect(await states()).toEqual([{ state: 'sent', attempts: 2 }])
  })

  it('is tried again later and later, given up after the ninth time, and shown as such', async () => {
    mail.answer = '451 later'
    await raise()
    await tell()
    expect(await states()).toEqual([{ state: 'waiting', attempts: 1 }])
    await send()
    expect(await states()).toEqual([{ state: 'waiting', attempts: 1 }])
    for (let n = 0; n < 8; n++) {
      test.clock.advance(24 * 3_600_000)
      await send()
    }
    mail.answer = '250 taken'
    expect(await states()).toEqual([{ state: 'given_up', attempts: 9 }])
    expect(givenUp).toHaveLength(1)
    admin.cookie = (await admin.signInAgain()).cookie
    const { latest } = (await admin.get('/me/alerts')).json
    expect(latest.some(({ state }: { state: string }) => state === 'given_up')).toBe(true)
    await forgetAlerts(test.backend.pool, new Date(test.clock().getTime() + 1))
    const { rows } = await test.sql('select 1 from alerts where handed_out_at is not null')
    expect(rows).toEqual([])
  })

  it('is not made to who was disabled meanwhile', async () => {
    const leaving = await signIn(test, 'admin')
    const { id } = (await leaving.get('/me')).json.user
    await quiet()
    await raise()
    test.clock.advance(6_000)
    await handOutAlert(test.backend.pool, all, test.clock())
    await admin.patch(`/users/${id}`, { disabled: true, reason: 'has left' })
    await send()
    expect(mailed().map(([to]) => to)).toEqual([admin.email])
  })
})

describe('what is wrong for a while', () => {
  it('is looked for: unknown payouts, books that do not prove, days that do not agree', async () => {
    const { pool } = test.backend
    const shop = await test.agent()
    await tell()
    mail.mails.length = 0
    await shop.fund(1000)
    const withdrawals = [(await shop.withdraw()).json.txn_id, (await shop.withdraw()).json.txn_id]
    for (const [at, txnId] of withdrawals.entries()) {
      await test.sql(
        `insert into payouts (agent_id, order_id, attempt, provider, reference, token, state, handed_at, asks,
           ask_at) values ($1, $2::uuid, 1, 'bank', $3, $2::uuid, 'unknown', $4, 1, $4)`,
        [shop.agentId, String(txnId).split('-')[1], `r-${at}`, test.clock()],
      )
    }
    expect(await unknownPayouts(pool, test.clock())).toEqual([])
    test.clock.advance(11 * 60_000)
    const later = test.clock()
    const troubles = await unknownPayouts(pool, later)
    expect(troubles).toMatchObject([{ topic: 'bank' }, { topic: 'bank' }])
    await Promise.all(
      Array.from({ length: 3 }, () => keepWatch(pool, 'payout_unknown', troubles, later)),
    )
    await tell()
    expect(mail.mails.map(({ data }) => /(\d+) times/.exec(data)?.[1])).toEqual(['2'])
    // Once it is right again and goes wrong anew, it is told anew.
    await keepWatch(pool, 'payout_unknown', [], later)
    await keepWatch(pool, 'payout_unknown', troubles.slice(0, 1), later)
    const { rows } = await test.sql(`select count from alerts where handed_out_at is null`)
    expect(rows).toEqual([{ count: 1 }])
    await test.sql('delete from payouts where agent_id = $1', [shop.agentId])
    expect(await redBooks(pool)).toEqual([])
    expect(await redDays(pool, test.clock())).toEqual([])
  })

  it('and all of it is done by the worker', async () => {
    const beside = await startTestService({ beside: test, env })
    admin.cookie = (await admin.signInAgain()).cookie
    test.clock.advance(600_000)
    admin.cookie = (await admin.signInAgain()).cookie
    expect((await admin.post('/me/alerts/test')).status).toBe(200)
    await expect
      .poll(() => mailed().map(([, text]) => text))
      .toContain('This is a test: alerts reach you here.')
    await beside.close()
  })
})
