import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openConsole } from '../support/console-browser.ts'
import { OperatorClient, signIn } from '../support/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { type Faults, type StandInIssuer, standInIssuer } from '../support/stand-in-issuer.ts'

let issuer: StandInIssuer
let service: TestService

beforeAll(async () => {
  issuer = await standInIssuer()
  service = await startTestService({
    env: {
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuer.clientId,
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      OIDC_ROLES: 'sluice-admins=admin, sluice-ops=operator,sluice-readers=viewer',
      OIDC_SECOND_FACTOR: 'mfa,urn:two',
    },
  })
})

afterAll(async () => {
  await service.close()
  await issuer.close()
})

const key = Buffer.alloc(32, 7).toString('base64')
const ownAddress = () => service.service.url.replace('127.0.0.1', 'localhost')

const person = (name: string, groups: unknown, more: object = {}) => ({
  sub: `id-of-${name}`,
  email: `${name}@sso.example`,
  groups,
  ...more,
})

/** A browser that is at the issuer's page. */
async function begun(): Promise<{ browser: OperatorClient; page: string }> {
  // Tests come from one address, which is slowed down as everybody is.
  service.clock.advance(60_000)
  const browser = clientWith('')
  const { status, json, text } = await browser.post('/sign-in/sso/begin')
  expect(status, text).toBe(200)
  return { browser, page: json.url }
}

function clientWith(totpSecret: string): OperatorClient {
  const who = { email: '', password: '', totpSecret }
  return new OperatorClient(service.service.url, service.clock, who)
}

/** Goes to the issuer and back. */
async function comeBack(claims: object, faults?: Faults) {
  const { browser, page } = await begun()
  const query = issuer.signInAt(page, { ...claims }, faults)
  return { browser, query, answer: await browser.post('/sign-in/sso/return', { query }) }
}

/** Signs in for the first time, with a new authenticator. */
async function enrolled(claims: object): Promise<OperatorClient> {
  const { browser, answer } = await comeBack(claims)
  expect(answer.json, answer.text).toMatchObject({ next: 'enrol' })
  const client = clientWith(answer.json.totp.secret)
  client.cookie = browser.cookie
  const proved = await client.post('/sign-in/sso/prove', { code: client.code() })
  expect(proved.status, proved.text).toBe(200)
  return client
}

async function rowsOf(subject: string) {
  const { rows } = await service.sql(
    'select user_id, email, role, password_hash, oidc_issuer from users where oidc_subject = $1',
    [subject],
  )
  return rows
}

async function audited(userId: unknown) {
  const { rows } = await service.sql(
    'select action, outcome, after from audit_log where user_id = $1 order by audit_id',
    [userId],
  )
  return rows
}

test('before there is a user, nobody becomes one by single sign-on', async () => {
  const { answer } = await comeBack(person('early', ['sluice-admins']))
  expect([answer.status, answer.json.code]).toEqual([403, 'sso_refused'])
  expect(answer.json.detail).toContain('first admin')
  expect(await rowsOf('id-of-early')).toEqual([])
  await signIn(service, 'admin')
})

test('somebody whose claim is a role is created, enrols an authenticator and acts with its codes', async () => {
  const ann = await enrolled(person('ann', ['staff', 'sluice-ops']))
  const { json: me } = await ann.get('/me')
  expect(me.user).toMatchObject({ email: 'ann@sso.example', role: 'operator', app_id: null })
  const [row] = await rowsOf('id-of-ann')
  expect(row).toMatchObject({ role: 'operator', password_hash: null, oidc_issuer: issuer.url })
  expect((await audited(row.user_id)).map(({ action }) => action)).toEqual([
    'create_user',
    'enrol_authenticator',
    'sign_in',
  ])
  const refused = await ann.post('/me/passkeys/options', {})
  expect(refused.json.code).toBe('code_required')
  const asked = await ann.post('/me/passkeys/options', { code: ann.code() })
  expect(asked.status, asked.text).toBe(200)

  const again = await comeBack(person('ann', ['sluice-ops']))
  expect(again.answer.json).toEqual({ next: 'code', totp: null })
  expect((await again.browser.get('/me')).status).toBe(401)
  const wrong = await again.browser.post('/sign-in/sso/prove', { code: '000000' })
  expect([wrong.status, wrong.json.code]).toEqual([403, 'code_refused'])
  const right = await again.browser.post('/sign-in/sso/prove', { code: ann.code() })
  expect(right.status, right.text).toBe(200)
  expect((await again.browser.get('/me')).json.user.email).toBe('ann@sso.example')
  expect(await rowsOf('id-of-ann')).toHaveLength(1)
})

test('whoever the issuer dismissed is out after an hour, whatever they do meanwhile', async () => {
  const [sue, local] = [
    await enrolled(person('sue', ['sluice-ops'])),
    await signIn(service, 'viewer'),
  ]
  for (let minutes = 0; minutes < 60; minutes += 15) {
    expect((await sue.get('/me')).status).toBe(200)
    service.clock.advance(15 * 60_000 + 1000)
    expect((await local.get('/me')).status).toBe(200)
  }
  expect((await sue.get('/me')).status).toBe(401)
  const { rows } = await service.sql(
    `select roles from alerts where kind = 'authority_changed' and words like 'sue@sso.example%'`,
  )
  expect(rows).toEqual([{ roles: ['admin'] }])
})

test('the page that a browser is sent to is bound by state, nonce and PKCE, and names our own address', async () => {
  const { browser, page } = await begun()
  const asked = Object.fromEntries(new URL(page).searchParams)
  expect(asked).toMatchObject({
    response_type: 'code',
    client_id: 'sluice',
    redirect_uri: `${ownAddress()}/console/sign-in`,
    code_challenge_method: 'S256',
  })
  for (const each of [asked.state, asked.nonce, asked.code_challenge]) {
    expect(each).toMatch(/^[\w-]{43}$/)
  }
  expect(new Set([asked.state, asked.nonce, asked.code_challenge]).size).toBe(3)
  expect(browser.cookie).toMatch(/^sluice_sso=[\w-]{43}$/)
})

test('a wrong state, another browser, a second use and a late return are refused', async () => {
  const { browser, page } = await begun()
  const query = issuer.signInAt(page, person('bob', 'sluice-readers'))
  const wrong = new URLSearchParams(query)
  wrong.set('state', 'A'.repeat(43))
  const sent = async (by: OperatorClient, text: string) => {
    const { status, json } = await by.post('/sign-in/sso/return', { query: text })
    return [status, json.code ?? json.next]
  }
  expect(await sent(browser, String(wrong))).toEqual([403, 'sso_refused'])
  expect(await sent(browser, 'code=x')).toEqual([403, 'sso_refused'])
  expect(await sent(clientWith(''), query)).toEqual([403, 'sso_refused'])
  expect(await sent((await begun()).browser, query)).toEqual([403, 'sso_refused'])
  const { cookie } = browser
  expect(await sent(browser, query)).toEqual([200, 'enrol'])
  browser.cookie = cookie
  expect(await sent(browser, query)).toEqual([403, 'sso_refused'])

  const late = await begun()
  const lateQuery = issuer.signInAt(late.page, person('bob', 'sluice-readers'))
  service.clock.advance(10 * 60_000)
  expect(await sent(late.browser, lateQuery)).toEqual([403, 'sso_refused'])
})

test('of ten returns at once with one token, one goes on', async () => {
  const { browser, page } = await begun()
  const query = issuer.signInAt(page, person('many', ['sluice-readers']))
  const { cookie } = browser
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => {
      const each = clientWith('')
      each.cookie = cookie
      return each.post('/sign-in/sso/return', { query })
    }),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('a code that was issued to another browser is worth nothing: PKCE', async () => {
  const [one, two] = [await begun(), await begun()]
  const stolen = new URLSearchParams(issuer.signInAt(one.page, person('carl', ['sluice-ops'])))
  stolen.set('state', new URL(two.page).searchParams.get('state') ?? '')
  const answer = await two.browser.post('/sign-in/sso/return', { query: String(stolen) })
  expect([answer.status, answer.json.code]).toEqual([403, 'sso_refused'])
  expect(await rowsOf('id-of-carl')).toEqual([])
})

const nowS = () => Math.floor(Date.now() / 1000)
test.each<[string, () => Faults, string]>([
  ['the nonce of another sign-in', () => ({ claims: { nonce: 'x' } }), 'sso_refused'],
  ['no nonce', () => ({ claims: { nonce: undefined } }), 'sso_refused'],
  ['another audience', () => ({ claims: { aud: 'shop' } }), 'sso_refused'],
  ['another issuer', () => ({ claims: { iss: 'https://other.example' } }), 'sso_refused'],
  ['a time that is over', () => ({ claims: { exp: nowS() - 60 } }), 'sso_refused'],
  ['a key that is not published', () => ({ otherKey: true }), 'sso_refused'],
  ['far too many bytes', () => ({ bytes: 600 * 1024 }), 'sso_unavailable'],
])('an ID token with %s signs nobody in', async (_what, faults, code) => {
  const { browser, answer } = await comeBack(
    person('dora', ['sluice-admins'], { amr: ['mfa'] }),
    faults(),
  )
  expect(answer.json.code).toBe(code)
  expect((await browser.get('/me')).status).toBe(401)
  expect(await rowsOf('id-of-dora')).toEqual([])
})

test('a claim that is no role creates nobody', async () => {
  for (const groups of [['staff'], undefined, [], 'admin', { admin: true }, ['agent']]) {
    const { answer } = await comeBack(person('eve', groups))
    expect([answer.status, answer.json.code]).toEqual([403, 'sso_refused'])
  }
  expect(await rowsOf('id-of-eve')).toEqual([])
})

test('the role follows the claim, and a claim that is gone ends all sessions', async () => {
  const fay = await enrolled(person('fay', ['sluice-readers', 'sluice-admins']))
  expect((await fay.get('/me')).json.user.role).toBe('admin')
  const lower = await comeBack(person('fay', ['sluice-readers'], { amr: ['pwd', 'mfa'] }))
  expect(lower.answer.json).toEqual({ next: 'done', totp: null })
  expect((await fay.get('/me')).status).toBe(401)
  expect((await lower.browser.get('/me')).json.user.role).toBe('viewer')
  const [{ user_id: userId }] = await rowsOf('id-of-fay')
  expect(await audited(userId)).toContainEqual({
    action: 'change_user',
    outcome: 'done',
    after: { role: 'viewer', by: 'sso' },
  })

  const waiting = await comeBack(person('fay', ['sluice-readers']))
  expect(waiting.answer.json.next).toBe('code')
  const gone = await comeBack(person('fay', ['staff'], { amr: ['mfa'] }))
  expect([gone.answer.status, gone.answer.json.code]).toEqual([403, 'sso_refused'])
  expect((await lower.browser.get('/me')).status).toBe(401)
  const late = await waiting.browser.post('/sign-in/sso/prove', { code: fay.code() })
  expect([late.status, late.json.code]).toEqual([403, 'sso_refused'])
  expect(await audited(userId)).toContainEqual(
    expect.objectContaining({ action: 'sign_in', outcome: 'refused' }),
  )
})

test('nobody becomes a second user of the same address, in either order', async () => {
  const local = await signIn(service, 'operator')
  const same = { sub: 'id-of-same', email: local.email.toUpperCase(), groups: ['sluice-admins'] }
  const { answer } = await comeBack(same)
  expect([answer.status, answer.json.code]).toEqual([403, 'sso_refused'])
  expect(answer.json.detail).toContain('an admin disables it')
  expect(await rowsOf('id-of-same')).toEqual([])
  expect((await local.get('/me')).json.user.role).toBe('operator')

  const gil = await enrolled(person('gil', ['sluice-ops']))
  const admin = await signIn(service, 'admin')
  const email = 'gil@sso.example'
  const created = await admin.post('/users', { email, role: 'operator', code: admin.code() })
  expect([created.status, created.json.errors[0].field]).toEqual([422, 'email'])
  // The issuer now gives them the address of a local user: they would be two people.
  const moved = await comeBack(person('gil', ['sluice-ops'], { email: local.email }))
  expect(moved.answer.json.code).toBe('sso_refused')
  expect((await gil.get('/me')).status).toBe(401)
  for (const email_verified of [false, 'false', null]) {
    const unverified = await comeBack(person('hal', ['sluice-ops'], { email_verified }))
    expect(unverified.answer.json.detail).toContain('verified')
  }
})

test('the second factor of the issuer counts only where a setting says so, and never enrols', async () => {
  const first = await comeBack(person('ida', ['sluice-ops'], { amr: ['mfa'] }))
  expect(first.answer.json.next).toBe('enrol')
  expect((await first.browser.get('/me')).status).toBe(401)
  await enrolled(person('ida', ['sluice-ops'], { amr: ['mfa'] }))
  for (const [more, next] of [
    [{ amr: ['mfa'] }, 'done'],
    [{ acr: 'urn:two' }, 'done'],
    [{ amr: ['pwd'], acr: 'urn:one' }, 'code'],
    [{ amr: 'mfa2' }, 'code'],
  ] as const) {
    const { browser, answer } = await comeBack(person('ida', ['sluice-ops'], more))
    expect(answer.json).toEqual({ next, totp: null })
    expect((await browser.get('/me')).status).toBe(next === 'done' ? 200 : 401)
  }
})

test('such a user has no way around the issuer, and an admin can lock them out or reset them', async () => {
  const admin = await signIn(service, 'admin')
  const jan = await enrolled(person('jan', ['sluice-ops']))
  const [{ user_id: id }] = await rowsOf('id-of-jan')
  const byPassword = await clientWith('').post('/sign-in', {
    email: 'jan@sso.example',
    password: 'six plain words put together',
    code: jan.code(),
  })
  expect(byPassword.json.code).toBe('sign_in_refused')
  const change = (body: object) =>
    admin.patch(`/users/${id}`, { reason: 'a test', code: admin.code(), ...body })
  const promoted = await change({ role: 'admin' })
  expect([promoted.status, promoted.json.errors?.[0].field]).toEqual([422, 'role'])

  const reset = await admin.post(`/users/${id}/reset`, { reason: 'a test', code: admin.code() })
  expect(reset.json.link).toBe(`${ownAddress()}/console/sign-in`)
  expect((await jan.get('/me')).status).toBe(401)
  const anew = await enrolled(person('jan', ['sluice-ops']))
  expect((await anew.get('/me')).status).toBe(200)

  expect((await change({ disabled: true })).status).toBe(200)
  expect((await anew.get('/me')).status).toBe(401)
  const { answer } = await comeBack(person('jan', ['sluice-ops'], { amr: ['mfa'] }))
  expect([answer.status, answer.json.code]).toEqual([403, 'sso_refused'])
})

test('ten wrong codes in a row end the guessing', async () => {
  const kim = await enrolled(person('kim', ['sluice-ops']))
  const { browser } = await comeBack(person('kim', ['sluice-ops']))
  for (let n = 0; n < 10; n++) {
    service.clock.advance(55_000)
    const { status } = await browser.post('/sign-in/sso/prove', { code: 'wrong' })
    expect(status).toBe(403)
  }
  const next = await comeBack(person('kim', ['sluice-ops']))
  service.clock.advance(60_000)
  const right = await next.browser.post('/sign-in/sso/prove', { code: kim.code() })
  expect(right.json.code).toBe('code_refused')
})

test('the console sends a browser to the issuer, takes it back, enrols and signs in', async () => {
  service.clock.advance(600_000)
  const console = await openConsole(service)
  try {
    const page = await console.tab()
    let asked = ''
    await page.route(`${issuer.url}/page**`, async (route) => {
      asked = route.request().url()
      const query = issuer.signInAt(asked, person('lea', ['sluice-readers']))
      const location = `${ownAddress()}/console/sign-in?${query}`
      // A redirect that a script answers with is not followed.
      await route.fulfill({
        contentType: 'text/html',
        body: `<meta http-equiv="refresh" content="0;url=${location.replaceAll('&', '&amp;')}">`,
      })
    })
    await page.goto(`${ownAddress()}/console/sign-in`)
    await page.getByRole('button', { name: 'Sign in with SSO' }).click()
    await page.getByAltText('QR code for the authenticator').waitFor()
    expect(new URL(page.url()).search).toBe('')
    const lea = clientWith((await page.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? '')
    await page.getByLabel('Code').fill(lea.code())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Today', exact: true }).waitFor()
    expect(console.faults()).toEqual([`asked ${asked}`])
    expect(await rowsOf('id-of-lea')).toHaveLength(1)
  } finally {
    await console.close()
  }
})

test('the doors are slowed down, and closed to other sites', async () => {
  const browser = clientWith('')
  const foreign = await browser.send(
    'POST',
    '/sign-in/sso/begin',
    {},
    { origin: 'https://x.example' },
  )
  expect(foreign.json.code).toBe('csrf_refused')
  const codes: string[] = []
  for (let n = 0; n < 40; n++) {
    codes.push((await browser.post('/sign-in/sso/return', { query: '' })).json.code)
  }
  expect(codes).toContain('rate_limited')
  service.clock.advance(600_000)
})

test('without the settings there is no single sign-on, and half of them or http is refused', async () => {
  const faultsOf = (env: Record<string, string>) => {
    const read = readConfig(env)
    return 'faults' in read ? read.faults.join() : ''
  }
  const whole = { OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b', OIDC_ROLES: 'x=admin' }
  expect(faultsOf({ ...whole, OIDC_ISSUER: 'https://id.example/realm' })).toBe('')
  expect(faultsOf({ ...whole, OIDC_ISSUER: 'http://127.0.0.1:9' })).toBe('')
  expect(faultsOf({ ...whole, OIDC_ISSUER: 'http://id.example' })).toContain('https')
  expect(faultsOf({ ...whole, OIDC_ISSUER: 'http://127.0.0.1:9', MODE: 'live' })).toContain('https')
  expect(faultsOf(whole)).toContain('OIDC_ISSUER')
  const https = { ...whole, OIDC_ISSUER: 'https://id.example' }
  expect(faultsOf({ ...https, OIDC_EMAIL_VERIFIED: 'yes' })).toContain('OIDC_EMAIL_VERIFIED')
  // In live, an issuer that says nothing of an address has not verified it, unless a setting says so.
  const assumes = (env: Record<string, string>) => {
    const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example', SECRET_KEY: key, ...https }
    const read = readConfig({ ...live, DATABASE_URL: 'postgres://x', ...env })
    return 'faults' in read ? read.faults : read.config.oidc?.assumesVerified
  }
  expect(assumes({})).toBe(false)
  expect(assumes({ OIDC_EMAIL_VERIFIED: 'assumed' })).toBe(true)
  expect(faultsOf({ OIDC_ISSUER: 'https://id.example' })).toContain('OIDC_CLIENT_ID')
  for (const OIDC_ROLES of ['x=agent', 'x', '=admin', 'x=admin,x=viewer', 'x=owner']) {
    expect(faultsOf({ ...whole, OIDC_ISSUER: 'https://id.example', OIDC_ROLES })).toContain(
      'OIDC_ROLES must',
    )
  }
})
