import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { addSecret, listUses } from '../../src/connectors/connector-store.ts'
import { addDocument, planUse, trySamples } from '../../src/connectors/manage-connectors.ts'
import type { Tx } from '../../src/db/in-transaction.ts'
import { DepositAsker } from '../../src/payments/ask-deposits.ts'
import { closeAlike, listOpenEvents } from '../../src/payments/open-events.ts'
import { NoticeTaker } from '../../src/payments/take-notice.ts'
import { saveProviderState } from '../../src/routing/providers.ts'
import { makeAccount } from '../support/bank-accounts.ts'
import {
  askDeposit,
  Company,
  companyDocument,
  companySamples,
  connect,
  say,
  tell,
  use,
} from '../support/company.ts'
import {
  attemptsOf,
  fundedAgent,
  type Process,
  patient,
  referencesFor,
  startProcess,
  statusOf,
} from '../support/fake-provider.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let processes: Process[] = []
const company = new Company()
const other = new Company()

beforeAll(async () => {
  await Promise.all([company.open(), other.open()])
  s = await startTestService({ outside: { providers: [] } })
  await connect(s, 'imaginary', companyDocument(company))
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.close()))
  processes = []
  company.onCall = () => false
  await s.prove()
})
afterAll(async () => {
  await s.close()
  await Promise.all([company.close(), other.close()])
})

async function start(): Promise<Process> {
  const process = await startProcess(s, [])
  await process.desk.providers.freshen()
  processes.push(process)
  return process
}

const silenceMs = 11_000

async function withdrawal(more = {}) {
  const agent = await fundedAgent(s)
  const { status, json } = await agent.withdraw(more)
  expect(status).toBe(201)
  const txnId: string = json.txn_id
  const [reference = ''] = referencesFor(txnId)
  return { agent, txnId, reference }
}

async function deposit() {
  const agent = await s.agent()
  const { status, json } = await agent.deposit({ amount: 100 })
  expect([status, json.code]).toEqual([201, undefined])
  return { agent, txnId: json.txn_id as string, json }
}

const paidNotice = (ref: string, id: string, more = {}) => ({
  kind: 'PAYIN',
  id,
  state: 'PAID',
  ref,
  amount: 100,
  currency: 'THB',
  ...more,
})

describe('a connector is used', () => {
  const { pool } = { pool: () => s.backend.pool }
  const by = () => ({ name: 'a test', at: s.clock() })
  const rules = {
    targets: 'near' as const,
    isMadeInCode: (name: string) => name === 'sandbox',
    switchOff: (tx: Tx, name: string) => saveProviderState(tx, name, 'off', s.clock()),
  }
  const add = (name: string, document: object) =>
    addDocument(pool(), name, JSON.stringify(document), by(), rules)

  it('only once its samples have passed, which the database insists on', async () => {
    const { version } = await add('young', companyDocument(other))
    expect(version.version).toBe(1)
    for (const secret of ['api', 'hook']) {
      await addSecret(pool(), s.backend.secretKeys, { connector: 'young', secret, text: 'x' }, by())
    }
    await expect(use(s, 'young')).rejects.toThrow('has not passed its samples')
    const failing = { ...companySamples, samples: companySamples.samples.slice(0, 2) }
    const ran = await trySamples(pool(), 'young', 1, JSON.stringify(failing), by())
    expect(ran.passed).toBe(false)
    expect(ran.missing).toContain('a payout that is paid')
    await expect(use(s, 'young')).rejects.toThrow('has not passed its samples')
    const insert = (passed: boolean) =>
      s.sql(
        `insert into connector_uses (connector, n, version, run, passed, same_since, former_void,
           used_at, used_by)
         values ('young', 1, 1, 1, $1, 1, false, now(), 'somebody')`,
        [passed],
      )
    await expect(insert(false)).rejects.toThrow('connector_uses_passed')
    await expect(insert(true)).rejects.toThrow('foreign key')
    await trySamples(pool(), 'young', 1, JSON.stringify(companySamples), by())
    await use(s, 'young')
    expect(s.service.desk.providers.find('young')?.version).toBe(1)
    await saveProviderState(pool(), 'young', 'off', s.clock())
  })

  it('only with all its secrets', async () => {
    await add('secretless', companyDocument(other))
    await trySamples(pool(), 'secretless', 1, JSON.stringify(companySamples), by())
    await expect(planUse(pool(), 'secretless', { version: 1 })).rejects.toThrow('secrets api, hook')
  })

  it('under a name that nobody else has or had', async () => {
    const { account } = await makeAccount(s, {}, { isOff: true })
    await expect(add(account.name, companyDocument(other))).rejects.toThrow('is taken')
    await expect(add('sandbox', companyDocument(other))).rejects.toThrow('is taken')
    await expect(add('Upper', companyDocument(other))).rejects.toThrow('small letters')
    await expect(makeAccount(s, { name: 'imaginary' }, { isOff: true })).rejects.toThrow('not made')
  })

  it('in versions that never change; the same document again is the same version', async () => {
    const { version, isNew } = await add('imaginary', companyDocument(company))
    expect([version.version, isNew]).toEqual([1, false])
    await expect(
      s.backend.pool.query(`update connector_versions set document = '{}'`),
    ).rejects.toThrow('permission denied')
    await expect(s.backend.pool.query(`delete from connector_uses`)).rejects.toThrow(
      'permission denied',
    )
  })

  it('by two people at once: one of them is told to look again', async () => {
    const uses = (await listUses(pool(), 'imaginary')).length
    const results = await Promise.allSettled([use(s, 'imaginary', 1), use(s, 'imaginary', 1)])
    expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
    const after = (await listUses(pool(), 'imaginary')).length
    expect(after).toBeGreaterThan(uses)
    expect(after).toBeLessThanOrEqual(uses + 2)
  })
})

describe('a deposit', () => {
  it("ends in the company's own page, and is paid by its notice, once", async () => {
    const { agent, txnId } = await deposit()
    const page = await fetch(
      (await agent.get(`/payment/orders/${txnId}`)).json.link ?? s.service.url,
    )
    expect(page.status).toBe(200)
    const asked = company.reached.find(({ json }) => json?.ref === txnId)
    expect(asked).toMatchObject({
      method: 'POST',
      path: '/v1/payins',
      headers: { authorization: 'Bearer api-1' },
      json: { ref: txnId, amount: 100, currency: 'THB' },
    })
    const notice = paidNotice(txnId, 'pay-a')
    const results = await Promise.all(Array.from({ length: 5 }, () => tell(s, 'imaginary', notice)))
    expect(results.every(({ status }) => status === 200)).toBe(true)
    expect(await statusOf(agent, txnId)).toBe('PAID')
    expect((await agent.get('/payment/wallet')).json.balance).toBe(100)
  })

  it('is paid by nobody else: forged, stale and wrong notices change nothing', async () => {
    const { agent, txnId } = await deposit()
    const notice = paidNotice(txnId, 'pay-b')
    const hour = 3_600_000
    expect((await tell(s, 'imaginary', notice, { key: 'hook-2' })).status).toBe(401)
    const old = new Date(s.clock().getTime() - hour)
    expect((await tell(s, 'imaginary', notice, { at: old })).status).toBe(401)
    const dong = { ...notice, id: 'pay-c', currency: 'VND' }
    expect((await tell(s, 'imaginary', dong)).json.results).toMatchObject([
      { result: 'waiting', detail: 'wrong_currency' },
    ])
    const little = { ...notice, id: 'pay-d', amount: 99 }
    expect((await tell(s, 'imaginary', little)).json.results[0].result).toBe('waiting')
    expect(await statusOf(agent, txnId)).toBe('WAITING')
  })

  it('that a notice is not understood about stays as it is, and a person is asked', async () => {
    const { agent, txnId } = await deposit()
    const strange = { ...paidNotice(txnId, 'pay-e'), state: 'SETTLED' }
    const { status, json } = await tell(s, 'imaginary', strange)
    expect([status, json.results[0].result]).toEqual([200, 'open'])
    const { json: again } = await tell(s, 'imaginary', strange)
    expect(again.results[0].id).toBe(json.results[0].id)
    const rows = await s.sql(`select event from notice_events where event_id = $1`, [
      json.results[0].id,
    ])
    expect(rows.rowCount).toBe(1)
    for (const text of ['{"kind":"PAYIN"', '<html>', '[]', '{"kind":"PAYIN","kind":"PING"}']) {
      expect((await tell(s, 'imaginary', text)).json.results[0].result).toBe('open')
    }
    // A company that is full of news: one line for each kind, which is not tried again, and all are closed at once.
    for (const id of ['a', 'b', 'c']) await tell(s, 'imaginary', { kind: 'CARD.UPDATED', id })
    const { pool } = s.backend
    const open = async () => {
      const listed = await listOpenEvents(pool, s.clock(), { provider: 'imaginary', limit: 100 })
      return listed.find(({ detail }) => detail?.includes('/kind is CARD.UPDATED'))
    }
    const listed = await open()
    expect(listed).toMatchObject({ alike: 3, canClose: true, tries: 1 })
    s.clock.advance(60_000)
    await new NoticeTaker(s.service.desk, () => {}).finishLeftOvers()
    expect(await open()).toMatchObject({ tries: 1 })
    if (!listed) throw new Error('they are not listed')
    // One that came after the list was read is not closed with those that were seen, nor are they.
    await expect(closeAlike(pool, listed, 'seen too few', 2)).rejects.toThrow('There are 3 of them')
    await closeAlike(pool, listed, 'cards are of no interest', 3)
    expect(await open()).toBeUndefined()
    expect((await tell(s, 'imaginary', { kind: 'PING' })).json).toEqual({ results: [] })
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    await s.sql(`update notice_events set result = 'closed', act_at = null
      where result is null and event_id like 'unread-%'`)
  })

  it('whose call is answered with anything else is not created a second time', async () => {
    const agent = await s.agent()
    company.onCall = (call, response) =>
      call.path.endsWith('/payins') && say(response, 200, '<html>ok</html>')
    const request = { amount: 100, refId: 'again' }
    expect((await agent.deposit(request)).status).toBe(503)
    company.onCall = () => false
    const { status, json } = await agent.deposit(request)
    expect(status).toBe(200)
    const calls = company.reached.filter((each) => each.json?.ref === json.txn_id)
    expect(calls).toHaveLength(2)
  })

  it('of another provider is not touched', async () => {
    await connect(s, 'second', companyDocument(other), {
      secrets: { api: 'api-x', hook: 'hook-x' },
    })
    await saveProviderState(s.backend.pool, 'imaginary', 'draining', s.clock())
    await use(s, 'second')
    const { agent, txnId } = await deposit()
    expect(other.reached.some(({ json }) => json?.ref === txnId)).toBe(true)
    // The first company, with its own right signature, about the second one's order.
    const { json } = await tell(s, 'imaginary', paidNotice(txnId, 'pay-f'))
    expect(json.results).toMatchObject([{ result: 'waiting', detail: 'wrong_provider' }])
    const failed = { ...paidNotice(txnId, 'pay-f'), state: 'FAILED' }
    expect((await tell(s, 'imaginary', failed)).json.results[0].result).toBe('refused')
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    expect((await tell(s, 'second', paidNotice(txnId, 'pay-f'))).status).toBe(401)
    const right = await tell(s, 'second', paidNotice(txnId, 'pay-f'), { key: 'hook-x' })
    expect(right.json.results[0].result).toBe('applied')
    expect(await statusOf(agent, txnId)).toBe('PAID')
  })
  // Also when it failed: the tests below need the first one.
  afterAll(async () => {
    await saveProviderState(s.backend.pool, 'second', 'off', s.clock())
    await saveProviderState(s.backend.pool, 'imaginary', 'on', s.clock())
    await use(s, 'imaginary')
  })
})

describe('a deposit that nobody tells of', () => {
  const polled = new Company()
  const silent = (version: number, asking = askDeposit) =>
    companyDocument(polled, version, {
      askDeposit: asking,
      notice: undefined,
      secrets: { api: 'of calls' },
      submitPayout: undefined,
      askPayout: undefined,
    })
  const samples = {
    ...companySamples,
    samples: [
      companySamples.samples[0],
      {
        name: 'paid',
        call: 'askDeposit',
        body: { ...paidNotice('SX0000000000A', 'pi_1') },
        expect: ['payment 100 THB for SX0000000000A as pi_1'],
      },
      {
        name: 'refused',
        call: 'expectDeposit',
        status: 422,
        body: { code: 'CLOSED' },
        expect: ['rejected'],
      },
    ],
  }

  const asked = { samples, secrets: { api: 'api-1' } as never }

  it('is asked about until it is paid, in the version that it was made with', async () => {
    await polled.open()
    await connect(s, 'polled', silent(1), asked)
    await saveProviderState(s.backend.pool, 'imaginary', 'draining', s.clock())
    await use(s, 'polled')
    const { agent, txnId } = await deposit()
    await connect(s, 'polled', silent(2), asked)
    const errors: unknown[] = []
    const taker = new NoticeTaker(s.service.desk, (error) => errors.push(error))
    const asker = new DepositAsker(s.service.desk, taker, (error) => errors.push(error))
    const look = () => asker.ask()
    const questions = () => polled.reached.filter(({ method }) => method === 'GET')
    // Longer than the pause after a question that had no clear answer, which a connection may cause.
    s.clock.advance(12_000)
    expect(await look()).toBe(1)
    expect(await look()).toBe(0)
    expect(questions().map(({ path }) => path)).toEqual(['/v1/payins/pi_1'])
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    // An answer about another deposit is no answer.
    const payin = polled.payins.get('pi_1')
    polled.payins.set('pi_1', { state: 'PAID', ref: 'another', amount: 100 })
    s.clock.advance(12_000)
    expect(await look()).toBe(1)
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    polled.payins.set('pi_1', { state: 'PAID', ref: payin?.ref ?? '', amount: 100 })
    s.clock.advance(60_000)
    expect(await look()).toBe(1)
    expect(await statusOf(agent, txnId)).toBe('PAID')
    // It is not asked about any more.
    s.clock.advance(60_000)
    await look()
    s.clock.advance(3_600_000)
    expect(await look()).toBe(0)
    expect(errors).toEqual([])
  })

  it('is asked about just before its end, and less and less once it is paid: its money may be taken back', async () => {
    const takenBack = {
      type: 'payment_taken_back',
      id: ['/id', '/state'],
      paymentId: ['/id'],
      reference: '/ref',
    }
    const rules = [
      ...askDeposit.rules,
      { if: { status: [200], '/state': ['BACK'] }, events: [takenBack] },
    ]
    const back = {
      name: 'taken back',
      call: 'askDeposit',
      body: { ...paidNotice('SX0000000000A', 'pi_1'), state: 'BACK' },
      expect: ['payment_taken_back for SX0000000000A as pi_1'],
    }
    const more = { ...asked, samples: { ...samples, samples: [...samples.samples, back] } }
    await connect(s, 'polled', silent(3, { ...askDeposit, everyS: 3_600, rules } as never), more)
    const { agent, txnId } = await deposit()
    const payin = [...polled.payins].find(([, { ref }]) => ref === txnId)
    if (!payin) throw new Error('the company was not asked for it')
    const [id, { ref, amount }] = payin
    const errors: unknown[] = []
    const taker = new NoticeTaker(s.service.desk, (error) => errors.push(error))
    const asker = new DepositAsker(s.service.desk, taker, (error) => errors.push(error))
    /** Waits until it was asked about, by the service or here, and is due again after so long. */
    const isDueIn = (seconds: number | null) =>
      expect
        .poll(async () => {
          await asker.ask()
          const { rows } = await s.sql(
            `select extract(epoch from ask_at - $2)::float8 as due from connector_deposits
             where order_id = $1`,
            [txnId.split('-')[1], s.clock()],
          )
          return rows[0]?.due
        }, patient)
        .toBe(seconds)
    // Its end comes long before the hour that the document says.
    await isDueIn(899)
    polled.payins.set(id, { state: 'PAID', ref, amount })
    s.clock.advance(899_000)
    await isDueIn(1)
    expect(await statusOf(agent, txnId)).toBe('PAID')
    // At first after a quarter of an hour, then after as long as it has been paid.
    s.clock.advance(1_000)
    await isDueIn(900)
    s.clock.advance(900_000)
    await isDueIn(901)
    s.clock.advance(901_000)
    await isDueIn(1_802)
    polled.payins.set(id, { state: 'BACK', ref, amount })
    s.clock.advance(1_802_000)
    await expect
      .poll(async () => {
        await asker.ask()
        return (await agent.get('/payment/wallet')).json.balance
      }, patient)
      .toBe(0)
    expect(errors).toEqual([])
  })

  // Also when it failed: the tests below need the other one.
  afterAll(async () => {
    await saveProviderState(s.backend.pool, 'polled', 'off', s.clock())
    await saveProviderState(s.backend.pool, 'imaginary', 'on', s.clock())
    await use(s, 'imaginary')
    await polled.close()
  })
})

describe('a payout', () => {
  it('is handed over once, and paid as the company says', async () => {
    const { agent, txnId, reference } = await withdrawal()
    const process = await start()
    await process.payOut(txnId)
    expect(company.submitted(reference)).toMatchObject([
      { path: '/v1/payouts', json: { ref: reference, bank: '014' } },
    ])
    const [attempt] = await attemptsOf(s, txnId)
    expect(attempt).toMatchObject({ state: 'accepted', version: 1, their_id: `po_${reference}` })
    company.payouts.set(reference, { state: 'DONE', paid: 1 })
    s.clock.advance(silenceMs)
    await process.round()
    expect(await statusOf(agent, txnId)).toBe('PAID')
    company.payouts.set(reference, { state: 'BACK', paid: 1 })
  })

  it('is asked about in the version and sent again under the promise that it was handed over with', async () => {
    const { agent, txnId, reference } = await withdrawal()
    const process = await start()
    // The answer is lost, and so is the payout.
    company.onCall = ({ method }, response) => {
      if (method !== 'POST') return false
      response.destroy()
      return true
    }
    await process.payOut(txnId)
    company.onCall = () => false
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'unknown', version: 1 }])
    // The new version speaks otherwise, and promises what the old one did not.
    const newer = companyDocument(company, 2, { idempotentByReference: true })
    expect(await connect(s, 'imaginary', newer)).toBe(2)
    const late = await start()
    s.clock.advance(silenceMs)
    await late.round()
    expect(company.asked(reference).map(({ path }) => path)).toEqual([`/v1/payouts/${reference}`])
    expect(company.submitted(reference)).toHaveLength(1)
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'not_found' }])
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    // What is handed over now has the new promise.
    const second = await withdrawal()
    company.onCall = ({ method }, response) => {
      if (method !== 'POST') return false
      response.destroy()
      return true
    }
    await late.payOut(second.txnId)
    company.onCall = () => false
    s.clock.advance(silenceMs)
    await late.round()
    expect(company.submitted(second.reference).map(({ path }) => path)).toEqual([
      '/v2/payouts',
      '/v2/payouts',
    ])
    company.payouts.set(second.reference, { state: 'DONE', paid: 1 })
    company.payouts.set(reference, { state: 'DONE', paid: 1 })
    s.clock.advance(60_000)
    await late.round()
    expect(await statusOf(agent, txnId)).toBe('PAID')
    expect(await statusOf(second.agent, second.txnId)).toBe('PAID')
  })

  it('is called by the newest secrets, and a notice may have those before for a day', async () => {
    await addSecret(
      s.backend.pool,
      s.backend.secretKeys,
      { connector: 'imaginary', secret: 'hook', text: 'hook-9' },
      { name: 'a test', at: s.clock() },
    )
    const ping = { kind: 'PING' }
    expect((await tell(s, 'imaginary', ping, { key: 'hook-9' })).status).toBe(401)
    await use(s, 'imaginary', 2)
    expect((await tell(s, 'imaginary', ping, { key: 'hook-9' })).status).toBe(200)
    expect((await tell(s, 'imaginary', ping)).status).toBe(200)
    s.clock.advance(86_400_001)
    const readAgain = () => tell(s, 'imaginary', ping).then(({ status }) => status)
    await expect.poll(readAgain, { interval: 100 }).toBe(401)
    expect((await tell(s, 'imaginary', ping, { key: 'hook-9' })).status).toBe(200)
  })

  const hostile: [what: string, status: number, body: string][] = [
    ['HTML with 200', 200, '<html>DONE</html>'],
    ['half JSON', 200, '{"state":"DONE"'],
    ['another reference', 200, '{"ref":"SX0000000000Z","state":"DONE"}'],
    ['a state of the wrong type', 200, '{"ref":"$","state":true}'],
    ['an unknown state', 200, '{"ref":"$","state":"DONE?"}'],
    ['too much', 200, `{"ref":"$","state":"DONE","x":"${'x'.repeat(70_000)}"}`],
    ['deep nesting', 200, `{"ref":"$","state":"DONE","x":${'['.repeat(999)}${']'.repeat(999)}}`],
    ['a member twice', 200, '{"ref":"$","state":"FAILED","state":"DONE"}'],
    ['an error that says paid', 500, '{"ref":"$","state":"DONE"}'],
    ['a refusal from in between', 422, '<h1>Unprocessable</h1>'],
    ['a redirect', 302, '{"ref":"$","state":"DONE"}'],
  ]

  it.each(hostile)(
    'answered with %s is unknown, held, and sent once',
    async (_what, status, text) => {
      const { agent, txnId, reference } = await withdrawal()
      const process = await start()
      company.onCall = (_call, response) => say(response, status, text.replace('$', reference))
      await process.payOut(txnId)
      s.clock.advance(silenceMs)
      await process.round()
      expect(company.submitted(reference)).toHaveLength(1)
      expect(await statusOf(agent, txnId)).toBe('WAITING')
      expect((await attemptsOf(s, txnId)).map(({ state }) => state)).toEqual(['unknown'])
      expect((await agent.get('/payment/wallet')).json.held).toBeGreaterThan(0)
      company.onCall = () => false
      company.payouts.set(reference, { state: 'FAILED', paid: 0 })
      s.clock.advance(60_000)
      const later = await start()
      await later.round()
      expect(await statusOf(agent, txnId)).toBe('FAILED')
    },
  )

  it('to a bank that the company does not serve is not routed to it', async () => {
    const agent = await fundedAgent(s)
    const { status, json } = await agent.withdraw({ bankCode: 'BBL' })
    expect([status, json.code]).toEqual([422, 'invalid_request'])
  })

  it('stays open while its connector is off', async () => {
    const { agent, txnId, reference } = await withdrawal()
    const process = await start()
    await process.payOut(txnId)
    await saveProviderState(s.backend.pool, 'imaginary', 'off', s.clock())
    const calls = company.asked(reference).length
    s.clock.advance(silenceMs)
    const later = await start()
    await later.round()
    expect(company.asked(reference)).toHaveLength(calls)
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    await saveProviderState(s.backend.pool, 'imaginary', 'on', s.clock())
    company.payouts.set(reference, { state: 'DONE', paid: 1 })
    s.clock.advance(70_000)
    const last = await start()
    await last.round()
    expect(await statusOf(agent, txnId)).toBe('PAID')
  })
})

describe('a process that dies during a hand-over', () => {
  const moments = ['before the call', 'during the call', 'after the answer'] as const

  it.each(moments)('%s leaves one payout, paid once', async (moment) => {
    const { agent, txnId, reference } = await withdrawal()
    const dying = await start()
    let isOver = false
    company.onCall = (call, response) => {
      if (call.method !== 'POST' || isOver) return false
      isOver = true
      dying.die()
      if (moment === 'before the call') {
        // It never got there: the company knows nothing of it.
        response.destroy()
        return true
      }
      company.payouts.set(reference, { state: 'SENT', paid: 1 })
      if (moment === 'during the call') response.destroy()
      else say(response, 201, JSON.stringify({ ref: reference, state: 'DONE' }))
      return true
    }
    await dying.payOut(txnId).catch(() => {})
    company.onCall = () => false
    expect(company.submitted(reference)).toHaveLength(1)
    const other = await start()
    s.clock.advance(silenceMs)
    await other.round()
    // The connector in use pays a reference once, so what never arrived is sent again.
    expect(company.submitted(reference)).toHaveLength(moment === 'before the call' ? 2 : 1)
    company.payouts.set(reference, { state: 'DONE', paid: 1 })
    s.clock.advance(60_000)
    await other.round()
    expect(await statusOf(agent, txnId)).toBe('PAID')
    expect(await attemptsOf(s, txnId)).toHaveLength(1)
  })
})

it('another process uses what was connected here within a second', async () => {
  const beside = await startTestService({ beside: s, outside: { providers: [] } })
  try {
    const { providers } = beside.service.desk
    await providers.freshen()
    const next = await connect(s, 'imaginary', companyDocument(company, 3))
    // What it is reading at this moment may be from before. Then it is a second later.
    await Reflect.get(providers, 'reading')
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 1_000)
    await providers.freshen()
    expect(providers.find('imaginary')?.version).toBe(next)
  } finally {
    vi.restoreAllMocks()
    await beside.close()
  }
})
