import { expect, it } from 'vitest'
import { newOrder, orderIdOf } from '../../test/support/naive-model.ts'
import { noHash } from '../lib/chain-hash.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { noChange } from './accounts.ts'
import type { Order, OrderKind } from './book.ts'
import type { Command } from './commands.ts'
import { type Books, fold, keyOf } from './fold.ts'

const at = new Date('2026-01-01T00:00:00Z')

const order = (number: number, kind: OrderKind, fields: Partial<Order> = {}) =>
  newOrder({ agentId: 1n, orderId: orderIdOf(number), kind, createdAt: at, ...fields })
const create = (created: Order): Command => ({
  type: 'create',
  agentId: created.agentId,
  at,
  order: created,
})
const outcome = (number: number, to: Order['status']): Command => ({
  type: 'outcome',
  agentId: 1n,
  at,
  orderId: orderIdOf(number),
  to,
})
const paid = (number: number, paymentId: string, amountMinor = 10_000n): Command => ({
  type: 'receive_payment',
  agentId: 1n,
  at,
  orderId: orderIdOf(number),
  provider: null,
  payment: { paymentId, amountMinor, paidAt: at, payer: null },
})
const takenBack = (number: number, paymentId: string): Command => ({
  type: 'take_back_payment',
  agentId: 1n,
  at,
  orderId: orderIdOf(number),
  paymentId,
})
const credit = (number: number, paymentId: string): Command => ({
  type: 'credit_payment',
  agentId: 1n,
  at,
  orderId: orderIdOf(number),
  paymentId,
})
const adjust = (ref: string, amountMinor: bigint, agentId = 1n): Command => ({
  type: 'adjust',
  agentId,
  at,
  amountMinor,
  reason: 'test',
  ref,
})

function books(fields: Partial<Books> = {}, available = 0n): Books {
  const account = (agentId: bigint) => ({
    agentId,
    currency: 'THB' as const,
    seq: 5n,
    balances: { ...noChange, available, clearing: -available },
    hash: noHash,
  })
  return {
    wallets: new Map([
      [1n, account(1n)],
      [2n, account(2n)],
    ]),
    orders: new Map(),
    refIds: new Map(),
    payments: new Map(),
    claims: new Map(),
    payers: new Map(),
    cameBack: new Set(),
    takenBack: new Set(),
    takenReferences: new Set(),
    items: new Map(),
    itemRows: new Map(),
    doneKeys: new Set(),
    unmatched: new Map(),
    clearings: new Map(),
    lastTimes: new Map(),
    archivedRefs: new Set(),
    archivedKeys: new Set(),
    recordedEvents: new Set(),
    limitRules: [],
    limits: new Map(),
    ...fields,
  }
}

function withOrder(known: Order, available = 0n): Books {
  return books(
    {
      orders: new Map([[keyOf(known.agentId, known.orderId), known]]),
      refIds: new Map([[keyOf(known.agentId, known.refId), known]]),
    },
    available,
  )
}

const run = (read: Books, commands: Command[]) => fold(read, commands, localTimeIn('UTC'))

it('a refusal leaves the wallet as it was for the next command', () => {
  const commands = [1, 2, 3].map((n) =>
    create(order(n, 'withdraw', { amountMinor: n === 1 ? 20_000n : 10_000n })),
  )
  const { decisions, writes } = run(books({}, 10_000n), commands)
  expect(decisions.map(({ type }) => type)).toEqual(['refused', 'changed', 'refused'])
  expect(writes.newOrders.map(({ orderId }) => orderId)).toEqual([orderIdOf(2)])
  expect(writes.journal.map(({ seq }) => seq)).toEqual([6n])
})

it('an order that is created and goes on in one batch is written once, as it ends', () => {
  const { writes } = run(books({}, 10_000n), [
    create(order(1, 'withdraw', { provider: 'bank' })),
    outcome(1, 'PAID'),
    outcome(1, 'REVERT'),
  ])
  expect(writes.newOrders).toMatchObject([{ status: 'REVERT', version: 3 }])
  expect(
    writes.journal.map(({ clearingAt, clearingThere }) => [clearingAt, clearingThere]),
  ).toEqual([
    [null, null],
    ['bank', 10_000n],
    ['bank', 0n],
  ])
  expect(writes.clearings).toEqual([{ agentId: 1n, provider: 'bank', seq: 8n, balance: 0n }])
  expect(writes.changedOrders).toEqual([])
  expect(writes.journal.map(({ seq, event }) => [seq, event])).toEqual([
    [6n, 'withdraw_held'],
    [7n, 'withdraw_paid'],
    [8n, 'withdraw_reverted'],
  ])
  expect(writes.callbacks.map(({ seq }) => seq)).toEqual([7n, 8n])
  expect(writes.wallets).toMatchObject([{ seqRead: 5n, wallet: { seq: 8n } }])
})

it('an order that was read is guarded by the version that was read, however often it changes', () => {
  const known = order(1, 'deposit', { version: 4 })
  const { writes } = run(withOrder(known), [paid(1, 'bank:1'), takenBack(1, 'bank:1')])
  expect(writes.newOrders).toEqual([])
  expect(writes.changedOrders).toMatchObject([
    { versionRead: 4, order: { version: 6, status: 'VOID' } },
  ])
})

it('what changes nothing writes nothing', () => {
  const known = order(1, 'deposit')
  const { decisions, writes } = run(withOrder(known), [
    create(order(2, 'deposit', { refId: known.refId })),
    outcome(1, 'WAITING'),
    outcome(1, 'REVERT'),
    outcome(9, 'FAILED'),
  ])
  expect(decisions.map(({ type }) => type)).toEqual([
    'unchanged',
    'unchanged',
    'refused',
    'refused',
  ])
  for (const written of Object.values(writes)) expect(written).toEqual([])
})

it('the same refId twice in one batch is one order', () => {
  const first = order(1, 'deposit')
  const { decisions, writes } = run(books(), [
    create(first),
    create(order(2, 'deposit', { refId: first.refId })),
    create(order(3, 'deposit', { refId: first.refId, amountMinor: 1n })),
  ])
  expect(decisions).toMatchObject([
    { type: 'changed' },
    { type: 'unchanged', order: { orderId: first.orderId } },
    { type: 'refused', code: 'ref_id_conflict' },
  ])
  expect(writes.newOrders).toEqual([first])
})

it('a refId belongs to its agent alone', () => {
  const mine = order(1, 'deposit')
  const theirs = { ...order(2, 'deposit', { refId: mine.refId }), agentId: 2n }
  const { writes } = run(books(), [create(mine), create(theirs)])
  expect(writes.newOrders).toEqual([mine, theirs])
})

it('a payment counts once in a batch, though it waits and is credited', () => {
  const { decisions, writes } = run(books(), [
    create(order(1, 'deposit')),
    paid(1, 'bank:1', 500n),
    paid(1, 'bank:1', 10_000n),
    credit(1, 'bank:1'),
  ])
  expect(decisions.map(({ type }) => type)).toEqual(['changed', 'changed', 'unchanged', 'changed'])
  expect(writes.newPayments).toMatchObject([
    { amountMinor: 500n, state: 'credited', why: null, receivedSeq: 6n },
  ])
  expect(writes.changedPayments).toEqual([])
  expect(writes.journal).toMatchObject([
    {
      event: 'payment_received',
      change: { ...noChange, suspense: 500n, clearing: -500n },
      clearingThere: -500n,
    },
    {
      event: 'deposit_paid',
      onceKey: 'payment:bank:1',
      change: { ...noChange, available: 500n, suspense: -500n },
      clearingAt: null,
    },
  ])
})

it('an adjustment happens once by its reference, for each agent', () => {
  const { decisions, writes } = run(books({ doneKeys: new Set([keyOf(1n, 'adjustment:b')]) }), [
    adjust('a', 5n),
    adjust('a', 7n),
    adjust('b', 7n),
    adjust('a', 9n, 2n),
  ])
  expect(decisions.map(({ type }) => type)).toEqual([
    'changed',
    'unchanged',
    'unchanged',
    'changed',
  ])
  expect(writes.journal.map(({ agentId, change }) => [agentId, change.available])).toEqual([
    [1n, 5n],
    [2n, 9n],
  ])
})

it('folding leaves what was read as it was, and gives the same again', () => {
  const read = withOrder(order(1, 'deposit'))
  const before = structuredClone(read)
  const commands = [paid(1, 'bank:1'), create(order(2, 'withdraw')), adjust('a', 5n)]
  const first = run(read, commands)
  expect(read).toEqual(before)
  expect(run(read, commands)).toEqual(first)
})

it('a command for an agent whose wallet was not read is a fault, not a refusal', () => {
  expect(() => run(books(), [adjust('a', 5n, 3n)])).toThrow('wallet of agent 3 was not read')
})

it('what one provider says of its money coming back leaves what another says', () => {
  const waits = order(1, 'withdraw', { provider: 'beta', providerRef: 'b-2', handedOverAt: at })
  const said = (provider: string, reference: string) => {
    return { provider, reference, isLookedInto: false, isAskedAgain: false }
  }
  const read: Books = {
    ...withOrder(waits),
    payers: new Map([[keyOf(1n, waits.orderId), [said('gamma', 'c-3'), said('alpha', 'a-1')]]]),
  }
  const wallet = read.wallets.get(1n)
  if (wallet) read.wallets.set(1n, { ...wallet, balances: { ...noChange, held: 10_000n } })
  const from = (provider: string, providerRef: string, to: 'PAID' | 'REVERT' | 'FAILED') => {
    return { ...outcome(1, to), provider, providerRef } as Command
  }
  const { writes } = run(read, [
    from('gamma', 'c-3', 'REVERT'),
    // Said before, and late.
    from('gamma', 'c-3', 'PAID'),
    from('beta', 'b-2', 'FAILED'),
  ])
  expect(writes.changedOrders).toMatchObject([
    { order: { status: 'PAID', provider: 'alpha', providerRef: 'a-1' } },
  ])
})
