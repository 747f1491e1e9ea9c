import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { houseBook } from '../../src/ledger/house.ts'
import { findItem } from '../../src/ledger/open-items.ts'
import { bookItem } from '../../src/payouts/book-item.ts'
import { writeOff } from '../../src/teller/write-off.ts'
import {
  attemptsOf,
  FakeProvider,
  fundedAgent,
  type Process,
  paymentEvent,
  payoutEvent,
  startProcess,
  statusOf,
  told,
} from '../support/fake-provider.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, tempFolder } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Contradictions, as operators and the command line see and settle them. */

const bank = new FakeProvider('bank')
let s: TestService
let process: Process
let operator: OperatorClient
let viewer: OperatorClient
let owner: OperatorClient
let agent: AgentClient

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [bank], paysOut: false } })
  process = await startProcess(s, [bank])
  agent = await fundedAgent(s, { name: 'Shop' })
  operator = await signIn(s, 'operator')
  viewer = await signIn(s, 'viewer')
  owner = await signIn(s, 'agent', agent)
})
afterEach(() => s.prove())
afterAll(async () => {
  await process.close()
  await s.close()
  await cleanUp()
})

const reason = 'the bank called'

/** A payout that failed, and that the bank then says it paid. */
async function contradiction(): Promise<{ txnId: string; itemId: string; reference: string }> {
  const txnId: string = (await agent.withdraw()).json.txn_id
  bank.onSubmit = async () => ({ type: 'rejected', mayTryAnother: false, reason: 'no' })
  await process.payOut(txnId)
  const [{ reference } = { reference: '' }] = await attemptsOf(s, txnId)
  await bank.tell(s.service.url, payoutEvent(reference, { type: 'paid' }))
  return { txnId, itemId: `paid_after_failed-${reference}`, reference }
}

const at = (itemId: string) => `/open-items/${encodeURIComponent(itemId)}`

describe('the console', () => {
  it('lists what is open, with an alarm on the home page, to the operator’s people alone', async () => {
    const { itemId, txnId, reference } = await contradiction()
    const home = (await viewer.get('/home')).json
    expect(home.open_items).toEqual([
      { kind: 'paid_after_failed', count: expect.any(Number), oldest_at: expect.any(String) },
    ])
    const { json } = await viewer.get(`/open-items?kind=paid_after_failed&agent=${agent.appId}`)
    expect(json.data.at(-1)).toMatchObject({
      item_id: itemId,
      txn_id: txnId,
      agent_name: 'Shop',
      provider: 'bank',
      reference,
      amount: 100,
      words: 'bank says that it paid. The order was FAILED.',
      closed_at: null,
    })
    expect((await viewer.get('/open-items?kind=paid_twice')).json.data).toEqual([])
    expect((await owner.get('/open-items')).status).toBe(404)
    expect((await owner.get(at(itemId))).status).toBe(404)
    expect((await owner.get('/home')).json.open_items).toBeNull()
    expect((await viewer.post(`${at(itemId)}/note`, { note: 'no' })).status).toBe(403)
    expect((await operator.get('/open-items/nothing-here')).status).toBe(404)
  })

  it('names who looks into it and what was found, and closes it once, with evidence', async () => {
    const { itemId } = await contradiction()
    const assign = (assignee: string | null, instead_of: string | null) =>
      operator.post(`${at(itemId)}/assign`, { assignee, instead_of })
    expect((await assign(viewer.email, null)).status).toBe(422)
    expect((await assign(operator.email, null)).json.item.assignee).toBe(operator.email)
    expect((await assign(null, null)).status).toBe(409)
    const noted = await operator.post(`${at(itemId)}/note`, { note: 'the bank looks' })
    expect(noted.json.notes.at(-1)).toMatchObject({ by: operator.email, note: 'the bank looks' })
    const mine = await operator.get(`/open-items?assignee=${operator.email}`)
    expect(mine.json.data.map((item: { item_id: string }) => item.item_id)).toEqual([itemId])

    const closing = () => ({ evidence: 'statement 9', reason, code: operator.code() })
    expect((await operator.post(`${at(itemId)}/close`, { code: operator.code() })).status).toBe(422)
    const closed = await operator.post(`${at(itemId)}/close`, closing())
    expect(closed.json.item).toMatchObject({
      resolution: 'looked_into',
      closed_by: operator.email,
      evidence: 'statement 9',
    })
    expect((await operator.post(`${at(itemId)}/close`, closing())).status).toBe(409)
    const { rows } = await s.sql(
      `select outcome from audit_log where subject_kind = 'open_item' and subject_id = $1
         and action = 'close_open_item' order by audit_id`,
      [itemId],
    )
    expect(rows.map(({ outcome }) => outcome)).toEqual(['asked', 'done', 'asked', 'refused'])
    const list = await operator.get('/open-items?state=closed')
    expect(list.json.data[0]).toMatchObject({ item_id: itemId })
  })

  it('takes a failed withdrawal to PAID, with evidence and code, which closes its item', async () => {
    const { itemId, txnId } = await contradiction()
    const order = (await operator.get(`/orders/${txnId}`)).json
    const action = order.actions.find(({ name }: { name: string }) => name === 'mark-paid')
    expect(action).toMatchObject({ allowed: true, needs: ['reason', 'code'] })
    expect(order.words.why).toContain('A provider says otherwise.')
    const body = { reason, evidence: 'statement 8', version: order.order.version }
    expect((await operator.post(`/orders/${txnId}/mark-paid`, body)).status).toBe(403)
    const code = operator.code()
    const done = await operator.post(`/orders/${txnId}/mark-paid`, { ...body, code })
    expect([done.status, done.json.order.status]).toEqual([200, 'PAID'])
    expect(await told(agent, txnId)).toEqual(['FAILED', 'PAID'])
    const { json } = await operator.get(at(itemId))
    expect(json.item).toMatchObject({ resolution: 'order_paid', evidence: 'statement 8' })
    expect(json.order.status).toBe('PAID')
  })
})

describe('money that left although the order was cancelled', () => {
  async function paidAfterCancel(): Promise<{ itemId: string; reference: string }> {
    const txnId: string = (await agent.withdraw()).json.txn_id
    bank.onSubmit = async () => ({ type: 'cancelled' })
    await process.payOut(txnId)
    const [{ reference } = { reference: '' }] = await attemptsOf(s, txnId)
    await bank.tell(s.service.url, payoutEvent(reference, { type: 'paid' }))
    const { rows } = await s.sql('select item_id from open_items where reference = $1', [reference])
    return { itemId: rows[0]?.item_id, reference }
  }

  /** What the wallet has, and what the house has lost at the bank, in satang. */
  async function figures() {
    const { rows } = await s.sql('select differences from wallets where agent_id = $1', [
      houseBook('THB'),
    ])
    const { balance } = (await agent.get('/payment/wallet')).json
    return { balance: Number(balance), lost: -Number(rows[0]?.differences) / 100 }
  }

  it('is borne by the house or by the agent with one decision, and booked back when it is back', async () => {
    const admin = await signIn(s, 'admin')
    const book = async (itemId: string, as: string, by = admin) =>
      by.post(`${at(itemId)}/book`, { as, reason, code: by.code() })
    const before = await figures()
    const mine = await paidAfterCancel()
    expect((await viewer.get(at(mine.itemId))).json.bookings).toEqual([
      ...['write_off', 'charge_agent', 'received_back'],
    ])
    expect((await book(mine.itemId, 'write_off', viewer)).status).toBe(403)
    const done = await book(mine.itemId, 'write_off')
    expect([done.status, done.json.item.resolution]).toEqual([200, 'looked_into'])
    expect(done.json.bookings).toEqual([])
    expect((await book(mine.itemId, 'write_off')).status).toBe(409)
    expect(await figures()).toEqual({ ...before, lost: before.lost + 100 })

    const { itemId, reference } = await paidAfterCancel()
    expect((await book(itemId, 'charge_agent')).status).toBe(200)
    // The agent pays for it: the house has lost nothing.
    const charged = { balance: before.balance - 100, lost: before.lost + 100 }
    expect(await figures()).toEqual(charged)
    expect((await viewer.get(at(itemId))).json.item.booked_as).toBe('charge_agent')
    await bank.tell(s.service.url, payoutEvent(reference, { type: 'returned' }))
    expect((await viewer.get(at(itemId))).json.bookings).toEqual(['received_back'])
    expect((await book(itemId, 'write_off')).status).toBe(409)
    expect((await book(itemId, 'received_back')).status).toBe(200)
    expect(await figures()).toEqual({ balance: before.balance, lost: before.lost + 100 })

    // What failed is for its order: to mark it as paid charges the agent.
    expect((await viewer.get(at((await contradiction()).itemId))).json.bookings).toEqual([])
  })

  it('is booked in one way, or closed, whoever decides at the same moment', async () => {
    const [one, two] = [await signIn(s, 'admin'), await signIn(s, 'admin')]
    const ways = [
      ['charge_agent', 'write_off'],
      ['write_off', 'close'],
      ['close', 'charge_agent'],
    ] as const
    for (const pair of ways) {
      const before = await figures()
      const { itemId } = await paidAfterCancel()
      const decide = (by: OperatorClient, way: string) =>
        way === 'close'
          ? by.post(`${at(itemId)}/close`, { reason, code: by.code() })
          : by.post(`${at(itemId)}/book`, { as: way, reason, code: by.code() })
      const answers = await Promise.all([decide(one, pair[0]), decide(two, pair[1])])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      const way = pair[answers[0]?.status === 200 ? 0 : 1]
      expect((await viewer.get(at(itemId))).json.item.booked_as).toBe(way === 'close' ? null : way)
      expect(await figures()).toEqual({
        balance: before.balance - (way === 'charge_agent' ? 100 : 0),
        lost: before.lost + (way === 'write_off' ? 100 : 0),
      })
    }
  })

  it('is booked and closed together, or not at all', async () => {
    const admin = await signIn(s, 'admin')
    const before = await figures()
    const { itemId } = await paidAfterCancel()
    const book = (as: string) =>
      admin.post(`${at(itemId)}/book`, { as, reason, code: admin.code() })
    await s.sql(
      'alter table open_items add constraint stays_open check (closed_at is null) not valid',
    )
    try {
      expect((await book('charge_agent')).status).toBe(500)
    } finally {
      await s.sql('alter table open_items drop constraint stays_open')
    }
    expect(await figures()).toEqual(before)
    expect((await book('write_off')).status).toBe(200)
    expect(await figures()).toEqual({ ...before, lost: before.lost + 100 })
    // Nobody adjusts or writes off under the id of an item: what is booked would not be what the item says any more.
    const byHand = { ref: itemId, reason, code: admin.code() }
    const adjusted = await admin.post(`/wallets/${agent.appId}/adjust`, { amount: -100, ...byHand })
    expect([adjusted.status, adjusted.json.errors]).toEqual([
      422,
      [{ field: 'ref', message: 'is the id of an open item' }],
    ])
    const off = { currency: 'THB', provider: 'bank', amountMinor: 1n, reason } as const
    await expect(writeOff(s.service.desk, { ...off, ref: `${itemId}-back` })).rejects.toMatchObject(
      { code: 'invalid_request' },
    )
    // A release that did not ask: the proof finds it.
    const adjust = (amountMinor: bigint, ref: string) =>
      s.service.desk.teller.do({
        ...{ type: 'adjust', agentId: agent.agentId, at: s.clock(), amountMinor, reason, ref },
      })
    await adjust(-100_00n, itemId)
    await expect(s.prove()).rejects.toThrow('what the agent was charged')
    await adjust(100_00n, `${itemId}-back`)
  })

  it('takes two people where policy says so, and is booked once though it was interrupted', async () => {
    const [one, two] = [await signIn(s, 'admin'), await signIn(s, 'admin')]
    const setRules = async (rules: object[]) => {
      const { version } = (await one.get('/approval-rules')).json
      const set = await one.put('/approval-rules', { version, rules, reason, code: one.code() })
      expect([set.status, set.text]).toEqual([200, set.text])
    }
    const rule = { app_id: null, currency: null, needs_two: true, above: null, admin_only: false }
    await setRules([{ ...rule, action: 'adjust_wallet' }])
    const before = await figures()
    const { itemId } = await paidAfterCancel()
    const asked = { as: 'charge_agent', reason, code: one.code() }
    const { status, json } = await one.post(`${at(itemId)}/book`, asked)
    expect(status).toBe(202)
    expect(await figures()).toEqual(before)
    // A run before has booked half of it, and died.
    await s.sql(`insert into proposal_runs (proposal_id, n, at) values ($1, 1, '2020-01-01')`, [
      json.proposal,
    ])
    await s.service.desk.teller.do({
      ...{ type: 'write_off', agentId: houseBook('THB'), at: s.clock(), provider: 'bank' },
      ...{ amountMinor: 100_00n, reason, ref: itemId },
    })
    const { digest } = (await two.get(`/approvals/${json.proposal}`)).json
    const run = await two.post(`/approvals/${json.proposal}/approve`, { digest, code: two.code() })
    expect(run.json.state, run.text).toBe('done')
    expect(await figures()).toEqual({ balance: before.balance - 100, lost: before.lost + 100 })
    expect((await two.get(at(itemId))).json.item.closed_at).not.toBeNull()

    // A run before has booked all of it and died, and then the provider says that the money is back: it is done all the same.
    const { itemId: later } = await paidAfterCancel()
    const also = await one.post(`${at(later)}/book`, { ...asked, code: one.code() })
    const item = await findItem(s.backend.pool, later)
    if (!item) throw new Error('there is no such item')
    await bookItem(s.service.desk, item, 'charge_agent', { reason, by: one.email })
    const charged = await figures()
    await s.sql(`insert into proposal_runs (proposal_id, n, at) values ($1, 1, '2020-01-01')`, [
      also.json.proposal,
    ])
    await s.sql(
      `update open_items set provider_said = 'REVERT', closed_at = null, resolution = null, closed_by = null,
         evidence = null, reopened_at = $2 where item_id = $1`,
      [later, s.clock()],
    )
    const shown = (await two.get(`/approvals/${also.json.proposal}`)).json
    const second = await two.post(`/approvals/${also.json.proposal}/approve`, {
      ...{ digest: shown.digest, code: two.code() },
    })
    expect(second.json.state, second.text).toBe('done')
    expect(await figures()).toEqual(charged)
    await s.sql(
      `update open_items set provider_said = 'PAID', closed_at = $2, resolution = 'looked_into', closed_by = $3,
         evidence = $4, reopened_at = null where item_id = $1`,
      [later, s.clock(), one.email, reason],
    )
    await setRules([])
  })

  it('is booked on the command line, too', async () => {
    const env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATA_DIR: await tempFolder(),
    }
    const before = await figures()
    const { itemId } = await paidAfterCancel()
    const book = ['open-item', 'book', itemId, '--as', 'write-off', '--reason', reason]
    expect(await commandJson(book, env)).toMatchObject({ resolution: 'looked_into' })
    expect((await figures()).lost).toBe(before.lost + 100)
    expect((await command(book, env)).stderr).toContain('cannot be booked so')
  })
})

describe('the command line', () => {
  it('lists, shows and closes items, and takes a failed withdrawal to PAID', async () => {
    const env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATA_DIR: await tempFolder(),
    }
    const [first, second] = [await contradiction(), await contradiction()]
    const list = async () =>
      (await commandJson(['open-item', 'list', '--agent', agent.appId], env)).map(
        (item: { item_id: string }) => item.item_id,
      )
    expect(await list()).toEqual(expect.arrayContaining([first.itemId, second.itemId]))
    const shown = await command(['open-item', 'show', first.itemId], env)
    expect(shown.stdout).toMatch(/bank says that it paid.*FAILED[\s\S]*mark the order as paid/)
    const evidence = ['--evidence', 'statement 7']
    await commandJson(['payout', 'resolve', first.txnId, 'paid', ...evidence], env)
    expect(await statusOf(agent, first.txnId)).toBe('PAID')
    const closed = await commandJson(['open-item', 'close', second.itemId, ...evidence], env)
    expect(closed).toMatchObject({ resolution: 'looked_into', closed_by: 'command line' })
    expect(await statusOf(agent, second.txnId)).toBe('FAILED')
    const left = await list()
    expect([left.includes(first.itemId), left.includes(second.itemId)]).toEqual([false, false])
    const none = await command(['open-item', 'close', 'nothing', ...evidence], env)
    expect([none.code, none.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('sluice open-item list shows them all'),
    ])
  })
})

describe('what a provider reports of a payout that nobody knows', () => {
  const evidence = 'the bank says it was another company’s'

  it('is listed, with an alarm on the home page, until an operator closes it', async () => {
    const event = payoutEvent('UNKNOWN000001', { type: 'paid' })
    const answer = await bank.tell(s.service.url, event)
    expect(answer.json.results).toMatchObject([{ result: 'open' }])
    expect((await viewer.get('/home')).json.waiting.notice_events.count).toBe(1)
    expect((await owner.get('/notice-events')).status).toBe(404)
    const listed = await viewer.get('/notice-events')
    expect(listed.json.data).toEqual([
      {
        provider: 'bank',
        event_id: event.id,
        txn_id: null,
        words: 'Payout UNKNOWN000001 is paid.',
        detail: expect.stringContaining('no payout with this reference'),
        received_at: s.clock().toISOString(),
        tries: 1,
        can_close: true,
        alike: 1,
      },
    ])
    const close = { provider: 'bank', event_id: event.id, evidence, reason }
    expect((await viewer.post('/notice-events/close', close)).status).toBe(403)
    const closed = await operator.post('/notice-events/close', { ...close, code: operator.code() })
    expect([closed.status, closed.json.data]).toEqual([200, []])
    expect(
      (await operator.post('/notice-events/close', { ...close, code: operator.code() })).status,
    ).toBe(404)
    // The provider repeats itself: it is known what this was.
    const again = await bank.tell(s.service.url, event)
    expect(again.json.results).toMatchObject([{ result: 'unchanged', detail: evidence }])
  })

  it('is listed and closed on the command line, too', async () => {
    const event = payoutEvent('UNKNOWN000002', { type: 'returned' })
    await bank.tell(s.service.url, event)
    const env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATA_DIR: await tempFolder(),
    }
    const list = () => commandJson(['event', 'list', '--provider', 'bank'], env)
    expect(await list()).toMatchObject([
      { event_id: event.id, words: 'Payout UNKNOWN000002 is returned.' },
    ])
    expect((await command(['event', 'list'], env)).stdout).toContain(
      'no payout with this reference',
    )
    const close = ['event', 'close', 'bank', event.id, '--evidence', evidence]
    expect(await commandJson(close, env)).toMatchObject({ result: 'closed' })
    expect(await list()).toEqual([])
    const none = await command(close, env)
    expect([none.code, none.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('sluice event list shows them all'),
    ])
  })
})

describe('a refund whose deposit was taken back', () => {
  it('is told in words, with what to do, until somebody closes it', async () => {
    const shop = await fundedAgent(s)
    const deposit = (await shop.deposit()).json.txn_id
    const paid = paymentEvent(deposit, s.clock())
    await bank.tell(s.service.url, paid)
    const timestamp = s.clock().toISOString()
    const body = { refId: 'back', amount: 60, timestamp }
    const txnId = (await shop.post(`/payment/orders/${deposit}/refund`, body)).json.txn_id
    bank.onSubmit = async () => ({ type: 'accepted' })
    await process.payOut(txnId)
    const evidence = 'the bank wrote'
    const taken = { reason, evidence, code: operator.code() }
    expect((await operator.post(`/orders/${deposit}/take-back`, taken)).status).toBe(200)
    const list = await viewer.get('/open-items?kind=refunded_and_taken_back')
    const words =
      'The bank took a deposit back that this payout refunds. The refund was WAITING, with bank.'
    expect(list.json.data).toMatchObject([{ txn_id: txnId, amount: 60, words }])
    const path = at(list.json.data[0].item_id)
    expect((await viewer.get(path)).json.next).toMatch(/^The payer may get the money twice/)
    const [{ reference } = { reference: '' }] = await attemptsOf(s, txnId)
    await bank.tell(
      s.service.url,
      payoutEvent(reference, { type: 'rejected', mayTryAnother: false, reason: 'no' }),
    )
    expect((await viewer.get(path)).json.next).toMatch(/^The refund is FAILED/)
    const closed = await operator.post(`${path}/close`, {
      reason,
      evidence: 'it failed',
      code: operator.code(),
    })
    expect(closed.json.item).toMatchObject({ resolution: 'looked_into' })
  })
})
