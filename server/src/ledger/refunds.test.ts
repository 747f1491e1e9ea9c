import { describe, expect, it } from 'vitest'
import { newOrder, orderIdOf } from '../../test/support/naive-model.ts'
import { noHash } from '../lib/chain-hash.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { noChange } from './accounts.ts'
import type { Order, Payment, Wallet } from './book.ts'
import type { BookView, Command } from './commands.ts'
import { decide } from './decide.ts'
import { refundableRest } from './refunds.ts'

const agentId = 7n
const at = new Date('2026-01-01T00:00:00Z')
const depositId = orderIdOf(1)
const deposit = (fields: Partial<Order> = {}) =>
  newOrder({
    ...{ agentId, orderId: depositId, kind: 'deposit', createdAt: at, version: 2, status: 'PAID' },
    ...{ completedAt: at, paidAmountMinor: 10_000n, paidFeeMinor: 0n },
    ...fields,
  })
const refund = (number: number, amountMinor: bigint, fields: Partial<Order> = {}) =>
  newOrder({
    ...{ agentId, orderId: orderIdOf(number), kind: 'withdraw', createdAt: at },
    ...{ refundOf: depositId, amountMinor },
    ...fields,
  })
const handed = { handedOverAt: at, provider: 'bank', providerRef: 'b-1', version: 2 }
const wallet: Wallet = {
  agentId,
  currency: 'THB',
  seq: 9n,
  balances: { ...noChange, available: 20_000n, held: 10_000n, clearing: -30_000n },
  hash: noHash,
}
const book: BookView = {
  ...{ wallet, order: undefined, payment: undefined, claim: undefined },
  ...{
    refunded: deposit(),
    refunds: [],
    payer: undefined,
    isTakenBack: false,
    takenReferences: new Set(),
    item: undefined,
    itemRows: new Map(),
    isHeld: false,
  },
  ...{ isDone: false, archived: false, limits: undefined, house: undefined, unmatched: undefined },
}
const decided = (command: Command, fields: Partial<BookView> = {}) =>
  decide({ ...book, ...fields }, command, localTimeIn('UTC'))

describe('making a refund', () => {
  const create = (amountMinor: bigint, fields: Partial<BookView>, depositVersion = 2) => {
    const order = refund(9, amountMinor)
    const made = decided({ type: 'create', agentId, at, order, depositVersion }, fields)
    return made.type === 'refused' ? made.code : made.type
  }
  const others = (...refunds: Order[]) => ({ refunds })
  it.each<[string, bigint, Partial<BookView>, string]>([
    ['of all', 10_000n, {}, 'changed'],
    ['of more', 10_001n, {}, 'refund_exceeds_payment'],
    ['beside one that waits', 6_001n, others(refund(2, 4_000n)), 'refund_exceeds_payment'],
    ['of the rest of one that waits', 6_000n, others(refund(2, 4_000n)), 'changed'],
    [
      'beside one that was paid',
      6_001n,
      others(refund(2, 4_000n, { status: 'PAID' })),
      'refund_exceeds_payment',
    ],
    ['beside one that failed', 10_000n, others(refund(2, 4_000n, { status: 'FAILED' })), 'changed'],
    [
      'beside one that was cancelled',
      10_000n,
      others(refund(2, 4_000n, { status: 'CANCEL' })),
      'changed',
    ],
    [
      'beside one that came back',
      10_000n,
      others(refund(2, 4_000n, { status: 'REVERT' })),
      'changed',
    ],
    [
      'where more was paid out than came in, because one had failed',
      1n,
      others(refund(2, 9_000n, { status: 'PAID' }), refund(3, 9_000n)),
      'refund_exceeds_payment',
    ],
    ['of nothing that is there', 1n, { refunded: undefined }, 'order_not_found'],
    ['of one that waits', 1n, { refunded: deposit({ status: 'WAITING' }) }, 'order_not_refundable'],
    ['of one that is void', 1n, { refunded: deposit({ status: 'VOID' }) }, 'order_not_refundable'],
    [
      'of a withdrawal',
      1n,
      { refunded: refund(1, 1n, { status: 'PAID' }) },
      'order_not_refundable',
    ],
    ['of one that changed', 1n, { refunded: deposit({ version: 4 }) }, 'order_not_refundable'],
  ])('%s: %d', (_name, amountMinor, fields, outcome) => {
    expect(create(amountMinor, fields)).toBe(outcome)
  })

  it('needs the version that its destination was read with', () => {
    const made: Command = { type: 'create', agentId, at, order: refund(9, 1n) }
    expect(decided(made)).toMatchObject({ type: 'refused', code: 'order_not_refundable' })
  })
})

describe('taking a deposit back', () => {
  const payment: Payment = {
    ...{ agentId, paymentId: 'bank:1', orderId: depositId, amountMinor: 10_000n, paidAt: at },
    ...{ reportedAt: at, payer: null, state: 'credited', why: null, creditedTo: 'order' },
    ...{ evidence: null, receivedSeq: 3n, returnedSeq: null },
  }
  const command: Command = {
    ...{ type: 'take_back_payment', agentId, at, orderId: depositId, paymentId: 'bank:1' },
  }

  it('cancels what no provider has, in the order of the ids, and opens items for the rest', () => {
    const refunds = [
      refund(4, 1_000n),
      refund(2, 3_000n),
      refund(3, 2_000n, handed),
      refund(5, 500n, { ...handed, status: 'PAID' }),
      refund(6, 400n, { status: 'FAILED' }),
    ]
    const taken = decided(command, { order: deposit(), payment, refunds })
    expect(taken).toMatchObject({
      type: 'changed',
      order: { status: 'VOID' },
      row: { seq: 10n, event: 'deposit_taken_back' },
      payment: { state: 'taken_back' },
      also: [
        {
          order: { orderId: orderIdOf(2), status: 'CANCEL' },
          row: { seq: 11n, event: 'withdraw_cancelled', change: { available: 3_000n } },
          callback: { seq: 11n, follows: false },
        },
        { order: refunds[2], row: undefined, item: { kind: 'refunded_and_taken_back' } },
        {
          order: { orderId: orderIdOf(4), status: 'CANCEL' },
          row: { seq: 12n },
          wallet: { balances: { available: 14_000n, held: 6_000n } },
        },
        { order: refunds[3], row: undefined, item: { orderStatus: 'PAID', providerSaid: 'VOID' } },
      ],
    })
  })

  it('leaves nothing to refund', () => {
    expect(refundableRest(deposit({ status: 'VOID' }), [])).toBe(0n)
    expect(refundableRest(deposit(), [refund(2, 4_000n)])).toBe(6_000n)
  })
})

describe('handing a refund to another provider', () => {
  const on: Command = {
    ...{ type: 'hand_over', agentId, at, orderId: orderIdOf(2), provider: 'other' },
    ...{ references: ['b-2'], insteadOf: 'b-1', token: 'token', askAt: at },
  }
  it.each([
    ['PAID', 'changed'],
    ['VOID', 'refused'],
  ] as const)('whose deposit is %s is %s', (status, outcome) => {
    const order = refund(2, 1_000n, handed)
    expect(decided(on, { order, refunded: deposit({ status }) }).type).toBe(outcome)
  })
})
