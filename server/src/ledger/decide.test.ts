import { describe, expect, it } from 'vitest'
import { newOrder, orderIdOf } from '../../test/support/naive-model.ts'
import { noHash } from '../lib/chain-hash.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { maxBalanceMinor } from '../lib/money.ts'
import { noChange } from './accounts.ts'
import type { Order, OrderStatus, Payment, Wallet } from './book.ts'
import type { BookView, Command, Decision } from './commands.ts'
import { decide, isRepeat } from './decide.ts'

const agentId = 7n
const created = new Date('2026-01-01T00:00:00Z')
const expiry = new Date('2026-01-01T00:15:00Z')
const later = new Date('2026-01-01T00:20:00Z')
const orderId = orderIdOf(1)

const deposit = (fields: Partial<Order> = {}) =>
  newOrder({ agentId, orderId, kind: 'deposit', createdAt: created, expiresAt: expiry, ...fields })
const withdrawal = (fields: Partial<Order> = {}) =>
  newOrder({ agentId, orderId, kind: 'withdraw', createdAt: created, ...fields })
const depositThatIs = (status: OrderStatus) =>
  deposit({
    status,
    completedAt: status === 'WAITING' ? null : created,
    ...(status === 'PAID' && { paidAmountMinor: 10_000n, paidFeeMinor: 0n }),
  })
const walletWith = (available: bigint, held = 0n): Wallet => ({
  agentId,
  currency: 'THB',
  seq: 9n,
  balances: { ...noChange, available, held, clearing: -available - held },
  hash: noHash,
})

function decided(
  command: DistributiveOmit<Command, 'agentId' | 'at'>,
  book: Partial<BookView> = {},
  at = created,
): Decision {
  return decide(
    {
      wallet: walletWith(0n),
      order: undefined,
      payment: undefined,
      claim: undefined,
      refunded: undefined,
      refunds: [],
      payer: undefined,
      isTakenBack: false,
      takenReferences: new Set(),
      item: undefined,
      itemRows: new Map(),
      isHeld: false,
      isDone: false,
      house: undefined,
      unmatched: undefined,
      archived: false,
      limits: undefined,
      ...book,
    },
    { agentId, at, ...command },
    localTimeIn('UTC'),
  )
}
type DistributiveOmit<T, K extends keyof Command> = T extends unknown ? Omit<T, K> : never

const handOver = {
  type: 'hand_over',
  orderId,
  provider: 'bank',
  references: ['b-1', 'b-1-again'],
  insteadOf: null,
  token: 'token-1',
  askAt: created,
} as const
const cancel = { type: 'cancel', orderId } as const
const handedOver = { provider: 'bank', providerRef: 'b-1', handedOverAt: created, version: 2 }

describe('handing over and cancelling', () => {
  const rows: [string, Order, 'hand_over' | 'cancel', string][] = [
    ['a waiting withdrawal', withdrawal(), 'hand_over', 'WAITING'],
    ['a waiting withdrawal', withdrawal(), 'cancel', 'CANCEL'],
    ['one that is handed over', withdrawal(handedOver), 'hand_over', 'unchanged'],
    ['one that is handed over', withdrawal(handedOver), 'cancel', 'order_not_cancellable'],
    [
      'one that another provider has',
      withdrawal({ ...handedOver, provider: 'other' }),
      'hand_over',
      'invalid_transition',
    ],
    [
      'one that is handed over under another reference',
      withdrawal({ ...handedOver, providerRef: 'b-2' }),
      'hand_over',
      'invalid_transition',
    ],
    ['a cancelled one', withdrawal({ status: 'CANCEL' }), 'hand_over', 'invalid_transition'],
    ['a cancelled one', withdrawal({ status: 'CANCEL' }), 'cancel', 'unchanged'],
    ['a failed one', withdrawal({ status: 'FAILED' }), 'hand_over', 'invalid_transition'],
    ['a failed one', withdrawal({ status: 'FAILED' }), 'cancel', 'order_not_cancellable'],
    ['a paid one', withdrawal({ status: 'PAID' }), 'cancel', 'order_not_cancellable'],
    ['a reverted one', withdrawal({ status: 'REVERT' }), 'cancel', 'order_not_cancellable'],
    ['a waiting deposit', deposit(), 'hand_over', 'invalid_transition'],
    ['a waiting deposit', deposit(), 'cancel', 'VOID'],
    ['a void deposit', depositThatIs('VOID'), 'cancel', 'unchanged'],
    ['a failed deposit', depositThatIs('FAILED'), 'cancel', 'order_not_cancellable'],
    ['an expired deposit', depositThatIs('EXPIRED'), 'cancel', 'order_not_cancellable'],
    ['a paid deposit', depositThatIs('PAID'), 'cancel', 'order_not_cancellable'],
  ]
  it.each(rows)('%s: %o, %s gives %s', (_name, order, type, outcome) => {
    const book = { order, wallet: walletWith(0n, order.kind === 'withdraw' ? 10_000n : 0n) }
    expect(inShort(decided(type === 'cancel' ? cancel : handOver, book))).toBe(outcome)
  })

  it('an order that is not there is not found', () => {
    expect(inShort(decided(cancel))).toBe('order_not_found')
    expect(inShort(decided(handOver))).toBe('order_not_found')
  })

  it('handing over moves no money and tells nobody, but counts as a change of the order', () => {
    const wallet = walletWith(0n, 10_000n)
    expect(decided(handOver, { order: withdrawal(), wallet })).toEqual({
      type: 'changed',
      order: withdrawal(handedOver),
      wallet,
      row: undefined,
      callback: undefined,
      payment: undefined,
      payout: {
        agentId,
        orderId,
        attempt: 1,
        provider: 'bank',
        reference: 'b-1',
        version: null,
        use: null,
        token: 'token-1',
        handedAt: created,
        askAt: created,
      },
      item: undefined,
      closes: undefined,
    })
  })

  it('gets the next reference where payouts of others have the first', () => {
    const wallet = walletWith(0n, 10_000n)
    const handed = (...taken: string[]) =>
      decided(handOver, { order: withdrawal(), wallet, takenReferences: new Set(taken) })
    expect(handed('b-1')).toMatchObject({
      order: { providerRef: 'b-1-again' },
      payout: { reference: 'b-1-again' },
    })
    expect(inShort(handed('b-1', 'b-1-again'))).toBe('invalid_transition')
    const order = withdrawal({ ...handedOver, providerRef: 'b-1-again' })
    expect(inShort(decided(handOver, { order, wallet }))).toBe('unchanged')
  })

  it('another provider gets it only in the place of the one that has it', () => {
    const order = withdrawal(handedOver)
    const next = { ...handOver, provider: 'other', references: ['o-2'] }
    const instead = (insteadOf: string | null) =>
      decided({ ...next, insteadOf }, { order, wallet: walletWith(0n, 10_000n) })
    expect(inShort(instead(null))).toBe('invalid_transition')
    expect(inShort(instead('b-0'))).toBe('invalid_transition')
    expect(instead('b-1')).toMatchObject({
      order: { version: 3, provider: 'other', providerRef: 'o-2' },
      payout: { attempt: 2, reference: 'o-2' },
    })
    const first = { type: 'outcome', orderId, to: 'PAID', providerRef: 'b-1' } as const
    const book = { order: withdrawal({ ...handedOver, providerRef: 'o-2' }) }
    expect(inShort(decided(first, book))).toBe('invalid_transition')
  })

  it('what an earlier attempt paid goes to nobody else, and is paid by it when nobody else did', () => {
    const order = withdrawal({ ...handedOver, provider: 'other', providerRef: 'o-2', version: 3 })
    const payer = { provider: 'bank', reference: 'b-1', isLookedInto: false, isAskedAgain: false }
    const book = { order, payer, wallet: walletWith(0n, 10_000n) }
    const third = { ...handOver, provider: 'third', references: ['t-3'], insteadOf: 'o-2' }
    expect(inShort(decided(third, book))).toBe('invalid_transition')
    const of = { type: 'outcome', orderId, provider: 'other', providerRef: 'o-2' } as const
    for (const to of ['FAILED', 'CANCEL'] as const) {
      expect(decided({ ...of, to }, book, later)).toMatchObject({
        order: { status: 'PAID', provider: 'bank', providerRef: 'b-1' },
        wallet: { balances: { available: 0n, held: 0n } },
        row: { event: 'withdraw_paid' },
        closes: { reference: 'b-1', evidence: 'other refused it, so this was the only payment.' },
      })
      // A person knows more.
      expect(inShort(decided({ ...of, to, evidence: 'seen' }, book))).toBe(to)
    }
  })

  it('what was handed over cannot be declined any more', () => {
    const decline = { type: 'outcome', orderId, to: 'FAILED', evidence: 'declined' } as const
    const book = { wallet: walletWith(0n, 10_000n) }
    expect(inShort(decided(decline, { ...book, order: withdrawal({}) }))).toBe('FAILED')
    expect(inShort(decided(decline, { ...book, order: withdrawal(handedOver) }))).toBe(
      'invalid_transition',
    )
  })

  it('a provider may cancel what was handed to it, and the hold is released', () => {
    const book = { order: withdrawal(handedOver), wallet: walletWith(0n, 10_000n) }
    const decision = decided({ type: 'outcome', orderId, to: 'CANCEL' }, book, later)
    expect(decision).toMatchObject({
      type: 'changed',
      order: { status: 'CANCEL', version: 3 },
      wallet: { balances: { available: 10_000n, held: 0n } },
      row: { event: 'withdraw_cancelled' },
    })
  })
})

describe('expiry', () => {
  const rows: [string, Order, Date, string][] = [
    ['a deposit before its time', deposit(), new Date(expiry.getTime() - 1), 'unchanged'],
    ['a deposit at its time', deposit(), expiry, 'EXPIRED'],
    ['a deposit after its time', deposit(), later, 'EXPIRED'],
    ['an expired one again', depositThatIs('EXPIRED'), later, 'unchanged'],
    ['a paid one', depositThatIs('PAID'), later, 'unchanged'],
    ['a failed one', depositThatIs('FAILED'), later, 'unchanged'],
    ['a void one', depositThatIs('VOID'), later, 'unchanged'],
    ['a withdrawal', withdrawal(), later, 'unchanged'],
  ]
  it.each(rows)('%s', (_name, order, at, outcome) => {
    expect(inShort(decided({ type: 'expire', orderId }, { order }, at))).toBe(outcome)
  })
})

describe('money that comes in', () => {
  const inTime = expiry
  const late = new Date(expiry.getTime() + 1)
  const rows: [OrderStatus, bigint, Date, Order['lateMoney'], string][] = [
    ['WAITING', 10_000n, inTime, 'review', 'PAID'],
    ['WAITING', 10_000n, late, 'review', 'late'],
    ['WAITING', 9_999n, inTime, 'review', 'wrong_amount'],
    ['WAITING', 10_001n, inTime, 'review', 'wrong_amount'],
    ['WAITING', 9_999n, late, 'review', 'late'],
    ['EXPIRED', 10_000n, inTime, 'review', 'PAID'],
    ['EXPIRED', 10_000n, late, 'review', 'late'],
    ['EXPIRED', 1n, inTime, 'review', 'wrong_amount'],
    ['FAILED', 10_000n, inTime, 'review', 'late'],
    ['VOID', 10_000n, inTime, 'review', 'late'],
    ['PAID', 10_000n, inTime, 'review', 'duplicate'],
    ['WAITING', 10_000n, late, 'credit', 'PAID'],
    ['WAITING', 9_999n, inTime, 'credit', 'PAID'],
    ['EXPIRED', 9_999n, late, 'credit', 'PAID'],
    ['FAILED', 10_000n, inTime, 'credit', 'PAID'],
    ['VOID', 10_000n, inTime, 'credit', 'PAID'],
    ['PAID', 10_000n, inTime, 'credit', 'duplicate'],
  ]
  it.each(rows)('for a deposit that is %s: %d at %o under %o', (...row) => {
    const [status, amountMinor, paidAt, lateMoney, outcome] = row
    const order = { ...depositThatIs(status), lateMoney }
    const decision = decided(notice({ amountMinor, paidAt }), { order }, later)
    if (outcome === 'PAID') {
      expect(decision).toMatchObject({
        type: 'changed',
        order: { status: 'PAID', paidAmountMinor: amountMinor, completedAt: later },
        wallet: { balances: { available: amountMinor } },
        row: { event: 'deposit_paid', onceKey: 'payment:bank:p-1' },
        payment: { state: 'credited', why: null, amountMinor, paidAt, reportedAt: later },
      })
    } else {
      expect(decision).toMatchObject({
        type: 'changed',
        order,
        wallet: { seq: 10n, balances: { available: 0n, suspense: amountMinor } },
        row: {
          event: 'payment_received',
          orderId: null,
          change: { ...noChange, suspense: amountMinor, clearing: -amountMinor },
          clearingAt: 'bank',
          onceKey: 'payment_received:bank:p-1',
        },
        callback: undefined,
        payment: paymentThat({
          why: reasonOf(outcome),
          amountMinor,
          paidAt,
          receivedSeq: 10n,
        }),
      })
    }
  })

  it('unless its order is paid, if it may be another order’s', () => {
    const command = { ...notice(), unlessPaid: true }
    const toPaid = decided(command, { order: depositThatIs('PAID') })
    expect(toPaid).toEqual({ type: 'unmatched', order: undefined, why: 'ambiguous' })
    expect(inShort(decided(command, { order: depositThatIs('WAITING') }))).toBe('PAID')
  })

  it('waits where the fee by the rule of the order would eat it', () => {
    const order = deposit({ lateMoney: 'credit', feeRule: '50%+50', feeMinor: 10_000n })
    const decision = decided(notice(), { order })
    expect(decision).toMatchObject({
      row: { event: 'payment_received' },
      payment: { state: 'waiting', why: 'fee' },
    })
  })

  it('waits where the wallet cannot hold that much', () => {
    const book = { order: deposit(), wallet: walletWith(maxBalanceMinor - 9_999n) }
    const decision = decided(notice(), book)
    expect(decision).toMatchObject({
      row: { event: 'payment_received', change: { suspense: 10_000n } },
      payment: { state: 'waiting', why: 'bound' },
    })
  })

  it('fills the wallet to the last minor unit', () => {
    const book = { order: deposit(), wallet: walletWith(maxBalanceMinor - 10_000n) }
    const full = { balances: { available: maxBalanceMinor } }
    expect(decided(notice(), book)).toMatchObject({ wallet: full, payment: { state: 'credited' } })
  })

  it('is charged by what came in, not by what was asked', () => {
    const order = deposit({ lateMoney: 'credit', feeRule: '1.5%+2', feeMinor: 350n })
    const decision = decided(notice({ amountMinor: 3_333n }), { order })
    // 1.5 % of 33.33 is 0.49995, and 2 on top.
    expect(decision).toMatchObject({ order: { paidAmountMinor: 3_333n, paidFeeMinor: 250n } })
  })

  it('counts once by its own id, whatever else is said', () => {
    const order = deposit({ lateMoney: 'credit' })
    const book = { order, payment: paymentThat({ why: 'late' }) }
    expect(decided(notice({ amountMinor: 77n }), book)).toEqual({ type: 'unchanged', order })
  })

  it('needs a deposit to be for', () => {
    expect(inShort(decided(notice()))).toBe('order_not_found')
    expect(inShort(decided(notice(), { order: withdrawal() }))).toBe('order_not_found')
  })
})

describe('an operator crediting a payment', () => {
  const elsewhere = orderIdOf(2)
  const rows: [string, Order | undefined, Payment | undefined, string][] = [
    ['nothing to a deposit', deposit(), undefined, 'order_not_found'],
    ['a waiting payment to no order', undefined, paymentThat({}), 'order_not_found'],
    ['a waiting payment to a waiting deposit', deposit(), paymentThat({}), 'PAID'],
    ['one to an expired deposit', depositThatIs('EXPIRED'), paymentThat({}), 'PAID'],
    ['one to a failed deposit', depositThatIs('FAILED'), paymentThat({}), 'PAID'],
    ['one to a void deposit', depositThatIs('VOID'), paymentThat({}), 'PAID'],
    ['one that named another deposit', deposit(), paymentThat({ orderId: elsewhere }), 'PAID'],
    ['one to a paid deposit', depositThatIs('PAID'), paymentThat({}), 'invalid_transition'],
    ['one to a withdrawal', withdrawal(), paymentThat({}), 'invalid_transition'],
    [
      'a credited one to the same deposit',
      depositThatIs('PAID'),
      paymentThat({ state: 'credited', creditedTo: 'order' }),
      'unchanged',
    ],
    [
      'one that was credited to the wallet, to the deposit it was meant for',
      deposit(),
      paymentThat({ state: 'credited', creditedTo: 'wallet' }),
      'invalid_transition',
    ],
    [
      'a credited one to another deposit',
      deposit(),
      paymentThat({ state: 'credited', creditedTo: 'order', orderId: elsewhere }),
      'invalid_transition',
    ],
    ['a returned one', deposit(), paymentThat({ state: 'returned' }), 'invalid_transition'],
    [
      'one that the fee would eat',
      deposit({ feeRule: '200' }),
      paymentThat({}),
      'amount_out_of_range',
    ],
  ]
  it.each(rows)('%s', (_name, order, payment, outcome) => {
    const command = { type: 'credit_payment', orderId, paymentId: 'bank:p-1' } as const
    const decision = decided(command, { order, payment }, later)
    expect(inShort(decision)).toBe(outcome)
    if (decision.type === 'changed') {
      expect(decision.payment).toEqual({
        ...payment,
        orderId,
        state: 'credited',
        why: null,
        creditedTo: 'order',
      })
    }
  })
})

describe('creating', () => {
  const create = (order: Order) => ({ type: 'create', order }) as const

  it('a deposit moves nothing', () => {
    expect(decided(create(deposit()))).toEqual({
      type: 'changed',
      order: deposit(),
      wallet: walletWith(0n),
      row: undefined,
      callback: undefined,
      payment: undefined,
      payout: undefined,
    })
  })

  it('a withdrawal holds amount and fee, to the last minor unit', () => {
    const order = withdrawal({ feeMinor: 150n })
    const decision = decided(create(order), { wallet: walletWith(10_150n) })
    expect(decision).toMatchObject({
      type: 'changed',
      wallet: { seq: 10n, balances: { available: 0n, held: 10_150n } },
      row: { event: 'withdraw_held', change: { available: -10_150n, held: 10_150n } },
      callback: undefined,
    })
    expect(decision.type === 'changed' && decision.order?.answer).toBe(
      `{"txn_id":"7-${orderId}","ref_id":"ref-${orderId}","amount":100,"fee":1.5,` +
        '"status":"WAITING","wallet":{"balance":0},"created_at":"2026-01-01 00:00:00"}',
    )
  })

  it('a withdrawal that the balance does not cover is refused', () => {
    const order = withdrawal({ feeMinor: 150n })
    const short = decided(create(order), { wallet: walletWith(10_149n) })
    expect(inShort(short)).toBe('insufficient_balance')
  })

  it('a withdrawal cannot hold more than the bound', () => {
    const wallet = { ...walletWith(20_000n), balances: { ...noChange, available: 20_000n } }
    wallet.balances.held = maxBalanceMinor - 9_999n
    wallet.balances.clearing = -20_000n - wallet.balances.held
    expect(inShort(decided(create(withdrawal()), { wallet }))).toBe('amount_out_of_range')
  })

  const rows: [string, Partial<Order>, 'unchanged' | 'ref_id_conflict'][] = [
    ['nothing', {}, 'unchanged'],
    ['the time', { createdAt: later }, 'unchanged'],
    ['the fee in force', { feeMinor: 1n, feeRule: '0.01' }, 'unchanged'],
    ['the spelling of extraParams', { extraParams: '{ "b":[1.0], "a":"x" }' }, 'unchanged'],
    ['extraParams', { extraParams: '{"a":"x","b":[2]}' }, 'ref_id_conflict'],
    ['extraParams left out', { extraParams: null }, 'ref_id_conflict'],
    ['the kind', { kind: 'withdraw' }, 'ref_id_conflict'],
    ['the user', { userId: 'user-2' }, 'ref_id_conflict'],
    ['the amount', { amountMinor: 10_001n }, 'ref_id_conflict'],
    ['the account name', { accountName: 'Another' }, 'ref_id_conflict'],
    ['the account', { accountNo: '9999' }, 'ref_id_conflict'],
    ['the bank', { bankCode: 'BBL' }, 'ref_id_conflict'],
  ]
  it.each(rows)('the same refId with %s different: %o, %s', (_name, fields, outcome) => {
    const first = deposit({ status: 'PAID', extraParams: '{"a":"x","b":[1]}' })
    const again = deposit({
      refId: first.refId,
      orderId: orderIdOf(2),
      extraParams: first.extraParams,
      ...fields,
    })
    const decision = decided(create(again), { order: first })
    expect(inShort(decision)).toBe(outcome)
    if (decision.type === 'unchanged') expect(decision.order).toBe(first)
  })

  it('no extraParams are the same as empty ones', () => {
    expect(isRepeat(deposit(), deposit({ extraParams: '{}' }))).toBe(true)
  })
})

describe('adjusting', () => {
  const adjust = (amountMinor: bigint) =>
    ({ type: 'adjust', amountMinor, reason: 'goodwill', ref: 'a-1' }) as const

  it('is a row of its own, with its reason and its reference', () => {
    expect(decided(adjust(-500n))).toMatchObject({
      type: 'changed',
      order: undefined,
      wallet: { balances: { available: -500n, adjustments: 500n } },
      row: { event: 'adjustment', orderId: null, onceKey: 'adjustment:a-1', reason: 'goodwill' },
      callback: undefined,
    })
  })

  it('happens once by its reference', () => {
    expect(inShort(decided(adjust(500n), { isDone: true }))).toBe('unchanged')
  })

  it('cannot pass the bound, up or down', () => {
    expect(inShort(decided(adjust(maxBalanceMinor)))).toBe('changed')
    expect(inShort(decided(adjust(-maxBalanceMinor)))).toBe('changed')
    expect(inShort(decided(adjust(maxBalanceMinor + 1n)))).toBe('amount_out_of_range')
    expect(inShort(decided(adjust(-maxBalanceMinor - 1n)))).toBe('amount_out_of_range')
  })
})

function notice(fields: Partial<{ amountMinor: bigint; paidAt: Date }> = {}) {
  const payment = { paymentId: 'bank:p-1', amountMinor: 10_000n, paidAt: created, payer: null }
  return {
    type: 'receive_payment',
    orderId,
    provider: null,
    payment: { ...payment, ...fields },
  } as const
}

function paymentThat(fields: Partial<Payment>): Payment {
  return {
    agentId,
    paymentId: 'bank:p-1',
    orderId,
    amountMinor: 10_000n,
    paidAt: created,
    reportedAt: later,
    payer: null,
    state: 'waiting',
    why: 'late',
    creditedTo: null,
    evidence: null,
    receivedSeq: 3n,
    returnedSeq: null,
    ...fields,
  }
}

function reasonOf(outcome: string): Payment['why'] {
  const reasons = ['late', 'wrong_amount', 'duplicate', 'fee', 'bound'] as const
  return reasons.find((reason) => reason === outcome) ?? null
}

/** The code of a refusal, `unchanged`, or the state that the order came to. */
function inShort(decision: Decision): string {
  if (decision.type === 'refused') return decision.code
  return decision.type === 'unchanged' ? 'unchanged' : (decision.order?.status ?? 'changed')
}
