import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What people know of orders, their users and accounts; and what they do to several orders at once. */

let test: TestService
let agent: AgentClient
let operator: OperatorClient

beforeAll(async () => {
  test = await startTestService()
  agent = await test.agent()
  operator = await signIn(test, 'operator')
})
afterEach(() => test.prove())
afterAll(() => test.close())

const made = async (fields: object = {}) =>
  (await agent.deposit({ ...fields })).json.txn_id as string
const marks = async (id: string) => (await operator.get(`/orders/${id}/marks`)).json.data
const say = (id: string, body: object) => operator.post(`/orders/${id}/marks`, body)

it('a tag or note on a user or an account is seen on each of its orders, and of no other agent', async () => {
  const first = await made({ userId: 'somchai', accountNo: '111-222-333' })
  const other = await made({ userId: 'somchai', accountNo: '999888777' })
  const foreign = (await (await test.agent()).deposit({ userId: 'somchai' })).json.txn_id
  await say(first, { about: 'user', tag: 'vip' })
  await say(first, { about: 'account', note: 'belongs to his sister' })
  await say(first, { about: 'order', tag: 'fraud' })
  await say(first, { about: 'order', tag: 'fraud' })
  await say(first, { about: 'order', assignee: operator.email })
  expect(await marks(first)).toMatchObject([
    { about: 'order', tags: ['fraud'], assignee: operator.email },
    { about: 'user', subject: 'somchai', tags: ['vip'] },
    { about: 'account', subject: '111222333', notes: [{ note: 'belongs to his sister' }] },
  ])
  expect(await marks(other)).toMatchObject([{ tags: [] }, { tags: ['vip'] }, { notes: [] }])
  expect(await marks(foreign)).toMatchObject([{ tags: [] }, { tags: [] }, {}])
  await say(first, { about: 'order', untag: 'fraud' })
  expect((await marks(first))[0].tags).toEqual([])
  const wrong = [
    { tag: 'No Spaces' },
    {},
    { tag: 'a', note: 'b' },
    { assignee: 'nobody@x.example' },
  ]
  for (const body of wrong) expect((await say(first, { about: 'order', ...body })).status).toBe(422)
  const viewer = await signIn(test, 'viewer')
  expect((await viewer.post(`/orders/${first}/marks`, { about: 'order', tag: 'x' })).status).toBe(
    403,
  )
  const seen = (await viewer.get(`/orders/${first}/marks`)).json.data
  expect(seen[2].subject).not.toBe('111222333')
})

it('lists show the tags of orders and find them by a tag or a user, with other filters and page by page', async () => {
  const shop = await test.agent()
  const orders: string[] = []
  for (const userId of ['anan', 'anan', 'boonsri', 'chai', 'chai']) {
    test.clock.advance(1_000)
    orders.push((await shop.deposit({ userId })).json.txn_id)
  }
  const [first = '', second = '', third = '', fourth = ''] = orders
  await shop.trigger(second, 'PAID')
  await say(first, { about: 'user', tag: 'watch' })
  await say(first, { about: 'order', tag: 'watch' })
  await say(third, { about: 'order', tag: 'watch' })
  await say(fourth, { about: 'order', tag: 'watch' })
  await say(fourth, { about: 'order', untag: 'watch' })
  const list = async (query: string, who = operator) =>
    (await who.get(`/orders?agent=${shop.appId}&${query}`)).json
  const ids = async (query: string) =>
    (await list(query)).data.map(({ txn_id }: { txn_id: string }) => txn_id)
  expect(await ids('tag=watch')).toEqual([third, second, first])
  expect(await ids('tag=watch&status=PAID')).toEqual([second])
  expect(await ids('tag=watch&status=WAITING')).toEqual([third, first])
  expect(await ids('tag=nothing')).toEqual([])
  expect(await ids(`tag=watch&q=${second}`)).toEqual([second])
  expect(await ids(`tag=watch&q=${fourth}`)).toEqual([])
  expect(await ids('user=anan')).toEqual([second, first])
  const page = await list('tag=watch&limit=2')
  expect(page.data.map(({ tags }: { tags: string[] }) => tags)).toEqual([['watch'], []])
  expect(await ids(`tag=watch&limit=2&cursor=${page.next}`)).toEqual([first])
  const csv = await operator.get(`/orders.csv?agent=${shop.appId}&tag=watch`)
  expect(csv.text.trim().split('\n')).toHaveLength(4)
  // What people write down about orders is not for agents.
  const owner = await signIn(test, 'agent', shop)
  expect((await list('tag=watch', owner)).data).toEqual([])
  expect((await list('user=anan', owner)).data).toMatchObject([{ tags: [] }, { tags: [] }])
})

it('several orders are tagged, assigned, cancelled and told again; each says what became of it', async () => {
  await agent.fund(500)
  const { json: waiting } = await agent.withdraw({ amount: 20, extraParams: { sandbox: 'slow' } })
  const paid = await made()
  await agent.trigger(paid, 'PAID')
  const txn_ids = [paid, waiting.txn_id]
  const tagged = await operator.post('/orders-together/mark', { txn_ids, tag: 'batch-7' })
  expect(tagged.json.data).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
  expect((await marks(paid))[0].tags).toEqual(['batch-7'])
  await operator.post('/orders-together/mark', { txn_ids, assignee: operator.email })
  expect((await marks(waiting.txn_id))[0].assignee).toBe(operator.email)
  // Whoever has something to look into finds it, until it is given to another.
  const mine = async () =>
    (await operator.get(`/orders?tag=batch-7&assignee=${operator.email}`)).json.data.map(
      (row: { txn_id: string; assignee: string }) => [row.txn_id, row.assignee],
    )
  expect((await mine()).sort()).toEqual(txn_ids.map((id) => [id, operator.email]).sort())
  const { email: colleague } = await signIn(test, 'operator')
  expect((await operator.get('/assignees')).json.data).toEqual(
    expect.arrayContaining([operator.email, colleague]),
  )
  await operator.post('/orders-together/mark', { txn_ids: [paid], assignee: colleague })
  expect(await mine()).toEqual([[waiting.txn_id, operator.email]])
  const reason = 'they asked for it'
  const told = await operator.post('/orders-together/resend', { txn_ids, reason })
  expect(told.json.data[0]).toMatchObject({ txn_id: paid, outcome: 'done' })
  const cancel = { txn_ids: [paid], reason }
  expect((await operator.post('/orders-together/cancel', cancel)).json.code).toBe('code_required')
  const ended = await operator.post('/orders-together/cancel', { ...cancel, code: operator.code() })
  expect(ended.json.data).toMatchObject([{ outcome: 'refused', detail: expect.any(String) }])
  const csv = await operator.get(`/orders.csv?txn_ids=${txn_ids.join(',')}`)
  expect(csv.text.trim().split('\n')).toHaveLength(3)
})

it('a view is shared with everybody, under a name of its own', async () => {
  const view = { name: 'Slow payouts', filters: 'kind=withdraw&status=WAITING' }
  expect((await operator.post('/shared-views', view)).json.data).toMatchObject([view])
  expect((await operator.post('/shared-views', view)).status).toBe(409)
  const viewer = await signIn(test, 'viewer')
  expect((await viewer.get('/shared-views')).json.data).toMatchObject([
    { ...view, shared_by: operator.email },
  ])
  expect((await viewer.post('/shared-views/forget', { name: view.name })).status).toBe(403)
  await operator.post('/shared-views/forget', { name: view.name })
  expect((await viewer.get('/shared-views')).json.data).toEqual([])
})
