import { describe, expect, it } from 'vitest'
import { newOrder, orderIdOf } from '../../test/support/naive-model.ts'
import { noHash } from '../lib/chain-hash.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { noChange, sumOf } from './accounts.ts'
import type { Command, UnmatchedNotice } from './commands.ts'
import { type Books, fold, keyOf, noBooks } from './fold.ts'
import { houseBook } from './house.ts'

/** Money that is nobody's, and moves between the house's book and an agent's. */

const at = new Date('2026-01-01T00:00:00Z')
const house = houseBook('THB')
const account = (agentId: bigint, balances = noChange) => ({
  agentId,
  currency: 'THB' as const,
  seq: 5n,
  balances,
  hash: noHash,
})
const order = newOrder({
  agentId: 7n,
  orderId: orderIdOf(1),
  kind: 'deposit',
  createdAt: at,
  amountMinor: 500n,
})

function books(fields: Partial<Books> = {}): Books {
  return {
    ...noBooks,
    wallets: new Map([
      [7n, account(7n)],
      [house, account(house)],
    ]),
    orders: new Map([[keyOf(7n, order.orderId), order]]),
    ...fields,
  }
}

const unmatched: UnmatchedNotice = {
  paymentId: 'bank:p-1',
  reference: 'INV 1',
  amountMinor: 500n,
  currency: 'THB',
  paidAt: at,
  payer: null,
  why: 'unmatched',
  contradicts: null,
}
const receive: Command = { type: 'receive_unmatched', agentId: house, at, unmatched }
const paymentId = unmatched.paymentId
const assign = (orderId: string | null): Command => ({
  type: 'assign_payment',
  agentId: 7n,
  houseId: house,
  at,
  orderId,
  paymentId,
  reason: 'theirs',
})
const run = (commands: Command[], read = books()) => fold(read, commands, localTimeIn('UTC'))
const rowsOf = ({ writes }: ReturnType<typeof run>) =>
  writes.journal.map(({ agentId, event, change }) => {
    expect(sumOf(change)).toBe(0n)
    const moved = Object.entries(change).filter(([, minor]) => minor !== 0n)
    return [agentId, event, Object.fromEntries(moved)]
  })

describe('money that is nobody’s', () => {
  it('is in the house’s suspense from the moment it is reported, once', () => {
    const done = run([receive, receive])
    expect(done.decisions.map(({ type }) => type)).toEqual(['changed', 'unchanged'])
    expect(rowsOf(done)).toEqual([[house, 'payment_received', { suspense: 500n, clearing: -500n }]])
    expect(done.writes.newClaims).toMatchObject([{ agentId: 0n, orderId: null }])
    expect(done.writes.clearings).toEqual([
      { agentId: house, provider: 'bank', seq: 6n, balance: -500n },
    ])
  })

  it.each(['returned', 'dismissed'] as const)('is %s out of the house’s book, once', (state) => {
    const end: Command = {
      type: 'end_unmatched',
      agentId: house,
      at,
      paymentId,
      state,
      evidence: 'e',
    }
    const done = run([receive, end, end])
    expect(done.decisions.map(({ type }) => type)).toEqual(['changed', 'changed', 'unchanged'])
    expect(rowsOf(done)[1]).toEqual([
      house,
      `payment_${state}`,
      { suspense: -500n, clearing: 500n },
    ])
    expect(done.writes.newUnmatched).toMatchObject([{ state, receivedSeq: 6n, decidedSeq: 7n }])
    const after = run([receive, end, assign(null)])
    expect(after.decisions[2]).toMatchObject({ type: 'refused', code: 'invalid_transition' })
  })

  it('is credited to the agent that it is assigned to, at the same provider', () => {
    const done = run([receive, assign(null)])
    expect(rowsOf(done).slice(1)).toEqual([
      [7n, 'payment_received', { suspense: 500n, clearing: -500n }],
      [7n, 'adjustment', { available: 500n, suspense: -500n }],
      [house, 'payment_assigned', { suspense: -500n, clearing: 500n }],
    ])
    expect(done.writes.newUnmatched).toMatchObject([{ state: 'assigned', assignedTo: 7n }])
    expect(done.writes.newPayments).toMatchObject([
      { agentId: 7n, state: 'credited', creditedTo: 'wallet', orderId: null },
    ])
    expect(done.writes.clearings).toMatchObject([
      { agentId: house, provider: 'bank', balance: 0n },
      { agentId: 7n, provider: 'bank', balance: -500n },
    ])
    expect(run([receive, assign(null), assign(null)]).decisions[2]?.type).toBe('unchanged')
  })

  it('pays the order that it is assigned to, at once if it fits', () => {
    const done = run([receive, assign(order.orderId)])
    expect(rowsOf(done)[1]).toEqual([7n, 'deposit_paid', { available: 500n, clearing: -500n }])
    expect(done.writes.changedOrders).toMatchObject([{ order: { status: 'PAID' } }])
  })

  it('pays the order that it is assigned to in another amount, with what was really paid', () => {
    const other = { ...order, amountMinor: 700n }
    const read = books({ orders: new Map([[keyOf(7n, order.orderId), other]]) })
    const done = run([receive, assign(order.orderId)], read)
    expect(rowsOf(done).slice(1)).toEqual([
      [7n, 'payment_received', { suspense: 500n, clearing: -500n }],
      [7n, 'deposit_paid', { available: 500n, suspense: -500n }],
      [house, 'payment_assigned', { suspense: -500n, clearing: 500n }],
    ])
    expect(done.writes.changedOrders).toMatchObject([
      { order: { status: 'PAID', paidAmountMinor: 500n } },
    ])
    expect(done.writes.callbacks).toHaveLength(1)
  })

  it('waits with its order’s agent if no person asked for its credit and it does not pay by itself', () => {
    const other = { ...order, amountMinor: 700n }
    const read = books({ orders: new Map([[keyOf(7n, order.orderId), other]]) })
    const byRule = { ...assign(order.orderId), reason: null } as Command
    const done = run([receive, byRule], read)
    expect(rowsOf(done).slice(1)).toEqual([
      [7n, 'payment_received', { suspense: 500n, clearing: -500n }],
      [house, 'payment_assigned', { suspense: -500n, clearing: 500n }],
    ])
    expect(done.writes.newPayments).toMatchObject([{ state: 'waiting', why: 'wrong_amount' }])
    expect(done.writes.changedOrders).toEqual([])
  })

  it('stays with the house if the order that it is assigned to cannot be paid', () => {
    const read = books({
      orders: new Map([[keyOf(7n, order.orderId), { ...order, feeRule: '5' }]]),
    })
    const done = run([receive, assign(order.orderId)], read)
    expect(done.decisions[1]).toMatchObject({ type: 'refused', code: 'amount_out_of_range' })
    expect(rowsOf(done)).toHaveLength(1)
    expect(done.writes.newUnmatched).toMatchObject([{ state: 'waiting' }])
  })

  it('is not assigned to a book in another currency', () => {
    const dong = { ...unmatched, currency: 'VND' as const }
    const read = books({
      wallets: new Map([
        [7n, account(7n)],
        [houseBook('VND'), account(houseBook('VND'))],
      ]),
    })
    const done = run(
      [
        { type: 'receive_unmatched', agentId: houseBook('VND'), at, unmatched: dong },
        { ...assign(null), houseId: houseBook('VND') } as Command,
      ],
      read,
    )
    expect(done.decisions[1]).toMatchObject({ type: 'refused', code: 'invalid_transition' })
  })
})

describe('what the house earns and spends', () => {
  const cost: Command = {
    type: 'charge_cost',
    agentId: 7n,
    at,
    orderId: order.orderId,
    provider: 'bank',
    costId: 'c-1',
    amountMinor: 20n,
  }
  const sweep = (day: string): Command => ({ type: 'sweep', agentId: 7n, houseId: house, at, day })

  it('is charged by the provider once, and stays with the agent until it is swept', () => {
    const done = run([cost, cost, sweep('2026-01-01'), sweep('2026-01-01'), sweep('2026-01-02')])
    expect(done.decisions.map(({ type }) => type)).toEqual([
      'changed',
      'unchanged',
      'changed',
      'unchanged',
      'unchanged',
    ])
    expect(rowsOf(done)).toEqual([
      [7n, 'cost_charged', { costs: -20n, clearing: 20n }],
      [7n, 'swept', { costs: 20n, transfers: -20n }],
      [house, 'swept', { costs: -20n, transfers: 20n }],
    ])
  })

  it('is swept with the fees, and nothing stays behind', () => {
    const charged = account(7n, { ...noChange, fees: 100n, costs: -30n, clearing: -70n })
    const read = books({
      wallets: new Map([
        [7n, charged],
        [house, account(house)],
      ]),
    })
    const done = run([sweep('2026-01-01')], read)
    expect(rowsOf(done)).toEqual([
      [7n, 'swept', { fees: -100n, costs: 30n, transfers: 70n }],
      [house, 'swept', { fees: 100n, costs: -30n, transfers: -70n }],
    ])
  })

  it('a difference is written off at its provider, once', () => {
    const writeOff: Command = {
      type: 'write_off',
      agentId: house,
      at,
      provider: 'bank',
      amountMinor: -7n,
      reason: 'rounding',
      ref: 'w-1',
    }
    const done = run([writeOff, writeOff])
    expect(done.decisions.map(({ type }) => type)).toEqual(['changed', 'unchanged'])
    expect(rowsOf(done)).toEqual([[house, 'written_off', { differences: 7n, clearing: -7n }]])
    const nothing = run([{ ...writeOff, amountMinor: 0n }]).decisions[0]
    expect(nothing).toMatchObject({ type: 'refused', code: 'amount_out_of_range' })
  })
})
