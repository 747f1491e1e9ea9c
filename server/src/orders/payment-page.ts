import type { Agent } from '../agents/agent.ts'
import { type AgentBrand, findBrand } from '../agents/agent-brand.ts'
import { findAgentById } from '../agents/find-agent.ts'
import type { Pool } from '../db/pool.ts'
import type { Order, Payment } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { txnId } from '../lib/ids.ts'
import type { Desk } from '../teller/desk.ts'

/** What the payment page shows the payer. */
export type PageState =
  | 'waiting'
  /** Money has arrived and awaits a decision, for a reason that does not concern the payer. */
  | 'received'
  | 'paid'
  | 'expired'
  | 'failed'
  | 'void'
  | 'paid_late'
  | 'wrong_amount'
  /** The order was paid, and the bank took the payment back. */
  | 'taken_back'
  /** The incoming money was returned to the payer. */
  | 'returned'

/** No further change is expected in these states. */
const finalStates: readonly PageState[] = ['paid', 'failed', 'void', 'taken_back', 'returned']

export function isFinal(state: PageState): boolean {
  return finalStates.includes(state)
}

export interface PaymentPage {
  order: Order
  agent: Agent
  brand: AgentBrand
  state: PageState
  remainingS: number
  /** The payment that the state tells of; undefined if it is the order's own, or there is none. */
  about: UncreditedPayment | undefined
  /** Payments that arrived beside it, newest first: the payer hears of all their money. */
  others: UncreditedPayment[]
}

type UncreditedPayment = Pick<Payment, 'amountMinor' | 'state' | 'why'>

/** Everything the page of a deposit order shows; undefined if there is no such order. */
export async function readPaymentPage(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  { agentId, orderId }: OrderName,
): Promise<PaymentPage | undefined> {
  const [order, agent, brand, uncredited] = await Promise.all([
    findOrder(pool, agentId, orderId),
    findAgentById(pool, agentId),
    findBrand(pool, agentId),
    uncreditedPayments(pool, agentId, orderId),
  ])
  if (order?.kind !== 'deposit' || !agent) return undefined
  return { order, agent, brand, ...stateOf(order, uncredited, now()) }
}

export interface OrderName {
  agentId: bigint
  orderId: string
}

type MoneyNow = Pick<Payment, 'state' | 'why'>

export interface StateNow<Money extends MoneyNow = MoneyNow> {
  state: PageState
  remainingS: number
  about: Money | undefined
  others: Money[]
}

/** Reads the page states of many orders with one statement, keyed by txn id. */
export async function readPageStates(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  names: readonly OrderName[],
): Promise<Map<string, StateNow>> {
  const { rows } = await pool.query<{
    agent_id: bigint
    order_id: string
    status: Order['status']
    expires_at: Date | null
    paid_amount: bigint | null
    uncredited_state: Payment['state'] | null
    uncredited_why: Payment['why']
  }>({
    text: `select o.agent_id, o.order_id, o.status, o.expires_at, o.paid_amount,
             p.state as uncredited_state, p.why as uncredited_why
           from unnest($1::bigint[], $2::uuid[]) as watched (agent_id, order_id)
           join orders o on o.agent_id = watched.agent_id and o.order_id = watched.order_id
           left join payments p on p.agent_id = o.agent_id and p.order_id = o.order_id
             and p.credited_to is distinct from 'order'
           where o.kind = 'deposit'
           order by p.reported_at desc nulls last, p.payment_id`,
    values: [names.map(({ agentId }) => agentId), names.map(({ orderId }) => orderId)],
  })
  const at = now()
  const byOrder = new Map<string, typeof rows>()
  for (const row of rows) {
    const name = txnId(row.agent_id, row.order_id)
    byOrder.set(name, [...(byOrder.get(name) ?? []), row])
  }
  const states = new Map<string, StateNow>()
  for (const [name, [first, ...more]] of byOrder) {
    if (!first) continue
    const uncredited = [first, ...more].flatMap(
      ({ uncredited_state: state, uncredited_why: why }) =>
        state === null ? [] : [{ state, why }],
    )
    const { status, expires_at: expiresAt, paid_amount: paidAmountMinor } = first
    states.set(name, stateOf({ status, expiresAt, paidAmountMinor }, uncredited, at))
  }
  return states
}

/**
 * What the order's state and the incoming money mean to the payer. An order whose time is up shows as expired
 * at once, before that is recorded, so that the payer does not start to pay.
 */
export function stateOf<Money extends MoneyNow>(
  order: Pick<Order, 'status' | 'expiresAt' | 'paidAmountMinor'>,
  uncredited: readonly Money[],
  now: Date,
): StateNow<Money> {
  const leftMs = (order.expiresAt?.getTime() ?? 0) - now.getTime()
  const remainingS = order.status === 'WAITING' ? Math.max(0, Math.ceil(leftMs / 1000)) : 0
  const told = (state: PageState, about?: Money): StateNow<Money> => ({
    state,
    remainingS,
    about,
    others: uncredited.filter((payment) => payment !== about),
  })
  if (order.status === 'PAID') return told('paid')
  const waiting = uncredited.find(({ state, why }) => state === 'waiting' && why !== 'duplicate')
  if (waiting) return told(stateOfMoney(waiting.why), waiting)
  // Credited to the agent, though not through this order: the payer owes nothing more.
  const credited = uncredited.find(({ state, why }) => state === 'credited' && why !== 'duplicate')
  if (credited) return told('received', credited)
  if (order.status === 'VOID' && order.paidAmountMinor !== null) return told('taken_back')
  const returned = uncredited.find(({ state }) => state === 'returned')
  if (returned && order.status !== 'WAITING') return told('returned', returned)
  if (order.status === 'WAITING') return told(leftMs > 0 ? 'waiting' : 'expired')
  if (order.status === 'FAILED') return told('failed')
  return told(order.status === 'EXPIRED' ? 'expired' : 'void')
}

function stateOfMoney(why: Payment['why']): PageState {
  if (why === 'late') return 'paid_late'
  return why === 'wrong_amount' ? 'wrong_amount' : 'received'
}

async function uncreditedPayments(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<UncreditedPayment[]> {
  const { rows } = await pool.query<{
    amount: bigint
    state: Payment['state']
    why: Payment['why']
  }>({
    text: `select amount, state, why from payments
           where agent_id = $1 and order_id = $2 and credited_to is distinct from 'order'
           order by reported_at desc, payment_id`,
    values: [agentId, orderId],
  })
  return rows.map(({ amount, state, why }) => ({ amountMinor: amount, state, why }))
}
