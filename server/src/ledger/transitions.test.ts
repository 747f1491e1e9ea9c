import { describe, expect, it } from 'vitest'
import { newOrder, orderIdOf } from '../../test/support/naive-model.ts'
import { noHash } from '../lib/chain-hash.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { noChange, sumOf } from './accounts.ts'
import type { Order, OrderEvent, OrderKind, OrderStatus } from './book.ts'
import { decide } from './decide.ts'
import { changeOf, eventOf, transitions } from './transitions.ts'

const statuses: OrderStatus[] = ['WAITING', 'PAID', 'FAILED', 'EXPIRED', 'VOID', 'CANCEL', 'REVERT']
const statusesOf: Record<OrderKind, OrderStatus[]> = {
  deposit: ['WAITING', 'PAID', 'FAILED', 'EXPIRED', 'VOID'],
  withdraw: ['WAITING', 'PAID', 'FAILED', 'CANCEL', 'REVERT'],
}
const at = new Date('2026-01-01T00:00:00Z')

/**
 * What a provider's word does to an order: the event it is written down as, `unchanged` where it
 * has happened before, `by payment` where only money that came in or was taken back takes that step,
 * `by a person` where only somebody's word with evidence does.
 */
const table: [OrderKind, OrderStatus, OrderStatus, string][] = [
  ['deposit', 'WAITING', 'WAITING', 'unchanged'],
  ['deposit', 'WAITING', 'PAID', 'by payment'],
  ['deposit', 'WAITING', 'FAILED', 'deposit_failed'],
  ['deposit', 'WAITING', 'EXPIRED', 'deposit_expired'],
  ['deposit', 'WAITING', 'VOID', 'deposit_void'],
  ['deposit', 'WAITING', 'CANCEL', 'refused'],
  ['deposit', 'WAITING', 'REVERT', 'refused'],
  ['deposit', 'PAID', 'WAITING', 'refused'],
  ['deposit', 'PAID', 'PAID', 'unchanged'],
  ['deposit', 'PAID', 'FAILED', 'refused'],
  ['deposit', 'PAID', 'EXPIRED', 'refused'],
  ['deposit', 'PAID', 'VOID', 'by payment'],
  ['deposit', 'PAID', 'CANCEL', 'refused'],
  ['deposit', 'PAID', 'REVERT', 'refused'],
  ['deposit', 'FAILED', 'WAITING', 'refused'],
  ['deposit', 'FAILED', 'PAID', 'by payment'],
  ['deposit', 'FAILED', 'FAILED', 'unchanged'],
  ['deposit', 'FAILED', 'EXPIRED', 'refused'],
  ['deposit', 'FAILED', 'VOID', 'refused'],
  ['deposit', 'FAILED', 'CANCEL', 'refused'],
  ['deposit', 'FAILED', 'REVERT', 'refused'],
  ['deposit', 'EXPIRED', 'WAITING', 'refused'],
  ['deposit', 'EXPIRED', 'PAID', 'by payment'],
  ['deposit', 'EXPIRED', 'FAILED', 'refused'],
  ['deposit', 'EXPIRED', 'EXPIRED', 'unchanged'],
  ['deposit', 'EXPIRED', 'VOID', 'refused'],
  ['deposit', 'EXPIRED', 'CANCEL', 'refused'],
  ['deposit', 'EXPIRED', 'REVERT', 'refused'],
  ['deposit', 'VOID', 'WAITING', 'refused'],
  ['deposit', 'VOID', 'PAID', 'by payment'],
  ['deposit', 'VOID', 'FAILED', 'refused'],
  ['deposit', 'VOID', 'EXPIRED', 'refused'],
  ['deposit', 'VOID', 'VOID', 'unchanged'],
  ['deposit', 'VOID', 'CANCEL', 'refused'],
  ['deposit', 'VOID', 'REVERT', 'refused'],
  ['withdraw', 'WAITING', 'WAITING', 'unchanged'],
  ['withdraw', 'WAITING', 'PAID', 'withdraw_paid'],
  ['withdraw', 'WAITING', 'FAILED', 'withdraw_failed'],
  ['withdraw', 'WAITING', 'EXPIRED', 'refused'],
  ['withdraw', 'WAITING', 'VOID', 'refused'],
  ['withdraw', 'WAITING', 'CANCEL', 'withdraw_cancelled'],
  ['withdraw', 'WAITING', 'REVERT', 'refused'],
  ['withdraw', 'PAID', 'WAITING', 'refused'],
  ['withdraw', 'PAID', 'PAID', 'unchanged'],
  ['withdraw', 'PAID', 'FAILED', 'refused'],
  ['withdraw', 'PAID', 'EXPIRED', 'refused'],
  ['withdraw', 'PAID', 'VOID', 'refused'],
  ['withdraw', 'PAID', 'CANCEL', 'refused'],
  ['withdraw', 'PAID', 'REVERT', 'withdraw_reverted'],
  ['withdraw', 'FAILED', 'WAITING', 'refused'],
  ['withdraw', 'FAILED', 'PAID', 'by a person'],
  ['withdraw', 'FAILED', 'FAILED', 'unchanged'],
  ['withdraw', 'FAILED', 'EXPIRED', 'refused'],
  ['withdraw', 'FAILED', 'VOID', 'refused'],
  ['withdraw', 'FAILED', 'CANCEL', 'refused'],
  ['withdraw', 'FAILED', 'REVERT', 'refused'],
  ['withdraw', 'CANCEL', 'WAITING', 'refused'],
  ['withdraw', 'CANCEL', 'PAID', 'refused'],
  ['withdraw', 'CANCEL', 'FAILED', 'refused'],
  ['withdraw', 'CANCEL', 'EXPIRED', 'refused'],
  ['withdraw', 'CANCEL', 'VOID', 'refused'],
  ['withdraw', 'CANCEL', 'CANCEL', 'unchanged'],
  ['withdraw', 'CANCEL', 'REVERT', 'refused'],
  ['withdraw', 'REVERT', 'WAITING', 'refused'],
  ['withdraw', 'REVERT', 'PAID', 'refused'],
  ['withdraw', 'REVERT', 'FAILED', 'refused'],
  ['withdraw', 'REVERT', 'EXPIRED', 'refused'],
  ['withdraw', 'REVERT', 'VOID', 'refused'],
  ['withdraw', 'REVERT', 'CANCEL', 'refused'],
  ['withdraw', 'REVERT', 'REVERT', 'unchanged'],
]

it('the table names every kind, every state of it and every state it could be told', () => {
  const pairs = (['deposit', 'withdraw'] as const).flatMap((kind) =>
    statusesOf[kind].flatMap((from) => statuses.map((to) => `${kind} ${from} ${to}`)),
  )
  expect(table.map(([kind, from, to]) => `${kind} ${from} ${to}`)).toEqual(pairs)
})

describe.each(table)('a %s order that is %s and is told %s: %s', (kind, from, to, outcome) => {
  it('is written down so, or not at all', () => {
    const order = orderThatIs(kind, from)
    const wallet = {
      agentId: 7n,
      currency: 'THB' as const,
      seq: 4n,
      balances: balancesOf(order),
      hash: noHash,
    }
    const decision = decide(
      {
        ...{ wallet, order, payment: undefined, claim: undefined, payer: undefined },
        isTakenBack: false,
        ...{ takenReferences: new Set<string>(), refunded: undefined, refunds: [] },
        ...{ item: undefined, itemRows: new Map(), isHeld: false },
        ...{
          isDone: false,
          archived: false,
          limits: undefined,
          house: undefined,
          unmatched: undefined,
        },
      },
      { type: 'outcome', agentId: 7n, orderId: order.orderId, at, to },
      localTimeIn('UTC'),
    )
    switch (outcome) {
      case 'unchanged':
        return expect(decision).toEqual({ type: 'unchanged', order })
      case 'refused':
      case 'by payment':
      case 'by a person':
        return expect(decision).toMatchObject({ type: 'refused', code: 'invalid_transition' })
      default:
        return expect(decision).toMatchObject({
          type: 'changed',
          order: { status: to, version: order.version + 1, completedAt: at },
          wallet: { seq: 5n },
          row: { seq: 5n, event: outcome, orderId: order.orderId, at },
          callback: { seq: 5n, orderId: order.orderId },
        })
    }
  })

  it('has a step of its own only if it is one', () => {
    const steps: Record<string, string | undefined> = {
      'by a person': 'withdraw_paid_after_failed',
      'by payment': to === 'VOID' ? 'deposit_taken_back' : 'deposit_paid',
      unchanged: undefined,
      refused: undefined,
    }
    const expected = outcome in steps ? steps[outcome] : outcome
    expect(eventOf(orderThatIs(kind, from), to)).toBe(expected)
    const known = transitions.filter((s) => s.kind === kind && s.from === from && s.to === to)
    expect(known.map(({ event }) => event)).toEqual(expected === undefined ? [] : [expected])
  })
})

describe('what an event moves', () => {
  const keep: Partial<Order> = { revertFee: 'keep' }
  const rows: [OrderEvent, OrderKind, Partial<Order>, Partial<typeof noChange>][] = [
    [
      'deposit_paid',
      'deposit',
      {},
      { available: 11_800n, fees: 200n, clearing: -12_000n }, // what came in, not what was asked
    ],
    ['deposit_taken_back', 'deposit', {}, { available: -11_800n, fees: -200n, clearing: 12_000n }],
    ['deposit_failed', 'deposit', {}, {}],
    ['deposit_expired', 'deposit', {}, {}],
    ['deposit_void', 'deposit', {}, {}],
    ['withdraw_held', 'withdraw', {}, { available: -10_150n, held: 10_150n }],
    ['withdraw_paid', 'withdraw', {}, { held: -10_150n, clearing: 10_000n, fees: 150n }],
    [
      'withdraw_paid_after_failed',
      'withdraw',
      {},
      { available: -10_150n, clearing: 10_000n, fees: 150n },
    ],
    ['withdraw_failed', 'withdraw', {}, { available: 10_150n, held: -10_150n }],
    ['withdraw_cancelled', 'withdraw', {}, { available: 10_150n, held: -10_150n }],
    ['withdraw_reverted', 'withdraw', {}, { available: 10_150n, clearing: -10_000n, fees: -150n }],
    ['withdraw_reverted', 'withdraw', keep, { available: 10_000n, clearing: -10_000n }],
  ]

  it.each(rows)('%s of a %s under %o', (event, kind, agreed, moved) => {
    const paid = kind === 'deposit' ? [12_000n, 200n] : [10_000n, 150n]
    const order = newOrder({
      agentId: 7n,
      orderId: orderIdOf(1),
      kind,
      createdAt: at,
      feeMinor: 150n,
      ...agreed,
      paidAmountMinor: paid[0] ?? null,
      paidFeeMinor: paid[1] ?? null,
    })
    const change = changeOf(event, order)
    expect(change).toEqual({ ...noChange, ...moved })
    expect(sumOf(change)).toBe(0n)
  })

  it('is stated for every event', () => {
    const stated = new Set(rows.map(([event]) => event))
    for (const { event } of transitions) expect(stated).toContain(event)
  })
})

function orderThatIs(kind: OrderKind, status: OrderStatus): Order {
  const wasPaid = status === 'PAID' || status === 'REVERT'
  return newOrder({
    agentId: 7n,
    orderId: orderIdOf(1),
    kind,
    createdAt: at,
    status,
    version: 3,
    completedAt: status === 'WAITING' ? null : at,
    paidAmountMinor: wasPaid ? 10_000n : null,
    paidFeeMinor: wasPaid ? 0n : null,
    ...(kind === 'withdraw' && { provider: 'bank' }),
  })
}

function balancesOf(order: Order) {
  const held = order.kind === 'withdraw' && order.status === 'WAITING' ? order.amountMinor : 0n
  return { ...noChange, held, clearing: -held }
}
