import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { providerFigures } from '../../src/reports/provider-figures.ts'
import { handOver as leaveUnknown } from '../support/hand-over.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Searching orders, the table of them, one order's story, and what can be done to it. */

let s: TestService
let admin: OperatorClient
let viewer: OperatorClient
let shop: AgentClient
let other: AgentClient
let owner: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Shop', depositFee: '1%' })
  other = await s.agent({ name: '=Other', currency: 'VND' })
  admin = await signIn(s, 'admin')
  viewer = await signIn(s, 'viewer')
  owner = await signIn(s, 'agent', shop)
  await shop.fund(100_000)
})

afterEach(() => s.prove())
afterAll(() => s.close())

/** The orders a model of the list would show: everything, filtered one by one. */
interface Known {
  txn_id: string
  kind: string
  status: string
  app_id: string
  currency: string
  amount: number
}

async function known(): Promise<Known[]> {
  const { rows } = await s.sql(
    `select o.agent_id || '-' || replace(o.order_id::text, '-', '') as txn_id, o.kind, o.status,
       a.app_id, a.currency, (o.amount / case a.currency when 'THB' then 100 else 1 end)::int as amount
     from orders o join agents a using (agent_id) order by o.order_id desc`,
  )
  return rows
}

async function pagesOf(client: OperatorClient, query: string, limit: number) {
  const found: Known[] = []
  let cursor = ''
  for (let pages = 0; pages < 100; pages++) {
    const { status, json } = await client.get(`/orders?limit=${limit}${query}${cursor}`)
    expect(status).toBe(200)
    found.push(...json.data)
    if (json.next === null) return found
    cursor = `&cursor=${json.next}`
  }
  throw new Error('the list does not end')
}

describe('the list', () => {
  beforeAll(async () => {
    for (let round = 0; round < 6; round++) {
      const made = await Promise.all([
        shop.deposit({ amount: 100 + round }),
        shop.withdraw({ amount: 50 + round }),
        shop.deposit({ amount: 7, userId: '=cmd|calc', refId: `@ref-${round}` }),
        other.deposit({ amount: 5_000 + round, bankCode: 'VCB' }),
      ])
      for (const { status, text } of made) expect(status, text).toBe(201)
      const [deposit, withdraw] = made.map(({ json }) => json.txn_id)
      if (round % 3 === 0) await shop.trigger(deposit, 'PAID')
      if (round % 3 === 1) await shop.trigger(deposit, 'FAILED')
      if (round % 2 === 0) await shop.trigger(withdraw, 'PAID')
      else await shop.post(`/payment/orders/${withdraw}/cancel`)
      s.clock.advance(1_000)
    }
  })

  it.each([
    ['', () => true],
    ['&kind=deposit', (o: Known) => o.kind === 'deposit'],
    ['&status=PAID', (o: Known) => o.status === 'PAID'],
    ['&status=WAITING', (o: Known) => o.status === 'WAITING'],
    ['&status=WAITING&kind=deposit', (o: Known) => o.status === 'WAITING' && o.kind === 'deposit'],
    ['&status=FAILED', (o: Known) => o.status === 'FAILED'],
    ['&status=CANCEL&kind=withdraw', (o: Known) => o.status === 'CANCEL'],
    ['&status=REVERT', () => false],
    ['&currency=VND', (o: Known) => o.currency === 'VND'],
    ['&min_amount=52&max_amount=102', (o: Known) => o.amount >= 52 && o.amount <= 102],
    ['&provider=nobody', () => false],
  ])('shows with %j what a model of it shows, page by page', async (query, fits) => {
    const expected = (await known()).filter(fits).map(({ txn_id }) => txn_id)
    const found = await pagesOf(admin, query, 5)
    expect(found.map(({ txn_id }) => txn_id)).toEqual(expected)
  })

  it('shows the orders of one agent, and between two times', async () => {
    const all = await known()
    const own = await pagesOf(admin, `&agent=${other.appId}`, 4)
    expect(own.map(({ txn_id }) => txn_id)).toEqual(
      all.filter(({ app_id }) => app_id === other.appId).map(({ txn_id }) => txn_id),
    )
    const { rows } = await s.sql(
      'select min(created_at) as first, max(created_at) as last from orders',
    )
    const from = encodeURIComponent(rows[0].first.toISOString())
    const to = encodeURIComponent(rows[0].last.toISOString())
    const { rows: between } = await s.sql(
      'select count(*)::int as n from orders where created_at >= $1 and created_at < $2',
      [rows[0].first, rows[0].last],
    )
    const found = await pagesOf(admin, `&from=${from}&to=${to}`, 7)
    expect(found).toHaveLength(between[0].n)
    expect(between[0].n).toBeLessThan(all.length)
  })

  it('neither skips nor repeats while orders are created', async () => {
    const before = (await known()).map(({ txn_id }) => txn_id)
    const seen: string[] = []
    for (let cursor = '', page = 0; ; page++) {
      const { json } = await admin.get(`/orders?limit=3${cursor}`)
      seen.push(...json.data.map(({ txn_id }: Known) => txn_id))
      if (json.next === null) break
      cursor = `&cursor=${json.next}`
      if (page < 3) {
        s.clock.advance(10)
        await shop.deposit()
      }
    }
    expect(seen).toEqual(before)
  })

  it('finds an order by every id it has', async () => {
    const refId = 'find me'
    const { json: made } = await shop.deposit({ refId })
    await shop.trigger(made.txn_id, 'PAID')
    const { rows } = await s.sql('select payment_id from payments where order_id = $1', [
      made.txn_id.split('-')[1],
    ])
    const paymentId: string = rows[0].payment_id
    const bare = made.txn_id.split('-')[1]
    for (const id of [
      made.txn_id,
      refId,
      `${made.txn_id}-1`,
      paymentId,
      paymentId.split(':')[1],
      bare,
    ]) {
      const { json } = await admin.get(`/orders?q=${encodeURIComponent(id)}`)
      expect(json.data, id).toMatchObject([{ txn_id: made.txn_id }])
    }
    const { json: nothing } = await admin.get('/orders?q=nothing-has-this')
    expect(nothing).toMatchObject({ data: [], next: null })
    const { json: elsewhere } = await admin.get(`/orders?q=${made.txn_id}&agent=${other.appId}`)
    expect(elsewhere.data).toEqual([])
  })

  it('refuses what is no cursor, no time and no field', async () => {
    const { status, json } = await admin.get('/orders?from=yesterday&to=now')
    expect([status, json.errors.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ['from', 'to'],
    ])
    expect((await admin.get('/orders?cursor=abc')).status).toBe(422)
    expect((await admin.get('/orders?nonsense=1')).status).toBe(422)
  })

  it('as a table holds what the list holds, and no formula', async () => {
    const list = await pagesOf(admin, '', 200)
    const { status, headers, text } = await admin.get('/orders.csv')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    const [head, ...lines] = text.trimEnd().split('\r\n')
    expect(head).toMatch(/^txn_id,ref_id,app_id/)
    expect(lines.map((line) => line.split(',')[0])).toEqual(list.map(({ txn_id }) => txn_id))
    expect(text).toContain("'=cmd|calc")
    expect(text).toContain("'@ref-0")
    expect(text).toContain("'=Other")
    expect(text).not.toMatch(/(^|,)[=@]/m)
    const { text: filtered } = await admin.get('/orders.csv?status=FAILED')
    const failed = list.filter((order) => order.status === 'FAILED')
    expect(filtered.trimEnd().split('\r\n')).toHaveLength(failed.length + 1)
  })

  it('masks persons for viewers', async () => {
    const { json } = await viewer.get('/orders?limit=1')
    expect(json.data[0]).toMatchObject({ account_no: '••••7890', account_name: 'S•••' })
    const { text } = await viewer.get('/orders.csv')
    expect(text).not.toContain('1234567890')
    const detail = await viewer.get(`/orders/${json.data[0].txn_id}`)
    expect(detail.text).not.toContain('1234567890')
    expect((await admin.get('/orders?limit=1')).json.data[0].account_no).toBe('1234567890')
    const { json: paid } = await viewer.get('/orders?limit=1&status=PAID&kind=deposit')
    const { json: story } = await viewer.get(`/orders/${paid.data[0].txn_id}`)
    const notice = story.timeline.find(({ kind }: { kind: string }) => kind === 'notice')
    expect(notice.raw.body).toBe('(not shown)')
  })
})

describe("users of an agent see their agent's", () => {
  it('orders alone, without who moves the money', async () => {
    const found = await pagesOf(owner, '', 50)
    const expected = (await known()).filter(({ app_id }) => app_id === shop.appId)
    expect(found.map(({ txn_id }) => txn_id)).toEqual(expected.map(({ txn_id }) => txn_id))
    expect(JSON.stringify(found)).not.toContain('sandbox')
    const { text } = await owner.get('/orders.csv')
    expect(text.trimEnd().split('\r\n')).toHaveLength(expected.length + 1)
    expect((await owner.get('/orders?provider=sandbox')).json.data).toEqual([])
  })

  it("orders, and another's do not exist", async () => {
    const { json: foreign } = await other.deposit({ amount: 9_000, bankCode: 'VCB' })
    const path = `/orders/${foreign.txn_id}`
    expect((await admin.get(path)).status).toBe(200)
    expect((await owner.get(path)).json.code).toBe('order_not_found')
    expect((await owner.get(`/orders?agent=${other.appId}`)).status).toBe(404)
    expect((await owner.get(`/orders.csv?agent=${other.appId}`)).status).toBe(404)
    expect((await owner.get(`/orders?q=${foreign.txn_id}`)).json.data).toEqual([])
    expect((await owner.post(`${path}/resend`, { reason: 'try it' })).status).toBe(404)
    for (const action of [
      'mark-paid',
      'mark-failed',
      'void',
      'take-back',
      'refund',
      'cancel',
      'revert',
    ]) {
      const { json: own } = await shop.deposit()
      const { status } = await owner.post(`/orders/${own.txn_id}/${action}`, { reason: 'try it' })
      expect(status, action).toBe(404)
    }
  })

  it('order with its story, but nothing of providers and operators', async () => {
    const { json: made } = await shop.deposit()
    await shop.trigger(made.txn_id, 'PAID')
    await admin.post(`/orders/${made.txn_id}/resend`, { reason: 'the agent asked' })
    const { json } = await owner.get(`/orders/${made.txn_id}`)
    const kinds = new Set(json.timeline.map(({ kind }: { kind: string }) => kind))
    expect([...kinds].sort()).toEqual(['callback', 'journal', 'request'])
    expect(json.actions).toMatchObject([{ name: 'resend', allowed: true }])
    expect(json.words.next).toBe('Nothing more happens by itself.')
  })
})

describe('one order', () => {
  it('tells everything that happened, oldest first, with what is on record', async () => {
    const { json: made } = await shop.deposit({ amount: 300, extraParams: { table: 4 } })
    s.clock.advance(5_000)
    await shop.trigger(made.txn_id, 'PAID')
    const { json } = await admin.get(`/orders/${made.txn_id}`)
    expect(json.order).toMatchObject({
      amount: 300,
      fee: 3,
      status: 'PAID',
      version: 2,
      paid_fee: 3,
    })
    expect(json.order.link).toBe(made.link)
    const kinds = json.timeline.map(({ kind }: { kind: string }) => kind)
    expect(kinds[0]).toBe('request')
    expect(kinds).toEqual(expect.arrayContaining(['notice', 'payment', 'journal', 'callback']))
    const rawOf = (kind: string) =>
      json.timeline.find((entry: { kind: string }) => entry.kind === kind).raw
    expect(rawOf('request')).toMatchObject({
      extraParams: { table: 4 },
      answer: { link: made.link },
    })
    expect(rawOf('notice').body.events[0]).toMatchObject({
      type: 'payment',
      reference: made.txn_id,
    })
    expect(rawOf('journal')).toMatchObject({ event: 'deposit_paid', available_change: 297 })
    expect(rawOf('callback').body).toMatchObject({ status: 'PAID', transactionId: made.txn_id })
    expect(json.words.why).toBe('The money came in and was credited to the wallet.')
    const times = json.timeline.map(({ at }: { at: string }) => at)
    expect(times).toEqual([...times].sort())
  })

  type Told = { at: string; kind: string; title: string; raw: unknown }
  const timelineOf = async (txnId: string): Promise<Told[]> =>
    (await admin.get(`/orders/${txnId}`)).json.timeline

  it('tells of each moment what was known then, whatever came later', async () => {
    const { json: made } = await shop.deposit({ amount: 120 })
    s.clock.advance(1_000)
    await shop.trigger(made.txn_id, 'PAID', { paidAmount: 80 })
    s.clock.advance(1_000)
    await shop.trigger(made.txn_id, 'PAID')
    const paid = await timelineOf(made.txn_id)
    expect(paid.map(({ title }) => title)).toEqual(
      expect.arrayContaining([
        'Money came in',
        'Money came in and waits for a decision',
        'Paid; the wallet is credited',
        'Callback PAID written',
      ]),
    )
    s.clock.advance(1_000)
    const { rows } = await s.sql(
      `select payment_id from payments where order_id = $1 and state = 'waiting'`,
      [made.txn_id.split('-')[1]],
    )
    const back = await admin.post(`/payments/${encodeURIComponent(rows[0].payment_id)}/return`, {
      evidence: 'transfer 5',
      reason: 'paid in part first',
      code: admin.code(),
    })
    expect([back.status, back.text]).toEqual([200, back.text])
    s.clock.advance(1_000)
    await shop.trigger(made.txn_id, 'VOID')
    const { json } = await admin.get(`/orders/${made.txn_id}`)
    expect(json.timeline.slice(0, paid.length)).toEqual(paid)
    const later = json.timeline.slice(paid.length).map(({ title }: Told) => title)
    expect(later).toEqual(
      expect.arrayContaining([
        'Money that waited was returned',
        `${admin.email}: return payment, done`,
        'The bank took the payment back; the wallet is debited',
      ]),
    )
    expect(json.payments.map(({ state }: { state: string }) => state).sort()).toEqual([
      'returned',
      'taken_back',
    ])
    const { json: seen } = await owner.get(`/orders/${made.txn_id}`)
    expect([seen.payments, seen.payouts, seen.notices]).toEqual([[], [], []])
    expect(JSON.stringify(seen.timeline)).not.toContain('waits for a decision')
  })

  it('tells of a payout without an answer what was known then, when it turns out to be paid', async () => {
    await shop.fund(500)
    const { json: made } = await shop.withdraw({ amount: 30 })
    s.clock.advance(1_000)
    await leaveUnknown(s, made.txn_id, 'unknown')
    const unknown = await timelineOf(made.txn_id)
    expect(unknown.at(-1)).toMatchObject({ title: 'Handed to sandbox' })
    s.clock.advance(1_000)
    const body = { reason: 'statement', evidence: 'line 7', code: admin.code() }
    const { json } = await admin.post(`/orders/${made.txn_id}/mark-paid`, body)
    expect(json.timeline.slice(0, unknown.length)).toEqual(unknown)
    expect(json.payouts).toMatchObject([{ provider: 'sandbox', state: 'paid' }])
  })

  it('says of each action whether it can be taken, and why not', async () => {
    const { json: made } = await shop.withdraw()
    const { json } = await admin.get(`/orders/${made.txn_id}`)
    const allowed = json.actions.filter((action: { allowed: boolean }) => action.allowed)
    expect(allowed).toMatchObject([
      { name: 'cancel', moves_money: true, needs: ['reason', 'code'] },
    ])
    for (const action of json.actions) expect(action.allowed).toBe(action.why_not === null)
    const seen = await viewer.get(`/orders/${made.txn_id}`)
    expect(seen.json.actions.map((a: { why_not: string }) => a.why_not)).toEqual(
      Array(5).fill('The role viewer may not do this.'),
    )
  })

  it('that does not exist is not found', async () => {
    for (const id of ['1-0', 'x', `${shop.agentId}-${'0'.repeat(32)}`]) {
      expect((await admin.get(`/orders/${id}`)).status, id).toBe(404)
    }
  })
})

describe('an action', () => {
  const act = (client: OperatorClient, txnId: string, name: string, more = {}) =>
    client.post(`/orders/${txnId}/${name}`, { reason: 'as the payer asked', ...more })
  const auditOf = async (txnId: string) => {
    const { rows } = await s.sql(
      'select action, outcome, email, reason, before, after from audit_log where subject_id = $1 order by audit_id',
      [txnId],
    )
    return rows
  }

  it('voids a waiting deposit, once, and is on record', async () => {
    const { json: made } = await shop.deposit()
    const { status, json } = await act(admin, made.txn_id, 'void', { code: admin.code() })
    expect([status, json.order.status]).toEqual([200, 'VOID'])
    const operator = json.timeline.filter((entry: { kind: string }) => entry.kind === 'operator')
    expect(operator).toHaveLength(2)
    expect(await auditOf(made.txn_id)).toMatchObject([
      { action: 'void_order', outcome: 'asked', email: admin.email, reason: 'as the payer asked' },
      { outcome: 'done', before: { status: 'WAITING' }, after: { status: 'VOID' } },
    ])
    const again = await act(admin, made.txn_id, 'void', { code: admin.code() })
    expect([again.status, again.json.code]).toEqual([409, 'invalid_transition'])
    expect((await auditOf(made.txn_id)).at(-1)).toMatchObject({ outcome: 'refused' })
  })

  it('happens once where five ask at once, and the others are told', async () => {
    const { json: made } = await shop.deposit()
    const operators = await Promise.all(Array.from({ length: 5 }, () => signIn(s, 'operator')))
    const answers = await Promise.all(
      operators.map((each) => act(each, made.txn_id, 'void', { code: each.code() })),
    )
    const codes = answers.map(({ status, json }) => (status === 200 ? 'done' : json.code))
    expect(codes.filter((code) => code === 'done')).toHaveLength(1)
    for (const code of codes) {
      expect(['done', 'changed_meanwhile', 'invalid_transition']).toContain(code)
    }
    const rows = await auditOf(made.txn_id)
    const count = (outcome: string) => rows.filter((row) => row.outcome === outcome).length
    expect([count('asked'), count('done'), count('refused')]).toEqual([5, 1, 4])
  })

  it('on an order that has changed since it was looked at is refused', async () => {
    const { json: made } = await shop.deposit()
    const { json: seen } = await admin.get(`/orders/${made.txn_id}`)
    await shop.trigger(made.txn_id, 'FAILED')
    const { status, json } = await act(admin, made.txn_id, 'void', {
      version: seen.order.version,
      code: admin.code(),
    })
    expect([status, json.code]).toEqual([409, 'changed_meanwhile'])
  })

  it('needs the code, and the reason', async () => {
    const { json: made } = await shop.withdraw({ amount: 20 })
    expect((await act(admin, made.txn_id, 'cancel')).json.code).toBe('code_required')
    expect((await act(admin, made.txn_id, 'cancel', { reason: '' })).json.code).toBe(
      'reason_required',
    )
    const before = await shop.balance()
    const { json } = await act(admin, made.txn_id, 'cancel', { code: admin.code() })
    expect(json.order.status).toBe('CANCEL')
    expect(await shop.balance()).toBe(before + 20)
  })

  it('is refused to viewers, whatever they send', async () => {
    const { json: made } = await shop.deposit()
    expect((await act(viewer, made.txn_id, 'void')).json.code).toBe('not_permitted')
    expect((await act(viewer, made.txn_id, 'resend')).json.code).toBe('not_permitted')
  })

  it('marks an unknown payout as a person says, by evidence', async () => {
    for (const [action, status] of [
      ['mark-paid', 'PAID'],
      ['mark-failed', 'FAILED'],
    ] as const) {
      const { json: made } = await shop.withdraw({ amount: 30 })
      const evidence = 'statement 17, line 4'
      const none = await act(admin, made.txn_id, action, { evidence, code: admin.code() })
      expect(none.json.code).toBe('invalid_transition')
      await handOver(made.txn_id)
      const early = await act(admin, made.txn_id, action, { evidence, code: admin.code() })
      expect(early.json.detail).toMatch(/within its time/)
      await s.sql(`update payouts set state = 'unknown' where order_id = $1`, [
        made.txn_id.split('-')[1],
      ])
      const bare = await act(admin, made.txn_id, action, { reason: undefined, code: admin.code() })
      expect(bare.json.errors).toMatchObject([{ field: 'reason' }])
      const unknown = async () => (await pagesOf(admin, '&payout=unknown', 5)).map((o) => o.txn_id)
      expect(await unknown()).toEqual([made.txn_id])
      expect((await admin.get('/provider-figures')).json.data).toMatchObject([{ unknown: 1 }])
      const { json } = await act(admin, made.txn_id, action, { evidence, code: admin.code() })
      expect(json.order.status).toBe(status)
      expect(json.words.why).toContain(evidence)
      expect(await unknown()).toEqual([])
    }
  })

  it('reverts a payout, and takes a deposit back', async () => {
    const evidence = 'the bank sent it back'
    const { json: withdraw } = await shop.withdraw({ amount: 40 })
    await shop.trigger(withdraw.txn_id, 'PAID')
    const reverted = await act(admin, withdraw.txn_id, 'revert', { evidence, code: admin.code() })
    expect(reverted.json.order.status).toBe('REVERT')
    const { json: deposit } = await shop.deposit({ amount: 200 })
    await shop.trigger(deposit.txn_id, 'PAID')
    const before = await shop.balance()
    const taken = await act(admin, deposit.txn_id, 'take-back', { evidence, code: admin.code() })
    expect(taken.json.order.status).toBe('VOID')
    expect(await shop.balance()).toBe(before - 198)
  })

  it('refunds a deposit, in parts, up to what was paid', async () => {
    const { json: deposit } = await shop.deposit({ amount: 200 })
    const refund = (amount: string, more: object = {}) =>
      act(admin, deposit.txn_id, 'refund', {
        ref: randomUUID(),
        amount,
        code: admin.code(),
        ...more,
      })
    const early = await refund('200')
    expect(early.json.detail).toBe('The order is WAITING. Only a paid deposit is refunded.')
    await shop.trigger(deposit.txn_id, 'PAID')
    const { actions, order } = (await admin.get(`/orders/${deposit.txn_id}`)).json
    expect(order).toMatchObject({ refundable: 200, refund_of: null })
    expect(actions).toContainEqual({
      name: 'refund',
      allowed: true,
      why_not: null,
      moves_money: true,
      needs: ['reason', 'amount', 'code'],
    })
    expect((await refund('50', { code: undefined })).json.code).toBe('code_required')
    for (const amount of ['0', '1.001', 'x', '-1']) {
      expect((await refund(amount)).json.code, amount).toBe('invalid_request')
    }
    const part = (await refund('49.5')).json
    expect(part.order).toMatchObject({ status: 'PAID', refundable: 150.5 })
    expect(part.refunds).toMatchObject([{ amount: 49.5, status: 'WAITING' }])
    expect(part.words.next).toContain('150.5 THB is left')
    expect((await refund('150.51')).json.code).toBe('refund_exceeds_payment')
    const whole = (await refund('150.5')).json
    expect(whole.refunds).toHaveLength(2)
    expect((await refund('1')).json.detail).toBe('Nothing of it is left to refund.')
    const [{ txn_id, ref_id }] = part.refunds
    const { json: made } = await admin.get(`/orders/${txn_id}`)
    expect(made.order).toMatchObject({
      refund_of: deposit.txn_id,
      refundable: null,
      kind: 'withdraw',
    })
    expect(await auditOf(deposit.txn_id)).toContainEqual(
      expect.objectContaining({
        action: 'refund_order',
        outcome: 'done',
        before: expect.objectContaining({ amount: '49.5', ref_id }),
      }),
    )
    expect((await act(viewer, deposit.txn_id, 'refund', { ref: 'x', amount: '1' })).json.code).toBe(
      'not_permitted',
    )
  })

  it('refunds once per reference, however often it is asked', async () => {
    const { json: deposit } = await shop.deposit({ amount: 900 })
    await shop.trigger(deposit.txn_id, 'PAID')
    const refund = async (more: object, of = deposit.txn_id) => {
      const asked = { ref: 'slip-7', amount: '300', code: admin.code(), ...more }
      const { status, json } = await act(admin, of, 'refund', asked)
      return { status, code: json.code, refunds: json.refunds?.length, errors: json.errors }
    }
    expect(await refund({ ref: undefined })).toMatchObject({
      status: 422,
      errors: [{ field: 'ref', message: 'is required' }],
    })
    expect(await refund({})).toMatchObject({ status: 200, refunds: 1 })
    expect(await refund({})).toMatchObject({ status: 200, refunds: 1 })
    expect(await refund({ amount: '200' })).toMatchObject({ status: 409, code: 'ref_id_conflict' })
    expect(await refund({ ref: 'slip-8', amount: '600' })).toMatchObject({ refunds: 2 })
    // Nothing is left, but this was done.
    expect(await refund({})).toMatchObject({ status: 200, refunds: 2 })
    expect(await refund({ ref: 'slip-9', amount: '1' })).toMatchObject({ status: 409 })
    const { json: other } = await shop.deposit({ amount: 900 })
    await shop.trigger(other.txn_id, 'PAID')
    expect(await refund({}, other.txn_id)).toMatchObject({ code: 'ref_id_conflict' })
  })

  it('does not refund at the word of one person outside the sandbox', async () => {
    const { json: deposit } = await shop.deposit({ amount: 200 })
    await shop.trigger(deposit.txn_id, 'PAID')
    const live = await startTestService({
      beside: s,
      env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) },
    })
    try {
      const boss = await signIn(live, 'admin')
      const asked = await boss.post(`/orders/${deposit.txn_id}/refund`, {
        reason: 'as asked',
        amount: '200',
        ref: 'slip-200',
        code: boss.code(),
      })
      expect(asked).toMatchObject({ status: 202, json: { proposal: expect.any(String) } })
    } finally {
      await live.close()
    }
    const { json } = await admin.get(`/orders/${deposit.txn_id}`)
    expect(json.refunds).toEqual([])
  })

  it('sends the latest callback again, also for users of the agent', async () => {
    const { json: made } = await shop.deposit()
    expect((await act(owner, made.txn_id, 'resend')).json.detail).toMatch(/Nothing has happened/)
    await shop.trigger(made.txn_id, 'PAID')
    expect((await act(owner, made.txn_id, 'resend')).status).toBe(200)
    expect((await auditOf(made.txn_id)).at(-1)).toMatchObject({
      action: 'resend_order',
      outcome: 'done',
      email: owner.email,
    })
  })
})

describe('a test order', () => {
  it("is one of the agent's, as if the agent had created it", async () => {
    const { status, json } = await owner.post('/test-orders', { kind: 'deposit', amount: 25 })
    expect(status).toBe(201)
    expect(json.answer).toMatchObject({ txn_id: json.txn_id, amount: 25 })
    expect((await shop.get(`/payment/orders/${json.txn_id}`)).json.status).toBe('WAITING')
    const foreign = { kind: 'deposit', amount: 25, agent: other.appId }
    expect((await owner.post('/test-orders', foreign)).status).toBe(404)
    expect((await viewer.post('/test-orders', foreign)).json.code).toBe('not_permitted')
    expect((await admin.post('/test-orders', { kind: 'deposit', amount: 25 })).status).toBe(422)
  })

  it('takes the stories that are listed, and no others', async () => {
    const { data } = (await owner.get('/stories')).json as {
      data: { kind: string; name: string; says: string }[]
    }
    for (const kind of ['deposit', 'withdraw']) {
      const bad = { kind, amount: 25, story: 'no-such-story' }
      const { json } = await owner.post('/test-orders', bad)
      expect(json.code).toBe('invalid_request')
      const listed = data.filter((story) => story.kind === kind)
      const names = listed.map(({ name }) => name).join(', ')
      expect(json.errors).toEqual([
        { field: 'extraParams.sandbox', message: `must be one of ${names}` },
      ])
      expect(listed.filter(({ says }) => says === '')).toEqual([])
    }
  })
})

async function handOver(txnId: string): Promise<void> {
  const [agentId, orderId] = txnId.split('-')
  const at = s.clock()
  await s.service.desk.teller.do({
    type: 'hand_over',
    agentId: BigInt(agentId ?? ''),
    orderId: orderId ?? '',
    at,
    provider: 'sandbox',
    references: [`${txnId}-1`],
    insteadOf: null,
    token: orderId ?? '',
    askAt: new Date(at.getTime() + 3_600_000),
  })
}

describe('how providers did', () => {
  const all = async () => (await admin.get('/provider-figures?hours=24')).json

  it('is told for the orders of a stated time, and cancelled withdrawals are nobody’s failure', async () => {
    const [before] = (await all()).data
    const paid = await shop.withdraw({ amount: 20 })
    await shop.trigger(paid.json.txn_id, 'PAID')
    const failed = await shop.withdraw({ amount: 20 })
    await shop.trigger(failed.json.txn_id, 'FAILED')
    await shop.post(`/payment/orders/${(await shop.withdraw({ amount: 20 })).json.txn_id}/cancel`)
    const expired = await shop.deposit()
    await shop.trigger(expired.json.txn_id, 'EXPIRED')
    const { data, complete, since } = await all()
    expect(complete).toBe(true)
    expect(since).toBe(new Date(s.clock().getTime() - 24 * 3_600_000).toISOString())
    const [after] = data
    expect(after.payouts.paid - before.payouts.paid).toBe(1)
    expect(after.payouts.ended - before.payouts.ended).toBe(2)
    expect(after.deposits.paid).toBe(before.deposits.paid)
    expect(after.deposits.ended - before.deposits.ended).toBe(1)
    const { paid: won, ended, success_rate } = after.payouts
    expect(success_rate).toBeCloseTo(won / ended, 4)
    s.clock.advance(25 * 3_600_000)
    admin = await admin.signInAgain()
    expect((await all()).data[0].payouts).toEqual({ paid: 0, ended: 0, success_rate: null })
  })

  it('is told of the newest orders where there are too many, and says since when', async () => {
    const { pool } = s.backend
    const made: Date[] = []
    for (let n = 0; n < 6; n++) {
      s.clock.advance(1000)
      made.push(s.clock())
      const { json } = await shop.deposit()
      await shop.trigger(json.txn_id, 'PAID')
    }
    const agents = [{ agentId: shop.agentId, currency: 'THB' as const }]
    const from = new Date(s.clock().getTime() - 3_600_000)
    const some = await providerFigures(pool, agents, from, 4)
    expect(some).toMatchObject({ isWhole: false, since: made[2] })
    expect(some.figures).toEqual([{ provider: 'sandbox', kind: 'deposit', paid: 4, ended: 4 }])
    const every = await providerFigures(pool, agents, from, 7)
    expect(every).toMatchObject({ isWhole: true, since: from, figures: [{ paid: 6 }] })
  })
})
