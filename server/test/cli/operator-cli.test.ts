import { afterAll, beforeAll, expect, it } from 'vitest'
import { acceptInvitation } from '../support/operator.ts'
import { cleanUp, command, commandJson, type Env, serve } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let test: TestService
let env: Env

beforeAll(async () => {
  test = await startTestService({ realTime: true })
  const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')
  env = {
    DATABASE_URL: test.database.url,
    DATABASE_OWNER_URL: test.database.ownerUrl,
    SECRET_KEY,
    PUBLIC_URL: 'https://pay.example/api',
  }
})
afterAll(async () => {
  await test.prove()
  await cleanUp()
  await test.close()
})

const tokenOf = (link: string) => link.split('#').at(-1) ?? ''

it('every start prints a link for the first admin, until there is a user', async () => {
  const links: string[] = []
  for (const _start of ['first', 'second']) {
    const service = await serve(env)
    links.push(JSON.parse(service.stdout).first_admin)
    await service.stop()
    // What the terminal shows once must not lie in a log.
    expect(service.stderr).not.toContain(tokenOf(links.at(-1) ?? ''))
  }
  for (const link of links)
    expect(link).toMatch(/^https:\/\/pay\.example\/api\/console\/invitation#/)
  const admin = await acceptInvitation(test, tokenOf(links[0] ?? ''), 'boss@sluice.example')
  expect((await admin.get('/me')).json.user.role).toBe('admin')
  const third = await serve(env)
  expect(JSON.parse(third.stdout)).not.toHaveProperty('first_admin')
})

it('users are made, listed and reset on the command line, and the log says so', async () => {
  const { appId } = await test.agent()
  const made = await commandJson(
    ['user', 'create', 'Owner@Shop.example', '--role', 'agent', '--agent', appId],
    env,
  )
  expect(made.email).toBe('owner@shop.example')
  const owner = await acceptInvitation(test, tokenOf(made.link), made.email)
  expect((await owner.get('/me')).json.user).toMatchObject({ role: 'agent', app_id: appId })
  const listed = await commandJson(['user', 'list'], env)
  expect(listed).toContainEqual(
    expect.objectContaining({ email: 'owner@shop.example', app_id: appId, state: 'active' }),
  )
  // Also of the last admin: who has the database may.
  const reset = await commandJson(['user', 'reset', 'boss@sluice.example'], env)
  const again = await acceptInvitation(test, tokenOf(reset.link), 'boss@sluice.example')
  const { data } = (await again.get('/audit?actor=command-line')).json
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    'reset_user',
    'create_user',
  ])
  const text = await command(['user', 'list'], env)
  expect(text.stdout).toMatch(/EMAIL +ROLE +AGENT +STATE +LAST SEEN/)
})

it('what the command line does to money, agents and providers is in the log, done or refused', async () => {
  const { app_id, secret } = await commandJson(['agent', 'create', '--name', 'Logged'], env)
  await commandJson(['wallet', 'adjust', app_id, '5', '--reason', 'a gift', '--ref', 'g1'], env)
  const rotated = await commandJson(['agent', 'rotate-key', app_id], env)
  await commandJson(['agent', 'set', app_id, '--status', 'suspended'], env)
  await commandJson(['callback', 'pause', app_id], env)
  await command(['payments', 'return', 'sandbox:none', '--evidence', 'transfer 1'], env)
  const { rows } = await test.sql(
    `select action, outcome, subject_id, reason, before::text, after::text from audit_log
     where email = 'command line' and action not like '%_user' order by audit_id`,
  )
  expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    'create_agent asked',
    'create_agent done',
    'adjust_wallet asked',
    'adjust_wallet done',
    'rotate_key asked',
    'rotate_key done',
    'change_agent asked',
    'change_agent done',
    'pause_callbacks asked',
    'pause_callbacks done',
    'return_payment asked',
    'return_payment refused',
  ])
  expect(rows[3]).toMatchObject({ subject_id: app_id, reason: 'a gift' })
  expect(JSON.parse(rows[7].after)).toMatchObject({ status: 'suspended' })
  for (const each of [secret, rotated.secret]) expect(JSON.stringify(rows)).not.toContain(each)
})

it.each([
  [['create', 'nobody', '--role', 'viewer'], /not an email address/],
  [['create', 'a@b.example', '--role', 'agent'], /--agent goes with --role agent/],
  [['create', 'a@b.example', '--role', 'owner'], /Allowed choices are/],
  [['create', 'boss@sluice.example', '--role', 'viewer'], /there already/],
  [['reset', 'nobody@sluice.example'], /there is no user/],
])('user %j is refused in words', async (args, says) => {
  const ended = await command(['user', ...args], env)
  expect(ended.code).toBe(1)
  expect(ended.stderr).toMatch(says)
  expect(ended.stderr).not.toMatch(/\n\s+at /)
})
