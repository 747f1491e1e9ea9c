import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenApi, operations } from '../../../sdk/test/schemas-from-openapi.ts'
import { vectors } from '../../../sdk/test/vectors.ts'
import { type DescribedApi, postmanCollection } from '../support/postman-collection.ts'
import { root } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

const path = join(root, 'docs/examples/sluice.postman_collection.json')
let s: TestService
let openapi: OpenApi & DescribedApi
beforeAll(async () => {
  s = await startTestService({ env: { PUBLIC_URL: 'https://pay.example' }, realTime: true })
  openapi = (await (await fetch(`${s.service.url}/openapi.json`)).json()) as typeof openapi
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

test('the Postman collection is that of /openapi.json, with every operation', async () => {
  const collection = postmanCollection(openapi)
  const text = execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: JSON.stringify(collection, null, 2),
    encoding: 'utf8',
  })
  await expect(text).toMatchFileSnapshot(path)
  const requests = collection.item.flatMap(({ item }) => item)
  expect(requests).toHaveLength(operations(openapi).length)
})

interface Sent {
  method: string
  /** With variables in it, as Postman keeps it. */
  url: string
  body: string
  headers: Record<string, string>
}

/** Runs the collection's own script as Postman would, and says what is sent. */
function asPostmanSends(
  { method, url, body }: { method: string; url: string; body?: string },
  variables: Record<string, string>,
  now?: string,
): Sent {
  const script = postmanCollection(openapi).event[0]?.script.exec.join('\n') ?? ''
  const values = new Map(Object.entries(variables))
  const replaceIn = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (all, name) => values.get(name) ?? all)
  const headers: Record<string, string> = {}
  const pm = {
    variables: {
      get: (name: string) => values.get(name),
      set: (name: string, value: string) => values.set(name, value),
      replaceIn,
    },
    request: {
      method,
      url: { toString: () => url },
      body: body === undefined ? undefined : { raw: body },
      headers: {
        upsert: ({ key, value }: { key: string; value: string }) => {
          headers[key] = value
        },
      },
    },
  }
  // Postman's own library, as far as the script uses it.
  const cryptoJs = {
    HmacSHA256: (text: string, key: string) => createHmac('sha256', key).update(text).digest('hex'),
  }
  class Clock extends Date {
    constructor() {
      super(now ?? Date.now())
    }
    static override now() {
      return new Clock().getTime()
    }
  }
  runInNewContext(script, {
    pm,
    require: (name: string) => (name === 'crypto-js' ? cryptoJs : undefined),
    Date: now === undefined ? Date : Clock,
  })
  return { method, url: replaceIn(url), body: replaceIn(body ?? ''), headers }
}

test.each(vectors.signed.filter(({ kind }) => kind === 'request'))(
  'its script signs as the shared vector says: $name',
  ({ method = '', path: signed = '', body, header, secrets: [secret = ''], t }) => {
    const now = new Date(Number(t) * 1000).toISOString()
    const variables = { base_url: 'https://pay.example', app_id: 'app_1', secret }
    const url = `{{base_url}}${signed}`
    const { headers } = asPostmanSends({ method, url, body }, variables, now)
    expect(headers).toMatchObject({ 'x-appid': 'app_1', 'x-signature': header })
  },
)

test('a base address with a path is signed with it', () => {
  const variables = { base_url: 'https://pay.example/pay', app_id: 'a', secret: 'sk_1' }
  const url = '{{base_url}}/payment/wallet'
  const { headers } = asPostmanSends({ method: 'GET', url }, variables, '2026-01-01T00:00:00Z')
  const signed = '1767225600.GET /pay/payment/wallet.'
  const v1 = createHmac('sha256', 'sk_1').update(signed).digest('hex')
  expect(headers['x-signature']).toBe(`t=1767225600,v1=${v1}`)
})

test('what the collection sends is accepted by the service', async () => {
  const agent = await s.agent()
  const variables = { base_url: s.service.url, app_id: agent.appId, secret: agent.secret }
  const collection = postmanCollection(openapi)
  const requests = collection.item.flatMap(({ item }) => item)
  const send = async (name: string, more: Record<string, string> = {}) => {
    const { request } = requests.find((each) => each.name === name) ?? {}
    if (!request) throw new Error(`there is no request ${name}`)
    const { method, url, body, headers } = asPostmanSends(
      {
        method: request.method,
        url: request.url.raw,
        ...(request.body && { body: request.body.raw }),
      },
      { ...variables, ...more },
    )
    const type = { 'content-type': 'application/json' }
    const sent = { method, headers: { ...headers, ...type }, ...(body !== '' && { body }) }
    const answer = await fetch(url, sent)
    return { status: answer.status, json: JSON.parse(await answer.text()) }
  }
  const { status, json } = await send('Create a deposit order')
  expect(status).toBe(201)
  const paid = await send('Make an outcome happen', { txn_id: json.txn_id }).catch(String)
  expect(paid).toMatchObject({ status: 200, json: { status: 'PAID' } })
  expect(await send('Create a withdraw order')).toMatchObject({ status: 201 })
  expect(await send('List orders, newest first, or find one by refId')).toMatchObject({
    status: 200,
  })
})
