import { afterAll, beforeAll, expect, it } from 'vitest'
import { BankProof, verify } from '../../src/proof/verify.ts'
import { booked, makeAccount, push } from '../support/bank-accounts.ts'
import { startTestService, type TestService } from '../support/service.ts'

/**
 * What banks report, what is expected and what is booked must agree: every lie about a column that says something
 * about money is found.
 */

let s: TestService
let name: string

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
  const account = await makeAccount(s)
  name = account.account.name
  const agent = await s.agent()
  const { json } = await agent.deposit()
  const amount = json.transfer.amount.toFixed(2)
  await push(s, account, { id: 'paid', amount })
  await push(s, account, { id: 'nobody', amount: '77.00' })
  await push(s, account, { id: 'gone', amount: '5.00', direction: 'debit' })
})
afterAll(() => s.close())

const credited = `explained_by = 'payment' and order_id is not null`
const lies: [table: string, set: string, where: string][] = [
  ['bank_movements', 'amount = amount + 1', credited],
  ['bank_movements', 'amount = amount + 1', `why = 'unmatched'`],
  ['bank_movements', 'amount = amount + 1', `state = 'unexplained'`],
  ['bank_movements', `currency = 'VND'`, credited],
  ['bank_movements', `movement_id = '${'9'.repeat(32)}'`, credited],
  ['bank_movements', `order_id = '${'9'.repeat(32)}'`, credited],
  ['bank_movements', 'agent_id = agent_id + 1', credited],
  ['bank_movements', `state = 'unexplained', explained_by = null`, credited],
  ['bank_movements', `explained_by = 'bank_fee'`, credited],
  [
    'bank_movements',
    `state = 'booked', explained_by = 'payment', act_at = null`,
    `state = 'unexplained'`,
  ],
  ['bank_reports', 'amount = amount + 1', 'true'],
  [
    'bank_reports',
    `movement_id = (select movement_id from bank_movements where ${credited})`,
    'true',
  ],
  ['expected_deposits', 'amount = amount - 1', 'true'],
  ['expected_deposits', 'payable = payable + 1', 'true'],
  ['expected_deposits', `user_id = 'other'`, 'true'],
  ['expected_deposits', `created_at = created_at - interval '1 second'`, 'true'],
  ['expected_deposits', `expires_at = expires_at + interval '1 second'`, 'true'],
  ['orders', 'payable = payable + 1', 'payable is not null'],
  ['orders', 'payable = null', 'payable is not null'],
]

it('what banks report proves', async () => {
  await booked(s, name)
  await s.prove()
})

it.each(lies)('a lie about %s is found: set %s where %s', async (table, set, where) => {
  const found = await findingsOfLie(table, set, where)
  expect(found).not.toEqual([])
})

it('a payment of an account that its bank never reported is found', async () => {
  const found = await findingsOfLie(
    'payment_claims',
    `payment_id = '${name}:' || '${'8'.repeat(32)}'`,
    'order_id is not null',
  )
  expect(found).not.toEqual([])
})

/** Tells the lie, proves, and takes it back. */
async function findingsOfLie(table: string, set: string, where: string): Promise<string[]> {
  await s.sql(`create schema if not exists lies`)
  await s.sql(`drop table if exists lies.kept`)
  await s.sql(`create table lies.kept as select * from ${table}`)
  // Foreign keys and checks would refuse most lies: somebody with the database could drop them.
  const { rows: keys } = await s.sql(
    `select conname, conrelid::regclass::text as of, pg_get_constraintdef(oid) as def
     from pg_constraint where contype = 'f' and confrelid = $1::regclass`,
    [`sluice.${table}`],
  )
  for (const key of keys) await s.sql(`alter table ${key.of} drop constraint ${key.conname}`)
  try {
    await s.sql(`update ${table} set ${set} where ${where}`)
    const proofs = await verify(s.backend.pool, {})
    const found = proofs.flatMap(({ finding }) => finding ?? [])
    // What is proved in the background finds it too, if it is about what banks report.
    if (table.startsWith('bank_'))
      expect(await new BankProof().step(s.backend.pool)).not.toEqual([])
    return found
  } finally {
    await s.sql(`delete from ${table}`)
    await s.sql(`insert into ${table} select * from lies.kept`)
    for (const key of keys) {
      await s.sql(`alter table ${key.of} add constraint ${key.conname} ${key.def}`)
    }
  }
}
