import type { Agent } from '../../agents/agent.ts'
import { listAgents } from '../../agents/find-agent.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import { mayDecidePayments } from '../../operators/find-assignee.ts'
import type { Operator } from '../../operators/operator.ts'
import { findDecision } from '../../payments/payment-decision.ts'
import { readPaymentNotes, writePaymentNote } from '../../payments/payment-notes.ts'
import { creditPayment, dismissPayment, returnPayment } from '../../payments/payments.ts'
import { possibleOrders } from '../../payments/possible-orders.ts'
import { type FoundPayment, findPayment, searchPayments } from '../../payments/search-payments.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import type { ActionView } from './approvals-desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, orderSummary } from './order-summary.ts'
import { maskedName, maskedNumber, notShown, seesPersons } from './personal-data.ts'
import {
  AssignRequest,
  CreditRequest,
  DismissRequest,
  NoteRequest,
  PaymentDetail,
  PaymentList,
  PaymentListQuery,
  PaymentParams,
  ReturnRequest,
} from './schemas/payments.ts'
import { agentNamed, badCursor, orderNamed } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** Payments that await a person's decision. Only operators see them, not agents' users. */
export function paymentRoutes(api: OperatorApi, desk: Desk): void {
  readRoutes(api, desk)
  decisionRoutes(api, desk)
  dismissRoute(api, desk)
  noteRoutes(api, desk)
}

function readRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/payments',
    summary: 'List payments to decide, or decided',
    tag: 'Payments',
    permission: 'view',
    agents: 'none',
    schema: { querystring: PaymentListQuery, response: PaymentList },
    handler: async ({ operator, query }) => {
      const { limit = 50, state = 'to_decide' } = query
      const agent =
        query.agent === undefined ? null : await agentNamed(desk.pool, operator, query.agent)
      const found = await searchPayments(desk.pool, {
        state: state as 'to_decide' | 'decided',
        agentId: agent?.agentId ?? null,
        paymentId: null,
        why: query.why ?? null,
        assignee: query.assignee ?? null,
        after: query.cursor === undefined ? null : placeIn(query.cursor),
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      const agents = await agentsById(desk)
      return jsonText({
        data: shown.map((payment) => paymentView(payment, agents, operator)),
        next:
          found.length > limit && last
            ? `${last.reportedAt.toISOString()} ${last.paymentId}`
            : null,
      })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/payments/:payment_id',
    summary: 'One payment, with orders it may be meant for',
    tag: 'Payments',
    permission: 'view',
    agents: 'none',
    schema: { params: PaymentParams, response: PaymentDetail },
    handler: async ({ operator, params }) => paymentDetail(desk, operator, params.payment_id),
  })
}

function decisionRoutes(api: OperatorApi, desk: Desk): void {
  const common = {
    method: 'POST',
    tag: 'Payments',
    permission: 'decide_payments',
    agents: 'none',
  } as const
  twoPersonRoute(api, {
    ...common,
    url: '/payments/:payment_id/credit',
    summary: 'Credit a payment to an order or to a wallet',
    schema: { params: PaymentParams, body: CreditRequest, response: PaymentDetail },
    approval: {
      action: 'credit_payment',
      repeats: 'checked',
      view: async ({ operator, params, body }) => {
        const payment = await paymentNamed(desk, params.payment_id)
        const to = await destination(desk, operator, body)
        if (payment.agentId !== null && payment.agentId !== to.agentId) throw ofAnotherAgent()
        const after = { state: 'credited', txn_id: body.txn_id ?? null, wallet: body.agent ?? null }
        return { ...viewOf(payment, after), agentId: to.agentId }
      },
    },
    handler: async ({ operator, params, body }) => {
      const { payment_id } = params
      const payment = await paymentNamed(desk, payment_id)
      const to = await destination(desk, operator, body)
      const entry = {
        ...auditEntry(operator, 'credit_payment', payment, body.reason),
        agentId: to.agentId,
      }
      const reason = `Payment ${payment_id}: ${body.reason}`
      await audited(
        desk.pool,
        desk.now,
        entry,
        async () => {
          // A provider may give the same id to payments of two agents; the decision must be for the one
          // shown.
          if (payment.agentId !== null && payment.agentId !== to.agentId) throw ofAnotherAgent()
          const { changed } = await creditPayment(desk, payment_id, to, reason)
          if (!changed) throw decidedMeanwhile()
        },
        () => ({ state: 'credited', txn_id: to.orderId && txnId(to.agentId, to.orderId) }),
      )
      return paymentDetail(desk, operator, payment_id)
    },
  })

  twoPersonRoute(api, {
    ...common,
    url: '/payments/:payment_id/return',
    summary: 'Say that a payment was given back, and how',
    schema: { params: PaymentParams, body: ReturnRequest, response: PaymentDetail },
    approval: {
      action: 'return_payment',
      repeats: 'checked',
      view: async ({ params, body }) =>
        viewOf(await paymentNamed(desk, params.payment_id), {
          state: 'returned',
          evidence: evidenceIn(body),
        }),
    },
    handler: async ({ operator, params, body }) => {
      const { payment_id } = params
      const payment = await paymentNamed(desk, payment_id)
      const entry = auditEntry(operator, 'return_payment', payment, body.reason)
      await audited(
        desk.pool,
        desk.now,
        entry,
        async () => {
          if (payment.state !== 'waiting') throw decidedMeanwhile()
          const { changed } = await returnPayment(
            desk,
            payment_id,
            evidenceIn(body),
            payment.agentId,
          )
          if (!changed) throw decidedMeanwhile()
        },
        () => ({ state: 'returned', evidence: evidenceIn(body) }),
      )
      return paymentDetail(desk, operator, payment_id)
    },
  })
}

function dismissRoute(api: OperatorApi, desk: Desk): void {
  twoPersonRoute(api, {
    method: 'POST',
    tag: 'Payments',
    permission: 'decide_payments',
    agents: 'none',
    url: '/payments/:payment_id/dismiss',
    summary: 'Say that what was reported is not money, and what shows it',
    schema: { params: PaymentParams, body: DismissRequest, response: PaymentDetail },
    approval: {
      action: 'dismiss_payment',
      repeats: 'checked',
      view: async ({ params, body }) =>
        viewOf(await paymentNamed(desk, params.payment_id), {
          state: 'dismissed',
          evidence: evidenceIn(body),
        }),
    },
    handler: async ({ operator, params, body }) => {
      const { payment_id } = params
      const payment = await paymentNamed(desk, payment_id)
      await audited(
        desk.pool,
        desk.now,
        auditEntry(operator, 'dismiss_payment', payment, body.reason),
        async () => {
          if (payment.state !== 'waiting') throw decidedMeanwhile()
          const { changed } = await dismissPayment(desk, payment_id, evidenceIn(body))
          if (!changed) throw decidedMeanwhile()
        },
        () => ({ state: 'dismissed', evidence: evidenceIn(body) }),
      )
      return paymentDetail(desk, operator, payment_id)
    },
  })
}

function noteRoutes(api: OperatorApi, desk: Desk): void {
  const common = {
    method: 'POST',
    tag: 'Payments',
    permission: 'decide_payments',
    agents: 'none',
    withoutCode: 'says who looks into it and what was found, and changes no money',
  } as const
  operatorRoute(api, {
    ...common,
    url: '/payments/:payment_id/assign',
    summary: 'Say who looks into a payment',
    schema: { params: PaymentParams, body: AssignRequest, response: PaymentDetail },
    handler: async ({ operator, params, body }) => {
      const payment = await paymentNamed(desk, params.payment_id)
      const assignee = typeof body.assignee === 'string' ? body.assignee.toLowerCase() : null
      if (assignee !== null && !(await mayDecidePayments(desk.pool, assignee))) {
        const message = 'must be the address of a user who may decide on payments'
        throw invalidRequest([{ field: 'assignee', message }])
      }
      const entry = auditEntry(operator, 'assign_payment', payment, null)
      const note = { author: operator.email, assigns: true, assignee, note: null }
      await audited(
        desk.pool,
        desk.now,
        entry,
        async () => {
          const assigned = { ...note, at: desk.now() }
          const { paymentId } = payment
          const other = await writePaymentNote(desk.pool, paymentId, assigned, body.instead_of)
          if (other) throw assignedMeanwhile(other.assignee)
        },
        () => ({ assignee }),
      )
      return paymentDetail(desk, operator, payment.paymentId)
    },
  })

  operatorRoute(api, {
    ...common,
    url: '/payments/:payment_id/note',
    summary: 'Note what was found out about a payment',
    schema: { params: PaymentParams, body: NoteRequest, response: PaymentDetail },
    handler: async ({ operator, params, body }) => {
      const payment = await paymentNamed(desk, params.payment_id)
      const entry = auditEntry(operator, 'note_payment', payment, null)
      const note = { author: operator.email, assigns: false, assignee: null, note: body.note }
      await audited(
        desk.pool,
        desk.now,
        entry,
        () => writePaymentNote(desk.pool, payment.paymentId, { ...note, at: desk.now() }),
        () => ({ note: body.note }),
      )
      return paymentDetail(desk, operator, payment.paymentId)
    },
  })
}

async function paymentDetail(desk: Desk, operator: Operator, paymentId: string): Promise<string> {
  const payment = await paymentNamed(desk, paymentId)
  const agents = await agentsById(desk)
  const candidates =
    payment.state === 'waiting'
      ? await possibleOrders(desk.pool, payment, [...agents.values()])
      : []
  const contradicted = payment.contradicts && (await findPayment(desk.pool, payment.contradicts))
  return jsonText({
    payment: paymentView(payment, agents, operator),
    contradicted: contradicted ? paymentView(contradicted, agents, operator) : null,
    candidates: candidates.flatMap(({ order, because, whyNot }) => {
      const agent = agents.get(order.agentId)
      if (!agent) return []
      const shown = orderSummary(order, agent, operator)
      return { order: shown, because, allowed: whyNot === null, why_not: whyNot }
    }),
    decision: payment.state === 'waiting' ? null : await decisionOn(desk, agents, payment),
    notes: (await readPaymentNotes(desk.pool, paymentId)).map(({ at, author, assignee, note }) => ({
      at,
      by: author,
      assignee,
      note,
    })),
  })
}

async function decisionOn(desk: Desk, agents: Map<bigint, Agent>, payment: FoundPayment) {
  const decision = await findDecision(desk.pool, payment.paymentId)
  if (!decision) return null
  const { at, action, by, approvedBy, reason, txnId: txn_id, walletOf } = decision
  const evidence = decision.evidence ?? payment.evidence
  const wallet = walletOf === null ? null : (agents.get(walletOf)?.appId ?? null)
  return { at, action, by, approved_by: approvedBy, reason, evidence, txn_id, wallet }
}

export async function paymentNamed(desk: Desk, paymentId: string): Promise<FoundPayment> {
  const payment = await findPayment(desk.pool, paymentId)
  if (!payment) throw new Problem('not_found', 'There is no such payment.')
  return payment
}

export async function destination(
  desk: Desk,
  operator: Operator,
  body: { txn_id?: string; agent?: string },
): Promise<{ agentId: bigint; orderId: string | null }> {
  if ((body.txn_id === undefined) === (body.agent === undefined)) {
    const message = 'must be given, or agent: one of them says where it goes'
    throw invalidRequest([{ field: 'txn_id', message }])
  }
  if (body.txn_id === undefined) {
    const { agentId } = await agentNamed(desk.pool, operator, body.agent ?? '')
    return { agentId, orderId: null }
  }
  const { order } = await orderNamed(desk.pool, operator, body.txn_id)
  return { agentId: order.agentId, orderId: order.orderId }
}

/** One text is enough: the reason says what shows it. */
function evidenceIn({ evidence, reason }: { evidence?: string; reason: string }): string {
  return evidence ?? reason
}

export function auditEntry(
  operator: Operator,
  action: string,
  payment: FoundPayment,
  reason: string | null,
) {
  const { paymentId: id, agentId, state, why, assignee } = payment
  return {
    operator,
    action,
    subject: { kind: 'payment', id },
    agentId,
    before: { state, why, assignee },
    reason,
  }
}

/** What a decision on a payment would change, for who approves it. */
function viewOf(payment: FoundPayment, after: object): ActionView {
  const { paymentId: id, agentId, state, why, amountMinor: minor, currency } = payment
  if (state !== 'waiting') throw decidedMeanwhile()
  const shown = { state, why, amount: exact(minor, currency), currency }
  const subject = { kind: 'payment', id }
  return { subject, agentId, amount: { minor, currency }, before: shown, after }
}

export function ofAnotherAgent(): Problem {
  return new Problem('invalid_transition', 'The payment belongs to another agent.')
}

function decidedMeanwhile(): Problem {
  return new Problem(
    'changed_meanwhile',
    'Somebody has already decided on this payment. Read it again.',
  )
}

function assignedMeanwhile(assignee: string | null): Problem {
  const detail = assignee
    ? `${assignee} is looking into it now. Talk to them first.`
    : 'Nobody is looking into it any more. Read it again.'
  return new Problem('changed_meanwhile', detail)
}

export async function agentsById(desk: Desk): Promise<Map<bigint, Agent>> {
  return new Map((await listAgents(desk.pool)).map((agent) => [agent.agentId, agent]))
}

export function paymentView(payment: FoundPayment, agents: Map<bigint, Agent>, operator: Operator) {
  const agent = payment.agentId === null ? undefined : agents.get(payment.agentId)
  const { payer } = payment
  const showsPersons = seesPersons(operator)
  const shown = (text: string | null, mask: (text: string) => string) =>
    text === null || showsPersons ? text : mask(text)
  return {
    payment_id: payment.paymentId,
    app_id: agent?.appId ?? null,
    agent_name: agent?.name ?? null,
    txn_id:
      payment.agentId !== null && payment.orderId !== null
        ? txnId(payment.agentId, payment.orderId)
        : null,
    state: payment.state,
    why: payment.why,
    credited_to: payment.creditedTo,
    amount: exact(payment.amountMinor, payment.currency),
    currency: payment.currency,
    paid_at: payment.paidAt,
    reported_at: payment.reportedAt,
    reference: shown(payment.reference, () => notShown),
    payer: payer && {
      account_no: shown(payer.accountNo, maskedNumber),
      account_name: shown(payer.accountName, maskedName),
      bank_code: payer.bankCode,
    },
    contradicts: payment.contradicts,
    evidence: payment.evidence,
    assignee: payment.assignee,
  }
}

function placeIn(cursor: string): { reportedAt: Date; paymentId: string } {
  const [time = '', ...rest] = cursor.split(' ')
  const reportedAt = parseIsoTime(time)
  if (!reportedAt || rest.length === 0) throw badCursor()
  return { reportedAt, paymentId: rest.join(' ') }
}
