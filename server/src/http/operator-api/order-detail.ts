import type { Agent } from '../../agents/agent.ts'
import { attemptsAt, callbacksOfRows } from '../../callbacks/search-callbacks.ts'
import type { Order } from '../../ledger/book.ts'
import { findCheck } from '../../ledger/limits-store.ts'
import { openItemsOfOrder } from '../../ledger/open-items.ts'
import { readJournalOfOrder } from '../../ledger/read-journal.ts'
import { refundableRest } from '../../ledger/refunds.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import type { LocalTime } from '../../lib/local-time.ts'
import { auditOfSubjects } from '../../operators/audit-of-subjects.ts'
import { may, type Operator } from '../../operators/operator.ts'
import { type ActionName, actionsOfKind, actionTraits, whyNot } from '../../orders/order-actions.ts'
import type { OrderSituation } from '../../orders/order-situation.ts'
import {
  type Explained,
  explain,
  inEnglish,
  nothingMore,
  type Said,
} from '../../orders/order-words.ts'
import { pageLink } from '../../orders/page-token.ts'
import { refundsOfDeposit } from '../../orders/refund-order.ts'
import { payoutsOfOrder } from '../../payouts/payouts.ts'
import {
  journalOfPayments,
  noticesOfOrder,
  paymentsOfOrder,
} from '../../reports/read-order-history.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, exactOrNull, orderSummary } from './order-summary.ts'
import { type OrderHistory, timelineOf } from './order-timeline.ts'
import { notShown, seesPersons, withoutPersons } from './personal-data.ts'
import { OrderDetail, TxnParams } from './schemas/orders.ts'
import { orderNamed } from './scope.ts'

/** `GET /orders/{txn_id}`: an order with its full history. */
export function orderDetailRoute(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/orders/:txn_id',
    summary: 'One order, what happened to it, and what can be done',
    tag: 'Orders',
    permission: 'view',
    agents: 'own',
    schema: { params: TxnParams, response: OrderDetail },
    handler: async ({ operator, params }) => {
      const { order, agent } = await orderNamed(desk.pool, operator, params.txn_id)
      return orderDetail(desk, operator, order, agent)
    },
  })
}

/** The complete order as this operator may see it, as JSON. */
export async function orderDetail(
  desk: Desk,
  operator: Operator,
  order: Order,
  agent: Agent,
): Promise<string> {
  const history = await readHistory(desk, order)
  const { currency } = order
  const situation = situationOf(history, desk)
  const isAgents = operator.agentId !== null
  const showsPersons = seesPersons(operator)
  const view = {
    order: {
      ...orderSummary(order, agent, operator),
      version: order.version,
      fee_rule: order.feeRule,
      paid_fee: exactOrNull(order.paidFeeMinor, currency),
      extra_params: order.extraParams === null || showsPersons ? order.extraParams : notShown,
      handed_over_at: order.handedOverAt,
      link: order.kind === 'deposit' ? pageLink(desk, order) : null,
      refund_of: order.refundOf === null ? null : txnId(order.agentId, order.refundOf),
      limits:
        history.check === undefined || isAgents
          ? null
          : {
              outcome: history.check.outcome,
              words: history.check.words,
              wait_until: history.check.waitUntil,
            },
      refundable:
        order.kind === 'deposit' ? exact(refundableRest(order, history.refunds), currency) : null,
    },
    refunds: history.refunds.map((refund) => ({
      txn_id: txnId(refund.agentId, refund.orderId),
      ref_id: refund.refId,
      status: refund.status,
      amount: exact(refund.amountMinor, currency),
      created_at: refund.createdAt,
    })),
    words: wordsOf(
      isAgents
        ? explainToAgent(situation)
        : explain(showsPersons ? situation : withoutProviderText(situation)),
      desk.localTime,
    ),
    ...(isAgents ? { payouts: [], payments: [], notices: [] } : nowOf(history, showsPersons)),
    callbacks: history.callbacks.map((callback) => ({
      seq: callback.seq,
      status: callback.status,
      delivery: callback.delivery,
      attempts: callback.attempts,
      delivered_at: callback.deliveredAt,
    })),
    timeline: timelineOf(isAgents ? withoutReasons(history) : history, currency).filter(
      ({ kind }) => !isAgents || !['provider', 'notice', 'payment', 'operator'].includes(kind),
    ),
    actions: actionsOf(situation, operator),
  }
  return jsonText(showsPersons ? view : { ...view, timeline: masked(view.timeline) })
}

/** Texts from providers and agents' servers may name people in unforeseeable ways. */
function masked(timeline: ReturnType<typeof timelineOf>) {
  return timeline.map((entry) => {
    const raw = withoutPersons(entry.raw)
    if (entry.kind === 'notice') return { ...entry, raw: { ...Object(raw), body: notShown } }
    if (entry.kind === 'attempt') {
      const hidden = { response_headers: notShown, response_body: notShown }
      return { ...entry, raw: { ...Object(raw), ...hidden } }
    }
    return { ...entry, raw }
  })
}

/** What holds now of each payout, payment and report. */
function nowOf({ order, payouts, payments, notices }: OrderHistory, showsPersons: boolean) {
  const said = (text: string | null) => (text === null || showsPersons ? text : notShown)
  return {
    payouts: payouts.map((payout) => ({
      handed_at: payout.handedAt,
      provider: payout.provider,
      reference: payout.reference,
      state: payout.state,
      asks: payout.asks,
      ask_at: payout.askAt,
      said: said(payout.said),
      evidence: payout.evidence,
    })),
    payments: payments.map((payment) => ({
      payment_id: payment.paymentId,
      amount: exact(payment.amountMinor, order.currency),
      reported_at: payment.reportedAt,
      state: payment.state,
      why: payment.why,
      credited_to: payment.creditedTo,
      evidence: payment.evidence,
    })),
    notices: notices.map((notice) => ({
      received_at: notice.receivedAt,
      provider: notice.provider,
      event_id: notice.eventId,
      result: notice.result,
      detail: said(notice.detail),
    })),
  }
}

/** The reason that a person gave for ending an order is only for operators, not for agents' users. */
function withoutReasons(history: OrderHistory): OrderHistory {
  // Money that waits for a decision is not told to agents.
  const own = history.journal.filter(({ orderId }) => orderId !== null)
  return { ...history, journal: own.map((row) => ({ ...row, reason: null })) }
}

async function readHistory(desk: Desk, order: Order): Promise<OrderHistory> {
  const { pool } = desk
  const { agentId, orderId } = order
  const ofOrder = await readJournalOfOrder(pool, agentId, orderId)
  const seqs = ofOrder.map(({ seq }) => seq)
  const inJournal = ofOrder.flatMap(({ onceKey }) => onceKey?.replace(/^payment:/, '') ?? [])
  const payments = await paymentsOfOrder(pool, agentId, orderId, inJournal)
  const paymentIds = payments.map(({ paymentId }) => paymentId)
  const [
    ofPayments,
    callbacks,
    attempts,
    payouts,
    notices,
    auditOfOrder,
    auditOfPayments,
    openItems,
    refunds,
    check,
  ] = await Promise.all([
    journalOfPayments(pool, agentId, paymentIds),
    callbacksOfRows(pool, agentId, seqs),
    attemptsAt(pool, agentId, seqs, 200),
    payoutsOfOrder(pool, agentId, orderId),
    noticesOfOrder(pool, agentId, orderId),
    auditOfSubjects(pool, 'order', [txnId(agentId, orderId)], 200),
    auditOfSubjects(pool, 'payment', paymentIds, 200),
    openItemsOfOrder(pool, agentId, orderId),
    order.kind === 'deposit' ? refundsOfDeposit(pool, order) : [],
    findCheck(pool, order),
  ])
  return {
    order,
    // Rows of the order's payments that name another order, or none.
    journal: [...ofOrder, ...ofPayments.filter(({ seq }) => !seqs.includes(seq))],
    callbacks,
    attempts,
    payouts,
    notices,
    payments,
    audit: [...auditOfOrder, ...auditOfPayments],
    openItems,
    refunds,
    check,
  }
}

function situationOf(history: OrderHistory, { now }: Desk): OrderSituation {
  return {
    order: history.order,
    attempt: history.payouts.at(-1),
    waitingPayments: history.payments.filter(({ state }) => state === 'waiting').length,
    hasCallback: history.callbacks.length > 0,
    openItems: history.openItems.length,
    refunds: history.refunds,
    now: now(),
  }
}

/** Removes the provider's text. */
function withoutProviderText({ attempt, ...rest }: OrderSituation): OrderSituation {
  return { ...rest, attempt: attempt && { ...attempt, said: null } }
}

/** The same explanation without the provider's text and without steps that only an operator can take. */
function explainToAgent(situation: OrderSituation): Explained {
  const { attempt, ...rest } = situation
  const plain = attempt && { ...attempt, said: null, evidence: null }
  if (plain && (plain.state === 'unknown' || plain.state === 'not_found')) plain.state = 'accepted'
  const told = explain({ ...rest, attempt: plain, waitingPayments: 0, openItems: 0 })
  return ['PAID', 'FAILED'].includes(rest.order.status) ? { ...told, next: [nothingMore] } : told
}

/** An explanation in English, and by codes for other languages. */
function wordsOf({ why, next }: Explained, localTime: LocalTime) {
  const codes = (said: readonly Said[]) =>
    said.map(({ code, given }) => ({
      code,
      text: given instanceof Date ? null : given,
      at: given instanceof Date ? given : null,
    }))
  return {
    why: inEnglish(why, localTime),
    next: inEnglish(next, localTime),
    why_codes: codes(why),
    next_codes: codes(next),
  }
}

function actionsOf(situation: OrderSituation, operator: Operator) {
  const shown =
    operator.agentId === null ? actionsOfKind[situation.order.kind] : (['resend'] as const)
  return shown.map((name) => {
    const { movesMoney } = actionTraits[name]
    const why = may(operator, permissionFor(name))
      ? whyNot(name, situation)
      : `The role ${operator.role} may not do this.`
    return {
      name,
      allowed: why === undefined,
      why_not: why ?? null,
      moves_money: movesMoney,
      needs: [
        'reason',
        ...(name === 'refund' ? ['amount'] : []),
        ...(name === 'resend' ? [] : ['code']),
      ],
    }
  })
}

export function permissionFor(name: ActionName): 'act_on_orders' | 'resend_callbacks' {
  return name === 'resend' ? 'resend_callbacks' : 'act_on_orders'
}
