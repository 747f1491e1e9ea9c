import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallbackTargets, urlFault } from '../../src/agents/callback-url.ts'
import { makeVettedLookup } from '../../src/callbacks/vetted-lookup.ts'
import { AccessTokens } from '../../src/providers/http/access-tokens.ts'
import { CompanyClient } from '../../src/providers/http/company-client.ts'
import { company, documentOf, providerBy } from '../support/connector.ts'
import { neverIdle } from '../support/receiver.ts'

let server: Server
let port: number
let calls: string[] = []
let respond: (path: string, body: string) => [number, string, Record<string, string>?] = () => [
  200,
  '{}',
]

beforeAll(async () => {
  server = createServer(neverIdle, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    calls.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim())
    const [status, text, headers = {}] = respond(request.url ?? '', body)
    response.writeHead(status, headers).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function client(targets: CallbackTargets, addresses: string[] = ['127.0.0.1']): CompanyClient {
  return new CompanyClient({
    lookup: makeVettedLookup(targets, async () => addresses),
    urlFault: (url) => urlFault(url, targets),
  })
}

const get = (url: string) => ({ method: 'GET' as const, url, headers: {}, body: null })
const soon = () => AbortSignal.timeout(60_000)

describe('a company', () => {
  it('says how long it wants to be left alone, in seconds or until when', async () => {
    const usual = respond
    const restOf = async (header: string) => {
      respond = () => [503, '{}', { 'retry-after': header }]
      return (await client('near').send(get(`http://pay.example:${port}/`), soon())).restMs
    }
    expect(await restOf('30')).toBe(30_000)
    const later = await restOf(new Date(Date.now() + 3_600_000).toUTCString())
    expect(later).toBeGreaterThan(3_000_000)
    for (const none of ['0', '-5', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
      expect(await restOf(none)).toBeUndefined()
    }
    respond = usual
  })

  it('whose name leads to a private address is not called, unless that is allowed', async () => {
    calls = []
    const url = `http://pay.example:${port}/`
    await expect(client('public').send(get(url), soon())).rejects.toThrow('not a public address')
    const both = client('public', ['93.184.216.34', '127.0.0.1'])
    await expect(both.send(get(url), soon())).rejects.toThrow('not a public address')
    for (const literal of [
      `http://127.0.0.1:${port}/`,
      'http://[::1]/',
      'http://169.254.169.254/',
    ]) {
      await expect(client('public').send(get(literal), soon())).rejects.toThrow('its address')
    }
    await expect(client('secure').send(get(url), soon())).rejects.toThrow('https')
    const metadata = client('near', ['169.254.169.254'])
    await expect(metadata.send(get(url), soon())).rejects.toThrow('169.254.169.254')
    expect(calls).toEqual([])
    expect((await client('near').send(get(url), soon())).status).toBe(200)
  })

  it('that sends elsewhere is not followed', async () => {
    calls = []
    respond = () => [302, '', { location: `http://127.0.0.1:${port}/other` }]
    const answer = await client('near').send(get(`http://127.0.0.1:${port}/first`), soon())
    expect(answer.status).toBe(302)
    expect(calls).toEqual(['GET /first'])
  })

  it('that answers at length is cut off', async () => {
    respond = () => [200, 'x'.repeat(70_000)]
    const answer = await client('near').send(get(`http://127.0.0.1:${port}/`), soon())
    expect(answer).toMatchObject({ status: 200, isCut: true })
  })
})

describe('an access token', () => {
  const made = () => {
    const base = `http://127.0.0.1:${port}`
    const auth = {
      kind: 'oauth',
      tokenUrl: `${base}/token`,
      clientId: { text: 'us' },
      clientSecret: { secret: 'api' },
      credentials: 'form',
    }
    const document = documentOf({ ...company, base, auth, secrets: { api: 'x' } })
    return providerBy(document, { api: 's3cret' }, { client: client('near') })
  }
  const payout = {
    reference: 'SX0123456789A',
    amountMinor: 10_007n,
    currency: 'THB' as const,
    payee: { accountNo: '1', accountName: 'A', bankCode: 'SCB' },
    extraParams: null,
  }
  let tokens = 0
  const answer = (path: string, status: number, text: string): [number, string] =>
    path === '/token' ? [200, `{"access_token":"t${++tokens}","expires_in":3600}`] : [status, text]

  it('is got once and kept', async () => {
    calls = []
    tokens = 0
    const done = JSON.stringify({ ref: payout.reference, state: 'DONE' })
    respond = (path) => answer(path, 200, done)
    const provider = made()
    for (let n = 0; n < 3; n++) {
      expect(await provider.askPayout(payout, soon())).toEqual({ type: 'paid' })
    }
    expect(calls).toEqual([
      'POST /token',
      ...Array(3).fill(`GET /payouts/${payout.reference} Bearer t1`),
    ])
  })

  it('that was taken back is replaced for a question, and a hand-over is never repeated', async () => {
    calls = []
    tokens = 0
    respond = (path) => answer(path, 401, '{"error":"expired"}')
    const provider = made()
    expect((await provider.submitPayout(payout, soon())).type).toBe('unknown')
    expect(calls).toEqual(['POST /token', 'POST /payouts Bearer t1'])
    calls = []
    expect((await provider.askPayout(payout, soon())).type).toBe('unknown')
    expect(calls).toEqual([
      'POST /token',
      `GET /payouts/${payout.reference} Bearer t2`,
      'POST /token',
      `GET /payouts/${payout.reference} Bearer t3`,
    ])
  })

  it('that is not given has nothing sent', async () => {
    for (const [status, text] of [
      [200, '{}'],
      [200, '<html>'],
      [401, '{"access_token":"t"}'],
      [200, '{"access_token":"a\\r\\nb: c"}'],
    ] as [number, string][]) {
      calls = []
      respond = () => [status, text]
      expect((await made().submitPayout(payout, soon())).type).toBe('not_sent')
      expect(calls).toEqual(['POST /token'])
    }
  })

  it('is asked for once by many', async () => {
    calls = []
    tokens = 0
    respond = (path) => answer(path, 200, '{}')
    const shared = new AccessTokens(client('near'))
    const auth = {
      kind: 'oauth',
      tokenUrl: `http://127.0.0.1:${port}/token`,
      clientId: { text: 'us' },
      clientSecret: { secret: 'api' },
      credentials: 'basic',
    } as const
    const got = await Promise.all([1, 2, 3].map(() => shared.get(auth, () => 's', soon())))
    expect(got).toEqual(['t1', 't1', 't1'])
    expect(calls).toEqual([`POST /token Basic ${Buffer.from('us:s').toString('base64')}`])
  })
})
