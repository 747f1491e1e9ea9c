import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { alarmsFor } from '../../src/approvals/alarms.ts'
import type { Pool } from '../../src/db/pool.ts'
import type { Operator } from '../../src/operators/operator.ts'
import { bookFileSums } from '../../src/payments/book-movement.ts'
import { draftPayoutFile } from '../../src/payout-files/draft-file.ts'
import { exportPayoutFile } from '../../src/payout-files/export-file.ts'
import { goForward, goForwardWithAll } from '../../src/payout-files/go-forward.ts'
import { payoutAlarms } from '../../src/payout-files/payout-alarms.ts'
import { findPayoutFile } from '../../src/payout-files/payout-file.ts'
import { takeStatusReport } from '../../src/payout-files/take-report.ts'
import { PayoutRunner } from '../../src/payouts/payout-runner.ts'
import { ProofFailure } from '../../src/proof/proof-failure.ts'
import { inSnapshot } from '../../src/proof/proof-snapshot.ts'
import { proveAccount } from '../../src/proof/prove-bank-account.ts'
import { proveNextPayoutFile } from '../../src/proof/prove-payout-files.ts'
import { saveProviderState } from '../../src/routing/providers.ts'
import { camt, dayAt, daysOf, importFile, movementsOf } from '../support/bank-accounts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import {
  goToMorning,
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
  goToMorning(s.clock)
  agent = await s.agent({ withdrawFee: '5', maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(1_000_000)
  maker = await signIn(s, 'operator')
  checker = await signIn(s, 'admin')
})
afterEach(() => s.prove())
afterAll(() => s.close())

const status = async (txnId: string) => (await agent.get(`/payment/orders/${txnId}`)).json.status

async function draft(account: PayingAccount, by = maker): Promise<Answer> {
  return by.post('/payout-files', { account: account.name })
}

function approve({ json }: Answer, by = checker, digest = json.digest): Promise<Answer> {
  return by.post(`/payout-files/${json.id}/approve`, { digest, code: by.code() })
}

function take({ json }: Answer, by = maker, reason = 'to bring it to the bank'): Promise<Answer> {
  return by.post(`/payout-files/${json.id}/export`, { reason, code: by.code() })
}

const look = ({ json }: Answer) => maker.get(`/payout-files/${json.id}`)

function bring({ json }: Answer, xml: string): Promise<Answer> {
  const content = Buffer.from(xml).toString('base64')
  return maker.post(`/payout-files/${json.id}/status`, { content })
}

/** A person brings the bank's refusal of a payout, and another confirms it. */
async function refuse(file: Answer, messageId: string, code: string): Promise<void> {
  const items = [{ code, status: 'RJCT', reason: 'AC04' }]
  const { proposal } = (await bring(file, pain002(messageId, { items }))).json
  const { digest } = (await checker.get(`/approvals/${proposal}`)).json
  await checker.post(`/approvals/${proposal}/approve`, { digest, code: checker.code() })
}

/** The words of the alarms about a file that an admin sees. */
async function alarmsAbout({ json }: Answer): Promise<string[]> {
  const { rows } = await s.sql('select user_id from users where email = $1', [checker.email])
  const alarms = await alarmsFor(s.backend.pool, BigInt(rows[0].user_id))
  return alarms.map(({ words }) => words).filter((words) => words.includes(json.id))
}

/** A file of these amounts that somebody has downloaded. */
async function exported(account: PayingAccount, ...amounts: number[]) {
  const ids = await withdrawals(s, agent, account, ...amounts)
  const file = await approve(await draft(account))
  expect(file.status).toBe(200)
  expect((await take(file)).status).toBe(200)
  const codes: string[] = file.json.items.map((item: { code: string }) => item.code)
  return { ids, file, codes, messageId: file.json.sealed.message_id as string }
}

it('what the command line drafts only an admin approves, and where money is real it does not let it go', async () => {
  const account = await payingAccount(s)
  await withdrawals(s, agent, account, 250)
  const by = { userId: null, email: 'command line', ip: null }
  const { fileId } = await draftPayoutFile(s.service.desk, account.account, by)
  const file = await maker.get(`/payout-files/${fileId}`)
  expect((await approve(file, maker)).json.code).toBe('not_permitted')
  expect((await approve(file, checker)).json.state).toBe('approved')
  // Whoever approved it may have a shell as well.
  const named = { account: account.name, fileId }
  await s.sql(`update deployment set mode = 'live'`)
  const alone = exportPayoutFile(s.service.desk, named, by, 'to bring it')
  await expect(alone).rejects.toMatchObject({ code: 'not_permitted' })
  await s.sql(`update deployment set mode = 'sandbox'`)
  expect((await take(file, checker)).json.code).toBe('same_person')
  expect((await take(file)).status).toBe(200)
  // Nor does the one who downloaded it say that the bank has it, under a login that they have reset.
  const { rows } = await s.sql('select user_id from users where email = $1', [maker.email])
  const other = await signIn(s, 'operator')
  await s.sql(
    `update user_credentials set reset_by = $2
     where user_id = (select user_id from users where email = $1)`,
    [other.email, rows[0].user_id],
  )
  const sent = await other.post(`/payout-files/${fileId}/sent`, {
    ...{ bank_reference: 'B-1', code: other.code() },
  })
  expect(sent.json).toMatchObject({ status: 403, code: 'same_person' })
})

it('a withdrawal goes out by a file that two people let go, and ends by what the bank says', async () => {
  const account = await payingAccount(s)
  const ids = await withdrawals(s, agent, account, 100, 200)
  const runner = new PayoutRunner(s.service.desk, 4, () => {})
  await runner.poll()
  await runner.stop()
  expect(await status(ids[0] ?? '')).toBe('WAITING')
  const drafted = await draft(account)
  expect(drafted.status).toBe(201)
  expect(drafted.json).toMatchObject({
    account: account.name,
    state: 'draft',
    count: 2,
    sum: 300,
    items: ids.map((txn_id, at) => ({
      txn_id,
      code: expect.stringMatching(/^SX[0-9A-Z]{11}$/),
      amount: (at + 1) * 100,
      state: 'waiting',
    })),
  })
  expect((await draft(account)).json.code).toBe('invalid_transition')
  expect((await approve(drafted, maker)).json).toMatchObject({ status: 403, code: 'same_person' })
  const other = '0'.repeat(64)
  expect((await approve(drafted, checker, other)).json).toMatchObject({
    status: 409,
    code: 'digest_changed',
  })
  expect((await take(drafted)).status).toBe(409)
  const approved = await approve(drafted)
  expect(approved.json).toMatchObject({ state: 'approved', digest: drafted.json.digest })
  expect((await agent.post(`/payment/orders/${ids[0]}/cancel`)).json.code).toBe(
    'order_not_cancellable',
  )
  expect((await approve(drafted)).json.code).toBe('already_decided')

  const first = await take(approved)
  expect(first.headers.get('content-type')).toContain('xml')
  expect(first.text).toContain('<CtrlSum>300.00</CtrlSum>')
  for (const { code } of approved.json.items) expect(first.text).toContain(code)
  expect((await take(approved, checker, 'it was lost')).text).toBe(first.text)
  expect((await look(approved)).json).toMatchObject({ state: 'exported' })
  expect((await look(approved)).json.downloads).toMatchObject([
    { by: maker.email },
    { by: checker.email, reason: 'it was lost' },
  ])
  const sent = (by: OperatorClient) =>
    by.post(`/payout-files/${approved.json.id}/sent`, { bank_reference: 'B-77', code: by.code() })
  expect((await sent(maker)).json.code).toBe('same_person')
  expect((await sent(checker)).json).toMatchObject({
    state: 'sent',
    sent: { bank_reference: 'B-77' },
  })
  const [one, two] = approved.json.items
  const accepted = pain002(approved.json.sealed.message_id, { group: 'ACCP' })
  expect((await bring(approved, accepted)).json).toMatchObject({
    accepted: 2,
    state: 'acknowledged',
  })
  const paid = pain002(approved.json.sealed.message_id, {
    items: [
      { code: one.code, status: 'ACSC' },
      { code: two.code, status: 'ACSC' },
    ],
  })
  expect((await bring(approved, paid)).json).toMatchObject({ paid: 2, state: 'closed' })
  expect(await Promise.all(ids.map(status))).toEqual(['PAID', 'PAID'])
})

it('nothing of a file leaves while somebody has stopped it, or would pay an order once more', async () => {
  const account = await payingAccount(s)
  const [id = '', other = ''] = await withdrawals(s, agent, account, 130, 140)
  const drafted = await draft(account)
  const stop = async (agentId: bigint) => {
    await s.sql(
      `insert into stops (agent_id, stop_id, deposits, stopped_by, reason, stopped_at)
       values ($1, gen_random_uuid(), false, 'a person', 'a test', now())`,
      [agentId],
    )
    return () => s.sql('delete from stops where agent_id = $1', [agentId])
  }
  const detail = async (answer: Promise<Answer>) => {
    const { status, json } = await answer
    return [status, json.detail]
  }
  const everything = await stop(0n)
  expect(await detail(approve(drafted))).toEqual([409, 'Everything is stopped.'])
  await everything()
  const approved = await approve(drafted)
  expect(approved.json.state).toBe('approved')
  const lift = await stop(agent.agentId)
  expect(await detail(take(approved))).toEqual([409, `Agent ${agent.agentId} is stopped.`])
  await lift()
  await s.sql(`insert into providers (name, state, updated_at) values ($1, 'off', now())`, [
    account.name,
  ])
  expect(await detail(take(approved))).toEqual([409, `${account.name} is switched off.`])
  await s.sql('delete from providers where name = $1', [account.name])
  // The file can still leave, so a person cannot say that the bank has paid.
  s.clock.advance(20 * 60_000)
  const paid = await checker.post(`/orders/${id}/mark-paid`, {
    evidence: 'statement 7',
    reason: 'paid by hand',
    code: checker.code(),
  })
  expect(paid.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(paid.json.detail).toContain('nobody has downloaded')
  const end = (status: string, at: Date | null) =>
    s.sql('update orders set status = $2, completed_at = $3 where order_id = $1', [
      ...[other.split('-')[1], status, at],
    ])
  await end('FAILED', s.clock())
  expect((await detail(take(approved)))[1]).toContain(`Order ${other} is FAILED already`)
  await end('WAITING', null)
  // The worker may have seen it meanwhile, and its item followed.
  await s.sql(`update payout_items set state = 'waiting' where order_id = $1`, [
    other.split('-')[1],
  ])
  const taken = await take(approved)
  expect([taken.status, taken.json?.detail]).toEqual([200, undefined])
  const refused = pain002(approved.json.sealed.message_id, {
    items: approved.json.items.map(({ code }: { code: string }) => ({
      code,
      status: 'RJCT',
      reason: 'AC04',
    })),
  })
  const { proposal } = (await bring(approved, refused)).json
  const { digest } = (await checker.get(`/approvals/${proposal}`)).json
  await checker.post(`/approvals/${proposal}/approve`, { digest, code: checker.code() })
  await expect.poll(async () => statesOf(await look(approved))).toEqual(['rejected', 'rejected'])
  expect((await take(approved)).status).toBe(409)
})

it('what an agent cancels drops out, and the shorter list is approved again', async () => {
  const account = await payingAccount(s)
  const [first = '', second = ''] = await withdrawals(s, agent, account, 110, 220)
  const drafted = await draft(account)
  expect((await agent.post(`/payment/orders/${first}/cancel`)).status).toBe(200)
  const shorter = await approve(drafted)
  expect(shorter.json).toMatchObject({ state: 'draft', count: 1, sum: 220, dropped: 1 })
  expect(shorter.json.digest).not.toBe(drafted.json.digest)
  expect((await take(shorter)).status).toBe(409)
  expect((await approve(shorter, checker, drafted.json.digest)).json.code).toBe('digest_changed')
  const cancel = { reason: 'not this one', code: maker.code() }
  expect((await maker.post(`/payout-files/${shorter.json.id}/cancel`, cancel)).status).toBe(409)
  const approved = await approve(shorter)
  expect(approved.json).toMatchObject({ state: 'approved', items: [{ txn_id: second }] })
  const { text } = await take(approved)
  expect(text).toContain('<NbOfTxs>1</NbOfTxs>')
  expect(await status(first)).toBe('CANCEL')
})

it('a draft of which everything was cancelled pays nothing, and another can be given up', async () => {
  const account = await payingAccount(s)
  const [only = ''] = await withdrawals(s, agent, account, 110)
  const drafted = await draft(account)
  await agent.post(`/payment/orders/${only}/cancel`)
  expect((await approve(drafted)).json.state).toBe('cancelled')
  await withdrawals(s, agent, account, 120)
  const again = await draft(account)
  const cancel = { reason: 'made too early', code: maker.code() }
  const given = await maker.post(`/payout-files/${again.json.id}/cancel`, cancel)
  expect(given.json.state).toBe('cancelled')
  expect((await draft(account)).json.count).toBe(1)
})

it('of two people who approve at once one does, and each payout is handed over once', async () => {
  const account = await payingAccount(s)
  await withdrawals(s, agent, account, 101, 102, 103)
  const drafted = await draft(account)
  const others = [checker, await signIn(s, 'admin'), await signIn(s, 'operator')]
  const answers = await Promise.all(others.map((each) => approve(drafted, each)))
  expect(answers.map((each) => each.status).sort()).toEqual([200, 409, 409])
  expect((await look(drafted)).json).toMatchObject({ state: 'approved', count: 3 })
})

it('an agent that cancels while the file is approved gets one or the other', async () => {
  const account = await payingAccount(s)
  const ids = await withdrawals(
    s,
    agent,
    account,
    ...Array.from({ length: 12 }, (_, at) => 200 + at),
  )
  const drafted = await draft(account)
  const [approved, ...cancels] = await Promise.all([
    approve(drafted),
    ...ids.map((each) => agent.post(`/payment/orders/${each}/cancel`)),
  ])
  const isCancelled = cancels.map((each) => each.status === 200)
  const left = ids.filter((_, at) => !isCancelled[at])
  await goForward(s.service.desk, { account: account.name, fileId: drafted.json.id })
  const { json } = await look(drafted)
  expect(approved.status).toBe(200)
  if (left.length > 0) {
    expect(json.items.map((item: { txn_id: string }) => item.txn_id)).toEqual(left)
  }
  expect(json.state).toBe(
    left.length === ids.length ? 'approved' : left.length === 0 ? 'cancelled' : 'draft',
  )
})

it('whatever dies during an approval, the file goes on, and pays each once', async () => {
  const account = await payingAccount(s)
  const ids = await withdrawals(s, agent, account, 310, 320, 330)
  const drafted = await draft(account)
  const named = { account: account.name, fileId: drafted.json.id as string }
  const { desk } = s.service
  /** A process that dies before its nth statement or command from the approval on. */
  const dying = (after: number) => {
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
    return { ...desk, pool, teller }
  }
  // The approval is on disk, and its process died at once.
  await s.sql(`update payout_files set state = 'draft' where file_id = $1`, [named.fileId])
  const { approvePayoutFile } = await import('../../src/payout-files/approve-file.ts')
  const { rows } = await s.sql('select user_id from users where email = $1', [checker.email])
  const who = { email: checker.email, role: 'admin', agentId: null, sessionId: '', ip: '' } as const
  await approvePayoutFile(desk, named, drafted.json.digest, {
    ...who,
    userId: BigInt(rows[0].user_id),
  })
  let deaths = 0
  for (let after = 0; after < 60; after++) {
    await goForward(dying(after), named).catch(() => deaths++)
    const { json } = await look(drafted)
    expect(['approving', 'approved']).toContain(json.state)
    expect(json.downloads).toEqual([])
    if (json.state === 'approved') break
  }
  expect(deaths).toBeGreaterThan(0)
  await goForwardWithAll(desk, (error) => {
    throw error
  })
  const { json } = await look(drafted)
  expect(json.state).toBe('approved')
  expect(json.items.map((item: { txn_id: string }) => item.txn_id)).toEqual(ids)
  const { rows: payouts } = await s.sql('select reference from payouts where provider = $1', [
    account.name,
  ])
  expect(payouts).toHaveLength(3)
})

it('the database refuses what the pages do not offer', async () => {
  const account = await payingAccount(s)
  const { file } = await exported(account, 140)
  const { id } = file.json
  const service = s.backend.pool
  for (const [table, column] of [
    ['payout_file_seals', 'bytes'],
    ['payout_file_approvals', 'approved_by'],
    ['payout_file_lists', 'digest'],
    ['payout_file_lines', 'amount'],
    ['payout_file_downloads', 'reason'],
  ]) {
    const change = service.query(`update sluice.${table} set ${column} = ${column}`)
    await expect(change).rejects.toThrow('permission denied')
    await expect(service.query(`delete from sluice.${table}`)).rejects.toThrow('permission denied')
  }
  const copy = s.sql(
    `insert into payout_file_approvals select account, file_id, round + 1, digest, made_by,
       maker_reset_by, made_by, 'the maker', 0, approved_at from payout_file_approvals
     where file_id = $1`,
    [id],
  )
  await expect(copy).rejects.toThrow(/payout_file_approvals_by_another|foreign key/)
})

it('a refusal that a person brings releases money when another person confirms it', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes, messageId } = await exported(account, 150, 160)
  const [bad = '', good = ''] = codes
  const said = pain002(messageId, {
    items: [
      { code: bad, status: 'RJCT', reason: 'AC04' },
      { code: good, status: 'ACSP' },
    ],
  })
  const taken = await bring(file, said)
  expect(taken.json).toMatchObject({ refused: 1, accepted: 1, breaks: [] })
  expect(await status(ids[0] ?? '')).toBe('WAITING')
  expect((await bring(file, said)).json).toMatchObject({
    repeated: true,
    proposal: taken.json.proposal,
  })
  const proposal = await checker.get(`/approvals/${taken.json.proposal}`)
  expect(proposal.status).toBe(200)
  const yes = (by: OperatorClient) =>
    by.post(`/approvals/${taken.json.proposal}/approve`, {
      digest: proposal.json.digest,
      code: by.code(),
    })
  expect((await yes(maker)).json.code).toBe('same_person')
  expect((await yes(checker)).status).toBe(200)
  await expect.poll(() => status(ids[0] ?? '')).toBe('FAILED')
  await expect.poll(async () => statesOf(await look(file))).toEqual(['rejected', 'accepted'])
  expect((await look(file)).json.items[0].said).toContain('AC04')

  // The bank books the refused one out and in: it stays failed, and both are explained.
  const day = dayAt(s.clock())
  const lines = [
    { amount: '-150.00', endToEndId: bad },
    { amount: '-160.00', endToEndId: good },
    { amount: '150.00', endToEndId: bad, isReturn: true },
  ]
  await importFile(
    s,
    account,
    camt({ ...account, day, opening: '1000.00', closing: '840.00', lines }),
  )
  expect((await movementsOf(s, account)).map(({ explainedBy }) => explainedBy).sort()).toEqual([
    'payout',
    'payout',
    'payout_returned',
  ])
  expect(await Promise.all(ids.map(status))).toEqual(['FAILED', 'PAID'])
  expect((await look(file)).json.state).toBe('closed')
  expect(await itemsOf(bad)).toEqual([])
  expect(await troublesAt(account)).toEqual([])
})

const itemsOf = async (reference: string) =>
  (await s.sql('select kind, provider_said from open_items where reference = $1', [reference])).rows

/** What the home page and the alerts say left an account against the books. */
const troublesAt = async ({ name }: PayingAccount) =>
  (await payoutAlarms(s.backend.pool)).filter(({ topic }) => topic.endsWith(name))

it('a refused payout that is booked out one day and in the next alarms until it is back', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes, messageId } = await exported(account, 151)
  const [code = ''] = codes
  await refuse(file, messageId, code)
  await expect.poll(() => status(ids[0] ?? '')).toBe('FAILED')
  const day = dayAt(s.clock())
  const out = [{ amount: '-151.00', endToEndId: code }]
  await importFile(s, account, camt({ ...account, day, lines: out }))
  expect(await itemsOf(code)).toEqual([{ kind: 'paid_after_failed', provider_said: 'PAID' }])
  expect(await troublesAt(account)).toHaveLength(1)
  const back = [{ amount: '151.00', endToEndId: code, isReturn: true }]
  await importFile(s, account, camt({ ...account, day, lines: back }))
  // A person closes it: it says that nobody owes anything, and not to charge the agent.
  expect(await itemsOf(code)).toEqual([{ kind: 'paid_after_failed', provider_said: 'REVERT' }])
  expect(await troublesAt(account)).toEqual([])
  expect(await status(ids[0] ?? '')).toBe('FAILED')
})

it('what the bank calls a duplicate is unknown, never failed, and every admin is alarmed', async () => {
  const account = await payingAccount(s)
  const { ids, file, messageId } = await exported(account, 170)
  await bring(file, pain002(messageId, { group: 'ACCP' }))
  const twice = await bring(file, pain002(messageId, { group: 'RJCT', reason: 'DU01' }))
  expect(twice.json).toMatchObject({ unknown: 1, refused: 0, proposal: null })
  expect(statesOf(await look(file))).toEqual(['unknown'])
  expect(await status(ids[0] ?? '')).toBe('WAITING')
  expect(await alarmsAbout(file)).toHaveLength(1)
})

it('a refusal of the whole file after it was taken is of a copy, and unknown stays unknown', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes, messageId } = await exported(account, 171, 172)
  const taken = pain002(messageId, { items: codes.map((code) => ({ code, status: 'ACSP' })) })
  await bring(file, taken)
  const copy = pain002(messageId, { group: 'RJCT', reason: 'AC04' })
  expect((await bring(file, copy)).json).toMatchObject({ unknown: 2, refused: 0, proposal: null })
  expect(statesOf(await look(file))).toEqual(['unknown', 'unknown'])
  await bring(file, taken)
  await bring(file, pain002(messageId, { group: 'ACCP' }))
  expect(statesOf(await look(file))).toEqual(['unknown', 'unknown'])
  await bring(file, copy)
  expect((await alarmsAbout(file)).filter((words) => words.includes('duplicates'))).toHaveLength(1)
  const [code = ''] = codes
  const single = pain002(messageId, { items: [{ code, status: 'RJCT', reason: 'AC04' }] })
  expect((await bring(file, single)).json).toMatchObject({ refused: 1, unknown: 0 })
  expect(await Promise.all(ids.map(status))).toEqual(['WAITING', 'WAITING'])
})

it('a payout that failed and that the bank has after all is an alarm and an open item', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes, messageId } = await exported(account, 173)
  const [code = ''] = codes
  const say = (status: string) =>
    bring(file, pain002(messageId, { items: [{ code, status, reason: 'AC04' }] }))
  const { proposal } = (await say('RJCT')).json
  const { digest } = (await checker.get(`/approvals/${proposal}`)).json
  await checker.post(`/approvals/${proposal}/approve`, { digest, code: checker.code() })
  await expect.poll(() => status(ids[0] ?? '')).toBe('FAILED')
  await say('ACSP')
  await say('ACSC')
  expect(await alarmsAbout(file)).toEqual([
    expect.stringContaining('paid_after_failed'),
    expect.stringContaining('paid_after_failed'),
  ])
  expect(await status(ids[0] ?? '')).toBe('FAILED')
  expect(statesOf(await look(file))).toEqual(['rejected'])
  const { rows } = await s.sql('select kind from open_items where reference = $1', [code])
  expect(rows).toEqual([{ kind: 'paid_after_failed' }])
})

it('where money is real, who downloaded a file does not make its payouts paid alone', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes, messageId } = await exported(account, 174)
  const items = codes.map((code) => ({ code, status: 'ACSC' }))
  const bytes = Buffer.from(pain002(messageId, { items }))
  const named = await findPayoutFile(s.backend.pool, file.json.id)
  if (!named) throw new Error('no file')
  const by = async ({ email }: OperatorClient): Promise<Operator> => {
    const { rows } = await s.sql('select user_id from users where email = $1', [email])
    const userId = BigInt(rows[0].user_id)
    return { userId, email, role: 'admin', agentId: null, sessionId: '', ip: '' }
  }
  await takeStatusReport(s.service.desk, named, bytes, await by(maker), 'live')
  expect(statesOf(await look(file))).toEqual(['accepted'])
  expect(await status(ids[0] ?? '')).toBe('WAITING')
  await takeStatusReport(s.service.desk, named, bytes, await by(checker), 'live')
  expect(await status(ids[0] ?? '')).toBe('PAID')
})

it('a report about another file, or that cannot be read, changes nothing', async () => {
  const account = await payingAccount(s)
  const { file } = await exported(account, 175)
  const other = await bring(file, pain002('SOMETHINGELSE', { group: 'RJCT', reason: 'AC04' }))
  expect(other.json).toMatchObject({ refused: 0, breaks: [{ what: 'other_message' }] })
  expect((await bring(file, '<Document><Cstmr')).status).toBe(422)
  expect(statesOf(await look(file))).toEqual(['waiting'])
})

it('booked debits pay by code and amount; a second one is nobody’s and alarms', async () => {
  const account = await payingAccount(s)
  const { ids, file, codes } = await exported(account, 180, 190)
  const [one = '', two = ''] = codes
  const day = dayAt(s.clock())
  const lines = [
    { amount: '-180.00', endToEndId: one, ref: 'A1' },
    { amount: '-180.00', endToEndId: one, ref: 'A2' },
    { amount: '-189.00', text: `PAYOUT ${two}`, ref: 'A3' },
  ]
  await importFile(s, account, camt({ ...account, day, lines }))
  expect(await Promise.all(ids.map(status))).toEqual(['PAID', 'WAITING'])
  expect(statesOf(await look(file))).toEqual(['paid', 'waiting'])
  const details = (await movementsOf(s, account)).flatMap(({ state, detail }) =>
    state === 'unexplained' ? [detail?.split(':')[0]] : [],
  )
  expect(details.sort()).toEqual(['amount_differs', 'paid_twice'])
  expect((await daysOf(s, account))[0]).toMatch(/red (?=.*amount_differs)(?=.*paid_twice)/)
})

it('a debit pays with the bank’s charge in it, which is a cost of its order', async () => {
  const account = await payingAccount(s)
  const { ids, codes } = await exported(account, 181, 191)
  const day = dayAt(s.clock())
  const [one = '', two = ''] = codes
  const lines = [
    { amount: '-190.00', endToEndId: one, ref: 'C1', charges: '9.00' },
    { amount: '-198.50', endToEndId: two, ref: 'C2' },
  ]
  await importFile(s, account, camt({ ...account, day, lines }))
  expect(await Promise.all(ids.map(status))).toEqual(['PAID', 'WAITING'])
  const costs = async () => {
    const { rows } = await s.sql(
      `select costs_change::int as cost from journal
       where event = 'cost_charged' and clearing_at = $1 order by seq`,
      [account.name],
    )
    return rows.map(({ cost }) => cost)
  }
  expect(await costs()).toEqual([-900])
  // The bank does not say what the rest of the other one is: a person does.
  const rest = (await movementsOf(s, account)).find(({ state }) => state === 'unexplained')
  const path = `/bank-accounts/${account.name}/movements/${rest?.movementId}/explain`
  const explain = (as: string) =>
    checker.post(path, { as, reason: 'on its price list', code: checker.code() })
  const explained = await explain('payout')
  expect([explained.status, explained.json.deducted], explained.text).toEqual([200, 7.5])
  expect(await Promise.all(ids.map(status))).toEqual(['PAID', 'PAID'])
  expect(await costs()).toEqual([-900, -750])
  expect((await daysOf(s, account))[0]).not.toContain('amount_differs')
  expect((await explain('bank_fee')).status).toBe(409)
  // The bank does not pay less than it was asked for: that is for a person to find out.
  const less = await exported(account, 201)
  const line = { amount: '-200.00', endToEndId: less.codes[0] ?? '', ref: 'C3' }
  await importFile(s, account, camt({ ...account, day, lines: [line] }))
  const short = (await movementsOf(s, account)).find(({ state }) => state === 'unexplained')
  const refused = await checker.post(
    `/bank-accounts/${account.name}/movements/${short?.movementId}/explain`,
    { as: 'payout', reason: 'is it?', code: checker.code() },
  )
  expect([refused.status, refused.json.detail]).toEqual([
    409,
    expect.stringContaining('amount_differs'),
  ])
  // A charge is less than what it is for, and no more than a bank charges: the rest is something else.
  const dear = await exported(account, 202)
  const [dearCode = ''] = dear.codes
  const big = { amount: '-407.00', endToEndId: dearCode, ref: 'C4' }
  await importFile(s, account, camt({ ...account, day, lines: [big] }))
  const much = (await movementsOf(s, account)).find(({ amountMinor }) => amountMinor === -40_700n)
  const tooMuch = await checker.post(
    `/bank-accounts/${account.name}/movements/${much?.movementId}/explain`,
    { as: 'payout', reason: 'is it?', code: checker.code() },
  )
  expect([tooMuch.status, tooMuch.json.detail]).toEqual([
    409,
    expect.stringContaining('205 THB more than its payout'),
  ])
  expect(await status(dear.ids[0] ?? '')).toBe('WAITING')
  // Nothing was restored, so no file is lost: a fee may name one that nobody knows here.
  const fee = { amount: '-5.00', text: `FEE PF${'0'.repeat(24)}5`, ref: 'C5' }
  await importFile(s, account, camt({ ...account, day, lines: [fee] }))
  const named = (await movementsOf(s, account)).find(({ amountMinor }) => amountMinor === -500n)
  const feePath = `/bank-accounts/${account.name}/movements/${named?.movementId}/explain`
  const paidFee = { as: 'bank_fee', reason: 'on its price list', code: checker.code() }
  expect((await checker.post(feePath, paidFee)).status).toBe(200)
})

it('the debit of a whole file pays all of its items, or nobody if it is another sum', async () => {
  const account = await payingAccount(s)
  const { ids, file, messageId } = await exported(account, 210, 220)
  const day = dayAt(s.clock())
  const short = [{ amount: '-429.00', batchCount: 2, batchId: messageId }]
  await importFile(s, account, camt({ ...account, day, lines: short }))
  expect(await Promise.all(ids.map(status))).toEqual(['WAITING', 'WAITING'])
  const whole = [{ amount: '-430.00', batchCount: 2, batchId: messageId }]
  await importFile(s, account, camt({ ...account, day, lines: whole }))
  expect(await Promise.all(ids.map(status))).toEqual(['PAID', 'PAID'])
  expect((await look(file)).json.state).toBe('closed')
  expect(await daysOf(s, account)).toEqual([expect.stringContaining('unexplained_debit')])
})

it('a debit that names no file is one only if the bank has that, of several, none of them debited', async () => {
  const account = await payingAccount(s)
  const day = dayAt(s.clock())
  const debit = async (amount: string, ref: string, endToEndId?: string) => {
    const lines = [{ amount: `-${amount}`, ref, ...(endToEndId && { endToEndId }) }]
    await importFile(s, account, camt({ ...account, day, lines }))
  }
  const sentBy = (file: Answer) =>
    checker.post(`/payout-files/${file.json.id}/sent`, {
      bank_reference: 'B-1',
      code: checker.code(),
    })
  const one = await exported(account, 211)
  await sentBy(one.file)
  await debit('211.00', 'rent')
  expect(await status(one.ids[0] ?? '')).toBe('WAITING')

  const two = await exported(account, 212, 213)
  await debit('425.00', 'not brought yet')
  expect(await Promise.all(two.ids.map(status))).toEqual(['WAITING', 'WAITING'])
  await sentBy(two.file)
  await debit('212.00', 'alone', two.codes[0])
  await debit('213.00', 'other rent')
  expect(await Promise.all(two.ids.map(status))).toEqual(['PAID', 'WAITING'])

  // The bank said that it paid, so the file is closed before it is debited.
  const three = await exported(account, 214, 215)
  await sentBy(three.file)
  const items = three.codes.map((code) => ({ code, status: 'ACSC' }))
  await bring(three.file, pain002(three.messageId, { items }))
  expect((await look(three.file)).json.state).toBe('closed')
  await debit('429.00', 'sum')
  // Another process may be the one that books it.
  const sums = async () =>
    (await movementsOf(s, account)).flatMap(({ explainedBy, amountMinor }) =>
      explainedBy === 'payout' ? [amountMinor] : [],
    )
  await expect.poll(async () => (await sums()).sort()).toEqual([-21_200n, -42_900n])
})

it('a movement that a person has explained is not linked to payouts, whoever saw it before', async () => {
  const account = await payingAccount(s)
  const { codes } = await exported(account, 216)
  const day = dayAt(s.clock())
  await importFile(s, account, camt({ ...account, day, lines: [{ amount: '-216.00' }] }))
  const [movement] = await movementsOf(s, account)
  if (!movement) throw new Error('no movement')
  await s.sql(`update bank_movements set text = $2 where movement_id = $1`, [
    movement.movementId,
    `PAYOUT ${codes[0]}`,
  ])
  const desk = { ...s.service.desk, pool: explainedBetween(movement.movementId) }
  await bookFileSums(desk, (error) => {
    throw error
  })
  const { rows } = await s.sql('select debited_by from payout_items where reference = $1', [
    codes[0],
  ])
  expect(rows).toEqual([{ debited_by: null }])
  // Nobody has explained it in the books.
  await s.sql(
    `update bank_movements set state = 'unexplained', explained_by = null, text = $2
     where movement_id = $1`,
    [movement.movementId, movement.text],
  )
})

/** A database in which a person explains a movement after it was found and before it is decided on. */
function explainedBetween(movementId: string): Pool {
  const { pool } = s.service.desk
  const explained = () =>
    s.sql(
      `update bank_movements set state = 'booked', explained_by = 'own_transfer', held = false
       where movement_id = $1`,
      [movementId],
    )
  return new Proxy(pool, {
    get: (target, key) => {
      const value = Reflect.get(target, key)
      if (key !== 'connect') return typeof value === 'function' ? value.bind(target) : value
      return () => explained().then(() => target.connect())
    },
  })
}

it('money that comes back reverts a paid withdrawal, once', async () => {
  const account = await payingAccount(s)
  const { ids, codes, messageId, file } = await exported(account, 230)
  const [code = ''] = codes
  await bring(file, pain002(messageId, { items: [{ code, status: 'ACSC' }] }))
  expect(await daysOf(s, account)).toEqual([])
  const before = await agent.balance()
  const day = dayAt(s.clock())
  const lines = [
    { amount: '-230.00', endToEndId: code },
    { amount: '230.00', text: `RETURN ${code}`, isReturn: true },
  ]
  const bytes = camt({ ...account, day, opening: '0.00', closing: '0.00', lines })
  await importFile(s, account, bytes)
  await importFile(s, account, bytes)
  expect(await status(ids[0] ?? '')).toBe('REVERT')
  expect((await agent.balance()) - before).toBeGreaterThanOrEqual(230)
  expect(await daysOf(s, account)).toEqual([`${day} green`])
  expect(statesOf(await look(file))).toEqual(['returned'])

  // Without a code it is of who was paid as much, if the bank may have paid them: not of what it refused.
  const refused = await exported(account, 231)
  await refuse(refused.file, refused.messageId, refused.codes[0] ?? '')
  await expect.poll(() => status(refused.ids[0] ?? '')).toBe('FAILED')
  const back = (ref: string) => {
    const line = { amount: '231.00', payerNo: '1234567890', isReturn: true, ref, text: 'RETURN' }
    return importFile(s, account, camt({ ...account, day, lines: [line] }))
  }
  const returnedBy = async (code = '') =>
    (await s.sql('select returned_by from payout_items where reference = $1', [code])).rows[0]
  await back('R1')
  expect(await returnedBy(refused.codes[0])).toEqual({ returned_by: null })
  // The debit of one that the bank has said nothing of yet may come later than the return.
  const silent = await exported(account, 231)
  await back('R2')
  expect(await returnedBy(silent.codes[0])).toEqual({ returned_by: expect.any(String) })
  expect(await status(silent.ids[0] ?? '')).toBe('REVERT')
})

it('a name that would break out of its field goes into no file', async () => {
  const account = await payingAccount(s, { payoutFormat: 'csv-plain' })
  const bad = { amount: 100, bankCode: account.bank, accountName: 'SOMCHAI,9876543210,999999.00' }
  // Also if another provider could pay it: a route may send it to the file any day.
  const refused = await agent.withdraw(bad)
  expect(refused.json).toMatchObject({
    ...{ status: 422, code: 'invalid_request', errors: [{ field: 'accountName' }] },
    detail: 'The name has ,, which would end its field in a file without quotes.',
  })
  const start = { ...bad, accountName: '=SOMCHAI' }
  expect((await agent.withdraw(start)).status).toBe(422)
  // What a format only cannot carry is another provider's.
  const long = { ...bad, accountName: 'SOMCHAI' }
  expect((await agent.withdraw(long)).status).toBe(201)
})

it('names in a file are written as its account says, and refused with the order if they cannot be', async () => {
  const account = await payingAccount(s, { payoutCharacters: 'latin', accountName: 'Sluice' })
  const named = (accountName: string) =>
    agent.withdraw({ amount: 266, bankCode: account.bank, accountName })
  await saveProviderState(s.backend.pool, 'sandbox', 'off', s.clock())
  const sandbox = () => s.service.desk.providers.stateOf('sandbox')
  await expect.poll(sandbox).toBe('off')
  const refused = await named('สมชาย')
  expect(refused.json).toMatchObject({ status: 422, errors: [{ field: 'accountName' }] })
  expect(refused.json.detail).toContain('“ส”, which has no form in the Latin letters')
  const { json } = await named('José')
  // What was taken by another rule waits, and is listed with the reason.
  const says = (rule: string) =>
    s.sql(
      'update bank_accounts set payout_characters = $2, version = version + 1 where name = $1',
      [...[account.name, rule]],
    )
  const stuck = async () => (await maker.get('/payouts-waiting')).json.stuck
  await says('kept')
  let txn_id = ''
  await expect
    .poll(async () => {
      const { status, json } = await named('สมชาย')
      txn_id = json.txn_id
      return status
    })
    .toBe(201)
  expect(await stuck()).not.toContainEqual(expect.objectContaining({ txn_id }))
  await says('latin')
  await expect.poll(stuck).toContainEqual({
    ...{ txn_id, amount: 266, currency: 'THB' },
    why: expect.stringContaining('has no form in the Latin letters'),
  })
  await agent.post(`/payment/orders/${txn_id}/cancel`, {})
  await saveProviderState(s.backend.pool, 'sandbox', 'on', s.clock())
  await expect.poll(sandbox).toBe('on')
  const file = await approve(await draft(account))
  expect(file.json.items).toMatchObject([{ txn_id: json.txn_id }])
  expect((await take(file)).text).toContain('<Nm>Jose</Nm>')
})

it('a copy is for who lost the file: none once it is stopped, debited, or the bank could not tell it', async () => {
  const stop = (agentId: bigint) =>
    s.sql(
      `insert into stops (agent_id, stop_id, deposits, stopped_by, reason, stopped_at)
       values ($1, gen_random_uuid(), false, 'a person', 'a test', now())`,
      [agentId],
    )
  const sentBy = ({ json }: Answer) =>
    checker.post(`/payout-files/${json.id}/sent`, { bank_reference: 'B-9', code: checker.code() })
  const account = await payingAccount(s)
  const { file, codes } = await exported(account, 261, 262)
  await stop(0n)
  expect((await take(file)).json.detail).toBe('Everything is stopped.')
  await s.sql('delete from stops where agent_id = 0')
  await sentBy(file)
  // The bank knows a pain.001 by its message id.
  expect((await take(file)).status).toBe(200)
  const lines = [{ amount: '-261.00', endToEndId: codes[0] ?? '' }]
  await importFile(s, account, camt({ ...account, day: dayAt(s.clock()), lines }))
  expect((await take(file)).json.detail).toContain('has debited payouts of it')

  const plain = await payingAccount(s, { payoutFormat: 'csv' })
  const csv = await exported(plain, 263)
  expect((await take(csv.file, maker, 'it was lost')).status).toBe(200)
  await sentBy(csv.file)
  expect((await take(csv.file)).json).toMatchObject({ status: 409 })
  expect((await take(csv.file)).json.detail).toContain('would pay a copy once more')
})

it('a file is not given out after its last cut-off, nor approved above what a file may pay by now', async () => {
  const account = await payingAccount(s, { payoutCutoffs: '15:30' })
  await withdrawals(s, agent, account, 264)
  const drafted = await draft(account)
  await s.sql('update bank_accounts set payout_file_limit = 10000 where name = $1', [account.name])
  const above = await approve(drafted)
  expect(above.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(above.json.detail).toContain('One file of')
  await s.sql('update bank_accounts set payout_file_limit = null where name = $1', [account.name])
  for (const digest of ['wrong', drafted.json.digest.toUpperCase()]) {
    expect((await approve(drafted, checker, digest)).json).toMatchObject({
      ...{ status: 409, code: 'digest_changed' },
    })
  }
  const file = await approve(drafted)
  expect(file.json.state).toBe('approved')
  expect((await approve(drafted, maker)).json).toMatchObject({ status: 403, code: 'same_person' })
  // Ten in the morning there: at six in the evening the day is over for the bank.
  s.clock.advance(8 * 3_600_000)
  maker = await maker.signInAgain()
  checker = await checker.signInAgain()
  const late = await take(file)
  expect(late.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(late.json.detail).toContain('have it sealed again')
  goToMorning(s.clock)
  maker = await maker.signInAgain()
  checker = await checker.signInAgain()
})

it('an answer is taken as it came, as XML in its own encoding', async () => {
  const account = await payingAccount(s)
  const { file, codes, messageId } = await exported(account, 265)
  const items = [{ code: codes[0] ?? '', status: 'ACSP' }]
  const xml = pain002(messageId, { items }).replace('encoding="UTF-8"', 'encoding="UTF-16"')
  const bytes = Buffer.from(`\ufeff${xml}`, 'utf16le')
  const headers = { 'content-type': 'application/xml', 'x-sluice-code': maker.code() }
  const taken = await maker.send('POST', `/payout-files/${file.json.id}/status`, bytes, headers)
  expect(taken.json).toMatchObject({ id: file.json.id, state: 'acknowledged', accepted: 1 })
  expect(taken.json.items).toMatchObject([{ code: codes[0], state: 'accepted' }])
  const { rows } = await s.sql('select bytes from payout_file_reports where file_id = $1', [
    file.json.id,
  ])
  expect(rows[0].bytes.equals(bytes)).toBe(true)
  // XML is taken nowhere else.
  expect((await maker.send('POST', '/payout-files', bytes, headers)).status).toBe(415)
})

it('ceilings of an account hold for a file and for a day', async () => {
  const account = await payingAccount(s, {
    payoutFileLimitMinor: 30_000n,
    payoutDayLimitMinor: 45_000n,
  })
  await withdrawals(s, agent, account, 200, 150, 400, 100)
  const first = await draft(account)
  expect(first.json).toMatchObject({ count: 2, sum: 300 })
  expect((await approve(first)).status).toBe(200)
  const second = await draft(account)
  expect(second.json).toMatchObject({ count: 1, sum: 150 })
  expect((await approve(second)).status).toBe(200)
  await withdrawals(s, agent, account, 120)
  expect((await draft(account)).json).toMatchObject({
    code: 'invalid_transition',
    detail: expect.stringContaining('may pay now, 0 THB'),
  })
})

it('verify finds every lie about a file', async () => {
  const account = await payingAccount(s)
  const { file, codes } = await exported(account, 245, 255)
  const day = dayAt(s.clock())
  const lines = [{ amount: '-245.00', endToEndId: codes[0] ?? '' }]
  await importFile(s, account, camt({ ...account, day, lines }))
  const own = `file_id = '${file.json.id}'`
  const lies: [table: string, set: string, where: string][] = [
    ['payout_files', `state = 'approved'`, own],
    ['payout_files', `state = 'sent'`, own],
    ['payout_files', `state = 'draft'`, own],
    ['payout_files', `format = 'pain.001.001.03'`, own],
    ['payout_files', `characters = 'latin'`, own],
    ['payout_files', `debtor_account_no = '9999999999'`, own],
    ['payout_file_lines', `payee_account_no = '999999999'`, own],
    ['payout_file_lines', `payee_name = 'Somebody Else'`, `${own} and n = 2`],
    ['payout_items', `reference = 'SX0000000000Z'`, `${own} and n = 2`],
    ['payout_items', 'debited_by = null', `${own} and n = 1`],
    ['payout_file_seals', `bytes = '\\x00'`, own],
    ['payout_file_seals', `sha256 = '${'f'.repeat(64)}'`, own],
    ['payout_file_seals', `execution_date = execution_date + 1`, own],
    ['payout_file_seals', 'amount = amount + 1', own],
    ['payout_file_seals', 'items = items + 1', own],
    ['payout_file_lists', 'amount = amount + 1', own],
    ['payout_file_lists', 'items = items + 1', own],
    ['payout_items', `state = 'paid'`, `${own} and n = 2`],
    ['payout_files', 'round = 2', own],
    ['payout_files', `debtor_name = 'Somebody Else'`, own],
    ['payout_files', `debtor_bank = 'KTB'`, own],
    ['payout_files', `currency = 'VND'`, own],
    ['payout_files', 'already_paid = true', own],
    ['payout_files', `debit = (select debited_by from payout_items where ${own} and n = 1)`, own],
    ['payout_file_lines', 'amount = amount + 1', `${own} and n = 1`],
    ['payout_file_lines', `payee_bank = 'KTB'`, `${own} and n = 2`],
    ['payout_file_lines', 'agent_id = agent_id + 1', `${own} and n = 2`],
    ['payout_file_lines', 'order_id = gen_random_uuid()', `${own} and n = 2`],
    ['payout_file_lines', 'attempt = attempt + 1', `${own} and n = 2`],
    ['payout_items', 'amount = amount + 1', `${own} and n = 2`],
    ['payout_items', 'agent_id = agent_id + 1', `${own} and n = 2`],
    ['payout_items', 'order_id = gen_random_uuid()', `${own} and n = 2`],
    ['payout_items', 'attempt = attempt + 1', `${own} and n = 2`],
    ['payout_items', `returned_by = debited_by`, `${own} and n = 1`],
    ['payout_file_lists', `digest = '${'f'.repeat(64)}'`, own],
    ['payout_file_lists', 'round = 2', own],
    [
      'payout_file_lists',
      'made_by = (select approved_by from payout_file_approvals a where a.file_id = payout_file_lists.file_id)',
      own,
    ],
    ['payout_file_approvals', `digest = '${'f'.repeat(64)}'`, own],
    ['payout_file_approvals', 'round = 2', own],
    ['payout_file_approvals', 'approved_by = made_by', own],
    ['payout_file_seals', 'round = 2', own],
    ['payout_file_seals', `digest = '${'f'.repeat(64)}'`, own],
    ['payout_file_seals', `message_id = 'OTHER'`, own],
    ['payout_file_seals', `sealed_at = sealed_at + interval '1 second'`, own],
    ['payout_file_downloads', 'round = 2', own],
  ]
  // Keys and checks would refuse most of these: somebody with the database could drop them.
  const tables = [...new Set(lies.map(([table]) => table))]
  const { rows: checks } = await s.sql(
    `select conrelid::regclass as of, conname, pg_get_constraintdef(oid) as def from pg_constraint
     where contype = 'c' and conrelid = any($1::regclass[])`,
    [tables],
  )
  for (const table of tables) await s.sql(`alter table ${table} disable trigger all`)
  for (const { of, conname } of checks) await s.sql(`alter table ${of} drop constraint ${conname}`)
  const { pool } = s.backend
  const found = async () => {
    await inSnapshot(pool, (tx) => proveNextPayoutFile(tx, `${account.name} `))
    await inSnapshot(pool, (tx) => proveAccount(tx, { name: account.name, currency: 'THB' }))
  }
  await found()
  for (const [table, set, where] of lies) {
    await s.sql(`create table kept as select * from ${table} where ${where}`)
    await s.sql(`update ${table} set ${set} where ${where}`)
    await expect(found(), `${table}: ${set}`).rejects.toThrow(ProofFailure)
    const [column] = set.split(' ')
    await s.sql(`update ${table} t set ${column} = kept.${column} from kept
      where t.account = kept.account and t.file_id = kept.file_id
      ${table === 'payout_items' || table === 'payout_file_lines' ? 'and t.n = kept.n' : ''}`)
    await s.sql('drop table kept')
  }
  for (const table of tables) await s.sql(`alter table ${table} enable trigger all`)
  for (const { of, conname, def } of checks) {
    await s.sql(`alter table ${of} add constraint ${conname} ${def}`)
  }
})

it('a person cannot end a payout as failed that is in a file', async () => {
  const account = await payingAccount(s)
  const { ids } = await exported(account, 240)
  const answer = await checker.post(`/orders/${ids[0]}/mark-failed`, {
    reason: 'the payee says that nothing came',
    evidence: 'a call',
    code: checker.code(),
  })
  expect(answer.status).toBe(409)
  expect(await status(ids[0] ?? '')).toBe('WAITING')
})
