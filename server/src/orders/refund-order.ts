import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import { isArchivedRef, noSuchOrder } from '../ledger/archived.ts'
import type { Order, Payer } from '../ledger/book.ts'
import { orderColumns } from '../ledger/book-columns.ts'
import { archivedRefDetail, isRepeat, refIdConflictDetail } from '../ledger/decide.ts'
import { findOrder, findOrderByRefId } from '../ledger/find-order.ts'
import { notRefundable } from '../ledger/refunds.ts'
import { accountNoFault, findBank } from '../lib/banks.ts'
import { isPrintable } from '../lib/printable.ts'
import { Problem } from '../lib/problem.ts'
import type { Created, Desk, RefundRequest } from '../teller/desk.ts'
import { checkExtraParams, create, newOrder, refusalOf } from './create-order.ts'

/**
 * Refunds a deposit, whole or in part: a withdrawal to the payer, under the agent's present terms for
 * withdrawals. The core checks, under the wallet's lock, that not more is refunded than was paid.
 */
export async function refundOrder(
  desk: Desk,
  agent: Agent,
  depositId: string,
  request: RefundRequest,
  /** Another account than the payer's, on which two people decided. */
  elsewhere?: Destination,
): Promise<Created> {
  const { agentId } = agent
  checkExtraParams(desk, 'withdraw', request)
  const first = await findOrderByRefId(desk.pool, agentId, request.refId)
  if (first) {
    if (isRepeat(first, { ...first, ...request, refundOf: depositId })) {
      return { isNew: false, answer: first.answer }
    }
    throw new Problem('ref_id_conflict', refIdConflictDetail)
  }
  if (await isArchivedRef(desk.pool, agentId, request.refId)) {
    throw new Problem('ref_id_conflict', archivedRefDetail)
  }
  const find = async () => {
    const deposit = await findOrder(desk.pool, agentId, depositId)
    if (!deposit) throw await noSuchOrder(desk.pool, agentId, { orderId: depositId })
    return deposit
  }
  const deposit = await find()
  return make(desk, agent, deposit, request, elsewhere).catch(async (error) => {
    if (!(error instanceof Problem) || error.code !== 'order_not_refundable') throw error
    const now = await find()
    if (now.version === deposit.version) throw error
    // It may be nothing that concerns refunds, such as the end of a reserve: all is judged anew.
    return make(desk, agent, now, request, elsewhere)
  })
}

async function make(
  desk: Desk,
  agent: Agent,
  deposit: Order,
  request: RefundRequest,
  elsewhere: Destination | undefined,
): Promise<Created> {
  if (deposit.kind !== 'deposit' || deposit.status !== 'PAID') {
    throw new Problem('order_not_refundable', notRefundable)
  }
  const payer = elsewhere ? undefined : await payerOf(desk.pool, deposit)
  const destination = elsewhere ?? payer ?? ownAccountOf(deposit)
  const { userId } = deposit
  const order: Order = {
    ...newOrder(agent, 'withdraw', { ...request, ...destination, userId }, desk.now()),
    refundOf: deposit.orderId,
  }
  const candidates = await desk.providers.candidates({ ...order, direction: 'withdraw' })
  const refusal = refusalOf(agent, order, destination, candidates)
  if (refusal) throw refusal
  const { isNew, order: taken } = await create(desk, order, {
    depositVersion: deposit.version,
    ...(payer && { toPayer: true }),
  })
  return { isNew, answer: taken.answer }
}

export type Destination = Pick<Order, 'accountName' | 'accountNo' | 'bankCode'>

/**
 * Where a refund goes: to the account that the bank reported as the payer's, if that is enough to pay to,
 * and otherwise to the account in the deposit.
 */
export async function refundDestination(pool: Pool, deposit: Order): Promise<Destination> {
  return (await payerOf(pool, deposit)) ?? ownAccountOf(deposit)
}

/** The account that the agent gave in the deposit. */
function ownAccountOf({ accountName, accountNo, bankCode }: Order): Destination {
  return { accountName, accountNo, bankCode }
}

/** The account that the bank reported as the payer's, if it is enough to pay to. */
async function payerOf(pool: Pool, deposit: Order): Promise<Destination | undefined> {
  const { rows } = await pool.query<Payer>(
    `select payer_account_no as "accountNo", payer_account_name as "accountName",
       payer_bank_code as "bankCode" from payments
     where agent_id = $1 and order_id = $2 and state = 'credited' and credited_to = 'order'`,
    [deposit.agentId, deposit.orderId],
  )
  return payableTo(rows[0], deposit)
}

/** The payer's account, if it is complete, not masked, and with a bank that can be paid to. */
function payableTo(payer: Payer | undefined, { currency }: Order): Destination | undefined {
  const accountNo = (payer?.accountNo ?? '').replace(/[\s-]/g, '')
  const accountName = payer?.accountName?.trim() ?? ''
  const bank = findBank(currency, payer?.bankCode ?? '')
  // Banks mask with X, too.
  const isWhole = /^[A-Za-z0-9]{4,34}$/.test(accountNo) && !/x/i.test(accountNo)
  if (!isWhole || !isPrintable(accountName, 128) || !bank || bank.closed) return undefined
  if (accountNoFault(currency, accountNo) !== undefined) return undefined
  return { accountNo, accountName, bankCode: bank.code }
}

/** The refunds of a deposit, oldest first. */
export async function refundsOfDeposit(
  pool: Pool,
  { agentId, orderId }: Pick<Order, 'agentId' | 'orderId'>,
): Promise<Order[]> {
  const { rows } = await pool.query<Order>(
    `select ${orderColumns.select('o')} from orders o
     where agent_id = $1 and refund_of = $2 order by order_id`,
    [agentId, orderId],
  )
  return rows
}
