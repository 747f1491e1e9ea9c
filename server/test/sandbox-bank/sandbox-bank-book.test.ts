import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serviceRole } from '../../src/db/pool.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

type Fields = Record<string, unknown>

const at = '2026-01-01T00:00:00Z'

/** A good row of each table of the bank's book; every case spoils one of these. */
const good: Record<string, Fields> = {
  deposits: {
    reference: 'd-2',
    amount: 100,
    currency: 'THB',
    expires_at: at,
    payer_account_no: '1234567890',
    payer_account_name: 'Somchai',
    payer_bank_code: 'SCB',
    story: 'paid',
    created_at: at,
  },
  payouts: {
    reference: 'p-2',
    amount: 100,
    currency: 'THB',
    payee_account_no: '1234567890',
    payee_account_name: 'Somchai',
    payee_bank_code: 'SCB',
    story: null,
    state: 'accepted',
    created_at: at,
  },
  payments: { reference: 'd-2', amount: 100, currency: 'THB', paid_at: at, once_key: 'two' },
  acts: { party: 'deposit', reference: 'd-2', step: 0, due_at: at },
  notices: { reference: 'd-2', event: {}, copies_left: 1, attempts: 0, next_at: at },
}

const present: [table: string, fields: Fields][] = [
  ['deposits', { reference: 'd-1' }],
  ['payouts', { reference: 'p-1' }],
  ['payments', { once_key: 'one' }],
  ['acts', { reference: 'd-1' }],
]

const cases: [constraint: string, table: string, spoiled: Fields][] = [
  ['deposits_pkey', 'deposits', { reference: 'd-1' }],
  ['deposits_reference_check', 'deposits', { reference: '' }],
  ['deposits_reference_check', 'deposits', { reference: 'x'.repeat(129) }],
  ['deposits_amount_check', 'deposits', { amount: 0 }],
  ['deposits_currency_check', 'deposits', { currency: 'usd' }],
  ['payouts_pkey', 'payouts', { reference: 'p-1' }],
  ['payouts_reference_check', 'payouts', { reference: '' }],
  ['payouts_reference_check', 'payouts', { reference: 'x'.repeat(129) }],
  ['payouts_amount_check', 'payouts', { amount: 0 }],
  ['payouts_currency_check', 'payouts', { currency: 'usd' }],
  ['payouts_state_check', 'payouts', { state: 'unknown' }],
  ['payments_once_key_key', 'payments', { once_key: 'one' }],
  ['payments_reference_check', 'payments', { reference: '' }],
  ['payments_reference_check', 'payments', { reference: 'x'.repeat(129) }],
  ['payments_amount_check', 'payments', { amount: 0 }],
  ['payments_currency_check', 'payments', { currency: 'usd' }],
  ['payments_once_key_check', 'payments', { once_key: '' }],
  ['payments_once_key_check', 'payments', { once_key: 'x'.repeat(201) }],
  ['payments_payer', 'payments', { payer_account_name: 'Somchai' }],
  ['payments_payer', 'payments', { payer_bank_code: 'SCB' }],
  ['acts_party_reference_step_key', 'acts', { reference: 'd-1' }],
  ['acts_party_check', 'acts', { party: 'order' }],
  ['acts_step_check', 'acts', { step: -1 }],
  ['notices_event_check', 'notices', { event: [] }],
  ['notices_copies_left_check', 'notices', { copies_left: -1, accepted_at: at }],
  ['notices_attempts_check', 'notices', { attempts: -1 }],
  ['notices_result_check', 'notices', { result: 'great', accepted_at: at }],
  ['notices_told_or_due', 'notices', { copies_left: 0 }],
  ['notices_result_when_accepted', 'notices', { result: 'applied' }],
]

/** Numbers that the book gives out itself, in the order of what happened. */
const numbered = ['payments_pkey', 'acts_pkey', 'notices_pkey']

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  client = new pg.Client({
    connectionString: database.ownerUrl,
    options: '-c search_path=sandbox_bank',
  })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.close()
})
beforeEach(async () => {
  await client.query('begin')
  await client.query(`set local role ${serviceRole}`)
  for (const [table, fields] of present) await insert(table, fields)
})
afterEach(async () => {
  await client.query('rollback')
})

it('every constraint and unique index has a case here', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select conname as name from pg_constraint
     where connamespace = 'sandbox_bank'::regnamespace and contype in ('c', 'u', 'f', 'p', 'x')
     union
     select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = 'sandbox_bank'::regnamespace and i.indisunique`,
  )
  const named = new Set([...cases.map(([constraint]) => constraint), ...numbered])
  expect([...named].sort()).toEqual(rows.map(({ name }) => name).sort())
})

describe('as the role of the service', () => {
  it.each(cases)('%s refuses in %s: %o', async (constraint, table, spoiled) => {
    await expect(insert(table, spoiled)).rejects.toMatchObject({ constraint })
  })

  it.each(Object.keys(good))('the row of %s that the cases spoil is good', async (table) => {
    await insert(table)
  })

  it.each(['payments', 'acts', 'notices'])('%s gives out its own numbers', async (table) => {
    const column = `${table.slice(0, -1)}_no`
    await expect(insert(table, { [column]: 1 })).rejects.toMatchObject({ code: '428C9' })
  })

  it.each(Object.keys(good))('nothing is ever removed from %s', async (table) => {
    for (const statement of [`delete from ${table}`, `truncate ${table}`]) {
      await client.query('savepoint before')
      await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' })
      await client.query('rollback to savepoint before')
    }
  })

  it.each([
    'update deposits set amount = 1',
    'update payouts set amount = 1',
    'update payments set amount = 1',
    'update acts set due_at = now()',
    `update notices set event = '{}'`,
  ])('what was agreed stays: %s', async (statement) => {
    await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' })
  })
})

it('the book has no keys into the books of the service, nor the other way', async () => {
  const { rows } = await client.query(
    `select conname from pg_constraint c
     where contype = 'f' and 'sandbox_bank'::regnamespace in (
       connamespace, (select relnamespace from pg_class where oid = confrelid))`,
  )
  expect(rows).toEqual([])
})

async function insert(table: string, fields: Fields = {}): Promise<void> {
  const row = { ...good[table], ...fields }
  const columns = Object.keys(row).join(', ')
  await client.query(
    `insert into ${table} (${columns})
     select ${columns} from json_populate_record(null::${table}, $1)`,
    [JSON.stringify(row)],
  )
}
