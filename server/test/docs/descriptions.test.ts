import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

/** What programs that read the two descriptions, and write clients from them, can count on. */

type Part = Record<string, unknown>

interface Operation extends Part {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Part[]
  parameters?: { name: string; in: string; required: boolean; schema: Part }[]
  responses: Record<string, { headers?: Part; content?: Record<string, { schema: Part }> }>
}

interface Document {
  servers: { url: string }[]
  tags: { name: string }[]
  components: { schemas: Record<string, Part>; headers?: Part; securitySchemes: Part }
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Record<string, Operation>>
}

const publicUrl = 'https://pay.example'
let s: TestService
const documents: Record<string, Document> = {}

beforeAll(async () => {
  s = await startTestService({ env: { PUBLIC_URL: publicUrl } })
  for (const [name, path] of [
    ['agents', '/openapi.json'],
    ['console', '/console/api/openapi.json'],
  ] as const) {
    documents[name] = JSON.parse(await (await fetch(s.service.url + path)).text())
  }
})
afterAll(() => s.close())

const named = (name: string): Document => {
  const document = documents[name]
  if (!document) throw new Error(`there is no description ${name}`)
  return document
}

const operationsOf = ({ paths, webhooks = {} }: Document) =>
  Object.values({ ...paths, ...webhooks }).flatMap((methods) => Object.values(methods))

/** Every part of a document with where it stands. */
function partsOf(part: unknown, at = ''): [at: string, part: Part][] {
  if (Array.isArray(part)) return part.flatMap((each, index) => partsOf(each, `${at}/${index}`))
  if (typeof part !== 'object' || part === null) return []
  const own: Part = Object.fromEntries(Object.entries(part))
  const inside = Object.entries(own)
    // Values, which are no part of the description.
    .filter(([name]) => !name.startsWith('example') && !name.startsWith('x-example'))
    .flatMap(([name, each]) => partsOf(each, `${at}/${name}`))
  return [[at, own], ...inside]
}

describe.each(['agents', 'console'])('the description for %s', (name) => {
  test('every operation has a name of its own, a tag that is described, a server and words', () => {
    const document = named(name)
    const operations = operationsOf(document)
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operationId, summary, description, tags, security } of operations) {
      expect(operationId).toMatch(/^[a-z][A-Za-z0-9]*$/)
      expect(`${summary}/${description}`).toMatch(/\S.*\/.*\S/)
      expect(document.tags.map((tag) => tag.name)).toEqual(expect.arrayContaining(tags))
      const schemes = Object.keys(document.components.securitySchemes)
      expect(Array.isArray(security)).toBe(true)
      expect(schemes).toEqual(expect.arrayContaining(security.flatMap((each) => Object.keys(each))))
    }
    expect(document.servers).toEqual([{ url: publicUrl }])
  })

  test('every object has a name, and every reference leads somewhere', () => {
    const document = named(name)
    const { schemas } = document.components
    const used = new Set<string>()
    for (const [at, part] of partsOf(document)) {
      const isNamed = /^\/components\/schemas\/[^/]+$/.test(at)
      if (part.type === 'object' && part.properties !== undefined) expect(isNamed, at).toBe(true)
      if (typeof part.$ref !== 'string') continue
      const [, , kind = '', target = ''] = part.$ref.split('/')
      used.add(target)
      expect(Object.keys(Object(document.components)[kind]), part.$ref).toContain(target)
    }
    for (const each of Object.keys(schemas)) {
      expect(each).toMatch(/^[A-Z][A-Za-z0-9]*$/)
      expect(used, `${each} is used`).toContain(each)
    }
  })

  test('every number says how large it is: no client reads an amount as 32 bits', () => {
    for (const [at, { type, format }] of partsOf(named(name))) {
      const types = [type].flat()
      if (types.includes('integer')) expect(format, at).toBe('int64')
      if (types.includes('number')) expect(format, at).toBe('double')
    }
  })

  test('every pattern is understood by every engine', () => {
    let count = 0
    for (const [at, { pattern }] of partsOf(named(name))) {
      if (typeof pattern !== 'string') continue
      count++
      // Looking around, classes of Unicode, named groups and \u are told apart by engine, flag or version.
      expect(pattern, at).not.toMatch(/\(\?(?!:)|\\[pPuUkdwDWbBAZz]|\\x\{/)
      expect(() => new RegExp(pattern), at).not.toThrow()
      expect(() => new RegExp(pattern, 'u'), at).not.toThrow()
    }
    expect(count).toBeGreaterThan(5)
  })

  test('what may be null says so where every reader looks', () => {
    for (const [at, { anyOf }] of partsOf(named(name))) {
      if (!Array.isArray(anyOf)) continue
      const others = anyOf.filter((each) => each.type !== 'null')
      if (others.length === anyOf.length) continue
      // Only what is kept under a name cannot say it in its own type.
      for (const each of others) expect(each.$ref, at).toMatch(/^#/)
    }
  })
})

describe('what is checked is said', () => {
  test('how far after may go, and what a sandbox payment may be', async () => {
    const { paths, components } = named('agents')
    for (const path of ['/payment/events', '/payment/wallet/entries']) {
      const after = paths[path]?.get?.parameters?.find((each) => each.name === 'after')
      expect(after?.schema).toMatchObject({ minimum: 0, maximum: 999_999_999_999_999 })
    }
    const agent = await s.agent()
    expect((await agent.get('/payment/events?after=999999999999999')).status).toBe(200)
    expect((await agent.get('/payment/events?after=1000000000000000')).status).toBe(422)
    const trigger = Object(components.schemas.TriggerRequest)
    expect(trigger.properties.paidAmount).toMatchObject({
      multipleOf: 0.01,
      description: expect.stringContaining('steps of 0.01'),
    })
  })

  test('the headers of answers, and who signs what the service sends', () => {
    const { paths, webhooks = {}, components } = named('agents')
    for (const path of ['/payment/deposit', '/payment/withdraw']) {
      const answers = paths[path]?.post?.responses ?? {}
      expect(Object.keys(answers['200']?.headers ?? {})).toContain('idempotent-replayed')
      expect(Object.keys(answers.default?.headers ?? {})).toContain('retry-after')
    }
    expect(Object.keys(components.headers ?? {})).toContain('ratelimit-remaining')
    for (const { post } of Object.values(webhooks)) {
      expect(post?.security).toEqual([{ appId: [], callbackSignature: [] }])
    }
  })

  test('the mark that every change from the console must carry', () => {
    for (const methods of Object.values(named('console').paths)) {
      for (const [method, { parameters = [] }] of Object.entries(methods)) {
        const marks = parameters.filter((each) => each.name === 'x-sluice-console')
        const mark = { in: 'header', required: true, schema: { type: 'string', enum: ['1'] } }
        expect(marks).toMatchObject(method === 'get' ? [] : [mark])
      }
    }
  })
})
