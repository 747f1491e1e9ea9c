import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'promptparse'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { camt, dayAt, push, routed } from '../support/bank-accounts.ts'
import {
  cleanUp,
  command,
  commandJson,
  type Env,
  tempFolder,
  verifyClean,
} from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A whole day at a bank account: the payer pays, the bank reports it twice, and the money counts once. */

let s: TestService
let env: Env
let receiver: Receiver

beforeAll(async () => {
  s = await startTestService({ realTime: true, outside: { providers: [] } })
  env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'warn',
  }
  receiver = await startReceiver()
})
afterEach(() => s.prove())
afterAll(async () => {
  await verifyClean(env)
  await cleanUp()
  await receiver.close()
  await s.close()
})

it('takes a payment by QR: pushed at once, confirmed at night, credited once, and the day is green', async () => {
  const made = await commandJson(
    [
      'bank-account',
      'create',
      'shop',
      '--currency',
      'THB',
      '--bank',
      'KBANK',
      '--account-no',
      '123-4-56789-0',
    ]
      .concat(['--account-name', 'Sluice Shop', '--qr', 'promptpay-mobile:0801234567'])
      .concat(['--feed', 'signed', '--zone', 'Asia/Bangkok']),
    env,
  )
  expect(made).toMatchObject({ name: 'shop', state: 'on', match: 'amount' })
  expect(made.feed_secret).toMatch(/^fs_[0-9a-f]{64}$/)
  const shown = await commandJson(['bank-account', 'show', 'shop'], env)
  expect(JSON.stringify(shown)).not.toContain(made.feed_secret)
  await routed(s, 'shop')
  const account = { name: 'shop', accountNo: '1234567890', currency: 'THB' as const }
  const feed = { account: account as never, secret: made.feed_secret as string }

  const agent = await s.agent({ depositCallbackUrl: receiver.url })
  const order = { amount: 100, accountNo: '9876543210' }
  const { status, json } = await agent.deposit(order)
  expect(status).toBe(201)
  const payable: number = json.transfer.amount
  expect(payable).toBeGreaterThan(100)
  expect(payable).toBeLessThan(101)
  expect(json.transfer).toMatchObject({ account_number: '1234567890', bank_code: 'KBANK' })
  const qr = parse(json.qrcode.qrcode_text, true)
  expect(qr?.getTagValue('29', '01')).toBe('0066801234567')
  expect(qr?.getTagValue('54')).toBe(payable.toFixed(2))

  const reported = await push(s, feed, {
    id: 'bank-1',
    amount: payable.toFixed(2),
    text: 'TRF',
    payer: { account_no: '987-6-54321-0', name: 'SOMCHAI J', bank: 'SCB' },
  })
  expect(reported.status).toBe(200)
  await receiver.until(1)
  expect(receiver.received[0]?.json).toMatchObject({
    transactionId: json.txn_id,
    status: 'PAID',
    amount: payable,
    flag_incorrect_payee: false,
    payee: { account_no: '987-6-54321-0', account_name: 'SOMCHAI J', bank_code: 'SCB' },
  })
  expect(await agent.balance()).toBe(payable)

  // Another account than the order names is told; the money is the agent's all the same.
  const other = (await agent.deposit({ amount: 200, accountNo: '9876543210' })).json
  await push(s, feed, {
    id: 'bank-2',
    amount: other.transfer.amount.toFixed(2),
    payer: { account_no: '5555555555' },
  })
  await receiver.until(2)
  expect(receiver.received[1]?.json).toMatchObject({ status: 'PAID', flag_incorrect_payee: true })

  const day = dayAt(s.clock())
  const sum = (payable + other.transfer.amount).toFixed(2)
  const file = join(await tempFolder(), 'statement.xml')
  await writeFile(
    file,
    camt({
      account,
      day,
      opening: '0.00',
      closing: sum,
      lines: [
        { amount: payable.toFixed(2), text: 'Transfer by phone', ref: 'A1' },
        { amount: other.transfer.amount.toFixed(2), text: 'Transfer by phone', ref: 'A2' },
      ],
    }),
  )
  const before = await commandJson(['reconcile', '--account', 'shop'], env)
  expect(before.days).toMatchObject([{ day, state: 'amber' }])
  const imported = await commandJson(['statement', 'import', file, '--account', 'shop'], env)
  expect(imported).toMatchObject({ entries: 2, movements: 0, repeated: false })
  expect(await agent.balance()).toBeCloseTo(Number(sum), 6)
  expect(receiver.received).toHaveLength(2)

  const { movements } = await commandJson(['movement', 'list', '--account', 'shop'], env)
  expect(movements).toHaveLength(2)
  expect(movements[0]).toMatchObject({
    id: reported.json.movement,
    amount: payable.toFixed(2),
    day,
    state: 'credited',
    explained_by: 'payment',
    txn_id: json.txn_id,
    reported_by: ['push', 'statement'],
  })
  const silent = await command(
    ['reconcile', '--account', 'shop', '--day', '2026-01-02', '--json'],
    env,
  )
  expect([silent.code, JSON.parse(silent.stdout).days]).toEqual([
    0,
    [{ day: '2026-01-02', state: 'amber', opening: null, closing: null, breaks: [] }],
  ])
  const reconciled = await command(['reconcile', '--account', 'shop', '--json'], env)
  expect(reconciled.code).toBe(0)
  expect(JSON.parse(reconciled.stdout)).toMatchObject({
    account: 'shop',
    days: [{ day, state: 'green', breaks: [] }],
  })
})
