import type { Agent } from '../agents/agent.ts'
import { codesIn } from '../bank-accounts/find-codes.ts'
import type { Pool } from '../db/pool.ts'
import { txnId } from '../lib/ids.ts'
import { minorPerUnit } from '../lib/money.ts'
import { type FoundOrder, findOrdersById, searchOrders } from '../orders/search-orders.ts'
import { compareNames } from '../statements/names.ts'
import { codesOfMovement } from './match-movements.ts'
import type { FoundPayment } from './search-payments.ts'

export interface PossibleOrder {
  order: FoundOrder
  because: string
  /** Why the payment cannot be credited to this order. */
  whyNot: string | null
}

/** How long before the payment a possible order may have been created. */
const lookBackMs = 48 * 3_600_000
const most = 12

/** Orders that a payment may be meant for, likeliest first. */
export async function possibleOrders(
  pool: Pool,
  payment: FoundPayment,
  agents: readonly Agent[],
): Promise<PossibleOrder[]> {
  const whose = agents.filter(
    ({ agentId, currency }) =>
      currency === payment.currency && (payment.agentId ?? agentId) === agentId,
  )
  const named = await namedOrders(pool, payment, whose)
  const expected = await expectedOrders(pool, payment, whose)
  const alike = await alikeOrders(pool, payment, whose)
  const seen = new Set<string>()
  return [...named, ...expected, ...alike]
    .filter(({ order }) => !seen.has(order.orderId) && seen.add(order.orderId))
    .slice(0, most)
}

async function namedOrders(
  pool: Pool,
  payment: FoundPayment,
  agents: Agent[],
): Promise<PossibleOrder[]> {
  const id = payment.orderId ?? payment.reference?.trim()
  if (!id) return []
  const found = await findOrdersById(pool, { agents }, id, [])
  const because = payment.orderId ? 'It came in for this order.' : 'Its reference names this order.'
  return found.map((order) => possibleOrder(order, because))
}

/** Deposits whose payment code is in the text, then those that were to be paid with exactly this amount there. */
async function expectedOrders(
  pool: Pool,
  payment: FoundPayment,
  agents: Agent[],
): Promise<PossibleOrder[]> {
  const [account = '', movementId = ''] = payment.paymentId.split(':')
  const isMovement = /^[0-9a-f]{32}$/.test(movementId)
  const texts = [payment.reference ?? '']
  const codes = [
    ...(await codesIn(pool, texts))(texts),
    ...(isMovement ? await codesOfMovement(pool, account, movementId) : []),
  ]
  const { rows } = await pool.query<{ agent_id: bigint; order_id: string; is_named: boolean }>(
    `(select agent_id, order_id, true as is_named from expected_deposits
      where code = any($1::text[]) limit $4)
     union all
     (select agent_id, order_id, false from expected_deposits
      where account = $2 and payable = $3 and by_amount order by created_at desc limit $4)`,
    [codes, account, payment.amountMinor, most],
  )
  const found = await Promise.all(
    rows.map(async ({ agent_id, order_id, is_named }) => {
      const because = is_named
        ? 'Its text has the payment code of this order.'
        : 'This order was to be paid with exactly this amount, at this account.'
      const orders = await findOrdersById(pool, { agents }, txnId(agent_id, order_id), [])
      return orders.map((order) => possibleOrder(order, because))
    }),
  )
  return found.flat()
}

/** Deposits of about this amount from the preceding days: those of the same payer first, then the nearest in time. */
async function alikeOrders(
  pool: Pool,
  payment: FoundPayment,
  agents: Agent[],
): Promise<PossibleOrder[]> {
  const units = payment.amountMinor / minorPerUnit(payment.currency)
  const { orders } = await searchOrders(
    pool,
    {
      agents,
      kind: 'deposit',
      from: new Date(payment.paidAt.getTime() - lookBackMs),
      to: lastCreation(payment),
      minAmount: (units * 95n) / 100n,
      maxAmount: (units * 105n) / 100n + 1n,
    },
    { after: undefined, limit: 200 },
  )
  const scored = orders.map((order) => {
    const { accountNo = null, accountName = null } = payment.payer ?? {}
    const isSamePayer = accountNo !== null && accountNo === order.accountNo
    // A name alone names nobody: many people share one, and banks cut them.
    const name = compareNames(accountName ?? '', order.accountName)
    const isSameAmount = payment.amountMinor === (order.payableMinor ?? order.amountMinor)
    const score =
      (isSamePayer ? 8 : 0) +
      (name === 'same' ? 4 : name === 'different' ? -1 : 0) +
      (isSameAmount ? 4 : 0) +
      (order.status === 'PAID' ? 0 : 2)
    const apartMs = Math.abs(payment.paidAt.getTime() - order.createdAt.getTime())
    const because = reasonOf(isSamePayer, name === 'same', isSameAmount)
    return { score, apartMs, each: possibleOrder(order, because) }
  })
  return scored
    .filter(({ score }) => score >= 5)
    .sort((a, b) => b.score - a.score || a.apartMs - b.apartMs)
    .map(({ each }) => each)
}

/** Some banks only tell the day: then any order of that day that was there when the money was reported. */
function lastCreation({ paidAt, reportedAt }: FoundPayment): Date {
  const endOfDayMs = paidAt.getTime() + 24 * 3_600_000
  return new Date(Math.max(paidAt.getTime(), Math.min(reportedAt.getTime(), endOfDayMs)) + 60_000)
}

function reasonOf(isSamePayer: boolean, isSameName: boolean, isSameAmount: boolean): string {
  const who = isSamePayer
    ? 'The same account was to pay'
    : isSameName
      ? 'Somebody of this name was to pay'
      : 'Somebody was to pay'
  return `${who} ${isSameAmount ? 'this amount' : 'about this amount'} around that time.`
}

function possibleOrder(order: FoundOrder, because: string): PossibleOrder {
  const isOpen = order.kind === 'deposit' && order.status !== 'PAID'
  const whyNot = isOpen
    ? null
    : `A payment is not credited to a ${order.kind} that is ${order.status}.`
  return { order, because, whyNot }
}
