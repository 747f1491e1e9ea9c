import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BankAccount } from '../../src/bank-accounts/bank-account.ts'
import { keepSlip } from '../../src/bank-accounts/slips.ts'
import {
  explainMovement,
  explainNeverBooked,
  explainReturn,
} from '../../src/payments/explain-movement.ts'
import { returnPayment } from '../../src/payments/payments.ts'
import { recordPayment, seenPayment } from '../../src/payments/record-payment.ts'
import { RoundProof, verify } from '../../src/proof/verify.ts'
import { writeOff } from '../../src/teller/write-off.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  push,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/**
 * What banks report, what is expected and what is booked must agree: every lie about a column that says something
 * about money is found.
 */

let s: TestService
let account: TestAccount
let of: BankAccount
let name: string

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
  account = await makeAccount(s, { expectedDeductionMinor: 200n })
  of = account.account
  name = of.name
  const agent = await s.agent()
  const { json } = await agent.deposit()
  const amount = json.transfer.amount.toFixed(2)
  await push(s, account, { id: 'paid', amount })
  await push(s, account, { id: 'nobody', amount: '77.00' })
  await push(s, account, { id: 'less', ...(await lessThan(agent)) })
  await push(s, account, { id: 'gone', amount: '5.00', direction: 'debit' })
})
afterAll(() => s.close())

/** A payment that names its order, less what is deducted. */
async function lessThan(agent: AgentClient) {
  const { json } = await agent.deposit({ userId: 'other' })
  const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
    json.txn_id.split('-')[1],
  ])
  return { amount: (json.transfer.amount - 2).toFixed(2), text: rows[0].code }
}

/** Every way in which a movement is explained, and what people did without one. */
async function everyExplanation(): Promise<void> {
  const { desk } = s.service
  const day = dayAt(s.clock())
  const moved = async (id: string, amount: string, direction = 'credit') => {
    const { json } = await push(s, account, { id, amount, direction })
    await booked(s, name)
    return json.movement as string
  }
  await explainMovement(desk, of, await moved('fee', '3.00', 'debit'), 'bank_fee', 'a fee')
  await explainMovement(desk, of, await moved('interest', '4.00'), 'interest', 'interest')
  const returned = await moved('returned', '40.00')
  await returnPayment(desk, `${name}:${returned}`, 'sent back')
  await explainReturn(desk, of, await moved('out', '40.00', 'debit'), returned, 'sent back')
  await returnPayment(desk, `${name}:${await moved('to go', '41.00')}`, 'will be sent back')
  const back = { amount: '-60.00', ref: 'T', isReturn: true }
  const lines = [{ amount: '60.00', ref: 'T' }, back]
  await importFile(s, account, camt({ account: of, day, lines }))
  const sum = { amount: '300.00', batchCount: 2, batchId: 'B' }
  await importFile(s, account, camt({ account: of, day, lines: [sum] }))
  const children = [{ amount: '100.00' }, { amount: '200.00' }]
  const parts = { ...sum, children }
  await importFile(s, account, camt({ account: of, day, isIntraday: true, lines: [parts] }))
  await byHand('51.00')
  await explainNeverBooked(desk, of, await byHand('52.00'), 'the bank has no such payment')
  const lost = { currency: 'THB', provider: name, reason: 'lost', ref: 'by hand' } as const
  await writeOff(desk, { ...lost, amountMinor: 7n })
}

/** A payment that people recorded by hand. */
async function byHand(amount: string): Promise<string> {
  const { desk, backend } = { desk: s.service.desk, backend: s.backend }
  const by = 'test@sluice.example'
  const bytes = Buffer.from(amount)
  const kept = { bytes, type: 'image/png', by, at: s.clock() }
  const slip = await keepSlip(backend.pool, backend.secretKeys, kept)
  const told = { day: dayAt(s.clock()), amount, payer: { name: 'A' }, slip }
  const payment = await seenPayment(backend.pool, of, told)
  const alone = { recordedBy: by, proposalId: null, approvedBy: null, also: async () => {} }
  const { movementId } = await recordPayment(desk, of, payment, alone)
  await booked(s, name)
  return movementId
}

const credited = `explained_by = 'payment' and order_id is not null and deducted = 0`
const lies: [table: string, set: string, where: string][] = [
  ['bank_movements', 'amount = amount + 1', credited],
  ['bank_movements', 'deducted = deducted + 1', 'deducted > 0'],
  ['bank_movements', 'deducted = 0', 'deducted > 0'],
  ['bank_movements', 'deducted = 100', credited],
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
  [
    'bank_movements',
    `state = 'booked', explained_by = 'payout', held = false`,
    `state = 'unexplained' and amount < 0`,
  ],
  ['bank_movements', 'returns = null', `explained_by = 'payment_returned'`],
  ['bank_movements', `explained_by = 'payment'`, `explained_by = 'payment_returned'`],
  [
    'bank_movements',
    `returns = (select movement_id from bank_movements where ${credited})`,
    `explained_by = 'payment_taken_back'`,
  ],
  [
    'bank_movements',
    `state = 'unexplained', explained_by = null`,
    `explained_by = 'payment_taken_back'`,
  ],
  [
    'bank_movements',
    `state = 'unexplained', explained_by = null, held = true`,
    `explained_by = 'bank_fee'`,
  ],
  ['bank_movements', `explained_by = 'payment'`, `explained_by = 'interest'`],
  ['bank_movements', `state = 'unexplained', explained_by = null`, `explained_by = 'interest'`],
  ['bank_movements', `explained_by = 'correction'`, `explained_by = 'batch'`],
  ['bank_movements', `explained_by = 'payment'`, `explained_by = 'batch'`],
  ['bank_movements', `explained_by = 'batch'`, `explained_by = 'bank_fee'`],
  ['bank_movements', `explained_by = 'batch'`, credited],
  ['bank_reports', `report_key = report_key || 'x'`, `report_key like '%/2'`],
  ['bank_reports', `report_key = report_key || 'x'`, `source = 'hand'`],
  ['bank_reports', `source = 'push'`, `source = 'hand'`],
  ['bank_reports', `source = 'hand'`, `source = 'push'`],
  ['bank_movements', `explained_by = 'never_booked'`, credited],
  ['bank_movements', `explained_by = 'payment'`, `explained_by = 'never_booked'`],
  ['bank_movements', `explained_by = 'never_booked'`, `explained_by = 'interest'`],
  ['clearings', 'balance = balance + 1', `provider like 'account-%' and agent_id > 0`],
  ['clearings', 'balance = balance + 1', `provider like 'account-%' and agent_id < 0`],
  ['payments', `state = 'taken_back'`, `state = 'credited'`],
  ['unmatched_payments', `state = 'dismissed'`, `state = 'returned' and amount = 4100`],
  ['unmatched_payments', `state = 'returned'`, `state = 'dismissed'`],
  ['bank_reports', 'amount = amount + 1', 'true'],
  [
    'bank_reports',
    `movement_id = (select movement_id from bank_movements where ${credited})`,
    'true',
  ],
  // What a movement says, its reports say, and its payment.
  ['bank_movements', 'booked_on = booked_on - 1', credited],
  ['bank_movements', `booked_at = booked_at - interval '1 second'`, credited],
  ['bank_movements', `text = 'other'`, credited],
  ['bank_movements', `payer_account_no = '999'`, credited],
  ['bank_movements', `payer_name = 'Other'`, credited],
  ['bank_movements', `payer_bank = 'OTHER'`, credited],
  ['bank_movements', 'is_return = not is_return', credited],
  ['bank_movements', `paid_at = paid_at - interval '1 second'`, credited],
  ['bank_movements', `reported_at = reported_at - interval '1 second', paid_at = null`, credited],
  ['bank_movements', `why = 'ambiguous'`, `why = 'unmatched'`],
  ['bank_movements', `state = 'unconfirmed', explained_by = null`, `state = 'unexplained'`],
  ['bank_reports', 'is_trusted = not is_trusted', 'true'],
  ['bank_reports', 'booked_on = booked_on - 1', `source = 'push'`],
  ['bank_reports', `booked_at = booked_at - interval '1 second'`, `source = 'push'`],
  ['bank_reports', `text = 'other'`, `source = 'push'`],
  ['bank_reports', `payer_account_no = '999'`, `source = 'push'`],
  ['bank_reports', 'is_return = not coalesce(is_return, false)', `source = 'push'`],
  // By these money is given to an order.
  [
    'expected_deposits',
    `(agent_id, order_id) = (select o.agent_id, o.order_id from orders o
      where o.kind = 'deposit' and o.order_id <> expected_deposits.order_id limit 1)`,
    'true',
  ],
  ['expected_deposits', `code = translate(code, '23456789', '98765432')`, 'true'],
  ['expected_deposits', 'by_amount = not by_amount', 'true'],
  ['expected_deposits', `payer_account_no = '999'`, 'true'],
  ['expected_deposits', `agent_id = agent_id + 1, state = 'open'`, 'true'],
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
  await everyExplanation()
  await s.prove()
})

it('the day names what people did by hand, and a difference that nobody made is red', async () => {
  const days = () => daysOf(s, account)
  const day = dayAt(s.clock())
  expect(await days()).toEqual([`${day} red unexplained_debit return_not_debited written_off`])
  await s.sql('update clearings set balance = balance + 1 where provider = $1 and agent_id < 0', [
    name,
  ])
  expect(await days()).toEqual([
    `${day} red unexplained_debit return_not_debited written_off books_differ`,
  ])
  await s.sql('update clearings set balance = balance - 1 where provider = $1 and agent_id < 0', [
    name,
  ])
})

it.each(lies)('a lie about %s is found: set %s where %s', async (table, set, where) => {
  const found = await findingsOfLie(table, set, where)
  expect(found).not.toEqual([])
})

it('a payment of an account that its bank never reported is found', async () => {
  const found = await findingsOfLie(
    'payment_claims',
    `payment_id = '${name}:' || '${'8'.repeat(32)}'`,
    'payment_id = (select max(payment_id) from payment_claims where order_id is not null)',
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
    // What is proved in the background finds it too, if it is about what banks report and the books have.
    if (!/^(orders|expected_deposits)$/.test(table))
      expect(await new RoundProof().step(s.backend.pool)).not.toEqual([])
    return found
  } finally {
    await s.sql(`delete from ${table}`)
    await s.sql(`insert into ${table} select * from lies.kept`)
    for (const key of keys) {
      await s.sql(`alter table ${key.of} add constraint ${key.conname} ${key.def}`)
    }
  }
}
