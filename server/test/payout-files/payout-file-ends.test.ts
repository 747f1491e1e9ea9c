import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { alarmsFor } from '../../src/approvals/alarms.ts'
import { approve as decide } from '../../src/approvals/decide-proposal.ts'
import { findProposal } from '../../src/approvals/proposal.ts'
import { findBankAccount } from '../../src/bank-accounts/bank-account.ts'
import { updateBankAccount } from '../../src/bank-accounts/save-bank-account.ts'
import { findOrder } from '../../src/ledger/find-order.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import type { Operator } from '../../src/operators/operator.ts'
import { bookFileSums } from '../../src/payments/book-movement.ts'
import { wholeDays } from '../../src/payout-files/after-restore.ts'
import { endItems } from '../../src/payout-files/item-ends.ts'
import { payoutAlarms } from '../../src/payout-files/payout-alarms.ts'
import { takeOut } from '../../src/payout-files/take-out.ts'
import { takeBankAnswer } from '../../src/payout-files/take-report.ts'
import { handOver } from '../../src/payouts/pay-out.ts'
import { PayoutRunner } from '../../src/payouts/payout-runner.ts'
import { payoutsOfOrder } from '../../src/payouts/payouts.ts'
import { resolvePayout } from '../../src/payouts/resolve-payout.ts'
import { ProofFailure } from '../../src/proof/proof-failure.ts'
import { inSnapshot } from '../../src/proof/proof-snapshot.ts'
import { proveNextPayoutFile } from '../../src/proof/prove-payout-files.ts'
import { camt, dayAt, importFile, routed } from '../support/bank-accounts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import {
  type PayingAccount,
  pain002,
  payingAccount,
  statesOf,
  withdrawals,
} from '../support/payout-files.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'

let s: TestService
let agent: AgentClient
let maker: OperatorClient
let checker: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  agent = await newAgent()
  maker = await signIn(s, 'operator')
  checker = await signIn(s, 'admin')
})
afterEach(() => s.prove())
afterAll(() => s.close())

async function newAgent(): Promise<AgentClient> {
  const made = await s.agent({ withdrawFee: '5', maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await made.fund(100_000)
  return made
}

const dayMs = 86_400_000
const status = async (txnId: string, of = agent) =>
  (await of.get(`/payment/orders/${txnId}`)).json.status
const draft = (account: PayingAccount) => maker.post('/payout-files', { account: account.name })
const look = ({ json }: Answer) => maker.get(`/payout-files/${json.id}`)
const codesOf = ({ json }: Answer): string[] => json.items.map(({ code }: { code: string }) => code)

function approve({ json }: Answer, digest = json.digest): Promise<Answer> {
  return checker.post(`/payout-files/${json.id}/approve`, { digest, code: checker.code() })
}

function download({ json }: Answer): Promise<Answer> {
  const body = { reason: 'to bring it to the bank', code: maker.code() }
  return maker.post(`/payout-files/${json.id}/export`, body)
}

function proposeTakeOut({ json }: Answer, codes: string[], more: object = {}): Promise<Answer> {
  const body = { codes, may_try_another: false, reason: 'a wrong payee', ...more }
  return maker.post(`/payout-files/${json.id}/take-out`, { ...body, code: maker.code() })
}

function proposeAbandon({ json }: Answer, more: object = {}): Promise<Answer> {
  const body = { evidence: 'the bank has no such file', reason: 'forgotten on a desk', ...more }
  return maker.post(`/payout-files/${json.id}/abandon`, { ...body, code: maker.code() })
}

/** Another person than who downloaded it says that the bank has it. */
function sent({ json }: Answer): Promise<Answer> {
  const body = { bank_reference: 'of the bank', code: checker.code() }
  return checker.post(`/payout-files/${json.id}/sent`, body)
}

/** Has another person say yes to what was proposed. Returns what became of it. */
async function yes({ status, text, json }: Answer, by = checker): Promise<Answer> {
  expect(status, text).toBe(202)
  const { digest } = (await by.get(`/approvals/${json.proposal}`)).json
  return by.post(`/approvals/${json.proposal}/approve`, { digest, code: by.code() })
}

/** A sealed file of these amounts. */
async function sealed(account: PayingAccount, ...amounts: number[]) {
  const ids = await withdrawals(s, agent, account, ...amounts)
  const file = await approve(await draft(account))
  expect(file.json?.state, file.text).toBe('approved')
  return { ids, file, codes: codesOf(file) }
}

/** Rows that the books have for an order, and its callbacks. */
async function traces(txnId: string) {
  const { orderId } = parseTxnId(txnId) ?? {}
  const { rows: journal } = await s.sql('select event from journal where order_id = $1', [orderId])
  const { rows: callbacks } = await s.sql('select 1 from callbacks where order_id = $1', [orderId])
  return { journal: journal.length, callbacks: callbacks.length }
}

it('two people take a payout out of a sealed file; what is left is approved and sealed anew', async () => {
  const account = await payingAccount(s)
  const before = await agent.balance()
  const { ids, file, codes } = await sealed(account, 100, 200, 300)
  const [, second = ''] = codes
  const proposed = await proposeTakeOut(file, [second])
  expect((await yes(proposed, maker)).json.code).toBe('same_person')
  expect((await look(file)).json).toMatchObject({
    state: 'approved',
    proposals: [{ id: proposed.json.proposal, action: 'take_out_payouts', by: maker.email }],
  })
  expect((await yes(proposed)).json).toMatchObject({ state: 'done' })
  const rest = await look(file)
  expect(rest.json).toMatchObject({
    state: 'draft',
    count: 2,
    sum: 400,
    sealed: null,
    proposals: [],
    ends: [{ how: 'taken_out', count: 1, proposal: proposed.json.proposal }],
  })
  await expect.poll(() => status(ids[1] ?? '')).toBe('FAILED')
  expect(await agent.balance()).toBe(before - 400 - 10)
  expect(await traces(ids[1] ?? '')).toEqual({ journal: 2, callbacks: 1 })
  await expect
    .poll(async () => statesOf(await look(file)))
    .toEqual(['waiting', 'rejected', 'waiting'])
  expect((await download(rest)).status).toBe(409)
  expect((await approve(rest, file.json.digest)).json.code).toBe('digest_changed')
  const again = await approve(rest)
  expect(again.json).toMatchObject({ state: 'approved', count: 2 })
  expect(again.json.sealed.message_id).not.toBe(file.json.sealed.message_id)
  expect(again.json.sealed.sha256).not.toBe(file.json.sealed.sha256)
  const { text } = await download(again)
  expect(text).toContain('<CtrlSum>400.00</CtrlSum>')
  expect(text).not.toContain(second)
  // Now it may be at the bank.
  const late = await proposeTakeOut(again, [codes[0] ?? ''])
  expect(late.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(late.json.detail).toContain('Somebody has downloaded the file')
  // The bank's answer is about what it has.
  const { message_id } = again.json.sealed
  const content = Buffer.from(pain002(message_id, { group: 'ACSC' })).toString('base64')
  const answered = await maker.post(`/payout-files/${file.json.id}/status`, { content })
  expect(answered.json).toMatchObject({ paid: 2, breaks: [], state: 'closed' })
  expect(await Promise.all(ids.map((id) => status(id)))).toEqual(['PAID', 'FAILED', 'PAID'])
})

it('what was proposed is not done once the file is downloaded, or another was faster', async () => {
  const account = await payingAccount(s)
  const { file, codes } = await sealed(account, 101, 102, 103)
  const [one = '', two = '', three = ''] = codes
  const first = await proposeTakeOut(file, [one])
  const second = await proposeTakeOut(file, [two])
  expect((await yes(first)).json.state).toBe('done')
  expect((await yes(second)).json).toMatchObject({
    state: 'refused',
    problem: { code: 'changed_meanwhile' },
  })
  const third = await proposeTakeOut(await look(file), [three])
  const again = await approve(await look(file))
  expect((await download(again)).status).toBe(200)
  expect((await yes(third)).json).toMatchObject({ state: 'refused' })
  expect(statesOf(await look(file)).slice(1)).toEqual(['waiting', 'waiting'])
})

it('one stopped agent holds up a sealed file no longer than until its payouts are taken out', async () => {
  const account = await payingAccount(s)
  const other = await newAgent()
  await withdrawals(s, agent, account, 110)
  const [theirs = ''] = await withdrawals(s, other, account, 120)
  const file = await approve(await draft(account))
  await s.sql(
    `insert into stops (agent_id, stop_id, deposits, stopped_by, reason, stopped_at)
     values ($1, gen_random_uuid(), false, 'a person', 'a test', now())`,
    [other.agentId],
  )
  expect((await download(file)).json.detail).toBe(`Agent ${other.agentId} is stopped.`)
  const [, code = ''] = codesOf(file)
  expect((await yes(await proposeTakeOut(file, [code]))).json.state).toBe('done')
  const rest = await approve(await look(file))
  expect((await download(rest)).status, rest.text).toBe(200)
  expect(await status(theirs, other)).toBe('FAILED')
  await s.sql('delete from stops where agent_id = $1', [other.agentId])
})

it('a file of which all is taken out is cancelled, and no byte of it leaves', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await sealed(account, 130, 140)
  expect((await yes(await proposeTakeOut(file, codes))).json.state).toBe('done')
  expect((await look(file)).json.state).toBe('cancelled')
  expect((await download(file)).status).toBe(409)
  await expect.poll(() => Promise.all(ids.map((id) => status(id)))).toEqual(['FAILED', 'FAILED'])
  // What failed comes into no file again.
  expect((await draft(account)).json.code).toBe('invalid_transition')
})

it('what is taken out goes to the next provider if the two people say so, and is paid once', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await sealed(account, 150, 160)
  const [id = ''] = ids
  const proposed = await proposeTakeOut(file, codes.slice(0, 1), { may_try_another: true })
  expect((await yes(proposed)).json.state).toBe('done')
  expect(await status(id)).toBe('WAITING')
  const { desk } = s.service
  const errors: unknown[] = []
  const runner = new PayoutRunner(desk, 4, (error) => errors.push(error))
  const passOn = (...given: Parameters<PayoutRunner['take']>) => runner.take(...given)
  const passing = { passOn, untilMs: new Map() }
  await endItems(desk, 'all', (error) => errors.push(error), passing)
  await expect
    .poll(
      async () =>
        (
          await s.sql('select provider from payouts where order_id = $1 order by attempt', [
            parseTxnId(id)?.orderId,
          ])
        ).rows,
    )
    .toEqual([{ provider: account.name }, { provider: 'sandbox' }])
  await endItems(desk, 'all', (error) => errors.push(error), passing)
  expect(statesOf(await look(file))).toEqual(['rejected', 'waiting'])
  await runner.stop()
  expect(errors).toEqual([])
  expect((await approve(await look(file))).json).toMatchObject({ state: 'approved', count: 1 })
})

/** The person as the service knows them when they act. */
async function person(client: OperatorClient, role: Operator['role']): Promise<Operator> {
  const { rows } = await s.sql('select user_id from users where email = $1', [client.email])
  const userId = BigInt(rows[0].user_id)
  return { userId, email: client.email, role, agentId: null, sessionId: randomUUID(), ip: '' }
}

it('whatever dies after the decision, the payout ends once', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await sealed(account, 170, 180)
  const { desk } = s.service
  const proposed = await proposeTakeOut(file, codes.slice(0, 1))
  const proposal = await findProposal(desk.pool, proposed.json.proposal)
  if (!proposal) throw new Error('nothing was proposed')
  await decide(desk.pool, proposal, await person(checker, 'admin'), proposal.digest, s.clock())
  const operator = {
    ...(await person(maker, 'operator')),
    proposal: {
      id: proposal.proposalId,
      again: false,
      byCommandLine: false,
      seal: () => Buffer.alloc(0),
    },
  }
  const named = { account: account.name, fileId: file.json.id as string }
  const asked = { codes: codes.slice(0, 1), mayTryAnother: false, reason: 'a wrong payee' }
  await takeOut(desk, named, asked, operator)
  // Its money is held until the bytes that have it are certain never to leave, and no longer.
  await expect(takeOut(desk, named, asked, operator)).rejects.toThrow('no payout')
  const errors: unknown[] = []
  for (let after = 0; after < 40; after++) {
    let left = after
    const step = <T>(act: () => T): T => {
      if (left-- <= 0) throw new Error('killed')
      return act()
    }
    const pool = new Proxy(desk.pool, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (key !== 'query' && key !== 'connect') return value
        return (...given: unknown[]) => step(() => Reflect.apply(value, target, given))
      },
    })
    const teller: typeof desk.teller = { do: (command) => step(() => desk.teller.do(command)) }
    const dying = { ...desk, pool, teller }
    await endItems(dying, named, (error) => errors.push(error)).catch((error) => errors.push(error))
    if (statesOf(await look(file))[0] === 'rejected') break
  }
  expect(errors.length).toBeGreaterThan(0)
  expect(statesOf(await look(file))).toEqual(['rejected', 'waiting'])
  expect(await traces(ids[0] ?? '')).toEqual({ journal: 2, callbacks: 1 })
})

it('of a take-out and the first download at once one happens: never a byte of what was released', async () => {
  const account = await payingAccount(s)
  const seen = new Set<string>()
  for (let round = 0; round < 8; round++) {
    const { ids, file, codes } = await sealed(account, 190 + round)
    const [code = ''] = codes
    const proposed = await proposeTakeOut(file, [code])
    const { digest } = (await checker.get(`/approvals/${proposed.json.proposal}`)).json
    const answer = checker.code()
    const body = { reason: 'to bring it to the bank', code: maker.code() }
    const [decided, taken] = await Promise.all([
      checker.post(`/approvals/${proposed.json.proposal}/approve`, { digest, code: answer }),
      maker.post(`/payout-files/${file.json.id}/export`, body),
    ])
    const isOut = decided.json.state === 'done'
    seen.add(isOut ? 'taken out' : 'downloaded')
    expect(taken.status).toBe(isOut ? 409 : 200)
    await expect.poll(() => status(ids[0] ?? '')).toBe(isOut ? 'FAILED' : 'WAITING')
  }
  expect(seen.size).toBeGreaterThan(0)
})

it('the database keeps a downloaded file in its round, and one person from ending a payout', async () => {
  const account = await payingAccount(s)
  const { file } = await sealed(account, 205)
  expect((await download(file)).status).toBe(200)
  const service = s.backend.pool
  const own = [file.json.id]
  await expect(
    service.query('update sluice.payout_files set round = round + 1 where file_id = $1', own),
  ).rejects.toThrow('payout_file_downloads_of_last_round')
  await expect(
    service.query(
      `insert into sluice.payout_item_ends select account, file_id, n, 'taken_out', 1, false,
         gen_random_uuid(), 'take_out_payouts', replace(file_id::text, '-', ''), 'approved',
         'by nobody', now() from sluice.payout_items where file_id = $1`,
      own,
    ),
  ).rejects.toThrow(/payout_item_ends_(by_two|as_asked)/)
  for (const table of ['payout_item_ends', 'payout_file_reseals']) {
    await expect(service.query(`delete from sluice.${table}`)).rejects.toThrow('permission denied')
    await expect(service.query(`update sluice.${table} set at = at`)).rejects.toThrow(
      'permission denied',
    )
  }
})

/** People sign in again after days have passed. */
async function daysLater(days: number): Promise<void> {
  s.clock.advance(days * dayMs)
  maker = await maker.signInAgain()
  checker = await checker.signInAgain()
}

it('a file whose day is over is sealed for a later one, if another person approves it again', async () => {
  const account = await payingAccount(s)
  const { ids, file } = await sealed(account, 210, 220)
  const reseal = ({ json }: Answer) =>
    maker.post(`/payout-files/${json.id}/reseal`, { reason: 'it was late', code: maker.code() })
  const early = await reseal(file)
  expect(early.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(early.json.detail).toContain(file.json.sealed.execution_date)
  await daysLater(7)
  expect((await look(file)).json.sealed).toMatchObject({ is_over: true })
  const late = await download(file)
  expect(late.json.detail).toContain('have it sealed again')
  const waiting = await reseal(file)
  expect(waiting.json).toMatchObject({ state: 'draft', count: 2, sealed: null })
  expect(waiting.json.digest).not.toBe(file.json.digest)
  expect((await download(file)).status).toBe(409)
  const again = await approve(waiting)
  expect(again.json.sealed.execution_date > file.json.sealed.execution_date).toBe(true)
  expect(again.json.sealed.message_id).not.toBe(file.json.sealed.message_id)
  expect((await reseal(again)).status).toBe(409)
  const { text } = await download(again)
  expect(text).toContain(again.json.sealed.execution_date)
  expect((await reseal(again)).status).toBe(409)
  expect(await Promise.all(ids.map((id) => status(id)))).toEqual(['WAITING', 'WAITING'])
})

const dayAfter = (day: string): string =>
  new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)

/** Statements of days on which nothing moved. */
async function quietDays(account: PayingAccount, first: string, last: string, balance = '900.00') {
  const days: string[] = []
  for (let day = first; day <= last; day = dayAfter(day)) days.push(day)
  const quiet = { opening: balance, closing: balance, lines: [] }
  await importFile(s, account, camt(...days.map((day) => ({ ...account, day, ...quiet }))))
}

/** The database was restored from a backup of the day before, and somebody says so now. */
async function restored(): Promise<void> {
  await s.sql(
    `insert into restores (restore_id, since, marked_by, marker, marked_at)
     values ($1, $2, 0, 'command line', $3)`,
    [randomUUID(), new Date(s.clock().getTime() - dayMs), s.clock()],
  )
}

/** Says of every account that it has caught up. */
const released = () =>
  s.sql(
    `insert into payout_lock_releases (account, restore_id, how, released_by, releaser, evidence, released_at)
     select b.name, r.restore_id, 'two_people', 1, 'a test', 'a test', now()
     from bank_accounts b, restores r on conflict do nothing`,
  )

it('a statement that came before its day was over tells nothing of that day', async () => {
  const account = await payingAccount(s)
  const { file } = await sealed(account, 221)
  expect((await download(file)).status).toBe(200)
  const first = dayAt(s.clock())
  await daysLater(14)
  const last = dayAt(s.clock())
  // Its last day is not over, so of this file nothing is believed but the days before.
  await quietDays(account, last, last)
  await quietDays(account, first, dayAt(new Date(s.clock().getTime() - dayMs)))
  const told = await wholeDays(s.backend.pool, account.account, first)
  expect(told.at(-1)?.toDay).toBe(dayAt(new Date(s.clock().getTime() - dayMs)))
  const pending = await s.sql(
    'update bank_accounts set confirmed_at = null, confirmed_by = null where name = $1',
    [account.name],
  )
  expect(pending.rowCount).toBe(1)
  expect((await proposeAbandon(file)).json.detail).toContain('nobody has confirmed')
  await s.sql(
    `update bank_accounts set confirmed_at = now(), confirmed_by = 'another' where name = $1`,
    [account.name],
  )
  expect((await proposeAbandon(file)).status).toBe(202)
})

it('one page of a statement tells nothing of its day until all of them are there', async () => {
  const account = await payingAccount(s)
  const day = dayAt(s.clock())
  await daysLater(2)
  const told = () => wholeDays(s.backend.pool, account.account, day)
  const balance = `C${day.slice(2).replaceAll('-', '')}THB900,00`
  const page = (no: number, opens: string, closes: string) =>
    Buffer.from(
      `:20:S1\r\n:25:${account.account.accountNo}\r\n:28C:7/${no}\r\n:${opens}:${balance}\r\n:${closes}:${balance}\r\n-\r\n`,
    )
  await importFile(s, account, page(1, '60F', '62M'))
  expect(await told()).toEqual([])
  await importFile(s, account, page(3, '60M', '62F'))
  expect(await told()).toEqual([])
  await importFile(s, account, page(2, '60M', '62M'))
  expect(await told()).toEqual([{ fromDay: day, toDay: day }])
  // Without a closing balance nobody knows where its day ends.
  const open = await payingAccount(s)
  await importFile(s, open, camt({ ...open, day, opening: '900.00', lines: [] }))
  expect(await wholeDays(s.backend.pool, open.account, day)).toEqual([])
})

it('while a restore locks an account nothing is taken out, sealed again, given up, cancelled or paid otherwise', async () => {
  const account = await payingAccount(s)
  const sealedOne = await sealed(account, 222)
  const brought = await sealed(account, 223)
  expect((await download(brought.file)).status).toBe(200)
  const first = dayAt(s.clock())
  const [waits = ''] = await withdrawals(s, agent, account, 224)
  await daysLater(14)
  await quietDays(account, first, dayAt(new Date(s.clock().getTime() - dayMs)))
  // It could be given up, and be taken out, if the backup had forgotten nothing.
  const proposed = await proposeTakeOut(sealedOne.file, sealedOne.codes)
  const abandoned = await proposeAbandon(brought.file)
  expect([proposed.status, abandoned.status]).toEqual([202, 202])
  await restored()
  try {
    for (const each of [proposed, abandoned]) {
      const done = (await yes(each)).json
      expect(done).toMatchObject({ state: 'refused', problem: { code: 'invalid_transition' } })
      expect(done.problem.detail).toContain('restored from a backup')
    }
    const reason = { reason: 'it was late', code: maker.code() }
    const reseal = await maker.post(`/payout-files/${sealedOne.file.json.id}/reseal`, reason)
    expect(reseal.json.detail).toContain('restored from a backup')
    const cancelled = await agent.post(`/payment/orders/${waits}/cancel`, {})
    expect(cancelled.json).toMatchObject({ status: 409, code: 'order_not_cancellable' })
    expect(cancelled.json.detail).toContain('restored from a backup')
    const { desk } = s.service
    const { agentId = 0n, orderId = '' } = parseTxnId(waits) ?? {}
    const order = await findOrder(desk.pool, agentId, orderId)
    const other = desk.providers.find('sandbox')
    if (!order || !other) throw new Error('nothing waits')
    expect(await handOver(desk, order, other)).toBeUndefined()
    // What came after the restore is known to be new.
    const [later = ''] = await withdrawals(s, agent, account, 225)
    expect((await agent.post(`/payment/orders/${later}/cancel`, {})).json.status).toBe('CANCEL')
    await released()
    // The lock is open, but who had the file when the backup was put back may have brought it since.
    expect((await proposeAbandon(brought.file)).json.detail).toContain('wait until that is over')
    const out = await yes(await proposeTakeOut(sealedOne.file, sealedOne.codes))
    expect(out.json.state).toBe('done')
    expect((await agent.post(`/payment/orders/${waits}/cancel`, {})).json.status).toBe('CANCEL')
  } finally {
    // An account that is made later may be one that was lost, so the lock would be for those of the other tests too.
    await s.sql('delete from payout_lock_releases; delete from restores')
  }
})

it('a payout of a file is not marked as failed, even if its account pays by files no more', async () => {
  const account = await payingAccount(s)
  const { ids } = await sealed(account, 226)
  await s.sql(`update bank_accounts set payout = 'none', version = version + 1 where name = $1`, [
    account.name,
  ])
  await routed(s, account.name)
  const { desk } = s.service
  expect(desk.providers.find(account.name)?.paysByFile).not.toBe(true)
  const { agentId = 0n, orderId = '' } = parseTxnId(ids[0] ?? '') ?? {}
  const order = await findOrder(desk.pool, agentId, orderId)
  const attempts = await payoutsOfOrder(desk.pool, agentId, orderId)
  if (!order) throw new Error('there is no order')
  await expect(resolvePayout(desk, order, attempts, 'failed', 'a guess')).rejects.toThrow(
    'It is in a payout file',
  )
})

it('a change of holidays, cut-offs or zone takes another person', async () => {
  const { account } = await payingAccount(s)
  for (const change of [
    { payoutHolidays: '2026-12-31' },
    { payoutCutoffs: '09:00' },
    { zone: 'America/Bogota' },
  ]) {
    const before = await findBankAccount(s.backend.pool, account.name)
    if (!before) throw new Error('there is no account')
    const by = { name: 'one person', at: s.clock(), confirmedBy: null, newSecret: false }
    const terms = { ...before, ...change }
    await updateBankAccount(s.backend.pool, s.backend.secretKeys, before, terms, by)
    const after = await findBankAccount(s.backend.pool, account.name)
    expect(after).toMatchObject({ ...change, confirmedAt: null, changedBy: 'one person' })
  }
})

it('a file that was never brought is given up by two people, once statements show that the bank paid nothing', async () => {
  const account = await payingAccount(s)
  const before = await agent.balance()
  const { ids, file, codes } = await sealed(account, 230, 240)
  const nobody = await proposeAbandon(file)
  expect(nobody.json.detail).toContain('Nobody has downloaded it')
  expect((await download(file)).status).toBe(200)
  const first = dayAt(s.clock())
  expect((await proposeAbandon(file)).json).toMatchObject({ status: 409 })
  expect((await proposeAbandon(file)).json.detail).toContain('wait until that is over')
  await daysLater(7)
  // Whoever gets it again may bring it now.
  expect((await download(file)).status).toBe(200)
  expect((await proposeAbandon(file)).json.detail).toContain('wait until that is over')
  await daysLater(7)
  const last = dayAt(new Date(s.clock().getTime() - dayMs))
  expect((await proposeAbandon(file)).json.detail).toContain('Statements of')
  const statement = (
    day: string,
    opening: string,
    closing: string,
    ...lines: { amount: string }[]
  ) => importFile(s, account, camt({ ...account, day, opening, closing, lines }))
  await statement(first, '1000.00', '950.00', { amount: '-50.00' })
  // Balances that fit say nothing of the days between: an account may be swept every night.
  await statement(last, '950.00', '950.00')
  const gap = (await proposeAbandon(file)).json.detail
  expect(gap).toContain('are missing')
  expect(gap.split('. ')[0]).not.toContain(first)
  expect(gap).toContain('nobody has explained')
  await quietDays(account, dayAfter(first), last, '950.00')
  const { json: movements } = await maker.get(`/bank-accounts/${account.name}/movements`)
  const [rent] = movements.data
  const explained = await checker.post(
    `/bank-accounts/${account.name}/movements/${rent.id}/explain`,
    { as: 'bank_fee', reason: 'the fee of the year', code: checker.code() },
  )
  expect(explained.status, explained.text).toBe(200)
  const proposed = await proposeAbandon(file)
  expect((await yes(proposed, maker)).json.code).toBe('same_person')
  expect((await yes(proposed)).json.state).toBe('done')
  await expect.poll(() => Promise.all(ids.map((id) => status(id)))).toEqual(['FAILED', 'FAILED'])
  expect(await agent.balance()).toBe(before)
  expect(await traces(ids[0] ?? '')).toEqual({ journal: 2, callbacks: 1 })
  await expect.poll(async () => (await look(file)).json.state).toBe('closed')
  expect((await download(file)).status).toBe(409)

  // The bank pays one of them after all.
  const today = dayAt(s.clock())
  const lines = [{ amount: '-230.00', endToEndId: codes[0] ?? '' }]
  await importFile(s, account, camt({ ...account, day: today, lines }))
  const { rows } = await s.sql('select kind from open_items where closed_at is null')
  expect(rows).toEqual([{ kind: 'paid_after_failed' }])
  const { userId } = await person(checker, 'admin')
  const alarms = (await alarmsFor(s.backend.pool, userId)).map(({ words }) => words)
  expect(alarms.filter((words) => words.includes(codes[0] ?? '-'))).toHaveLength(1)
  expect((await checker.get('/home')).json.payout_alarms).toEqual([
    expect.objectContaining({
      ...{ kind: 'paid_after_failed', account: account.name, place: 'open_item', count: 1 },
    }),
  ])
  expect((await payoutAlarms(s.backend.pool)).map(({ topic }) => topic)).toEqual([
    `paid_after_failed ${account.name}`,
  ])
  expect(await status(ids[0] ?? '')).toBe('FAILED')
})

it('the debit of a whole file that was given up is told, not left unexplained', async () => {
  const account = await payingAccount(s)
  const { file, codes } = await sealed(account, 250, 260)
  expect((await download(file)).status).toBe(200)
  const first = dayAt(s.clock())
  await daysLater(14)
  const last = dayAt(new Date(s.clock().getTime() - dayMs))
  await quietDays(account, first, last)
  expect((await yes(await proposeAbandon(file))).json.state).toBe('done')
  const batchId = file.json.sealed.message_id
  const lines = [{ amount: '-510.00', batchCount: 2, batchId }]
  await importFile(s, account, camt({ ...account, day: dayAt(s.clock()), lines }))
  const { rows } = await s.sql(
    `select reference, kind from open_items where reference = any($1) order by reference`,
    [codes],
  )
  expect(rows).toEqual(
    [...codes].sort().map((reference) => ({ reference, kind: 'paid_after_failed' })),
  )
  const { userId } = await person(checker, 'admin')
  const alarms = (await alarmsFor(s.backend.pool, userId)).map(({ words }) => words)
  expect(alarms.filter((words) => codes.every((code) => words.includes(code)))).toHaveLength(1)
})

/** Brings what the bank answered. */
function bring({ json }: Answer, said: Parameters<typeof pain002>[1]): Promise<Answer> {
  const content = Buffer.from(pain002(json.sealed.message_id, said)).toString('base64')
  return maker.post(`/payout-files/${json.id}/status`, { content })
}

it('what the bank took and does not pay is ended by two people, by its code, and the rest by the debit', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await sealed(account, 271, 272, 273)
  await download(file)
  const first = dayAt(s.clock())
  // No cover, or a wrong debtor: the bank takes the file, and refuses all of it afterwards.
  await bring(file, { group: 'ACCP' })
  await bring(file, { group: 'RJCT', reason: 'AC04' })
  expect(statesOf(await look(file))).toEqual(['unknown', 'unknown', 'unknown'])
  expect((await proposeAbandon(file)).json.detail).toContain('wait until that is over')
  await daysLater(14)
  const last = dayAt(new Date(s.clock().getTime() - dayMs))
  // It has paid two of the three in one sum, which fits nothing while the third is open.
  const batchId = file.json.sealed.message_id
  const lines = [{ amount: '-543.00', batchCount: 2, batchId }]
  await importFile(
    s,
    account,
    camt({ ...account, day: first, opening: '1443.00', closing: '900.00', lines }),
  )
  await quietDays(account, dayAfter(first), last)
  expect((await proposeAbandon(file)).json.detail).toContain(`names ${batchId}`)
  const not = (named: string[]) => proposeAbandon(file, { codes: named })
  expect((await not(codes.slice(1))).json.detail).toContain(`names ${batchId}`)
  expect((await not(['0'.repeat(13)])).json.code).toBe('changed_meanwhile')
  const [, , third = ''] = codes
  expect((await yes(await not([third]))).json.state).toBe('done')
  await expect.poll(() => status(ids[2] ?? '')).toBe('FAILED')
  expect(await traces(ids[2] ?? '')).toEqual({ journal: 2, callbacks: 1 })
  await bookFileSums(s.service.desk, (error) => {
    throw error
  })
  await expect
    .poll(() => Promise.all(ids.map((id) => status(id))))
    .toEqual(['PAID', 'PAID', 'FAILED'])
  // The file is closed after the last of its orders has ended.
  await expect
    .poll(async () => (await look(file)).json)
    .toMatchObject({ state: 'closed', ends: [{ how: 'abandoned' }] })
  expect((await proposeAbandon(file)).json.detail).toContain('Every payout of it has ended')
})

it('a debit of the same amount as the others is not believed to be theirs unless it names the file, once', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await sealed(account, 110, 220, 330)
  await download(file)
  expect((await sent(file)).status).toBe(200)
  const twins = await sealed(account, 115, 115)
  await download(twins.file)
  const first = dayAt(s.clock())
  await daysLater(14)
  const last = dayAt(new Date(s.clock().getTime() - dayMs))
  // The bank has paid the third alone, which makes the sum of the other two, and both twins, each by itself.
  const lines = [{ amount: '-330.00' }, { amount: '-115.00' }, { amount: '-115.00' }]
  await importFile(
    s,
    account,
    camt({ ...account, day: first, opening: '1460.00', closing: '900.00', lines }),
  )
  await quietDays(account, dayAfter(first), last)
  for (const [of, code] of [
    [file, codes[2]],
    [twins.file, twins.codes[0]],
  ] as const) {
    const refused = await proposeAbandon(of, { codes: [code] })
    expect(refused.status, refused.text).toBe(409)
    expect(refused.json.detail.match(/nobody has explained/g)).toHaveLength(3)
  }
  // Ended by its code before the debit came: an amount does not make the others paid either.
  const { json: movements } = await maker.get(`/bank-accounts/${account.name}/movements`)
  for (const { id } of movements.data) {
    const explained = await checker.post(`/bank-accounts/${account.name}/movements/${id}/explain`, {
      as: 'bank_fee',
      reason: 'a guess',
      code: checker.code(),
    })
    expect(explained.status, explained.text).toBe(200)
  }
  expect((await yes(await proposeAbandon(file, { codes: [codes[2]] }))).json.state).toBe('done')
  await expect.poll(() => status(ids[2] ?? '')).toBe('FAILED')
  await importFile(
    s,
    account,
    camt({ ...account, day: file.json.sealed.execution_date, lines: [{ amount: '-330.00' }] }),
  )
  expect(await Promise.all(ids.map((id) => status(id)))).toEqual(['WAITING', 'WAITING', 'FAILED'])
  // What the bank does not pay of a file does not keep anybody from saying that it has the others.
  const twin = await proposeAbandon(twins.file, { codes: [twins.codes[0]] })
  expect((await yes(twin)).json.state).toBe('done')
  expect((await sent(twins.file)).json.state).toBe('sent')
  expect((await download(twins.file)).status).toBe(409)
})

it('a file that the bank speaks of although nobody has had it is given up by two people, and stays here', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await sealed(account, 410, 420)
  const { message_id } = file.json.sealed
  const bytes = Buffer.from(pain002(message_id, { group: 'ACCP' }))
  const bank = { userId: null, email: 'the bank', ip: null }
  await takeBankAnswer(s.service.desk, account.name, message_id, bytes, bank)
  expect((await proposeTakeOut(file, codes)).status).toBe(409)
  expect((await proposeAbandon(file)).json.detail).toContain('wait until that is over')
  const first = dayAt(s.clock())
  await daysLater(14)
  await quietDays(account, first, dayAt(new Date(s.clock().getTime() - dayMs)))
  expect((await yes(await proposeAbandon(file))).json.state).toBe('done')
  await expect.poll(() => Promise.all(ids.map((id) => status(id)))).toEqual(['FAILED', 'FAILED'])
  expect((await download(file)).status).toBe(409)
})

it('a statement that does not say how it began tells of its day only with the one before', async () => {
  const account = await payingAccount(s)
  const day = dayAt(s.clock())
  const next = dayAfter(day)
  await daysLater(3)
  const told = async () =>
    (await wholeDays(s.backend.pool, account.account, day)).map(({ toDay }) => toDay)
  // It may lack the very debit.
  await importFile(s, account, camt({ ...account, day: next, closing: '900.00', lines: [] }))
  expect(await told()).toEqual([])
  const before = camt({ ...account, day, opening: '950.00', closing: '950.00', lines: [] })
  await importFile(s, account, before)
  expect(await told()).toEqual([day])
  const lines = [{ amount: '-50.00' }]
  await importFile(s, account, camt({ ...account, day: next, closing: '900.00', lines }))
  expect(await told()).toEqual([day, next])
})

it('the bank’s word that it paid counts only where the account trusts it', async () => {
  const account = await payingAccount(s, { payoutTrustsPaid: false })
  const { ids, file, codes } = await sealed(account, 280)
  await download(file)
  const { message_id } = file.json.sealed
  const paid = pain002(message_id, { items: [{ code: codes[0] ?? '', status: 'ACSC' }] })
  const content = Buffer.from(paid).toString('base64')
  const answered = await maker.post(`/payout-files/${file.json.id}/status`, { content })
  expect(answered.json).toMatchObject({ paid: 0, accepted: 1 })
  expect(await status(ids[0] ?? '')).toBe('WAITING')
  const lines = [{ amount: '-280.00', endToEndId: codes[0] ?? '' }]
  await importFile(s, account, camt({ ...account, day: dayAt(s.clock()), lines }))
  expect(await status(ids[0] ?? '')).toBe('PAID')
})

it('an approval above what is left of the day’s ceiling is refused, whatever was drafted before', async () => {
  const account = await payingAccount(s)
  await withdrawals(s, agent, account, 300)
  const first = await draft(account)
  await withdrawals(s, agent, account, 310)
  const second = await draft(account)
  await s.sql('update bank_accounts set payout_day_limit = 50000 where name = $1', [account.name])
  const approved = await approve(first)
  expect(approved.status, approved.text).toBe(200)
  const refused = await approve(second)
  expect(refused.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(refused.json.detail).toContain('may pay 200 THB more')
  // What is taken out again leaves room.
  expect((await yes(await proposeTakeOut(approved, codesOf(approved)))).json.state).toBe('done')
  expect((await approve(second)).status).toBe(200)
})

it('a payee whom no format can carry is refused at the order, if nobody else can pay them', async () => {
  const account = await payingAccount(s, { payoutFormat: 'scb-mcl' })
  const bad = { amount: 100, bankCode: account.bank, accountName: '李小龍' }
  await s.sql(
    `insert into providers (name, state, updated_at) values ('sandbox', 'off', now())
     on conflict (name) do update set state = 'off'`,
  )
  try {
    await expect.poll(async () => (await agent.withdraw(bad)).status).toBe(422)
    const { json } = await agent.withdraw(bad)
    expect(json).toMatchObject({ code: 'invalid_request', errors: [{ field: 'accountName' }] })
  } finally {
    await s.sql(`delete from providers where name = 'sandbox'`)
  }
  await expect.poll(async () => (await agent.withdraw(bad)).status).toBe(201)
})

it('verify finds every lie about what people ended, and about what was sealed again', async () => {
  const account = await payingAccount(s)
  const { file, codes } = await sealed(account, 320, 330, 340)
  expect((await yes(await proposeTakeOut(file, codes.slice(0, 1)))).json.state).toBe('done')
  await expect.poll(async () => statesOf(await look(file))[0]).toBe('rejected')
  await approve(await look(file))
  await daysLater(7)
  await maker.post(`/payout-files/${file.json.id}/reseal`, {
    reason: 'it was late',
    code: maker.code(),
  })
  const again = await approve(await look(file))
  expect((await download(again)).status).toBe(200)
  const another = await sealed(account, 350)
  expect((await yes(await proposeTakeOut(another.file, another.codes))).json.state).toBe('done')
  const own = `file_id = '${file.json.id}'`
  const { rows: others } = await s.sql(
    `select proposal_id from proposal_decisions where verdict = 'approved' and proposal_id not in
       (select proposal_id from payout_item_ends where ${own}) limit 1`,
  )
  const lies: [table: string, change: string][] = [
    ['payout_item_ends', 'update payout_item_ends set n = 2'],
    ['payout_item_ends', `update payout_item_ends set how = 'abandoned'`],
    ['payout_item_ends', 'update payout_item_ends set round = 2'],
    ['payout_item_ends', 'update payout_item_ends set may_try_another = true'],
    ['payout_item_ends', `update payout_item_ends set reason = 'another reason'`],
    ['payout_item_ends', `update payout_item_ends set proposal_id = '${others[0].proposal_id}'`],
    ['payout_item_ends', 'delete from payout_item_ends'],
    ['payout_file_reseals', 'delete from payout_file_reseals'],
    ['payout_file_reseals', 'update payout_file_reseals set round = 1'],
    ['payout_file_seals', `update payout_file_seals set bytes = '\\x00'`],
    ['payout_file_seals', 'update payout_file_seals set execution_date = execution_date + 1'],
    ['payout_file_downloads', 'update payout_file_downloads set round = 1'],
    ['payout_files', `update payout_files set state = 'approved'`],
    ['payout_files', 'update payout_files set round = 2'],
  ]
  const found = () =>
    inSnapshot(s.backend.pool, (tx) => proveNextPayoutFile(tx, `${account.name} `))
  await found()
  await s.sql(
    'alter table payout_file_downloads drop constraint payout_file_downloads_of_last_round',
  )
  await s.sql(
    `alter table payout_item_ends drop constraint payout_item_ends_asked,
       drop constraint payout_item_ends_as_asked`,
  )
  for (const [table, change] of lies) {
    const which = table === 'payout_file_seals' ? `${own} and round = 1` : own
    await s.sql(`create table kept as select * from ${table} where ${which}`)
    await s.sql(`${change} where ${which}`)
    await expect(found(), change).rejects.toThrow(ProofFailure)
    await s.sql(
      table === 'payout_files'
        ? `update payout_files set (state, round) = (select state, round from kept) where ${own}`
        : `delete from ${table} where ${which}; insert into ${table} select * from kept`,
    )
    await s.sql('drop table kept')
  }
  await found()
})
