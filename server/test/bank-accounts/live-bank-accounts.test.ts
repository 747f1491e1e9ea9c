import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { confirmMovements } from '../../src/bank-accounts/confirm-movements.ts'
import { explainBatch, explainMovement } from '../../src/payments/explain-movement.ts'
import { takePush } from '../../src/payments/take-push.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  movementsOf,
  push,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { signIn } from '../support/operator.ts'
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

const second = { name: 'second@example.com', userId: 2n, isAdmin: true, also: async () => {} }

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

  it('does not make the bank’s own line a second movement, whatever it says beside the amount', async () => {
    const before = await agent.balance()
    const { id, amount } = await deposit()
    const day = dayAt(s.clock())
    const file = (ref: string, payerNo: string) =>
      camt({ account: account.account, day, lines: [{ amount, ref, payerNo }] })
    await importFile(s, account, file('made up', '1112223334'), { mode: 'live' })
    expect(await stateOf(amount)).toEqual(['unconfirmed'])
    // A push of the bank joins it; the person's line does not keep the bank's statement away from it either.
    await push(s, account, { id, amount, payer: { account_no: '5556667778' } })
    await importFile(s, account, file('B-1', '5556667778'), { mode: 'live', via: 'folder' })
    expect(await stateOf(amount)).toEqual(['booked'])
    expect(await statusOf(id)).toBe('PAID')
    expect(await agent.balance()).toBeCloseTo(before + Number(amount), 6)
  })

  it('turns no day green: its balances wait for a second person too', async () => {
    const own = await makeAccount(s, {}, { mode: 'live', isOff: true })
    const { account: of } = own
    const day = dayAt(s.clock())
    await push(s, own, { id: 'p', amount: '50.00' })
    await booked(s, of.name)
    const file = camt({
      account: of,
      day,
      opening: '0.00',
      closing: '50.00',
      lines: [{ amount: '50.00' }],
    })
    const { fileId } = await importFile(s, own, file, { mode: 'live' })
    expect(await daysOf(s, own)).toEqual([`${day} amber unconfirmed`])
    const confirmed = (name: string) =>
      confirmMovements(s.backend.pool, of, fileId, { ...second, name, at: s.clock() })
    await expect(confirmed('test@example.com')).rejects.toThrow('another person')
    expect(await confirmed('second@example.com')).toEqual({ movements: 0, amountMinor: 0n })
    await booked(s, of.name)
    expect(await daysOf(s, own)).toEqual([`${day} green`])
    await expect(confirmed('third@example.com')).rejects.toThrow('Nothing in this file')
  })

  it('with the sum of a batch explains nothing, and is not explained, until it is confirmed', async () => {
    const own = await makeAccount(s, {}, { mode: 'live', isOff: true })
    const { account: of } = own
    const day = dayAt(s.clock())
    const sum = { amount: '300.00', batchCount: 2, batchId: 'B1' }
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    const notified = camt({ account: of, day, isIntraday: true, lines: [{ ...sum, children }] })
    const { fileId } = await importFile(
      s,
      own,
      camt({ account: of, day, opening: '0.00', closing: '300.00', lines: [sum] }),
      { mode: 'live' },
    )
    const parts = await importFile(s, own, notified, { mode: 'live' })
    const states = async () =>
      (await movementsOf(s, own))
        .map(({ amountMinor, state, explainedBy }) => `${amountMinor} ${state} ${explainedBy}`)
        .sort()
    expect(await states()).toEqual([
      '10000 unconfirmed null',
      '20000 unconfirmed null',
      '30000 unconfirmed null',
    ])
    const [whole] = (await movementsOf(s, own)).filter(({ amountMinor }) => amountMinor === 30000n)
    const { desk } = s.service
    const id = whole?.movementId ?? ''
    const words = 'a second person must confirm the file first'
    await expect(explainMovement(desk, of, id, 'correction', 'alone')).rejects.toThrow(words)
    await expect(explainBatch(desk, of, id, 'alone')).rejects.toThrow(words)
    const by = { ...second, at: s.clock() }
    await confirmMovements(s.backend.pool, of, fileId, by)
    expect(await states()).toContain('30000 unexplained null')
    expect((await daysOf(s, own))[0]).toBe(`${day} amber unexplained_credit unconfirmed`)
    await confirmMovements(s.backend.pool, of, parts.fileId, by)
    await booked(s, of.name)
    expect(await states()).toEqual([
      '10000 booked payment',
      '20000 booked payment',
      '30000 booked batch',
    ])
    expect(await daysOf(s, own)).toEqual([`${day} green`])
  })

  it('moves no movement of the bank to another day until it is confirmed', async () => {
    const own = await makeAccount(s, {}, { mode: 'live', isOff: true })
    const { account: of } = own
    const day = dayAt(s.clock())
    const next = dayAt(new Date(s.clock().getTime() + 86_400_000))
    const { json } = await push(s, own, { id: 'p', amount: '50.00' })
    await booked(s, of.name)
    const daysOfMovements = async () => (await movementsOf(s, own)).map(({ bookedOn }) => bookedOn)
    const file = camt({ account: of, day: next, lines: [{ amount: '50.00', endToEndId: 'E' }] })
    const strong = camt({
      account: of,
      day: next,
      isIntraday: true,
      lines: [{ amount: '50.00', endToEndId: 'E' }],
    })
    const { fileId } = await importFile(s, own, file, { mode: 'live' })
    expect([await daysOfMovements(), json.movement]).toEqual([[day], json.movement])
    await importFile(s, own, strong, { mode: 'live' })
    expect(await daysOfMovements()).toEqual([day])
    const by = { ...second, at: s.clock() }
    await confirmMovements(s.backend.pool, of, fileId, by)
    expect(await daysOfMovements()).toEqual([next])
  })

  it('says whose money is that the bank reported without a name, once it is confirmed', async () => {
    const { id, amount } = await deposit()
    const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
      id.split('-')[1],
    ])
    // Another amount than the order's, so that only the code says whose it is.
    const other = (Number(amount) + 1000).toFixed(2)
    const { json } = await push(s, account, { id: `n${id}`, amount: other })
    await booked(s, account.account.name)
    const file = statement(other, rows[0].code)
    const { fileId } = await importFile(s, account, file, { mode: 'live' })
    const claimOf = async () => {
      const found = await s.sql('select order_id from payment_claims where payment_id = $1', [
        `${account.account.name}:${json.movement}`,
      ])
      return found.rows[0]?.order_id
    }
    expect(await claimOf()).toBe(null)
    const by = { ...second, at: s.clock() }
    await confirmMovements(s.backend.pool, account.account, fileId, by)
    await booked(s, account.account.name)
    expect((await claimOf())?.replaceAll('-', '')).toBe(id.split('-')[1])
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

/** A push with a token. */
function takeToken({ account }: TestAccount, id: string, amountMinor: bigint) {
  const payer = { accountNo: null, name: null, bank: null }
  const message = { id, amountMinor, bookedAt: s.clock(), text: '', payer, balanceAfterMinor: null }
  return takePush(s.service.desk, account, message, 'within limits')
}

it('a push with a token is believed up to a payment’s limit and a day’s, and a repetition as it was', async () => {
  const terms = { feed: 'token', tokenLimitMinor: 100_00n, tokenDayLimitMinor: 150_00n } as const
  const phone = await makeAccount(s, terms, { mode: 'live', isOff: true })
  const take = (id: string, amountMinor: bigint) => takeToken(phone, id, amountMinor)
  const large = await take('large', 100_01n)
  // Ten at once, of which the day's limit has room for one.
  const small = await Promise.all(Array.from({ length: 10 }, (_, at) => take(`s${at}`, 90_00n)))
  await take('rest', 60_00n)
  expect(await take('large', 100_01n)).toBe(large)
  expect(new Set(small).size).toBe(10)
  await booked(s, phone.account.name)
  const believed = (await movementsOf(s, phone)).filter(({ state }) => state !== 'unconfirmed')
  expect(believed.map(({ amountMinor }) => amountMinor).sort()).toEqual([60_00n, 90_00n])
})

it('what a rail deducts counts against the limits of a token: small messages bring no large payments', async () => {
  const limits = { tokenLimitMinor: 100_00n, tokenDayLimitMinor: 150_00n }
  const terms = { feed: 'token', expectedDeductionMinor: 50_00n, ...limits } as const
  const phone = await makeAccount(s, terms, { mode: 'live', isOff: true })
  for (const [id, amountMinor] of [
    ['large', 60_00n],
    ['1', 1n],
    ['2', 2n],
    ['3', 3n],
  ] as const)
    await takeToken(phone, id, amountMinor)
  await booked(s, phone.account.name)
  const found = await movementsOf(s, phone)
  const isBelieved = new Map(found.map((each) => [each.amountMinor, each.state !== 'unconfirmed']))
  // The first is larger than a payment may be, and the day has room for two others.
  expect([...isBelieved].sort((a, b) => Number(a[0] - b[0]))).toEqual([
    [1n, true],
    [2n, true],
    [3n, false],
    [60_00n, false],
  ])
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
    // The command line confirms nothing: it says who does, and where.
    const made = await command(['bank-account', 'confirm', 'first'], env)
    expect(made).toMatchObject({ code: 1, stderr: expect.stringContaining('confirmed already') })
    await s.sql(`update bank_accounts set confirmed_at = null, confirmed_by = null
      where name = 'first'`)
    const where = await command(['bank-account', 'confirm', 'first'], env)
    expect(where).toMatchObject({ code: 1, stderr: expect.stringContaining('in to the console') })
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

  it('with the bank’s own QR code takes no deposits before somebody has paid by it', async () => {
    const issued = '00020101021129370016A000000677010111011300668012345675802TH530376463046197'
    const qr = ['--qr', `template:${issued}`, '--i-am-alone']
    const stateOf = async (name: string) =>
      (await commandJson(['bank-account', 'show', name], env)).state
    expect((await create('issued', '4445556667', ...qr)).code).toBe(0)
    expect(await stateOf('issued')).toBe('unconfirmed')
    const set = (...more: string[]) =>
      command(['bank-account', 'set', 'issued', '--i-am-alone', ...more], env)
    expect(await set('--test-paid', 'yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--test-paid must be an amount in THB'),
    })
    expect((await set('--test-paid', '1.00')).code).toBe(0)
    expect(await stateOf('issued')).toBe('off')
    // What was tried is the QR code that it had.
    const other = await set('--account-name', 'Other', '--qr', 'promptpay-mobile:0801234567')
    expect(other.code).toBe(0)
    expect(await stateOf('issued')).toBe('off')
    const back = await set('--qr', `template:${issued}`)
    expect(back).toMatchObject({ code: 0, stderr: expect.stringContaining('--test-paid') })
    expect(await stateOf('issued')).toBe('unconfirmed')
    expect((await create('tried', '5556667778', ...qr, '--test-paid', '2')).code).toBe(0)
    expect(await stateOf('tried')).toBe('off')
  })

  it('is recognised as its QR code allows, if nobody says otherwise', async () => {
    const alone = ['bank-account', 'set', 'first', '--i-am-alone', '--qr']
    const match = async () => (await commandJson(['bank-account', 'show', 'first'], env)).match
    await command([...alone, 'promptpay-bill:099400015804800'], env)
    const ofBill = await match()
    expect(ofBill).not.toBe('amount')
    await command([...alone, 'promptpay-mobile:0801234567'], env)
    expect(await match()).toBe('amount')
    const nameless = await command([...alone, 'promptpay-id:1234567890121', '--match', 'code'], env)
    expect(nameless).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('holds no payment code'),
    })
    expect(await match()).toBe('code')
  })

  it('that one person changes alone alarms every admin, once somebody has signed in', async () => {
    const alarms = async () => (await s.sql('select words from alarms')).rows
    expect(await alarms()).toEqual([])
    await signIn(s, 'admin')
    const set = ['bank-account', 'set', 'third', '--account-name', 'Y', '--i-am-alone', '--json']
    const off = await command(set, { ...env, BREAK_GLASS: 'off' })
    expect(off).toMatchObject({ code: 1, stderr: expect.stringContaining('two people') })
    expect((await command(set, env)).code).toBe(0)
    expect(await alarms()).toMatchObject([{ words: expect.stringContaining('bank account') }])
    const glass = set.map((each) => (each === '--i-am-alone' ? '--break-glass' : each))
    expect((await command(glass, env)).stderr).toContain('--break-glass needs --reason')
    expect((await command([...glass, '--reason', 'the bank calls'], env)).code).toBe(0)
    expect(await alarms()).toContainEqual({ words: expect.stringContaining('Why: the bank calls') })
  })

  it('that is off is not made to drain by one person: what waits at it would leave', async () => {
    const state = (to: string) =>
      commandJson(['provider', 'set', 'third', to, '--reason', 'as agreed', '--json'], env)
    expect(await state('draining')).toMatchObject({ proposal: expect.any(String) })
    const { rows } = await s.sql(`select state from providers where name = 'third'`)
    expect(rows).toEqual([{ state: 'off' }])
    expect(await state('off')).toEqual({ name: 'third', state: 'off' })
  })

  it('that nobody has confirmed takes no order, and home says what is refused', async () => {
    const vietnamese = await s.agent({ currency: 'VND' })
    const admin = await signIn(s, 'admin')
    const vnd = async () =>
      (await admin.get('/home')).json.refuses.filter(
        ({ currency }: { currency: string }) => currency === 'VND',
      )
    const both = [
      { kind: 'deposit', currency: 'VND' },
      { kind: 'withdraw', currency: 'VND' },
    ]
    expect(await vnd()).toEqual(both)
    expect((await vietnamese.deposit({ amount: 50_000 })).status).toBe(503)
    const own = await makeAccount(
      s,
      { currency: 'VND', bankCode: 'VCB', qrKind: 'none', qrValue: null, match: 'code' },
      { mode: 'live' },
    )
    const confirmedBy = (name: string | null) =>
      s.sql(
        `update bank_accounts set version = version + 1, confirmed_by = $2::text,
           confirmed_at = case when $2::text is null then null else $3::timestamptz end
         where name = $1`,
        [own.account.name, name, s.clock()],
      )
    await confirmedBy(null)
    await expect.poll(vnd).toEqual(both)
    await confirmedBy('second@example.com')
    await expect.poll(vnd).toEqual(both.slice(1))
    expect((await vietnamese.deposit({ amount: 50_000 })).status).toBe(201)
  })
})
