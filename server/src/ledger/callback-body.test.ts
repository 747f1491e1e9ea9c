import { describe, expect, it } from 'vitest'
import { newOrder, orderIdOf } from '../../test/support/naive-model.ts'
import { noHash } from '../lib/chain-hash.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import { noChange } from './accounts.ts'
import type { JournalRow, Order, OrderEvent, Payer } from './book.ts'
import { callbackBody } from './callback-body.ts'
import { changeOf } from './transitions.ts'

const at = new Date('2026-01-01T17:00:00.999Z')
const orderId = orderIdOf(1)
const thb: { currency: Currency } = { currency: 'THB' }

function bodyOf(
  event: OrderEvent,
  fields: Partial<Order>,
  options: {
    terms?: { currency: Currency }
    payer?: Payer
    available?: bigint
    timeZone?: string
  } = {},
): string {
  const terms = options.terms ?? thb
  const order = newOrder({
    agentId: 7n,
    orderId,
    kind: event.startsWith('deposit') ? 'deposit' : 'withdraw',
    createdAt: at,
    refId: 'ref-1',
    amountMinor: 10_000n,
    feeMinor: 150n,
    currency: terms.currency,
    ...fields,
  })
  const row: JournalRow = {
    agentId: 7n,
    seq: 3n,
    orderId,
    event,
    at,
    currency: terms.currency,
    change: changeOf(event, order),
    balances: { ...noChange, available: options.available ?? 12_345n },
    clearingAt: null,
    clearingThere: null,
    onceKey: null,
    reason: null,
    hash: noHash,
  }
  return callbackBody(order, row, options.payer ?? null, localTimeIn(options.timeZone ?? 'UTC'))
}

it('a body holds exactly the fields of the contract', () => {
  const paid = { status: 'PAID', paidAmountMinor: 10_000n, paidFeeMinor: 150n } as const
  expect(bodyOf('deposit_paid', paid)).toBe(
    `{"refId":"ref-1","transactionId":"7-${orderId}","userId":"user-1","amount":100,"fee":1.5,` +
      '"status":"PAID","extParams":{},"successAt":"2026-01-01 17:00:00",' +
      '"wallet":{"balance":123.45}}',
  )
})

describe('amount and fee', () => {
  const paid = { paidAmountMinor: 10_000n, paidFeeMinor: 150n }
  const other = { paidAmountMinor: 9_950n, paidFeeMinor: 149n }
  const keep: Partial<Order> = { revertFee: 'keep' }
  const rows: [string, OrderEvent, Partial<Order>, { currency: Currency }, number, number][] = [
    ['what was paid', 'deposit_paid', { status: 'PAID', ...paid }, thb, 100, 1.5],
    ['what was really paid', 'deposit_paid', { status: 'PAID', ...other }, thb, 99.5, 1.49],
    ['asked, no fee, if failed', 'deposit_failed', { status: 'FAILED' }, thb, 100, 0],
    ['asked, no fee, if expired', 'deposit_expired', { status: 'EXPIRED' }, thb, 100, 0],
    ['asked, no fee, if void', 'deposit_void', { status: 'VOID' }, thb, 100, 0],
    [
      'asked, no fee, if taken back',
      'deposit_taken_back',
      { status: 'VOID', ...other },
      thb,
      100,
      0,
    ],
    ['the payout and its fee', 'withdraw_paid', { status: 'PAID', ...paid }, thb, 100, 1.5],
    ['no fee if failed', 'withdraw_failed', { status: 'FAILED' }, thb, 100, 0],
    ['no fee if cancelled', 'withdraw_cancelled', { status: 'CANCEL' }, thb, 100, 0],
    ['no fee if given back', 'withdraw_reverted', { status: 'REVERT', ...paid }, thb, 100, 0],
    [
      'the fee that is kept',
      'withdraw_reverted',
      { status: 'REVERT', ...paid, ...keep },
      thb,
      100,
      1.5,
    ],
  ]
  it.each(rows)('say %s (%s)', (_name, event, fields, terms, amount, fee) => {
    const body = JSON.parse(bodyOf(event, fields, { terms }))
    expect([body.amount, body.fee, body.status]).toEqual([amount, fee, fields.status])
  })
})

it('a balance is exact where a double is not', () => {
  const body = bodyOf('deposit_failed', { status: 'FAILED' }, { available: 9_007_199_254_740_991n })
  expect(body).toContain('"wallet":{"balance":90071992547409.91}')
})

it('a balance below zero says so', () => {
  expect(bodyOf('deposit_failed', { status: 'FAILED' }, { available: -5n })).toContain(
    '"wallet":{"balance":-0.05}',
  )
})

it('a currency without decimals has none', () => {
  const terms: { currency: Currency } = { ...thb, currency: 'VND' }
  const body = bodyOf('deposit_failed', { status: 'FAILED' }, { terms, available: 12_345n })
  expect(body).toContain('"amount":10000,')
  expect(body).toContain('"wallet":{"balance":12345}')
})

it('extraParams come back as the very text that was sent', () => {
  const extraParams = '{ "n": 1.0, "big": 12345678901234567890, "t": "\\u0e01\\/" }'
  expect(bodyOf('deposit_failed', { status: 'FAILED', extraParams })).toContain(
    `"extParams":${extraParams},`,
  )
})

it('text of the agent is quoted', () => {
  const body = bodyOf('deposit_failed', { status: 'FAILED', refId: 'a"b\\', userId: '"}' })
  expect(JSON.parse(body)).toMatchObject({ refId: 'a"b\\', userId: '"}' })
})

it('the time is told in the zone of the service', () => {
  const body = bodyOf('deposit_failed', { status: 'FAILED' }, { timeZone: 'Asia/Bangkok' })
  expect(JSON.parse(body).successAt).toBe('2026-01-02 00:00:00')
})

describe('a payer that the provider reports', () => {
  const rows: [string | null, boolean | undefined][] = [
    ['1234567890', false],
    ['123-4 567890', false],
    ['1234567891', true],
    ['123456789', true],
    ['XXX-X-X6789-0', false],
    ['xxxxxx7890', false],
    ['******7890', false],
    ['123.4/567890', false],
    ['123.4.567891', true],
    // A bank may mask in ways that nobody knows: only a full number can be another.
    ['••••••7891', undefined],
    // Of another length nobody can tell which digits are masked: not the same, not another.
    ['XX7890', undefined],
    ['12****90', undefined],
    ['xxx1234', undefined],
    ['XXXXXXXXXXXX7890', undefined],
    ['XXXXXXXXXX', undefined],
    ['', false],
    [null, false],
  ]
  it.each(rows)('with account %s is another one: %s', (accountNo, another) => {
    const payer = { accountNo, accountName: 'Somchai', bankCode: null }
    const paid = { status: 'PAID', paidAmountMinor: 10_000n, paidFeeMinor: 0n } as const
    const body = JSON.parse(bodyOf('deposit_paid', paid, { payer }))
    expect(body.flag_incorrect_payee).toBe(another)
    expect(body.payee).toEqual({ account_no: accountNo, account_name: 'Somchai', bank_code: null })
  })

  it('letters of an account are compared without their case', () => {
    const payer = { accountNo: 'ab12', accountName: null, bankCode: null }
    const paid = { status: 'PAID', accountNo: 'Ab12', paidAmountMinor: 10_000n } as const
    expect(JSON.parse(bodyOf('deposit_paid', paid, { payer })).flag_incorrect_payee).toBe(false)
  })
})
