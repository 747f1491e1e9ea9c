import type { Agent } from '../agents/agent.ts'
import type { Order, OrderKind } from '../ledger/book.ts'
import { isRepeat, refIdConflictDetail } from '../ledger/decide.ts'
import { findBank } from '../lib/banks.ts'
import { feeOf, parseFeeRule } from '../lib/fee.ts'
import { newOrderId, txnId } from '../lib/ids.ts'
import { toMinor } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Provider } from '../providers/provider.ts'
import { depositAnswer } from './deposit-answer.ts'
import type { Created, Desk, OrderRequest } from './desk.ts'
import { findOrderByRefId } from './find-order.ts'

/** Takes a deposit order: durable, with a way to pay, before it is answered. */
export async function createDeposit(
  desk: Desk,
  agent: Agent,
  request: OrderRequest,
): Promise<Created> {
  const provider = desk.provider
  const order = newOrder(agent, 'deposit', request, desk.now())
  const refusal = refusalOf(agent, order, request, provider)
  if (refusal || !provider) return onlyIfRepeat(desk, order, refusal)
  const instructions = provider.depositInstructions({
    txnId: txnId(order.agentId, order.orderId),
    amountMinor: order.amountMinor,
    currency: agent.currency,
    expiresAt: order.expiresAt ?? order.createdAt,
    payer: order,
    extraParams: order.extraParams,
  })
  if (!instructions) throw new Error('the provider gives no instructions')
  const answer = depositAnswer(desk, agent, order, instructions)
  return create(desk, { ...order, answer })
}

/** Takes a withdraw order: amount and fee are held from the wallet before it is answered. */
export async function createWithdraw(
  desk: Desk,
  agent: Agent,
  request: OrderRequest,
): Promise<Created> {
  const order = newOrder(agent, 'withdraw', request, desk.now())
  const refusal = refusalOf(agent, order, request, desk.provider)
  if (refusal) return onlyIfRepeat(desk, order, refusal)
  return create(desk, order)
}

async function create(desk: Desk, order: Order): Promise<Created> {
  const done = await desk.teller.do({
    type: 'create',
    agentId: order.agentId,
    at: order.createdAt,
    order,
  })
  if (!done.order) throw new Error('a creation was answered without an order')
  return { isNew: done.changed, answer: done.order.answer }
}

function newOrder(agent: Agent, kind: OrderKind, request: OrderRequest, now: Date): Order {
  const amountMinor = toMinor(request.amount, agent.currency)
  const feeRule = kind === 'deposit' ? agent.depositFee : agent.withdrawFee
  const rule = parseFeeRule(feeRule, agent.currency)
  if (typeof rule === 'string') throw new Error(`agent ${agent.agentId}: ${rule}`)
  return {
    agentId: agent.agentId,
    orderId: newOrderId(now),
    kind,
    refId: request.refId,
    userId: request.userId,
    amountMinor,
    feeMinor: feeOf(amountMinor, rule),
    feeRule,
    accountName: request.accountName,
    accountNo: request.accountNo,
    bankCode: findBank(agent.currency, request.bankCode)?.code ?? '',
    extraParams: request.extraParams,
    status: 'WAITING',
    version: 1,
    answer: '',
    createdAt: now,
    expiresAt: kind === 'deposit' ? new Date(now.getTime() + agent.expiresInS * 1000) : null,
    completedAt: null,
    paidAmountMinor: null,
    paidFeeMinor: null,
    provider: null,
    providerRef: null,
    handedOverAt: null,
  }
}

/** Why this agent may not have this order, in the order in which the door looks. */
function refusalOf(
  agent: Agent,
  order: Order,
  request: OrderRequest,
  provider: Provider | undefined,
): Problem | undefined {
  if (agent.status === 'suspended') {
    return new Problem('agent_suspended', 'The agent may not create orders; ask the operator.')
  }
  const [min, max] =
    order.kind === 'deposit'
      ? [agent.minDeposit, agent.maxDeposit]
      : [agent.minWithdraw, agent.maxWithdraw]
  if (request.amount < min || request.amount > max) {
    return new Problem(
      'amount_out_of_range',
      `A ${order.kind} of this agent must be from ${min} to ${max}.`,
    )
  }
  if (order.kind === 'deposit' && order.feeMinor >= order.amountMinor) {
    return new Problem('amount_out_of_range', 'The fee would eat the whole amount.')
  }
  const bank = findBank(agent.currency, request.bankCode)
  if (!bank) {
    return new Problem(
      'unknown_bank_code',
      `No ${agent.currency} bank has this code; GET /payment/banks lists those that can be used.`,
    )
  }
  if (bank.closed) {
    return new Problem('unknown_bank_code', `${bank.name} (${bank.code}) is closed.`)
  }
  if (!provider) {
    return new Problem('provider_unavailable', 'No payment provider is set up yet.', {
      retryAfterS: 60,
    })
  }
  return undefined
}

/** A repeat is answered as the first time, even where a new order would be refused. */
async function onlyIfRepeat(
  desk: Desk,
  order: Order,
  refusal: Problem | undefined,
): Promise<Created> {
  const first = await findOrderByRefId(desk.pool, order.agentId, order.refId)
  if (!first) throw refusal ?? new Error('an order was held back without a reason')
  if (isRepeat(first, order)) return { isNew: false, answer: first.answer }
  throw new Problem('ref_id_conflict', refIdConflictDetail)
}
