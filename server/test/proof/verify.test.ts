import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { openPool, type Pool } from '../../src/db/pool.ts'
import type { Order, OrderKind, OrderStatus } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { proofState, proveOnward, verify } from '../../src/proof/verify.ts'
import { Teller } from '../../src/teller/teller.ts'
import { chainAnew } from '../support/chain-anew.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { sample } from '../support/long.ts'
import { newOrder, orderIdOf } from '../support/naive-model.ts'

const at = new Date('2026-01-01T00:00:00Z')
const tables = [
  'wallets',
  'orders',
  'journal',
  'callbacks',
  'callback_bodies',
  'payments',
  'payment_claims',
  'payout_references',
]

/** The order that a name stands for, in SQL. */
const order = (ref: string) => `agent_id = 1 and ref_id = '${ref}'`
const idOf = (ref: string) => `(select order_id from orders where ${order(ref)})`
/** The journal row that an event of an order made. */
const row = (event: string, ref?: string) =>
  `agent_id = 1 and event = '${event}'${ref ? ` and order_id = ${idOf(ref)}` : ''}`
const callback = (event: string, ref?: string) =>
  `agent_id = 1 and seq = (select seq from journal where ${row(event, ref)})`
const body = (event: string, from: string, to: string) =>
  `update callback_bodies set body = replace(body, '${from}', '${to}') where ${callback(event)}`
const lastRow = 'agent_id = 1 and seq = (select seq from wallets where agent_id = 1)'

/** Each kind of lie: how it comes about, and what must be said of it. */
const lies: [name: string, sql: string, finding: RegExp][] = [
  [
    'a journal row is missing',
    `delete from journal where ${row('withdraw_failed')}`,
    /^journal row \d+ is missing$/,
  ],
  [
    'the first journal row is missing',
    'delete from journal where agent_id = 1 and seq = 1',
    /^journal row 1 is mi/,
  ],
  [
    'the last journal row is missing',
    `delete from journal where ${lastRow}`,
    /^the wallet is at seq \d+, the journal at \d+$|^journal row \d+ is missing$/,
  ],
  [
    'the whole journal is missing',
    'delete from journal where agent_id = 1',
    /^the wallet is at seq \d+, the journal at 0$|^journal row \d+ is missing$/,
  ],
  [
    'a payment is claimed by another agent',
    `update payment_claims set agent_id = 2 where payment_id = 'bank:dp'`,
    /^the claim on payment bank:dp says agent 2, but it is 1$/,
  ],
  [
    'a payment that waits is claimed by nobody',
    `delete from payment_claims where payment_id = 'bank:dw'`,
    /^the claim on payment bank:dw is missing$/,
  ],
  [
    'a payout’s reference names a payout of another agent',
    `update payout_references set agent_id = 2 where reference = 'b-1'`,
    /^reference b-1 says agent 2, but it is 1$/,
  ],
  [
    'a payout’s reference is not recorded',
    `delete from payout_references where reference = 'b-1'`,
    /^reference b-1 of a payout is not recorded$/,
  ],
  [
    'a leg is changed',
    `update journal set available_change = available_change + 1 where ${row('deposit_taken_back')}`,
    /^the legs of journal row \d+ do not add up to zero$/,
  ],
  [
    'two legs are changed',
    `update journal set available_change = available_change + 1, clearing_change = clearing_change - 1
     where ${row('withdraw_paid', 'wp')}`,
    /^journal row \d+ says available is -?\d+, but it is -?\d+$/,
  ],
  [
    'a balance is changed',
    `update journal set held = held + 1, clearing = clearing - 1 where ${row('withdraw_cancelled')}`,
    /^journal row \d+ says held is \d+, but it is \d+$/,
  ],
  [
    'a row moves something else, and everything after it agrees',
    `update journal set available_change = available_change + 1, fees_change = fees_change - 1
       where ${row('deposit_failed')};
     update journal set available = available + 1, fees = fees - 1
       where agent_id = 1 and seq >= (select seq from journal where ${row('deposit_failed')});
     update wallets set available = available + 1, fees = fees - 1 where agent_id = 1`,
    /^journal row \d+ \(deposit_failed\) moves available 1, .*, but order 1-\w+ says available 0, /,
  ],
  [
    'the last row moves something else, and the wallet agrees',
    `update journal set fees_change = 1, available_change = available_change - 1,
       fees = fees + 1, available = available - 1 where ${lastRow};
     update wallets set fees = fees + 1, available = available - 1 where agent_id = 1`,
    /^journal row \d+ \(withdraw_held\) moves available -10151, .*, but order 1-\w+ says available -10150, /,
  ],
  [
    'an adjustment moves what it must not',
    `update journal set adjustments_change = adjustments_change + 1, fees_change = fees_change - 1
       where ${row('adjustment')};
     update journal set adjustments = adjustments + 1, fees = fees - 1 where agent_id = 1;
     update wallets set adjustments = adjustments + 1, fees = fees - 1 where agent_id = 1`,
    /^journal row 1 \(adjustment\) moves other amounts than adjustment:\S+ says$/,
  ],
  [
    'a withdrawal takes more than there was',
    `update journal set available_change = 1, adjustments_change = -1 where seq = 1 and agent_id = 1;
     update journal set available = available - 99999, adjustments = adjustments + 99999
       where agent_id = 1;
     update wallets set available = available - 99999, adjustments = adjustments + 99999
       where agent_id = 1;
     delete from callbacks where agent_id = 1`,
    /^journal row \d+ \(withdraw_held\) takes available below zero$/,
  ],
  [
    'a payout takes what was never held, and a later hold makes up for it',
    `update journal set held_change = 0, available_change = 0 where ${row('withdraw_held', 'wp')};
     update journal set held = held - 10150, available = available + 10150
       where agent_id = 1
         and seq >= (select seq from journal where ${row('withdraw_held', 'wp')})
         and seq < (select seq from journal where ${row('withdraw_held', 'ww')});
     update journal set held_change = held_change + 10150, available_change = available_change - 10150
       where ${row('withdraw_held', 'ww')}`,
    /^held is below zero at journal row \d+$/,
  ],
  [
    'an event is another one',
    `update journal set event = 'withdraw_cancelled' where ${row('withdraw_failed')}`,
    /^order 1-\w+ is FAILED, its journal says CANCEL$/,
  ],
  [
    'a row is of another order',
    `update journal set order_id = ${idOf('wp')} where ${row('withdraw_failed')}`,
    /^order 1-\w+ has withdraw_failed \(journal row \d+\) after withdraw_paid$/,
  ],
  [
    'a row and its callback are of another order, which it does not follow',
    `update callback_bodies set body = replace(body,
       replace(${idOf('dv')}::text, '-', ''), replace(${idOf('df')}::text, '-', ''))
       where ${callback('deposit_void')};
     update callbacks set order_id = ${idOf('df')} where ${callback('deposit_void')};
     update journal set order_id = ${idOf('df')} where ${row('deposit_void')}`,
    /^order 1-\w+ has deposit_void \(journal row \d+\) after deposit_failed$/,
  ],
  [
    'the seq of the wallet is changed',
    'update wallets set seq = seq + 1 where agent_id = 1',
    /^the wallet is at seq \d+, the journal at \d+$/,
  ],
  [
    'the balance of the wallet is changed',
    'update wallets set available = available + 1, clearing = clearing - 1 where agent_id = 1',
    /^the wallet says available is \d+, the journal \d+$/,
  ],
  [
    'the fees in the wallet are changed',
    'update wallets set fees = fees + 1, adjustments = adjustments - 1 where agent_id = 1',
    /^the wallet says fees is \d+, the journal \d+$/,
  ],
  [
    'what the wallet holds is changed',
    'update wallets set held = held - 1, available = available + 1 where agent_id = 1',
    /^held is \d+, but open withdrawals hold \d+$/,
  ],
  [
    'an order has another state',
    `update orders set status = 'FAILED' where ${order('wp')}`,
    /^order 1-\w+ is FAILED, its journal says PAID$/,
  ],
  [
    'an open withdrawal is closed without a row',
    `update orders set status = 'CANCEL', completed_at = created_at where ${order('ww')}`,
    /^held is \d+, but open withdrawals hold \d+$|^order 1-\w+ is CANCEL, its journal says WAITING$/,
  ],
  [
    'an order without rows is marked PAID',
    `update orders set status = 'PAID', completed_at = created_at, paid_amount = amount, paid_fee = 0
     where ${order('dw')}`,
    /^order 1-\w+ is PAID, its journal says WAITING$/,
  ],
  [
    'a paid deposit is open again',
    `update orders set status = 'WAITING', completed_at = null where ${order('dp')}`,
    /^order 1-\w+ is WAITING, its journal says PAID$/,
  ],
  [
    'the version of an order is changed',
    `update orders set version = version + 1 where ${order('df')}`,
    /^order 1-\w+ says version 3, but it is 2$/,
  ],
  [
    'a hand-over is forgotten',
    `update orders set handed_over_at = null where ${order('wh')}`,
    /^order 1-\w+ was handed to a provider 1 times, but says that it never was$/,
  ],
  [
    'what was paid is changed in the order',
    `update orders set paid_amount = paid_amount + 1 where ${order('dp')}`,
    /^order 1-\w+ says paid_amount 10001, but it is 10000$/,
  ],
  [
    'the fee that was paid is changed in the order',
    `update orders set paid_fee = paid_fee + 1 where ${order('wp')}`,
    /^order 1-\w+ says paid_fee 151, but it is 150$/,
  ],
  [
    'the amount of an order is changed',
    `update orders set amount = amount - 1 where ${order('wr')}`,
    /^journal row \d+ \(withdraw_held\) moves available -10150, .*, but order 1-\w+ says available -10149, /,
  ],
  [
    'an order is missing',
    `delete from orders where ${order('dt')}`,
    /^journal row \d+ \(deposit_paid\) is of an order that is not there$/,
  ],
  [
    'a withdrawal has no hold',
    `insert into orders select (json_populate_record(o, '${JSON.stringify({
      order_id: orderIdOf(999),
      ref_id: 'free',
      amount: 0,
      fee: 0,
    })}')).* from orders o where ${order('ww')}`,
    /^order 1-\w+ is a withdrawal without a hold$/,
  ],
  [
    'a callback says another state',
    body('deposit_expired', '"EXPIRED"', '"VOID"'),
    /^the callback of journal row \d+ says status "VOID", but it is "EXPIRED"$/,
  ],
  [
    'a callback says another balance',
    body('deposit_void', '"balance":', '"balance":1'),
    /^the callback of journal row \d+ says wallet {"balance":[\d.]+}, but it is {"balance":[\d.]+}$/,
  ],
  [
    'a callback says another amount',
    body('withdraw_paid', '"amount":100', '"amount":101').replace(
      callback('withdraw_paid'),
      callback('withdraw_paid', 'wp'),
    ),
    /^the callback of journal row \d+ says amount 101, but it is 100$/,
  ],
  [
    'a callback says another fee',
    body('withdraw_failed', '"fee":0', '"fee":1'),
    /^the callback of journal row \d+ says fee 1, but it is 0$/,
  ],
  [
    'a callback names another transaction',
    body('deposit_failed', '"transactionId":"1-', '"transactionId":"2-'),
    /^the callback of journal row \d+ says transactionId "2-\w+", but it is "1-\w+"$/,
  ],
  [
    'a callback is queued with another order',
    `update callbacks set order_id = ${idOf('dw')} where ${callback('deposit_failed')}`,
    /^the callback of journal row \d+ says order \w+, but it is \w+$/,
  ],
  [
    'a callback is no JSON',
    `update callback_bodies set body = 'PAID' where ${callback('deposit_failed')}`,
    /^the callback of journal row \d+ is not JSON$/,
  ],
  [
    'a callback is empty',
    `update callback_bodies set body = 'null' where ${callback('deposit_failed')}`,
    /^the callback of journal row \d+ says status null, but it is "FAILED"$/,
  ],
  [
    'a callback has lost its body',
    `delete from callback_bodies where ${callback('deposit_failed')}`,
    /^the callback of journal row \d+ has no body$/,
  ],
  [
    'a callback has another body beside its own',
    `update callbacks set body = '{}' where ${callback('deposit_failed')}`,
    /^the callback of journal row \d+ says status null, but it is "FAILED"$/,
  ],
  [
    'a callback is missing',
    `delete from callbacks where ${callback('withdraw_reverted')}`,
    /^journal row \d+ \(withdraw_reverted\) has no callback$/,
  ],
  [
    'a hold has a callback',
    `insert into callbacks (agent_id, seq, order_id, body, state, created_at, kind, follows, attempts,
       due_at, again) select agent_id, seq, order_id, '{}', 'waiting', at, 'withdraw', false, 0, at, 0 from journal
     where ${row('withdraw_held', 'ww')}`,
    /^journal row \d+ \(withdraw_held\) has a callback$/,
  ],
  [
    'there is a callback of nothing',
    `insert into callbacks (agent_id, seq, order_id, body, state, created_at, kind, follows, attempts,
       due_at, again) select agent_id, 9999, order_id, body, state, created_at, kind, follows, attempts,
       due_at, again from callbacks
     where ${callback('deposit_failed')}`,
    /^there is a callback of journal row 9999, which is not there$/,
  ],
  [
    'the amount of a payment is changed',
    `update payments set amount = amount + 1 where agent_id = 1 and order_id = ${idOf('dp')}`,
    /^journal row \d+ credits payment:bank:dp, which says amount 10001, but it is 10000$/,
  ],
  [
    'a credited payment waits',
    `update payments set state = 'waiting', why = 'late' where agent_id = 1 and order_id = ${idOf('dp')}`,
    /^journal row \d+ credits payment:bank:dp, which says state waiting, but it is credited$|^suspense is \d+, but payments that wait are \d+$/,
  ],
  [
    'a credited payment is of another order',
    `update payments set order_id = ${idOf('dw')} where agent_id = 1 and order_id = ${idOf('dp')}`,
    /^journal row \d+ credits payment:bank:dp, which says order \w+, but it is \w+$/,
  ],
  [
    'a credited payment is missing',
    `delete from payments where agent_id = 1 and order_id = ${idOf('dp')}`,
    /^journal row \d+ credits payment:bank:dp, which is not recorded$/,
  ],
]

let database: TestDatabase
let owner: Pool
let pool: Pool
let teller: Teller
let appIds: string[]
let nowMs = at.getTime()
const now = () => new Date(nowMs++)

beforeAll(async () => {
  database = await testDatabase()
  const options = { url: database.url, onError: () => {} }
  owner = openPool({ ...options, url: database.ownerUrl, max: 2, name: 'owner', as: 'owner' })
  pool = openPool({ ...options, max: 3, name: 'test', pipeline: true })
  teller = new Teller({
    pool,
    localTime: localTimeIn('UTC'),
    writers: 1,
    maxBatch: 500,
    maxQueue: 10_000,
    patienceMs: 10_000,
  })
  appIds = []
  for (let agents = 0; agents < 2; agents++) {
    const terms = { ...defaultTerms, name: 'Proved', currency: 'THB' } as const
    appIds.push((await createAgent(owner, [Buffer.alloc(32, 7)], terms, at)).agent.appId)
  }
  for (const agentId of [1n, 2n]) await writeEveryEvent(agentId)
  await freeToLie()
  await owner.query('create schema backup')
  for (const table of tables) {
    await owner.query(`create table backup.${table} as table sluice.${table}`)
  }
})
afterAll(async () => {
  await pool.end()
  await owner.end()
  await database.close()
})

beforeEach(async () => {
  await mend()
  await owner.query('delete from proofs')
})

describe('a book with every kind of event', () => {
  it('has every kind of event', async () => {
    const { rows } = await owner.query('select distinct event from journal')
    expect(rows).toHaveLength(12)
  })

  it('is proved, and all of it was looked at', async () => {
    const { rows } = await owner.query<{ rows: bigint; orders: bigint; callbacks: bigint }>(
      `select (select count(*) from journal j where j.agent_id = a.agent_id) as rows,
         (select count(*) from orders o where o.agent_id = a.agent_id) as orders,
         (select count(*) from callbacks c where c.agent_id = a.agent_id) as callbacks
       from agents a order by agent_id`,
    )
    expect(await verify(pool, {})).toEqual(
      rows.map(({ rows: journalRows, orders, callbacks }, index) => ({
        agentId: BigInt(index + 1),
        appId: appIds[index],
        journalRows: Number(journalRows),
        orders: Number(orders),
        callbacks: Number(callbacks),
        payments: 3,
        finding: null,
      })),
    )
    expect(Number(rows[0]?.rows)).toBeGreaterThan(15)
  })

  it('is proved for one agent alone where that is asked', async () => {
    const [, appId = ''] = appIds
    expect(await verify(pool, { appId })).toMatchObject([{ agentId: 2n, finding: null }])
  })
})

/** The proof finds it though the hashes are right. */
async function lie(sql: string): Promise<void> {
  await owner.query(sql)
  if (sql.includes('journal')) await chainAnew((text, values) => owner.query(text, values))
}

describe.each(lies)('%s', (_name, sql, finding) => {
  it('is found and named, and the other agent is proved all the same', async () => {
    await lie(sql)
    expect(await verify(pool, {})).toMatchObject([
      { agentId: 1n, finding: expect.stringMatching(finding) },
      { agentId: 2n, finding: null },
    ])
  })
})

/** That every column is looked at in the background too, verify-every-column.test.ts says. */
describe.each(sample(lies, 10))('%s', (_name, sql, finding) => {
  it('is found in the background while the rows are new', async () => {
    await lie(sql)
    const { findings: told } = await proveOnward(pool, now())
    expect(await findings()).toEqual([expect.stringMatching(finding), null])
    expect(told).toEqual([`${appIds[0]}: ${(await findings())[0]}`])
  })

  it('is found in the background after the rows were proved, and heals when it is mended', async () => {
    await proveOnward(pool, now())
    expect(await findings()).toEqual([null, null])
    await lie(sql)
    await lookAgain(([of]) => of !== null)
    expect(await findings()).toEqual([expect.stringMatching(finding), null])
    expect(await proofState(pool)).toMatchObject({ redAgents: 1 })
    await mend()
    await lookAgain(([of]) => of === null)
    expect(await findings()).toEqual([null, null])
    expect(await proofState(pool)).toEqual({ redAgents: 0, unprovedRows: 0 })
  })
})

it('an agent without a wallet is found', async () => {
  await owner.query('delete from wallets where agent_id = 1')
  expect(await verify(pool, {})).toMatchObject([{ finding: 'there is no wallet' }, {}])
})

it('orders of an agent that is not there are found', async () => {
  await owner.query(
    `insert into orders select (json_populate_record(o, '{"agent_id": 99}')).*
     from orders o where o.agent_id = 1 limit 1`,
  )
  expect(await verify(pool, {})).toMatchObject([
    { agentId: 99n, finding: 'agent 99 has orders or a wallet, but is not there' },
    { finding: null },
    { finding: null },
  ])
})

it('a reference that names a payout which is not there is found', async () => {
  await owner.query(`insert into payout_references values ('b-0', 1, ${idOf('wp')}, 1)`)
  const finding = /^reference b-0 names attempt 1 at order [0-9a-f]{32}, which is not there$/
  expect(await verify(pool, {})).toMatchObject([
    { finding: null },
    { finding: null },
    { agentId: 0n, finding: expect.stringMatching(finding) },
  ])
})

it('a payment that counts as credited without a journal row is found', async () => {
  await owner.query(
    `insert into payments (agent_id, payment_id, order_id, amount, paid_at, reported_at, state,
       credited_to, received_seq)
     select agent_id, 'sandbox:made-up', order_id, 100, now(), now(), 'credited', 'order', 0
     from orders where agent_id = 1 and kind = 'deposit' and status = 'WAITING' limit 1`,
  )
  await owner.query(
    `insert into payment_claims select payment_id, agent_id, order_id, amount, 'THB', reported_at
     from payments where payment_id = 'sandbox:made-up'`,
  )
  expect(await verify(pool, {})).toMatchObject([
    { finding: 'payment sandbox:made-up counts as credited, but no journal row does so' },
    { finding: null },
  ])
  for (let round = 0; round < 5; round++) await proveOnward(pool, now())
  expect(await findings()).toEqual([expect.stringContaining('sandbox:made-up'), null])
})

describe('the proof in the background', () => {
  it('finds a lie in the book of an agent that has no journal yet', async () => {
    await makeAgent(3n)
    await teller.do(create(3n, 'deposit', 'first'))
    await owner.query(
      `update orders set status = 'PAID', completed_at = created_at, paid_amount = 1, paid_fee = 0
       where agent_id = 3`,
    )
    for (let round = 0; round < 5; round++) await proveOnward(pool, now())
    expect(await findings()).toEqual([null, null, expect.stringContaining('its journal says WAIT')])
    await removeAgent(3n)
  })

  it('goes on where it was, a bounded stretch at a time, and begins again at the end', async () => {
    // The others have had their turns.
    for (let round = 0; round < 2; round++) await proveOnward(pool, now())
    await makeAgent(3n)
    await Promise.all(Array.from({ length: 2_300 }, (_, n) => teller.do(adjust(3n, `a-${n}`))))
    const steps: [proved: bigint, again: bigint][] = []
    for (let round = 0; round < 9; round++) {
      await owner.query(`update proofs set again_at = 'infinity' where agent_id < 3`)
      const { rows: looked } = await proveOnward(pool, now(), { pages: 1 })
      // 1,000 new rows and 500 old ones, for each agent that it looks at.
      expect(looked).toBeLessThanOrEqual(3 * 1_500)
      const { rows } = await owner.query(
        'select proved_seq, again_seq from proofs where agent_id = 3',
      )
      steps.push([rows[0]?.proved_seq, rows[0]?.again_seq])
    }
    expect(steps).toEqual([
      [1_000n, 500n],
      [2_000n, 1_000n],
      [2_300n, 1_500n],
      [2_300n, 2_000n],
      [2_300n, 0n],
      [2_300n, 500n],
      [2_300n, 1_000n],
      [2_300n, 1_500n],
      [2_300n, 2_000n],
    ])
    await removeAgent(3n)
  })

  it('goes on for the others while an agent is red, and tells how much is left', async () => {
    await owner.query('update wallets set seq = seq + 5 where agent_id = 1')
    await owner.query(`update callback_bodies set body = 'x' where ${callback('deposit_failed')}`)
    await proveOnward(pool, now())
    const before = await provedSeqs()
    for (let n = 0; n < 3; n++) {
      await teller.do(adjust(2n, `more-${n}`))
      await proveOnward(pool, now())
      expect(await findings()).toEqual([expect.any(String), null])
    }
    const after = await provedSeqs()
    expect(after[1]).toBe((before[1] ?? 0n) + 3n)
    expect(after[0]).toBe(0n)
    const state = await proofState(pool)
    expect(state.redAgents).toBe(1)
    expect(state.unprovedRows).toBeGreaterThan(5)
  })

  it('proves only what is new where nothing else is asked, and keeps what it found before', async () => {
    await proveOnward(pool, now())
    await owner.query(`update callback_bodies set body = 'x' where ${callback('deposit_failed')}`)
    await lookAgain(([of]) => of !== null)
    const [found] = await findings()
    expect(found).toEqual(expect.any(String))
    await mend()
    await teller.do(adjust(2n, 'new'))
    const before = await provedSeqs()
    const { rows } = await proveOnward(pool, now(), { again: false })
    expect(rows).toBe(1)
    expect((await provedSeqs())[1]).toBe((before[1] ?? 0n) + 1n)
    expect(await findings()).toEqual([found, null])
    await lookAgain(([of]) => of === null)
    expect(await findings()).toEqual([null, null])
  })

  it('is not fooled by history that is taken back whole', async () => {
    await proveOnward(pool, now())
    const last = 'select max(seq) from journal where agent_id = 2'
    const { rows } = await owner.query(`select * from journal where agent_id = 2 order by seq desc`)
    const { seq, available, held, clearing, fees, adjustments } = rows[1]
    await owner.query(`delete from orders where agent_id = 2 and order_id =
      (select order_id from journal where agent_id = 2 and seq = (${last}))`)
    await owner.query(`delete from journal where agent_id = 2 and seq = (${last})`)
    await owner.query(
      `update wallets set seq = $1, available = $2, held = $3, clearing = $4, fees = $5,
         adjustments = $6 where agent_id = 2`,
      [seq, available, held, clearing, fees, adjustments],
    )
    await chainAnew((text, values) => owner.query(text, values))
    // The book as it stands is in itself true.
    expect(await verify(pool, { appId: appIds[1] ?? '' })).toMatchObject([{ finding: null }])
    for (let round = 0; round < 4; round++) await proveOnward(pool, now())
    expect(await findings()).toEqual([null, `journal row ${seq + 1n} is missing`])
  })
})

/** Nothing is new, so each round looks at one of the two agents again. */
async function lookAgain(isSeen: (found: (string | null)[]) => boolean): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await proveOnward(pool, now())
    if (isSeen(await findings())) return
  }
}

async function findings(): Promise<(string | null)[]> {
  const { rows } = await owner.query(
    'select finding from proofs where agent_id > 0 order by agent_id',
  )
  return rows.map(({ finding }) => finding)
}

async function provedSeqs(): Promise<bigint[]> {
  const { rows } = await owner.query(
    'select proved_seq from proofs where agent_id > 0 order by agent_id',
  )
  return rows.map(({ proved_seq }) => proved_seq)
}

/** A payment is one agent's. */
const paymentOf = (agentId: bigint, ref: string) => `bank:${agentId === 1n ? '' : agentId}${ref}`

/** Every event there is, and orders that are still open. The last row is a hold. */
async function writeEveryEvent(agentId: bigint): Promise<void> {
  const outcome = (orderId: string, to: OrderStatus) =>
    teller.do({ type: 'outcome', agentId, at, orderId, to })
  const pay = (orderId: string, ref: string, amountMinor = 10_000n) =>
    teller.do({
      type: 'receive_payment',
      agentId,
      at,
      orderId,
      provider: null,
      payment: { paymentId: paymentOf(agentId, ref), amountMinor, paidAt: at, payer: null },
    })
  const open = async (kind: OrderKind, ref: string) => {
    const { order } = await teller.do(create(agentId, kind, ref))
    return order?.orderId ?? ''
  }
  await teller.do({ ...adjust(agentId, 'funds'), amountMinor: 100_000n })
  await pay(await open('deposit', 'dp'), 'dp')
  await outcome(await open('deposit', 'df'), 'FAILED')
  await outcome(await open('deposit', 'de'), 'EXPIRED')
  await outcome(await open('deposit', 'dv'), 'VOID')
  const takenBack = await open('deposit', 'dt')
  await pay(takenBack, 'dt')
  const paymentId = paymentOf(agentId, 'dt')
  await teller.do({ type: 'take_back_payment', agentId, at, orderId: takenBack, paymentId })
  await pay(await open('deposit', 'dw'), 'dw', 5n)
  await outcome(await open('withdraw', 'wp'), 'PAID')
  await outcome(await open('withdraw', 'wf'), 'FAILED')
  await outcome(await open('withdraw', 'wc'), 'CANCEL')
  const reverted = await open('withdraw', 'wr')
  await outcome(reverted, 'PAID')
  await outcome(reverted, 'REVERT')
  const orderId = await open('withdraw', 'wh')
  const [provider, providerRef] = ['bank', `b-${agentId}`]
  const token = randomUUID()
  const more = { insteadOf: null, token, askAt: at }
  const handOver = { type: 'hand_over', provider, references: [providerRef], ...more } as const
  await teller.do({ ...handOver, agentId, at, orderId })
  await open('withdraw', 'ww')
}

let orders = 0
function create(agentId: bigint, kind: OrderKind, refId: string): Command {
  // One agent's orders return the fee of a payout that comes back, the other's keep it.
  const revertFee = kind === 'deposit' ? null : agentId === 1n ? 'return' : 'keep'
  const fields: Partial<Order> = { refId, feeMinor: 150n, feeRule: '1.5%', revertFee }
  const made = newOrder({ agentId, orderId: orderIdOf(++orders), kind, createdAt: at, ...fields })
  return { type: 'create', agentId, at, order: made }
}

function adjust(agentId: bigint, ref: string): Command & { type: 'adjust' } {
  return { type: 'adjust', agentId, at, amountMinor: 100n, reason: 'test', ref }
}

/** Takes away every constraint but the primary keys, so that lies can be written down. */
async function freeToLie(): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(
    `select format('alter table %s drop constraint if exists %I cascade', conrelid::regclass, conname) as statement
     from pg_constraint where connamespace = 'sluice'::regnamespace and contype in ('c', 'f', 'u')
       and coninhcount = 0`,
  )
  for (const { statement } of rows) await owner.query(statement)
}

/** Puts the book back as it was. */
async function mend(): Promise<void> {
  for (const table of tables) {
    await owner.query(`delete from ${table}; insert into ${table} table backup.${table}`)
  }
}

async function makeAgent(agentId: bigint): Promise<void> {
  const terms = { ...defaultTerms, name: 'Passing', currency: 'THB' } as const
  const { agent } = await createAgent(owner, [Buffer.alloc(32, 7)], terms, at)
  expect(agent.agentId).toBe(agentId)
}

async function removeAgent(agentId: bigint): Promise<void> {
  for (const table of ['proofs', ...tables, 'agent_keys', 'agents']) {
    await owner.query(`delete from ${table} where agent_id = $1`, [agentId])
  }
}
