import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openCallbackPool } from '../../src/callbacks/callback-pool.ts'
import { type Claim, claimAtTurns, claimThoroughly } from '../../src/callbacks/claim-callbacks.ts'
import type { ClaimedCallback } from '../../src/callbacks/claimed-callback.ts'
import type { Attempt } from '../../src/callbacks/post-callback.ts'
import { recordAttempts } from '../../src/callbacks/record-attempts.ts'
import { openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { Load } from '../support/load.ts'
import {
  cleanUp,
  commandJson,
  dataFolder,
  type Env,
  kill,
  postmasterPid,
  serve,
  tempFolder,
  verifyClean,
} from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { makeOutcomes, startSender, type TestSender } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const patient = { interval: 20 }

let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await receiver.close()
})

/** The test takes orders in a process that sends nothing; those that send are processes to be killed. */
describe('processes on one database', () => {
  let s: TestService
  let agent: AgentClient
  let env: Env
  beforeEach(async () => {
    s = await startTestService({ env: { ROLE: 'api' }, realTime: true })
    agent = await s.agent({ depositCallbackUrl: receiver.url })
    env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      DATA_DIR: await tempFolder(),
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'warn',
    }
  })
  afterEach(async () => {
    await cleanUp()
    await s.prove()
    await s.close()
  })

  const startWorker = () => serve({ ...env, ROLE: 'worker' })

  async function paid(count: number): Promise<string[]> {
    const orders = await Promise.all(Array.from({ length: count }, () => agent.deposit()))
    for (const { json } of orders) await agent.trigger(json.txn_id, 'PAID')
    return orders.map(({ json }) => json.txn_id)
  }

  /** What happens when nothing is heard of a claim for its time. */
  const endLeases = () => s.sql('update callback_claims set lease_until = now()')

  const states = async () =>
    (
      await s.sql(`select case when k.turn is null then state else 'sending' end as state
        from callbacks c
        left join callback_claims k on k.agent_id = c.agent_id and c.seq = any(k.seqs) order by 1`)
    ).rows.map(({ state }) => state)

  const timesReceived = () => {
    const times = new Map<string, number>()
    for (const { body } of receiver.received) times.set(body, (times.get(body) ?? 0) + 1)
    return [...times.values()]
  }

  /** Hears what senders are told. */
  async function eavesdrop(): Promise<{ heard: string[]; end(): Promise<void> }> {
    const client = new pg.Client(s.database.ownerUrl)
    const heard: string[] = []
    client.on('error', () => {})
    client.on('notification', ({ payload }) => heard.push(payload ?? ''))
    await client.connect()
    await client.query('listen sluice_callbacks')
    return { heard, end: () => client.end() }
  }

  test('killed after the 200 and before it is written down: sent once more, and nothing is lost', async () => {
    const answers: ServerResponse[] = []
    receiver.answer = (_received, response) => answers.push(response)
    const first = await startWorker()
    await paid(4)
    await receiver.until(4)

    // Nothing can be written down while the rows are locked.
    const lock = new pg.Client(s.database.ownerUrl)
    lock.on('error', () => {})
    await lock.connect()
    await lock.query('begin')
    await lock.query('select from sluice.callbacks for no key update')
    for (const answer of answers) answer.end()
    await expect
      .poll(
        async () =>
          (
            await s.sql(`select from pg_stat_activity where datname = current_database()
              and wait_event_type = 'Lock' and query like 'with told as (%'`)
          ).rowCount,
        patient,
      )
      .toBe(1)
    await first.stop('SIGKILL')
    await lock.query('rollback')
    await lock.end()
    expect(await states()).toEqual(Array(4).fill('sending'))

    receiver.answer = (_received, response) => response.end()
    const second = await startWorker()
    expect(receiver.received.length).toBe(4)
    await endLeases()
    await expect.poll(states, patient).toEqual(Array(4).fill('delivered'))
    expect(await second.stop()).toMatchObject({ code: 0 })
    expect(timesReceived()).toEqual([2, 2, 2, 2])
  })

  test('killed between the commit and the wake-up: the poll of another process sends it', async () => {
    const proxy = await TcpProxy.open(s.database.url)
    const api = await serve({ ...env, ROLE: 'api', DATABASE_URL: proxy.url })
    await startWorker()
    const { heard, end } = await eavesdrop()
    const { json } = await agent.deposit()
    // Where its secret is used from is on record, so that the next commit is the outcome's.
    const addresses = async () => (await s.sql('select from secret_addresses')).rowCount
    await expect.poll(addresses, patient).toBeGreaterThan(0)

    proxy.cutNextCommits(['silent'], () => kill(api.pid))
    const cancelled = api.agent(agent).post(`/payment/orders/${json.txn_id}/cancel`)
    await expect(cancelled).rejects.toThrow()
    expect(await api.ended).toMatchObject({ signal: 'SIGKILL' })
    await receiver.until(1)
    expect(receiver.received[0]?.json).toMatchObject({
      transactionId: json.txn_id,
      status: 'VOID',
    })
    await expect.poll(states, patient).toEqual(['delivered'])
    expect(heard).toEqual([])
    await end()
    await proxy.close()
  })

  test('an outcome from the command line, of which no sender is told, is sent by the poll', async () => {
    await startWorker()
    const { heard, end } = await eavesdrop()
    // If the command is slow, the service may hear from the bank first, and tells its senders.
    let txnId = ''
    let times = 0
    do {
      heard.length = 0
      txnId = (await agent.deposit()).json.txn_id
      await commandJson(['trigger', txnId, 'PAID'], env)
      await receiver.until(++times)
    } while (heard.length > 0 && times < 5)
    expect(receiver.received.at(-1)?.json).toMatchObject({ transactionId: txnId, status: 'PAID' })
    expect(heard).toEqual([])
    await end()
  })

  test('an outcome whose commit fails is not sent, and its neighbours are', async () => {
    const worker = await startWorker()
    const orders = await Promise.all(Array.from({ length: 5 }, () => agent.deposit()))
    const txnIds: string[] = orders.map(({ json }) => json.txn_id)
    const [unlucky = '', ...others] = txnIds
    // Fails when everything is written, at the commit itself.
    await s.sql(`create function refuse() returns trigger language plpgsql as
      $$ begin raise 'not this one'; end $$`)
    await s.sql(`create constraint trigger refuse after insert on callbacks
      deferrable initially deferred for each row
      when (new.order_id = '${unlucky.split('-')[1]}') execute function refuse()`)
    const cancel = (id: string) => agent.post(`/payment/orders/${id}/cancel`)
    const answers = await Promise.all(txnIds.map(cancel))
    expect(answers.map(({ status }) => status)).toEqual([500, 200, 200, 200, 200])
    await expect.poll(states, patient).toEqual(Array(4).fill('delivered'))
    expect(receiver.received.map(({ json }) => json.transactionId).toSorted()).toEqual(
      others.toSorted(),
    )

    await s.sql('drop trigger refuse on callbacks')
    expect((await cancel(unlucky)).status).toBe(200)
    await expect.poll(states, patient).toEqual(Array(5).fill('delivered'))
    await worker.stop()
    expect(timesReceived()).toEqual([1, 1, 1, 1, 1])
    expect(receiver.received.at(-1)?.json.transactionId).toBe(unlucky)
  })

  test('frozen past its lease and resumed, a process does not overwrite what another one does', async () => {
    const answers: ServerResponse[] = []
    receiver.answer = (_received, response) => answers.push(response)
    const frozen = await startWorker()
    await paid(1)
    await receiver.until(1)
    frozen.child.kill('SIGSTOP')

    const other = await startWorker()
    await endLeases()
    await receiver.until(2)
    const claim = `select state, sender, lease_until, due_at, attempts
      from callbacks c
      left join callback_claims k on k.agent_id = c.agent_id and c.seq = any(k.seqs)`
    const before = (await s.sql(claim)).rows
    expect(before).toMatchObject([{ state: 'waiting', sender: expect.any(String), attempts: 0 }])

    frozen.child.kill('SIGCONT')
    answers[0]?.writeHead(500).end()
    // Its attempt is kept, but it says nothing about the callback any more.
    const attempts = async () =>
      (await s.sql(`select error is null as accepted from callback_attempts order by attempt_id`))
        .rows
    await expect.poll(attempts, patient).toEqual([{ accepted: false }])
    expect((await s.sql(claim)).rows).toEqual(before)

    answers[1]?.end()
    await expect.poll(states, patient).toEqual(['delivered'])
    expect((await s.sql(claim)).rows).toMatchObject([{ attempts: 1, sender: null }])
    expect(await attempts()).toEqual([{ accepted: false }, { accepted: true }])
    expect(await Promise.all([frozen.stop(), other.stop()])).toMatchObject([
      { code: 0 },
      { code: 0 },
    ])
    expect(timesReceived()).toEqual([2])
  })

  test('told to end, a process ends and writes down what is under way, and leaves the rest', async () => {
    const answers: ServerResponse[] = []
    receiver.answer = (_received, response) => answers.push(response)
    const first = await startWorker()
    await paid(10)
    await receiver.until(4)
    const ended = first.stop('SIGTERM')
    const isUp = () =>
      fetch(`${first.url}/healthz`).then(
        () => true,
        () => false,
      )
    await expect.poll(isUp, patient).toBe(false)
    expect(await states()).toEqual([...Array(4).fill('sending'), ...Array(6).fill('waiting')])
    for (const answer of answers) answer.end()
    expect(await ended).toMatchObject({ code: 0, signal: null })
    expect(await states()).toEqual([...Array(4).fill('delivered'), ...Array(6).fill('waiting')])
    expect(receiver.received.length).toBe(4)

    receiver.answer = (_received, response) => response.end()
    const second = await startWorker()
    await expect.poll(states, patient).toEqual(Array(10).fill('delivered'))
    await second.stop()
    expect(timesReceived()).toEqual(Array(10).fill(1))
  })
})

test('PostgreSQL killed and shut down under load: every outcome arrives, in order, none is lost', async () => {
  const dataDir = await dataFolder()
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'fatal' }
  const service = await serve(env)
  const { app_id: appId, secret } = await commandJson(
    [
      ...['agent', 'create', '--name', 'Load', '--rate-limit', '0', '--method', 'link'],
      ...['--expires-in', '2592000'],
      ...['--deposit-callback', receiver.url, '--withdraw-callback', receiver.url],
    ],
    env,
  )
  const load = new Load(service.url, [{ appId, secret, keepsRevertFee: false }], 1, 8)
  for (const signal of ['SIGKILL', 'SIGINT', 'SIGKILL'] as const) {
    await load.answered(60)
    const killed = postmasterPid(dataDir) ?? 0
    process.kill(killed, signal)
    await expect.poll(() => postmasterPid(dataDir) ?? killed, patient).not.toBe(killed)
  }
  await load.answered(50)
  await load.stop()
  expect(load.surprises).toEqual([])

  const postgres = await openEmbeddedPostgres({ dataDir, use: 'command', log: () => {} })
  const owner = new pg.Client({
    connectionString: postgres.ownerUrl,
    options: '-c search_path=sluice',
  })
  await owner.connect()
  await expect
    .poll(async () => {
      // A claim whose answer was lost with the database ends with its lease.
      await owner.query(`update callback_claims set lease_until = now() - interval '1 minute'
        where lease_until < now() + interval '45 seconds'`)
      const { rows } = await owner.query(
        `select distinct state from callbacks where state <> 'superseded'`,
      )
      return rows
    }, patient)
    .toEqual([{ state: 'delivered' }])
  await owner.end()
  await postgres.close()

  const received = new Map<string, string[]>()
  for (const { json } of receiver.received) {
    const told = received.get(json.transactionId) ?? []
    // The same once more is not a new state.
    if (told.at(-1) !== json.status) told.push(json.status)
    received.set(json.transactionId, told)
  }
  const expected = load.placed.filter(({ outcomes }) => outcomes.length > 0)
  expect(expected.length).toBeGreaterThan(30)
  expect(received).toEqual(new Map(expected.map(({ txnId, outcomes }) => [txnId, outcomes])))
  expect(await service.stop()).toMatchObject({ code: 0 })
  await verifyClean(env)
  await cleanUp()
})

describe('the connection on which a sender listens', () => {
  let s: TestService
  let sender: TestSender
  beforeEach(async () => {
    s = await startTestService({ env: { ROLE: 'api' } })
    sender = startSender(s, { listens: true })
  })
  afterEach(async () => {
    await sender.stop()
    await s.prove()
    await s.close()
  })

  const listener = async (): Promise<number | undefined> =>
    (
      await s.sql(`select max(pid) as pid from pg_stat_activity where datname = current_database()
        and application_name = 'sluice listener' and query = 'listen sluice_callbacks'`)
    ).rows[0].pid

  test.each([
    ['is cut off', (pid: number) => s.sql('select pg_terminate_backend($1)', [pid])],
    ['hangs', (pid: number) => process.kill(pid, 'SIGSTOP')],
  ])('%s: what it misses is sent by the poll, and it is made anew', async (_how, fail) => {
    const agent = await s.agent({ depositCallbackUrl: receiver.url })
    const pay = async () => agent.trigger((await agent.deposit()).json.txn_id, 'PAID')
    await expect.poll(listener, patient).toEqual(expect.any(Number))
    const failed = (await listener()) ?? 0
    await pay()
    await receiver.until(1)
    try {
      await fail(failed)
      await pay()
      await expect
        .poll(async () => {
          await sender.sender.poll()
          return receiver.received.length
        }, patient)
        .toBe(2)

      const others = async () =>
        (
          await s.sql(
            `select from pg_stat_activity where datname = current_database() and pid <> $1
             and application_name = 'sluice listener' and query = 'listen sluice_callbacks'
             and state = 'idle'`,
            [failed],
          )
        ).rowCount
      await expect.poll(others, patient).toBe(1)
      // Nobody polls any more: this one is heard of.
      await pay()
      await receiver.until(3)
    } finally {
      try {
        process.kill(failed, 'SIGCONT')
      } catch {
        // It was cut off.
      }
    }
  })
})

test('what cannot be written down before its lease ends goes out again, and keeps no place', async () => {
  const s = await startTestService({ env: { ROLE: 'api' } })
  const sender = startSender(s, { pollEveryMs: 50 })
  const agent = await s.agent({ depositCallbackUrl: receiver.url })
  const pay = async () => agent.trigger((await agent.deposit()).json.txn_id, 'PAID')
  const bySeq = (seq: string) =>
    receiver.received.filter(({ headers }) => headers['x-event-seq'] === seq).length

  await s.sql('alter table callback_attempts rename to away')
  await pay()
  await receiver.until(1)
  s.clock.advance(30_000)
  await pay()
  await receiver.until(2)
  /** Both are tried to be written down once more, from beginning to end. */
  const triedAgain = async () => {
    const tried = sender.errors.length
    await expect.poll(() => sender.errors.length, patient).toBeGreaterThan(tried + 1)
  }
  await triedAgain()
  // The first lease ends, the second does not.
  s.clock.advance(31_000)
  await triedAgain()
  await expect.poll(() => bySeq('1'), patient).toBe(2)
  await s.sql('alter table away rename to callback_attempts')
  const delivered = async () =>
    (await s.sql(`select from callbacks where state = 'delivered'`)).rowCount
  await expect.poll(delivered, patient).toBe(2)
  await expect.poll(() => sender.sender.isIdle, patient).toBe(true)
  expect(bySeq('2')).toBe(1)
  await sender.stop()
  await s.prove()
  await s.close()
})

const accepted: Attempt = {
  ...{ startedAt: new Date(), durationMs: 1, url: 'http://localhost/', address: '127.0.0.1' },
  ...{ status: 200, responseHeaders: '{}', responseBody: Buffer.alloc(0), retryAfter: undefined },
  ...{ error: null, reason: 'accepted' },
}

test('a claim ends with the last of its callbacks, and a result counts once', async () => {
  const s = await startTestService({ env: { ROLE: 'api' } })
  const pool = openCallbackPool(s.database.url, () => {})
  const agent = await s.agent({ depositCallbackUrl: receiver.url })
  const { agentId } = agent
  const sender = randomUUID()
  await makeOutcomes(s, agent, 3, ['PAID'])
  const claim = () =>
    claimThoroughly(
      pool,
      { agentId, turn: null, most: 32, underWay: 0, firstWidth: 32 },
      { sender, now: s.clock, widest: 32 },
    )
  const record = (callback: ClaimedCallback | undefined, attempt: Attempt, by = sender) =>
    recordAttempts(pool, callback ? [{ callback, attempt }] : [], {
      ...{ sender: by, now: s.clock, widest: 32, random: Math.random, isHealthy: () => true },
    })
  const held = async () =>
    (await s.sql('select seqs from callback_claims order by turn')).rows.map(({ seqs }) => seqs)
  const states = async () =>
    (await s.sql('select state from callbacks order by seq')).rows.map(({ state }) => state)

  const { callbacks } = await claim()
  const [first, second, third] = callbacks
  expect(await held()).toEqual([['1', '2', '3']])
  await record(second, accepted)
  expect((await held()).map((seqs) => [...seqs].sort())).toEqual([['1', '3']])
  expect(await states()).toEqual(['waiting', 'delivered', 'waiting'])
  // Told once more, and otherwise: it is not in the claim any more.
  await record(second, { ...accepted, status: 500, error: 'answered 500 instead of 200' })
  expect(await states()).toEqual(['waiting', 'delivered', 'waiting'])
  expect((await claim()).callbacks).toEqual([])

  // Another process with the same turn, which a database that lost its last moments gave out twice.
  await record(first, accepted, randomUUID())
  expect(await states()).toEqual(['waiting', 'delivered', 'waiting'])

  await record(first, accepted)
  await record(third, { ...accepted, status: 500, error: 'answered 500 instead of 200' })
  expect(await held()).toEqual([])
  expect(await states()).toEqual(['delivered', 'delivered', 'waiting'])

  // The third comes due again and is claimed in another turn: what is said of the old one is void.
  s.clock.advance(3_600_000)
  expect((await claim()).callbacks.map(({ seq }) => seq)).toEqual([3n])
  await record(third, accepted)
  expect(await held()).toEqual([['3']])
  expect(await states()).toEqual(['delivered', 'delivered', 'waiting'])
  await pool.end()
  await s.prove()
  await s.close()
})

test('a later state is sent only when it is on disk that the earlier one is done with', async () => {
  const s = await startTestService({ env: { ROLE: 'api' } })
  const pool = openCallbackPool(s.database.url, () => {})
  const agent = await s.agent({ depositCallbackUrl: receiver.url })
  const { agentId } = agent
  const sender = randomUUID()
  const options = () => ({ sender, now: s.clock, widest: 32 })
  const record = (callbacks: readonly ClaimedCallback[]) =>
    recordAttempts(
      pool,
      callbacks.map((callback) => ({ callback, attempt: accepted })),
      { sender, now: s.clock, widest: 32, random: Math.random, isHealthy: () => true },
    )
  for (let round = 0; round < 10; round++) {
    await makeOutcomes(s, agent, 1, ['PAID', 'VOID'])
    const all = { agentId, most: 32, underWay: 0 }
    const earlier = await claimThoroughly(pool, { ...all, turn: null, firstWidth: 32 }, options())
    expect(earlier.callbacks).toHaveLength(1)
    await record(earlier.callbacks)
    const { rows } = await s.sql('select pg_current_wal_insert_lsn() as written')
    const wanted = { ...all, turn: earlier.turn }
    let later: Claim | undefined
    await claimAtTurns(pool, [wanted], options(), (_, claim) => {
      later = claim
    })
    expect(later?.callbacks.map(({ seq }) => seq)).toEqual([(earlier.callbacks[0]?.seq ?? 0n) + 1n])
    const onDisk = 'select pg_current_wal_flush_lsn() >= $1::pg_lsn as flushed'
    expect((await s.sql(onDisk, [rows[0].written])).rows).toEqual([{ flushed: true }])
    await record(later?.callbacks ?? [])
  }
  await pool.end()
  await s.prove()
  await s.close()
})
