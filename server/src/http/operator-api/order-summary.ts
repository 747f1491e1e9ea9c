import type { Agent } from '../../agents/agent.ts'
import { txnId } from '../../lib/ids.ts'
import { Exact } from '../../lib/json-text.ts'
import { type Currency, decimalText } from '../../lib/money.ts'
import type { Operator } from '../../operators/operator.ts'
import type { FoundOrder } from '../../orders/search-orders.ts'
import { maskedName, maskedNumber, seesPersons } from './personal-data.ts'

export const exact = (minor: bigint, currency: Currency) => new Exact(decimalText(minor, currency))

export const exactOrNull = (minor: bigint | null, currency: Currency) =>
  minor === null ? null : exact(minor, currency)

/** An order as a list shows it to this operator. */
export function orderSummary(order: FoundOrder, agent: Agent, operator: Operator) {
  const { currency } = order
  const showsPersons = seesPersons(operator)
  const isAgents = operator.agentId !== null
  return {
    txn_id: txnId(order.agentId, order.orderId),
    ref_id: order.refId,
    app_id: agent.appId,
    agent_name: agent.name,
    kind: order.kind,
    status: order.status,
    user_id: order.userId,
    amount: exact(order.amountMinor, currency),
    payable: exactOrNull(order.payableMinor, currency),
    fee: exact(order.feeMinor, currency),
    currency,
    paid_amount: exactOrNull(order.paidAmountMinor, currency),
    account_name: showsPersons ? order.accountName : maskedName(order.accountName),
    account_no: showsPersons ? order.accountNo : maskedNumber(order.accountNo),
    bank_code: order.bankCode,
    provider: isAgents ? null : order.provider,
    provider_ref: isAgents ? null : order.providerRef,
    created_at: order.createdAt,
    expires_at: order.expiresAt,
    completed_at: order.completedAt,
  }
}
