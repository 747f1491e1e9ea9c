import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { returnPayment } from '../../src/payments/payments.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** One code confirms several decisions on payments: the list as it was shown, and no other. */

let test: TestService
let agent: AgentClient
let admin: OperatorClient
let second: OperatorClient

beforeAll(async () => {
  test = await startTestService()
  agent = await test.agent()
  admin = await signIn(test, 'admin')
  second = await signIn(test, 'admin')
})
afterEach(() => test.prove())
afterAll(() => test.close())

const reason = 'page 7 of the statement'

/** Payments of other amounts than their orders asked for: each waits for a decision. */
async function wrongPayments(count: number) {
  const made: { txn_id: string; payment_id: string }[] = []
  for (let nth = 0; nth < count; nth++) {
    const { json } = await agent.deposit({ amount: 100 })
    await agent.trigger(json.txn_id, 'PAID', { paidAmount: 90, payerAccountNo: '5551237777' })
    const { data } = (await admin.get('/payments?limit=200')).json
    const payment = data.find((each: { txn_id: string }) => each.txn_id === json.txn_id)
    made.push({ txn_id: json.txn_id, payment_id: payment.payment_id })
  }
  return made
}

const preview = async (decisions: object[]) =>
  (await admin.post('/payment-decisions/preview', { decisions })).json
const decide = (decisions: object[], digest: string, code = admin.code()) =>
  admin.post('/payment-decisions', { decisions, digest, reason, code })
const stateOf = async (id: string) =>
  (await admin.get(`/payments/${encodeURIComponent(id)}`)).json.payment.state

describe('several payments', () => {
  it('are decided with one code, each on its own, and the queue is shorter by them', async () => {
    const [first, other, left] = await wrongPayments(3)
    if (!first || !other || !left) throw new Error('no payments')
    const before = (await admin.get('/queue')).json
    expect(before.counts.payment).toBe(3)
    expect(before.data[0]).toMatchObject({ kind: 'payment', amount: 90, currency: 'THB' })
    const decisions = [
      { payment_id: first.payment_id, do: 'credit', txn_id: first.txn_id },
      { payment_id: other.payment_id, do: 'return' },
    ]
    const shown = await preview(decisions)
    expect(shown).toMatchObject({ sum: 180, currency: 'THB', most: null })
    const ours = { app_id: agent.appId, agent_name: expect.any(String) }
    expect(shown.data).toMatchObject([
      { amount: 90, does: 'credit', to: { txn_id: first.txn_id, ...ours } },
      { does: 'return', to: null, payer: { account_no: '5551237777' } },
    ])
    const code = admin.code()
    const done = await decide(decisions, shown.digest, code)
    expect([done.status, done.text]).toEqual([200, done.text])
    expect(done.json.data).toMatchObject([
      { outcome: 'done', amount: 90, to: { txn_id: first.txn_id } },
      { outcome: 'done', does: 'return' },
    ])
    expect(await stateOf(first.payment_id)).toBe('credited')
    expect(await stateOf(other.payment_id)).toBe('returned')
    expect((await admin.get('/queue/counts')).json).toMatchObject({ payment: 1, all: 1 })
    // Neither the code nor the list counts again.
    expect((await decide(decisions, shown.digest, code)).json.code).toBe('code_refused')
    expect((await decide(decisions, shown.digest)).json.code).toBe('digest_changed')
    const rest = [{ payment_id: left.payment_id, do: 'return' }]
    expect((await decide(rest, shown.digest)).json.code).toBe('digest_changed')
    const swapped = [{ payment_id: left.payment_id, do: 'credit', txn_id: left.txn_id }]
    expect((await decide(swapped, (await preview(rest)).digest)).json.code).toBe('digest_changed')
    await decide(rest, (await preview(rest)).digest)
    const { data } = (await admin.get('/audit?action=return_payment')).json
    expect(data.length).toBeGreaterThan(1)
  })

  it('are refused beyond a hundred, twice the same, without a code, and by who may not', async () => {
    const [one] = await wrongPayments(1)
    const decisions = [{ payment_id: one?.payment_id, do: 'return' }]
    const { digest } = await preview(decisions)
    const many = Array.from({ length: 101 }, (_, nth) => ({ payment_id: `p${nth}`, do: 'return' }))
    expect((await decide(many, digest)).status).toBe(422)
    expect((await decide([...decisions, ...decisions], digest)).status).toBe(422)
    const bare = await admin.post('/payment-decisions', { decisions, digest, reason })
    expect(bare.json.code).toBe('code_required')
    const viewer = await signIn(test, 'viewer')
    expect((await viewer.post('/payment-decisions/preview', { decisions })).status).toBe(403)
    await decide(decisions, digest)
  })

  it('go up to a sum that is set by policy, and take two people where one of them does', async () => {
    const [first, other] = await wrongPayments(2)
    const setRules = async (rules: object[]) => {
      const { version } = (await admin.get('/approval-rules')).json
      const set = await admin.put('/approval-rules', { version, rules, reason, code: admin.code() })
      expect([set.status, set.text]).toEqual([200, set.text])
    }
    const rule = { app_id: null, currency: 'THB', needs_two: true, above: '150', admin_only: false }
    for (const other of [{ app_id: agent.appId }, { above: null }, { admin_only: true }]) {
      const { version } = (await admin.get('/approval-rules')).json
      const rules = [{ ...rule, ...other, action: 'decide_together' }]
      const body = { version, rules, reason, code: admin.code() }
      expect((await admin.put('/approval-rules', body)).status).toBe(422)
    }
    await setRules([{ ...rule, action: 'decide_together' }])
    const both = [first, other].map((each) => ({ payment_id: each?.payment_id, do: 'return' }))
    const shown = await preview(both)
    expect(shown).toMatchObject({ sum: 180, most: 150 })
    const tooMuch = await decide(both, shown.digest)
    expect([tooMuch.status, tooMuch.json.detail]).toEqual([409, expect.stringContaining('150')])
    const byTwo = { ...rule, action: 'return_payment', app_id: agent.appId, currency: null }
    await setRules([{ ...byTwo, above: null }])
    const proposed = await decide(both, (await preview(both)).digest)
    expect([proposed.status, proposed.text]).toEqual([202, proposed.text])
    expect(await stateOf(first?.payment_id ?? '')).toBe('waiting')
    const { digest, amount, after } = (await second.get(`/approvals/${proposed.json.proposal}`))
      .json
    expect(amount).toBe(180)
    // Whoever approves it sees the sums and no more of the payers than tells two apart.
    expect(after[first?.payment_id ?? '']).toBe('90 THB from ••••7777: return')
    expect((await second.get('/queue')).json.counts.approval).toBe(1)
    const approval = { digest, code: second.code() }
    const done = await second.post(`/approvals/${proposed.json.proposal}/approve`, approval)
    expect(done.json.state, done.text).toBe('done')
    for (const each of [first, other]) {
      const { payment, decision } = (
        await admin.get(`/payments/${encodeURIComponent(each?.payment_id ?? '')}`)
      ).json
      expect(payment.state).toBe('returned')
      expect(decision).toMatchObject({ by: admin.email, approved_by: second.email })
    }

    // One of a list is decided otherwise while the list runs: the proposal says which.
    const [lost, kept, early] = await wrongPayments(3)
    const list = [lost, kept, early].map((each) => ({ payment_id: each?.payment_id, do: 'return' }))
    const { proposal } = (await decide(list, (await preview(list)).digest)).json
    await test.sql(`insert into proposal_runs (proposal_id, n, at) values ($1, 1, '2020-01-01')`, [
      proposal,
    ])
    const single = [{ payment_id: lost?.payment_id, do: 'credit', txn_id: lost?.txn_id }]
    expect((await decide(single, (await preview(single)).digest)).status).toBe(200)
    // What the run that was interrupted has decided is not refused because it is decided.
    await returnPayment(test.service.desk, early?.payment_id ?? '', reason, agent.agentId)
    const asShown = (await second.get(`/approvals/${proposal}`)).json.digest
    const run = { digest: asShown, code: second.code() }
    const partly = await second.post(`/approvals/${proposal}/approve`, run)
    expect(partly.json).toMatchObject({
      state: 'done',
      problem: {
        detail: expect.stringContaining(`2 of 3 were decided. Refused: ${lost?.payment_id}`),
      },
    })
    expect(await stateOf(kept?.payment_id ?? '')).toBe('returned')
    await setRules([])
  })

  it('to a wallet name whose it is; if one of a list fails, the answer says what was done before it', async () => {
    const [done, broken, left] = await wrongPayments(3)
    const list = [done, broken, left].map((each) => ({
      ...{ payment_id: each?.payment_id, do: 'credit', agent: agent.appId },
    }))
    const shown = await preview(list)
    expect(shown.data[0].to).toMatchObject({ txn_id: null, app_id: agent.appId })
    // The database refuses the second one's row of the audit log, which is no refusal of the decision.
    await test.sql(
      `alter table audit_log add constraint broken check (subject_id <> '${broken?.payment_id}') not valid`,
    )
    const answer = await decide(list, shown.digest)
    await test.sql('alter table audit_log drop constraint broken')
    expect(answer.json.data).toMatchObject([
      { payment_id: done?.payment_id, outcome: 'done' },
      { payment_id: broken?.payment_id, outcome: 'unknown', detail: expect.any(String) },
      { payment_id: left?.payment_id, outcome: 'not_tried' },
    ])
    expect(await stateOf(done?.payment_id ?? '')).toBe('credited')
    expect(await stateOf(left?.payment_id ?? '')).toBe('waiting')
    const rest = list.slice(1)
    expect((await decide(rest, (await preview(rest)).digest)).json.data).toMatchObject([
      { outcome: 'done' },
      { outcome: 'done' },
    ])
  })
})
