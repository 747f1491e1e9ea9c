import { expect, it } from 'vitest'
import type { Order, Payment } from '../ledger/book.ts'
import { type PageState, stateOf } from './payment-page.ts'

const now = new Date('2026-01-01T00:00:00Z')
const in90s = new Date(now.getTime() + 90_000)
const just = new Date(now.getTime())

type Money = [Payment['state'], Payment['why']]

/** Of an order and the money that came in and was not credited, what the payer is told. */
const cases: [
  Order['status'],
  expiresAt: Date,
  wasPaid: boolean,
  uncredited: Money[],
  PageState,
][] = [
  ['WAITING', in90s, false, [], 'waiting'],
  ['WAITING', just, false, [], 'expired'],
  ['WAITING', in90s, false, [['waiting', 'wrong_amount']], 'wrong_amount'],
  ['WAITING', in90s, false, [['waiting', 'fee']], 'received'],
  ['WAITING', in90s, false, [['waiting', 'bound']], 'received'],
  // What was sent back does not keep an order from being paid.
  ['WAITING', in90s, false, [['returned', null]], 'waiting'],
  ['EXPIRED', just, false, [], 'expired'],
  ['EXPIRED', just, false, [['waiting', 'late']], 'paid_late'],
  ['EXPIRED', just, false, [['waiting', 'wrong_amount']], 'wrong_amount'],
  ['EXPIRED', just, false, [['returned', 'late']], 'returned'],
  [
    'EXPIRED',
    just,
    false,
    [
      ['returned', 'late'],
      ['waiting', 'late'],
    ],
    'paid_late',
  ],
  ['EXPIRED', just, false, [['credited', 'late']], 'received'],
  ['FAILED', in90s, false, [], 'failed'],
  ['FAILED', in90s, false, [['waiting', 'late']], 'paid_late'],
  ['VOID', in90s, false, [], 'void'],
  ['VOID', in90s, true, [], 'taken_back'],
  ['VOID', in90s, true, [['waiting', 'duplicate']], 'taken_back'],
  ['PAID', in90s, true, [], 'paid'],
  ['PAID', in90s, true, [['waiting', 'duplicate']], 'paid'],
]

it.each(cases)(
  '%s, until %s, paid once: %s, with %o: %s',
  (status, expiresAt, wasPaid, uncredited, told) => {
    const order = { status, expiresAt, paidAmountMinor: wasPaid ? 100n : null }
    const payments = uncredited.map(([state, why]) => ({ state, why }))
    expect(stateOf(order, payments, now).state).toBe(told)
  },
)

it.each<[Order['status'], Money[], others: Money[]]>([
  ['PAID', [], []],
  ['PAID', [['waiting', 'duplicate']], [['waiting', 'duplicate']]],
  // 90 came, then 100.
  ['PAID', [['waiting', 'wrong_amount']], [['waiting', 'wrong_amount']]],
  ['PAID', [['returned', 'duplicate']], [['returned', 'duplicate']]],
  ['VOID', [['waiting', 'duplicate']], [['waiting', 'duplicate']]],
  ['WAITING', [['waiting', 'wrong_amount']], []],
  [
    'WAITING',
    [
      ['waiting', 'wrong_amount'],
      ['waiting', 'wrong_amount'],
    ],
    [['waiting', 'wrong_amount']],
  ],
  ['WAITING', [['returned', null]], [['returned', null]]],
  ['EXPIRED', [['returned', 'late']], []],
])('%s, with %o: the payer also hears of %o', (status, uncredited, others) => {
  const order = { status, expiresAt: in90s, paidAmountMinor: 100n }
  const payments = uncredited.map(([state, why]) => ({ state, why }))
  expect(stateOf(order, payments, now).others).toEqual(
    others.map(([state, why]) => ({ state, why })),
  )
})

it('the seconds left are those of the open order, never below zero', () => {
  const left = (status: Order['status'], expiresAt: Date) =>
    stateOf({ status, expiresAt, paidAmountMinor: null }, [], now).remainingS
  expect(left('WAITING', in90s)).toBe(90)
  expect(left('WAITING', new Date(now.getTime() + 1))).toBe(1)
  expect(left('WAITING', new Date(now.getTime() - 5_000))).toBe(0)
  expect(left('FAILED', in90s)).toBe(0)
})
