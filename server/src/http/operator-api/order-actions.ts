import type { Agent } from '../../agents/agent.ts'
import type { ActionName as ApprovedAction } from '../../approvals/actions.ts'
import { resendCallbacks } from '../../callbacks/resend-callbacks.ts'
import { lastCallbackOf } from '../../callbacks/search-callbacks.ts'
import type { Order } from '../../ledger/book.ts'
import { findBank } from '../../lib/banks.ts'
import { txnId } from '../../lib/ids.ts'
import { decimalText, parseDecimal } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { actOnOrder } from '../../orders/act-on-order.ts'
import { destinationFault } from '../../orders/create-order.ts'
import { type ActionName, actionNames, actionTraits, whyNot } from '../../orders/order-actions.ts'
import { refundDestination, refundOrder, refundsOfDeposit } from '../../orders/refund-order.ts'
import { payoutsOfOrder } from '../../payouts/payouts.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import type { ActionView } from './approvals-desk.ts'
import { resendsOnly } from './callbacks.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { orderDetail, permissionFor } from './order-detail.ts'
import { exact } from './order-summary.ts'
import {
  ActionRequest,
  EvidenceRequest,
  OrderDetail,
  RefundRequest,
  TxnParams,
} from './schemas/orders.ts'
import { orderNamed } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

interface Asked {
  reason: string
  evidence?: string
  amount?: string
  ref?: string
  to?: { account_no: string; account_name: string; bank_code: string }
  version?: number
}

/** `POST /orders/{txn_id}/{action}`: one route per action, with its own permission and requirements. */
export function orderActionRoutes(
  api: OperatorApi,
  desk: Desk,
  wake: (agentIds: bigint[]) => void,
): void {
  for (const name of actionNames) {
    const route = {
      method: 'POST',
      url: `/orders/:txn_id/${name}`,
      summary: `${name} an order`,
      tag: 'Orders',
      permission: permissionFor(name),
      agents: name === 'resend' ? 'own' : 'none',
      ...(name === 'resend' && { withoutCode: resendsOnly }),
      schema: {
        params: TxnParams,
        body: bodyOf(name),
        response: OrderDetail,
      },
      handler: async ({ operator, params, body }: AskedAction) => {
        const { order, agent } = await orderNamed(desk.pool, operator, params.txn_id)
        const after = await act(desk, operator, { order, agent }, name, body)
        if (name === 'resend') wake([order.agentId])
        return orderDetail(desk, operator, after, agent)
      },
    } as const
    const action = byTwo[name]
    if (!action) {
      operatorRoute(api, route)
      continue
    }
    twoPersonRoute(api, {
      ...route,
      approval: {
        action,
        also: ({ to }: Asked) => (to ? ['refund_elsewhere'] : []),
        repeats: name === 'refund' ? 'keyed' : 'checked',
        isDone: async ({ operator, params, body }: AskedAction) => {
          const { order, agent } = await orderNamed(desk.pool, operator, params.txn_id)
          return isRefunded(desk, order, refundAsked(operator, agent, body))
        },
        view: async ({ operator, params, body }: AskedAction) => {
          const { order, agent } = await orderNamed(desk.pool, operator, params.txn_id)
          return viewOf(desk, operator, { order, agent }, name, body)
        },
      },
    })
  }
}

interface AskedAction {
  operator: Operator
  params: { txn_id: string }
  body: Asked
}

/** The actions that move money at a person's word. */
const byTwo: Partial<Record<ActionName, ApprovedAction>> = {
  'mark-paid': 'end_payout',
  'mark-failed': 'end_payout',
  'take-back': 'take_back_order',
  revert: 'take_back_order',
  refund: 'refund_order',
}

/** What an action would change, for who approves it. */
async function viewOf(
  desk: Desk,
  operator: Operator,
  { order, agent }: { order: Order; agent: Agent },
  name: ActionName,
  asked: Asked,
): Promise<ActionView> {
  const { agentId, orderId, status, version, currency } = order
  const refund = name === 'refund' ? refundAsked(operator, agent, asked) : undefined
  await refuseIfNot(desk, order, name, asked)
  const refusal = refund?.elsewhere && destinationFault(agent.currency, refund.elsewhere)
  if (refusal) throw refusal
  const minor = refund?.amountMinor ?? order.amountMinor
  return {
    subject: { kind: 'order', id: txnId(agentId, orderId) },
    agentId,
    amount: { minor, currency },
    before: {
      status,
      version,
      amount: exact(order.amountMinor, currency),
      currency,
      ...(refund && { to: await refundDestination(desk.pool, order) }),
    },
    after: {
      action: name,
      ...(refund && { refunded: exact(minor, currency) }),
      ...(refund && asked.ref !== undefined && { ref: asked.ref }),
      ...(refund?.elsewhere && { to: refund.elsewhere }),
      ...(asked.evidence !== undefined && { evidence: asked.evidence }),
    },
  }
}

/** Refuses what cannot be done to the order now. */
async function refuseIfNot(desk: Desk, order: Order, name: ActionName, asked: Asked) {
  const { agentId, orderId, version } = order
  if (asked.version !== undefined && asked.version !== version) throw changed(order)
  const [attempts, lastSeq, refunds] = await Promise.all([
    order.kind === 'withdraw' ? payoutsOfOrder(desk.pool, agentId, orderId) : [],
    lastCallbackOf(desk.pool, agentId, orderId),
    order.kind === 'deposit' ? refundsOfDeposit(desk.pool, order) : [],
  ])
  const situation = { order, attempt: attempts.at(-1), hasCallback: lastSeq !== undefined }
  const why = whyNot(name, { ...situation, refunds, now: desk.now() })
  if (why !== undefined) throw new Problem('invalid_transition', why)
  return { attempts, lastSeq }
}

/** Performs an action that needs nothing but a reason, as one of several. */
export function actOn(
  desk: Desk,
  operator: Operator,
  named: { order: Order; agent: Agent },
  name: 'resend' | 'cancel',
  reason: string,
): Promise<Order> {
  return act(desk, operator, named, name, { reason })
}

/** Performs the action. The attempt is audited before it is made, and its result afterwards. */
function act(
  desk: Desk,
  operator: Operator,
  { order, agent }: { order: Order; agent: Agent },
  name: ActionName,
  asked: Asked,
): Promise<Order> {
  const { agentId, orderId, status, version } = order
  const refund = name === 'refund' ? refundAsked(operator, agent, asked) : undefined
  return audited(
    desk.pool,
    desk.now,
    {
      operator,
      action: `${name.replace('-', '_')}_order`,
      subject: { kind: 'order', id: txnId(agentId, orderId) },
      agentId,
      before: {
        status,
        version,
        ...(asked.evidence !== undefined && { evidence: asked.evidence }),
        ...(refund && { amount: asked.amount, ref_id: refund.refId }),
        ...(refund?.elsewhere && { to: refund.elsewhere }),
      },
      reason: asked.reason,
    },
    async () => {
      // A refund that is asked for again is there already, and may have left nothing to refund.
      if (refund && (await isRefunded(desk, order, refund))) return order
      const { attempts, lastSeq } = await refuseIfNot(desk, order, name, asked)
      if (refund) {
        const { elsewhere, ...request } = refund
        if (elsewhere && !operator.proposal) {
          throw new Problem('not_permitted', 'A refund to another account takes two people.')
        }
        const { isNew } = await refundOrder(desk, agent, orderId, request, elsewhere)
        // Made by somebody else at the same time.
        if (!isNew) await isRefunded(desk, order, refund)
        return order
      }
      if (name !== 'resend' && name !== 'refund') {
        const done = await actOnOrder(desk, order, attempts, name, asked.evidence ?? asked.reason)
        // The change has already been made, but not by this operator.
        if (!done.changed) throw changed(done.order)
        return done.order
      }
      if (lastSeq !== undefined) {
        await resendCallbacks(desk.pool, { agentId, seq: lastSeq }, desk.now)
      }
      return order
    },
    (after) => ({ status: after.status, version: after.version }),
  )
}

/** Whether the refund was made by an earlier request. Its reference may not stand for another one. */
async function isRefunded(desk: Desk, deposit: Order, asked: RefundAsked): Promise<boolean> {
  const refunds = await refundsOfDeposit(desk.pool, deposit)
  const made = refunds.find(({ refId }) => refId === asked.refId)
  if (!made) return false
  const { accountNo, accountName, bankCode } = asked.elsewhere ?? made
  const isSame =
    made.amountMinor === asked.amountMinor &&
    made.accountNo === accountNo &&
    made.accountName === accountName &&
    made.bankCode === bankCode
  if (!isSame) throw new Problem('ref_id_conflict', 'This ref stands for another refund.')
  return true
}

function bodyOf(name: ActionName) {
  if (name === 'refund') return RefundRequest
  return actionTraits[name].needsEvidence ? EvidenceRequest : ActionRequest
}

type RefundAsked = ReturnType<typeof refundAsked>

/**
 * A refund that an operator asks for. Its reference makes the refId, so that a request whose answer was lost can be
 * repeated. Proposals of earlier releases have none: they are known by their own id.
 */
function refundAsked(operator: Operator, { currency }: Agent, { amount = '', ref, to }: Asked) {
  const id = ref ?? operator.proposal?.id
  if (id === undefined) throw invalidRequest([{ field: 'ref', message: 'is required' }])
  const amountMinor = parseDecimal(amount, currency)
  if (!amountMinor) {
    const message = `must be a positive multiple of ${decimalText(1n, currency)}`
    throw invalidRequest([{ field: 'amount', message }])
  }
  const elsewhere = to && {
    accountNo: to.account_no.replace(/[ -]/g, ''),
    accountName: to.account_name,
    bankCode: findBank(currency, to.bank_code)?.code ?? to.bank_code,
  }
  return { refId: `refund-${id}`, amountMinor, extraParams: null, elsewhere }
}

function changed({ status }: Order): Problem {
  return new Problem(
    'changed_meanwhile',
    `The order has changed since you read it: it is ${status} now. Read it again.`,
  )
}
