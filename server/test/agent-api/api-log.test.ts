import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiLog, keepApiLog } from '../../src/agents/api-log.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let shop: AgentClient
let other: AgentClient
let admin: OperatorClient
let user: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Chao Phraya Books' })
  other = await s.agent()
  admin = await signIn(s, 'admin')
  user = await signIn(s, 'agent', shop)
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

interface Entry {
  request_id: string
  status: number
  code: string | null
  body: string | null
  detail: string | null
}

async function logged(who: OperatorClient, query = ''): Promise<Entry[]> {
  return (await who.get(`/api-log${query}`)).json.data
}

it('every request of an agent is kept, with its answer and without persons', async () => {
  const well = await shop.deposit({ refId: 'WELL', extraParams: { note: 'for Malee' } })
  const wrong = await shop.deposit({ amount: -1 })
  const forged = await shop.send('GET', '/payment/wallet', undefined, {
    'x-signature': shop.sign('GET', '/payment/wallet', '', 'another secret'),
  })
  const body401 = { refId: 'FORGED', amount: 5, accountNo: '1234567890' }
  const forgedBody = await shop.send('POST', '/payment/deposit', JSON.stringify(body401), {
    'x-signature': shop.sign('POST', '/payment/deposit', '', 'another secret'),
  })
  const stranger = await other.get('/payment/wallet')
  const answers = [well, wrong, forged, forgedBody, stranger]
  expect(answers.map(({ status }) => status)).toEqual([201, 422, 401, 401, 200])
  const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id')

  await expect.poll(async () => (await logged(admin)).length).toBe(5)
  const own = await logged(user)
  expect(own.map(({ request_id }) => request_id).sort()).toEqual(
    [well, wrong, forged, forgedBody].map(idOf).sort(),
  )
  expect(own.find(({ request_id }) => request_id === idOf(well))).toMatchObject({
    ...{ app_id: shop.appId, agent_name: 'Chao Phraya Books', method: 'POST' },
    ...{ path: '/payment/deposit', status: 201, code: null, ip: '127.0.0.1', left_out: 0 },
  })
  const body = own.find(({ request_id }) => request_id === idOf(well))?.body ?? ''
  expect(JSON.parse(body)).toMatchObject({ refId: 'WELL', amount: 100, accountNo: '••••7890' })
  for (const secret of ['Somchai', '1234567890', 'Malee']) expect(body).not.toContain(secret)
  expect(await logged(user, '?answered=refused')).toHaveLength(3)
  // What a wrong signature was over is there for the debugger.
  const unsigned = own.find(({ request_id }) => request_id === idOf(forgedBody))
  expect(JSON.parse(unsigned?.body ?? '')).toMatchObject({ refId: 'FORGED', accountNo: '••••7890' })
  expect(own.find(({ request_id }) => request_id === idOf(wrong))?.detail).toMatch(/amount/)
  expect(own.find(({ request_id }) => request_id === idOf(forged))?.code).toBe('invalid_signature')
  expect((await user.get(`/api-log?agent=${other.appId}`)).status).toBe(404)

  // Page by page it is the same.
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await admin.get(`/api-log?limit=1${cursor && `&cursor=${cursor}`}`)
    paged.push(...json.data.map(({ request_id }: Entry) => request_id))
    cursor = json.next
  }
  expect(paged).toEqual((await logged(admin)).map(({ request_id }) => request_id))
  expect((await admin.get('/api-log?cursor=x')).status).toBe(422)
})

it('a flood is sampled: errors stay, and what is left out is counted', async () => {
  const log = new ApiLog(s.backend.pool, (error) => expect.unreachable(String(error)), 3_600_000)
  const at = s.clock()
  const note = (n: number, status: number, isProved = true) =>
    log.note({
      isProved,
      ...{ agentId: other.agentId, at, requestId: `flood-${n}`, method: 'GET', path: '/x', status },
      ...{ code: null, detail: null, durationMs: 1.4, ip: '127.0.0.1', readBody: () => '{}' },
    })
  // Strangers who know its app id keep none of its own errors out.
  for (let n = 2_000; n < 2_700; n++) note(n, 401, false)
  for (let n = 0; n < 1_000; n++) note(n, 200)
  for (let n = 1_000; n < 1_050; n++) note(n, 422)
  // Of bodies too only so much is kept: an error stays without its own.
  log.note({
    isProved: true,
    ...{ agentId: shop.agentId, at, requestId: 'small', method: 'GET', path: '/x', status: 422 },
    ...{ code: null, detail: null, durationMs: 1, ip: '127.0.0.1', readBody: () => '{}' },
  })
  log.note({
    isProved: true,
    ...{ agentId: shop.agentId, at, requestId: 'huge', method: 'GET', path: '/x', status: 422 },
    ...{ code: null, detail: null, durationMs: 1, ip: '127.0.0.1' },
    readBody: () => 'x'.repeat(17 * 1024 * 1024),
  })
  await log.stop()
  const bodies = await s.sql(
    `select request_id, body from api_requests where request_id in ('small', 'huge') order by 1 desc`,
  )
  expect(bodies.rows.map(({ body }) => body)).toEqual(['{}', null])
  const { rows } = await s.sql(
    `select count(*) filter (where status = 200)::int as well,
       count(*) filter (where status = 422)::int as refused,
       count(*) filter (where status = 401)::int as unproved, sum(left_out)::int as left_out
     from api_requests where request_id like 'flood-%'`,
  )
  expect(rows).toEqual([{ well: 300, refused: 50, unproved: 60, left_out: 1_340 }])
})

it('days are made ahead and dropped when they are over a week old', async () => {
  const days = async () => {
    const { rows } = await s.sql(
      `select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'api_requests'::regclass and c.relname <> 'api_requests_default'
       order by 1`,
    )
    return rows.map(({ relname }) => relname.slice(-10).replaceAll('_', '-'))
  }
  const today = new Date()
  const day = (n: number) => new Date(today.getTime() + n * 86_400_000).toISOString().slice(0, 10)
  await s.sql(`create table api_requests_2020_01_01 partition of api_requests
    for values from ('2020-01-01') to ('2020-01-02')`)
  expect(await keepApiLog(s.backend.pool, today)).toBe('more')
  expect(await keepApiLog(s.backend.pool, today)).toBe('done')
  const kept = await days()
  expect(kept).not.toContain('2020-01-01')
  // A run that began before midnight has yesterday's as well.
  expect(kept.filter((each) => each >= day(0))).toEqual([0, 1, 2, 3].map(day))
})
