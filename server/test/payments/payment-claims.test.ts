import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { houseBook } from '../../src/ledger/house.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { creditPayment, dismissPayment } from '../../src/payments/payments.ts'
import { allToDecide, searchPayments } from '../../src/payments/search-payments.ts'
import { RoundProof, verify } from '../../src/proof/verify.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import { chainAnew } from '../support/chain-anew.ts'
import { testDatabase } from '../support/database.ts'
import { eventId, FakeProvider, paymentEvent, statusOf, told } from '../support/fake-provider.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, tempFolder } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** A bank payment is one owner's, whoever's reference it is reported with. */

const bank = new FakeProvider('bank')
const rival = new FakeProvider('rival')
const payer = new FakeProvider('payer', { deposits: false })
const outside = { providers: [bank, rival, payer], paysOut: false }

let s: TestService
let other: TestService
let admin: OperatorClient

beforeAll(async () => {
  s = await startTestService({ outside })
  other = await startTestService({ beside: s, outside })
  admin = await signIn(s, 'admin')
})
afterEach(() => s.prove('also across agents'))
afterAll(async () => {
  await other.close()
  await s.close()
  await cleanUp()
})

const tell = (...events: ProviderEvent[]) => bank.tell(s.service.url, ...events)
const again = (event: ProviderEvent & { type: 'payment' }, fields = {}) => ({
  ...event,
  ...fields,
  id: eventId(),
})

/** A deposit of 100 that is with the bank. */
async function deposit(agent?: AgentClient): Promise<{ agent: AgentClient; id: string }> {
  const whose = agent ?? (await s.agent())
  const id: string = (await whose.deposit()).json.txn_id
  await s.sql(`update orders set provider = 'bank' where order_id = $1`, [id.split('-')[1]])
  return { agent: whose, id }
}

/** What waits that is said to be a payment, with what it contradicts. */
async function waiting(paymentId: string) {
  const found = await searchPayments(s.backend.pool, allToDecide)
  return found.filter((each) => each.paymentId === paymentId || each.contradicts === paymentId)
}

/** A payment that one agent has and that was reported for another's order too. */
async function contested() {
  const [one, two] = [await deposit(), await deposit()]
  const first = paymentEvent(one.id, s.clock())
  const second = again(first, { reference: two.id })
  await tell(first)
  const answer = await tell(second)
  const [item] = await waiting(`bank:${first.paymentId}`)
  if (!item) throw new Error('nothing waits')
  return { one, two, first, second, answer, id: item.paymentId, path: pathOf(item.paymentId) }
}

const pathOf = (id: string) => `/payments/${encodeURIComponent(id)}`

describe('one bank payment', () => {
  it('credits one agent, whoever’s reference it is reported with', async () => {
    const { one, two, first, second, answer } = await contested()
    expect(answer.json.results).toEqual([
      { id: second.id, result: 'waiting', detail: 'claimed_twice' },
    ])
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([100, 0])
    expect([await told(one.agent, one.id), await statusOf(two.agent, two.id)]).toEqual([
      ['PAID'],
      'WAITING',
    ])
    expect(await waiting(`bank:${first.paymentId}`)).toMatchObject([
      {
        why: 'claimed_twice',
        agentId: null,
        reference: two.id,
        contradicts: `bank:${first.paymentId}`,
      },
    ])
    // Neither report, said again, changes anything.
    for (const event of [again(first), again(first, { reference: two.id })]) {
      expect((await tell(event)).json.results).toMatchObject([{ result: 'unchanged' }])
    }
    expect(await waiting(`bank:${first.paymentId}`)).toHaveLength(1)
  })

  it('reported ten times at once with ten agents’ references pays one order, and nine wait', async () => {
    const orders = await Promise.all(Array.from({ length: 10 }, () => deposit()))
    const event = paymentEvent('', s.clock())
    const urls = [s.service.url, other.service.url]
    const answers = await Promise.all(
      orders.map(({ id }, n) => bank.tell(urls[n % 2] ?? '', again(event, { reference: id }))),
    )
    const results = answers.map(({ json }) => json.results[0].detail ?? json.results[0].result)
    expect(results.sort()).toEqual(['applied', ...Array(9).fill('claimed_twice')])
    const states = await Promise.all(orders.map(({ agent, id }) => statusOf(agent, id)))
    expect(states.sort()).toEqual(['PAID', ...Array(9).fill('WAITING')])
    expect(await waiting(`bank:${event.paymentId}`)).toHaveLength(9)
  })

  it('in one notice with ten references pays one order too', async () => {
    const orders = await Promise.all(Array.from({ length: 10 }, () => deposit()))
    const event = paymentEvent('', s.clock())
    const { json } = await tell(...orders.map(({ id }) => again(event, { reference: id })))
    expect(json.results.map(({ result }: { result: string }) => result)).toEqual([
      'applied',
      ...Array(9).fill('waiting'),
    ])
  })

  it('is one where it is for nobody and for somebody at the same time', async () => {
    for (let round = 0; round < 8; round++) {
      const { agent, id } = await deposit()
      const event = paymentEvent(id, s.clock())
      await Promise.all([
        bank.tell(s.service.url, event),
        bank.tell(other.service.url, again(event, { reference: 'garbled' })),
      ])
      const isPaid = (await statusOf(agent, id)) === 'PAID'
      expect(await waiting(`bank:${event.paymentId}`)).toHaveLength(isPaid ? 0 : 1)
      expect(await agent.balance()).toBe(isPaid ? 100 : 0)
    }
  })

  it('that says something else of the same agent waits: another order, amount or currency', async () => {
    const { agent, id } = await deposit()
    const { id: secondId } = await deposit(agent)
    const event = paymentEvent(id, s.clock())
    await tell(event)
    for (const fields of [{ reference: secondId }, { amountMinor: 90_00n }, { currency: 'VND' }]) {
      const { json } = await tell(again(event, fields))
      expect(json.results).toMatchObject([{ result: 'waiting', detail: 'claimed_twice' }])
    }
    expect(await waiting(`bank:${event.paymentId}`)).toHaveLength(3)
    expect([await agent.balance(), await statusOf(agent, secondId)]).toEqual([100, 'WAITING'])
    // A reference that is nobody's contradicts nothing.
    const { json } = await tell(again(event, { reference: 'garbled' }))
    expect(json.results).toMatchObject([{ result: 'unchanged' }])
  })

  it('that is taken back for another order is not taken from whoever has it', async () => {
    const [one, two] = [await deposit(), await deposit()]
    const first = paymentEvent(one.id, s.clock())
    await tell(first)
    const back = { type: 'payment_taken_back', paymentId: first.paymentId } as const
    const early = { ...back, id: eventId(), reference: two.id }
    expect((await tell(early)).json.results).toMatchObject([{ result: 'open' }])
    expect(await one.agent.balance()).toBe(100)
    // It was of the other report under this id, which comes late.
    const second = again(first, { reference: two.id })
    await tell(second)
    expect((await tell(early)).json.results).toMatchObject([{ result: 'applied' }])
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([100, 0])
    expect(await waiting(`bank:${first.paymentId}`)).toEqual([])
    // Of two more, with other amounts, it is not clear which; once one of them was no money, it is.
    await tell(again(second, { amountMinor: 90_00n }), again(second, { amountMinor: 80_00n }))
    const unclear = { ...back, id: eventId(), reference: two.id }
    expect((await tell(unclear)).json.results).toMatchObject([{ result: 'open' }])
    const [more] = await waiting(`bank:${first.paymentId}`)
    await dismissPayment(s.service.desk, more?.paymentId ?? '', 'not on the statement')
    expect((await tell(unclear)).json.results).toMatchObject([{ result: 'applied' }])
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([100, 0])
    await tell({ ...back, id: eventId(), reference: one.id })
    expect(await one.agent.balance()).toBe(0)
  })

  it('that was decided on as nobody’s and comes with another reference is looked at again', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent('lost', s.clock())
    await tell(event)
    const evidence = { evidence: 'not on the statement', reason: 'a test of it' }
    await admin.post(`${pathOf(`bank:${event.paymentId}`)}/dismiss`, {
      ...evidence,
      code: admin.code(),
    })
    expect((await tell(again(event))).json.results).toMatchObject([{ result: 'unchanged' }])
    const { json } = await tell(again(event, { reference: id }))
    expect(json.results).toMatchObject([{ result: 'waiting', detail: 'claimed_twice' }])
    expect(await agent.balance()).toBe(0)
  })
})

describe('a person', () => {
  it('sees what a second report contradicts, and may credit it: two payments may share an id', async () => {
    const { one, two, first, path } = await contested()
    const { json } = await admin.get(path)
    expect(json.payment).toMatchObject({ why: 'claimed_twice', reference: two.id })
    expect(json.contradicted).toMatchObject({
      payment_id: `bank:${first.paymentId}`,
      txn_id: one.id,
      state: 'credited',
    })
    const credit = { txn_id: two.id, reason: 'both are on the statement', code: admin.code() }
    expect((await admin.post(`${path}/credit`, credit)).json.payment.state).toBe('credited')
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([100, 100])
    // What the bank takes back is found by its reference.
    const back = { type: 'payment_taken_back', paymentId: first.paymentId } as const
    await tell({ ...back, id: eventId(), reference: two.id })
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([100, 0])
    await tell({ ...back, id: eventId(), reference: one.id })
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([0, 0])
  })

  it('is not asked again about what is only said again, wherever it was credited', async () => {
    const [one, two] = [await deposit(), await deposit()]
    const foreign = paymentEvent(one.id, s.clock())
    await rival.tell(s.service.url, foreign)
    const id = `rival:${foreign.paymentId}`
    const credit = { txn_id: two.id, reason: 'the payer named the wrong one', code: admin.code() }
    expect((await admin.post(`${pathOf(id)}/credit`, credit)).json.payment.state).toBe('credited')
    const { json } = await rival.tell(s.service.url, again(foreign))
    expect(json.results).toMatchObject([{ result: 'unchanged' }])
    expect(await waiting(id)).toEqual([])
    // Another amount is something else.
    await rival.tell(s.service.url, again(foreign, { amountMinor: 90_00n }))
    expect(await waiting(id)).toHaveLength(1)
    const back = {
      id: eventId(),
      type: 'payment_taken_back',
      paymentId: foreign.paymentId,
    } as const
    await rival.tell(s.service.url, { ...back, reference: two.id })
    expect([await one.agent.balance(), await two.agent.balance()]).toEqual([0, 0])
  })

  it('who has said whose it is goes on from there, whatever is reported meanwhile', async () => {
    const { agent, id } = await deposit()
    const to = parseTxnId(id)
    if (!to) throw new Error('no such order')
    const lost = paymentEvent('garbled', s.clock())
    await tell(lost)
    const paymentId = `bank:${lost.paymentId}`
    // As by a process that died before it was answered.
    await s.service.desk.teller.do({
      type: 'assign_payment',
      agentId: to.agentId,
      houseId: houseBook('THB'),
      orderId: to.orderId,
      paymentId,
      reason: 'theirs',
      at: s.clock(),
    })
    const payer = { accountNo: '1', accountName: 'Somebody', bankCode: 'BBL' }
    const paidAt = new Date(s.clock().getTime() - 1_000)
    const { json } = await tell(again(lost, { reference: id, paidAt, payer }))
    expect(json.results).toMatchObject([{ result: 'unchanged' }])
    const { changed } = await creditPayment(s.service.desk, paymentId, to, 'goes on')
    expect(changed).toBe(false)
    expect([await told(agent, id), await waiting(paymentId)]).toEqual([['PAID'], []])
  })

  it('may dismiss it as not being money, with a reason and once', async () => {
    const { two, first, second, path } = await contested()
    const words = { evidence: 'the bank: sent by mistake', reason: 'asked the bank' }
    const dismiss = () => admin.post(`${path}/dismiss`, { ...words, code: admin.code() })
    expect((await admin.post(`${path}/dismiss`, { evidence: 'no reason' })).status).toBe(422)
    expect((await dismiss()).json.payment).toMatchObject({
      state: 'dismissed',
      evidence: words.evidence,
    })
    expect((await dismiss()).json.code).toBe('changed_meanwhile')
    const credit = { txn_id: two.id, reason: 'it was wrong', code: admin.code() }
    expect((await admin.post(`${path}/credit`, credit)).status).toBe(409)
    expect((await tell(again(second))).json.results).toMatchObject([{ result: 'unchanged' }])
    expect(await two.agent.balance()).toBe(0)
    const decided = (await admin.get('/payments?state=decided')).json.data
    const dismissed = { state: 'dismissed', contradicts: `bank:${first.paymentId}` }
    expect(decided).toContainEqual(expect.objectContaining(dismissed))
    // What is an agent's is money.
    const own = await admin.post(`${pathOf(`bank:${first.paymentId}`)}/dismiss`, {
      ...words,
      code: admin.code(),
    })
    expect(own.status).toBe(409)
  })

  it('decides ten times at once, and one decision holds', async () => {
    const { two, id } = await contested()
    const to = parseTxnId(two.id)
    if (!to) throw new Error('no such order')
    const decided = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => {
        const { desk } = n % 3 ? s.service : other.service
        return n % 2
          ? dismissPayment(desk, id, 'statement')
          : creditPayment(desk, id, to, 'at once')
      }),
    )
    const changed = decided.filter((each) => each.status === 'fulfilled' && each.value.changed)
    const { state } = (await admin.get(pathOf(id))).json.payment
    // Those who credit together find it credited; whoever dismisses is alone.
    if (state === 'dismissed') expect(changed).toHaveLength(1)
    else expect(state).toBe('credited')
    expect(await two.agent.balance()).toBe(state === 'credited' ? 100 : 0)
  })

  it('does so on the command line too', async () => {
    const { first, id } = await contested()
    const env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATA_DIR: await tempFolder(),
    }
    const listed: { payment_id: string }[] = await commandJson(['payments', 'list'], env)
    expect(listed.find(({ payment_id }) => payment_id === id)).toMatchObject({
      why: 'claimed_twice',
      contradicts: `bank:${first.paymentId}`,
    })
    const dismiss = ['payments', 'dismiss', id, '--evidence', 'not on the statement']
    expect(await commandJson(dismiss, env)).toEqual({ payment_id: id, state: 'dismissed' })
    const own = await command(
      ['payments', 'dismiss', `bank:${first.paymentId}`, '--evidence', 'x'],
      env,
    )
    expect([own.code, own.stderr]).toEqual([1, expect.stringMatching(/Credit or return/)])
  })
})

describe('a provider speaks of its own orders alone', () => {
  it('what another reports for a bank’s order waits, and the order is paid by its own', async () => {
    const { agent, id } = await deposit()
    const foreign = paymentEvent(id, s.clock())
    const { json } = await rival.tell(s.service.url, foreign)
    expect(json.results).toMatchObject([{ result: 'waiting', detail: 'wrong_provider' }])
    expect([await statusOf(agent, id), await agent.balance()]).toEqual(['WAITING', 0])
    expect(await waiting(`rival:${foreign.paymentId}`)).toMatchObject([{ why: 'wrong_provider' }])
    expect((await tell(again(foreign))).json.results).toMatchObject([{ result: 'applied' }])
    // Nor can it take back what is the bank's.
    const back = { type: 'payment_taken_back', paymentId: foreign.paymentId } as const
    await rival.tell(s.service.url, { ...back, id: eventId(), reference: id })
    expect(await told(agent, id)).toEqual(['PAID'])
  })

  it('one that takes no deposits reports none, not even for an order that says so', async () => {
    const { agent, id } = await deposit()
    await s.sql(`update orders set provider = 'payer' where order_id = $1`, [id.split('-')[1]])
    const { json } = await payer.tell(s.service.url, paymentEvent(id, s.clock()))
    expect(json.results).toMatchObject([{ result: 'waiting', detail: 'wrong_provider' }])
    const ended = { id: eventId(), type: 'deposit_ended', reference: id, status: 'VOID' } as const
    expect((await payer.tell(s.service.url, ended)).json.results).toMatchObject([
      { result: 'refused' },
    ])
    expect(await statusOf(agent, id)).toBe('WAITING')
  })
})

describe('the proof', () => {
  const lies: [lie: string, sql: string, says: RegExp][] = [
    [
      'another’s claim',
      'update payment_claims set agent_id = agent_id + 1 where payment_id = $1',
      /says agent \d+, but it is/,
    ],
    [
      'a claim of nobody',
      'update payment_claims set agent_id = 0, order_id = null where payment_id = $1',
      /says agent 0/,
    ],
    [
      'another amount',
      'update payment_claims set amount = amount + 1 where payment_id = $1',
      /10001/,
    ],
    [
      'another order',
      'update payment_claims set order_id = gen_random_uuid() where payment_id = $1',
      /is not there/,
    ],
    ['another currency', `update payment_claims set currency = 'VND' where payment_id = $1`, /VND/],
    ['no claim', 'delete from payment_claims where payment_id = $1', /is missing/],
  ]
  it.each(lies)('finds %s of a payment', async (_lie, sql, says) => {
    const { id } = await deposit()
    const event = paymentEvent(id, s.clock())
    await tell(event)
    const paymentId = `bank:${event.paymentId}`
    const { rows } = await s.sql('select * from payment_claims where payment_id = $1', [paymentId])
    await s.sql(sql, [paymentId])
    expect((await s.findings()).join('; ')).toMatch(says)
    await s.sql('delete from payment_claims where payment_id = $1', [paymentId])
    await s.sql(
      'insert into payment_claims values ($1, $2, $3, $4, $5, $6)',
      Object.values(rows[0]),
    )
  })

  it('finds two agents that have one payment', async () => {
    const [one, two] = [await deposit(), await deposit()]
    const [mine, theirs] = [paymentEvent(one.id, s.clock()), paymentEvent(two.id, s.clock())]
    await tell(mine, theirs)
    const rename = (table: string, from: string, to: string) =>
      s.sql(
        `update ${table} set ${table === 'journal' ? 'once_key' : 'payment_id'} = $2
         where ${table === 'journal' ? 'once_key' : 'payment_id'} = $1`,
        [from, to],
      )
    const lie = async (from: string, to: string) => {
      await rename('payments', `bank:${from}`, `bank:${to}`)
      await rename('journal', `payment:bank:${from}`, `payment:bank:${to}`)
      await chainAnew(s.sql)
    }
    await lie(theirs.paymentId, mine.paymentId)
    const [proof] = await verify(s.backend.pool, { appId: two.agent.appId })
    expect(proof?.finding).toContain(`says agent ${one.agent.agentId}`)
    await s.sql(`update payments set payment_id = $1 where agent_id = $2`, [
      `bank:${theirs.paymentId}`,
      two.agent.agentId,
    ])
    await s.sql(`update journal set once_key = $1 where agent_id = $2 and once_key is not null`, [
      `payment:bank:${theirs.paymentId}`,
      two.agent.agentId,
    ])
    await chainAnew(s.sql)
  })

  it('finds a payment of nobody whose claim is somebody’s, or gone', async () => {
    const { agent } = await deposit()
    const event = paymentEvent('nobody', s.clock())
    await tell(event)
    const id = `bank:${event.paymentId}`
    await s.sql('update payment_claims set agent_id = $2 where payment_id = $1', [
      id,
      agent.agentId,
    ])
    expect(await s.findings()).toEqual([expect.stringContaining(id)])
    await s.sql('update payment_claims set agent_id = 0 where payment_id = $1', [id])
    const { rows } = await s.sql('delete from payment_claims where payment_id = $1 returning *', [
      id,
    ])
    expect(await s.findings()).toEqual([expect.stringContaining('is missing')])
    await s.sql(
      'insert into payment_claims values ($1, $2, $3, $4, $5, $6)',
      Object.values(rows[0]),
    )
  })
})

describe('the proof of what was reported', () => {
  it('finds money of which nothing is left but the report', async () => {
    const event = paymentEvent('gone', s.clock())
    await tell(event)
    const id = `bank:${event.paymentId}`
    // Who takes it out of the house's book too leaves nothing but the report.
    await s.sql(
      `update wallets set seq = seq - 1, suspense = suspense - $1, clearing = clearing + $1
       where agent_id = -1`,
      [event.amountMinor],
    )
    await s.sql(
      `update clearings set balance = balance + $1, seq = coalesce((select max(seq) from journal
         where agent_id = -1 and clearing_at = 'bank' and once_key <> $2), 0)
       where agent_id = -1 and provider = 'bank'`,
      [event.amountMinor, `payment_received:${id}`],
    )
    await s.sql('delete from journal where agent_id = -1 and once_key = $1', [
      `payment_received:${id}`,
    ])
    await s.sql('delete from unmatched_payments where payment_id = $1', [id])
    await s.sql('delete from payment_claims where payment_id = $1', [id])
    await chainAnew(s.sql)
    expect(await s.findings()).toEqual([
      `event ${event.id} of bank told of payment ${id}, which is not claimed`,
    ])
    await s.sql('delete from notice_events where event_id = $1', [event.id])
  })

  it('finds a report that nobody acts on any more, or that was put off with a word', async () => {
    const { id: reference } = await deposit()
    const back = { type: 'payment_taken_back', paymentId: 'never', reference } as const
    const event: ProviderEvent = { ...back, id: eventId() }
    await tell(event)
    await s.sql('update notice_events set act_at = null where event_id = $1', [event.id])
    expect(await s.findings()).toEqual([`event ${event.id} of bank is open, and never due`])
    await s.sql('delete from notice_events where event_id = $1', [event.id])

    const payment = paymentEvent(reference, s.clock())
    await tell(payment)
    const say = (result: string) =>
      s.sql('update notice_events set result = $2 where event_id = $1', [payment.id, result])
    await say('refused')
    expect(await s.findings()).toEqual([`event ${payment.id} of bank is money, but was refused`])
    await say('applied')
  })

  it('what belongs to no agent alone is proved in the background too, and one part that fails stops no other', async () => {
    const found = async () => {
      const errors: unknown[] = []
      const findings = await new RoundProof().step(s.backend.pool, (error) => errors.push(error))
      return { findings, errors }
    }
    const { id: reference } = await deposit()
    const payment = paymentEvent(reference, s.clock())
    await tell(payment)
    expect(await found()).toEqual({ findings: [], errors: [] })
    const { rows } = await s.sql('select event from notice_events where event_id = $1', [
      payment.id,
    ])
    const becomes = (event: string) =>
      s.sql('update notice_events set event = $2 where event_id = $1', [payment.id, event])
    for (const lie of [
      '{',
      'null',
      JSON.stringify({ ...JSON.parse(rows[0].event), amountMinor: 'x' }),
    ]) {
      await becomes(lie)
      const unread = `event ${payment.id} of bank cannot be read`
      expect(await found()).toEqual({ findings: [`events: ${unread}`], errors: [] })
      expect(await s.findings()).toEqual([unread])
    }
    await becomes(rows[0].event)
    const paymentId = `bank:${payment.paymentId}`
    const { rows: claims } = await s.sql(
      'select agent_id from payment_claims where payment_id = $1',
      [paymentId],
    )
    const claimFor = (agentId: string) =>
      s.sql('update payment_claims set agent_id = $2 where payment_id = $1', [paymentId, agentId])
    const { agent: other } = await deposit()
    await claimFor(String(other.agentId))
    await s.sql('alter table bank_movements rename to lost')
    const { findings: told, errors } = await found()
    await s.sql('alter table lost rename to bank_movements')
    await claimFor(claims[0].agent_id)
    expect(told).toEqual([
      `payments: payment ${paymentId} is claimed for agent ${other.agentId}, who has no such payment`,
    ])
    expect(errors).not.toEqual([])
  })
})

it('payments that came before there were claims are claimed by whoever had them first', async () => {
  const database = await testDatabase({ empty: true })
  const folder = mkdtempSync(join(tmpdir(), 'sluice-claims-'))
  const ours = fileURLToPath(new URL('../../src/db/migrations/', import.meta.url))
  const names = readdirSync(ours).sort()
  const copy = (upTo: string) => {
    for (const name of names.filter((each) => each < upTo))
      cpSync(join(ours, name), join(folder, name))
  }
  const client = new pg.Client(database.ownerUrl)
  try {
    copy('0010')
    await migrate(database.ownerUrl, { folder: pathToFileURL(`${folder}/`) })
    await client.connect()
    await client.query(`set search_path to sluice`)
    await client.query(`
      insert into agents select n, 'agent-' || n, 'A', 'THB', 'active', null, null, '0', '0', 'return',
        'review', 'link', 60, 1, 9, 1, 9, 0, '{}', '{}', null, now(), now() from generate_series(1, 2) n;
      insert into wallets select n, 0, 0, 0, 0, 0, 0 from generate_series(1, 2) n;
      insert into payments (agent_id, payment_id, amount, paid_at, reported_at, state, why)
        select 1, 'bank:' || n, n, now(), now(), 'waiting', 'unmatched' from generate_series(1, 12000) n;
      insert into payments (agent_id, payment_id, amount, paid_at, reported_at, state, why) values
        (2, 'bank:1', 7, now(), now() - interval '1 day', 'waiting', 'unmatched'),
        (2, 'bank:2', 8, now(), now() + interval '1 day', 'waiting', 'unmatched');
      insert into unmatched_payments (payment_id, reference, amount, currency, paid_at, reported_at, state)
        values ('bank:nobody', 'x', 5, 'VND', now(), now(), 'waiting');
      insert into notices (agent_id, provider, event_id, received_at, body)
        values (0, 'bank', 'old', now(), 'as it came')`)
    copy('9999')
    await migrate(database.ownerUrl, { folder: pathToFileURL(`${folder}/`) })
    const { rows } = await client.query(`select payment_id, agent_id::int, amount::int, currency
      from payment_claims where payment_id in ('bank:1', 'bank:2', 'bank:nobody', 'bank:12000')
      order by payment_id`)
    expect(rows).toEqual([
      { payment_id: 'bank:1', agent_id: 2, amount: 7, currency: 'THB' },
      { payment_id: 'bank:12000', agent_id: 1, amount: 12_000, currency: 'THB' },
      { payment_id: 'bank:2', agent_id: 1, amount: 2, currency: 'THB' },
      { payment_id: 'bank:nobody', agent_id: 0, amount: 5, currency: 'VND' },
    ])
    const all = await client.query('select count(*)::int as n from payment_claims')
    expect(all.rows).toEqual([{ n: 12_001 }])
    const notice = await client.query('select event_id, body from notice_events')
    expect(notice.rows).toEqual([{ event_id: 'old', body: Buffer.from('as it came') }])
  } finally {
    await client.end()
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
