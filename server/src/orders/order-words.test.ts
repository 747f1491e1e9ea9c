import { expect, test } from 'vitest'
import type { Order } from '../ledger/book.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { PayoutAttempt } from '../payouts/payouts.ts'
import { type ActionName, actionNames, actionsOfKind, whyNot } from './order-actions.ts'
import type { OrderSituation } from './order-situation.ts'
import { explain, inEnglish } from './order-words.ts'

const now = new Date('2026-01-01T12:00:00Z')
const bangkok = localTimeIn('Asia/Bangkok')
const told = (situation: OrderSituation) => {
  const { why, next } = explain(situation)
  return { why: inEnglish(why, bangkok), next: inEnglish(next, bangkok) }
}
const early = new Date('2026-01-01T11:00:00Z')

const order = (kind: Order['kind'], status: Order['status'], handed = false): Order => ({
  agentId: 1n,
  orderId: '0'.repeat(32),
  kind,
  refId: 'r',
  refundOf: null,
  payableMinor: null,
  currency: 'THB',
  userId: 'u',
  amountMinor: 100n,
  feeMinor: 0n,
  feeRule: '0%',
  lateMoney: 'review',
  reserveRule: null,
  revertFee: null,
  accountName: 'A',
  accountNo: '1234',
  bankCode: 'SCB',
  extraParams: null,
  status,
  version: 1,
  answer: '{}',
  createdAt: early,
  expiresAt: kind === 'deposit' ? now : null,
  completedAt: null,
  paidAmountMinor: null,
  paidFeeMinor: null,
  releaseAt: null,
  provider: null,
  providerRef: null,
  handedOverAt: handed ? early : null,
  instructions: null,
})

const attempt = (state: PayoutAttempt['state'], handedAt = now): PayoutAttempt => ({
  agentId: 1n,
  orderId: '0'.repeat(32),
  attempt: 1,
  provider: 'bank',
  reference: 'x',
  version: null,
  use: null,
  unsent: false,
  theirId: null,
  state,
  handedAt,
  asks: 1,
  askAt: now,
  turn: 0,
  said: 'The call timed out.',
  evidence: null,
})

/** What can be done, by what the order is. */
const table: [string, Order, PayoutAttempt | undefined, ActionName[]][] = [
  ['a waiting deposit', order('deposit', 'WAITING'), undefined, ['void']],
  ['a paid deposit', order('deposit', 'PAID'), undefined, ['take-back', 'resend']],
  ['an expired deposit', order('deposit', 'EXPIRED'), undefined, ['resend']],
  ['a void deposit', order('deposit', 'VOID'), undefined, ['resend']],
  ['a failed deposit', order('deposit', 'FAILED'), undefined, ['resend']],
  ['a withdrawal nobody has', order('withdraw', 'WAITING'), undefined, ['cancel']],
  ['one just handed over', order('withdraw', 'WAITING', true), attempt('handed'), []],
  ['one just accepted', order('withdraw', 'WAITING', true), attempt('accepted'), []],
  [
    'one nothing was heard of for an hour',
    order('withdraw', 'WAITING', true),
    attempt('accepted', early),
    ['mark-paid', 'mark-failed'],
  ],
  [
    'an unknown payout',
    order('withdraw', 'WAITING', true),
    attempt('unknown'),
    ['mark-paid', 'mark-failed'],
  ],
  [
    'a payout that is not found',
    order('withdraw', 'WAITING', true),
    attempt('not_found'),
    ['mark-paid', 'mark-failed'],
  ],
  ['a paid withdrawal', order('withdraw', 'PAID', true), attempt('paid'), ['revert', 'resend']],
  [
    'a failed withdrawal',
    order('withdraw', 'FAILED', true),
    attempt('rejected'),
    ['mark-paid', 'resend'],
  ],
  ['a cancelled withdrawal', order('withdraw', 'CANCEL'), undefined, ['resend']],
  ['a reverted withdrawal', order('withdraw', 'REVERT', true), attempt('returned'), ['resend']],
]

test.each(table)('to %s can be done what its state allows', (_what, each, payout, allowed) => {
  const hasCallback = each.status !== 'WAITING'
  const situation = {
    order: each,
    attempt: payout,
    waitingPayments: 0,
    hasCallback,
    openItems: 0,
    refunds: [],
    now,
  }
  expect(actionNames.filter((name) => whyNot(name, situation) === undefined)).toEqual(allowed)
  expect(actionsOfKind[each.kind]).toEqual(expect.arrayContaining(allowed))
  const { why, next } = told(situation)
  expect(why).toMatch(/^[A-Z].*\.$/)
  expect(next).toMatch(/^[A-Z].*\.$/)
})

test('the words say what the provider said, when it is asked by our clocks, and that payments wait', () => {
  const unknown = {
    order: order('withdraw', 'WAITING', true),
    attempt: attempt('unknown'),
    waitingPayments: 0,
    hasCallback: false,
    openItems: 0,
    refunds: [],
    now,
  }
  expect(told(unknown).why).toContain('The call timed out.')
  expect(told(unknown).next).toContain('asked again at 2026-01-01 19:00:00.')
  const expired = { ...unknown, order: order('deposit', 'EXPIRED'), attempt: undefined }
  expect(told({ ...expired, waitingPayments: 2 }).next).toMatch(/^2 payments for it/)
})
