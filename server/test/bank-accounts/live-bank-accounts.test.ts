import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  booked,
  camt,
  dayAt,
  importFile,
  makeAccount,
  movementsOf,
  push,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { cleanUp, command, commandJson, type Env } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** In live, a file that a person brings is not yet the bank's word, and nobody redirects deposits alone. */

const live = {
  MODE: 'live',
  PUBLIC_URL: 'https://pay.example.com',
}
let s: TestService
let env: Env
let account: TestAccount
let agent: AgentClient

beforeAll(async () => {
  s = await startTestService({ env: live, outside: { providers: [] }, realTime: true })
  env = {
    ...live,
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'warn',
  }
  account = await makeAccount(s, { match: 'amount' }, { mode: 'live' })
  agent = await s.agent()
})
afterEach(() => s.prove())
afterAll(async () => {
  await cleanUp()
  await s.close()
})

async function deposit() {
  const { status, json, text } = await agent.deposit({ userId: `u${Math.random()}` })
  expect([status, text]).toEqual([201, text])
  return { id: json.txn_id as string, amount: json.transfer.amount.toFixed(2) as string }
}

const statement = (amount: string, text = 'TRF') =>
  camt({ account: account.account, day: dayAt(s.clock()), lines: [{ amount, text }] })

const stateOf = async (amount: string) =>
  (await movementsOf(s, account))
    .filter(({ amountMinor }) => amountMinor === BigInt(amount.replace('.', '')))
    .map(({ state }) => state)

const statusOf = async (id: string) => (await agent.get(`/payment/orders/${id}`)).json.status

describe('a file that a person brings', () => {
  it('credits nothing until the bank pushes the same, and then once', async () => {
    const { id, amount } = await deposit()
    const file = statement(amount)
    await importFile(s, account, file, { mode: 'live' })
    await importFile(s, account, file, { mode: 'live' })
    expect(await stateOf(amount)).toEqual(['unconfirmed'])
    expect(await statusOf(id)).toBe('WAITING')
    expect((await push(s, account, { id, amount })).status).toBe(200)
    await expect.poll(() => statusOf(id)).toBe('PAID')
    await push(s, account, { id, amount })
    await importFile(s, account, file, { mode: 'live' })
    expect(await stateOf(amount)).toEqual(['booked'])
    expect(await agent.balance()).toBe(Number(amount))
  })

  it('credits nothing until the same file comes from the bank’s folder, and then once', async () => {
    const before = await agent.balance()
    const { id, amount } = await deposit()
    const file = statement(amount)
    await importFile(s, account, file, { mode: 'live' })
    expect(await statusOf(id)).toBe('WAITING')
    await importFile(s, account, file, { mode: 'live', via: 'folder' })
    await importFile(s, account, file, { mode: 'live', via: 'folder' })
    expect(await statusOf(id)).toBe('PAID')
    expect(await stateOf(amount)).toEqual(['booked'])
    expect(await agent.balance()).toBeCloseTo(before + Number(amount), 6)
  })

  it('cannot lend the bank’s word its own text: the code in it names nobody', async () => {
    const { id, amount } = await deposit()
    const other = await deposit()
    const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
      id.split('-')[1],
    ])
    await importFile(s, account, statement(other.amount, rows[0].code), { mode: 'live' })
    await push(s, account, { id: other.id, amount: other.amount })
    await booked(s, account.account.name)
    expect([await statusOf(id), await statusOf(other.id)]).toEqual(['WAITING', 'PAID'])
    expect(amount).not.toBe(other.amount)
  })
})

describe('an account', () => {
  const create = (name: string, accountNo: string, ...more: string[]) =>
    command(
      ['bank-account', 'create', name, '--currency', 'THB', '--bank', 'SCB', '--no-route']
        .concat(['--account-no', accountNo, '--account-name', 'Shop', '--qr', 'none', '--json'])
        .concat(more),
      env,
    )

  it('is made by two people, or by one who says to be alone, which is on record', async () => {
    const alone = await create('first', '1112223334')
    expect(alone).toMatchObject({ code: 1, stdout: '' })
    expect(alone.stderr).toContain('--i-am-alone')
    expect((await create('first', '1112223334', '--i-am-alone')).code).toBe(0)
    const { rows } = await s.sql(
      `select reason from audit_log where action = 'create_bank_account' and subject_id = 'first'`,
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { reason } of rows) expect(reason).toContain('--i-am-alone')
    const set = await command(
      ['bank-account', 'set', 'first', '--account-name', 'X', '--json'],
      env,
    )
    expect(set.code).toBe(1)
  })

  it('with the number of another is refused, however it is written, and so is a name that was used', async () => {
    const again = await create('second', '111-222-3334', '--i-am-alone')
    expect(again.code).toBe(1)
    expect(again.stderr).toContain('another bank account has this number')
    const name = await create('first', '9998887776', '--i-am-alone')
    expect(name.code).toBe(1)
    expect(name.stderr).toContain('"first"')
    expect((await create('third', '9998887776', '--i-am-alone')).code).toBe(0)
    const moved = await command(
      ['bank-account', 'set', 'third', '--account-no', '1112223334', '--i-am-alone', '--json'],
      env,
    )
    expect(moved.code).toBe(1)
    expect(moved.stderr).toContain('another bank account has this number')
    expect(await commandJson(['bank-account', 'show', 'third'], env)).toMatchObject({
      account_no: '9998887776',
    })
  })
})
