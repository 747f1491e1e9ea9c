import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { type Config, readConfig } from './config.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const otherKey = Buffer.alloc(32, 2).toString('base64')
const live = { MODE: 'live', SECRET_KEY: key, PUBLIC_URL: 'https://pay.example' }

function config(env: Record<string, string>): Config {
  const read = readConfig(env)
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  return read.config
}

function faults(env: Record<string, string>): string[] {
  const read = readConfig(env)
  return 'faults' in read ? read.faults : []
}

const url = 'postgres://u:p@h/d'

test('nothing has to be set', () => {
  expect(config({})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://localhost:8080',
    databaseUrl: undefined,
    databaseOwnerUrl: undefined,
    databaseDirectUrl: undefined,
    isDefaultDataDir: true,
    dataDir: resolve('./data'),
    mode: 'sandbox',
    role: 'all',
    secretKeys: [],
    timeZone: 'UTC',
    trustedProxies: [],
    consoleAddresses: [],
    portalAddresses: [],
    alerts: { mail: undefined, telegram: undefined, line: undefined },
    callbackTargets: 'near',
    metricsToken: undefined,
    securityContact: undefined,
    logLevel: 'info',
    callbacksPerAgent: 64,
    attemptsKeptDays: 90,
    breakGlass: true,
    noticesKeptDays: 400,
    tellerBatch: 500,
    heads: { everyMinutes: 60, file: undefined, log: false, webhook: undefined },
  })
})

test.each([
  ['PORT', '9000', { port: 9000, publicUrl: 'http://localhost:9000' }],
  ['PORT', '0', { port: 0, publicUrl: undefined }],
  ['HOST', '::', { host: '::' }],
  ['PUBLIC_URL', 'https://pay.example/base/', { publicUrl: 'https://pay.example/base' }],
  ['DATABASE_URL', 'postgres://u:p@h/d', { databaseUrl: 'postgres://u:p@h/d' }],
  ['DATABASE_URL', 'postgresql://u:p@h/d', { databaseUrl: 'postgresql://u:p@h/d' }],
  ['DATA_DIR', '/var/lib/sluice', { dataDir: '/var/lib/sluice' }],
  ['TIME_ZONE', 'Asia/Bangkok', { timeZone: 'Asia/Bangkok' }],
  ['TRUSTED_PROXIES', '10.0.0.0/8, ::1', { trustedProxies: ['10.0.0.0/8', '::1'] }],
  [
    'CONSOLE_ADDRESSES',
    '192.0.2.0/24 ::1',
    { consoleAddresses: ['192.0.2.0/24', '::1'], portalAddresses: ['192.0.2.0/24', '::1'] },
  ],
  ['PORTAL_ADDRESSES', '192.0.2.1', { portalAddresses: ['192.0.2.1'] }],
  ['METRICS_TOKEN', 'token', { metricsToken: 'token' }],
  ['LOG_LEVEL', 'trace', { logLevel: 'trace' }],
  ['TELLER_BATCH', '10', { tellerBatch: 10 }],
  [
    'SECURITY_CONTACT',
    'mailto:a@b.example',
    { securityContact: { contact: 'mailto:a@b.example', policy: undefined } },
  ],
  ['HEADS_MINUTES', '5', { heads: { everyMinutes: 5 } }],
  ['HEADS_FILE', '/var/lib/heads', { heads: { file: '/var/lib/heads' } }],
  ['HEADS_LOG', 'on', { heads: { log: true } }],
] as const)('%s=%s is taken', (name, value, expected) => {
  expect(config({ [name]: value })).toMatchObject(expected)
})

test.each([
  [{}, 'near'],
  [{ PORT: '0', HOST: '::1' }, 'near'],
  [{ HOST: '0.0.0.0' }, 'public'],
  [{ HOST: '192.168.1.7' }, 'public'],
  [{ PUBLIC_URL: 'http://sandbox.example' }, 'public'],
  [{ PUBLIC_URL: 'http://[::1]:9000' }, 'near'],
  [{ TRUSTED_PROXIES: '127.0.0.1' }, 'public'],
  [{ HOST: '0.0.0.0', CALLBACK_PRIVATE_ADDRESSES: 'allow' }, 'near'],
  [live, 'secure'],
  [{ ...live, HOST: '127.0.0.1', PUBLIC_URL: 'http://localhost:1' }, 'secure'],
])('with %o callbacks go to what is %s', (env, expected) => {
  expect(config(env).callbackTargets).toBe(expected)
})

test('the key is read from a file, or asked of a command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-key-'))
  const file = join(folder, 'key')
  writeFileSync(file, `${key}\n`)
  const bytes = [Buffer.from(key, 'base64')]
  expect(config({ SECRET_KEY_FILE: file }).secretKeys).toEqual(bytes)
  expect(config({ ...live, SECRET_KEY: '', SECRET_KEY_FILE: file }).secretKeys).toEqual(bytes)
  expect(config({ SECRET_KEY_COMMAND: `echo ${key}` }).secretKeys).toEqual(bytes)
  rmSync(folder, { recursive: true })
  expect(faults({ SECRET_KEY_FILE: file })).toEqual(['SECRET_KEY_FILE cannot be read: ENOENT'])
  expect(faults({ SECRET_KEY_COMMAND: 'exit 3' })).toEqual([
    'SECRET_KEY_COMMAND did not end well within 30 s',
  ])
  expect(faults({ SECRET_KEY_COMMAND: 'echo short' })[0]).toMatch(/^SECRET_KEY must be 32 bytes/)
  expect(faults({ SECRET_KEY: key, SECRET_KEY_COMMAND: 'exit 3' })).toContain(
    'SECRET_KEY and SECRET_KEY_COMMAND: set one of them',
  )
})

test('private callback addresses are for the sandbox only', () => {
  expect(faults({ ...live, CALLBACK_PRIVATE_ADDRESSES: 'allow' })).toEqual([
    'CALLBACK_PRIVATE_ADDRESSES=allow is for the sandbox only',
  ])
})

test('the key of today comes before the one of yesterday', () => {
  const { secretKeys } = config({ SECRET_KEY: key, SECRET_KEY_PREVIOUS: otherKey })
  expect(secretKeys.map((each) => each.toString('base64'))).toEqual([key, otherKey])
})

test.each([
  'PORT',
  'PUBLIC_URL',
  'DATABASE_URL',
  'MODE',
  'ROLE',
  'SECRET_KEY',
  'TIME_ZONE',
  'METRICS_TOKEN',
  'LOG_LEVEL',
])('an empty %s is as good as none', (name) => {
  expect(config({ [name]: '' })).toEqual(config({}))
})

test.each([
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['PORT', 'http'],
  ['PORT', '1e3'],
  ['PUBLIC_URL', 'pay.example'],
  ['PUBLIC_URL', 'ftp://pay.example'],
  ['PUBLIC_URL', 'https://pay.example/?x=1'],
  ['PUBLIC_URL', 'https://pay.example/#x'],
  ['PUBLIC_URL', 'https://user@pay.example'],
  ['PUBLIC_URL', 'https://:password@pay.example'],
  ['DATABASE_URL', 'mysql://u:p@h/d'],
  ['DATABASE_URL', 'h:5432'],
  ['MODE', 'production'],
  ['ROLE', 'Worker'],
  ['SECRET_KEY', 'short'],
  ['SECRET_KEY', Buffer.alloc(31).toString('base64')],
  ['SECRET_KEY', Buffer.alloc(33).toString('base64')],
  ['SECRET_KEY', `${key}\n`],
  ['SECRET_KEY', Buffer.alloc(32, 1).toString('hex')],
  ['TIME_ZONE', 'Bangkok'],
  ['SECURITY_CONTACT', 'security@pay.example'],
  ['SECURITY_CONTACT', 'mailto:a@b.example\nContact: x'],
  ['SECURITY_POLICY', 'http://pay.example'],
  ['HEADS_MINUTES', '0'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRUSTED_PROXIES', 'loopback'],
  ['LOG_LEVEL', 'loud'],
  ['TELLER_BATCH', '0'],
  ['TELLER_BATCH', '2001'],
])('%s=%j is refused, by name', (name, value) => {
  const found = faults({ [name]: value })
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(name)
})

test.each([
  ['ROLE', { ROLE: 'worker' }],
  ['ROLE', { ROLE: 'api' }],
  ['DATABASE_OWNER_URL', { DATABASE_OWNER_URL: url }],
  ['DATABASE_DIRECT_URL', { DATABASE_URL: url, DATABASE_DIRECT_URL: url }],
  ['DATABASE_POOLER', { DATABASE_URL: url, DATABASE_POOLER: 'transaction' }],
  ['DATABASE_POOLER', { DATABASE_DIRECT_URL: url, DATABASE_POOLER: 'transaction' }],
  ['SECRET_KEY_PREVIOUS', { SECRET_KEY_PREVIOUS: key }],
  ['HEADS_WEBHOOK', { HEADS_WEBHOOK: 'https://watch.example' }],
  ['HEADS_WEBHOOK', { HEADS_WEBHOOK: 'http://169.254.169.254', HEADS_WEBHOOK_SECRET: key }],
  ['SECRET_KEY', { MODE: 'live', PUBLIC_URL: 'https://pay.example' }],
])('%s is refused where the rest does not go with it: %j', (name, env) => {
  expect(faults(env).map((fault) => fault.split(/[= ]/)[0])).toEqual([name])
})

test('live starts with a key', () => {
  expect(config({ MODE: 'live', SECRET_KEY: key })).toMatchObject({ mode: 'live' })
  expect(config(live)).toMatchObject({ mode: 'live', publicUrl: 'https://pay.example' })
})

test('a worker or an API process starts where the database is named', () => {
  for (const role of ['worker', 'api']) {
    expect(config({ ROLE: role, DATABASE_URL: 'postgres://u:p@h/d' }).role).toBe(role)
  }
})

test('all faults are told at once', () => {
  const found = faults({ PORT: 'x', MODE: 'x', TIME_ZONE: 'x', SECRET_KEY: 'x', LOG_LEVEL: 'x' })
  expect(found.map((fault) => fault.split(' ')[0]).toSorted()).toEqual([
    'LOG_LEVEL',
    'MODE',
    'PORT',
    'SECRET_KEY',
    'TIME_ZONE',
  ])
})

test('a fault never repeats a secret', () => {
  const secrets = {
    SECRET_KEY: 'hunter2',
    SECRET_KEY_PREVIOUS: 'hunter2',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
    DATABASE_OWNER_URL: 'mysql://u:hunter2@h/d',
    DATABASE_DIRECT_URL: 'mysql://u:hunter2@h/d',
    DATABASE_POOLER: 'transaction',
    PUBLIC_URL: 'https://u:hunter2@pay.example',
  }
  const found = faults(secrets)
  expect(found).toHaveLength(6)
  expect(found.join()).not.toContain('hunter2')
})
