import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn } from '../support/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** An agent's own users say how its payment page looks, and nobody else's. */

let test: TestService

beforeAll(async () => {
  test = await startTestService()
})
afterAll(() => test.close())

it('is changed by the agent’s own users with a code, and by no other agent’s', async () => {
  const agent = await test.agent()
  const own = await signIn(test, 'agent', agent)
  const other = await signIn(test, 'agent', await test.agent())
  const png = Buffer.from('\x89PNG\r\n\x1a\n0123', 'latin1').toString('base64')
  const looks = { colour: '#0A7D4F', logo: `data:image/png;base64,${png}` }
  const path = `/agents/${agent.appId}/looks`
  expect((await own.put(path, looks)).json.code).toBe('code_required')
  expect((await other.put(path, { ...looks, code: other.code() })).status).toBe(404)
  // Staff change the agent, which may take two of them.
  const staff = await signIn(test, 'admin')
  const refused = await staff.put(path, { ...looks, code: staff.code() })
  expect([refused.status, refused.json.code]).toEqual([403, 'not_permitted'])
  const set = await own.put(path, { ...looks, code: own.code() })
  expect([set.status, set.text]).toEqual([200, set.text])
  const shown = (await own.get(`/agents/${agent.appId}`)).json
  expect(shown).toMatchObject({ colour: '#0a7d4f', logo: looks.logo })
  // The page itself, of an order that does not exist, with a colour that is not saved yet.
  const preview = (query: string, who = own) =>
    who.get(`/agents/${agent.appId}/payment-page?${query}`)
  const page = await preview('colour=%23123456&lang=th')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  for (const part of ['lang="th"', '#123456', looks.logo, 'SAMPLE-1']) {
    expect(page.text).toContain(part)
  }
  expect(page.text).not.toContain('<script')
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; style-src 'self' 'sha256-[^;]+; /)
  expect(policy).toMatch(/; frame-ancestors 'self'; sandbox allow-same-origin$/)
  expect(policy).not.toContain('script-src')
  expect((await preview('colour=red;}')).status).toBe(422)
  expect((await preview('', other)).status).toBe(404)
  expect((await test.sql('select from orders')).rows).toEqual([])
  const wrong = [
    { ...looks, colour: 'red' },
    { ...looks, logo: 'data:image/svg+xml;base64,PHN2Zz4=' },
    { ...looks, logo: `data:image/png;base64,${Buffer.from('no picture').toString('base64')}` },
  ]
  for (const body of wrong) {
    expect((await own.put(path, { ...body, code: own.code() })).status).toBe(422)
  }
  expect((await own.put(path, { colour: null, logo: null, code: own.code() })).status).toBe(200)
  expect((await own.get(`/agents/${agent.appId}`)).json).toMatchObject({ colour: null, logo: null })
})
