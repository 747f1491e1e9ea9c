import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rotateKey } from '../../src/agents/save-agent.ts'
import { pauseCallbacks, resendCallbacks } from '../../src/callbacks/resend-callbacks.ts'
import { version } from '../../src/version.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let receiver: Receiver

beforeAll(async () => {
  s = await startTestService()
})
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await s.prove()
  await receiver.close()
})
afterAll(() => s.close())

const minuteMs = 60_000
const refuse = (_received: Received, response: ServerResponse) => response.writeHead(500).end('no')
const accept = (_received: Received, response: ServerResponse) => response.end('{"code":0}')
const refusePaid = (received: Received, response: ServerResponse) =>
  (received.json.status === 'PAID' ? refuse : accept)(received, response)
const statuses = () => receiver.received.map(({ json }) => json.status)
const attemptNumbers = () => receiver.received.map(({ headers }) => headers['x-attempt'])

/** An agent whose callbacks go to the receiver. */
const toldAgent = () =>
  s.agent({ depositCallbackUrl: receiver.url, withdrawCallbackUrl: receiver.url })

/** An agent with money that is told of withdrawals only. */
async function fundedAgent(): Promise<AgentClient> {
  const agent = await s.agent({ withdrawCallbackUrl: receiver.url })
  await agent.fund(1_000_000)
  return agent
}

/** A withdrawal that is PAID; its callback has the number 3. */
async function paidWithdrawal(agent: AgentClient): Promise<string> {
  const { json } = await agent.withdraw()
  await agent.trigger(json.txn_id, 'PAID')
  return json.txn_id
}

async function callbackOf({ agentId }: AgentClient, seq: number) {
  const { rows } = await s.sql(
    `select c.*, k.turn is not null as under_way from callbacks c
     left join callback_claims k on k.agent_id = c.agent_id and c.seq = any(k.seqs)
     where c.agent_id = $1 and c.seq = $2`,
    [agentId, seq],
  )
  return rows[0]
}

/** Waits until so many attempts are recorded and none is under way. */
async function attempted(agent: AgentClient, seq: number, count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const { attempts, under_way } = await callbackOf(agent, seq)
        return under_way ? 'under way' : attempts
      },
      { interval: 10 },
    )
    .toBe(count)
}

async function delivery(agent: AgentClient, seq: number): Promise<string> {
  const { json } = await agent.get(`/payment/events?after=${seq - 1}&limit=1`)
  return json.data[0].delivery
}

const becomes = (agent: AgentClient, seq: number, expected: string) =>
  expect.poll(() => delivery(agent, seq), { interval: 10 }).toBe(expected)

/** Has the sender look at an agent now, and not only at its next round. */
const look = ({ agentId }: AgentClient) =>
  s.sql(`select pg_notify('sluice_callbacks', $1)`, [String(agentId)])

/** Moves the clock to the next attempt and waits for what it comes to. */
async function nextAttempt(agent: AgentClient, seq: number): Promise<void> {
  const { due_at, attempts } = await callbackOf(agent, seq)
  s.clock.advance(Math.max(0, due_at.getTime() - s.clock().getTime()))
  await look(agent)
  await attempted(agent, seq, attempts + 1)
}

/** Another outcome of the agent has gone out: whatever else was due before it has, too. */
async function afterOneMore(agent: AgentClient): Promise<void> {
  const marker = `marker-${receiver.received.length}-${s.clock().getTime()}`
  const { json } = await agent.withdraw({ refId: marker })
  await agent.trigger(json.txn_id, 'CANCEL')
  await expect
    .poll(() => receiver.received.some((each) => each.json.refId === marker), { interval: 10 })
    .toBe(true)
  receiver.received = receiver.received.filter((each) => each.json.refId !== marker)
}

describe('what is sent', () => {
  const hmac = (secret: string, t: string, body: string) =>
    createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')

  /** A header's parts, as an agent would take them apart. */
  function signatureOf(received: Received | undefined): { t: string; v1: string[] } {
    const [t = '', ...v1] = String(received?.headers['x-signature']).split(',')
    expect(t).toMatch(/^t=\d{10}$/)
    for (const each of v1) expect(each).toMatch(/^v1=[0-9a-f]{64}$/)
    return { t: t.slice(2), v1: v1.map((each) => each.slice(3)) }
  }

  test('an outcome is called back with its exact bytes, signed as the vector is', async () => {
    const vector = hmac(
      'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b',
      '1767225600',
      '{"orderId":"A-1001","status":"PAID","amount":"100.50","currency":"USD","timestamp":"2026-01-01T00:00:00.000Z"}',
    )
    expect(vector).toBe('dd4b3ec46fbfbd11e102053a57363bc3f78366413b9a8a07980193229de8d3bd')

    const agent = await s.agent({ depositCallbackUrl: `${receiver.url}/deposit?shop=1` })
    const { json } = await agent.deposit()
    await agent.trigger(json.txn_id, 'PAID')
    await receiver.until(1)
    const [first] = receiver.received
    const { t, v1 } = signatureOf(first)
    expect(v1).toEqual([hmac(agent.secret, t, first?.body ?? '')])
    expect(t).toBe(String(Math.floor(s.clock().getTime() / 1000)))
    expect(first?.path).toBe('/deposit?shop=1')
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(first?.body ?? '')),
      'x-appid': agent.appId,
      'x-event': 'deposit.paid',
      'x-event-seq': '1',
      'x-attempt': '1',
      'user-agent': `Sluice/${version}`,
    })
    expect(first?.body).toBe((await agent.get('/payment/events')).json.data[0].body)
    await becomes(agent, 1, 'delivered')
  })

  test('extraParams comes back byte for byte: emoji, escapes, numbers, line breaks, the order of keys', async () => {
    const agent = await toldAgent()
    const text =
      '{"z":1.0,"a":"😀 \\u00e9 ไทย","10":1,"2":[1e2,{"y":null,"b":-0}],"/":"\\/",\r\n\t"c" : "\\n\\u001e"\n}'
    const order = JSON.stringify(agent.order())
    const body = `${order.slice(0, -1)},"extraParams":${text}}`
    const { json } = await agent.send('POST', '/payment/deposit', body)
    await agent.trigger(json.txn_id, 'PAID')
    await receiver.until(1)
    expect(receiver.received[0]?.body).toContain(`"extParams":${text}`)
    const { t, v1 } = signatureOf(receiver.received[0])
    expect(v1).toEqual([hmac(agent.secret, t, receiver.received[0]?.body ?? '')])
  })

  test('an attempt that is repeated has the same bytes and a signature of its own time', async () => {
    const agent = await toldAgent()
    receiver.answer = refuse
    await agent.fund(100)
    await attempted(agent, 1, 1)
    await nextAttempt(agent, 1)
    const [first, second] = receiver.received
    expect(second?.body).toBe(first?.body)
    expect(attemptNumbers()).toEqual(['1', '2'])
    const { t, v1 } = signatureOf(second)
    expect(Number(t)).toBeGreaterThanOrEqual(Number(signatureOf(first).t) + 4)
    expect(v1).toEqual([hmac(agent.secret, t, second?.body ?? '')])
  })

  test('a rotated secret signs beside the new one, newest first, until its overlap ends', async () => {
    const agent = await toldAgent()
    const secrets = [agent.secret]
    /** Which secrets have signed the latest callback, counted from the oldest. */
    const signers = () => {
      const last = receiver.received.at(-1)
      const { t, v1 } = signatureOf(last)
      const known = secrets.map((secret) => hmac(secret, t, last?.body ?? ''))
      return v1.map((each) => known.indexOf(each))
    }
    const rotate = async (overlapS: number) => {
      const { pool, secretKeys } = s.backend
      s.clock.advance(1_000)
      secrets.push(await rotateKey(pool, secretKeys, agent.agentId, overlapS, s.clock()))
    }
    const fund = async (outcomes: number) => {
      const secret = secrets.at(-1) ?? ''
      await new AgentClient(agent.url, agent.appId, secret, agent.agentId, s.clock).fund(1)
      await receiver.until(outcomes)
    }
    await fund(1)
    expect(signers()).toEqual([0])
    await rotate(3_600)
    await fund(2)
    expect(signers()).toEqual([1, 0])

    // One that fails now is tried again when the first secret has ended.
    receiver.answer = refuse
    await fund(3)
    await attempted(agent, 3, 1)
    expect(signers()).toEqual([1, 0])
    receiver.answer = accept
    s.clock.advance(3_600_000)
    await look(agent)
    await receiver.until(4)
    expect(signers()).toEqual([1])

    await rotate(0)
    await fund(5)
    expect(signers()).toEqual([2])
  })
})

describe('the schedule', () => {
  test('13 attempts, each at its time ±20 %, then it is given up, kept, and can be sent again', async () => {
    const steps = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 86_400]
    const agent = await fundedAgent()
    receiver.answer = refusePaid
    await paidWithdrawal(agent)
    await attempted(agent, 3, 1)
    for (const [at, stepS] of steps.entries()) {
      const { due_at } = await callbackOf(agent, 3)
      const delayMs = due_at.getTime() - s.clock().getTime()
      expect(delayMs).toBeGreaterThanOrEqual(0.8 * stepS * 1000)
      expect(delayMs).toBeLessThanOrEqual(1.2 * stepS * 1000)
      if (at < 3) {
        s.clock.advance(delayMs - 1)
        await afterOneMore(agent)
        expect(receiver.received).toHaveLength(at + 1)
      }
      await nextAttempt(agent, 3)
    }
    expect(await delivery(agent, 3)).toBe('exhausted')
    expect(attemptNumbers()).toEqual(Array.from({ length: 13 }, (_, at) => String(at + 1)))

    s.clock.advance(30 * 24 * 60 * minuteMs)
    await afterOneMore(agent)
    expect(receiver.received).toHaveLength(13)
    const kept = await s.sql(
      'select count(*)::int from callback_attempts where agent_id = $1 and seq = 3',
      [agent.agentId],
    )
    expect(kept.rows[0].count).toBe(13)

    expect((await agent.post('/payment/events/3/resend')).status).toBe(202)
    await attempted(agent, 3, 1)
    const { due_at } = await callbackOf(agent, 3)
    expect(due_at.getTime() - s.clock().getTime()).toBeLessThanOrEqual(6_000)
    receiver.answer = accept
    await nextAttempt(agent, 3)
    await becomes(agent, 3, 'delivered')
    expect(attemptNumbers().slice(13)).toEqual(['1', '2'])
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
  })

  test('callbacks that fail together are not retried together', async () => {
    const agents = await Promise.all(Array.from({ length: 12 }, toldAgent))
    receiver.answer = refuse
    await Promise.all(agents.map((agent) => agent.fund(1)))
    await Promise.all(agents.map((agent) => attempted(agent, 1, 1)))
    const rows = await Promise.all(agents.map((agent) => callbackOf(agent, 1)))
    const delaysMs = rows.map(({ due_at }) => due_at.getTime() - s.clock().getTime())
    for (const delayMs of delaysMs) {
      expect(delayMs).toBeGreaterThanOrEqual(4_000)
      expect(delayMs).toBeLessThanOrEqual(6_000)
    }
    expect(new Set(delaysMs).size).toBeGreaterThan(6)
  })
})

describe('a later outcome of an order', () => {
  test('waits while the earlier one fails, spends nothing, and follows when it is accepted', async () => {
    const agent = await fundedAgent()
    receiver.answer = refuse
    const txnId = await paidWithdrawal(agent)
    await attempted(agent, 3, 1)
    await agent.trigger(txnId, 'REVERT')
    await nextAttempt(agent, 3)
    await nextAttempt(agent, 3)
    expect(statuses()).toEqual(['PAID', 'PAID', 'PAID'])
    expect(await callbackOf(agent, 4)).toMatchObject({ state: 'waiting', attempts: 0 })

    receiver.answer = accept
    await nextAttempt(agent, 3)
    await becomes(agent, 4, 'delivered')
    expect(statuses()).toEqual(['PAID', 'PAID', 'PAID', 'PAID', 'REVERT'])
    expect(attemptNumbers()).toEqual(['1', '2', '3', '4', '1'])
  })

  test('follows at once when the earlier one is given up', async () => {
    const agent = await fundedAgent()
    receiver.answer = refusePaid
    const txnId = await paidWithdrawal(agent)
    await attempted(agent, 3, 1)
    for (let count = 2; count <= 12; count++) await nextAttempt(agent, 3)
    const { due_at } = await callbackOf(agent, 3)
    s.clock.advance(due_at.getTime() - s.clock().getTime() - minuteMs)
    await agent.trigger(txnId, 'REVERT')
    await afterOneMore(agent)
    expect(statuses()).toEqual(Array(12).fill('PAID'))

    await nextAttempt(agent, 3)
    await becomes(agent, 4, 'delivered')
    expect(await delivery(agent, 3)).toBe('exhausted')
    expect(statuses()).toEqual([...Array(13).fill('PAID'), 'REVERT'])
  })

  test('waits 15 minutes at most; then it goes first, and the earlier one never after it', async () => {
    const agent = await fundedAgent()
    receiver.answer = refusePaid
    const txnId = await paidWithdrawal(agent)
    await attempted(agent, 3, 1)
    for (let count = 2; count <= 5; count++) await nextAttempt(agent, 3)
    await agent.trigger(txnId, 'REVERT')
    s.clock.advance(15 * minuteMs - 1)
    await afterOneMore(agent)
    expect(statuses()).toEqual(Array(5).fill('PAID'))
    expect(await delivery(agent, 3)).toBe('waiting')

    s.clock.advance(1)
    await look(agent)
    await becomes(agent, 4, 'delivered')
    expect(await delivery(agent, 3)).toBe('superseded')
    receiver.answer = accept
    s.clock.advance(3 * 24 * 60 * minuteMs)
    await afterOneMore(agent)
    expect(statuses()).toEqual([...Array(5).fill('PAID'), 'REVERT'])

    // Among those that were given up it is left out; only who names it has it sent.
    const failed = { agentId: agent.agentId, failed: true }
    expect(await resendCallbacks(s.backend.pool, failed, s.clock)).toEqual({
      resent: 0,
      leftOut: 1,
    })
    expect(await delivery(agent, 3)).toBe('superseded')
    expect((await agent.post('/payment/events/3/resend')).status).toBe(202)
    await becomes(agent, 3, 'delivered')
    expect(statuses().at(-1)).toBe('PAID')
  })

  test('that was accepted keeps the earlier one, which was given up, from being sent with all that were', async () => {
    const agent = await fundedAgent()
    const txnId = await paidWithdrawal(agent)
    await agent.trigger(txnId, 'REVERT')
    await becomes(agent, 4, 'delivered')
    await paidWithdrawal(agent)
    await becomes(agent, 6, 'delivered')
    // As after days of failures: the first state of each was given up, and the later one of the first accepted.
    await s.sql(
      `update callbacks set state = 'exhausted', delivered_at = null where agent_id = $1 and seq in (3, 6)`,
      [agent.agentId],
    )
    receiver.received = []
    const failed = { agentId: agent.agentId, failed: true }
    expect(await resendCallbacks(s.backend.pool, failed, s.clock)).toEqual({
      resent: 1,
      leftOut: 1,
    })
    await look(agent)
    await becomes(agent, 6, 'delivered')
    expect(receiver.received.map(({ headers }) => headers['x-event-seq'])).toEqual(['6'])
    expect(await delivery(agent, 3)).toBe('exhausted')
    await resendCallbacks(s.backend.pool, { agentId: agent.agentId }, s.clock)
    await look(agent)
    await becomes(agent, 4, 'delivered')
    const again = receiver.received.map(({ headers }) => headers['x-event-seq'])
    expect(again.indexOf('3')).toBeLessThan(again.indexOf('4'))
  })

  test('that is being sent keeps the earlier one, which was given up, from being sent after it', async () => {
    const agent = await fundedAgent()
    const txnId = await paidWithdrawal(agent)
    await becomes(agent, 3, 'delivered')
    await s.sql(
      `update callbacks set state = 'exhausted', delivered_at = null where agent_id = $1 and seq = 3`,
      [agent.agentId],
    )
    let acceptRevert = () => {}
    receiver.answer = (received, response) => {
      acceptRevert = () => accept(received, response)
    }
    await agent.trigger(txnId, 'REVERT')
    await receiver.until(2)
    const failed = { agentId: agent.agentId, failed: true }
    expect(await resendCallbacks(s.backend.pool, failed, s.clock)).toEqual({
      resent: 0,
      leftOut: 1,
    })
    receiver.answer = accept
    acceptRevert()
    await becomes(agent, 4, 'delivered')
    await afterOneMore(agent)
    expect(statuses()).toEqual(['PAID', 'REVERT'])
    expect(await delivery(agent, 3)).toBe('exhausted')
  })

  test('that is sent again with all the others follows the earlier one again, however old both are', async () => {
    const agent = await fundedAgent()
    const txnId = await paidWithdrawal(agent)
    await agent.trigger(txnId, 'REVERT')
    await becomes(agent, 4, 'delivered')
    s.clock.advance(60 * minuteMs)
    await pauseCallbacks(s.backend.pool, agent.agentId, true, s.clock)
    for (const seq of [3, 4]) await agent.post(`/payment/events/${seq}/resend`)
    await pauseCallbacks(s.backend.pool, agent.agentId, false, s.clock)
    await look(agent)
    await becomes(agent, 4, 'delivered')
    expect(statuses()).toEqual(['PAID', 'REVERT', 'PAID', 'REVERT'])
    expect(await delivery(agent, 3)).toBe('delivered')
  })

  test('never overtakes one that is accepted at this very moment', async () => {
    // Thousands, for a longer look: OVERTAKING_ROUNDS=5000
    const rounds = Number(process.env.OVERTAKING_ROUNDS ?? 50)
    const beside = await startTestService({ beside: s })
    try {
      const agent = await fundedAgent()
      const { appId, secret, agentId } = agent
      const other = new AgentClient(beside.service.url, appId, secret, agentId, s.clock)
      const reverts: Promise<unknown>[] = []
      const told = new Map<string, string[]>()
      const note = (refId: string, what: string) =>
        told.set(refId, [...(told.get(refId) ?? []), what])
      receiver.answer = (received, response) => {
        const { refId, transactionId, status } = received.json
        note(refId, status)
        const end = () => {
          note(refId, 'answered')
          response.end()
        }
        if (status === 'REVERT') return end()
        const by = told.size % 2 ? agent : other
        const revert = () => reverts.push(by.trigger(transactionId, 'REVERT'))
        // Before the answer, with it, and when it has been written.
        if (told.size % 3 === 0) {
          const committed = by.trigger(transactionId, 'REVERT').then(() => by.balance())
          return void committed.then(end, end)
        }
        if (told.size % 3 === 1) response.on('close', revert)
        else revert()
        end()
      }
      for (let round = 0; round < rounds; round += 50) {
        await Promise.all(
          Array.from({ length: 50 }, async (_, at) => {
            const txnId = await paidWithdrawal(agent)
            // Some are returned before the agent can have been told of anything.
            if (at % 4 === 0) await other.trigger(txnId, 'REVERT')
          }),
        )
      }
      // What a busy machine answers too late is sent again: the clock goes to its next attempt.
      const delivered = async () => {
        const { rows } = await s.sql(
          `select count(*) filter (where state = 'delivered')::int as delivered,
             min(due_at) filter (where state <> 'delivered' and attempts > 0) as due_at
           from callbacks where agent_id = $1 and kind = 'withdraw'`,
          [agentId],
        )
        const [found] = rows
        const waitMs = (found.due_at?.getTime() ?? 0) - s.clock().getTime()
        if (waitMs > 0) s.clock.advance(waitMs)
        await look(agent)
        return found.delivered
      }
      await expect.poll(delivered).toBe(2 * rounds)
      await Promise.all(reverts)
      expect(told.size).toBe(rounds)
      for (const each of told.values()) {
        const revert = each.indexOf('REVERT')
        expect(each[0]).toBe('PAID')
        expect(each.slice(0, revert)).toContain('answered')
        expect(each.slice(revert)).not.toContain('PAID')
      }
    } finally {
      await beside.close()
    }
  })
})

describe('sending again', () => {
  test('is answered 202, and the same bytes go out with a fresh signature', async () => {
    const agent = await toldAgent()
    await agent.fund(100)
    await becomes(agent, 1, 'delivered')
    s.clock.advance(10_000)
    const answer = await agent.post('/payment/events/1/resend')
    expect(answer).toMatchObject({ status: 202, json: { seq: 1, delivery: 'waiting' } })
    await receiver.until(2)
    const [first, second] = receiver.received
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['x-signature']).not.toBe(first?.headers['x-signature'])
    await becomes(agent, 1, 'delivered')
  })

  test('asked twice, it is sent twice', async () => {
    const agent = await toldAgent()
    await agent.fund(100)
    await becomes(agent, 1, 'delivered')
    const answers = await Promise.all([1, 2].map(() => agent.post('/payment/events/1/resend')))
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    await receiver.until(3)
    await becomes(agent, 1, 'delivered')
    await agent.fund(100)
    await receiver.until(4)
    expect(
      receiver.received.map(({ json }) => json.refId === receiver.received[0]?.json.refId),
    ).toEqual([true, true, true, false])
  })

  test('of one that is under way sends it once more after that', async () => {
    const agent = await toldAgent()
    const held: ServerResponse[] = []
    receiver.answer = (_received, response) => held.push(response)
    await agent.fund(100)
    await receiver.until(1)
    expect(await delivery(agent, 1)).toBe('sending')
    expect((await agent.post('/payment/events/1/resend')).status).toBe(202)
    receiver.answer = accept
    await agent.fund(100)
    await receiver.until(2)
    expect(receiver.received[1]?.headers['x-event-seq']).toBe('2')
    held[0]?.end()
    await receiver.until(3)
    expect(receiver.received[2]?.headers['x-event-seq']).toBe('1')
    await becomes(agent, 1, 'delivered')
    expect(receiver.received).toHaveLength(3)
  })

  test('of a callback that is not there is 404', async () => {
    const agent = await toldAgent()
    await agent.fund(100)
    const unknown = ['2', '0', '999999999999999', '9'.repeat(20), '-1', '1.0', 'x', '1%20']
    for (const seq of unknown) {
      const answer = await agent.post(`/payment/events/${seq}/resend`)
      expect(answer, seq).toMatchObject({ status: 404, json: { code: 'not_found' } })
    }
  })

  test("of another agent's callback is 404 and sends nothing", async () => {
    const agent = await toldAgent()
    for (let count = 1; count <= 3; count++) await agent.fund(100)
    await becomes(agent, 3, 'delivered')
    const stranger = await toldAgent()
    await stranger.fund(100)
    await receiver.until(4)
    const answer = await stranger.post('/payment/events/3/resend')
    expect(answer).toMatchObject({ status: 404, json: { code: 'not_found' } })
    await agent.fund(100)
    await receiver.until(5)
    expect(receiver.received.map(({ headers }) => headers['x-event-seq']).sort()).toEqual([
      '1',
      '1',
      '2',
      '3',
      '4',
    ])
  })
})

describe('an agent sees in its events how far each one is', () => {
  test('no address: it waits, spends nothing, and goes out when one is set', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    await becomes(agent, 1, 'no_address')
    expect(await callbackOf(agent, 1)).toMatchObject({ attempts: 0 })
    await s.sql('update agents set deposit_callback_url = $2 where agent_id = $1', [
      agent.agentId,
      receiver.url,
    ])
    await becomes(agent, 1, 'delivered')
    expect(attemptNumbers()).toEqual(['1'])
  })

  test('waiting, sending, delivered', async () => {
    const agent = await toldAgent()
    receiver.answer = refuse
    await agent.fund(100)
    await becomes(agent, 1, 'waiting')
    await attempted(agent, 1, 1)
    const held: ServerResponse[] = []
    receiver.answer = (_received, response) => held.push(response)
    s.clock.advance(6_000)
    await becomes(agent, 1, 'sending')
    await expect.poll(() => held.length).toBe(1)
    held[0]?.writeHead(202).end('garbage {"code":1')
    await becomes(agent, 1, 'delivered')
  })

  test('paused: held back, nothing lost', async () => {
    const agent = await toldAgent()
    await pauseCallbacks(s.backend.pool, agent.agentId, true, s.clock)
    await agent.fund(100)
    await agent.fund(100)
    expect(await delivery(agent, 1)).toBe('paused')
    expect(await delivery(agent, 2)).toBe('paused')
    await look(agent)
    const unpaused = await toldAgent()
    await unpaused.fund(100)
    await receiver.until(1)
    expect(receiver.received[0]?.headers['x-appid']).toBe(unpaused.appId)

    await pauseCallbacks(s.backend.pool, agent.agentId, false, s.clock)
    await look(agent)
    await becomes(agent, 1, 'delivered')
    await becomes(agent, 2, 'delivered')
    expect(receiver.received).toHaveLength(3)
  })
})
