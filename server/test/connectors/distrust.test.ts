import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { NoticeTaker } from '../../src/payments/take-notice.ts'
import { readRoutingTable, saveProviderState } from '../../src/routing/providers.ts'
import { routed } from '../support/bank-accounts.ts'
import {
  askDeposit,
  Company,
  companyDocument,
  companySamples,
  connect,
  say,
  tell,
} from '../support/company.ts'
import {
  attemptsOf,
  FakeProvider,
  fundedAgent,
  type Process,
  patient,
  referencesFor,
  startProcess,
  statusOf,
} from '../support/fake-provider.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What a company says, or somebody in its name, that must not be taken at its word. */

let s: TestService
let processes: Process[] = []
const company = new Company()
const second = new FakeProvider('second')
const silenceMs = 11_000
const ref = 'SX0000000000A'

beforeAll(async () => {
  await company.open()
  s = await startTestService({ outside: { providers: [second], paysOut: false } })
  await saveProviderState(s.backend.pool, 'second', 'off', s.clock())
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.close()))
  processes = []
  company.onCall = () => false
  const { states } = await readRoutingTable(s.backend.pool)
  for (const name of states.keys()) {
    await saveProviderState(s.backend.pool, name, 'off', s.clock())
  }
  await s.prove()
})
afterAll(async () => {
  await s.close()
  await company.close()
})

async function start(): Promise<Process> {
  const process = await startProcess(s, [second])
  await process.desk.providers.freshen()
  processes.push(process)
  return process
}

async function withdrawal(more = {}) {
  const agent = await fundedAgent(s)
  const { status, json } = await agent.withdraw(more)
  expect([status, json.detail]).toEqual([201, undefined])
  const [reference = ''] = referencesFor(json.txn_id)
  return { agent, txnId: json.txn_id as string, reference }
}

const money = { amount: { at: '/amount', as: 'decimal' }, currency: { at: '/currency' } }
const payoutRule = (state: string, outcome: string, more = {}) => ({
  if: { '/kind': ['PAYOUT'], '/state': [state] },
  events: [
    { type: 'payout', id: ['/id', '/state'], reference: '/ref', ...money, outcome, ...more },
  ],
})

/** A company whose notices carry a token, and no signature. */
function tokenDocument(change: object = {}, limits: object = {}) {
  const document = companyDocument(company, 1, { askDeposit, ...change })
  return {
    ...document,
    notice: {
      verify: { kind: 'token', header: 'x-token', key: { secret: 'hook' } },
      ...limits,
      rules: [
        document.notice.rules[0],
        payoutRule('DONE', 'paid'),
        payoutRule('FAILED', 'rejected', { mayTryAnother: true }),
        payoutRule('BACK', 'returned'),
      ],
    },
  }
}
const told = (state: string, words: string) => ({
  name: `told: ${state}`,
  call: 'notice',
  body: { kind: 'PAYOUT', id: 'po_1', state, ref, amount: 100, currency: 'THB' },
  expect: [`payout ${words} 100 THB for ${ref}`],
})
const tokenSamples = {
  ...companySamples,
  samples: [
    ...companySamples.samples.filter(({ name }) => name !== 'deposit failed'),
    told('FAILED', 'rejected, another may try'),
    told('BACK', 'returned'),
    {
      name: 'deposit paid, asked about',
      call: 'askDeposit',
      body: { id: 'pi_1', state: 'PAID', ref, amount: 100, currency: 'THB' },
      expect: [`payment 100 THB for ${ref} as pi_1`],
    },
  ],
}

async function tellWithToken(name: string, body: object) {
  const answer = await fetch(`${s.service.url}/providers/${name}/notices`, {
    method: 'POST',
    headers: { 'x-token': 'hook-1' },
    body: JSON.stringify({ amount: 100, currency: 'THB', ...body }),
  })
  expect(answer.status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  return ((await answer.json()) as any).results[0]
}

/** Acts on what was left open, as a worker does. */
async function actLater(): Promise<void> {
  s.clock.advance(901_000)
  const errors: unknown[] = []
  const taker = new NoticeTaker(s.service.desk, (error) => errors.push(error))
  while ((await taker.finishLeftOvers()) > 0) await taker.stopped()
  expect(errors).toEqual([])
}

describe('a notice with a token and without a signature', () => {
  it('neither fails a payout nor passes it on nor takes it back: the company is asked', async () => {
    await connect(s, 'tokens', tokenDocument(), { samples: tokenSamples })
    const { agent, txnId, reference } = await withdrawal()
    const process = await start()
    await process.payOut(txnId)
    // From now on there is somebody to pass it on to.
    await saveProviderState(s.backend.pool, 'second', 'on', s.clock())
    await routed(s, 'second')
    company.payouts.set(reference, { state: 'SENT', paid: 1 })
    for (const state of ['FAILED', 'BACK', 'DONE']) {
      const said = { kind: 'PAYOUT', id: 'po_x', state, ref: reference }
      const { result, detail } = await tellWithToken('tokens', said)
      expect([result, detail]).toEqual(['open', expect.stringContaining('does not confirm')])
    }
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    expect(second.submitted).toEqual([])
    // It is paid, which the company says itself; what was forged stays open.
    company.payouts.set(reference, { state: 'DONE', paid: 1 })
    await actLater()
    // The service itself may be acting on what is left over.
    await expect.poll(() => statusOf(agent, txnId), patient).toBe('PAID')
    // It comes back, and the notice of it was not forged after all.
    company.payouts.set(reference, { state: 'BACK', paid: 1 })
    await actLater()
    await expect.poll(() => statusOf(agent, txnId), patient).toBe('REVERT')
    const open = async () => {
      const { rows } = await s.sql(`select event_id from notice_events
        where provider = 'tokens' and result is null`)
      return rows
    }
    await expect.poll(open, patient).toEqual([{ event_id: 'po_x:FAILED' }])
    await s.sql(`update notice_events set result = 'closed', act_at = null
      where provider = 'tokens' and result is null`)
  })

  it('asks nothing while the company is being called with the payout', async () => {
    await connect(s, 'early', tokenDocument(), { samples: tokenSamples })
    const { agent, txnId, reference } = await withdrawal()
    const process = await start()
    let asked = 0
    let result: unknown
    const early = { kind: 'PAYOUT', id: 'po_e', state: 'FAILED', ref: reference }
    company.onCall = ({ method }, response) => {
      if (method === 'GET') asked++
      if (method !== 'POST') return false
      // The notice comes before the answer.
      void tellWithToken('early', early).then((told) => {
        result = told
        say(response, 201, JSON.stringify({ id: 'po_e', ref: reference, state: 'SENT' }))
      })
      return true
    }
    await process.payOut(txnId)
    expect(result).toMatchObject({
      result: 'open',
      detail: expect.stringContaining('being handed'),
    })
    expect(asked).toBe(0)
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'accepted', their_id: 'po_e' }])
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    await s.sql(`update notice_events set result = 'closed', act_at = null
      where provider = 'early' and result is null`)
  })

  it('credits a deposit only as the company says when it is asked', async () => {
    await connect(s, 'asked', tokenDocument(), { samples: tokenSamples })
    const agent = await s.agent()
    const { json } = await agent.deposit({ amount: 100 })
    const id = [...company.payins.keys()].at(-1) ?? ''
    const notice = { kind: 'PAYIN', id, state: 'PAID', ref: json.txn_id }
    expect((await tellWithToken('asked', notice)).result).toBe('open')
    expect(await statusOf(agent, json.txn_id)).toBe('WAITING')
    company.payins.set(id, { state: 'PAID', ref: json.txn_id, amount: 100 })
    await actLater()
    expect(await statusOf(agent, json.txn_id)).toBe('PAID')
    expect((await agent.get('/payment/wallet')).json.balance).toBe(100)
    expect((await tellWithToken('asked', notice)).result).toBe('unchanged')
  })

  it('is believed without a question only up to the limits of the document, in a day', async () => {
    const tokenLimits = { THB: { payment: '100', day: '150' } }
    const document = tokenDocument({ askDeposit: undefined }, { tokenLimits })
    const samples = tokenSamples.samples.filter(({ call }) => call !== 'askDeposit')
    await connect(s, 'bounded', document, { samples: { ...tokenSamples, samples } })
    const agent = await s.agent()
    const deposit = async (amount: number, id: string) => {
      const { json } = await agent.deposit({ amount })
      const notice = { kind: 'PAYIN', id, state: 'PAID', ref: json.txn_id, amount }
      const { result } = await tellWithToken('bounded', notice)
      return { result, txnId: json.txn_id }
    }
    const tooMuch = await deposit(101, 'a')
    expect(tooMuch.result).toBe('open')
    expect((await deposit(100, 'b')).result).toBe('applied')
    const beyondTheDay = await deposit(51, 'c')
    expect(beyondTheDay.result).toBe('open')
    expect(await statusOf(agent, beyondTheDay.txnId)).toBe('WAITING')
    expect((await deposit(50, 'd')).result).toBe('applied')
    expect((await agent.get('/payment/wallet')).json.balance).toBe(150)
    // The limit of a day is that of a day; that of a payment stays.
    s.clock.advance(86_400_000)
    await actLater()
    const paid = async () => {
      const found = await s.sql(`select amount from payments where payment_id like 'bounded:%'`)
      return found.rows.map(({ amount }) => amount).sort()
    }
    await expect.poll(paid, patient).toEqual(['10000', '5000', '5100'])
    await s.sql(`update notice_events set result = 'closed', act_at = null
      where provider = 'bounded' and result is null`)
  })
})

describe("the company's own id of a payout", () => {
  it('is of one payout: a second with the same id is unknown, and people are told', async () => {
    const byId = {
      askPayout: {
        ...companyDocument(company).askPayout,
        request: { method: 'GET', path: '/payouts/{theirId}' },
        echo: { theirId: '/id' },
      },
    }
    const samples = {
      ...companySamples,
      order: { ...companySamples.order, theirId: 'po_1' },
      samples: companySamples.samples.map((each) =>
        each.call === 'askPayout'
          ? { ...each, body: { ...each.body, id: 'po_1', ref: undefined } }
          : each,
      ),
    }
    await connect(s, 'one-id', companyDocument(company, 1, byId), { samples })
    company.onCall = ({ method, path, json }, response) => {
      if (method === 'POST') {
        return say(response, 201, JSON.stringify({ id: 'po_1', ref: json.ref, state: 'SENT' }))
      }
      return path.endsWith('/po_1') && say(response, 200, '{"id":"po_1","state":"DONE"}')
    }
    const [one, two] = [await withdrawal(), await withdrawal()]
    const process = await start()
    await process.payOut(one.txnId)
    await process.payOut(two.txnId)
    for (let n = 0; n < 3; n++) {
      s.clock.advance(silenceMs)
      await process.round()
    }
    expect(await statusOf(one.agent, one.txnId)).toBe('PAID')
    expect(await statusOf(two.agent, two.txnId)).toBe('WAITING')
    const [attempt] = await attemptsOf(s, two.txnId)
    expect(attempt).toMatchObject({ state: 'unknown', their_id: null })
    const { rows } = await s.sql(
      `select words from alerts where kind = 'payout_alarm'
      and subject = $1`,
      [`payout ${two.reference}`],
    )
    expect(rows[0]?.words).toContain('the id of another payout, po_1')
  })

  it('is one: if the company gives a second one to a repetition, people are told', async () => {
    const promises = companyDocument(company, 1, { idempotentByReference: true })
    await connect(s, 'two-ids', promises)
    const { agent, txnId, reference } = await withdrawal()
    let posts = 0
    company.onCall = ({ method, path }, response) => {
      if (method === 'POST' && path.endsWith('/payouts')) {
        const id = `po_${++posts}_${reference}`
        return say(response, 201, JSON.stringify({ id, ref: reference, state: 'SENT' }))
      }
      // It does not know it the first time.
      return posts === 1 && say(response, 404, '{"code":"NO_SUCH_PAYOUT"}')
    }
    const process = await start()
    await process.payOut(txnId)
    s.clock.advance(silenceMs)
    await process.round()
    expect(posts).toBe(2)
    expect(await attemptsOf(s, txnId)).toMatchObject([
      { state: 'unknown', their_id: `po_1_${reference}` },
    ])
    const { rows } = await s.sql(
      `select words from alerts where kind = 'payout_alarm'
      and subject = $1`,
      [`payout ${reference}`],
    )
    expect(rows[0]?.words).toContain('it may pay it twice')
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    // That one of the two has failed says nothing of the other, however often and by whichever way it is told.
    company.onCall = ({ method }, response) => {
      const id = `po_1_${reference}`
      const body = { id, ref: reference, state: 'FAILED', code: 'CLOSED', message: 'closed' }
      return method === 'GET' && say(response, 200, JSON.stringify(body))
    }
    for (let n = 0; n < 3; n++) {
      s.clock.advance(silenceMs)
      await process.round()
    }
    const provider = process.desk.providers.find('two-ids')
    if (!provider) throw new Error('there is no provider')
    const outcome = { type: 'rejected', mayTryAnother: true, reason: 'closed' } as const
    const taker = new NoticeTaker(process.desk, (error) => {
      throw error
    })
    const event = { type: 'payout', id: 'one of two', reference, outcome } as const
    expect(await taker.take(provider, [event], Buffer.from(''))).toMatchObject([
      { result: 'open', detail: expect.stringContaining('find out about both') },
    ])
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'unknown' }])
    expect(await statusOf(agent, txnId)).toBe('WAITING')
  })
})

describe('an order of which no request can be made', () => {
  const withNote = {
    submitPayout: {
      ...companyDocument(company).submitPayout,
      request: {
        method: 'POST',
        path: '/payouts',
        headers: { 'X-Purpose': 'for {extra.purpose}' },
        json: { ref: '{reference}', to: '{payee.accountNo}', amount: '{amount.fixed}' },
      },
    },
  }

  it('is refused at once if nobody else can pay it, and takes no place of others', async () => {
    await connect(s, 'purposeful', companyDocument(company, 1, withNote))
    const agent = await fundedAgent(s)
    for (const extraParams of [undefined, { purpose: 'é' }]) {
      const { status, json } = await agent.withdraw({ extraParams })
      expect([status, json.errors?.[0]?.field]).toEqual([422, 'extraParams'])
    }
    expect((await agent.withdraw({ extraParams: { purpose: 'rent' } })).status).toBe(201)
    const provider = s.service.desk.providers.find('purposeful')
    const payout = {
      reference: ref,
      amountMinor: 100n,
      currency: 'THB',
      payee: { accountNo: '1', accountName: 'A', bankCode: 'SCB' },
      extraParams: null,
    } as const
    const outcome = await provider?.submitPayout(payout, AbortSignal.timeout(5_000))
    expect(outcome).toMatchObject({ type: 'not_sent', isForGood: true })
    const figures = await s.service.desk.providers.connectors?.figures()
    expect(figures?.get('purposeful')?.calls ?? 0).toBe(0)
  })

  it('is given to a provider that can, whether it is paid out or paid in', async () => {
    const banks = { KBANK: '004' }
    const { expectDeposit } = companyDocument(company)
    const json = { ref: '{txnId}', amount: '{amount.fixed}', bank: '{payer.bank}' }
    const request = { ...expectDeposit.request, json }
    const change = { ...withNote, banks, expectDeposit: { ...expectDeposit, request } }
    await connect(s, 'narrow', companyDocument(company, 1, change))
    await saveProviderState(s.backend.pool, 'second', 'on', s.clock())
    await routed(s, 'second')
    const before = second.submitted.length
    const { txnId } = await withdrawal({ bankCode: 'SCB' })
    const process = await start()
    await process.payOut(txnId)
    expect(second.submitted).toHaveLength(before + 1)
    const agent = await s.agent()
    const { status, json: order } = await agent.deposit({ amount: 100, bankCode: 'SCB' })
    expect([status, order.detail]).toEqual([201, undefined])
    const { rows } = await s.sql('select provider from orders where order_id = $1', [
      String(order.txn_id).split('-')[1],
    ])
    expect(rows).toEqual([{ provider: 'second' }])
    expect(company.reached.some(({ json }) => json?.ref === order.txn_id)).toBe(false)
  })
})

describe('a company that fails', () => {
  it('gets no payouts after five pages of HTML: they wait here, and can be cancelled', async () => {
    await connect(s, 'resting', companyDocument(company))
    company.onCall = (_call, response) => say(response, 200, '<html>We are resting</html>')
    const process = await start()
    const lanes = Reflect.get(process.desk.providers.connectors ?? {}, 'lanes')
    // Its pause would end by itself.
    Reflect.set(lanes.get('resting'), 'nowMs', () => 0)
    const first = await Promise.all(Array.from({ length: 5 }, () => withdrawal()))
    for (const { txnId } of first) await process.payOut(txnId)
    const { agent, txnId, reference } = await withdrawal()
    await process.payOut(txnId)
    expect(company.submitted(reference)).toEqual([])
    expect(await attemptsOf(s, txnId)).toEqual([])
    expect((await agent.post(`/payment/orders/${txnId}/cancel`, {})).status).toBe(200)
    expect(await statusOf(agent, txnId)).toBe('CANCEL')
  })
})

describe('a signed request', () => {
  it('carries the nonce and the time that it is signed with', async () => {
    const sign = {
      kind: 'hmac',
      hash: 'sha256',
      key: { secret: 'api' },
      over: ['timestamp', { text: '.' }, 'nonce', { text: '.' }, 'body'],
      encode: 'hex',
      timestamp: { as: 'unixMs' },
      put: { header: 'x-sign' },
    }
    const headers = { 'X-Nonce': '{nonce}', 'X-Time': '{now.unixMs}' }
    const document = companyDocument(company, 1, { sign, headers, auth: undefined })
    await connect(s, 'signing', document)
    const heard: boolean[] = []
    company.onCall = ({ headers: sent, json }) => {
      const text = `${sent['x-time']}.${sent['x-nonce']}.${JSON.stringify(json)}`
      heard.push(sent['x-sign'] === createHmac('sha256', 'api-1').update(text).digest('hex'))
      return false
    }
    const { txnId } = await withdrawal()
    await (await start()).payOut(txnId)
    expect(heard).toEqual([true])
    await tell(s, 'signing', { kind: 'PING' })
  })
})
