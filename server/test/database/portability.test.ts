import { readdirSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serviceRole } from '../../src/db/pool.ts'
import { testDatabase } from '../support/database.ts'
import { referenceTables, spreadByTheirId } from '../support/table-places.ts'

/** Partitions are the owner's to make and drop; these do it for the service, beside the money path. */
const ownersErrands = [
  'make_month_partition',
  'drop_month_partition',
  'make_log_day',
  'drop_log_day',
]

/** Tables of which a row, once written, stays as it is. */
const writtenOnce = ['journal']

/** One message per breach: what is wrong, what to do instead. */
type Check = (client: Client) => Promise<string[]>

const agentIsOnEveryTable: Check = (client) =>
  list(
    client,
    `select format('sluice.%I has %s: give it "agent_id bigint not null" and lead its keys with that, or, if it is small and every machine should have a copy, name it in referenceTables here and in the file that distributes the tables',
       t.relname, coalesce('agent_id ' || format_type(a.atttypid, a.atttypmod)
         || case when a.attnotnull then '' else ' null' end, 'no agent_id'))
     from distributed t
     left join pg_attribute a
       on a.attrelid = t.oid and a.attname = 'agent_id' and not a.attisdropped
     where (a.attnotnull is not true or a.atttypid <> 'bigint'::regtype) and t.relname <> all ($2)`,
    [Object.keys(spreadByTheirId)],
  )

const agentLeadsUniqueKeys: Check = (client) =>
  list(
    client,
    `select format('%I of sluice.%I is unique over all agents: put agent_id first in it, because a machine sees only the agents it has',
       x.relname, t.relname)
     from distributed t
     join pg_index i on i.indrelid = t.oid and (i.indisunique or i.indisexclusion)
     join pg_class x on x.oid = i.indexrelid
     left join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
     where a.attname is distinct from coalesce($2::jsonb ->> t.relname::text, 'agent_id')`,
    [JSON.stringify(spreadByTheirId)],
  )

const agentLeadsForeignKeys: Check = (client) =>
  list(
    client,
    `select format('%I of sluice.%I does not lead from agent_id to agent_id: begin both sides of it with agent_id, so that the row it needs is on the same machine',
       c.conname, t.relname)
     from distributed t
     join pg_constraint c on c.conrelid = t.oid and c.contype = 'f'
     join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]
     join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1]
     join pg_class n on n.oid = c.confrelid
     -- Every machine has a copy of a reference table.
     where not (a.attname = coalesce($2::jsonb ->> t.relname::text, 'agent_id')
         and f.attname = coalesce($2::jsonb ->> n.relname::text, 'agent_id'))
       and not ($2::jsonb ? t.relname::text and n.relname = any($1))
       and n.relname <> 'connector_uses'
     union all
     select format('%I of the reference table sluice.%I needs a row of sluice.%I, which is distributed: drop the foreign key, or take the table out of referenceTables and lead its keys with agent_id',
       c.conname, r.relname, t.relname)
     from distributed t
     join pg_constraint c on c.confrelid = t.oid and c.contype = 'f'
     join tables r on r.oid = c.conrelid
     where r.relname = any($1)`,
    [JSON.stringify(spreadByTheirId)],
  )

const nothingRunsByItself: Check = (client) =>
  list(
    client,
    `select format('sluice.%I has the trigger %I: drop it, and do its work in the function that writes the table',
       t.relname, g.tgname)
     from tables t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
     union all
     select format('the database has the event trigger %I: drop it, and change the schema in migrations alone', evtname)
     from pg_event_trigger
     union all
     select format('sluice.%I has the rule %I: drop it, and write the statement that it stands for',
       c.relname, r.rulename)
     from pg_rewrite r join pg_class c on c.oid = r.ev_class
     where c.relnamespace = 'sluice'::regnamespace and r.rulename <> '_RETURN'
     union all
     select format('sluice.%I is stored in the database: drop it, and write it in the server, where it is tested and released',
       proname)
     from pg_proc where pronamespace = 'sluice'::regnamespace and proname <> all ($2)`,
    [ownersErrands],
  )

const idsArePassedIn: Check = (client) =>
  list(
    client,
    `select format('sluice.%I is a sequence: drop it, and pass the number in', relname)
     from pg_class where relnamespace = 'sluice'::regnamespace and relkind = 'S'
     union all
     select format('sluice.%I.%I is an identity column: make it a plain one, and pass the number in',
       t.relname, a.attname)
     from tables t join pg_attribute a on a.attrelid = t.oid and a.attidentity <> ''
     union all
     select format('sluice.%I.%I makes its own value with %s: drop the default, and pass the value in',
       t.relname, d.attname, d.expression)
     from defaults d join tables t on t.oid = d.attrelid
     where d.expression ~* '(nextval|uuid\\w*|random\\w*)\\('`,
  )

const timesArePassedIn: Check = (client) =>
  list(
    client,
    `select format('sluice.%I.%I reads a clock with %s: drop the default, and pass the time in',
       t.relname, d.attname, d.expression)
     from defaults d join tables t on t.oid = d.attrelid
     where d.expression ~* '\\m(now|timeofday|\\w+_timestamp)\\(|\\m(current_(date|time|timestamp)|localtime|localtimestamp)\\M'`,
  )

/**
 * Only attempts to deliver callbacks are ever forgotten, after a time that is set, and claims on them; and what is
 * added up from orders, for limits and for summaries.
 */
const historyStays: Check = (client) =>
  list(
    client,
    `select format('%I may %s sluice.%I: revoke it, because what was written there stays as it is',
       $2::text, privilege, t.relname)
     from distributed t, unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) privilege
     where case privilege
       when 'UPDATE' then t.relname = any($3) and has_any_column_privilege($2, t.oid, privilege)
       when 'DELETE' then t.relname not in ('callback_attempts', 'callback_claims', 'limit_buckets',
           'limit_counting', 'limit_uses', 'limit_payees', 'connector_deposits',
           'connector_deposit_ids', 'insight_orders', 'insight_money', 'insight_callbacks')
         and has_table_privilege($2, t.oid, privilege)
       else has_table_privilege($2, t.oid, privilege) end`,
    [serviceRole, writtenOnce],
  )

const serviceOwnsNothing: Check = (client) =>
  list(
    client,
    `select format('%I owns %s: let the login that migrates own it, because an owner can grant itself everything',
       $2::text, pg_describe_object(d.classid, d.objid, d.objsubid))
     from pg_shdepend d
     where d.refclassid = 'pg_authid'::regclass and d.refobjid = $2::text::regrole
       and d.deptype = 'o'
       and d.dbid in (0, (select oid from pg_database where datname = current_database()))
     union all
     select format('%I may become %s, which owns sluice.%I: revoke the membership',
       $2::text, t.relowner::regrole, t.relname)
     from tables t where pg_has_role($2, t.relowner, 'MEMBER') and t.relowner <> $2::text::regrole
     union all
     select format('%I may create objects in schema sluice: revoke it; migrations create them', $2::text)
     where has_schema_privilege($2, 'sluice', 'CREATE')`,
    [serviceRole],
  )

/** Each with statements that break it, as [statement, part of the message]. */
const checks: { guarantee: string; check: Check; sees: [statement: string, says: string][] }[] = [
  {
    guarantee: 'every table that is not a reference table has an agent_id bigint',
    check: agentIsOnEveryTable,
    sees: [
      ['create table attempts (id bigint primary key)', 'sluice.attempts has no agent_id'],
      ['create table attempts (agent_id integer primary key)', 'has agent_id integer:'],
      ['create table attempts (agent_id bigint)', 'has agent_id bigint null:'],
      ['create table attempts (agent_id text not null) partition by list (agent_id)', 'text:'],
    ],
  },
  {
    guarantee: 'agent_id leads every primary and unique key',
    check: agentLeadsUniqueKeys,
    sees: [
      [
        'alter table payments add unique (payment_id)',
        'payments_payment_id_key of sluice.payments',
      ],
      ['create unique index one on orders (ref_id, agent_id)', 'one of sluice.orders'],
      ['create unique index one on orders ((agent_id + 0))', 'one of sluice.orders'],
      ['alter table orders add exclude (ref_id with =)', 'of sluice.orders is unique over all'],
      ['create table a (seq bigint primary key, agent_id bigint not null)', 'a_pkey of sluice.a'],
    ],
  },
  {
    guarantee: 'agent_id leads every foreign key',
    check: agentLeadsForeignKeys,
    sees: [
      [
        'create table a (agent_id bigint, n bigint, foreign key (n, agent_id) references journal)',
        'begin both sides of it with agent_id',
      ],
      [
        'create unique index o on orders (order_id, agent_id); alter table payments add constraint k foreign key (order_id, agent_id) references orders (order_id, agent_id)',
        'k of sluice.payments',
      ],
      [
        'create unique index o on orders (amount, agent_id); alter table payments add constraint k foreign key (agent_id, amount) references orders (amount, agent_id)',
        'k of sluice.payments',
      ],
      ['create table a (agent_id bigint, by bigint references agents)', 'a_by_fkey of sluice.a'],
      [
        'alter table agent_keys add constraint k foreign key (agent_id) references wallets',
        'k of the reference table sluice.agent_keys',
      ],
    ],
  },
  {
    guarantee: 'nothing runs inside the database by itself',
    check: nothingRunsByItself,
    sees: [
      [
        'create trigger t before update on journal for each row execute function suppress_redundant_updates_trigger()',
        'sluice.journal has the trigger t:',
      ],
      [
        'create rule r as on delete to journal do instead nothing',
        'sluice.journal has the rule r:',
      ],
      [`create function f() returns int return 1`, 'sluice.f is stored in the database'],
      [`create procedure p() language sql as 'select 1'`, 'sluice.p is stored in the database'],
      [
        `create function public.f() returns event_trigger language plpgsql as 'begin end'; create event trigger e on ddl_command_end execute function public.f()`,
        'the event trigger e:',
      ],
    ],
  },
  {
    guarantee: 'the database makes no ids',
    check: idsArePassedIn,
    sees: [
      ['create sequence s', 'sluice.s is a sequence'],
      ['alter table proofs add n bigint generated always as identity', 'n is an identity column'],
      ['alter table proofs add n bigserial', 'sluice.proofs.n makes its own value with nextval('],
      ['alter table orders alter order_id set default gen_random_uuid()', 'gen_random_uuid()'],
    ],
  },
  {
    guarantee: 'the database reads no clock',
    check: timesArePassedIn,
    sees: [
      [
        'alter table journal alter at set default now()',
        'sluice.journal.at reads a clock with now()',
      ],
      ['alter table agents alter created_at set default current_timestamp', 'CURRENT_TIMESTAMP:'],
      ['alter table orders alter created_at set default clock_timestamp()', 'pass the time in'],
      [`alter table orders alter expires_at set default localtimestamp + '1 h'`, 'LOCALTIMESTAMP'],
      ['alter table proofs add day date default current_date', 'sluice.proofs.day'],
    ],
  },
  {
    guarantee: 'the service cannot change the journal or remove rows of the money path',
    check: historyStays,
    sees: [
      ['grant update on journal to sluice_service', 'sluice_service may UPDATE sluice.journal'],
      ['grant update (reason) on journal to sluice_service', 'may UPDATE sluice.journal'],
      ['grant update on journal to public', 'may UPDATE sluice.journal'],
      ['grant delete on journal to sluice_service', 'may DELETE sluice.journal'],
      ['grant truncate on journal to sluice_service', 'may TRUNCATE sluice.journal'],
      ['grant delete on callbacks to sluice_service', 'may DELETE sluice.callbacks'],
      ['grant truncate on wallets to public', 'may TRUNCATE sluice.wallets'],
    ],
  },
  {
    guarantee: 'the service owns nothing',
    check: serviceOwnsNothing,
    sees: [
      ['alter table wallets owner to sluice_service', 'sluice_service owns table'],
      ['alter schema sluice owner to sluice_service', 'sluice_service owns schema sluice'],
      ['grant create on schema sluice to sluice_service', 'may create objects in schema sluice'],
      [
        'create role stranger; alter table wallets owner to stranger; grant stranger to sluice_service',
        'may become stranger, which owns sluice.wallets',
      ],
    ],
  },
]

let database: Awaited<ReturnType<typeof testDatabase>>
let client: Client

beforeAll(async () => {
  database = await testDatabase()
  client = new Client({ connectionString: database.ownerUrl })
  await client.connect()
  await client.query('set search_path to sluice')
})

afterAll(async () => {
  await client?.end()
  await database?.close()
})

beforeEach(() => client.query('begin'))
afterEach(() => client.query('rollback'))

describe.each(checks)('$guarantee', ({ check, sees }) => {
  it('in the migrated database', async () => {
    expect(await check(client)).toEqual([])
  })

  it.each(sees)('the check sees %s', async (statement, says) => {
    await client.query(statement)
    expect(await check(client)).toContainEqual(expect.stringContaining(says))
  })
})

it('the file that distributes the tables names each of them', async () => {
  const file = readFileSync(new URL('../../src/db/distribute.sql', import.meta.url), 'utf8')
  const named = (kind: string) =>
    [...file.matchAll(new RegExp(`create_${kind}_table\\('(\\w+)'`, 'g'))].map((match) => match[1])
  const distributed = await list(client, 'select relname from distributed')
  expect(named('distributed').sort()).toEqual(distributed.sort())
  for (const [table, key] of Object.entries(spreadByTheirId)) {
    expect(file).toContain(
      `create_distributed_table('${table}', '${key}', colocate_with => '${key === 'account' && table !== 'expected_deposits' ? 'expected_deposits' : 'none'}')`,
    )
  }
  expect(named('reference').sort()).toEqual([...referenceTables].sort())
})

/** Where rows of one agent are locked without naming it: Citus refuses a lock over several. */
function unnamedLocks(source: string): string[] {
  return (
    [...source.matchAll(/\bfor (?:no key )?(?:update|share)\b/g)]
      .map(({ index }) => source.slice(source.lastIndexOf('from ', index), index))
      // What a bank account has is kept by account.
      .filter((locked) => !/\b(?:agent_id|account) = \$\d/.test(locked))
      .filter((locked) => !referenceTables.includes(/^from (\w+)/.exec(locked)?.[1] ?? ''))
  )
}

it('what locks rows of an agent or a bank account names it', () => {
  const src = new URL('../../src/', import.meta.url)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    // The sandbox's bank is not of the books, and is never distributed.
    .filter((file) => file.endsWith('.ts') && !file.startsWith('sandbox-bank/'))
  const sources = files.map((file) => readFileSync(new URL(file, src), 'utf8'))
  expect(sources.flatMap(unnamedLocks)).toEqual([])
  const several =
    'select 1 from callback_lanes l where l.agent_id = any($1) for no key update skip locked'
  expect(unnamedLocks(several)).toHaveLength(1)
  expect(sources.filter((source) => source.includes(' for update')).length).toBeGreaterThan(3)
})

it('the checks look at the tables they are about', async () => {
  const tables = await list(client, 'select relname from distributed')
  for (const table of ['wallets', 'orders', 'journal', 'callbacks', 'payments']) {
    expect(tables).toContain(table)
  }
  expect(await list(client, 'select relname from tables')).toEqual(
    expect.arrayContaining(referenceTables),
  )
})

/** The first column of a statement that may select from `tables`, `distributed` and `defaults`. */
async function list(client: Client, statement: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await client.query<[string]>({
    text: `with tables as (
      select oid, relname, relowner from pg_class
      where relnamespace = 'sluice'::regnamespace and relkind in ('r', 'p')
        and not relispartition
    ), distributed as (
      select * from tables where relname <> all ($1::text[])
    ), defaults as (
      select a.attrelid, a.attname, pg_get_expr(d.adbin, d.adrelid) as expression
      from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    ) ${statement}`,
    values: [referenceTables, ...values],
    rowMode: 'array',
  })
  return rows.map(([message]) => message)
}

describe('the file that distributes the tables', () => {
  it('meets no foreign key while it does, and leaves each as it was', async () => {
    const keys = async () =>
      (
        await client.query(
          `select conrelid::regclass::text as of, conname, pg_get_constraintdef(oid) as says
           from pg_constraint where contype = 'f' and connamespace = 'sluice'::regnamespace
           order by 1, 2`,
        )
      ).rows
    const before = await keys()
    expect(before.length).toBeGreaterThan(20)
    // As Citus does: a table that points to another, or is pointed to, is refused.
    await client.query(`
      create function sluice.refuse_keys(name text) returns void language plpgsql as $$
        begin
          if exists (select from pg_constraint where contype = 'f'
            and name::regclass in (conrelid, confrelid)) then raise '% has keys', name; end if;
        end $$;
      create function sluice.create_reference_table(name text) returns void
        language sql as 'select sluice.refuse_keys(name)';
      create function sluice.create_distributed_table(name text, by text, colocate_with text default '')
        returns void language sql as 'select sluice.refuse_keys(name)'`)
    const file = new URL('../../src/db/distribute.sql', import.meta.url)
    const sql = readFileSync(file, 'utf8')
    expect(sql).toMatch(/^begin;$[\s\S]*^commit;$/m)
    // In the transaction of the test, which is rolled back.
    await client.query(sql.replace(/^begin;$/m, '').replace(/^commit;$/m, ''))
    expect(await keys()).toEqual(before)
  })
})
