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
