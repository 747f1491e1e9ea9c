import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { readFigures } from '../../src/connectors/connector-figures.ts'
import { addSecret } from '../../src/connectors/connector-store.ts'
import { ConnectorsInUse } from '../../src/connectors/connectors-in-use.ts'
import { readRoutingTable, saveProviderState } from '../../src/routing/providers.ts'
import { routed } from '../support/bank-accounts.ts'
import {
  Company,
  companyDocument,
  companySamples,
  connect,
  prepare,
  say,
  tell,
  use,
} from '../support/company.ts'
import {
  attemptsOf,
  FakeProvider,
  fundedAgent,
  type Process,
  referencesFor,
  startProcess,
  statusOf,
} from '../support/fake-provider.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Two connectors of one company, two accounts of one connector, a company that is not itself. */

let s: TestService
let processes: Process[] = []
const company = new Company()
const elsewhere = new Company()
const second = new FakeProvider('second')
const silenceMs = 11_000
const ref = 'SX0000000000A'

beforeAll(async () => {
  await Promise.all([company.open(), elsewhere.open()])
  s = await startTestService({ outside: { providers: [second] } })
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
  await Promise.all([company.close(), elsewhere.close()])
})

async function start(): Promise<Process> {
  const process = await startProcess(s, [second])
  await process.desk.providers.freshen()
  processes.push(process)
  return process
}

async function withdrawal() {
  const agent = await fundedAgent(s)
  const { status, json } = await agent.withdraw()
  expect(status).toBe(201)
  const [reference = ''] = referencesFor(json.txn_id)
  return { agent, txnId: json.txn_id as string, reference }
}

const money = { amount: { at: '/amount', as: 'decimal' }, currency: { at: '/currency' } }

it('of two connectors of one company with one secret, neither touches the orders of the other', async () => {
  const event = (type: string, more: object) => ({
    if: { '/kind': ['ALL'], '/state': [type] },
    events: [{ type: 'payout', id: ['/id', '/state'], reference: '/ref', ...more }],
  })
  const { notice } = companyDocument(company)
  const rules = [
    ...notice.rules,
    event('NO', { outcome: 'rejected' }),
    event('BACK', { outcome: 'returned' }),
    event('TAKEN', { type: 'payment_taken_back', paymentId: ['/payment'] }),
    event('COST', { type: 'cost', costId: ['/id'], ...money }),
  ]
  const told = (state: string, expected: string, more = {}) => ({
    name: state,
    call: 'notice',
    body: { kind: 'ALL', state, id: 'e', ref, payment: 'p', ...more },
    expect: [expected],
  })
  const samples = {
    order: { ...companySamples.order },
    samples: [
      ...companySamples.samples,
      told('NO', `payout rejected for ${ref}`),
      told('BACK', `payout returned for ${ref}`),
      told('TAKEN', `payment_taken_back for ${ref} as p`),
      told('COST', `cost 1 THB for ${ref} as e`, { amount: 1, currency: 'THB' }),
    ],
  }
  const document = companyDocument(company, 1, { notice: { ...notice, rules } })
  await connect(s, 'branch-a', document, { samples })
  const agent = await s.agent()
  const { json } = await agent.deposit({ amount: 100 })
  const paid = { kind: 'PAYIN', id: 'pay-1', state: 'PAID', ref: json.txn_id, amount: 100 }
  await tell(s, 'branch-a', { ...paid, currency: 'THB' })
  expect(await agent.balance()).toBe(100)
  const { agent: rich, txnId, reference } = await withdrawal()
  await (await start()).payOut(txnId)
  expect(await attemptsOf(s, txnId)).toMatchObject([{ provider: 'branch-a', state: 'accepted' }])

  await connect(s, 'branch-b', document, { samples })
  const said = async (body: object) => (await tell(s, 'branch-b', body)).json.results[0].result
  const done = {
    kind: 'PAYOUT',
    id: 'x',
    state: 'DONE',
    ref: reference,
    amount: 100,
    currency: 'THB',
  }
  expect(await said(done)).toBe('open')
  for (const state of ['NO', 'BACK']) {
    expect(await said({ kind: 'ALL', id: 'x', state, ref: reference })).toBe('open')
  }
  const taken = { kind: 'ALL', id: 'x', state: 'TAKEN', ref: json.txn_id, payment: 'pay-1' }
  expect(await said(taken)).toBe('open')
  const cost = { kind: 'ALL', id: 'x', state: 'COST', amount: 1, currency: 'THB' }
  expect(await said({ ...cost, ref: json.txn_id })).toBe('refused')
  expect(await said({ ...cost, id: 'y', ref: reference })).toBe('refused')
  expect([await statusOf(rich, txnId), await statusOf(agent, json.txn_id)]).toEqual([
    'WAITING',
    'PAID',
  ])
  expect(await agent.balance()).toBe(100)
  await s.sql(`update notice_events set result = 'closed', act_at = null
    where provider = 'branch-b' and result is null`)
})

it('an older payout is asked about with the newest key of its own account, and at its own place', async () => {
  const document = companyDocument(company)
  await connect(s, 'turning', document, { secrets: { api: 'key-a', hook: 'hook-1' } })
  const { agent, txnId, reference } = await withdrawal()
  const first = await start()
  await first.payOut(txnId)
  const rotate = async (text: string, sameAccount: boolean, version = 1) => {
    const by = { name: 'a test', at: s.clock() }
    const given = { connector: 'turning', secret: 'api', text }
    await addSecret(s.backend.pool, s.backend.secretKeys, given, by)
    await use(s, 'turning', version, { sameAccount })
  }
  const askedWith = async () => {
    const process = await start()
    s.clock.advance(3_600_000)
    await process.round()
    return company.asked(reference).at(-1)?.headers.authorization
  }
  await rotate('key-b', true)
  await rotate('key-c', false)
  // The company has taken key-a back; key-c is of another account.
  expect(await askedWith()).toBe('Bearer key-b')
  // A key that is said to be of the same account, at another host: it is told to that host alone.
  const moved = await prepare(s, 'turning', companyDocument(elsewhere), {
    secrets: { api: 'key-d', hook: 'hook-1' },
  })
  await use(s, 'turning', moved, { sameAccount: true })
  company.payouts.set(reference, { state: 'DONE', paid: 1 })
  expect(await askedWith()).toBe('Bearer key-b')
  expect(await statusOf(agent, txnId)).toBe('PAID')
  expect(elsewhere.reached.map(({ headers }) => headers.authorization)).not.toContain(
    'Bearer key-b',
  )
})

it('whatever a company answers about another amount or currency, the payout is unknown until it is right', async () => {
  const echo = {
    reference: '/ref',
    amount: { at: '/amount', as: 'decimal' },
    currency: '/currency',
  }
  const { submitPayout, askPayout } = companyDocument(company)
  const calls = { submitPayout: { ...submitPayout, echo }, askPayout: { ...askPayout, echo } }
  const samples = {
    ...companySamples,
    samples: companySamples.samples.map((each) =>
      'state' in each.body && each.call.endsWith('Payout')
        ? { ...each, body: { ...each.body, amount: '100.00', currency: 'THB' } }
        : each,
    ),
  }
  await connect(s, 'exact', companyDocument(company, 1, calls), { samples })
  const { agent, txnId, reference } = await withdrawal()
  const right = { ref: reference, state: 'DONE', amount: '100.00', currency: 'THB' }
  const answers = [
    { ...right, currency: 'VND' },
    { ...right, currency: 764 },
    { ...right, currency: undefined },
    { ...right, amount: '100.0000000000000000001' },
    { ...right, amount: '1e2' },
    { ...right, amount: [100] },
    { ...right, amount: '99.99' },
    { ...right, ref: Number(1) },
    { ...right, ref: 'SX0000000000B' },
  ].map((each) => JSON.stringify(each))
  answers.push(JSON.stringify(right).replace('"100.00"', '100.00000000000000001'))
  const process = await start()
  let posts = 0
  company.onCall = ({ method }, response) => {
    if (method === 'POST') posts++
    return say(response, method === 'POST' ? 201 : 200, answers[0] ?? JSON.stringify(right))
  }
  await process.payOut(txnId)
  while (answers.length > 0) {
    expect(await attemptsOf(s, txnId), answers[0]).toMatchObject([{ state: 'unknown' }])
    expect(await statusOf(agent, txnId)).toBe('WAITING')
    answers.shift()
    s.clock.advance(3_600_000)
    await process.round()
  }
  expect(await statusOf(agent, txnId)).toBe('PAID')
  expect(posts).toBe(1)
})

it('a process that dies between the hand-over and the call leaves a payout that a person decides on', async () => {
  await connect(s, 'unsent', companyDocument(company))
  const { agent, txnId, reference } = await withdrawal()
  const dying = await start()
  const { teller } = dying.desk
  const usual = teller.do.bind(teller)
  teller.do = async (command) => {
    const done = await usual(command)
    if (command.type === 'hand_over') {
      dying.die()
      throw new Error('it has died')
    }
    return done
  }
  await dying.payOut(txnId).catch(() => {})
  const after = await start()
  s.clock.advance(silenceMs)
  await after.round()
  // The company promises nothing, so nobody sends it again, although it has never been sent.
  expect(company.submitted(reference)).toEqual([])
  expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'not_found' }])
  expect(await statusOf(agent, txnId)).toBe('WAITING')
})

it('a deposit is asked for elsewhere first while its company fails', async () => {
  await connect(s, 'failing', companyDocument(company))
  await saveProviderState(s.backend.pool, 'second', 'on', s.clock())
  await routed(s, 'second')
  const lanes = Reflect.get(s.service.desk.providers.connectors ?? {}, 'lanes')
  // Its pause would end by itself.
  Reflect.set(lanes.get('failing'), 'nowMs', () => 0)
  company.onCall = (_call, response) => say(response, 503, '{}')
  const agent = await s.agent()
  const provider = s.service.desk.providers.find('failing')
  const figures = async () => (await s.service.desk.providers.connectors?.figures())?.get('failing')
  while (provider?.isAnswering?.()) await agent.deposit({ amount: 100 })
  expect(await figures()).toMatchObject({ calls: 5, failures: 5, state: 'paused', processes: 1 })
  const { status, json } = await agent.deposit({ amount: 100 })
  expect(status).toBe(201)
  const { rows } = await s.sql('select provider from orders where order_id = $1', [
    String(json.txn_id).split('-')[1],
  ])
  expect(rows).toEqual([{ provider: 'second' }])
  expect(await figures()).toMatchObject({ calls: 5 })
  // Another process sees it too, and what it calls itself is added.
  const beside = new ConnectorsInUse(s.backend.pool, {
    secretKeys: s.backend.secretKeys,
    client: { send: async () => ({ status: 503, body: Buffer.from('{}') }) },
    now: s.clock,
    publicUrl: () => s.service.url,
    onError: (error) => {
      throw error
    },
  })
  const [there] = (await beside.read()).filter(({ name }) => name === 'failing')
  const asked = { reference: ref, amountMinor: 100n, currency: 'THB', extraParams: null } as const
  const payee = { accountNo: '1', accountName: 'A', bankCode: 'SCB' }
  await there?.askPayout({ ...asked, payee }, AbortSignal.timeout(60_000))
  expect((await beside.figures()).get('failing')).toMatchObject({
    ...{ processes: 2, calls: 6, failures: 6, state: 'paused', underWay: 0 },
    lastFault: 'answers that it fails',
  })
  const told = await (await fetch(`${s.service.url}/metrics`)).text()
  expect(told).toContain('sluice_connector_calls{connector="failing"} 6')
  expect(told).toContain('sluice_connector_paused{connector="failing"} 1')
  // What a process that has ended had under way is over; what it called still counts.
  s.clock.advance(61_000)
  const later = (await readFigures(s.backend.pool, s.clock())).get('failing')
  expect(later).toMatchObject({ calls: 6, state: 'open' })
  s.clock.advance(86_400_000)
  expect((await readFigures(s.backend.pool, s.clock())).get('failing')).toBeUndefined()
})
