import { currencyOf } from '../agents/agent-currency.ts'
import type { Order } from '../ledger/book.ts'
import { payoutsOfOrder } from '../ledger/payouts.ts'
import { txnId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import { BankSilent, type SandboxBank, type Told } from '../providers/sandbox/bank-client.ts'
import type { Desk } from './desk.ts'
import { findOrder } from './find-order.ts'
import { handOver, submit } from './pay-out.ts'

export const triggerOutcomes = ['PAID', 'FAILED', 'EXPIRED', 'VOID', 'REVERT', 'CANCEL'] as const

export interface Trigger {
  outcome: (typeof triggerOutcomes)[number]
  /** What came in, where it is not what was asked for. */
  paidAmountMinor: bigint | undefined
  payerAccountNo: string | undefined
}

type TriggerDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers' | 'bank'>

/** Some stories have the bank keep a call open; it has booked the payout long before this. */
const bookingMs = 1_000

/**
 * Makes the sandbox's bank say that something happened to an order, now. The bank tells the service
 * by a notice, as it always does. Returns the order after that.
 */
export async function trigger(
  desk: TriggerDesk,
  agentId: bigint,
  orderId: string,
  what: Trigger,
): Promise<Order> {
  const { bank } = desk
  if (!bank) throw new Problem('not_found', 'There is no sandbox here.')
  const order = await existingOrder(desk, agentId, orderId)
  // Said again without more, it is the same payment.
  const isRepeat = order.status === what.outcome && what.paidAmountMinor === undefined
  if (isRepeat && what.payerAccountNo === undefined) return order
  const telling =
    order.kind === 'deposit'
      ? tellOfDeposit(desk, bank, order, what)
      : tellOfPayout(desk, bank, order, what)
  const told = await telling.catch((cause) => {
    if (!(cause instanceof BankSilent)) throw cause
    const detail = 'The bank did not say whether it has done so; look again, or repeat the request.'
    throw new Problem('provider_unavailable', detail, { retryAfterS: 1, cause })
  })
  if (told?.type === 'refused') throw impossible(order, what.outcome, told.reason)
  const after = await existingOrder(desk, agentId, orderId)
  const event = told?.events[0]
  // Either the bank could not tell yet, or what it told could not be acted on yet.
  const isOpen = event?.told === true && event.result === undefined && after.status !== what.outcome
  if (event?.told === false || isOpen) {
    throw new Problem('overloaded', 'The bank has done so, and will say so; look again.', {
      retryAfterS: 1,
    })
  }
  if (event?.result === 'refused') {
    throw new Problem('invalid_transition', event.detail ?? 'The order cannot go there.')
  }
  if (event?.result === 'unchanged' && after.status !== what.outcome) {
    const detail = `The order is ${after.status}, and the bank has said ${what.outcome} before.`
    throw new Problem('invalid_transition', detail)
  }
  return after
}

async function tellOfDeposit(
  desk: TriggerDesk,
  bank: SandboxBank,
  order: Order,
  { outcome, paidAmountMinor, payerAccountNo }: Trigger,
): Promise<Told> {
  const reference = txnId(order.agentId, order.orderId)
  switch (outcome) {
    case 'PAID': {
      const currency = await currencyOf(desk.pool, order.agentId)
      if (!currency) throw new Error(`order ${reference} has no agent`)
      const amountMinor = paidAmountMinor ?? order.amountMinor
      return bank.transfer({
        reference,
        amountMinor,
        currency,
        payer:
          payerAccountNo === undefined
            ? null
            : { accountNo: payerAccountNo, accountName: null, bankCode: null },
        // One payment for each state of the order, amount and payer: asking twice at once pays once.
        once: `${reference}:${order.version}:${amountMinor}:${payerAccountNo ?? ''}`,
      })
    }
    case 'VOID':
      if (order.status === 'PAID') return bank.takeBack({ reference })
      return bank.endDeposit(reference, 'VOID')
    case 'FAILED':
    case 'EXPIRED':
      return bank.endDeposit(reference, outcome)
    default:
      throw impossible(order, outcome)
  }
}

async function tellOfPayout(
  desk: TriggerDesk,
  bank: SandboxBank,
  order: Order,
  { outcome }: Trigger,
): Promise<Told | undefined> {
  const states = { PAID: 'paid', FAILED: 'rejected', REVERT: 'returned', CANCEL: 'cancelled' }
  const state = states[outcome as keyof typeof states] as 'paid' | undefined
  if (!state) throw impossible(order, outcome)
  if (order.providerRef === null && outcome === 'CANCEL') {
    // No bank has it: it is cancelled as its agent would.
    const { agentId, orderId } = order
    await desk.teller.do({ type: 'cancel', agentId, orderId, at: desk.now() })
    return undefined
  }
  const told = order.providerRef !== null && (await bank.setPayout(order.providerRef, state))
  if (told && (told.type === 'told' || told.because !== 'not_found')) return told
  // Nobody has taken it there yet, or whoever was about to did not live to do it.
  const { pool } = desk
  const attempt =
    order.providerRef === null
      ? await handOver(desk, order, { evenIfNotReady: true })
      : (await payoutsOfOrder(pool, order.agentId, order.orderId)).at(-1)
  if (attempt) await submit(desk, attempt, order, AbortSignal.timeout(bookingMs))
  const { providerRef, status } = await existingOrder(desk, order.agentId, order.orderId)
  if (providerRef !== null) return bank.setPayout(providerRef, state)
  throw status === 'WAITING'
    ? new Problem('provider_unavailable', 'No provider takes the payout now.', { retryAfterS: 60 })
    : impossible({ ...order, status }, outcome)
}

function impossible({ kind, status }: Order, outcome: string, because?: string): Problem {
  const detail = `A ${kind} order that is ${status} cannot become ${outcome}.`
  const more = because === undefined ? '' : ` The bank says: ${because}`
  return new Problem('invalid_transition', detail + more)
}

async function existingOrder(desk: TriggerDesk, agentId: bigint, orderId: string): Promise<Order> {
  const order = await findOrder(desk.pool, agentId, orderId)
  if (!order) throw new Problem('order_not_found', 'The agent has no such order.')
  return order
}
