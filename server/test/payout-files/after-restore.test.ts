import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { findBankAccount } from '../../src/bank-accounts/bank-account.ts'
import { referencesOf } from '../../src/ledger/payout-references.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { bookFileSums } from '../../src/payments/book-movement.ts'
import { refuseRelease, releaseCaughtUp, standings } from '../../src/payout-files/after-restore.ts'
import { approvePayoutFile } from '../../src/payout-files/approve-file.ts'
import { goForwardWithAll } from '../../src/payout-files/go-forward.ts'
import { camt, dayAt, importFile, routed } from '../support/bank-accounts.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type PayingAccount, payingAccount, withdrawals } from '../support/payout-files.ts'
import { cleanUp, command } from '../support/process.ts'
import { releaseHold } from '../support/release-hold.ts'
import { AgentClient, type Answer, startTestService, type TestService } from '../support/service.ts'

afterEach(cleanUp)

const startMs = Date.now()
let offsetMs = 0
const clock = Object.assign(() => new Date(startMs + offsetMs), {
  advance(ms: number) {
    offsetMs += ms
  },
})

/** The service on a database that stays when it ends. */
async function on(database: TestDatabase): Promise<TestService> {
  const owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  const sql = (text: string, values?: unknown[]) =>
    owner.query(`set search_path = sluice`).then(() => owner.query(text, values))
  const s = await startTestService({ beside: { database, clock, sql } as TestService })
  await owner.end()
  return s
}

async function people(s: TestService): Promise<[OperatorClient, OperatorClient]> {
  return [await signIn(s, 'operator'), await signIn(s, 'admin')]
}

const draft = (by: OperatorClient, { name }: PayingAccount, debited = false): Promise<Answer> =>
  by.post('/payout-files', { account: name, ...(debited && { debited }) })

const approve = (by: OperatorClient, { json }: Answer): Promise<Answer> =>
  by.post(`/payout-files/${json.id}/approve`, { digest: json.digest, code: by.code() })

const take = (by: OperatorClient, { json }: Answer): Promise<Answer> =>
  by.post(`/payout-files/${json.id}/export`, { reason: 'for the bank', code: by.code() })

const dayMs = 86_400_000

/** A statement for each of the last days, of which the first has these lines. */
function statements(
  { account }: PayingAccount,
  days: number,
  lines: { amount: string; endToEndId: string }[] = [],
) {
  const day = (ago: number) => dayAt(new Date(clock().getTime() - ago * dayMs))
  const balances = { opening: '0.00', closing: '0.00' }
  return camt(
    ...Array.from({ length: days }, (_, index) => ({
      ...{ account, day: day(days - index), ...balances },
      lines: index === 0 ? lines : [],
    })),
  )
}

it('a restored database pays nothing again that the bank has debited', async () => {
  const database = await testDatabase()
  let s = await on(database)
  const terms = { maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n }
  let agent = await s.agent(terms)
  await agent.fund(10_000)
  const account = await payingAccount(s)
  const [paid = '', open = ''] = await withdrawals(s, agent, account, 100, 200)
  await s.close()
  const backup = await testDatabase({ of: database })

  // What the backup knows nothing of: the first of them leaves.
  s = await on(database)
  let [maker, checker] = await people(s)
  await s.sql('update bank_accounts set payout_file_limit = 15000 where name = $1', [account.name])
  const lost = await approve(checker, await draft(maker, account))
  expect(lost.json).toMatchObject({ state: 'approved', items: [{ txn_id: paid }] })
  expect((await take(maker, lost)).status).toBe(200)
  const code: string = lost.json.items[0].code
  await s.close()

  s = await on(backup)
  agent = new AgentClient(s.service.url, agent.appId, agent.secret, agent.agentId, clock)
  const env = {
    DATABASE_URL: backup.url,
    DATABASE_OWNER_URL: backup.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'fatal',
  }
  const since = new Date(clock().getTime() - 86_400_000).toISOString()
  const doctor = await command(['doctor', '--after-restore', '--backup-of', since], env)
  expect(doctor.stdout).toContain(`none of ${account.name} leaves. Its statements from`)
  ;[maker, checker] = await people(s)
  const both = await draft(maker, account)
  expect(both.json.count).toBe(2)
  const early = await approve(checker, both)
  expect(early.json).toMatchObject({ status: 409, code: 'invalid_transition' })
  expect(early.json.detail).toContain('sluice doctor')
  // Everything is held until two people release it; files stay longer.
  await releaseHold(s, maker, checker)
  expect((await approve(checker, both)).json.detail).toContain('are needed')

  const debit = { amount: '-100.00', endToEndId: code }
  await importFile(s, account, camt({ ...account, day: dayAt(clock()), lines: [debit] }))
  // Nobody else may pay what the lost file may have paid, nor may its agent have the money back.
  await s.service.desk.providers.freshen()
  const unpaid = await agent.post(`/payment/orders/${paid}/cancel`, {})
  expect(unpaid.json).toMatchObject({ status: 409, code: 'order_not_cancellable' })
  const waiting = (await maker.get('/payouts-waiting')).json.data[0]
  expect(waiting.locked).toEqual([
    expect.stringContaining(`names ${paid}, which waits here`),
    expect.stringContaining('are needed'),
    expect.stringContaining('wait until that is over'),
  ])
  expect((await approve(checker, both)).json.detail).toContain(`may have paid ${paid} already`)
  const cancel = { reason: 'one of them is paid', code: maker.code() }
  expect((await maker.post(`/payout-files/${both.json.id}/cancel`, cancel)).status).toBe(200)
  const rest = await draft(maker, account)
  expect(rest.json.items).toMatchObject([{ txn_id: open }])
  expect((await approve(checker, rest)).json.detail).toContain(`names ${paid}`)
  // People cannot say that nothing was paid while a debit says that something was.
  const release = { reason: 'nothing was paid', code: maker.code() }
  const path = `/bank-accounts/${account.name}/release-payouts`
  expect((await maker.post(path, release)).status).toBe(409)

  const again = await draft(maker, account, true)
  expect(again.json).toMatchObject({ already_paid: true, items: [{ txn_id: paid }] })
  expect((await approve(checker, again)).json).toMatchObject({ state: 'approving', sealed: null })
  const out = { codes: [code], may_try_another: false, reason: 'a wrong payee' }
  const taken = await maker.post(`/payout-files/${again.json.id}/take-out`, {
    ...{ ...out, code: maker.code() },
  })
  expect(taken.json.detail).toContain('The bank has debited its payouts')
  const fail = (error: unknown) => {
    throw error
  }
  await bookFileSums(s.service.desk, fail)
  await goForwardWithAll(s.service.desk, fail)
  expect((await maker.get(`/payout-files/${again.json.id}`)).json).toMatchObject({
    ...{ state: 'closed', sealed: null, downloads: [] },
    items: [{ code, state: 'paid' }],
  })
  expect((await agent.get(`/payment/orders/${paid}`)).json.status).toBe('PAID')

  // Who had the lost file in hand may bring it days later: its debits are explained, and it still waits.
  await importFile(s, account, statements(account, 2))
  expect((await approve(checker, rest)).json.detail).toContain('are needed')
  clock.advance(8 * dayMs)
  maker = await maker.signInAgain()
  checker = await checker.signInAgain()
  expect((await approve(checker, rest)).json.detail).toContain('there is none of')
  await importFile(s, account, statements(account, 10))
  await releaseCaughtUp(s.service.desk)
  const left = await approve(checker, rest)
  expect(left.json).toMatchObject({ state: 'approved', items: [{ txn_id: open }] })
  const bytes = await take(maker, left)
  expect(bytes.status).toBe(200)
  expect(bytes.text).not.toContain(code)
  const { rows } = await s.sql('select how from payout_lock_releases where account = $1', [
    account.name,
  ])
  expect(rows).toEqual([{ how: 'statements' }])
  await s.prove()
  await s.close()
  await backup.close()
  await database.close()
})

it('of an account without statements two people say that nothing was paid', async () => {
  const s = await startTestService()
  const agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(10_000)
  let [maker, checker] = await people(s)
  const account = await payingAccount(s, { payoutFormat: 'csv-plain' })
  await withdrawals(s, agent, account, 100)
  const file = await approve(checker, await draft(maker, account))
  expect(file.json.state).toBe('approved')
  await s.sql(
    `insert into restores (restore_id, since, marked_by, marker, marked_at)
     values ($1, $2, 0, 'command line', $3)`,
    [randomBytes(16).toString('hex'), new Date(0), s.clock()],
  )
  expect((await take(maker, file)).json.detail).toContain('is not known yet')
  // What was on its way when the backup was put back nobody can know.
  const early = await maker.post(`/bank-accounts/${account.name}/release-payouts`, {
    ...{ reason: 'nothing was on its way', code: maker.code() },
  })
  expect(early.json.detail).toContain('wait until that is over')
  s.clock.advance(8 * dayMs)
  maker = await maker.signInAgain()
  checker = await checker.signInAgain()
  const asked = await maker.post(`/bank-accounts/${account.name}/release-payouts`, {
    reason: 'the bank wrote that nothing left since Monday',
    code: maker.code(),
  })
  expect(asked.status).toBe(202)
  const { digest } = (await checker.get(`/approvals/${asked.json.proposal}`)).json
  expect((await take(maker, file)).status).toBe(409)
  const yes = { digest, code: checker.code() }
  expect((await checker.post(`/approvals/${asked.json.proposal}/approve`, yes)).status).toBe(200)
  // The lock is open; only its day has gone by.
  await expect
    .poll(async () => (await take(maker, file)).json.detail)
    .toContain('have it sealed again')
  const again = await maker.post(`/bank-accounts/${account.name}/release-payouts`, {
    reason: 'once more',
    code: maker.code(),
  })
  expect(again.status).toBe(409)
  await s.prove()
  await s.close()
})

it('debits of the lost time hold every account of the currency, whatever the routes and the explanations are', async () => {
  const s = await startTestService()
  const agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(10_000)
  let [maker, checker] = await people(s)
  const kin = await payingAccount(s)
  const account = await payingAccount(s)
  const [paid = ''] = await withdrawals(s, agent, account, 100)
  const [one600 = '', one300 = ''] = await withdrawals(s, agent, account, 600, 300)
  const { agentId = 0n, orderId = '' } = parseTxnId(paid) ?? {}
  const [code = ''] = referencesOf(agentId, orderId, 1)
  await s.sql(
    `insert into restores (restore_id, since, marked_by, marker, marked_at)
     values ($1, $2, 0, 'command line', $3)`,
    [randomUUID(), new Date(s.clock().getTime() - dayMs), s.clock()],
  )
  const first = dayAt(s.clock())
  s.clock.advance(10 * dayMs)
  maker = await maker.signInAgain()
  checker = await checker.signInAgain()
  const standing = () =>
    standings(s.backend.pool, s.clock()).then((all) => all.map((each) => each.account).sort())
  expect(await standing()).toEqual([account.name, kin.name].sort())
  // It pays by files no more, but did: it stays among them.
  await s.sql(
    `insert into payout_files select $1, $2, 'cancelled', 1, 'csv', 'Us', '1234567890', 'SCB', 'THB',
       0, 'a test', 0, now(), false`,
    [kin.name, randomUUID()],
  )
  await s.sql(`update bank_accounts set payout = 'none' where name = $1`, [kin.name])
  expect(await standing()).toEqual([account.name, kin.name].sort())

  // The other account paid it, and a whole file of which nothing is known.
  const lostId = `PF${'0'.repeat(24)}7`
  const quiet = { opening: '0.00', closing: '0.00', lines: [] }
  const ago = (days: number) => dayAt(new Date(s.clock().getTime() - days * dayMs))
  const days = Array.from({ length: 11 }, (_, index) => ago(11 - index))
  await s.sql(`update bank_accounts set payout = 'file' where name = $1`, [kin.name])
  await routed(s, kin.name)
  for (const each of [account, kin]) {
    await importFile(s, each, camt(...days.map((day) => ({ ...each, day, ...quiet }))))
  }
  // One whose file is not confirmed proves nothing yet.
  const lines = [{ amount: '-100.00', endToEndId: code }]
  await importFile(s, kin, camt({ ...kin, day: first, lines }))
  await s.sql(`update bank_movements set state = 'unconfirmed' where account = $1`, [kin.name])
  expect((await draft(maker, kin, true)).json.detail).toContain('No debit of')
  await s.sql(`update bank_movements set state = 'unexplained' where account = $1`, [kin.name])
  const release = (named: string) =>
    maker.post(`/bank-accounts/${kin.name}/release-payouts`, {
      ...{ reason: `the bank says so: ${named}`, code: maker.code() },
    })
  const { rows: debits } = await s.sql(
    'select movement_id from bank_movements where account = $1',
    [kin.name],
  )
  const one = debits[0].movement_id.replaceAll('-', '')
  // What waits would be paid once more: it is settled, not explained away.
  expect((await release(one)).json.detail).toContain(`names ${paid}, which waits here`)
  const file = await draft(maker, kin, true)
  expect(file.json).toMatchObject({ already_paid: true, items: [{ txn_id: paid }] })
  await approve(checker, file)
  const fail = (error: unknown) => {
    throw error
  }
  await bookFileSums(s.service.desk, fail)
  await goForwardWithAll(s.service.desk, fail)
  expect((await agent.get(`/payment/orders/${paid}`)).json.status).toBe('PAID')
  expect((await standings(s.backend.pool, s.clock())).flatMap(({ missing }) => missing)).toEqual([])

  // A lost file that was debited in one sum: it is settled too, and not explained away, while what it may have paid waits.
  const whole = [{ amount: '-935.00', batchCount: 2, batchId: lostId }]
  await importFile(s, kin, camt({ ...kin, day: first, lines: whole, seq: 2 }))
  const missing = async () =>
    (await standings(s.backend.pool, s.clock())).flatMap((each) => each.missing)
  const [held = ''] = await missing()
  expect(held).toContain(`is of payment file ${lostId}, which is lost`)
  expect(held).toContain('2 that wait here may be among them, of 900 together')
  const [, id = ''] = /movement ([0-9a-f]{32})/.exec(held) ?? []
  expect((await release(id)).json.detail).toContain(lostId)
  // Two people can always end it: they say of which file it is that paid none of what waits.
  const kinAccount = await findBankAccount(s.backend.pool, kin.name)
  if (!kinAccount) throw new Error('there is no such account')
  await refuseRelease(s.backend.pool, kinAccount, `none of ours: ${id}, ${lostId}`, s.clock())
  const explained = await maker.post(`/bank-accounts/${kin.name}/movements/${id}/explain`, {
    ...{ as: 'bank_fee', reason: 'somebody says so', code: maker.code() },
  })
  expect(explained.json.detail).toContain('make a file of the withdrawals that it paid')
  const settle = (txn_ids: string[], rest?: string) =>
    maker.post('/payout-files', {
      ...{ account: kin.name, debited: true, movement: id, txn_ids },
      ...(rest !== undefined && { rest }),
    })
  expect((await settle([one600], '35')).json.detail).toContain('They add up to 600')
  expect((await settle([one600, paid])).json.detail).toContain(`${paid} does not wait`)
  // The bank debited its charge with them: that is said, and not taken for granted.
  expect((await settle([one600, one300])).json.detail).toContain('the other 35')
  expect((await settle([one600, one300], '35.001')).status).toBe(422)
  // No bank charges more than it pays: that paid what was lost here too, which its agent would have paid again.
  const lostToo = await settle([one300], '635')
  expect([lostToo.status, lostToo.json.detail]).toEqual([
    409,
    expect.stringMatching(
      /the other 635(\.00)? paid withdrawals that were lost.*created again first/,
    ),
  ])
  expect(await missing()).toEqual([held])
  const { agentId: ofAgent = 0n, orderId: ofOrder = '' } = parseTxnId(one300) ?? {}
  const sum = await settle([one600, referencesOf(ofAgent, ofOrder, 1)[0]], '35.00')
  expect(sum.json).toMatchObject({ already_paid: true, count: 2, sum: 900 })
  // Who approves sees which debit it is said to be, and one file says so.
  expect(sum.json.debit).toEqual({
    movement: id,
    amount: 935,
    rest: 35,
    day: first,
    text: expect.any(String),
  })
  const [again600 = '', again300 = ''] = await withdrawals(s, agent, account, 600, 300)
  const second = await settle([again600, again300], '35')
  expect([second.status, second.json.detail]).toEqual([
    409,
    expect.stringContaining(`Payout file ${sum.json.id} says what movement ${id} paid`),
  ])
  await approve(checker, sum)
  await bookFileSums(s.service.desk, fail)
  await goForwardWithAll(s.service.desk, fail)
  for (const each of [one600, one300]) {
    expect((await agent.get(`/payment/orders/${each}`)).json.status).toBe('PAID')
  }
  expect((await maker.get(`/payout-files/${sum.json.id}`)).json.state).toBe('closed')
  expect(await missing()).toEqual([])

  // The proof knows which debit it was, and what of it is a cost.
  const { rows: booked } = await s.sql(
    'select explained_by, deducted::int from bank_movements where movement_id = $1',
    [id],
  )
  expect(booked).toEqual([{ explained_by: 'payout', deducted: 3500 }])
  const rest = (minor: number) =>
    s.sql('update payout_files set rest = $2 where file_id = $1', [sum.json.id, minor])
  await rest(3400)
  await expect(s.prove()).rejects.toThrow('debit')
  await rest(3500)
  const says = (debit: string) =>
    s.sql('update payout_files set debit = $2 where file_id = $1', [sum.json.id, debit])
  await says(one)
  await expect(s.prove()).rejects.toThrow('digest')
  await says(id)

  // What the bank charged for a lost file is less than anything that waits: it is explained as any fee.
  const [late = ''] = await withdrawals(s, agent, account, 500)
  await s.sql('update orders set created_at = $2 where order_id = $1', [
    parseTxnId(late)?.orderId,
    new Date(s.clock().getTime() - 20 * dayMs),
  ])
  const fee = [{ amount: '-12.00', text: `charge ${lostId}` }]
  await importFile(s, kin, camt({ ...kin, day: first, lines: fee, seq: 4 }))
  const [open = ''] = await missing()
  const feeId = /movement ([0-9a-f]{32})/.exec(open)?.[1] ?? ''
  const charged = await maker.post(`/bank-accounts/${kin.name}/movements/${feeId}/explain`, {
    ...{ as: 'bank_fee', reason: 'the bank charged it', code: maker.code() },
  })
  expect([200, 202], charged.text).toContain(charged.status)

  // Once nothing waits that it may have paid, two people may name the sum of another.
  const other = [{ amount: '-50.00', batchCount: 2, batchId: `PF${'0'.repeat(24)}8` }]
  await importFile(s, kin, camt({ ...kin, day: first, lines: other, seq: 3 }))
  const again = (await missing()).join(' ')
  expect((await release('nothing else')).json.detail).toContain('name the movement')
  const movements = [...again.matchAll(/movement ([0-9a-f]{32})/g)].map(([, each]) => each)
  expect(movements.length).toBe(2)
  expect((await release(movements.join(' '))).status).toBe(202)
  await s.close()
})

it('a file of a lost sum from which a line drops is approved once more, and one of another file’s lines is not', async () => {
  const s = await startTestService()
  const agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(10_000)
  const [maker, checker] = await people(s)
  const account = await payingAccount(s)
  const kin = await payingAccount(s)
  const [one600 = ''] = await withdrawals(s, agent, account, 600)
  await s.sql(
    `insert into restores (restore_id, since, marked_by, marker, marked_at)
     values ($1, $2, 0, 'command line', $3)`,
    [randomUUID(), new Date(s.clock().getTime() - dayMs), s.clock()],
  )
  s.clock.advance(1000)
  const [one300 = ''] = await withdrawals(s, agent, account, 300)
  const lost = async (of: PayingAccount, amount: string, n: number): Promise<string> => {
    const lines = [{ amount, batchCount: 2, batchId: `PF${'0'.repeat(24)}${n}` }]
    await importFile(s, of, camt({ ...of, day: dayAt(s.clock()), lines, seq: n }))
    const { rows } = await s.sql(
      'select movement_id from bank_movements where account = $1 order by reported_at desc limit 1',
      [of.name],
    )
    return rows[0].movement_id.replaceAll('-', '')
  }
  const whole = await lost(account, '-900.00', 1)
  const settle = (of: PayingAccount, movement: string, ...txn_ids: string[]) =>
    maker.post('/payout-files', { account: of.name, debited: true, movement, txn_ids })
  const file = await settle(account, whole, one600, one300)
  expect(file.status, file.text).toBe(201)
  const other = await settle(kin, await lost(kin, '-600.00', 2), one600)

  // Its agent cancels what it has created again: the rest of the list is another list.
  const named = { account: account.name, fileId: file.json.id }
  const { rows: users } = await s.sql('select user_id from users where email = $1', [checker.email])
  const who = { email: checker.email, role: 'admin', agentId: null, sessionId: '', ip: '' } as const
  const operator = { ...who, userId: BigInt(users[0].user_id) }
  await approvePayoutFile(s.service.desk, named, file.json.digest, operator)
  expect((await agent.post(`/payment/orders/${one300}/cancel`, {})).status).toBe(200)
  // The bank can have paid the other by one of two files.
  const taken = await approve(checker, other)
  expect([taken.status, taken.json.detail]).toEqual([
    409,
    expect.stringContaining('another file has them'),
  ])
  const fail = (error: unknown) => {
    throw error
  }
  await goForwardWithAll(s.service.desk, fail)
  await bookFileSums(s.service.desk, fail)
  const shorter = await maker.get(`/payout-files/${file.json.id}`)
  expect(shorter.json).toMatchObject({ state: 'draft', count: 1, sum: 600, dropped: 1 })
  expect((await agent.get(`/payment/orders/${one600}`)).json.status).toBe('WAITING')
  await approve(checker, shorter)
  await bookFileSums(s.service.desk, fail)
  await goForwardWithAll(s.service.desk, fail)
  expect((await agent.get(`/payment/orders/${one600}`)).json.status).toBe('PAID')
  expect((await maker.get(`/payout-files/${file.json.id}`)).json.state).toBe('closed')
  // What the bank paid and no order here stands for is the house's.
  const { rows } = await s.sql(
    'select state, explained_by, deducted::int from bank_movements where movement_id = $1',
    [whole],
  )
  expect(rows).toEqual([{ state: 'booked', explained_by: 'payout', deducted: 30_000 }])
  await s.prove()
  await s.close()
})
