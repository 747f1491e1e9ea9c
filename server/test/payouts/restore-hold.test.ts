import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { askAfterRestore } from '../../src/payouts/ask-after-restore.ts'
import { handOver, settle } from '../../src/payouts/pay-out.ts'
import { mayPayOut } from '../../src/payouts/payout-approval.ts'
import { holdRestored } from '../../src/payouts/restore-hold.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { FakeProvider, fund, orderOf, referencesFor, statusOf } from '../support/fake-provider.ts'
import { signIn } from '../support/operator.ts'
import { cleanUp, command, tempFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { releaseHold, untilAsked } from '../support/release-hold.ts'
import {
  AgentClient,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts'

afterEach(cleanUp)

const startMs = Date.now()
let offsetMs = 0
const clock = Object.assign(() => new Date(startMs + offsetMs), {
  advance(ms: number) {
    offsetMs += ms
  },
})

/** A service that keeps a witness, on a database that stays when it ends. */
async function on(
  database: TestDatabase,
  dataDir: string,
  providers: FakeProvider[],
  {
    env,
    paysOut = false,
    patienceMs = 50,
  }: { env?: Record<string, string>; paysOut?: boolean; patienceMs?: number } = {},
): Promise<TestService> {
  const owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  await owner.query('set search_path = sluice')
  const sql = (text: string, values?: unknown[]) => owner.query(text, values)
  const options: TestServiceOptions = {
    beside: { database, clock, sql } as TestService,
    env: { DATA_DIR: dataDir, ...env },
    outside: { keepsWitness: { patienceMs }, providers, paysOut },
  }
  return startTestService(options).finally(() => owner.end())
}

const holdsOf = async (s: TestService) =>
  (await s.sql('select found, epoch from restore_holds order by epoch')).rows

/** How far the witness of a running service has come. */
const turnOf = async (s: TestService) =>
  Number((await s.sql('select max(turn) as turn from witness_marks')).rows[0].turn)

async function folderIn(dataDir: string): Promise<string> {
  const [deployment = ''] = await readdir(join(dataDir, 'witness'))
  return join(dataDir, 'witness', deployment)
}

/** A witness that is kept in a DATA_DIR. */
async function keptIn(dataDir: string) {
  const folder = await folderIn(dataDir)
  const [name = ''] = await readdir(folder)
  return JSON.parse(await readFile(join(folder, name), 'utf8'))
}

async function addKept(dataDir: string, witness: { witnessId: string }): Promise<void> {
  const path = join(await folderIn(dataDir), `${witness.witnessId}.json`)
  await writeFile(path, JSON.stringify(witness))
}

it('a database that lacks what was seen in it is held, and pays nothing twice', async () => {
  const database = await testDatabase()
  const [dataDir, otherDir] = [await tempFolder(), await tempFolder()]
  const first = new FakeProvider('first', { idempotentByReference: false })
  const second = new FakeProvider('second', { idempotentByReference: false })
  let s = await on(database, dataDir, [first, second])
  const receiver = await startReceiver()
  let agent = await s.agent({ withdrawCallbackUrl: receiver.url })
  await fund(s, agent.agentId)
  const withdraw = async (refId: string) => (await agent.withdraw({ refId })).json.txn_id as string
  const [paid, passedOn, waits] = [await withdraw('a'), await withdraw('b'), await withdraw('c')]
  const late = await withdraw('late')
  await s.close()
  const backup = await testDatabase({ of: database })

  // What the backup knows nothing of: a payout that is paid, and one that the second provider has paid.
  s = await on(database, dataDir, [first, second])
  expect(await holdsOf(s)).toEqual([])
  const [ofPaid = ''] = referencesFor(paid)
  const [refused = '', ofPassedOn = ''] = referencesFor(passedOn)
  first.book.set(ofPaid, { type: 'paid' })
  first.book.set(refused, { type: 'rejected', mayTryAnother: true, reason: 'no such bank' })
  second.book.set(ofPassedOn, { type: 'paid' })
  const before = await turnOf(s)
  agent = new AgentClient(s.service.url, agent.appId, agent.secret, agent.agentId, clock)
  const lost = await withdraw('lost')
  await agent.post(`/payment/orders/${lost}/cancel`, {})
  await expect.poll(() => turnOf(s)).toBeGreaterThan(before)
  const seqBefore = (await agent.get('/payment/wallet')).json.seq
  await s.close()
  await cp(dataDir, otherDir, { recursive: true })

  s = await on(backup, dataDir, [first, second], { paysOut: true })
  agent = new AgentClient(s.service.url, agent.appId, agent.secret, agent.agentId, clock)
  const [hold] = await holdsOf(s)
  expect(hold.found).toMatch(/^It was noticed: mark \d+ of .* is missing/)
  const [maker, checker] = [await signIn(s, 'operator'), await signIn(s, 'admin')]
  // Nothing leaves, not even what is new; nobody has the money back of what may be paid.
  const fresh = await withdraw('fresh')
  await s.service.desk.providers.freshen()
  const cancel = await agent.post(`/payment/orders/${waits}/cancel`, {})
  expect(cancel.json).toMatchObject({ status: 409, code: 'order_not_cancellable' })
  // Nobody is asked while a call of before may be under way.
  await askAfterRestore(s.service.desk, (error) => {
    throw error
  })
  const [{ id, asked_at }] = (await maker.get('/restores')).json.data
  expect(asked_at).toBe(null)
  expect((await maker.get('/home')).json.restore_hold).toMatchObject({ asked: false })
  const soon = { reason: 'too early', code: maker.code() }
  expect((await maker.post(`/restores/${id}/release`, soon)).json.detail).toContain('being asked')
  clock.advance(30_000)
  await untilAsked(s)
  expect((await maker.get('/restores')).json.data[0].asked_at).not.toBe(null)
  expect([await statusOf(agent, paid), await statusOf(agent, passedOn)]).toEqual(['PAID', 'PAID'])
  expect(await statusOf(agent, waits)).toBe('WAITING')
  const doctor = await command(['doctor', '--after-restore'], {
    DATABASE_URL: backup.url,
    DATABASE_OWNER_URL: backup.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'fatal',
  })
  expect(doctor.stdout).toContain('payouts are held since')
  expect(doctor.stdout).toContain('second may have payouts of orders that were created and lost')
  expect((await holdsOf(s)).length).toBe(1)
  expect([...first.submitted, ...second.submitted]).toEqual([])

  // Numbers that named other outcomes before are told apart.
  const { data } = (await agent.get('/payment/events')).json
  const ofNow = data.filter((event: { txn_id: string }) => [paid, passedOn].includes(event.txn_id))
  expect(ofNow.map(({ epoch }: { epoch: number }) => epoch)).toEqual([
    Number(hold.epoch),
    Number(hold.epoch),
  ])
  expect(ofNow[0].seq).toBeLessThanOrEqual(seqBefore)
  // An agent that does not know epochs, and whose number nothing has now, misses nothing either.
  const beyond = (await agent.get('/payment/wallet')).json.seq + 1
  expect((await agent.get(`/payment/events?after=${beyond}`)).json.data).toEqual(data)
  expect((await agent.get(`/payment/events?after=${ofNow[0].seq}`)).json.data).toEqual(
    data.filter(({ seq }: { seq: number }) => seq > ofNow[0].seq),
  )
  const caughtUp = (await agent.get(`/payment/events?after=${seqBefore}&epoch=0`)).json.data
  expect(caughtUp).toEqual(data)
  const epochs = () => receiver.received.map(({ headers }) => headers['x-event-epoch'])
  await expect.poll(epochs).toEqual(['0', String(hold.epoch), String(hold.epoch)])

  // A call of the lost time may arrive after all questions; then they are asked again.
  first.book.set(referencesFor(late)[0] ?? '', { type: 'paid' })
  await s.sql('update restore_holds set asked_at = null')
  await releaseHold(s, maker, checker)
  expect((await maker.get('/home')).json.restore_hold).toBe(null)
  // Who made an order may offer it first; the others find it a moment later.
  clock.advance(10_000)
  await expect.poll(() => first.submitted.length + second.submitted.length).toBe(2)
  const sent = [...first.submitted, ...second.submitted].map(({ reference }) => reference)
  expect(sent.sort()).toEqual([referencesFor(waits)[0], referencesFor(fresh)[0]].sort())
  await expect.poll(() => statusOf(agent, late)).toBe('PAID')
  // One whose number a lost one may have had begins with the epoch of now.
  const made = await s.agent()
  const ofMade = await s.sql('select epoch, after_seq from event_epochs where agent_id = $1', [
    made.agentId,
  ])
  expect(ofMade.rows).toEqual([{ epoch: hold.epoch, after_seq: expect.anything() }])
  await s.close()

  // The same loss, as another machine knows it, is known; so is a file of this one.
  for (const folder of [otherDir, dataDir]) {
    s = await on(backup, folder, [first, second])
    expect((await holdsOf(s)).length).toBe(1)
    await s.close()
  }
  // A loss that is known hides none that came after it.
  const kept = await keptIn(dataDir)
  const known = clock().toISOString()
  clock.advance(600_000)
  await addKept(dataDir, { ...kept, witnessId: '0'.repeat(32), turn: 1_000, at: known })
  await addKept(dataDir, { ...kept, witnessId: 'f'.repeat(32), turn: 1_000, at: clock() })
  await addKept(dataDir, { ...kept, witnessId: '1'.repeat(32), turn: 1_000, at: known })
  s = await on(backup, dataDir, [first, second])
  expect((await holdsOf(s)).length).toBe(2)
  // Nor does a clock that is wrong, whoever's, stay unnoticed.
  const alerts = await s.sql(`select words from alerts where subject = 'clocks'`)
  expect(alerts.rows[0]?.words).toMatch(
    /^The database's clock is \d+ s (behind|ahead of) a process's/,
  )
  await s.close()
  await receiver.close()
  await backup.close()
  await database.close()
})

/** Holds a service's database, as one that lost the last ten minutes. */
const holdNow = (s: TestService, lostAt?: Date | 'not known') =>
  inTransaction(s.backend.pool, (tx) =>
    holdRestored(tx, {
      since: new Date(s.clock().getTime() - 600_000),
      found: 'It was said.',
      now: s.clock,
      ...(lostAt && { lostAt }),
    }),
  )

const differencesIn = async (s: TestService) =>
  (
    await s.sql(
      `select subject from restore_differences where subject not like 'unknown payouts at %'
       order by subject collate "C"`,
    )
  ).rows

it('what providers have is in the books again, whatever would keep it from leaving', async () => {
  const first = new FakeProvider('first', { idempotentByReference: false })
  const second = new FakeProvider('second', { idempotentByReference: false })
  const s = await startTestService({ outside: { providers: [first, second], paysOut: false } })
  const agent = await s.agent()
  await fund(s, agent.agentId)
  const withdraw = async (amount: number) =>
    (await agent.withdraw({ amount })).json.txn_id as string
  // Its approval was lost, and somebody stopped everything at the first sight of the restore.
  const [approved, small] = [await withdraw(1_001), await withdraw(10)]
  await s.sql(
    `insert into approval_rules values ('pay_out', 0, 'THB', true, 100000, false, now(), 'a test')`,
  )
  const stopAll = () =>
    s.sql(
      `insert into stops (agent_id, stop_id, deposits, stopped_at, stopped_by, reason)
       values (0, gen_random_uuid(), false, now(), 'one@sluice.example', 'a restore')`,
    )
  for (const each of [approved, small]) {
    first.book.set(referencesFor(each)[0] ?? '', { type: 'paid' })
  }
  // The first kept nothing of what it refused: of one before it was handed over, of one after.
  const [passedOn, handed, waits] = [await withdraw(10), await withdraw(10), await withdraw(10)]
  const [other, kept] = [await withdraw(10), await withdraw(10)]
  second.book.set(referencesFor(passedOn)[1] ?? '', { type: 'paid' })
  second.book.set(referencesFor(handed)[2] ?? '', { type: 'paid' })
  const { desk } = s.service
  expect(await handOver(desk, await orderOf(desk, handed), first)).toBeDefined()
  // One was refused and passed on since; one was declined, as far as is known, and paid since.
  const [failed, declined] = [await withdraw(10), await withdraw(2_000)]
  const no = { type: 'rejected', mayTryAnother: true, reason: 'closed' } as const
  const attempt = await handOver(desk, await orderOf(desk, failed), first)
  expect(await mayPayOut(desk, await orderOf(desk, declined))).toBe(false)
  const { orderId } = parseTxnId(declined) ?? { orderId: '' }
  const admin = await signIn(s, 'admin')
  await stopAll()
  // Nobody is asked while the clock stands.
  await holdNow(s)
  const words = { reason: 'not this one', code: admin.code() }
  expect((await admin.post(`/approvals/${orderId}/decline`, words)).status).toBe(200)
  // Nobody has money back that may be paid, however often it is looked at.
  if (!attempt) throw new Error('it was not handed over')
  await settle(desk, attempt, no, { passOn: () => {} })
  await expect(settle(desk, attempt, no)).rejects.toThrow('another provider may have it')
  await mayPayOut(desk, await orderOf(desk, declined))
  for (const each of [failed, declined]) expect(await statusOf(agent, each)).toBe('WAITING')
  first.book.set(attempt.reference, no)
  second.book.set(referencesFor(failed)[1] ?? '', { type: 'paid' })
  second.book.set(referencesFor(declined)[0] ?? '', { type: 'paid' })
  s.clock.advance(60_000)
  await untilAsked(s)
  for (const each of [failed, declined]) expect(await statusOf(agent, each)).toBe('PAID')
  const all = [approved, small, passedOn, handed, waits]
  expect(await Promise.all(all.map((each) => statusOf(agent, each)))).toEqual([
    ...['PAID', 'PAID', 'PAID', 'PAID'],
    'WAITING',
  ])
  expect((await orderOf(desk, passedOn)).providerRef).toBe(referencesFor(passedOn)[1])
  expect(await differencesIn(s)).toEqual([])
  expect([...first.submitted, ...second.submitted]).toEqual([])

  // What is held may be restored once more: that is another loss, and all are asked again, whatever they say.
  s.clock.advance(3_600_000)
  first.onAsk = async () => ({ type: 'unknown', reason: 'no\0thing' })
  for (const lostAt of [s.clock(), s.clock(), 'not known'] as const) await holdNow(s, lostAt)
  // While a company cannot be asked, because how to is not to be read, nobody has been asked.
  await s.sql(`
    insert into connectors (name, created_at, created_by) values ('broken', now(), 'a test');
    insert into connector_versions (connector, version, document, sha256, added_at, added_by)
      values ('broken', 1, '{"', repeat('0', 64), now(), 'a test');
    insert into connector_runs (connector, version, n, samples, passed, results, ran_at, ran_by)
      values ('broken', 1, 1, '{}', true, '{}', now(), 'a test');
    insert into connector_uses
      (connector, n, version, run, passed, same_since, former_void, used_at, used_by)
      values ('broken', 1, 1, 1, true, 1, false, now(), 'a test')`)
  await expect
    .poll(async () => {
      await desk.providers.freshen()
      return desk.providers.connectors?.hasUnreadable
    })
    .toBe(true)
  const holds = () => s.sql('select epoch, asked_at from restore_holds order by epoch')
  expect((await holds()).rows.map(({ asked_at }) => asked_at !== null)).toEqual([true, false])
  s.clock.advance(60_000)
  await askAfterRestore(desk, () => {})
  expect((await holds()).rows.map(({ asked_at }) => asked_at !== null)).toEqual([true, false])
  await s.sql(`delete from connector_uses where connector = 'broken'`)
  await untilAsked(s)
  expect((await holds()).rows.every(({ asked_at }) => asked_at !== null)).toBe(true)
  const subjects = [`${waits} at first`, `${other} at first`, `${kept} at first`].sort()
  expect(await differencesIn(s)).toEqual(subjects.map((subject) => ({ subject })))

  // One that can be asked again is settled by its provider; the other has to be named by two people.
  const [ofWaits = ''] = referencesFor(waits)
  const unsureOf = new Set([waits, kept])
  first.onAsk = async ({ reference }) =>
    [...unsureOf].some((each) => referencesFor(each).includes(reference))
      ? { type: 'unknown', reason: 'down' }
      : { type: 'not_found' }
  // The second has one of them meanwhile; that says nothing of what the first has of it.
  const [ofKept = ''] = referencesFor(kept)
  second.book.set(ofKept, { type: 'accepted' })
  const asBooked = { isDebited: true, references: [ofKept] }
  expect(await handOver(desk, await orderOf(desk, kept), second, asBooked)).toBeDefined()
  const chief = await signIn(s, 'admin')
  const readOpen = async () => {
    const [restore] = (await chief.get('/restores')).json.data
    return {
      id: restore.id,
      differences: restore.differences.filter((each: { open: boolean }) => each.open),
    }
  }
  await expect
    .poll(async () => {
      await untilAsked(s)
      return (await readOpen()).differences.map(({ subject }: { subject: string }) => subject)
    })
    .toEqual([
      ...[`${waits} at first`, `${kept} at first`].sort(),
      ...['unknown payouts at first', 'unknown payouts at second'],
    ])
  await untilAsked(s)
  unsureOf.delete(kept)
  await expect
    .poll(async () => {
      await untilAsked(s)
      return (await readOpen()).differences.map(({ subject }: { subject: string }) => subject)
    })
    .toEqual([`${waits} at first`, 'unknown payouts at first', 'unknown payouts at second'])
  const open = await readOpen()
  const openNow = open.differences
  expect(openNow[0]).toMatchObject({ txn_id: waits, provider: 'first' })
  const seen = openNow.slice(1).map(({ subject }: { subject: string }) => {
    return { subject, finding: 'seen' }
  })
  const named = (finding: object) => [{ subject: `${waits} at first`, ...finding }, ...seen]
  const release = async (differences: object[]) =>
    chief.post(`/restores/${open.id}/release`, {
      ...{ reason: 'their lists fit', differences, code: chief.code() },
    })
  for (const [differences, fault] of [
    [[], `must say what was found of "${waits} at first"`],
    [seen, `must say what was found of "${waits} at first"`],
    [named({ finding: 'seen' }), `must say of ${waits} that nobody paid it`],
    [named({ finding: 'has_it', reference: 'another' }), 'must name a reference'],
    [
      [...named({ finding: 'not_paid' }), { subject: 'nothing', finding: 'seen' }],
      'names "nothing"',
    ],
  ] as const) {
    const refused = await release(differences as object[])
    expect(refused.json).toMatchObject({ status: 422, code: 'invalid_request' })
    expect(refused.json.errors[0]).toMatchObject({
      field: 'differences',
      message: expect.stringContaining(fault),
    })
  }
  const proposed = await release(named({ finding: 'has_it', reference: ofWaits }))
  expect(proposed.status).toBe(202)
  const colleague = await signIn(s, 'operator')
  const shown = (await colleague.get(`/approvals/${proposed.json.proposal}`)).json
  expect(shown.after.differences[0]).toContain(`it has ${ofWaits}`)
  const yes = { digest: shown.digest, code: colleague.code() }
  expect(
    (await colleague.post(`/approvals/${proposed.json.proposal}/approve`, yes)).json,
  ).toMatchObject({ state: 'done' })
  // It is booked with that provider, and nothing is sent.
  expect(await orderOf(desk, waits)).toMatchObject({
    ...{ status: 'WAITING', provider: 'first', providerRef: ofWaits },
  })
  expect([...first.submitted, ...second.submitted]).toEqual([])
  await s.prove()
  await s.close()
})

it('live goes on only with a witness, or beside a process that has one', async () => {
  const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example' }
  const database = await testDatabase()
  const dataDir = await tempFolder()
  const bank = new FakeProvider('bank')
  let s = await on(database, dataDir, [bank], { env: live })
  // A new database has nothing to lose.
  expect(await holdsOf(s)).toEqual([])
  const agent = await s.agent()
  await fund(s, agent.agentId)
  await s.close()

  s = await on(database, dataDir, [bank], { env: live })
  const other = await tempFolder()
  const beside = on(database, other, [bank], { env: live, patienceMs: 300_000 })
  await beside.then((each) => each.close())
  expect(await holdsOf(s)).toEqual([])
  // Another machine's file knows nothing of what came hours after it.
  clock.advance(2 * 3_600_000)
  const turn = await turnOf(s)
  await s.agent()
  await fund(s, agent.agentId)
  await expect.poll(() => turnOf(s)).toBeGreaterThan(turn)
  await s.close()
  const backup = await testDatabase({ of: database })
  s = await on(backup, other, [bank], { env: live })
  expect((await holdsOf(s))[0]?.found).toContain('long before its last mark, and no other process')
  await s.close()
  await backup.close()

  // There is no file and nobody else; heads that were published once do not stand for what came after them.
  const headsFile = join(await tempFolder(), 'heads')
  await writeFile(headsFile, `${JSON.stringify((await keptIn(dataDir)).heads)}\n`)
  s = await on(database, await tempFolder(), [bank], { env: { ...live, HEADS_FILE: headsFile } })
  expect((await holdsOf(s))[0]?.found).toContain('nothing is kept in DATA_DIR')
  const names = await readdir(join(s.config.dataDir, 'witness'))
  expect(names.length).toBe(1)
  await s.close()
  // Where nothing can be kept each start would be held, so there is none.
  const full = await tempFolder()
  await writeFile(join(full, 'witness'), 'not a folder')
  await expect(on(database, full, [bank], { env: live })).rejects.toThrow('DATA_DIR must be')
  await database.close()
})
