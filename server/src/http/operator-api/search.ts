import type { Agent } from '../../agents/agent.ts'
import { txnId } from '../../lib/ids.ts'
import { printedMoney } from '../../lib/money.ts'
import type { Operator } from '../../operators/operator.ts'
import type { FoundOrder } from '../../orders/search-orders.ts'
import { type NamedPayment, searchAnything } from '../../reports/search-anything.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
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
        agents,
        isHouse: !isOwn,
        byPerson: seesPersons(operator),
        providers: desk.providers.all.map(({ name }) => name),
      })
      const nameOf = (agentId: bigint | null) =>
        agentId === null ? 'nobody’s yet' : (byId.get(agentId)?.name ?? '')
      return {
        hits: [
          ...(isOwn ? [] : found.agents.map(agentHit)),
          ...found.orders.map((order) => orderHit(order, nameOf(order.agentId), operator)),
          // Payments are the operator's business: an agent sees the orders that they paid.
          ...(isOwn
            ? []
            : found.payments.map((each) => paymentHit(each, nameOf(each.agentId), operator))),
          ...found.callbacks.map(({ agentId, seq, status, state }) => ({
            kind: 'callback',
            id: byId.get(agentId)?.appId ?? '',
            seq: Number(seq),
            title: `Callback #${seq}`,
            says: `${nameOf(agentId)}, ${status}, ${state}`,
            at: null,
          })),
        ],
      }
    },
  })
}

function agentHit({ appId, name, currency, status }: Agent) {
  return {
    ...{ kind: 'agent', id: appId, seq: null, title: name },
    ...{ says: `Agent, ${currency}, ${status}`, at: null },
  }
}

function orderHit(order: FoundOrder, agentName: string, operator: Operator) {
  const name = seesPersons(operator) ? order.accountName : maskedName(order.accountName)
  const kind = order.kind === 'deposit' ? 'Deposit' : 'Withdrawal'
  return {
    kind: 'order',
    id: txnId(order.agentId, order.orderId),
    seq: null,
    title: `${kind} ${order.refId}, ${printedMoney(order.amountMinor, order.currency)} ${order.currency}`,
    says: `${order.status}, ${name}, user ${order.userId}, ${agentName}`,
    at: order.createdAt,
  }
}

function paymentHit(payment: NamedPayment, agentName: string, operator: Operator) {
  const isShown = seesPersons(operator)
  const { payerName, payerAccountNo, amountMinor, currency } = payment
  const payer = [
    payerName && (isShown ? payerName : maskedName(payerName)),
    payerAccountNo && (isShown ? payerAccountNo : maskedNumber(payerAccountNo)),
  ]
  return {
    kind: 'payment',
    id: payment.paymentId,
    seq: null,
    title: `Payment of ${printedMoney(amountMinor, currency)} ${currency}`,
    says: [...payer.filter((each) => each !== null), payment.state, agentName].join(', '),
    at: null,
  }
}
