import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { inTransaction, type Tx } from '../../src/db/in-transaction.ts'
import { migrate } from '../../src/db/migrate.ts'
import { isContention, openPool } from '../../src/db/pool.ts'
import { noChange } from '../../src/ledger/accounts.ts'
import type { JournalRow } from '../../src/ledger/book.ts'
import { journalColumns } from '../../src/ledger/book-columns.ts'
import { journalHash } from '../../src/ledger/journal-hash.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { verify } from '../../src/proof/verify.ts'
import { Teller } from '../../src/teller/teller.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { newOrder, orderIdOf } from '../support/naive-model.ts'

let database: TestDatabase
let folder: string
const clients: pg.Client[] = []

beforeEach(async () => {
  database = await testDatabase({ empty: true })
  folder = mkdtempSync(join(tmpdir(), 'sluice-migrations-'))
  file('0001_t.sql', 'create table t (a int); insert into t select generate_series(1, 1000);')
  await run()
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client.end()
  await database.close()
  rmSync(folder, { recursive: true })
})

it('a lock that is held is asked for again, who holds it is named, and nobody waits behind the question', async () => {
  const holder = await connect()
  await holder.query('begin')
  const { rows } = await holder.query('select pg_backend_pid() as pid, count(*) from sluice.t')
  file('0002_more.sql', 'alter table t add column b int;')
  const said: string[] = []
  const migrating = run((message) => said.push(message))
  await seen(
    `select from pg_locks where relation = 'sluice.t'::regclass and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  )

  // Waits behind the alter table, and gets past it while the holder still holds its lock.
  await (await connect()).query('insert into sluice.t values (1)')
  await until(() => said.length > 0)
  expect(said[0]).toContain(`0002_more.sql waits for session ${rows[0].pid} (`)
  expect(said[0]).toContain('idle in transaction')

  await holder.query('commit')
  expect(await migrating).toEqual(['0002_more.sql'])
})

it('what is interrupted outside a transaction goes on where it was, and half an index is built again', async () => {
  file(
    '0002_index.sql',
    `-- outside a transaction
alter table t add column if not exists b int default 7;
create index concurrently if not exists t_a on t (a);
create index concurrently if not exists t_b on t (b);
`,
  )
  // An index waits for every snapshot that is older than itself.
  const holder = await connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select 1')
  const migrating = run()
  const fault = expect(migrating).rejects.toThrow(/0002_index.sql failed at "create index .*t_a/)
  await seen(
    `select from pg_stat_activity where datname = current_database()
       and query like 'create index concurrently%' and wait_event = 'virtualxid'`,
  )
  const state = `select array_agg(c.relname || ' ' || i.indisvalid) as found
    from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname in ('t_a', 't_b')`
  const onlooker = await connect()
  await onlooker.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like 'create index concurrently%'`,
  )
  await fault
  expect((await onlooker.query(state)).rows).toEqual([{ found: ['t_a false'] }])

  await holder.query('commit')
  expect(await run()).toEqual(['0002_index.sql'])
  expect((await onlooker.query(state)).rows).toEqual([{ found: ['t_a true', 't_b true'] }])
  expect(await run()).toEqual([])
})

it('those that migrate at once do not wait for each other in a circle', async () => {
  file(
    '0002_index.sql',
    '-- outside a transaction\ncreate index concurrently if not exists t_a on t (a);\n',
  )
  const applied = await Promise.all(Array.from({ length: 5 }, () => run()))
  expect(applied.flat()).toEqual(['0002_index.sql'])
})

it('every one of ours that runs outside a transaction goes on after an end before it was written down', async () => {
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  await database.close()
  database = await testDatabase({ empty: true })
  const client = await connect()
  for (const name of readdirSync(ours).sort()) {
    copyFileSync(new URL(name, ours), join(folder, name))
    expect(await run()).toEqual([name])
    if (!readFileSync(new URL(name, ours), 'utf8').startsWith('-- outside')) continue
    await client.query('delete from sluice.schema_migrations where name = $1', [name])
    expect(await run()).toEqual([name])
  }
  const fresh = await testDatabase()
  expect(await schemaOf(database.ownerUrl)).toEqual(await schemaOf(fresh.ownerUrl))
  await fresh.close()
})

it('a teller at work does not notice columns that are added', async () => {
  await database.close()
  database = await testDatabase()
  const options = { url: database.url, max: 1, onError: () => {} }
  const owner = openPool({ ...options, url: database.ownerUrl, name: 'test', as: 'owner' })
  const pool = openPool({ ...options, name: 'test teller', pipeline: true })
  const teller = new Teller({
    pool,
    localTime: localTimeIn('Asia/Bangkok'),
    writers: 1,
    maxBatch: 500,
    maxQueue: 10_000,
    patienceMs: 10_000,
  })
  const terms = { ...defaultTerms, name: 'Served', currency: 'THB' } as const
  const { agent } = await createAgent(owner, [Buffer.alloc(32, 7)], terms, new Date())
  const { agentId } = agent
  for (const round of [1, 2]) {
    const at = new Date()
    const asked = { agentId, at } as const
    const deposit = newOrder({ agentId, orderId: orderIdOf(round), kind: 'deposit', createdAt: at })
    await teller.do({ ...asked, type: 'create', order: deposit })
    const payment = { paymentId: `bank:${round}`, amountMinor: 10_000n, paidAt: at, payer: null }
    const paid = { ...asked, type: 'receive_payment', provider: null, payment } as const
    await teller.do({ ...paid, orderId: deposit.orderId })
    const orderId = orderIdOf(round + 10)
    const withdrawal = newOrder({ agentId, orderId, kind: 'withdraw', createdAt: at })
    await teller.do({ ...asked, type: 'create', order: withdrawal })
    await teller.do({ ...asked, type: 'outcome', orderId, to: 'FAILED' })
    for (const table of [
      'wallets',
      'orders',
      'journal',
      'payments',
      'payment_claims',
      'callbacks',
    ]) {
      await owner.query(`alter table ${table} add column if not exists new_${round} text`)
    }
  }
  expect((await verify(pool, {})).map(({ finding }) => finding)).toEqual([null])
  await Promise.all([owner.end(), pool.end()])
})

it('earlier orders get the terms that their rows show, and else those that their agent has', async () => {
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  for (const name of readdirSync(ours).filter((each) => each < '0025')) {
    copyFileSync(new URL(name, ours), join(folder, name))
  }
  await database.close()
  database = await testDatabase({ empty: true })
  await run()
  const client = await connect()
  await client.query(`set search_path to sluice;
    insert into agents (agent_id, app_id, name, currency, status, deposit_fee, withdraw_fee, revert_fee,
        late_money, method, expires_in_s, min_deposit, max_deposit, min_withdraw, max_withdraw, rate_limit,
        allowed_ips, frame_origins, created_at, updated_at)
      select 1, 'app_1', 'Agent', 'THB', 'active', '0%', '0%', 'return', 'credit', 'link', 900, 1, 1000, 1,
        1000, 0, '{}', '{}', now(), now();
    insert into wallets select 1, 0, 0, 0, 0, 0, 0;
    insert into orders (agent_id, order_id, kind, ref_id, user_id, currency, amount, fee, fee_rule,
        account_name, account_no, bank_code, status, version, answer, created_at, expires_at, completed_at,
        paid_amount, paid_fee)
      select 1, gen_random_uuid(), kind, ref_id, 'u', 'THB', 100, fee, '0%', 'A B', '1234567890', 'SCB',
        status, 1, '', now(), case kind when 'deposit' then now() end,
        case when status <> 'WAITING' then now() end, case status when 'REVERT' then 100 end,
        case status when 'REVERT' then fee end
      from (values ('deposit', 'late', 0, 'EXPIRED'), ('deposit', 'plain', 0, 'WAITING'),
        ('withdraw', 'kept', 5, 'REVERT'), ('withdraw', 'free', 0, 'REVERT'),
        ('withdraw', 'returned', 5, 'REVERT'), ('withdraw', 'open', 5, 'WAITING')
      ) o(kind, ref_id, fee, status);
    insert into payments (agent_id, payment_id, order_id, amount, paid_at, reported_at, state, why)
      select 1, 'bank:1', order_id, 100, now(), now(), 'waiting', 'late' from orders where ref_id = 'late';
    insert into journal (agent_id, seq, order_id, event, at, currency, available_change, held_change,
        clearing_change, fees_change, adjustments_change, available, held, clearing, fees, adjustments)
      select 1, row_number() over (), order_id, 'withdraw_reverted', now(), 'THB', 100 - moved, 0, -100,
        moved, 0, 0, 0, 0, 0, 0
      from orders join (values ('kept', 0), ('free', 0), ('returned', -5)) j(name, moved) on name = ref_id`)
  const found = () =>
    client.query(`select ref_id, late_money, revert_fee from sluice.orders order by ref_id`)
  copyFileSync(new URL('0025_terms_of_orders.sql', ours), join(folder, '0025_terms_of_orders.sql'))
  expect(await run()).toEqual(['0025_terms_of_orders.sql'])
  const filled = [
    { ref_id: 'free', late_money: null, revert_fee: 'return' },
    { ref_id: 'kept', late_money: null, revert_fee: 'keep' },
    { ref_id: 'late', late_money: 'review', revert_fee: null },
    { ref_id: 'open', late_money: null, revert_fee: 'return' },
    { ref_id: 'plain', late_money: 'credit', revert_fee: null },
    { ref_id: 'returned', late_money: null, revert_fee: 'return' },
  ]
  expect((await found()).rows).toEqual(filled)
  // What has its terms keeps them, whatever the agent's are when it goes on.
  await client.query(`update sluice.agents set revert_fee = 'keep', late_money = 'review'`)
  await client.query(`delete from sluice.schema_migrations where name like '0025%'`)
  expect(await run()).toEqual(['0025_terms_of_orders.sql'])
  expect((await found()).rows).toEqual(filled)
})

it('earlier books get their money by provider, in suspense and in the house, once', async () => {
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  for (const name of readdirSync(ours).filter((each) => each < '0027')) {
    copyFileSync(new URL(name, ours), join(folder, name))
  }
  await database.close()
  database = await testDatabase({ empty: true })
  await run()
  const client = await connect()
  await client.query(booksBeforeTheHouse)
  const name = '0027_books_of_the_house.sql'
  copyFileSync(new URL(name, ours), join(folder, name))
  expect(await run()).toEqual([name])
  const select = async (text: string) => (await client.query(text)).rows
  const written = async () => ({
    clearings: await select(
      `select agent_id::int, provider, balance::int from sluice.clearings order by agent_id, provider`,
    ),
    wallets: await select(
      `select agent_id::int, currency, seq::int, available::int, suspense::int, clearing::int,
         adjustments::int from sluice.wallets where seq > 0 order by agent_id`,
    ),
    appended: await select(
      `select agent_id::int, seq::int, event, clearing_at, clearing_there::int, once_key
       from sluice.journal where event like 'payment_%' order by agent_id, seq`,
    ),
    payments: await select(
      `select payment_id, state, received_seq::int, returned_seq::int from sluice.payments
       order by payment_id`,
    ),
    unmatched: await select(
      `select u.payment_id, u.state, u.received_seq::int, u.decided_seq::int, c.agent_id::int as claim
       from sluice.unmatched_payments u join sluice.payment_claims c using (payment_id)
       order by u.payment_id`,
    ),
  })
  const first = await written()
  expect(first).toEqual({
    clearings: [
      { agent_id: -2, provider: 'bank', balance: -30 },
      { agent_id: -1, provider: 'rival', balance: -90 },
      { agent_id: 1, provider: 'bank', balance: -180 },
      { agent_id: 1, provider: 'rival', balance: -20 },
    ],
    wallets: [
      {
        agent_id: -2,
        currency: 'VND',
        seq: 1,
        available: 0,
        suspense: 30,
        clearing: -30,
        adjustments: 0,
      },
      {
        agent_id: -1,
        currency: 'THB',
        seq: 2,
        available: 0,
        suspense: 90,
        clearing: -90,
        adjustments: 0,
      },
      {
        agent_id: 1,
        currency: 'THB',
        seq: 6,
        available: 160,
        suspense: 40,
        clearing: -200,
        adjustments: 0,
      },
    ],
    appended: [
      {
        ...{ agent_id: -2, seq: 1, event: 'payment_received', clearing_at: 'bank' },
        ...{ clearing_there: -30, once_key: 'payment_received:bank:dong' },
      },
      {
        ...{ agent_id: -1, seq: 1, event: 'payment_received', clearing_at: 'rival' },
        ...{ clearing_there: -50, once_key: 'payment_received:rival:half' },
      },
      {
        ...{ agent_id: -1, seq: 2, event: 'payment_received', clearing_at: 'rival' },
        ...{ clearing_there: -90, once_key: 'payment_received:rival:nobody' },
      },
      {
        ...{ agent_id: 1, seq: 5, event: 'payment_received', clearing_at: 'bank' },
        ...{ clearing_there: -180, once_key: 'payment_received:bank:late' },
      },
      {
        ...{ agent_id: 1, seq: 6, event: 'payment_reclassified', clearing_at: 'rival' },
        ...{ clearing_there: -20, once_key: 'payment_reclassified:rival:kept' },
      },
    ],
    payments: [
      { payment_id: 'bank:gone', state: 'taken_back', received_seq: 0, returned_seq: null },
      { payment_id: 'bank:late', state: 'waiting', received_seq: 5, returned_seq: null },
      { payment_id: 'bank:paid', state: 'credited', received_seq: 0, returned_seq: null },
      { payment_id: 'bank:sent back', state: 'returned', received_seq: 0, returned_seq: 0 },
      { payment_id: 'rival:kept', state: 'credited', received_seq: 6, returned_seq: null },
    ],
    unmatched: [
      { payment_id: 'bank:dong', state: 'waiting', received_seq: 1, decided_seq: null, claim: 0 },
      { payment_id: 'rival:half', state: 'waiting', received_seq: 1, decided_seq: null, claim: 0 },
      {
        payment_id: 'rival:nobody',
        state: 'waiting',
        received_seq: 2,
        decided_seq: null,
        claim: 0,
      },
      { payment_id: 'rival:refused', state: 'returned', received_seq: 0, decided_seq: 0, claim: 0 },
    ],
  })
  // What was done is not done again, wherever it was interrupted.
  await client.query('delete from sluice.schema_migrations where name = $1', [name])
  expect(await run()).toEqual([name])
  expect(await written()).toEqual(first)
  // Brought to the newest release, they prove, and all books add up to what they did.
  for (const later of readdirSync(ours).filter((each) => each > name)) {
    copyFileSync(new URL(later, ours), join(folder, later))
  }
  await run()
  expect(await written()).toEqual(first)
  const pool = openPool({
    ...{ url: database.ownerUrl, max: 2, name: 'migrations test', as: 'owner' },
    onError: () => {},
  })
  try {
    const findings = (await verify(pool, {})).map(({ finding }) => finding)
    expect(findings.filter((finding) => finding !== null)).toEqual([])
  } finally {
    await pool.end()
  }
})

describe('a database in use', () => {
  const released = /^000\d/

  it('is brought from the first release to the newest while others write, though interrupted; nobody fails but for want of a new column', async () => {
    rmSync(folder, { recursive: true })
    mkdirSync(folder)
    for (const name of readdirSync(ours).filter((each) => released.test(each))) {
      copyFileSync(new URL(name, ours), join(folder, name))
    }
    await database.close()
    database = await testDatabase({ empty: true })
    await run()
    const onlooker = await connect()
    await onlooker.query(oldBooks)
    const load = await startWriters([1, 2, 3])
    const newest = () => migrate(database.ownerUrl, {})
    const isWaiting = async (condition: string) =>
      (
        await onlooker.query(
          `select from pg_stat_activity where datname = current_database()
             and application_name = 'sluice migrate' and wait_event_type = 'Lock' and ${condition}`,
        )
      ).rowCount !== 0

    // Somebody reads all tables in one transaction: nothing can be altered, and those who write go on.
    const reader = await connect()
    await reader.query('begin')
    for (const { name } of (await onlooker.query(tables)).rows) {
      await reader.query(`select from sluice.${name} limit 1`)
    }
    const first = newest()
    const interrupted = expect(first).rejects.toThrow(/migration 00\d\d_/)
    await until(() => isWaiting('true'))
    const before = load.written
    await until(() => load.written > before + 20 || load.failures.length > 0)
    await until(() => isWaiting('true'))
    await terminate(onlooker)
    await interrupted
    await reader.query('commit')

    // Somebody has an old snapshot: an index that is built concurrently waits for its end.
    await reader.query('begin isolation level repeatable read')
    await reader.query('select 1')
    let isOver = false
    const second = newest().finally(() => {
      isOver = true
    })
    const settled = second.catch((error: unknown) => error)
    await until(async () => isOver || (await isWaiting(`wait_event = 'virtualxid'`)))
    if (!isOver) {
      await terminate(onlooker)
      expect(String(await settled)).toMatch(/it goes on when it is run again/)
    }
    await reader.query('commit')
    await settled
    await newest()

    const after = load.written
    await until(() => load.written > after + 20 || load.failures.length > 0)
    expect(await load.stop()).toEqual([])
    expect(await newest()).toEqual([])
    const fresh = await testDatabase()
    expect(await schemaOf(database.ownerUrl)).toEqual(await schemaOf(fresh.ownerUrl))
    await fresh.close()
    const owner = openPool({
      url: database.ownerUrl,
      max: 2,
      name: 'test',
      as: 'owner',
      onError: () => {},
    })
    expect((await verify(owner, {})).map(({ finding }) => finding)).toEqual([null, null, null])
    await owner.end()
  })
})

/**
 * An agent's book as it was before money had an account at each provider: a deposit that was paid at bank,
 * one that was taken back, money that went to the wallet, and money that waits, was returned, or is nobody's.
 */
const booksBeforeTheHouse = `set search_path to sluice;
  insert into agents (agent_id, app_id, name, currency, status, deposit_fee, withdraw_fee, revert_fee, late_money,
      method, expires_in_s, min_deposit, max_deposit, min_withdraw, max_withdraw, rate_limit, allowed_ips,
      frame_origins, created_at, updated_at)
    select 1, 'app_1', 'Agent', 'THB', 'active', '0%', '0%', 'return', 'review', 'link', 900, 1, 1000, 1, 1000, 0,
      '{}', '{}', now(), now();
  insert into wallets select 1, 4, 160, 0, -140, 0, -20;
  insert into orders (agent_id, order_id, kind, ref_id, user_id, currency, amount, fee, fee_rule, late_money,
      account_name, account_no, bank_code, status, version, answer, created_at, expires_at, completed_at,
      paid_amount, paid_fee, provider)
    select 1, ('00000000-0000-7000-8000-00000000000' || n)::uuid, 'deposit', 'r-' || n, 'u', 'THB', 140, 0, '0%',
      'review', 'A B', '1234567890', 'SCB', status, version,
      json_build_object('txn_id', '1-0000000000007000800000000000000' || n, 'ref_id', 'r-' || n,
        'amount', 1.4, 'fee', 0, 'expires_in', 900,
        'created_at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')),
      now(), now() + interval '900 s', now(), 140, 0, 'elsewhere'
    from (values (1, 'PAID', 2), (2, 'VOID', 3)) o(n, status, version);
  insert into journal (agent_id, seq, order_id, event, at, currency, available_change, held_change, clearing_change,
      fees_change, adjustments_change, available, held, clearing, fees, adjustments, once_key, reason)
    values
      (1, 1, '00000000-0000-7000-8000-000000000001', 'deposit_paid', now(), 'THB', 140, 0, -140, 0, 0,
        140, 0, -140, 0, 0, 'payment:bank:paid', null),
      (1, 2, '00000000-0000-7000-8000-000000000002', 'deposit_paid', now(), 'THB', 140, 0, -140, 0, 0,
        280, 0, -280, 0, 0, 'payment:bank:gone', null),
      (1, 3, '00000000-0000-7000-8000-000000000002', 'deposit_taken_back', now(), 'THB', -140, 0, 140, 0, 0,
        140, 0, -140, 0, 0, null, null),
      (1, 4, null, 'adjustment', now(), 'THB', 20, 0, 0, 0, -20,
        160, 0, -140, 0, -20, 'payment:rival:kept', 'theirs');
  insert into callbacks (agent_id, seq, order_id, kind, follows, state, attempts, due_at, again, created_at, body)
    select 1, seq, o.order_id, 'deposit', seq = 3, 'delivered', 1, now(), 0, now(), json_build_object(
      'refId', ref_id, 'transactionId', '1-' || replace(o.order_id::text, '-', ''), 'userId', 'u', 'amount', 1.4,
      'fee', 0, 'status', case seq when 3 then 'VOID' else 'PAID' end, 'extParams', '{}'::json,
      'successAt', to_char(now() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
      'wallet', ('{"balance":' || case seq when 2 then '2.8' else '1.4' end || '}')::json)
    from journal j join orders o using (agent_id, order_id);
  insert into payments (agent_id, payment_id, order_id, amount, paid_at, reported_at, state, why, credited_to,
      evidence)
    values
      (1, 'bank:paid', '00000000-0000-7000-8000-000000000001', 140, now(), now(), 'credited', null, 'order', null),
      (1, 'bank:gone', '00000000-0000-7000-8000-000000000002', 140, now(), now(), 'taken_back', null, 'order',
        null),
      (1, 'bank:late', '00000000-0000-7000-8000-000000000001', 40, now(), now(), 'waiting', 'duplicate', null,
        null),
      (1, 'bank:sent back', null, 9, now(), now(), 'returned', null, null, 'a slip'),
      (1, 'rival:kept', null, 20, now(), now(), 'credited', null, 'wallet', null);
  insert into unmatched_payments (payment_id, reference, amount, currency, paid_at, reported_at, state, assigned_to,
      evidence, decided_at)
    values ('bank:dong', '?', 30, 'VND', now(), now(), 'waiting', null, null, null),
      ('rival:nobody', '?', 40, 'THB', now(), now(), 'waiting', null, null, null),
      ('rival:half', '?', 50, 'THB', now(), now(), 'assigned', 1, null, now()),
      ('rival:refused', '?', 60, 'THB', now(), now(), 'returned', null, 'a slip', now());
  insert into payment_claims (payment_id, agent_id, amount, currency, claimed_at)
    select payment_id, 1, amount, 'THB', now() from payments
    union all
    select payment_id, coalesce(assigned_to, 0), amount, currency, now() from unmatched_payments`

const ours = new URL('../../src/db/migrations/', import.meta.url)

const tables = `select relname as name from pg_class
  where relnamespace = 'sluice'::regnamespace and relkind in ('r', 'p')`

/** Deposits as the first release wrote them, from rows of agent_id and ref_id. */
const insertOrders = (
  rows: string,
) => `insert into orders (agent_id, order_id, kind, ref_id, user_id,
    amount, fee, fee_rule, account_name, account_no, bank_code, status, version, answer, created_at, expires_at)
  select agent_id, order_id, 'deposit', ref_id, 'u', 100, 0, '0%', 'A B', '1234567890', 'SCB', 'WAITING', 1,
    json_build_object('txn_id', agent_id || '-' || replace(order_id::text, '-', ''), 'ref_id', ref_id,
      'amount', 1, 'fee', 0, 'expires_in', 900,
      'created_at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')),
    now(), now() + interval '900 s'
  from (select agent_id, ref_id, gen_random_uuid() as order_id from (${rows}) r(agent_id, ref_id)) o`

/** Three agents with a history, as the first release wrote it. */
const oldBooks = `set search_path to sluice;
  insert into agents select n, 'app_' || n, 'Agent', 'THB', 'active', null, null, '0%', '0%', 'return',
    'review', 'link', 900, 1, 1000, 1, 1000, 0, '{}', '{}', null, now(), now() from generate_series(1, 3) n;
  insert into wallets select n, 1000, 1000, 0, 0, 0, -1000 from generate_series(1, 3) n;
  insert into journal (agent_id, seq, event, at, available_change, held_change, clearing_change, fees_change,
      adjustments_change, available, held, clearing, fees, adjustments, once_key, reason)
    select n, seq, 'adjustment', now(), 1, 0, 0, 0, -1, seq, 0, 0, 0, -seq, 'adjustment:' || seq, 'test'
    from generate_series(1, 3) n, generate_series(1, 1000) seq;
  ${insertOrders(`select n, 'r-' || i from generate_series(1, 3) n, generate_series(1, 1000) i`)}`

/** What the teller of the first release does for an agent, time and again, with its own limits. */
const newDeposit = insertOrders(`select $1::bigint, 'n-' || $2::bigint`)
const newRow = `insert into journal (agent_id, seq, event, at, available_change, held_change, clearing_change,
    fees_change, adjustments_change, available, held, clearing, fees, adjustments, once_key, reason)
  values ($1::bigint, $2::bigint, 'adjustment', now(), 1, 0, 0, 0, -1, $2::bigint, 0, 0, 0, -$2::bigint,
    'adjustment:' || $2::bigint, 'test')`
const newBalance =
  'update wallets set seq = $2, available = $2, adjustments = -$2::bigint where agent_id = $1'

/** The same with one more column, as processes write it that take the place of older ones. */
const withColumn = (statement: string, column: string, value: string) =>
  statement
    .replace(/(into \w+ \()/, `$1${column}, `)
    .replace(/(values \(|select (?=.*agent_id, order_id, 'deposit'))/, `$1'${value}', `)

/** The same as a process writes it that chains rows. */
async function writeChained(tx: Tx, agentId: number, seq: number): Promise<void> {
  const { rows } = await tx.query<{ hash: string }>(
    'select hash from wallets where agent_id = $1',
    [agentId],
  )
  const row: JournalRow = {
    agentId: BigInt(agentId),
    seq: BigInt(seq),
    orderId: null,
    event: 'adjustment',
    at: new Date(),
    currency: 'THB',
    change: { ...noChange, available: 1n, adjustments: -1n },
    balances: { ...noChange, available: BigInt(seq), adjustments: -BigInt(seq) },
    clearingAt: null,
    clearingThere: null,
    onceKey: `adjustment:${seq}`,
    reason: 'test',
    hash: '',
  }
  row.hash = journalHash(rows[0]?.hash ?? '', row)
  // The release that chained rows knew of one account less.
  const written = journalColumns.names
    .split(', ')
    .map((name, at) => ({ name, value: journalColumns.values([row])[at]?.[0] }))
    .filter(({ name }) => !name.startsWith('unexplained'))
  await tx.query(
    `insert into journal (${written.map(({ name }) => name).join()})
     values (${written.map((_, at) => `$${at + 1}`).join()})`,
    written.map(({ value }) => value),
  )
  await tx.query('update wallets set hash = $2 where agent_id = $1', [agentId, row.hash])
}

/** The same with all accounts. */
const withAccounts = (statement: string) =>
  statement.includes('into journal')
    ? statement
        .replace(
          /(into \w+ \()/,
          `$1suspense_change, costs_change, differences_change, transfers_change, suspense, costs,
             differences, transfers, `,
        )
        .replace('values (', 'values (0, 0, 0, 0, 0, 0, 0, 0, ')
    : statement

async function startWriters(agentIds: number[]) {
  const failures: string[] = []
  const load = { written: 0, failures, stop: () => Promise.resolve<string[]>([]) }
  let isStopped = false
  const pool = openPool({
    url: database.url,
    max: agentIds.length,
    name: 'test writers',
    onError: (error) => failures.push(error.message),
  })
  const write = async (agentId: number) => {
    let statements = [newDeposit, newRow]
    let chains = false
    for (let seq = 1001; !isStopped; seq++) {
      await inTransaction(pool, async (tx) => {
        await tx.query('select from wallets where agent_id = $1 for no key update', [agentId])
        for (const statement of statements) {
          if (chains && statement.includes('into journal')) await writeChained(tx, agentId, seq)
          else await tx.query(statement, [agentId, seq])
        }
        await tx.query(newBalance, [agentId, seq])
      }).catch((error) => {
        // What the teller tries again is no failure. A process that knows of no currency, of no terms, of
        // five accounts only, or of no chain, is replaced.
        const [, table = '', column = ''] =
          /"(orders|journal)_(currency|late_money)_check"/.exec(String(error)) ?? []
        if (table !== '' && !statements.join().includes(column)) {
          statements = statements.map((each) =>
            column === 'currency'
              ? withColumn(each, column, 'THB')
              : each.includes(table)
                ? withColumn(each, column, 'review')
                : each,
          )
        } else if (/null value in column "suspense/.test(String(error))) {
          statements = statements.map(withAccounts)
        } else if (/"journal_chained"/.test(String(error)) && !chains) {
          chains = true
        } else if (!isContention(error)) throw error
        seq--
        load.written--
      })
      load.written++
      // Hundreds a second are enough to meet every lock; more would only keep the migrations from their work.
      await pause(5)
    }
  }
  const writing = agentIds.map((agentId) =>
    write(agentId).catch((error: unknown) => failures.push(String(error))),
  )
  load.stop = async () => {
    isStopped = true
    await Promise.all(writing)
    await pool.end()
    return failures
  }
  return load
}

async function terminate(client: pg.Client): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'sluice migrate'`,
  )
}

/** All columns, constraints and indexes, in words. */
async function schemaOf(url: string): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ line: string }>(
    `select format('%s.%s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull) as line
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'sluice'::regnamespace and c.relkind in ('r', 'p') and attnum > 0 and not attisdropped
     union all
     select format('%s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
     from pg_constraint where connamespace = 'sluice'::regnamespace
     union all
     select format('%s %s', pg_get_indexdef(indexrelid), indisvalid) from pg_index i
     join pg_class c on c.oid = i.indexrelid where c.relnamespace = 'sluice'::regnamespace
     order by 1`,
  )
  await client.end()
  return rows.map(({ line }) => line)
}

function file(name: string, sql: string): void {
  writeFileSync(join(folder, name), sql)
}

function run(log: (message: string) => void = () => {}): Promise<string[]> {
  return migrate(database.ownerUrl, { folder: pathToFileURL(`${folder}/`), log })
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(database.ownerUrl)
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return client
}

/** Resolves when the query finds something. */
async function seen(sql: string): Promise<void> {
  const client = await connect()
  await until(async () => (await client.query(sql)).rowCount !== 0)
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}
