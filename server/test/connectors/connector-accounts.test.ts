import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { updateBankAccount } from '../../src/bank-accounts/save-bank-account.ts'
import { keepAsked } from '../../src/connectors/connector-deposits.ts'
import { addSecret, listUses } from '../../src/connectors/connector-store.ts'
import { addDocument, planUse } from '../../src/connectors/manage-connectors.ts'
import type { Tx } from '../../src/db/in-transaction.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { DepositAsker } from '../../src/payments/ask-deposits.ts'
import { NoticeTaker } from '../../src/payments/take-notice.ts'
import { readRoutingTable, saveProviderState } from '../../src/routing/providers.ts'
import { makeAccount, routed } from '../support/bank-accounts.ts'
import {
  askDeposit,
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
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let processes: Process[] = []
const company = new Company()
const shy = new FakeProvider('shy', { idempotentByReference: false })
const silenceMs = 11_000

beforeAll(async () => {
  await company.open()
  s = await startTestService({ outside: { providers: [shy] } })
  await saveProviderState(s.backend.pool, 'shy', 'off', s.clock())
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

async function start(providers: FakeProvider[] = []): Promise<Process> {
  const process = await startProcess(s, providers)
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

async function deposit() {
  const agent = await s.agent()
  const { status, json } = await agent.deposit({ amount: 100 })
  expect([status, json.code]).toEqual([201, undefined])
  return { agent, txnId: json.txn_id as string }
}

const secret = (connector: string, name: string, text: string) =>
  addSecret(
    s.backend.pool,
    s.backend.secretKeys,
    { connector, secret: name, text },
    { name: 'a test', at: s.clock() },
  )

const paidNotice = (ref: string, id: string) => ({
  kind: 'PAYIN',
  id,
  state: 'PAID',
  ref,
  amount: 100,
  currency: 'THB',
})

/** Asks about what is due, as the service's own worker may at the same time. */
async function look(): Promise<void> {
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const taker = new NoticeTaker(s.service.desk, onError)
  await new DepositAsker(s.service.desk, taker, onError).ask()
  expect(errors).toEqual([])
}

/** Asks until the answer about an order is in the books, whoever of the two got it, and however often it takes. */
async function untilPaid(agent: AgentClient, txnId: string): Promise<void> {
  await expect
    .poll(async () => {
      s.clock.advance(1_000)
      await look()
      return statusOf(agent, txnId)
    })
    .toBe('PAID')
}

describe('a payout is of the account at the company whose key it was handed over with', () => {
  it.each([
    ['another account', false, 'Bearer key-a'],
    ['the same account', true, 'Bearer key-b'],
  ])('a new key of %s', async (_what, sameAccount, expected) => {
    const name = sameAccount ? 'same-key' : 'other-key'
    const document = companyDocument(company, 1, { idempotentByReference: true })
    await connect(s, name, document, { secrets: { api: 'key-a', hook: 'hook-1' } })
    const { agent, txnId, reference } = await withdrawal()
    // The company pays it, and its answer is lost.
    company.onCall = ({ method, headers, json }, response) => {
      if (method === 'POST') {
        company.payouts.set(json.ref, { state: 'DONE', paid: 1 })
        response.destroy()
        return true
      }
      // An account knows nothing of what another has paid.
      const isOther = !sameAccount && headers.authorization !== 'Bearer key-a'
      return isOther && say(response, 404, '{"code":"NO_SUCH_PAYOUT"}')
    }
    const first = await start()
    await first.payOut(txnId)
    await secret(name, 'api', 'key-b')
    await use(s, name, 1, { sameAccount })
    const later = await start()
    s.clock.advance(silenceMs)
    await later.round()
    expect(company.submitted(reference)).toHaveLength(1)
    expect(company.asked(reference).map(({ headers }) => headers.authorization)).toEqual([expected])
    expect(await statusOf(agent, txnId)).toBe('PAID')
    expect(await attemptsOf(s, txnId)).toMatchObject([{ version: 1, use: 1 }])
  })

  it('its id is one of that account: another may count from 1 again', async () => {
    await connect(s, 'counts', companyDocument(company))
    company.onCall = ({ method, json }, response) =>
      method === 'POST' &&
      say(response, 201, JSON.stringify({ id: '1', ref: json.ref, state: 'SENT' }))
    const process = await start()
    const first = await withdrawal()
    await process.payOut(first.txnId)
    await secret('counts', 'api', 'key-b')
    await use(s, 'counts', 1, { sameAccount: false })
    const later = await start()
    const [other, again] = [await withdrawal(), await withdrawal()]
    await later.payOut(other.txnId)
    await later.payOut(again.txnId)
    expect(await attemptsOf(s, first.txnId)).toMatchObject([{ state: 'accepted' }])
    expect(await attemptsOf(s, other.txnId)).toMatchObject([{ state: 'accepted' }])
    // Two of one account are not one payout.
    expect(await attemptsOf(s, again.txnId)).toMatchObject([{ state: 'unknown' }])
  })

  it('a payout of a provider that was no connector is asked about nowhere', async () => {
    await connect(s, 'no-use', companyDocument(company))
    const provider = s.service.desk.providers.find('no-use')
    const payout = {
      reference: 'SX0000000000A',
      use: null,
      amountMinor: 1n,
      currency: 'THB',
      payee: { accountNo: '1', accountName: 'A', bankCode: 'SCB' },
      extraParams: null,
    } as const
    const outcome = await provider?.askPayout(payout, AbortSignal.timeout(5_000))
    expect(outcome?.type).toBe('unknown')
    expect(company.asked('SX0000000000A')).toEqual([])
  })
})

describe('a use', () => {
  it('is made with exactly the secrets that were named', async () => {
    await prepare(s, 'named', companyDocument(company))
    await secret('named', 'hook', 'known to one person')
    await use(s, 'named', 1, { secrets: { api: 1, hook: 1 } })
    expect(await listUses(s.backend.pool, 'named')).toMatchObject([
      { secrets: { api: 1, hook: 1 } },
    ])
    const plan = (secrets: Record<string, number>) =>
      planUse(s.backend.pool, 'named', { version: 1, secrets })
    await expect(plan({ api: 1, hook: 9 })).rejects.toThrow('Set the secret hook')
    await expect(plan({ api: 1 })).rejects.toThrow('Set the secret hook')
    await expect(plan({ api: 1, hook: 1, more: 1 })).rejects.toThrow('uses no secret "more"')
    expect((await plan({ api: 1, hook: 2 })).addedBy).toEqual({ hook: 'a test' })
  })

  it('of a new connector gets no orders until it is switched on', async () => {
    await prepare(s, 'quiet', companyDocument(company))
    await use(s, 'quiet')
    expect((await readRoutingTable(s.backend.pool)).states.get('quiet')).toBe('off')
    const agent = await s.agent()
    expect((await agent.deposit({ amount: 100 })).status).toBe(503)
  })

  it('is not of a name that another provider had', async () => {
    await saveProviderState(s.backend.pool, 'old-adapter', 'off', s.clock())
    const rules = {
      targets: 'near' as const,
      isMadeInCode: () => false,
      switchOff: (tx: Tx, name: string) => saveProviderState(tx, name, 'off', s.clock()),
    }
    const by = { name: 'a test', at: s.clock() }
    const text = JSON.stringify(companyDocument(company))
    await expect(addDocument(s.backend.pool, 'old-adapter', text, by, rules)).rejects.toThrow(
      'is taken',
    )
  })

  it('may say that the secrets before are void; otherwise all of a day are taken', async () => {
    await connect(s, 'leaky', companyDocument(company))
    for (const text of ['hook-2', 'hook-3']) {
      await secret('leaky', 'hook', text)
      await use(s, 'leaky')
    }
    const told = async (key: string) => (await tell(s, 'leaky', { kind: 'PING' }, { key })).status
    expect([await told('hook-1'), await told('hook-2'), await told('hook-3')]).toEqual([
      200, 200, 200,
    ])
    await use(s, 'leaky', 1, { formerVoid: true })
    expect([await told('hook-1'), await told('hook-2'), await told('hook-3')]).toEqual([
      401, 401, 200,
    ])
  })
})

describe('a deposit', () => {
  const polled = (change: object = {}) => companyDocument(company, 1, { askDeposit, ...change })

  it('that was asked for twice is asked about under both ids', async () => {
    await connect(s, 'twice', polled(), { samples: withAnswers })
    const { agent, txnId } = await deposit()
    const [, shown] = [...company.payins.keys()].slice(-1).concat('pi_other')
    const { agentId, orderId } = parseTxnId(txnId) ?? { agentId: 0n, orderId: '' }
    const at = s.clock()
    const named = { agentId, orderId, connector: 'twice' }
    await keepAsked(s.backend.pool, named, shown ?? '', 5, 900_000, at)
    company.payins.set('pi_other', { state: 'PAID', ref: txnId, amount: 100 })
    s.clock.advance(6_000)
    await untilPaid(agent, txnId)
  })

  it('is known by a short code at a company that our ids are too long for', async () => {
    const { expectDeposit, notice } = companyDocument(company)
    const json = { ...expectDeposit.request.json, ref: '{code}' }
    const request = { ...expectDeposit.request, json }
    const short = polled({ expectDeposit: { ...expectDeposit, request }, notice })
    await connect(s, 'short', short, { samples: withAnswers })
    const named = async () => {
      const { agent, txnId } = await deposit()
      const { json } = company.reached.findLast(({ path }) => path.endsWith('/payins')) ?? {}
      expect(json.ref).toMatch(/^DX[0-9A-Z]{11}$/)
      return { agent, txnId, code: json.ref as string }
    }
    // By a notice, once, and by asking.
    const told = await named()
    for (const _ of [1, 2]) await tell(s, 'short', paidNotice(told.code, 'by-code'))
    expect(await statusOf(told.agent, told.txnId)).toBe('PAID')
    expect((await told.agent.get('/payment/wallet')).json.balance).toBe(100)
    const asked = await named()
    const payin = [...company.payins].find(([, { ref }]) => ref === asked.code)
    company.payins.set(payin?.[0] ?? '', { state: 'PAID', ref: asked.code, amount: 100 })
    s.clock.advance(6_000)
    await untilPaid(asked.agent, asked.txnId)
    // A row that gives a code to another deposit is not believed: which codes a deposit has follows from its id.
    const victim = await named()
    const thief = await named()
    const [agentId, orderId] = thief.txnId.split('-')
    await s.sql('update deposit_codes set agent_id = $2, order_id = $3 where code = $1', [
      ...[victim.code, agentId, orderId],
    ])
    const { json: said } = await tell(s, 'short', paidNotice(victim.code, 'stolen'))
    expect(said.results[0].result).not.toBe('applied')
    expect(await statusOf(thief.agent, thief.txnId)).toBe('WAITING')
  })

  it('that a second request has reached the company with is asked about, though the first never left', async () => {
    await connect(s, 'raced', polled(), { samples: withAnswers })
    const provider = s.service.desk.providers.find('raced')
    if (!provider?.expectDeposit) throw new Error('not connected')
    const real = provider.expectDeposit
    let giveUp = () => {}
    const noPlace = new Promise<void>((resolve) => {
      giveUp = resolve
    })
    const isBound = new Promise<void>((resolve) => {
      provider.expectDeposit = async () => {
        resolve()
        await noPlace
        return { type: 'not_sent', reason: 'There was no place.' }
      }
    })
    const agent = await s.agent()
    const order = { refId: 'raced', amount: 100 }
    const first = agent.deposit(order)
    await isBound
    provider.expectDeposit = real
    const second = await agent.deposit(order)
    expect(second.status).toBe(200)
    giveUp()
    // It is given to nobody else, and a repetition says what the second was told.
    expect((await first).status).toBe(503)
    expect((await agent.deposit(order)).json).toEqual(second.json)
    const txnId = second.json.txn_id as string
    company.payins.set([...company.payins.keys()].at(-1) ?? '', {
      state: 'PAID',
      ref: txnId,
      amount: 100,
    })
    s.clock.advance(6_000)
    await untilPaid(agent, txnId)
  })

  it('about which the answer is not understood is one open item, and is asked about again', async () => {
    await connect(s, 'strange', polled({ askDeposit: { ...askDeposit, echo: undefined } }), {
      samples: withAnswers,
    })
    const { agent, txnId } = await deposit()
    const id = [...company.payins.keys()].at(-1) ?? ''
    company.payins.set(id, { state: 'SETTLED', ref: txnId, amount: 100 })
    // How often it has been asked about; while an answer is awaited, it is not asked about again for half a minute.
    const answers = async () => {
      await look()
      const { rows } = await s.sql(
        'select asks from connector_deposits where order_id = $1 and ask_at < $2',
        [txnId.split('-')[1], new Date(s.clock().getTime() + 30_000)],
      )
      return Number(rows[0]?.asks ?? 0)
    }
    for (const n of [1, 2]) {
      s.clock.advance(60_000)
      await expect.poll(answers).toBeGreaterThanOrEqual(n)
    }
    const open = () =>
      s.sql(`select event_id from notice_events where provider = 'strange' and result is null`)
    expect((await open()).rowCount).toBe(1)
    await s.sql(`update notice_events set result = 'closed', act_at = null
      where provider = 'strange' and result is null`)
    // It has failed, and is paid after all; a baht is missing.
    await tell(s, 'strange', { kind: 'PAYIN', id: 'x', state: 'FAILED', ref: txnId })
    expect(await statusOf(agent, txnId)).toBe('FAILED')
    company.payins.set(id, { state: 'PAID', ref: txnId, amount: 99 })
    s.clock.advance(60_000)
    await expect
      .poll(async () => {
        await look()
        const paid = 'select amount from payments where order_id = $1'
        return (await s.sql(paid, [txnId.split('-')[1]])).rows
      })
      .toMatchObject([{ amount: '9900' }])
  })

  it('of a version that asks is asked about after one that does not', async () => {
    await connect(s, 'asked-once', polled(), { samples: withAnswers })
    const { agent, txnId } = await deposit()
    const id = [...company.payins.keys()].at(-1) ?? ''
    await connect(s, 'asked-once', companyDocument(company, 2))
    company.payins.set(id, { state: 'PAID', ref: txnId, amount: 100 })
    s.clock.advance(6_000)
    await untilPaid(agent, txnId)
  })

  it('of a version that reads notices is told of after one that does not', async () => {
    await connect(s, 'told-once', polled(), { samples: withAnswers })
    const { agent, txnId } = await deposit()
    const { notice: _notice, ...mute } = companyDocument(company, 2, {
      askDeposit,
      secrets: { api: 'of calls' },
    })
    const secrets = { api: 'api-1' } as { api: string; hook: string }
    await connect(s, 'told-once', mute, { secrets, samples: withoutNotices })
    expect((await tell(s, 'told-once', paidNotice(txnId, 'late'))).status).toBe(200)
    expect(await statusOf(agent, txnId)).toBe('PAID')
  })
})

const paidAnswer = {
  name: 'deposit paid, asked about',
  call: 'askDeposit',
  body: paidNotice('SX0000000000A', 'pi_1'),
  expect: ['payment 100 THB for SX0000000000A as pi_1'],
}

/** What the company says, with the payment in an answer, too. */
const withAnswers = { ...companySamples, samples: [...companySamples.samples, paidAnswer] }
const withoutNotices = {
  ...companySamples,
  samples: withAnswers.samples.filter(({ call }) => call !== 'notice'),
}

describe('a payout of which nothing has left', () => {
  it('is sent later under the same reference, without a question and without a person', async () => {
    await saveProviderState(s.backend.pool, 'shy', 'on', s.clock())
    await routed(s, 'shy')
    const { txnId } = await withdrawal()
    const process = await start([shy])
    const usual = shy.onSubmit
    shy.onSubmit = async () => ({ type: 'not_sent', reason: 'too many calls' })
    await process.payOut(txnId)
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'unknown', unsent: true }])
    shy.isReady = false
    s.clock.advance(silenceMs)
    await process.round()
    expect(shy.submitted).toHaveLength(1)
    shy.isReady = true
    shy.onSubmit = usual
    s.clock.advance(silenceMs)
    await process.round()
    expect(new Set(shy.submitted.map(({ reference }) => reference)).size).toBe(1)
    expect(shy.submitted).toHaveLength(2)
    expect(shy.asked).toEqual([])
    expect(await attemptsOf(s, txnId)).toMatchObject([{ state: 'accepted', unsent: false }])
  })
})

describe('a bank account', () => {
  it('gets no feed while a connector reports its lines', async () => {
    const { account } = await makeAccount(s, { feed: 'none' }, { isOff: true })
    await s.sql(
      `insert into connectors (name, created_at, created_by) values ('liner', now(), 'me!')`,
    )
    await s.sql(`insert into line_sources (account, connector) values ($1, 'liner')`, [
      account.name,
    ])
    const by = { name: 'a test', at: s.clock(), confirmedBy: null, newSecret: false }
    const { pool, secretKeys } = s.backend
    await expect(
      updateBankAccount(pool, secretKeys, account, { ...account, feed: 'signed' }, by),
    ).rejects.toThrow('liner reports the lines')
  })
})
