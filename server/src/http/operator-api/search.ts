import type { Agent } from '../../agents/agent.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import type { Operator } from '../../operators/operator.ts'
import type { FoundOrder } from '../../orders/search-orders.ts'
import { type NamedPayment, searchAnything } from '../../reports/search-anything.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import { maskedName, maskedNumber, seesPersons } from './personal-data.ts'
import { SearchQuery, SearchView } from './schemas/search.ts'
import { agentsInScope } from './scope.ts'

/** `GET /search`: finds anything by an id, a name, a number or an amount. */
export function searchRoute(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/search',
    summary: 'Find orders, payments, callbacks and agents by anything that is known of them',
    tag: 'Home',
    permission: 'view',
    agents: 'own',
    schema: { querystring: SearchQuery, response: SearchView },
    handler: async ({ operator, query }) => {
      const agents = await agentsInScope(desk.pool, operator)
      const byId = new Map(agents.map((agent) => [agent.agentId, agent]))
      const isOwn = operator.agentId !== null
      const found = await searchAnything(desk.pool, {
        text: query.q,
        amount: query.amount ?? query.q.trim().replaceAll(',', ''),
        agents,
        isHouse: !isOwn,
        byPerson: seesPersons(operator),
        providers: desk.providers.all.map(({ name }) => name),
      })
      const nameOf = (agentId: bigint | null) =>
        agentId === null ? null : (byId.get(agentId)?.name ?? null)
      return jsonText({
        hits: [
          ...(isOwn ? [] : found.agents.map(agentHit)),
          ...found.orders.map((order) => orderHit(order, nameOf(order.agentId), operator)),
          // Payments are the operator's business: an agent sees the orders that they paid.
          ...(isOwn
            ? []
            : found.payments.map((each) => paymentHit(each, nameOf(each.agentId), operator))),
          ...found.callbacks.map(({ agentId, seq, status, state }) => ({
            ...nothing,
            kind: 'callback',
            id: byId.get(agentId)?.appId ?? '',
            seq,
            agent_name: nameOf(agentId),
            status,
            state,
          })),
        ],
        searched_to: found.searchedTo,
      })
    },
  })
}

/** What no kind of hit has all of. */
const nothing = {
  ...{ seq: null, agent_name: null, order_kind: null, ref_id: null, user_id: null, person: null },
  ...{ amount: null, currency: null, status: null, state: null, at: null },
}

function agentHit({ appId, name, currency, status }: Agent) {
  return { ...nothing, kind: 'agent', id: appId, agent_name: name, currency, state: status }
}

function orderHit(order: FoundOrder, agent_name: string | null, operator: Operator) {
  const { kind, refId, userId, accountName, amountMinor, currency, status } = order
  return {
    ...nothing,
    kind: 'order',
    id: txnId(order.agentId, order.orderId),
    ...{ agent_name, order_kind: kind, ref_id: refId, user_id: userId, currency, status },
    person: seesPersons(operator) ? accountName : maskedName(accountName),
    amount: exact(amountMinor, currency),
    at: order.createdAt,
  }
}

function paymentHit(payment: NamedPayment, agent_name: string | null, operator: Operator) {
  const isShown = seesPersons(operator)
  const { payerName, payerAccountNo, amountMinor, currency, state } = payment
  const payer = [
    payerName && (isShown ? payerName : maskedName(payerName)),
    payerAccountNo && (isShown ? payerAccountNo : maskedNumber(payerAccountNo)),
  ].filter((each) => each !== null)
  return {
    ...nothing,
    ...{ kind: 'payment', id: payment.paymentId, agent_name, currency, state },
    person: payer.length > 0 ? payer.join(' ') : null,
    amount: exact(amountMinor, currency),
  }
}
