import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nobody } from '../../src/operators/credentials.ts'
import { lookerId } from '../../src/operators/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService

beforeAll(async () => {
  s = await startTestService()
})
afterAll(() => s.close())

/** Asks as a browser does; fetch would not let anybody choose the header Host. */
function ask(
  method: string,
  path: string,
  { body, headers = {}, at = s }: { body?: object; headers?: object; at?: TestService } = {},
): Promise<{ status: number; cookie: string }> {
  return new Promise((resolve, reject) => {
    const json = body && { 'content-type': 'application/json', 'x-sluice-console': '1' }
    const asking = request(
      `${at.service.url}/console/api${path}`,
      { method, headers: { ...json, ...headers } },
      (response) => {
        const [cookie = ''] = response.headers['set-cookie'] ?? []
        response
          .resume()
          .on('end', () =>
            resolve({ status: response.statusCode ?? 0, cookie: cookie.split(';')[0] ?? '' }),
          )
      },
    )
    asking.on('error', reject).end(body && JSON.stringify(body))
  })
}

const tokenOf = (link: string | undefined) => ({ token: link?.split('#')[1] ?? '' })
const elsewhere: object[] = [
  { 'x-forwarded-for': '203.0.113.9' },
  { 'x-client-ip': '203.0.113.9' },
  { 'cf-ray': '8a1' },
  { forwarded: 'for=203.0.113.9' },
  { 'x-real-ip': '203.0.113.9' },
  { via: '1.1 proxy' },
  { host: 'sluice.example' },
  { host: '203.0.113.9:8080' },
]

it('a link opens the console once, within five minutes, for looking only', async () => {
  const body = tokenOf(s.service.lookLink())
  expect((await ask('POST', '/look-around', { body: { token: 'x'.repeat(43) } })).status).toBe(404)
  const { status, cookie } = await ask('POST', '/look-around', { body })
  expect(status).toBe(200)
  expect((await ask('POST', '/look-around', { body })).status).toBe(404)

  const headers = { cookie }
  for (const path of ['/me', '/home', '/orders', '/insights?period=24h', '/wallets']) {
    expect((await ask('GET', path, { headers })).status, path).toBe(200)
  }
  // Neither what changes something nor what a viewer may not see.
  expect((await ask('POST', '/agents', { headers, body: { name: 'Mine' } })).status).toBe(403)
  expect((await ask('POST', '/test-orders', { headers, body: {} })).status).toBe(403)
  expect((await ask('GET', '/users', { headers })).status).toBe(403)
  // An export is on record, and nobody of the users has done it.
  expect((await ask('GET', '/orders.csv', { headers })).status).toBe(200)
  const { rows } = await s.sql('select user_id, email from audit_log')
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) expect(row).toEqual({ user_id: null, email: 'looking around' })

  expect(lookerId).not.toBe(nobody)

  const late = tokenOf(s.service.lookLink())
  s.clock.advance(5 * 60_000 + 1)
  expect((await ask('POST', '/look-around', { body: late })).status).toBe(404)
})

it('only from this machine, by its own name, and not passed on', async () => {
  const body = tokenOf(s.service.lookLink())
  for (const headers of elsewhere) {
    const { status } = await ask('POST', '/look-around', { body, headers })
    expect(status, JSON.stringify(headers)).toBe(404)
  }
  const { cookie } = await ask('POST', '/look-around', { body })
  for (const headers of elsewhere) {
    const { status } = await ask('GET', '/home', { headers: { ...headers, cookie } })
    expect(status, JSON.stringify(headers)).toBe(401)
  }
  expect((await ask('GET', '/home', { headers: { cookie } })).status).toBe(200)
})

it('there is no link where others could come in', async () => {
  for (const env of [
    { HOST: '0.0.0.0' },
    { PUBLIC_URL: 'https://pay.example' },
    { TRUSTED_PROXIES: '10.0.0.0/8' },
  ]) {
    const beside = await startTestService({ beside: s, env })
    expect(beside.service.lookLink(), JSON.stringify(env)).toBeUndefined()
    await beside.close()
  }
})
