import type { Order, OrderStatus } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'

/**
 * A second ledger, written from the tables of states and money alone and as simply as they can be
 * put: plain objects, one command after the other, nothing kept but the rows. It exists to disagree
 * with the real one.
 */

/** What an agent's contract says, as far as money depends on it after an order is created. */
export interface ModelTerms {
  currency: Order['currency']
}

/**
 * What a command was answered with: a refusal's code, why money is not the order's, or the order's state
 * and whether it is news.
 */
export type ModelAnswer =
  | { refused: string }
  | { unmatched: string }
  | { status: OrderStatus | null; changed: boolean }

type Row = Record<string, unknown>

/** A deposit or withdrawal as it is asked for; what is named replaces the rest. */
export function newOrder(
  fields: Pick<Order, 'agentId' | 'orderId' | 'kind' | 'createdAt'> & Partial<Order>,
  currency: Order['currency'] = 'THB',
): Order {
  const expiresAt =
    fields.kind === 'deposit' ? new Date(fields.createdAt.getTime() + 900_000) : null
  const order: Order = {
    refId: `ref-${fields.orderId}`,
    refundOf: null,
    userId: 'user-1',
    currency,
    amountMinor: 10_000n,
    payableMinor: null,
    feeMinor: 0n,
    feeRule: '0%',
    lateMoney: fields.kind === 'deposit' ? 'review' : null,
    reserveRule: null,
    revertFee: fields.kind === 'withdraw' ? 'return' : null,
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    extraParams: null,
    status: 'WAITING',
    version: 1,
    answer: '',
    expiresAt,
    completedAt: null,
    paidAmountMinor: null,
    paidFeeMinor: null,
    releaseAt: null,
    // A provider has it, or it cannot be said to be paid.
    provider: fields.kind === 'withdraw' ? 'bank' : null,
    providerRef: null,
    handedOverAt: null,
    instructions: null,
    ...fields,
  }
  // A withdrawal is answered with the balance that it leaves.
  if (order.kind === 'deposit') order.answer = depositAnswer(order, currency)
  return order
}

function depositAnswer(order: Order, currency: ModelTerms['currency']): string {
  const expiresInMs = (order.expiresAt?.getTime() ?? 0) - order.createdAt.getTime()
  return (
    `{"txn_id":"${order.agentId}-${order.orderId}","ref_id":${JSON.stringify(order.refId)},` +
    `"amount":${moneyIn(currency, order.amountMinor)},"fee":${moneyIn(currency, order.feeMinor)},` +
    `"method":"link","expires_in":${expiresInMs / 1000},"created_at":"${localTime(order.createdAt)}"}`
  )
}

/** An order's id for tests: the number in hex. */
export function orderIdOf(number: number): string {
  return number.toString(16).padStart(32, '0')
}

interface ModelWallet {
  seq: bigint
  available: bigint
  held: bigint
  reserve: bigint
  suspense: bigint
  unexplained: bigint
  clearing: bigint
  fees: bigint
  costs: bigint
  adjustments: bigint
  differences: bigint
  transfers: bigint
}

type Legs = Partial<Omit<ModelWallet, 'seq'>>

interface ModelPayment {
  agentId: bigint
  paymentId: string
  orderId: string | null
  amount: bigint
  paidAt: Date
  reportedAt: Date
  payer: string | null
  state: 'waiting' | 'credited' | 'returned' | 'taken_back'
  why: string | null
  creditedTo: 'order' | 'wallet' | null
  evidence: string | null
  receivedSeq: bigint
  returnedSeq: bigint | null
}

/** Money that is nobody's, or was. */
interface ModelUnmatched {
  paymentId: string
  amount: bigint
  currency: string
  state: 'waiting' | 'assigned' | 'returned' | 'dismissed'
  assignedTo: bigint | null
  receivedSeq: bigint
  decidedSeq: bigint | null
  paidAt: Date
  payer: { accountNo: string | null } | null
}

/** The house's book in a currency. */
const houseIds = { THB: -1n, VND: -2n }

const emptyWallet = {
  seq: 0n,
  available: 0n,
  held: 0n,
  reserve: 0n,
  suspense: 0n,
  unexplained: 0n,
  clearing: 0n,
  fees: 0n,
  costs: 0n,
  adjustments: 0n,
  differences: 0n,
  transfers: 0n,
}

const largest = 9_007_199_254_740_991n

export class NaiveModel {
  readonly orders: Order[] = []
  readonly journal: Row[] = []
  readonly callbacks: Row[] = []
  readonly payments: ModelPayment[] = []
  readonly payouts: Row[] = []
  readonly unmatched: ModelUnmatched[] = []
  /** By book and provider. */
  readonly clearings = new Map<string, bigint>()
  private readonly claims: Pick<ModelPayment, 'paymentId' | 'orderId' | 'amount' | 'agentId'>[] = []
  readonly items: Row[] = []
  readonly wallets = new Map<bigint, ModelWallet>()
  private readonly terms: Map<bigint, ModelTerms>

  constructor(terms: Map<bigint, ModelTerms>) {
    this.terms = terms
    for (const agentId of [...terms.keys(), ...Object.values(houseIds)]) {
      this.wallets.set(agentId, { ...emptyWallet })
    }
  }

  do(asked: Command): ModelAnswer {
    const books = 'houseId' in asked ? [asked.agentId, asked.houseId] : [asked.agentId]
    const times = books.map((book) => this.lastTime(book))
    const command = { ...asked, at: new Date(Math.max(asked.at.getTime(), ...times)) }
    switch (command.type) {
      case 'create':
        return this.create(command)
      case 'adjust':
        return this.adjust(command)
      case 'hand_over':
        return this.handOver(command)
      case 'cancel':
        return this.cancel(command)
      case 'expire':
        return this.expire(command)
      case 'outcome':
        return this.outcome(command)
      case 'receive_payment':
        return this.receivePayment(command)
      case 'credit_payment':
        return this.creditPayment(command)
      case 'credit_wallet':
        return this.creditWallet(command)
      case 'return_payment':
        return this.returnPayment(command)
      case 'take_back_payment':
        return this.takeBack(command)
      case 'instruct':
        return this.instruct(command)
      case 'charge_cost':
        return this.chargeCost(command)
      case 'receive_unmatched':
        return this.receiveUnmatched(command)
      case 'end_unmatched':
        return this.endUnmatched(command)
      case 'assign_payment':
        return this.assignPayment(command)
      case 'sweep':
        return this.sweep(command)
      case 'write_off':
        return this.writeOff(command)
      case 'release_reserve':
        return this.release(command)
      case 'book_item':
        throw new Error('open items are booked in operator-open-items.test.ts')
      case 'report_debit':
      case 'explain_debit':
        throw new Error('debits are of bank accounts: see explain-movement.test.ts')
    }
  }

  private lastTime(agentId: bigint): number {
    const last = this.journal.findLast((row) => row.agent_id === agentId)
    return last?.at instanceof Date ? last.at.getTime() : 0
  }

  private isBooked(agentId: bigint, onceKey: string): boolean {
    return this.journal.some((row) => row.agent_id === agentId && row.once_key === onceKey)
  }

  private chargeCost(command: Command & { type: 'charge_cost' }): ModelAnswer {
    const { agentId, amountMinor, provider, costId, at } = command
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    const once = `cost:${provider}:${costId}`
    if (this.isBooked(agentId, once)) return { status: order.status, changed: false }
    const legs = { costs: -amountMinor, clearing: amountMinor }
    this.book(agentId, order.orderId, 'cost_charged', at, legs, once, null, provider)
    return { status: null, changed: true }
  }

  private receiveUnmatched(command: Command & { type: 'receive_unmatched' }): ModelAnswer {
    const { agentId, at, unmatched } = command
    const { paymentId, amountMinor: amount, currency, paidAt, payer } = unmatched
    if (this.claims.some((claim) => claim.paymentId === paymentId)) {
      return { status: null, changed: false }
    }
    this.claims.push({ paymentId, orderId: null, amount, agentId: 0n })
    this.moveSuspense(agentId, 'payment_received', paymentId, amount, at)
    this.unmatched.push({
      ...{ paymentId, amount, currency, paidAt, payer },
      state: 'waiting',
      assignedTo: null,
      receivedSeq: this.wallet(agentId).seq,
      decidedSeq: null,
    })
    return { status: null, changed: true }
  }

  private endUnmatched(command: Command & { type: 'end_unmatched' }): ModelAnswer {
    const { agentId, at, paymentId, state } = command
    const payment = this.unmatched.find((each) => each.paymentId === paymentId)
    if (!payment) return { refused: 'order_not_found' }
    if (payment.state === state) return { status: null, changed: false }
    if (payment.state !== 'waiting') return { refused: 'invalid_transition' }
    this.moveSuspense(agentId, `payment_${state}`, paymentId, -payment.amount, at)
    Object.assign(payment, { state, decidedSeq: this.wallet(agentId).seq })
    return { status: null, changed: true }
  }

  private assignPayment(command: Command & { type: 'assign_payment' }): ModelAnswer {
    const { agentId, houseId, orderId, at, paymentId, reason } = command
    const payment = this.unmatched.find((each) => each.paymentId === paymentId)
    const order = orderId === null ? undefined : this.order({ agentId, orderId })
    if (!payment) return { refused: 'order_not_found' }
    if (payment.state === 'assigned' && payment.assignedTo === agentId) {
      return { status: order?.status ?? null, changed: false }
    }
    if (payment.state !== 'waiting') return { refused: 'invalid_transition' }
    if (payment.currency !== this.termsOf(agentId).currency) {
      return { refused: 'invalid_transition' }
    }
    if (orderId !== null && (order?.kind !== 'deposit' || order.status === 'PAID')) {
      return { refused: 'invalid_transition' }
    }
    const fee = order
      ? feeByRule(order.feeRule, payment.amount, this.termsOf(agentId).currency)
      : 0n
    const [kept] = order ? keptBack(order.reserveRule, payment.amount, fee) : [0n]
    const { available, reserve } = this.wallet(agentId)
    if (
      reason !== null &&
      (fee >= payment.amount ||
        available + payment.amount - fee - kept > largest ||
        reserve + kept > largest)
    ) {
      return { refused: 'amount_out_of_range' }
    }
    this.moveSuspense(houseId, 'payment_assigned', paymentId, -payment.amount, at)
    const decidedSeq = this.wallet(houseId).seq
    Object.assign(payment, { state: 'assigned', assignedTo: agentId, decidedSeq })
    const claim = this.claims.find((each) => each.paymentId === paymentId)
    if (claim) Object.assign(claim, { agentId, orderId })
    this.takeIn(agentId, orderId, order, {
      paymentId,
      amount: payment.amount,
      paidAt: payment.paidAt,
      reportedAt: at,
      payer: payment.payer?.accountNo ?? null,
    })
    if (reason === null) return { status: order?.status ?? null, changed: true }
    if (orderId === null) this.creditWallet({ ...command, type: 'credit_wallet', reason })
    else if (order?.status !== 'PAID')
      this.creditPayment({ ...command, type: 'credit_payment', orderId })
    return { status: order?.status ?? null, changed: true }
  }

  private sweep(command: Command & { type: 'sweep' }): ModelAnswer {
    const { agentId, houseId, day, at } = command
    const { fees, costs } = this.wallet(agentId)
    if (this.isBooked(agentId, `sweep:${day}`) || (fees === 0n && costs === 0n)) {
      return { status: null, changed: false }
    }
    const out = { fees: -fees, costs: -costs, transfers: fees + costs }
    this.book(agentId, null, 'swept', at, out, `sweep:${day}`)
    const into = { fees, costs, transfers: -fees - costs }
    this.book(houseId, null, 'swept', at, into, `sweep:${day}:${agentId}`)
    return { status: null, changed: true }
  }

  private writeOff(command: Command & { type: 'write_off' }): ModelAnswer {
    const { agentId, amountMinor, ref, reason, provider, at } = command
    if (this.isBooked(agentId, `write-off:${provider}:${ref}`))
      return { status: null, changed: false }
    const legs = { differences: -amountMinor, clearing: amountMinor }
    this.book(
      agentId,
      null,
      'written_off',
      at,
      legs,
      `write-off:${provider}:${ref}`,
      reason,
      provider,
    )
    return { status: null, changed: true }
  }

  private moveSuspense(
    agentId: bigint,
    event: string,
    paymentId: string,
    amount: bigint,
    at: Date,
  ): void {
    const legs = { suspense: amount, clearing: -amount }
    const provider = paymentId.replace(/:.*/, '')
    this.book(agentId, null, event, at, legs, `${event}:${paymentId}`, null, provider)
  }

  private create(command: Command & { type: 'create' }): ModelAnswer {
    const { order: asked, at } = command
    const first = this.orders.find((o) => o.agentId === asked.agentId && o.refId === asked.refId)
    if (first) {
      const contents = (o: Order) =>
        JSON.stringify([
          o.refundOf,
          String(o.amountMinor),
          JSON.parse(o.extraParams ?? '{}'),
          // A refund's request says no more than that.
          ...(o.refundOf ? [] : [o.kind, o.userId, o.accountName, o.accountNo, o.bankCode]),
        ])
      // A repeat is answered with the first answer's bytes, whatever has become of the order.
      if (contents(first) === contents(asked)) return { status: null, changed: false }
      return { refused: 'ref_id_conflict' }
    }
    const order = { ...asked }
    if (order.kind === 'withdraw') {
      if (order.refundOf !== null) {
        const { agentId, refundOf } = order
        const deposit = this.order({ agentId, orderId: refundOf })
        if (!deposit) return { refused: 'order_not_found' }
        const isPaid = deposit.kind === 'deposit' && deposit.status === 'PAID'
        if (!isPaid || deposit.version !== command.depositVersion) {
          return { refused: 'order_not_refundable' }
        }
        let sum = order.amountMinor
        for (const other of this.refundsOf(deposit)) sum += other.amountMinor
        if (sum > (deposit.paidAmountMinor ?? 0n)) return { refused: 'refund_exceeds_payment' }
      }
      const total = order.amountMinor + order.feeMinor
      const wallet = this.wallet(order.agentId)
      if (wallet.available < total) return { refused: 'insufficient_balance' }
      const legs = { available: -total, held: total }
      const once = order.refundOf === null ? null : `refund:${order.refundOf}:${order.orderId}`
      if (!this.book(order.agentId, order.orderId, 'withdraw_held', at, legs, once)) {
        return { refused: 'amount_out_of_range' }
      }
      order.answer =
        `{"txn_id":"${order.agentId}-${order.orderId}","ref_id":${JSON.stringify(order.refId)},` +
        `"amount":${this.money(order, order.amountMinor)},"fee":${this.money(order, order.feeMinor)},` +
        `"status":"WAITING","wallet":{"balance":${this.money(order, wallet.available)}},` +
        `"created_at":"${localTime(order.createdAt)}"}`
    }
    this.orders.push(order)
    return { status: 'WAITING', changed: true }
  }

  private adjust(command: Command & { type: 'adjust' }): ModelAnswer {
    const { agentId, amountMinor, ref, reason, at } = command
    const once = `adjustment:${ref}`
    if (this.journal.some((row) => row.agent_id === agentId && row.once_key === once)) {
      return { status: null, changed: false }
    }
    const legs = { available: amountMinor, adjustments: -amountMinor }
    const booked = this.book(agentId, null, 'adjustment', at, legs, once, reason)
    return booked ? { status: null, changed: true } : { refused: 'amount_out_of_range' }
  }

  private handOver(command: Command & { type: 'hand_over' }): ModelAnswer {
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    if (order.handedOverAt && command.references.includes(order.providerRef ?? '')) {
      return { status: order.status, changed: false }
    }
    if (order.kind === 'deposit' || order.status !== 'WAITING') {
      return { refused: 'invalid_transition' }
    }
    const before = this.payouts.filter(({ order_id }) => order_id === order.orderId)
    const current = before.at(-1)?.reference ?? null
    if (current !== command.insteadOf) return { refused: 'invalid_transition' }
    const isPaid = this.items.some(
      (item) => item.order_id === order.orderId && item.provider_said === 'PAID',
    )
    if (isPaid && command.insteadOf !== null) return { refused: 'invalid_transition' }
    const refunded = order.refundOf && this.order({ ...order, orderId: order.refundOf })
    if (command.insteadOf !== null && refunded && refunded.status !== 'PAID') {
      return { refused: 'invalid_transition' }
    }
    const taken = new Set(this.payouts.map(({ reference }) => reference))
    const reference = command.references.find((each) => !taken.has(each))
    if (reference === undefined) return { refused: 'invalid_transition' }
    for (const payout of before) Object.assign(payout, { state: 'rejected', ask_at: null })
    this.payouts.push({
      agent_id: order.agentId,
      order_id: order.orderId,
      attempt: before.length + 1,
      provider: command.provider,
      reference,
      state: 'handed',
      handed_at: command.at,
      asks: 0,
      ask_at: command.askAt,
    })
    order.provider = command.provider
    order.providerRef = reference
    order.handedOverAt = command.at
    order.version += 1
    return { status: order.status, changed: true }
  }

  private cancel(command: Command & { type: 'cancel' }): ModelAnswer {
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    const cancelled = order.kind === 'deposit' ? 'VOID' : 'CANCEL'
    const wasPaid = order.kind === 'deposit' && order.paidAmountMinor !== null
    if (order.status === cancelled && !wasPaid) return { status: order.status, changed: false }
    if (order.status !== 'WAITING' || order.handedOverAt) {
      return { refused: 'order_not_cancellable' }
    }
    return this.finish(order, cancelled, command.at)
  }

  private expire(command: Command & { type: 'expire' }): ModelAnswer {
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    const due = order.kind === 'deposit' && order.expiresAt && order.expiresAt <= command.at
    if (!due || order.status !== 'WAITING') return { status: order.status, changed: false }
    return this.finish(order, 'EXPIRED', command.at)
  }

  private outcome(command: Command & { type: 'outcome' }): ModelAnswer {
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    const { to, providerRef, evidence } = command
    const isElsewhere = providerRef !== undefined && providerRef !== order.providerRef
    if (isElsewhere) {
      const kind = ['FAILED', 'CANCEL'].includes(order.status) ? 'paid_after_failed' : 'paid_twice'
      if (order.kind === 'deposit' || !['PAID', 'REVERT'].includes(to)) {
        return { refused: 'invalid_transition' }
      }
      const item = this.items.find((each) => each.item_id === `${kind}-${providerRef}`)
      if (item) item.provider_said = item.provider_said === 'REVERT' ? 'REVERT' : to
      else {
        this.items.push({
          agent_id: order.agentId,
          item_id: `${kind}-${providerRef}`,
          kind,
          order_id: order.orderId,
          reference: providerRef,
          amount: order.amountMinor,
          provider_said: to,
          opened_at: command.at,
          closed_at: null,
        })
      }
      const own = this.items.filter(
        (each) => each.order_id === order.orderId && each.reference === providerRef,
      )
      const isBack = own.some((each) => each.provider_said === 'REVERT')
      for (const each of own)
        if (isBack && each.provider_said === 'PAID') each.provider_said = 'REVERT'
      return { status: order.status, changed: true }
    }
    if (order.status === to) return { status: order.status, changed: false }
    const allowed =
      order.kind === 'deposit'
        ? ['WAITING FAILED', 'WAITING EXPIRED', 'WAITING VOID']
        : ['WAITING PAID', 'WAITING FAILED', 'WAITING CANCEL', 'PAID REVERT']
    // By a person alone.
    if (order.kind === 'withdraw' && evidence !== undefined) allowed.push('FAILED PAID')
    if (!allowed.includes(`${order.status} ${to}`)) return { refused: 'invalid_transition' }
    if (to === 'PAID' && order.provider === null) return { refused: 'invalid_transition' }
    return this.finish(order, to, command.at, evidence)
  }

  private receivePayment(command: Command & { type: 'receive_payment' }): ModelAnswer {
    const { agentId, orderId } = command
    const order = orderId === null ? undefined : this.order({ agentId, orderId })
    if (orderId !== null && order?.kind !== 'deposit') return { refused: 'order_not_found' }
    const { paymentId, amountMinor, paidAt, payer } = command.payment
    const known = this.payment(command, paymentId)
    const first = this.claims.find((claim) => claim.paymentId === paymentId)
    const isNews =
      first &&
      command.provider !== null &&
      (first.amount !== amountMinor || ![first.orderId, known?.orderId].includes(orderId))
    if (isNews || (first && first.agentId !== agentId)) return { unmatched: 'claimed_twice' }
    if (known) {
      return { status: order?.status ?? null, changed: false }
    }
    if (order && command.provider !== null && order.provider !== command.provider) {
      return { unmatched: 'wrong_provider' }
    }
    this.claims.push({ agentId, paymentId, orderId, amount: amountMinor })
    return this.takeIn(agentId, orderId, order, {
      paymentId,
      amount: amountMinor,
      paidAt,
      reportedAt: command.at,
      payer: payer?.accountNo ?? null,
    })
  }

  /** Money that is the agent's: it pays the order, or waits in suspense. */
  private takeIn(
    agentId: bigint,
    orderId: string | null,
    order: Order | undefined,
    said: Pick<ModelPayment, 'paymentId' | 'amount' | 'paidAt' | 'reportedAt' | 'payer'>,
  ): ModelAnswer {
    const payment: ModelPayment = {
      agentId,
      orderId,
      ...said,
      state: 'waiting',
      why: null,
      creditedTo: null,
      evidence: null,
      receivedSeq: this.wallet(agentId).seq + 1n,
      returnedSeq: null,
    }
    this.payments.push(payment)
    const { paidAt, paymentId, amount: amountMinor, reportedAt: at } = payment
    const wait = () => this.moveSuspense(agentId, 'payment_received', paymentId, amountMinor, at)
    if (!order?.expiresAt) {
      payment.why = 'unmatched'
      wait()
      return { status: null, changed: true }
    }
    const inTime = paidAt <= order.expiresAt
    if (order.status === 'PAID') payment.why = 'duplicate'
    else if (order.status === 'FAILED' || order.status === 'VOID' || !inTime) payment.why = 'late'
    else if (amountMinor !== order.amountMinor) payment.why = 'wrong_amount'
    const byPolicy = payment.why !== 'duplicate' && order.lateMoney === 'credit'
    if (payment.why !== null && !byPolicy) {
      wait()
      return { status: order.status, changed: true }
    }
    const obstacle = this.pay(order, payment, at, 'clearing')
    if (obstacle) {
      payment.why = obstacle
      wait()
    }
    return { status: order.status, changed: true }
  }

  private creditPayment(command: Command & { type: 'credit_payment' }): ModelAnswer {
    const order = this.order(command)
    const payment = this.payment(command)
    if (!order || !payment) return { refused: 'order_not_found' }
    if (payment.state === 'credited' && payment.orderId === order.orderId) {
      return { status: order.status, changed: false }
    }
    if (payment.state !== 'waiting' || order.kind !== 'deposit' || order.status === 'PAID') {
      return { refused: 'invalid_transition' }
    }
    if (this.pay(order, payment, command.at, 'suspense')) return { refused: 'amount_out_of_range' }
    return { status: order.status, changed: true }
  }

  private creditWallet(command: Command & { type: 'credit_wallet' }): ModelAnswer {
    const payment = this.payment(command)
    if (!payment) return { refused: 'order_not_found' }
    if (payment.state === 'credited' && payment.creditedTo === 'wallet') {
      return { status: null, changed: false }
    }
    if (payment.state !== 'waiting') return { refused: 'invalid_transition' }
    const legs = { available: payment.amount, suspense: -payment.amount }
    const once = `payment:${payment.paymentId}`
    const { agentId, at, reason } = command
    if (!this.book(agentId, null, 'adjustment', at, legs, once, reason)) {
      return { refused: 'amount_out_of_range' }
    }
    Object.assign(payment, { state: 'credited', why: null, creditedTo: 'wallet' })
    return { status: null, changed: true }
  }

  private returnPayment(command: Command & { type: 'return_payment' }): ModelAnswer {
    const payment = this.payment(command)
    if (!payment) return { refused: 'order_not_found' }
    if (payment.state === 'returned') return { status: null, changed: false }
    if (payment.state !== 'waiting') return { refused: 'invalid_transition' }
    return this.giveBack(payment, command.evidence, command.at, null)
  }

  private giveBack(
    payment: ModelPayment,
    evidence: string,
    at: Date,
    status: OrderStatus | null,
  ): ModelAnswer {
    const { agentId, paymentId, amount } = payment
    this.moveSuspense(agentId, 'payment_returned', paymentId, -amount, at)
    const returnedSeq = this.wallet(agentId).seq
    Object.assign(payment, { state: 'returned', why: null, evidence, returnedSeq })
    return { status, changed: true }
  }

  private takeBack(command: Command & { type: 'take_back_payment' }): ModelAnswer {
    const { agentId, orderId, at } = command
    const order = orderId === null ? undefined : this.order({ agentId, orderId })
    const payment = this.payment(command)
    if (!payment) return { refused: 'order_not_found' }
    const status = order?.status ?? null
    if (payment.state === 'returned' || payment.state === 'taken_back') {
      return { status, changed: false }
    }
    if (payment.state === 'waiting') {
      return this.giveBack(payment, 'The bank took it back.', at, status)
    }
    if (payment.creditedTo === 'wallet') {
      const legs = { available: -payment.amount, clearing: payment.amount }
      const once = `payment-taken-back:${payment.paymentId}`
      const reason = `The bank took payment ${payment.paymentId} back.`
      const provider = payment.paymentId.replace(/:.*/, '')
      if (!this.book(agentId, null, 'adjustment', at, legs, once, reason, provider)) {
        return { refused: 'amount_out_of_range' }
      }
      payment.state = 'taken_back'
      return { status: null, changed: true }
    }
    if (!order || order.orderId !== payment.orderId) return { refused: 'invalid_transition' }
    const refunds = this.refundsOf(order)
    const stopped = refunds.filter((each) => each.status === 'WAITING' && !each.handedOverAt)
    const [paid, paidFee] = [order.paidAmountMinor ?? 0n, order.paidFeeMinor ?? 0n]
    let available = this.wallet(agentId).available - paid + paidFee
    if (order.releaseAt) available += keptBack(order.reserveRule, paid, paidFee)[0]
    for (const each of stopped) available += each.amountMinor + each.feeMinor
    if (available > largest) return { refused: 'amount_out_of_range' }
    const place = payment.paymentId.replace(/:.*/, '')
    const answer = this.finish(order, 'VOID', at, undefined, place)
    if ('refused' in answer) return answer
    payment.state = 'taken_back'
    for (const refund of refunds) {
      if (stopped.includes(refund)) {
        this.finish(refund, 'CANCEL', at)
        continue
      }
      const reference = refund.providerRef ?? refund.orderId
      const item_id = `refunded_and_taken_back-${reference}`
      if (this.items.some((each) => each.item_id === item_id)) continue
      this.items.push({
        agent_id: refund.agentId,
        item_id,
        kind: 'refunded_and_taken_back',
        order_id: refund.orderId,
        reference,
        amount: refund.amountMinor,
        provider_said: 'VOID',
        opened_at: at,
        closed_at: null,
      })
    }
    return answer
  }

  /** The refunds of a deposit that wait or are paid, in the order in which they were made. */
  private refundsOf({ agentId, orderId }: Order): Order[] {
    return this.orders
      .filter((each) => each.agentId === agentId && each.refundOf === orderId)
      .filter(({ status }) => status === 'WAITING' || status === 'PAID')
  }

  private instruct(command: Command & { type: 'instruct' }): ModelAnswer {
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    if (order.kind !== 'deposit') return { refused: 'invalid_transition' }
    if (order.providerRef !== null || order.status !== 'WAITING') {
      return { status: order.status, changed: false }
    }
    order.version += 1
    order.provider = command.provider
    order.providerRef = command.providerRef
    order.answer = command.answer
    order.instructions = command.instructions
    return { status: order.status, changed: true }
  }

  private payment(
    command: { agentId: bigint; paymentId?: string },
    paymentId = command.paymentId,
  ): ModelPayment | undefined {
    return this.payments.find((p) => p.agentId === command.agentId && p.paymentId === paymentId)
  }

  /** Credits a payment to a deposit; says why it cannot be. */
  private pay(
    order: Order,
    payment: ModelPayment,
    at: Date,
    from: 'clearing' | 'suspense',
  ): 'fee' | 'bound' | undefined {
    const fee = feeByRule(order.feeRule, payment.amount, this.termsOf(order.agentId).currency)
    if (fee >= payment.amount) return 'fee'
    const [kept, days] = keptBack(order.reserveRule, payment.amount, fee)
    const booked = this.book(
      order.agentId,
      order.orderId,
      'deposit_paid',
      at,
      {
        available: payment.amount - fee - kept,
        reserve: kept,
        fees: fee,
        [from]: -payment.amount,
      },
      `payment:${payment.paymentId}`,
      null,
      payment.paymentId.replace(/:.*/, ''),
    )
    if (!booked) return 'bound'
    order.status = 'PAID'
    order.version += 1
    order.completedAt = at
    order.paidAmountMinor = payment.amount
    order.paidFeeMinor = fee
    order.releaseAt = kept > 0n ? new Date(at.getTime() + days * 24 * 3600 * 1000) : null
    payment.state = 'credited'
    payment.why = null
    payment.orderId = order.orderId
    payment.creditedTo = 'order'
    this.callBack(order, payment.amount, fee, at, payment.payer)
    return undefined
  }

  private release(command: Command & { type: 'release_reserve' }): ModelAnswer {
    const order = this.order(command)
    if (!order) return { refused: 'order_not_found' }
    if (!order.releaseAt || command.at < order.releaseAt) {
      return { status: order.status, changed: false }
    }
    const [kept] = keptBack(
      order.reserveRule,
      order.paidAmountMinor ?? 0n,
      order.paidFeeMinor ?? 0n,
    )
    const legs = { available: kept, reserve: -kept }
    const once = `reserve:${order.orderId}:${order.version}`
    const { agentId, orderId } = order
    if (!this.book(agentId, orderId, 'reserve_released', command.at, legs, once)) {
      return { refused: 'amount_out_of_range' }
    }
    order.releaseAt = null
    order.version += 1
    return { status: order.status, changed: true }
  }

  /** Ends an order, or takes it back, in any way but by money that comes in. */
  private finish(
    order: Order,
    to: OrderStatus,
    at: Date,
    evidence?: string,
    place = order.provider ?? '',
  ): ModelAnswer {
    const { amountMinor: amount, feeMinor: fee } = order
    const total = amount + fee
    const keeps = order.revertFee === 'keep'
    const paid = order.paidAmountMinor ?? 0n
    const paidFee = order.paidFeeMinor ?? 0n
    const kept = order.releaseAt ? keptBack(order.reserveRule, paid, paidFee)[0] : 0n
    const released = { available: total, held: -total }
    const steps: Record<string, [event: string, legs: Legs, charged: bigint]> = {
      'deposit WAITING FAILED': ['deposit_failed', {}, 0n],
      'deposit WAITING EXPIRED': ['deposit_expired', {}, 0n],
      'deposit WAITING VOID': ['deposit_void', {}, 0n],
      'deposit PAID VOID': [
        'deposit_taken_back',
        { available: paidFee - paid + kept, reserve: -kept, fees: -paidFee, clearing: paid },
        0n,
      ],
      'withdraw WAITING PAID': [
        'withdraw_paid',
        { held: -total, clearing: amount, fees: fee },
        fee,
      ],
      'withdraw FAILED PAID': [
        'withdraw_paid_after_failed',
        { available: -total, clearing: amount, fees: fee },
        fee,
      ],
      'withdraw WAITING FAILED': ['withdraw_failed', released, 0n],
      'withdraw WAITING CANCEL': ['withdraw_cancelled', released, 0n],
      'withdraw PAID REVERT': [
        'withdraw_reverted',
        keeps
          ? { available: amount, clearing: -amount }
          : { available: total, clearing: -amount, fees: -fee },
        keeps ? fee : 0n,
      ],
    }
    const step = steps[`${order.kind} ${order.status} ${to}`]
    if (!step) throw new Error(`the model has no step from ${order.status} to ${to}`)
    const [event, legs, charged] = step
    if (!this.book(order.agentId, order.orderId, event, at, legs, null, evidence, place)) {
      return { refused: 'amount_out_of_range' }
    }
    order.status = to
    order.version += 1
    order.completedAt = at
    order.releaseAt = null
    if (to === 'PAID') {
      order.paidAmountMinor = amount
      order.paidFeeMinor = fee
    }
    this.callBack(order, amount, charged, at, null)
    return { status: to, changed: true }
  }

  /** One row of the journal; false where a balance would pass the bound. */
  private book(
    agentId: bigint,
    orderId: string | null,
    event: string,
    at: Date,
    legs: Legs,
    onceKey: string | null = null,
    reason: string | null = null,
    provider: string | null = null,
  ): boolean {
    const before = this.wallet(agentId)
    const { seq: _, ...none } = emptyWallet
    const moved = { ...none, ...legs }
    const after = { ...none }
    for (const name of Object.keys(none) as (keyof typeof none)[]) {
      after[name] = before[name] + moved[name]
    }
    if (
      [after.available, after.held, after.reserve].some((each) => each > largest || each < -largest)
    ) {
      return false
    }
    Object.assign(before, after, { seq: before.seq + 1n })
    const place = moved.clearing === 0n ? null : provider
    const whereabouts = `${agentId} ${place}`
    if (place !== null)
      this.clearings.set(whereabouts, (this.clearings.get(whereabouts) ?? 0n) + moved.clearing)
    this.journal.push({
      agent_id: agentId,
      seq: before.seq,
      order_id: orderId,
      event,
      at,
      currency: agentId < 0n ? (agentId === -1n ? 'THB' : 'VND') : this.termsOf(agentId).currency,
      ...Object.fromEntries(
        Object.entries(moved).map(([name, change]) => [`${name}_change`, change]),
      ),
      ...after,
      clearing_at: place,
      clearing_there: place === null ? null : this.clearings.get(whereabouts),
      once_key: onceKey,
      reason,
    })
    return true
  }

  private callBack(order: Order, amount: bigint, fee: bigint, at: Date, payer: string | null) {
    const { seq, available } = this.wallet(order.agentId)
    const reported =
      payer === null
        ? ''
        : `,"flag_incorrect_payee":${payer !== order.accountNo},` +
          `"payee":{"account_no":"${payer}","account_name":null,"bank_code":null}`
    this.callbacks.push({
      agent_id: order.agentId,
      seq,
      order_id: order.orderId,
      body:
        `{"refId":${JSON.stringify(order.refId)},"transactionId":"${order.agentId}-${order.orderId}",` +
        `"userId":${JSON.stringify(order.userId)},"amount":${this.money(order, amount)},` +
        `"fee":${this.money(order, fee)},"status":"${order.status}",` +
        `"extParams":${order.extraParams ?? '{}'},"successAt":"${localTime(at)}",` +
        `"wallet":{"balance":${this.money(order, available)}}${reported}}`,
      state: 'waiting',
      created_at: at,
    })
  }

  private order({ agentId, orderId }: { agentId: bigint; orderId: string }): Order | undefined {
    return this.orders.find((o) => o.agentId === agentId && o.orderId === orderId)
  }

  private wallet(agentId: bigint): ModelWallet {
    const wallet = this.wallets.get(agentId)
    if (!wallet) throw new Error(`the model has no agent ${agentId}`)
    return wallet
  }

  private termsOf(agentId: bigint): ModelTerms {
    const terms = this.terms.get(agentId)
    if (!terms) throw new Error(`the model has no agent ${agentId}`)
    return terms
  }

  private money(order: Order, minor: bigint): string {
    return moneyIn(this.termsOf(order.agentId).currency, minor)
  }
}

function moneyIn(currency: ModelTerms['currency'], minor: bigint): string {
  if (currency === 'VND') return String(minor)
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0')
  const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`
  return (minor < 0n ? '-' : '') + text.replace(/\.?0+$/, '')
}

/** `PERCENT%`, `FIXED` or `PERCENT%+FIXED`, half a minor unit rounded up. */
function feeByRule(rule: string, amountMinor: bigint, currency: Order['currency']): bigint {
  let fee = 0n
  for (const part of rule.split('+')) {
    if (part.endsWith('%')) {
      // Percentages have up to four decimals, so hundredths of them fit 10^-6 of the amount.
      const millionths = BigInt(Math.round(Number(part.slice(0, -1)) * 10_000))
      const [whole, rest] = [
        (amountMinor * millionths) / 1_000_000n,
        (amountMinor * millionths) % 1_000_000n,
      ]
      fee += rest >= 500_000n ? whole + 1n : whole
    } else fee += BigInt(Math.round(Number(part) * (currency === 'THB' ? 100 : 1)))
  }
  return fee
}

function localTime(at: Date): string {
  return at.toISOString().replace('T', ' ').slice(0, 19)
}

/** What a rule such as 7.5%/90 keeps back of a deposit, and for how many days. */
function keptBack(rule: string | null, paid: bigint, fee: bigint): [kept: bigint, days: number] {
  if (rule === null) return [0n, 0]
  const [percent = '', days = ''] = rule.split('%/')
  const hundredths = BigInt(Math.round(Number(percent) * 100))
  const share = (paid * hundredths * 2n + 10_000n) / 20_000n
  const kept = share + fee > paid ? paid - fee : share
  return [kept, Number(days)]
}
