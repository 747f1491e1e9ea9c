import { createHash } from 'node:crypto'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { problemCatalogue } from '../lib/problem.ts'
import { operation } from './agent-api/operation.ts'
import { OrderPage, OrderQuery, OrderRequest, OrderView, TxnParams } from './agent-api/schemas.ts'
import { nameSchemas } from './name-schemas.ts'
import { type OpenApiDocument, referencePage } from './reference-page.ts'

const hostile = `</style><script>alert(1)</script><img src="https://evil.example/" onerror='x'>&amp;`

/** A document as the service makes it. */
async function served(url = 'http://localhost:8080') {
  const app = fastify()
  // As in the service, where schemas are compiled by other hands.
  app.setValidatorCompiler(() => () => true)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Sluice', version: '1.2.3' },
      servers: [{ url }],
      components: {
        securitySchemes: {
          appId: { type: 'apiKey', in: 'header', name: 'x-appid' },
          signature: { type: 'apiKey', in: 'header', name: 'x-signature' },
        },
      },
    },
  })
  const described = {
    summary: 'An operation',
    tag: 'Orders',
    answers: { 200: OrderView },
  }
  const answer = async () => ''
  app.post(
    '/orders',
    { schema: operation({ ...described, id: 'make', body: OrderRequest }) },
    answer,
  )
  app.get(
    '/orders',
    {
      schema: operation({
        ...described,
        id: 'list',
        query: OrderQuery,
        answers: { 200: OrderPage },
      }),
    },
    answer,
  )
  app.delete(
    '/orders/:txn_id',
    { schema: operation({ ...described, id: 'take', params: TxnParams }) },
    answer,
  )
  await app.ready()
  return nameSchemas({ ...app.swagger() }, { OrderRequest, OrderPage, OrderView })
}

/** A document with the hostile text wherever a document has text. */
const hostileDocument: OpenApiDocument = {
  info: { title: hostile, version: hostile, description: hostile },
  servers: [{ url: 'https://pay.example//evil.example/"><script>' }],
  components: { securitySchemes: { [hostile]: { name: hostile } } },
  paths: {
    [`/${hostile}/{id}`]: {
      post: {
        tags: [hostile],
        summary: hostile,
        description: hostile,
        security: [{ [hostile]: [] }],
        parameters: [
          { in: 'path', name: hostile, description: hostile, schema: { type: hostile } },
        ],
        requestBody: {
          content: {
            [hostile]: {
              schema: {
                type: 'object',
                required: [hostile],
                properties: {
                  [hostile]: { type: 'string', enum: [hostile], pattern: hostile },
                  list: { type: 'array', items: { type: 'string', default: hostile } },
                },
              },
            },
          },
        },
        responses: { [hostile]: { description: hostile } },
      },
    },
  },
}

const decoded = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

/** What a reader sees of the page, without its markup. */
const textOf = (html: string) => decoded(html.replace(/<[^>]*>/g, ''))

/** The part of a page about one operation. */
function articleOf(html: string, id: string): string {
  return html.slice(html.indexOf(`<article id="${id}"`)).split('</article>')[0] ?? ''
}

test('every operation appears, in the contents and with its method and path', async () => {
  const { html } = referencePage(await served())
  const paths = [
    ['post-orders', 'POST', '/orders'],
    ['get-orders', 'GET', '/orders'],
    ['delete-orders-txn-id', 'DELETE', '/orders/{txn_id}'],
  ] as const
  for (const [id, method, path] of paths) {
    expect(html).toContain(`href="#${id}"`)
    expect(textOf(articleOf(html, id))).toContain(`${method} ${path}`)
  }
  expect(html.match(/<article /g)).toHaveLength(paths.length)
})

test('a request shows each field, what it must be, and an example the schema allows', async () => {
  const { html } = referencePage(await served())
  const text = textOf(articleOf(html, 'post-orders'))
  for (const name of Object.keys(OrderRequest.properties)) expect(text).toContain(`"${name}": `)
  expect(text).toContain('accountNostringrequired4 to 34 letters and digits')
  expect(text).toContain('extraParamsobject or nulloptionalan object of at most 4 KiB')
  const example = /Example, application\/json\s*(\{[\s\S]*?\n\})/.exec(text)?.[1] ?? ''
  expect(Value.Check(OrderRequest, JSON.parse(example))).toBe(true)
})

test('an answer shows nested fields, its forms and what may be null', async () => {
  const { html } = referencePage(await served())
  const text = textOf(articleOf(html, 'get-orders'))
  expect(text).toContain('dataarray of objectalways')
  expect(text).toContain('data[].transfer.account_number')
  expect(text).toContain('Form 2 of 2, with wallet')
  expect(text).toContain('completed_atstring or nullalways')
  expect(text).toContain('"code": "invalid_request"')
})

test('every error code is listed with its status and title', async () => {
  const { html } = referencePage(await served())
  for (const [code, [status, title]] of Object.entries(problemCatalogue)) {
    expect(textOf(html)).toContain(`${status}${code}${title}`)
  }
})

test('hostile text is shown, never obeyed', () => {
  const { html } = referencePage(hostileDocument)
  expect(html.match(/<script/g)).toHaveLength(1)
  expect(html).not.toMatch(/<img|onerror='/)
  expect(html.match(/<\/style>/g)).toHaveLength(1)
  expect(textOf(html)).toContain(`POST /${hostile}/{id}`)
})

test('the page asks nothing of anybody and links only to itself', async () => {
  const page = [referencePage(await served()), referencePage(hostileDocument)]
  for (const { html } of page) {
    // Programs that are shown may say anything.
    const marked = html.replace(/<pre>[\s\S]*?<\/pre>/g, '')
    expect(marked).not.toMatch(
      /<(script \w|link|img|iframe|object|form|base)\b|\bstyle=|url\(|@import/,
    )
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address)
    expect(addresses.length).toBeGreaterThan(3)
    for (const address of addresses) {
      expect(address).toMatch(/^(#[a-z0-9-]+|(\/[^/]+)*\/openapi\.json)$/)
    }
  }
})

test('every link within the page has its target, and no id is there twice', async () => {
  const { html } = referencePage(await served())
  const ids = [...html.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, target] of html.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(target)
})

test('the policy allows the one style and the one script by their hashes, and nothing else', async () => {
  const { html, contentSecurityPolicy } = referencePage(await served())
  const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? ''
  const scriptHash = createHash('sha256').update(script).digest('base64')
  expect(contentSecurityPolicy).toBe(
    `default-src 'none'; script-src 'sha256-${scriptHash}'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
})

test('headings come in order', async () => {
  const { html } = referencePage(await served())
  const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level))
  expect(levels[0]).toBe(1)
  levels.slice(1).forEach((level, at) => {
    expect(level).toBeGreaterThan(1)
    expect(level).toBeLessThanOrEqual((levels[at] ?? 0) + 1)
  })
})

test('a path in the base address is signed and linked', async () => {
  const { html } = referencePage(await served('https://pay.example/api/'))
  expect(html).toContain('href="/api/openapi.json"')
  expect(textOf(html)).toContain('"$t.POST /api/payment/deposit.$body"')
  expect(textOf(html)).toContain(`curl 'https://pay.example/api/payment/deposit'`)
})

test('the same document gives the same page', async () => {
  expect(referencePage(await served())).toEqual(referencePage(await served()))
})
