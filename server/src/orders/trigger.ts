import { noSuchOrder } from '../ledger/archived.ts'
import type { Order } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { txnId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import { type CallWatch, handOver, routePayout, submit } from '../payouts/pay-out.ts'
import { payoutsOfOrder } from '../payouts/payouts.ts'
import { BankSilent, type SandboxBank, type Told } from '../providers/sandbox/bank-client.ts'
import type { Desk } from '../teller/desk.ts'

export const triggerOutcomes = ['PAID', 'FAILED', 'EXPIRED', 'VOID', 'REVERT', 'CANCEL'] as const

export interface Trigger {
  outcome: (typeof triggerOutcomes)[number]
  /** The amount that arrived, if it differs from the one requested. */
  paidAmountMinor: bigint | undefined
  payerAccountNo: string | undefined
}

type TriggerDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers' | 'bank'>

/** Some stories keep the bank's call open; the bank books the payout well within this time. */
const bookingMs = 1_000

/**
 * Makes the sandbox bank report an outcome for an order now. The bank sends its usual notice to the service.
 * Returns the order afterwards.
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
  if (desk.providers.find(order.provider)?.recognises) {
    const detail = `The order is to be paid into the bank account ${order.provider}: report its payment with POST /bank-feed/${order.provider}, or import a statement.`
    throw new Problem('invalid_transition', detail)
  }
  // Without further details, repeating an outcome means the same payment.
  const isRepeat = order.status === what.outcome && what.paidAmountMinor === undefined
  if (isRepeat && what.payerAccountNo === undefined) return order
  const telling =
    order.kind === 'deposit'
      ? tellOfDeposit(bank, order, what)
      : tellOfPayout(desk, bank, order, what)
  const told = await telling.catch((cause) => {
    if (!(cause instanceof BankSilent)) throw cause
    const detail = 'The bank did not say whether it has done so; look again, or repeat the request.'
    throw new Problem('provider_unavailable', detail, { retryAfterS: 1, cause })
  })
  if (told?.type === 'refused') throw impossible(order, what.outcome, told.reason)
  const event = told?.events[0]
  const isToldLater = event?.told === false
  const after = await orderAfter(desk, order, isToldLater ? what.outcome : undefined)
  // Either the bank could not send the notice yet, or the notice could not be processed yet.
  const isOpen = isToldLater || (event !== undefined && event.result === undefined)
  if (isOpen && after.status !== what.outcome) {
    throw new Problem('overloaded', 'The bank has done so, and will say so; look again.', {
      retryAfterS: 1,
    })
  }
  const isContradicted = event?.result === 'waiting' && order.kind === 'withdraw'
  if (event?.result === 'refused' || isContradicted) {
    throw new Problem('invalid_transition', event.detail ?? 'The order cannot go there.')
  }
  if (event?.result === 'unchanged' && after.status !== what.outcome) {
    const detail = `The order is ${after.status}, and the bank has said ${what.outcome} before.`
    throw new Problem('invalid_transition', detail)
  }
  return after
}

async function tellOfDeposit(
  bank: SandboxBank,
  order: Order,
  { outcome, paidAmountMinor, payerAccountNo }: Trigger,
): Promise<Told> {
  const reference = txnId(order.agentId, order.orderId)
  switch (outcome) {
    case 'PAID': {
      const amountMinor = paidAmountMinor ?? order.amountMinor
      return bank.transfer({
        reference,
        amountMinor,
        currency: order.currency,
        payer:
          payerAccountNo === undefined
            ? null
            : { accountNo: payerAccountNo, accountName: null, bankCode: null },
        // One payment per order state, amount and payer, so that two simultaneous requests pay once.
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
  // A process that is handing it over right now may come first; then start again from the new state.
  for (let now = order, tries = 1; ; tries++) {
    if (now.status === outcome) return undefined
    const told =
      now.providerRef === null
        ? await tellBeforeBank(desk, now, outcome)
        : await bank.setPayout(now.providerRef, state)
    if (told !== 'overtaken') {
      if (told?.type !== 'refused' || told.because !== 'not_found') return told
      await book(desk, now)
    }
    if (tries === mostTries) break
    now = await existingOrder(desk, order.agentId, order.orderId)
  }
  throw new Problem('provider_unavailable', 'The bank does not have the payout yet.', {
    retryAfterS: 1,
  })
}

/** The most states in which a payout can be overtaken: queued, with each provider in turn, ended. */
const mostTries = 10

/** Handles a payout that no bank has yet: cancels it as its agent would, or hands it to a bank first. */
async function tellBeforeBank(
  desk: TriggerDesk,
  order: Order,
  outcome: Trigger['outcome'],
): Promise<'overtaken' | undefined> {
  const { agentId, orderId } = order
  if (outcome === 'CANCEL') {
    try {
      await desk.teller.do({ type: 'cancel', agentId, orderId, at: desk.now() })
      return undefined
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'order_not_cancellable') throw error
      const { status } = await existingOrder(desk, agentId, orderId)
      if (status !== 'WAITING') throw impossible({ ...order, status }, outcome)
      return 'overtaken'
    }
  }
  if (order.status !== 'WAITING') throw impossible(order, outcome)
  const provider = await routePayout(desk, order, { evenIfNotReady: true })
  if (!provider) {
    throw new Problem('provider_unavailable', 'No provider takes the payout now.', {
      retryAfterS: 60,
    })
  }
  const taken = await handOver(desk, order, provider)
  if (taken) await submit(desk, taken, order, within(bookingMs))
  return 'overtaken'
}

/**
 * Submits a payout that is on its way to the bank, or whose process died before calling. The bank pays a
 * reference only once.
 */
async function book(desk: TriggerDesk, order: Order): Promise<void> {
  const attempts = await payoutsOfOrder(desk.pool, order.agentId, order.orderId)
  const attempt = attempts.find(({ reference }) => reference === order.providerRef)
  if (!attempt) return
  const taken = { ...attempt, takenAtMs: performance.now() }
  await submit(desk, taken, order, within(bookingMs), true)
}

/** If the bank refuses the payout, a worker that asks about it hands it to the next provider. */
function within(ms: number): CallWatch {
  return { signal: AbortSignal.timeout(ms), passOn: () => {} }
}

function impossible({ kind, status }: Order, outcome: string, because?: string): Problem {
  const detail = `A ${kind} order that is ${status} cannot become ${outcome}.`
  const more = because === undefined ? '' : ` The bank says: ${because}`
  return new Problem('invalid_transition', detail + more)
}

/** How long to wait for the bank's report if its notice was not accepted at once. */
const noticeMs = 10_000

/** Reads the order. If a notice is to change its state, waits a while for that. */
async function orderAfter(
  desk: TriggerDesk,
  { agentId, orderId }: Order,
  expected: string | undefined,
): Promise<Order> {
  const deadline = performance.now() + noticeMs
  for (;;) {
    const order = await existingOrder(desk, agentId, orderId)
    if (expected === undefined || order.status === expected) return order
    if (performance.now() > deadline) return order
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function existingOrder(desk: TriggerDesk, agentId: bigint, orderId: string): Promise<Order> {
  const order = await findOrder(desk.pool, agentId, orderId)
  if (!order) throw await noSuchOrder(desk.pool, agentId, { orderId })
  return order
}
