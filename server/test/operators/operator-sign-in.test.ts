import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inviteFirstAdmin } from '../../src/operators/invite.ts'
import { acceptInvitation, OperatorClient, signIn } from '../support/operator.ts'
import { sendRaw } from '../support/raw-http.ts'
import { startTestService, type TestService } from '../support/service.ts'

const minuteMs = 60_000

let test: TestService
let admin: OperatorClient

beforeAll(async () => {
  test = await startTestService()
})
afterEach(() => test.prove())
afterAll(() => test.close())

/** Somebody without a session; `from` is another address each, so that tests do not slow each other. */
function stranger(): OperatorClient {
  return new OperatorClient(test.service.url, test.clock, {
    email: '',
    password: '',
    totpSecret: 'AAAAAAAAAAAAAAAA',
  })
}

describe('the first admin', () => {
  it('is made by one of two who follow the links of a new service at once', async () => {
    const { pool } = test.backend
    const first = () => inviteFirstAdmin(pool, test.clock())
    const tokens = [await first(), await first()].map((token) => token ?? '')
    const made = await Promise.allSettled(
      tokens.map((token, at) => acceptInvitation(test, token, `Boss${at}@Sluice.example`)),
    )
    const winners = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(winners.length).toBe(1)
    admin = winners[0] as OperatorClient
    expect((await admin.get('/me')).json.user).toMatchObject({ id: '1', role: 'admin' })
    // How they read the console is kept with them, for any browser.
    const chosen = { time_zone: 'Asia/Ho_Chi_Minh', language: 'vi' }
    const { json: me } = await admin.put('/me/preferences', chosen)
    expect(me.preferences).toEqual(chosen)
    expect((await admin.get('/me')).json.preferences).toEqual(chosen)
    for (const wrong of [{ time_zone: 'Mars/Base' }, { language: 'Vietnamese' }]) {
      expect((await admin.put('/me/preferences', { ...chosen, ...wrong })).status).toBe(422)
    }
    await admin.put('/me/preferences', { time_zone: null, language: null })
    // What is left to set up; of a backup that the database does not know of, an admin gives their word.
    const steps = async () => (await admin.get('/home')).json.set_up
    expect(await steps()).toEqual(
      expect.arrayContaining([
        { step: 'second_admin', done: false },
        { step: 'backup', done: false },
      ]),
    )
    await admin.post('/set-up/backup', { reason: 'snapshots of the managed database, every night' })
    expect(await steps()).toContainEqual({ step: 'backup', done: true })
    // From now on there is no such link, and the one that is left leads nowhere.
    expect(await first()).toBeUndefined()
    for (const token of tokens) {
      expect((await stranger().post('/invitations/open', { token })).status).toBe(404)
    }
  })
})

describe('an invitation', () => {
  it('ends after a day, and when it is replaced', async () => {
    const made = await admin.post('/users', {
      email: 'late@sluice.example',
      role: 'viewer',
      code: admin.code(),
    })
    const token = made.json.link.split('#').at(-1)
    const look = (at: string) => stranger().post('/invitations/open', { token: at })
    expect((await look(token)).json).toMatchObject({
      email: 'late@sluice.example',
      role: 'viewer',
      totp: { uri: expect.stringMatching(/^otpauth:\/\/totp\/Sluice:/) },
    })
    const again = await admin.post(`/users/${made.json.user.id}/reset`, {
      reason: 'was lost',
      code: admin.code(),
    })
    expect((await look(token)).status).toBe(404)
    const next = again.json.link.split('#').at(-1)
    test.clock.advance(24 * 60 * minuteMs)
    expect((await look(next)).status).toBe(404)
    admin = await admin.signInAgain()
  })

  it('shows a secret to the browser that opened it first, and to no other before or after', async () => {
    const email = 'seen@sluice.example'
    const made = await admin.post('/users', { email, role: 'viewer', code: admin.code() })
    expect(made.json.link).toMatch(/\/console\/invitation#[\w-]{43}$/)
    const token = made.json.link.split('#').at(-1)
    const [first, second] = [stranger(), stranger()]
    const shown = await first.post('/invitations/open', { token })
    const { secret: totpSecret } = shown.json.totp
    expect(shown.headers.get('set-cookie')).toContain('HttpOnly; SameSite=Strict')
    const again = await first.post('/invitations/open', { token })
    expect(again.json.totp.secret).toBe(totpSecret)
    for (const other of [second, stranger()]) {
      const { status, text } = await other.post('/invitations/open', { token })
      expect([status, text.includes(totpSecret)]).toEqual([404, false])
    }
    // Nor does the secret help without the browser, should somebody have looked over a shoulder.
    const password = 'six plain words put together'
    const person = new OperatorClient(test.service.url, test.clock, { email, password, totpSecret })
    const accepting = { token, password, code: person.code() }
    expect((await person.post('/invitations/accept', accepting)).status).toBe(404)
    person.cookie = first.cookie
    expect((await person.post('/invitations/accept', accepting)).status).toBe(200)
    expect((await first.post('/invitations/open', { token })).status).toBe(404)
  })

  it('asks for a password that is long enough and for a code that is right', async () => {
    const made = await admin.post('/users', {
      email: 'short@sluice.example',
      role: 'viewer',
      code: admin.code(),
    })
    const token = made.json.link.split('#').at(-1)
    const opening = stranger()
    const { totp } = (await opening.post('/invitations/open', { token })).json
    const person = new OperatorClient(test.service.url, test.clock, {
      email: 'short@sluice.example',
      password: '',
      totpSecret: totp.secret,
    })
    person.cookie = opening.cookie
    const send = (password: string, code: string) =>
      person.post('/invitations/accept', { token, password, code })
    const short = await send('elevenchars', person.codeAt(test.clock().getTime()))
    expect(short.json).toMatchObject({ code: 'invalid_request', errors: [{ field: 'password' }] })
    const named = await send('my short@sluice.example', person.codeAt(test.clock().getTime()))
    expect(named.json).toMatchObject({ errors: [{ field: 'password' }] })
    const wrong = await send('twelve chars', person.codeAt(test.clock().getTime() + 5 * minuteMs))
    expect(wrong.json.code).toBe('code_refused')
    expect((await send('twelve chars', person.code())).status).toBe(200)
    expect((await person.get('/me')).json.user.email).toBe('short@sluice.example')
  })
})

describe('signing in', () => {
  it('is answered alike, whatever is wrong', async () => {
    const person = await signIn(test, 'viewer')
    const gone = await signIn(test, 'viewer')
    const listed = (await admin.get('/users')).json.data
    const { id } = listed.find(({ email }: { email: string }) => email === gone.email)
    await admin.patch(`/users/${id}`, { disabled: true, reason: 'has left' })
    const { email, password } = person
    const tries = [
      { email: 'nobody@sluice.example', password, code: '123456' },
      { email: 'not an address', password, code: '123456' },
      { email, password: 'another password', code: person.code() },
      { email, password, code: '000000' },
      { email, password, code: 'abc' },
      { email: gone.email, password: gone.password, code: gone.code() },
    ]
    const answers = []
    for (const each of tries) {
      const { status, json, headers } = await stranger().post('/sign-in', each)
      answers.push({ status, ...json, request_id: '', cookie: headers.get('set-cookie') })
    }
    expect(answers[0]).toMatchObject({ status: 401, code: 'sign_in_refused', cookie: null })
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  it('takes a code once, of ten at once by two services one', async () => {
    const beside = await startTestService({ beside: test })
    const person = await signIn(test, 'viewer')
    const { email, password } = person
    const code = person.code()
    const urls = [test.service.url, beside.service.url]
    const tries = Array.from({ length: 10 }, (_, at) =>
      new OperatorClient(urls[at % 2] ?? '', test.clock, {
        email,
        password,
        totpSecret: 'AAAAAAAAAAAAAAAA',
      }).post('/sign-in', { email, password, code }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(9).fill(401)])
    await beside.close()
  })

  it('gets slow for who guesses, and never stays so', async () => {
    const person = await signIn(test, 'viewer')
    const { email } = person
    const guess = () => stranger().post('/sign-in', { email, password: 'a guess', code: '1' })
    let answer = await guess()
    for (let n = 0; n < 20 && answer.status === 401; n++) answer = await guess()
    expect(answer).toMatchObject({ status: 429, json: { code: 'rate_limited' } })
    const waitS = Number(answer.headers.get('retry-after'))
    expect(waitS).toBeGreaterThan(1)
    test.clock.advance(waitS * 1000)
    await expect(person.signInAgain()).resolves.toBeDefined()
  })

  it('gives a cookie that no script reads and no other site sends', async () => {
    const person = await signIn(test, 'viewer')
    const { email, password } = person
    const { headers } = await stranger().post('/sign-in', { email, password, code: person.code() })
    expect(headers.getSetCookie()[0]).toMatch(
      /^sluice_session=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/,
    )
  })
})

describe('a session', () => {
  it('ends after half an hour without use, and what a page asks by itself is no use', async () => {
    const [busy, idle] = [await signIn(test, 'viewer'), await signIn(test, 'viewer')]
    for (let n = 0; n < 4; n++) {
      test.clock.advance(10 * minuteMs)
      expect((await busy.get('/me')).status).toBe(200)
      if (n < 2) {
        const polled = await idle.send('GET', '/me', undefined, { 'x-sluice-background': '1' })
        expect(polled.status).toBe(200)
      }
    }
    expect((await idle.get('/me')).json.code).toBe('not_signed_in')
  })

  it('ends after twelve hours, however much it is used', async () => {
    const busy = await signIn(test, 'viewer')
    for (let n = 0; n < 12 * 60 - 20; n += 20) {
      test.clock.advance(20 * minuteMs)
      expect((await busy.get('/me')).status).toBe(200)
    }
    test.clock.advance(20 * minuteMs)
    expect((await busy.get('/me')).json.code).toBe('not_signed_in')
  })

  it('is listed, and ends at once for every service when it is revoked or signed out', async () => {
    const beside = await startTestService({ beside: test })
    const one = await signIn(test, 'viewer')
    const other = await one.signInAgain()
    const elsewhere = new OperatorClient(beside.service.url, test.clock, {
      email: '',
      password: '',
      totpSecret: '',
    })
    elsewhere.cookie = other.cookie
    expect((await elsewhere.get('/me')).status).toBe(200)
    const { data } = (await one.get('/me/sessions')).json
    expect(data.map(({ current }: { current: boolean }) => current).sort()).toEqual([false, true])
    const { id } = data.find(({ current }: { current: boolean }) => !current)
    const foreign = await signIn(test, 'viewer')
    expect((await foreign.delete(`/me/sessions/${id}`)).status).toBe(404)
    expect((await one.delete(`/me/sessions/${id}`)).status).toBe(200)
    expect((await elsewhere.get('/me')).json.code).toBe('not_signed_in')
    const others = [await one.signInAgain(), await one.signInAgain()]
    expect((await others[0]?.post('/me/sessions/end-others'))?.status).toBe(200)
    expect((await others[0]?.get('/me/sessions'))?.json.data).toMatchObject([{ current: true }])
    for (const each of [one, others[1]]) expect((await each?.get('/me'))?.status).toBe(401)
    expect((await foreign.get('/me')).status).toBe(200)
    one.cookie = others[0]?.cookie ?? ''
    const { cookie } = one
    expect((await one.post('/sign-out')).status).toBe(200)
    one.cookie = cookie
    expect((await one.get('/me')).json.code).toBe('not_signed_in')
    await beside.close()
  })

  it('is not in the database as the browser holds it', async () => {
    const person = await signIn(test, 'viewer')
    const [, token = ''] = /sluice_session=([\w-]+)/.exec(person.cookie) ?? []
    const { rows } = await test.sql(
      `select row_to_json(s)::text as row from sessions s
       union all select row_to_json(u)::text from users u`,
    )
    expect(rows.length).toBeGreaterThan(2)
    const bytes = Buffer.from(token, 'base64url').toString('hex')
    for (const { row } of rows) {
      for (const secret of [token, bytes, person.password]) expect(row).not.toContain(secret)
    }
  })
})

describe('guessing', () => {
  /** Tries to sign in; whoever holds the cookie of a device shows it. */
  const tries = async (who: OperatorClient, code: string, on = stranger(), more = {}) => {
    const { email, password } = who
    return (await on.post('/sign-in', { email, password, code, ...more })).status
  }
  /** A browser on which the person has signed in before, and is not signed in now. */
  const deviceOf = (person: OperatorClient) => {
    const device = stranger()
    device.cookie = /sluice_device=[^;]+/.exec(person.cookie)?.[0] ?? ''
    return device
  }

  it('codes with the right password ends for good; who was on a device before is not locked out', async () => {
    const person = await signIn(test, 'viewer')
    const beside = await startTestService({ beside: test })
    for (let n = 0; n < 10; n++) {
      test.clock.advance(minuteMs)
      // By turns at two processes, which count together.
      const at = new OperatorClient([test, beside][n % 2]?.service.url ?? '', test.clock, {
        email: '',
        password: '',
        totpSecret: '',
      })
      expect(await tries(person, '000000', at)).toBe(401)
    }
    await beside.close()
    test.clock.advance(60 * minuteMs)
    expect(await tries(person, person.code())).toBe(401)
    const listed = (await (await signIn(test, 'admin')).get('/users')).json.data
    const shown = listed.find(({ email }: { email: string }) => email === person.email)
    expect(shown.codes_stopped_at).not.toBeNull()
    const { rows } = await test.sql(
      `select count(*)::int as count from audit_log where action = 'stop_codes' and subject_id = $1`,
      [shown.id],
    )
    expect(rows).toEqual([{ count: 1 }])
    const watching = await signIn(test, 'viewer')
    expect((await watching.get('/home')).json.stopped_users).toBe(1)

    const device = deviceOf(person)
    expect(await tries(person, person.code(), device)).toBe(200)
    // Signing in lifts nothing, since somebody knows the password; another password does.
    expect(await tries(person, person.code())).toBe(401)
    const password = 'another six plain words'
    const change = { current_password: person.password, password, code: person.code() }
    expect((await device.post('/me/password', change)).status).toBe(200)
    expect(await tries(person, person.code(), stranger(), { password })).toBe(200)
    expect((await watching.get('/home')).json.stopped_users).toBe(0)
  })

  it('passwords from everywhere does not slow down who is on a device that signed in before', async () => {
    const person = await signIn(test, 'viewer')
    const statuses: number[] = []
    for (let n = 0; n < 40; n++) {
      statuses.push(await tries(person, '000000', stranger(), { password: 'not the password' }))
    }
    expect(statuses.at(-1)).toBe(429)
    expect(await tries(person, person.code())).toBe(429)
    expect(await tries(person, person.code(), deviceOf(person))).toBe(200)
    // Somebody else's device is a stranger's.
    const other = deviceOf(await signIn(test, 'viewer'))
    expect(await tries(person, person.code(), other)).toBe(429)
    test.clock.advance(60 * minuteMs)
  })

  it('codes on such a device ends too: it is a stranger’s then', async () => {
    const person = await signIn(test, 'viewer')
    const device = deviceOf(person)
    for (let n = 0; n < 10; n++) {
      test.clock.advance(minuteMs)
      expect(await tries(person, '000000', deviceOf(person))).toBe(401)
    }
    for (let n = 0; n < 40; n++) {
      await tries(person, '000000', stranger(), { password: 'not the password' })
    }
    expect(await tries(person, person.code(), device)).toBe(429)
    test.clock.advance(60 * minuteMs)
  })

  it('codes in a session ends all sessions', async () => {
    const person = await signIn(test, 'operator')
    const other = await person.signInAgain()
    const agent = await test.agent()
    const wrong = { overlap_s: 0, reason: 'to see', code: '000000' }
    for (let n = 0; n < 10; n++) {
      test.clock.advance(minuteMs / 2)
      expect((await other.get('/me')).status).toBe(200)
      const { json } = await person.post(`/agents/${agent.appId}/keys`, wrong)
      expect(json.code).toBe('code_refused')
    }
    for (const each of [person, other]) expect((await each.get('/me')).status).toBe(401)
  })

  it('who is a user takes no error that tells: a secret that no key opens is a wrong code', async () => {
    const person = await signIn(test, 'viewer')
    await test.sql('update users set sealed_totp_secret = $2 where email = $1', [
      person.email,
      Buffer.alloc(60),
    ])
    expect(await tries(person, person.code())).toBe(401)
  })

  it('by strangers leaves a bounded number of rows in the log', async () => {
    const person = await signIn(test, 'viewer')
    const rowsOfStrangers = async () => {
      const { rows } = await test.sql(
        `select count(*)::int as count from audit_log where subject_id = 'unknown'`,
      )
      return rows[0].count
    }
    await tries(person, '000000', stranger(), { email: 'first@sluice.example' })
    await test.sql(
      `update limit_buckets set tokens = 0, refilled_at = $1 where bucket like 'recordsOfStrangers %'`,
      [test.clock()],
    )
    const before = await rowsOfStrangers()
    for (let n = 0; n < 5; n++) {
      const email = `nobody-${n}@sluice.example`
      expect(await tries(person, '000000', stranger(), { email })).toBe(401)
    }
    expect(await rowsOfStrangers()).toBe(before)
  })
})

describe('a change of password', () => {
  it('asks for the old one and a code, and ends all other sessions', async () => {
    const person = await signIn(test, 'viewer')
    const other = await person.signInAgain()
    const change = (current_password: string, code: string) =>
      person.post('/me/password', { current_password, password: 'a better password', code })
    expect((await change(person.password, '000000')).json.code).toBe('code_refused')
    const wrong = await change('not my password', person.code())
    expect(wrong.json.errors).toMatchObject([{ field: 'current_password' }])
    expect((await other.get('/me')).status).toBe(200)
    expect((await change(person.password, person.code())).status).toBe(200)
    expect((await other.get('/me')).status).toBe(401)
    expect((await person.get('/me')).status).toBe(200)
    const code = person.code()
    const { email, password } = person
    expect((await stranger().post('/sign-in', { email, password, code })).status).toBe(401)
    const next = { email, password: 'a better password', code }
    expect((await stranger().post('/sign-in', next)).status).toBe(200)
  })
})

describe('passkeys', () => {
  it('end with the password, which somebody else may have added them by, unless they are kept', async () => {
    const person = await signIn(test, 'viewer')
    const { id } = (await person.get('/me')).json.user
    await test.sql(
      `insert into passkeys (credential_id, user_id, name, public_key, counter, created_at)
       values ($1, $2, 'phone', $3, 0, $4)`,
      ['c'.repeat(22), id, Buffer.alloc(32), test.clock()],
    )
    const next = (current_password: string, password: string, keep_passkeys?: boolean) =>
      person.post('/me/password', {
        ...{ current_password, password, code: person.code() },
        ...(keep_passkeys !== undefined && { keep_passkeys }),
      })
    const left = async () => (await person.get('/me/passkeys')).json.data.length
    expect((await next(person.password, 'a better password', true)).status).toBe(200)
    expect(await left()).toBe(1)
    expect((await next('a better password', 'a password better still')).status).toBe(200)
    expect(await left()).toBe(0)
  })
})

describe('a passkey that does not answer as it should', () => {
  it('signs nobody in, and its owner can see that it was tried', async () => {
    const person = await signIn(test, 'viewer')
    const { id } = (await person.get('/me')).json.user
    const key = 'b'.repeat(22)
    await test.sql(
      `insert into passkeys (credential_id, user_id, name, public_key, counter, created_at)
       values ($1, $2, 'phone', $3, 0, $4)`,
      [key, id, Buffer.alloc(32), test.clock()],
    )
    const parts = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' }
    const answer = JSON.stringify({ id: key, rawId: key, type: 'public-key', response: parts })
    const refused = await stranger().post('/sign-in/passkey', { answer })
    expect([refused.status, refused.json.code]).toEqual([401, 'sign_in_refused'])
    const { rows } = await test.sql(
      `select outcome, after from audit_log where action = 'sign_in' and user_id = $1 order by at desc, audit_id desc limit 1`,
      [id],
    )
    expect(rows).toEqual([{ outcome: 'refused', after: { with: 'passkey' } }])
  })
})

describe('a request that another site could make a browser send', () => {
  it.each([
    ['no mark', { 'x-sluice-console': '' }],
    ['a type that forms can send', { 'content-type': 'text/plain' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin at all', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://localhost:1' }],
  ])('is refused: %s', async (_what, headers) => {
    const person = await signIn(test, 'viewer')
    const answer = await person.send('POST', '/sign-out', {}, headers)
    expect(answer.status).toBeOneOf([403, 415])
    expect((await person.get('/me')).status).toBe(200)
  })

  it('is refused where the host that is named is that of the other site', async () => {
    const person = await signIn(test, 'viewer')
    const answer = await sendRaw(test.service.url, {
      method: 'POST',
      path: '/console/api/sign-out',
      headers: [
        ['x-forwarded-host', 'evil.example'],
        ['origin', 'http://evil.example'],
        ['cookie', person.cookie],
        ['content-type', 'application/json'],
        ['x-sluice-console', '1'],
      ],
      body: '{}',
      host: 'evil.example',
    })
    expect([answer.status, answer.json.code]).toEqual([403, 'csrf_refused'])
    expect((await person.get('/me')).status).toBe(200)
  })

  it('is taken from the own origin', async () => {
    const person = await signIn(test, 'viewer')
    const origin = test.service.url
    expect((await person.send('POST', '/sign-out', {}, { origin })).status).toBe(200)
  })
})
