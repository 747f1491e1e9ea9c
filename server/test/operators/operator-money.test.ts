import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { printedMoney } from '../../src/lib/money.ts'
import { recordUnmatched } from '../../src/payments/unmatched-payments.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { printedIn } from '../support/printed-text.ts'
import { startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Callbacks, payments to decide, wallets and home, as operators and users of an agent see them. */

let s: TestService
let admin: OperatorClient
let viewer: OperatorClient
let shop: AgentClient
let other: AgentClient
let owner: OperatorClient

beforeAll(async () => {
  s = await startTestService({
    env: { TIME_ZONE: 'Asia/Bangkok' },
    outside: { provesLedger: true },
  })
  shop = await s.agent({ name: 'Shop', depositFee: '1%' })
  other = await s.agent({ name: 'Other' })
  admin = await signIn(s, 'admin')
  viewer = await signIn(s, 'viewer')
  owner = await signIn(s, 'agent', shop)
  await shop.fund(1_000)
  await other.fund(500)
})

afterEach(() => s.prove())
afterAll(() => s.close())

const reason = 'asked for by the agent'
const auditOf = async (action: string) => {
  const { rows } = await s.sql(
    'select outcome, email, reason, subject_id, before, after from audit_log where action = $1 order by audit_id',
    [action],
  )
  return rows
}
const until = async (query: string, expected: unknown) => {
  await expect.poll(async () => (await s.sql(query)).rows[0]?.state).toBe(expected)
}

describe('callbacks', () => {
  interface Shown {
    txn_id: string
    seq: number
    status: string
  }
  const shown = (data: Shown[]) =>
    data.map(({ txn_id, seq }) => ({ agent: Number(txn_id.split('-')[0]), seq }))

  /** Every page of a list, one after another. */
  async function pages(query: string): Promise<ReturnType<typeof shown>> {
    const all: ReturnType<typeof shown> = []
    for (let cursor = ''; ; ) {
      const { json } = await admin.get(`/callbacks?limit=3${query}${cursor}`)
      all.push(...shown(json.data))
      if (json.next === null) return all
      cursor = `&cursor=${encodeURIComponent(json.next)}`
    }
  }

  it('are listed newest first over all agents, page by page, though clocks differ by up to a minute', async () => {
    await until(
      `select state from callbacks where agent_id = ${shop.agentId} limit 1`,
      'no_address',
    )
    for (let at = 0; at < 4; at++) {
      const { json } = await shop.deposit({ amount: 10 })
      await shop.trigger(json.txn_id, 'FAILED')
    }
    // Two processes, of which one is ahead by so much.
    const [east, west] = [await s.agent({ name: 'East' }), await s.agent({ name: 'West' })]
    for (const aheadS of [0, 50, 10, 0, 59, 30, 5, 0, 40, 55, 0, 20, 58, 1]) {
      const agent = aheadS % 3 === 0 ? east : west
      const { json } = await agent.deposit({ amount: 10 })
      s.clock.advance(aheadS * 1000)
      await agent.trigger(json.txn_id, 'FAILED')
      s.clock.advance(6000 - aheadS * 1000)
    }
    const model = async (order: string) =>
      (
        await s.sql(
          `select agent_id::int as agent, seq::int as seq from callbacks order by ${order}`,
        )
      ).rows
    const newest = await model('created_at desc, agent_id desc, seq desc')
    expect(newest).not.toEqual(await model('agent_id, seq desc'))
    const { json } = await admin.get('/callbacks?limit=200')
    expect(shown(json.data)).toEqual(newest)
    expect(await pages('')).toEqual(newest)
    expect(await pages('&state=no_address')).toEqual(newest)
    expect(await pages('&older_than_s=0')).toEqual(
      (
        await s.sql(
          `select agent_id::int as agent, seq::int as seq from callbacks where created_at <= $1
           order by created_at desc, agent_id desc, seq desc`,
          [s.clock()],
        )
      ).rows,
    )
    expect((await admin.get('/callbacks?older_than_s=86400')).json.data).toEqual([])
    expect((await admin.get('/callbacks?cursor=x')).status).toBe(422)
  })

  it('of one agent are listed by its own numbers', async () => {
    const { rows } = await s.sql(
      'select agent_id::int as agent, seq::int as seq from callbacks where agent_id = $1 order by seq desc',
      [shop.agentId],
    )
    expect(await pages(`&agent=${shop.appId}`)).toEqual(rows)
  })

  it('that wait are listed in the order in which they are due, over all agents', async () => {
    await s.sql(
      `update callbacks set state = 'waiting', due_at = $1::timestamptz + interval '1 s' * (seq * 7919 % 13)`,
      [new Date(s.clock().getTime() + 9e6)],
    )
    const { rows } = await s.sql(
      'select agent_id::int as agent, seq::int as seq from callbacks order by due_at, agent_id, seq',
    )
    expect(await pages('&state=waiting')).toEqual(rows)
    await s.sql(`update callbacks set state = 'no_address'`)
  })

  it.each([
    'waiting',
    'failing',
    'sending',
    'delivered',
    'exhausted',
    'superseded',
    'no_address',
    'paused',
    'undelivered',
  ])('that are %s are those a model finds', async (state) => {
    await s.sql(
      `update callbacks set state = 'waiting', attempts = seq % 2, due_at = $2
                   where agent_id = $1 and seq <= 3`,
      [shop.agentId, new Date(s.clock().getTime() + 9e6)],
    )
    await s.sql(`update callbacks set state = 'exhausted' where agent_id = $1 and seq = 4`, [
      shop.agentId,
    ])
    const { rows } = await s.sql(
      `select seq::int as seq from callbacks where agent_id = $1 and case $2
           when 'failing' then state = 'waiting' and attempts > 0
           when 'undelivered' then state <> 'delivered' else state = $2 end order by seq`,
      [shop.agentId, state],
    )
    const { json } = await admin.get(`/callbacks?agent=${shop.appId}&state=${state}`)
    const seqs = json.data.map(({ seq }: { seq: number }) => seq)
    expect(seqs.sort((a: number, b: number) => a - b)).toEqual(rows.map(({ seq }) => seq))
  })

  it('show their attempts, and how to send them by hand', async () => {
    await s.sql(
      `insert into callback_attempts (agent_id, seq, attempt_id, started_at, duration_ms, url, status,
         response_headers, response_body, error)
       values ($1, 2, gen_random_uuid(), $2, 12, 'https://x.example/', 500, 'a: b', 'oh no', 'answered with status 500')`,
      [shop.agentId, s.clock()],
    )
    const { json } = await admin.get(`/callbacks/${shop.appId}/2`)
    expect(json.attempts_made).toMatchObject([
      { status: 500, response_body: 'oh no', duration_ms: 12 },
    ])
    expect(json.curl).toContain(`-H 'x-appid: ${shop.appId}'`)
    expect(JSON.parse(json.body).status).toBe(json.status)
    const seen = await viewer.get(`/callbacks/${shop.appId}/2`)
    expect(seen.json.attempts_made[0].response_body).toBe('(not shown)')
    expect((await admin.get(`/callbacks/${shop.appId}/999`)).status).toBe(404)
  })

  it('are sent again, one or all that were given up, and that is on record', async () => {
    const one = await admin.post(`/callbacks/${shop.appId}/4/resend`, { reason })
    expect([one.status, one.json.seq]).toEqual([200, 4])
    expect(await auditOf('resend_callback')).toMatchObject([
      { outcome: 'asked', reason, before: { delivery: 'exhausted' } },
      { outcome: 'done', email: admin.email },
    ])
    await s.sql(`update callbacks set state = 'exhausted' where agent_id = $1 and seq in (2, 3)`, [
      shop.agentId,
    ])
    const since = { failed_since: '2020-01-01T00:00:00Z', reason }
    const { json } = await owner.post('/callbacks/replay', since)
    expect(json).toEqual({
      resent: 2,
      left_out: 0,
      agents: [{ app_id: shop.appId, resent: 2, left_out: 0 }],
    })
    expect((await admin.post('/callbacks/replay', { failed_since: 'x', reason })).status).toBe(422)
    expect((await viewer.post('/callbacks/replay', since)).json.code).toBe('not_permitted')
  })

  it('that are refused now and then leave their lane open, and not in good health', async () => {
    const receiver = await startReceiver()
    try {
      const refusing = await s.agent({ depositCallbackUrl: receiver.url })
      const mine = async () =>
        (await admin.get('/callback-lanes')).json.data.find(
          ({ app_id }: { app_id: string }) => app_id === refusing.appId,
        )
      expect(await mine()).toMatchObject({ state: 'open', health: 'good', failing: 0 })
      receiver.answer = ({ json }, response) => {
        const isRefused = Number(json.refId.split('-')[1]) % 2 === 0
        if (isRefused) response.writeHead(400).end('no')
        else response.end('{"code":0}')
      }
      for (const n of [1, 2, 3, 4]) {
        const { json } = await refusing.deposit({ refId: `turn-${n}` })
        await refusing.trigger(json.txn_id, 'PAID')
        await receiver.until(n)
      }
      await expect.poll(async () => (await mine()).failing).toBe(2)
      expect(await mine()).toMatchObject({ state: 'open', health: 'warn', given_up: 0 })
      await s.sql(
        `update callbacks set state = 'exhausted' where agent_id = $1 and attempts > 0
        and state = 'waiting'`,
        [refusing.agentId],
      )
      expect(await mine()).toMatchObject({ health: 'bad', given_up: 2, superseded: 0, failing: 0 })
    } finally {
      await receiver.close()
    }
  })

  it('are held back and let go by lane', async () => {
    const lane = async () => (await admin.get('/callback-lanes')).json.data[0]
    await admin.post(`/callback-lanes/${shop.appId}/pause`, { reason })
    expect(await lane()).toMatchObject({ app_id: shop.appId, state: 'paused' })
    const { json } = await admin.post(`/callback-lanes/${shop.appId}/resume`, {
      reason,
      code: admin.code(),
    })
    expect(json.data).toMatchObject([{ state: 'open' }])
    await s.sql(`update callback_lanes set probe_at = $2, why = 'refused' where agent_id = $1`, [
      shop.agentId,
      s.clock(),
    ])
    expect(await lane()).toMatchObject({ state: 'probing', why: 'refused' })
    expect((await owner.post(`/callback-lanes/${shop.appId}/pause`, { reason })).status).toBe(404)
    expect((await viewer.post(`/callback-lanes/${shop.appId}/pause`, { reason })).status).toBe(403)
  })

  it("of another agent do not exist for an agent's users", async () => {
    for (const path of [`/callbacks?agent=${other.appId}`, `/callbacks/${other.appId}/1`]) {
      expect((await owner.get(path)).status, path).toBe(404)
    }
    expect((await owner.post(`/callbacks/${other.appId}/1/resend`, { reason })).status).toBe(404)
    const foreign = { agent: other.appId, failed_since: '2020-01-01T00:00:00Z', reason }
    expect((await owner.post('/callbacks/replay', foreign)).status).toBe(404)
    const { json } = await owner.get('/callbacks?limit=200')
    expect(new Set(json.data.map(({ app_id }: { app_id: string }) => app_id))).toEqual(
      new Set([shop.appId]),
    )
    expect((await owner.get('/callback-lanes')).json.data).toHaveLength(1)
  })
})

describe('payments to decide', () => {
  const odd = async (amount: number, paidAmount: number) => {
    const { json } = await shop.deposit({ amount })
    await shop.trigger(json.txn_id, 'PAID', { paidAmount })
    const { rows } = await s.sql('select payment_id from payments where order_id = $1', [
      json.txn_id.split('-')[1],
    ])
    return { txnId: json.txn_id as string, id: encodeURIComponent(rows[0].payment_id) }
  }

  it('are listed, oldest first, and credited to the order they are for', async () => {
    const { txnId, id } = await odd(100, 90)
    s.clock.advance(1_000)
    const later = await odd(100, 80)
    const { json: list } = await admin.get('/payments')
    expect(list.data).toMatchObject([
      { txn_id: txnId, why: 'wrong_amount', amount: 90, state: 'waiting', assignee: null },
      { txn_id: later.txnId },
    ])
    const { json: first } = await admin.get('/payments?limit=1')
    const { json: second } = await admin.get(
      `/payments?limit=1&cursor=${encodeURIComponent(first.next)}`,
    )
    expect([first.data[0].txn_id, second.data[0].txn_id, second.next]).toEqual([
      txnId,
      later.txnId,
      null,
    ])
    const { json: detail } = await admin.get(`/payments/${id}`)
    expect(detail.candidates[0]).toMatchObject({ order: { txn_id: txnId }, allowed: true })
    expect((await admin.post(`/payments/${id}/credit`, { txn_id: txnId, reason })).json.code).toBe(
      'code_required',
    )
    const before = await shop.balance()
    const { json } = await admin.post(`/payments/${id}/credit`, {
      txn_id: txnId,
      reason,
      code: admin.code(),
    })
    expect(json.payment).toMatchObject({ state: 'credited', credited_to: 'order' })
    expect(detail.decision).toBeNull()
    expect(json.decision).toMatchObject({
      action: 'credit_payment',
      by: admin.email,
      approved_by: null,
      reason,
      txn_id: txnId,
      wallet: null,
    })
    const { json: decided } = await admin.get('/payments?state=decided')
    expect(decided.data.map((each: { txn_id: string }) => each.txn_id)).toEqual([txnId])
    expect(await shop.balance()).toBeCloseTo(before + 89.1, 5)
    const again = { txn_id: txnId, reason, code: admin.code() }
    expect((await admin.post(`/payments/${id}/credit`, again)).json.code).toBe('changed_meanwhile')
    expect((await auditOf('credit_payment')).map(({ outcome }) => outcome)).toEqual([
      'asked',
      'done',
      'asked',
      'refused',
    ])
  })

  it('go to the wallet, or back to who paid, with evidence', async () => {
    const wallet = await odd(100, 70)
    const to = { agent: shop.appId, reason, code: admin.code() }
    const { json } = await admin.post(`/payments/${wallet.id}/credit`, to)
    expect(json.payment).toMatchObject({ state: 'credited', credited_to: 'wallet' })
    expect(json.decision).toMatchObject({ by: admin.email, txn_id: null, wallet: shop.appId })
    const back = await odd(100, 60)
    const evidence = 'transfer 99'
    const returned = await admin.post(`/payments/${back.id}/return`, {
      evidence,
      reason,
      code: admin.code(),
    })
    expect(returned.json.payment).toMatchObject({ state: 'returned', evidence })
    expect(returned.json.decision).toMatchObject({ action: 'return_payment', reason, evidence })
    const again = await admin.post(`/payments/${back.id}/return`, {
      evidence,
      reason,
      code: admin.code(),
    })
    expect(again.json.code).toBe('changed_meanwhile')
    const { json: decided } = await admin.get('/payments?state=decided')
    expect(decided.data.map(({ txn_id }: { txn_id: string }) => txn_id)).toEqual(
      expect.arrayContaining([wallet.txnId, back.txnId]),
    )
    const both = { txn_id: back.txnId, agent: shop.appId, reason, code: admin.code() }
    expect((await admin.post(`/payments/${back.id}/credit`, both)).status).toBe(422)
  })

  it("that are nobody's have candidates, and are credited once where two decide at once", async () => {
    const { json: made } = await other.deposit({ amount: 77, accountNo: '5550001111' })
    await recordUnmatched(s.service.desk, {
      paymentId: 'sandbox:lost',
      reference: 'INV 1',
      amountMinor: 7700n,
      currency: 'THB',
      why: 'unmatched',
      contradicts: null,
      paidAt: s.clock(),
      payer: { accountNo: '5550001111', accountName: null, bankCode: null },
    })
    const path = '/payments/sandbox%3Alost'
    const { json: detail } = await admin.get(path)
    expect(detail.payment).toMatchObject({ why: 'unmatched', app_id: null, reference: 'INV 1' })
    expect(detail.candidates[0]).toMatchObject({ order: { txn_id: made.txn_id }, allowed: true })
    const two = await Promise.all([signIn(s, 'operator'), signIn(s, 'operator')])
    const answers = await Promise.all(
      two.map((each) =>
        each.post(`${path}/credit`, { txn_id: made.txn_id, reason, code: each.code() }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const seen = await viewer.get(path)
    expect(seen.json.payment.payer.account_no).toBe('••••1111')
  })

  it('are taken by one of five at once', async () => {
    const { id } = await odd(100, 50)
    const takers = await Promise.all(Array.from({ length: 5 }, () => signIn(s, 'operator')))
    const answers = await Promise.all(
      takers.map((taker) =>
        taker.post(`/payments/${id}/assign`, { assignee: taker.email, instead_of: null }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    const winner = takers[answers.findIndex(({ status }) => status === 200)]
    const { json } = await admin.get(`/payments/${id}`)
    expect(json.payment.assignee).toBe(winner?.email)
    expect(json.notes).toHaveLength(1)
  })

  it('are assigned and noted on, by whom is kept', async () => {
    const { id } = await odd(100, 50)
    const { json } = await admin.post(`/payments/${id}/assign`, { assignee: admin.email })
    expect(json.payment.assignee).toBe(admin.email)
    const noted = await admin.post(`/payments/${id}/note`, { note: 'The payer calls back.' })
    expect(noted.json.notes).toMatchObject([
      { by: admin.email, assignee: admin.email, note: null },
      { by: admin.email, note: 'The payer calls back.' },
    ])
    const many = Array.from({ length: 5 }, (_, at) => `At once ${at}`)
    await Promise.all(many.map((note) => admin.post(`/payments/${id}/note`, { note })))
    const { json: after } = await admin.get(`/payments/${id}`)
    expect(
      after.notes
        .slice(2)
        .map(({ note }: { note: string }) => note)
        .sort(),
    ).toEqual(many)
    const { json: mine } = await admin.get(`/payments?assignee=${admin.email}`)
    expect(mine.data).toHaveLength(1)
    const grab = { assignee: admin.email, instead_of: null }
    const late = await admin.post(`/payments/${id}/assign`, grab)
    expect([late.status, late.json.code]).toEqual([409, 'changed_meanwhile'])
    expect(late.json.detail).toContain(admin.email)
    const stranger = { assignee: owner.email }
    expect((await admin.post(`/payments/${id}/assign`, stranger)).status).toBe(422)
    const freed = await admin.post(`/payments/${id}/assign`, { assignee: null })
    expect(freed.json.payment.assignee).toBeNull()
    expect((await viewer.post(`/payments/${id}/note`, { note: 'x' })).json.code).toBe(
      'not_permitted',
    )
    for (const path of ['/payments', `/payments/${id}`]) {
      expect((await owner.get(path)).status, path).toBe(404)
    }
    for (const action of ['credit', 'return', 'assign', 'note']) {
      expect((await owner.post(`/payments/${id}/${action}`, {})).status, action).toBe(404)
    }
  })
})

describe('wallets', () => {
  it('are as they were at any time', async () => {
    const path = `/wallets/${shop.appId}`
    const before = await admin.get(path)
    const at = s.clock().toISOString()
    s.clock.advance(60_000)
    await shop.fund(100)
    const now = await admin.get(path)
    expect(now.json.balance).toBeCloseTo(before.json.balance + 99, 5)
    const then = await admin.get(`${path}?as_of=${encodeURIComponent(at)}`)
    expect(then.json).toMatchObject({
      balance: before.json.balance,
      seq: before.json.seq,
      as_of: at,
    })
    const { rows } = await s.sql('select seq::int as seq, at from journal where agent_id = $1', [
      shop.agentId,
    ])
    for (const { at: written } of rows) {
      const last = Math.max(...rows.filter((row) => row.at <= written).map(({ seq }) => seq))
      const asOf = encodeURIComponent(written.toISOString())
      expect((await admin.get(`${path}?as_of=${asOf}`)).json.seq).toBe(last)
    }
    const never = await admin.get(`${path}?as_of=2020-01-01T00:00:00Z`)
    expect(never.json).toMatchObject({ balance: 0, seq: 0, at: null })
    const { json: list } = await admin.get('/wallets')
    const { rows: agents } = await s.sql('select app_id from agents order by agent_id')
    expect(list.data.map(({ app_id }: { app_id: string }) => ({ app_id }))).toEqual(agents)
  })

  it('have a journal, newest first, that begins as of any time', async () => {
    const { rows } = await s.sql(
      'select seq::int as seq from journal where agent_id = $1 order by seq desc',
      [shop.agentId],
    )
    const seqs: number[] = []
    for (let cursor = ''; ; ) {
      const { json } = await admin.get(`/wallets/${shop.appId}/journal?limit=3${cursor}`)
      seqs.push(...json.data.map(({ seq }: { seq: number }) => seq))
      if (json.next === null) break
      cursor = `&cursor=${json.next}`
    }
    expect(seqs).toEqual(rows.map(({ seq }) => seq))
    const { json } = await admin.get(`/wallets/${shop.appId}/journal?as_of=2020-01-01T00:00:00Z`)
    expect(json).toEqual({ data: [], next: null })
  })

  it('are adjusted once by a reference, with reason and code', async () => {
    const path = `/wallets/${shop.appId}/adjust`
    const ask = (more = {}) => ({ amount: -25, ref: 'case 7', reason, code: admin.code(), ...more })
    const before = await shop.balance()
    expect((await admin.post(path, { ...ask(), code: undefined })).json.code).toBe('code_required')
    expect((await admin.post(path, ask({ amount: 0 }))).status).toBe(422)
    expect((await admin.post(path, ask())).json.changed).toBe(true)
    expect((await admin.post(path, ask())).json.changed).toBe(false)
    expect(await shop.balance()).toBeCloseTo(before - 25, 5)
    expect((await auditOf('adjust_wallet')).at(-1)).toMatchObject({ outcome: 'done', reason })
    expect((await viewer.post(path, ask())).json.code).toBe('not_permitted')
    expect((await owner.post(path, ask())).status).toBe(404)
  })

  it('have statements as a table and to print', async () => {
    await admin.post(`/wallets/${shop.appId}/adjust`, {
      amount: 1,
      ref: 'formula',
      reason: '=HYPERLINK("evil")',
      code: admin.code(),
    })
    const from = '2020-01-01T00:00:00Z'
    const to = new Date(s.clock().getTime() + 1).toISOString()
    const path = `/wallets/${shop.appId}/statement`
    const { text } = await admin.get(`${path}.csv?from=${from}&to=${encodeURIComponent(to)}`)
    const { rows } = await s.sql('select count(*)::int as n from journal where agent_id = $1', [
      shop.agentId,
    ])
    expect(text.trimEnd().split('\r\n')).toHaveLength(rows[0].n + 1)
    expect(text).toContain(`"'=HYPERLINK(""evil"")"`)
    expect((await admin.get(`${path}.csv?from=${from}&to=${from}`)).status).toBe(422)
    expect((await admin.get(`${path}.pdf?from=${from}`)).status).toBe(422)
  })

  it('have on paper what moved, between the balances before and after it', async () => {
    s.clock.advance(1_000)
    const from = s.clock().toISOString()
    const before = await shop.balance()
    const reason = 'คืนเงิน Nguyễn'
    const ask = { amount: 1_200, ref: 'paper', reason, code: admin.code() }
    expect((await admin.post(`/wallets/${shop.appId}/adjust`, ask)).status).toBe(200)
    const { json: order } = await shop.deposit({ amount: 100 })
    await shop.trigger(order.txn_id, 'PAID')
    const query = `from=${from}&to=2100-01-01T00:00:00Z`
    const response = await fetch(
      `${admin.url}/console/api/wallets/${shop.appId}/statement.pdf?${query}`,
      { headers: { cookie: admin.cookie } },
    )
    expect(response.headers.get('content-type')).toBe('application/pdf')
    const pieces = printedIn(Buffer.from(await response.arrayBuffer()))
    const texts = pieces.map(({ copied }) => copied).filter((text) => text !== '')
    const money = (units: number) => printedMoney(BigInt(Math.round(units * 100)), 'THB')
    const opening = money(before)
    const closing = money(before + 1_299)
    const table = texts.slice(texts.lastIndexOf('Opening balance') + 1)
    expect(table.join(' ')).toMatch(
      new RegExp(
        `^${opening} .*adjustment คืนเงิน +Nguyễn 1,200.00 0.00 0.00 ${money(before + 1_200)} ` +
          `.*deposit paid ${order.txn_id} 99.00 0.00 1.00 ${closing} ` +
          `Closing balance and what the rows come to 1,299.00 0.00 1.00 ${closing}$`,
      ),
    )
    const figure = (name: string) => texts[texts.indexOf(name) + 1]
    expect([figure('Opening balance'), figure('Closing balance')]).toEqual([opening, closing])
    expect(texts).toContain('THB')
  })

  it("of another agent do not exist for an agent's users", async () => {
    const span = 'from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z'
    for (const part of ['', '/journal', `/statement.csv?${span}`, `/statement.pdf?${span}`]) {
      expect((await owner.get(`/wallets/${other.appId}${part}`)).status, part).toBe(404)
      expect((await owner.get(`/wallets/${shop.appId}${part}`)).status, part).toBe(200)
    }
    expect((await owner.get('/wallets')).json.data).toMatchObject([{ app_id: shop.appId }])
  })
})

describe('home', () => {
  it('counts today as a model does, in the zone of the service, and what waits', async () => {
    const { rows } = await s.sql(
      `select o.kind, count(*)::int as orders, (count(*) filter (where o.status = 'PAID'))::int as paid,
         coalesce(sum(o.paid_amount) filter (where o.status = 'PAID'), 0)::int as minor
       from orders o where (o.created_at at time zone 'Asia/Bangkok')::date
         = ($1::timestamptz at time zone 'Asia/Bangkok')::date group by o.kind`,
      [s.clock()],
    )
    const deposits = rows.find(({ kind }) => kind === 'deposit')
    const { json } = await admin.get('/home')
    expect(json.deposits.today).toMatchObject({ orders: deposits.orders, paid: deposits.paid })
    expect(json.volumes).toMatchObject([{ currency: 'THB', in_today: deposits.minor / 100 }])
    const inHours = json.hours.reduce(
      (sum: number, hour: { orders: number }) => sum + hour.orders,
      0,
    )
    expect(inHours).toBeGreaterThanOrEqual(deposits.orders)
    // Every hour until now is there, once per currency.
    const elapsed = (s.clock().getTime() - Date.parse(json.yesterday_from)) / 3_600_000
    expect(json.hours.map(({ at }: { at: string }) => Date.parse(at))).toEqual(
      Array.from(
        { length: Math.floor(elapsed) + 1 },
        (_, hour) => Date.parse(json.yesterday_from) + hour * 3_600_000,
      ),
    )
    expect(json.refuses).toEqual([])
    expect(json.today_from).toMatch(/T17:00:00\.000Z$/)
    expect(json.waiting.payments.count).toBe((await admin.get('/payments')).json.data.length)
    expect(json.proof.ok).toBe(true)
    expect(json.providers).toMatchObject([{ name: 'sandbox', state: 'on' }])
  })

  it("shows an agent's users their agent, and nothing of the operator's", async () => {
    const { json } = await owner.get('/home')
    const { rows } = await s.sql(
      `select count(*)::int as n from orders where agent_id = $1 and kind = 'deposit'`,
      [shop.agentId],
    )
    expect(json.deposits.today.orders).toBeLessThanOrEqual(rows[0].n)
    expect(json).toMatchObject({ providers: null, proof: null })
  })
})
