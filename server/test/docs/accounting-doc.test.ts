import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountNames, noChange } from '../../src/ledger/accounts.ts'
import {
  type BookableItem,
  bookEvents,
  type JournalRow,
  type Order,
  sideEvents,
} from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import { type Books, fold, noBooks } from '../../src/ledger/fold.ts'
import { houseBook } from '../../src/ledger/house.ts'
import { changeOf, transitions } from '../../src/ledger/transitions.ts'
import { noHash } from '../../src/lib/chain-hash.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { printedMoney } from '../../src/lib/money.ts'
import { addUp, type BookBalance } from '../../src/reports/trial-balance.ts'
import { trialLineNames, trialLines } from '../../src/reports/trial-balance-view.ts'
import { newOrder, orderIdOf } from '../support/naive-model.ts'
import { root } from '../support/process.ts'

/** The worked month of docs/accounting.md, put through the ledger itself. */

const page = readFileSync(join(root, 'docs/accounting.md'), 'utf8')

/** The cells of the table under a heading, without its head. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const rows = own.split('\n').filter((line) => line.startsWith('|'))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  return cells.slice(2)
}

const shop = 7n
const kiosk = 8n
const house = houseBook('THB')
const baht = (units: number) => BigInt(Math.round(units * 100))
let day = 0
const now = () => new Date(Date.UTC(2026, 0, day, 3))

let orders = 0
function order(
  kind: Order['kind'],
  amount: number,
  agentId = shop,
  more: Partial<Order> = {},
): Order {
  return newOrder({
    agentId,
    orderId: orderIdOf(++orders),
    kind,
    createdAt: now(),
    amountMinor: baht(amount),
    feeMinor: kind === 'withdraw' ? baht(10) : baht(amount * 0.015),
    feeRule: kind === 'withdraw' ? '10' : '1.5%',
    provider: kind === 'deposit' ? 'bank-a' : null,
    ...more,
  })
}

/** bank-b says that it paid what was cancelled. */
const cancelledItem = {
  itemId: 'paid_after_failed-x',
  provider: 'bank-b',
  providerSaid: 'PAID',
} as const

/** What happened that month. Each step follows from the one before it. */
function month(): Command[] {
  const commands: Command[] = []
  const on = (date: number, ...more: (() => Command)[]) => {
    day = date
    for (const each of more) commands.push(each())
  }
  const ofShop = () => ({ agentId: shop, at: now() })
  const ofHouse = () => ({ agentId: house, at: now() })
  const create = (made: Order): Command & { type: 'create' } => ({
    type: 'create',
    agentId: made.agentId,
    at: now(),
    order: made,
  })
  const receive = (made: Order | null, id: string, amount: number): Command => ({
    type: 'receive_payment',
    agentId: made?.agentId ?? shop,
    at: now(),
    orderId: made?.orderId ?? null,
    provider: made ? 'bank-a' : null,
    payment: { paymentId: `bank-a:${id}`, amountMinor: baht(amount), paidAt: now(), payer: null },
  })
  const handOver = ({ agentId, orderId }: Order): Command => ({
    type: 'hand_over',
    ...{ agentId, at: now() },
    orderId,
    provider: 'bank-b',
    references: [`ref-${orderId}`],
    insteadOf: null,
    token: orderId,
    askAt: now(),
  })
  const outcome = (
    { agentId, orderId }: Order,
    to: Order['status'],
    evidence?: string,
  ): Command => ({
    type: 'outcome',
    ...{ agentId, at: now() },
    orderId,
    to,
    ...(evidence !== undefined && { evidence }),
  })
  const unmatched = (id: string, amount: number): Command => ({
    type: 'receive_unmatched',
    ...ofHouse(),
    unmatched: {
      paymentId: `bank-b:${id}`,
      reference: 'unreadable',
      amountMinor: baht(amount),
      currency: 'THB',
      paidAt: now(),
      payer: null,
      why: 'unmatched',
      contradicts: null,
    },
  })
  const end = (id: string, state: 'returned' | 'dismissed'): Command => ({
    type: 'end_unmatched',
    ...ofHouse(),
    paymentId: `bank-b:${id}`,
    state,
    evidence: 'a slip',
  })
  const late = { evidence: 'the bank says so', reason: 'it is theirs' }

  day = 1
  const [first, second] = [order('deposit', 1000), order('deposit', 100)]
  on(
    1,
    () => create(first),
    () => receive(first, 'p1', 1000),
  )
  const paid = order('withdraw', 500)
  on(
    2,
    () => create(paid),
    () => handOver(paid),
    () => outcome(paid, 'PAID'),
  )
  on(3, () => outcome(paid, 'REVERT'))
  const failed = order('withdraw', 200)
  on(
    4,
    () => create(failed),
    () => handOver(failed),
    () => outcome(failed, 'FAILED'),
  )
  on(5, () => outcome(failed, 'PAID', late.evidence))
  const cancelled = order('withdraw', 100)
  on(
    6,
    () => create(cancelled),
    () => ({ type: 'cancel', ...ofShop(), orderId: cancelled.orderId }),
  )
  on(7, () => ({
    type: 'charge_cost',
    ...ofShop(),
    orderId: first.orderId,
    provider: 'bank-a',
    costId: 'c1',
    amountMinor: baht(3),
  }))
  on(
    8,
    () => create(second),
    () => receive(second, 'p2', 90),
  )
  const credited = { orderId: second.orderId, paymentId: 'bank-a:p2' }
  on(9, () => ({ type: 'credit_payment', ...ofShop(), ...credited }))
  const takenBack = { orderId: first.orderId, paymentId: 'bank-a:p1' }
  on(10, () => ({ type: 'take_back_payment', ...ofShop(), ...takenBack }))
  on(11, () => receive(null, 'p3', 40))
  const toWallet = { paymentId: 'bank-a:p3', reason: late.reason }
  on(12, () => ({ type: 'credit_wallet', ...ofShop(), ...toWallet }))
  on(13, () => ({
    type: 'take_back_payment',
    ...ofShop(),
    orderId: null,
    paymentId: 'bank-a:p3',
  }))
  const givenBack = { paymentId: 'bank-a:p4', evidence: 'a slip' }
  on(14, () => receive(null, 'p4', 25))
  on(15, () => ({ type: 'return_payment', ...ofShop(), ...givenBack }))
  on(16, () => unmatched('u1', 70))
  const assigned = { houseId: house, orderId: null, paymentId: 'bank-b:u1', reason: 'a slip' }
  on(17, () => ({ type: 'assign_payment', ...ofShop(), ...assigned }))
  on(18, () => unmatched('u2', 30))
  on(19, () => end('u2', 'dismissed'))
  on(20, () => unmatched('u3', 20))
  on(21, () => end('u3', 'returned'))
  on(22, () => unmatched('u4', 60))
  const bonus = { amountMinor: baht(50), reason: 'a bonus', ref: 'b1' }
  on(23, () => ({ type: 'adjust', ...ofShop(), ...bonus }))
  on(24, () => ({ type: 'sweep', ...ofShop(), houseId: house, day: '2026-01-23' }))
  const written = { provider: 'bank-b', amountMinor: baht(5), reason: 'a charge', ref: 'w1' }
  const debit = (type: 'report_debit' | 'explain_debit', movementId: string, amount: number) => ({
    type,
    ...ofHouse(),
    ...{ provider: 'bank-b', movementId, amountMinor: baht(amount) },
  })
  const fee = { amountMinor: baht(4), ref: 'movement:bank-b:d1', asCost: true }
  on(
    25,
    () => ({ type: 'write_off', ...ofHouse(), ...written }),
    () => ({
      type: 'charge_cost',
      ...{ ...ofShop(), orderId: first.orderId, provider: 'bank-a', costId: 'c2' },
      amountMinor: -baht(1),
    }),
    () => ({ type: 'write_off', ...ofHouse(), ...written, amountMinor: -baht(2), ref: 'w2' }),
    () => debit('report_debit', 'd1', 4),
    () => ({ type: 'write_off', ...ofHouse(), ...written, ...fee }),
    () => debit('report_debit', 'd2', 20),
    () => debit('explain_debit', 'd2', 20),
    () => debit('report_debit', 'd3', 9),
    () => ({
      type: 'book_item',
      ...{ ...ofShop(), houseId: house, orderId: cancelled.orderId, ...cancelledItem },
      ...{ as: 'charge_agent', by: 'who@house.example', reason: 'they agreed' },
    }),
  )
  day = 26
  const [third, waiting] = [order('deposit', 400, kiosk), order('withdraw', 50, kiosk)]
  on(
    26,
    () => create(third),
    () => receive(third, 'p5', 400),
  )
  on(27, () => create(waiting))
  const reserve = { reserveRule: '10%/1' }
  day = 28
  const fourth = order('deposit', 200, kiosk, reserve)
  on(
    28,
    () => create(fourth),
    () => receive(fourth, 'p6', 200),
  )
  on(29, () => ({
    type: 'release_reserve',
    agentId: kiosk,
    at: now(),
    orderId: fourth.orderId,
  }))
  day = 30
  const fifth = order('deposit', 300, kiosk, reserve)
  on(
    30,
    () => create(fifth),
    () => receive(fifth, 'p7', 300),
  )
  day = 31
  const refund = order('withdraw', 100, kiosk, { refundOf: fourth.orderId })
  const stopped = order('withdraw', 50, kiosk, { refundOf: fifth.orderId })
  const settlement = order('withdraw', 200, kiosk, { refId: 'settlement-2026-01-31' })
  on(
    31,
    () => ({ ...create(refund), depositVersion: 3 }),
    () => handOver(refund),
    () => outcome(refund, 'PAID'),
    () => ({ ...create(stopped), depositVersion: 2 }),
    () => ({
      type: 'take_back_payment',
      ...{ agentId: kiosk, at: now(), orderId: fifth.orderId, paymentId: 'bank-a:p7' },
    }),
    () => create(settlement),
    () => handOver(settlement),
    () => outcome(settlement, 'PAID'),
  )
  return commands
}

const account = (agentId: bigint) =>
  [
    agentId,
    { agentId, currency: 'THB' as const, seq: 0n, balances: noChange, hash: noHash },
  ] as const

/** The journal rows of the month, in order, and what the books come to at its end. */
function bookMonth(): { rows: JournalRow[]; books: BookBalance[] } {
  const commands = month()
  const booking = commands.find((command) => command.type === 'book_item')
  const item: BookableItem = {
    ...{ ...cancelledItem, agentId: shop, orderId: booking?.orderId ?? '' },
    ...{ kind: 'paid_after_failed', reference: 'x', amountMinor: baht(100), currency: 'THB' },
    ...{ orderStatus: 'CANCEL', orderProvider: 'bank-b', openedAt: now() },
    ...{ closedAt: null, closedBy: null, evidence: null, bookedAs: null },
  }
  const read: Books = {
    ...noBooks,
    wallets: new Map([shop, kiosk, house].map(account)),
    items: new Map([[`${shop} ${item.itemId}`, item]]),
  }
  const { decisions, writes } = fold(read, commands, localTimeIn('UTC'))
  for (const [at, decision] of decisions.entries()) {
    expect(decision, commands[at]?.type).toMatchObject({ type: 'changed' })
  }
  const books = writes.wallets.map(({ wallet }) => ({
    ...wallet,
    appId: wallet.agentId === house ? null : nameOf(wallet.agentId),
    name: nameOf(wallet.agentId),
    clearings: new Map(
      writes.clearings
        .filter(({ agentId }) => agentId === wallet.agentId)
        .map(({ provider, balance }) => [provider, balance]),
    ),
  }))
  return { rows: writes.journal, books }
}

function nameOf(agentId: bigint): string {
  if (agentId === house) return 'house'
  return agentId === shop ? 'Shop' : 'Kiosk'
}

const money = (minor: bigint) => printedMoney(minor, 'THB')

/** The lines that a journal row makes in the table: what it debits first. */
function legsOf({ at, event, agentId, change, clearingAt }: JournalRow): string[][] {
  const moved = accountNames.filter((name) => change[name] !== 0n)
  const debits = moved.filter((name) => change[name] < 0n)
  return [...debits, ...moved.filter((name) => change[name] > 0n)].map((name) => [
    String(at.getUTCDate()),
    `\`${event}\``,
    nameOf(agentId),
    name === 'clearing' ? `\`clearing\` at ${clearingAt}` : `\`${name}\``,
    change[name] < 0n ? money(-change[name]) : '',
    change[name] > 0n ? money(change[name]) : '',
  ])
}

test('every leg of the worked month is what the ledger books', () => {
  const { rows } = bookMonth()
  // The second column says in words what happened.
  const told = tableUnder('A month').map(([date, _words, ...leg]) => [date, ...leg])
  expect(told).toEqual(rows.flatMap(legsOf))
})

test('the trial balance at its end is what the books come to', () => {
  const { books } = bookMonth()
  const balance = addUp('THB', books)
  expect(balance.faults).toEqual([])
  expect(balance.total).toBe(0n)
  const lines = trialLineNames.flatMap((name) =>
    name === 'clearing'
      ? balance.providers.map(({ provider, clearing }) => [
          `\`clearing\` at ${provider}`,
          money(clearing),
        ])
      : [[`\`${name}\``, money(trialLines[name](balance))]],
  )
  for (const { provider, clearing } of balance.providers) {
    // What a statement shows that began with 1,000 baht of the operator's own.
    expect(page).toMatch(new RegExp(`${provider}'s\\s[^.]*${money(baht(1000) - clearing)}`))
  }
  expect(tableUnder('What it comes to')).toEqual([...lines, ['total', money(balance.total)]])
})

test('it has every event that moves money, and every account is explained', () => {
  const { rows } = bookMonth()
  const moves = new Set(rows.map(({ event }) => event as string))
  // Only the migration writes it, for what was credited before.
  const events: string[] = [
    ...bookEvents.filter((event) => event !== 'payment_reclassified'),
    ...sideEvents,
  ]
  const sample = { ...order('deposit', 10), paidAmountMinor: 10n, paidFeeMinor: 1n }
  for (const { event } of transitions) {
    const change = changeOf(event, sample)
    if (accountNames.some((name) => change[name] !== 0n)) events.push(event)
  }
  expect([...moves].sort()).toEqual([...new Set([...events, 'withdraw_held'])].sort())
  expect(tableUnder('Accounts').map(([name]) => name)).toEqual(
    accountNames.map((name) => `\`${name}\``),
  )
})
