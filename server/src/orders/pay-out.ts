import { randomUUID } from 'node:crypto'
import { currencyOf } from '../agents/agent-currency.ts'
import type { Order, OrderStatus } from '../ledger/book.ts'
import {
  claimPayout,
  type PayoutAttempt,
  type PayoutState,
  payoutsOfOrder,
  savePayout,
} from '../ledger/payouts.ts'
import { callWithin } from '../lib/call-within.ts'
import { txnId } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Payout, PayoutOutcome, Provider } from '../providers/provider.ts'
import type { Desk } from './desk.ts'
import { findOrder } from './find-order.ts'

export type PayoutDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers'>

/** How long a provider has to answer a call. */
const callLimitMs = 5_000
/** A payout of which nothing was heard, not even how its call ended, is asked about after this. */
const silenceMs = callLimitMs + 5_000
const firstQuestionMs = 2_000
const longestPauseMs = 3_600_000
/** How often a provider that is off is looked at again. */
const offPauseMs = 60_000

/** What became of something a provider said. */
export interface Effect {
  result: 'applied' | 'unchanged' | 'refused' | 'waiting'
  detail?: string
}

/**
 * Hands a withdrawal to the first provider that may have it: its reference is on disk before anybody
 * is called. Undefined where none may, or where another process, a cancel or an outcome was quicker.
 */
export async function handOver(
  desk: PayoutDesk,
  order: Order,
  options: { insteadOf?: PayoutAttempt; evenIfNotReady?: boolean } = {},
): Promise<PayoutAttempt | undefined> {
  const currency = await currencyOfAgent(desk, order)
  const { insteadOf, evenIfNotReady = false } = options
  const tried = insteadOf
    ? (await payoutsOfOrder(desk.pool, order.agentId, order.orderId)).map((p) => p.provider)
    : []
  const candidates = await desk.providers.candidates({ ...order, direction: 'withdraw', currency })
  const reference = `${txnId(order.agentId, order.orderId)}-${order.version}`
  const provider = candidates.find(
    (each) =>
      !tried.includes(each.name) &&
      (evenIfNotReady || each.isReadyFor?.(payoutOf(order, reference, currency)) !== false),
  )
  if (!provider) return undefined
  const at = desk.now()
  const askAt = new Date(at.getTime() + silenceMs)
  try {
    const { changed } = await desk.teller.do({
      type: 'hand_over',
      agentId: order.agentId,
      orderId: order.orderId,
      at,
      provider: provider.name,
      providerRef: reference,
      insteadOf: insteadOf?.reference ?? null,
      token: randomUUID(),
      askAt,
    })
    if (!changed) return undefined
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_transition') return undefined
    throw error
  }
  return {
    agentId: order.agentId,
    orderId: order.orderId,
    attempt: order.version,
    provider: provider.name,
    reference,
    state: 'handed',
    handedAt: at,
    asks: 0,
    askAt,
    said: null,
    evidence: null,
  }
}

/** Calls the provider with a payout whose reference is on disk, and acts on what it says. */
export async function submit(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  order: Order,
  signal?: AbortSignal,
): Promise<Effect> {
  const payout = payoutOf(order, attempt.reference, await currencyOfAgent(desk, order))
  const isInTime = attempt.askAt && attempt.askAt.getTime() - desk.now().getTime() >= callLimitMs
  // A process that was frozen must not send what somebody else may have ended by now.
  const outcome: PayoutOutcome = isInTime
    ? await call(desk, attempt, signal, (provider, limit) => provider.submitPayout(payout, limit))
    : { type: 'unknown', reason: 'It was too late to call the provider.' }
  return settle(desk, attempt, outcome, signal)
}

/** Asks the provider what became of a payout, where no other process does so at the moment. */
export async function ask(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  signal?: AbortSignal,
): Promise<void> {
  const later = (ms: number) => new Date(desk.now().getTime() + ms)
  const asked = { ...attempt, asks: attempt.asks + 1, askAt: later(silenceMs) }
  if (!(await claimPayout(desk.pool, attempt, asked))) return
  const order = await findOrder(desk.pool, attempt.agentId, attempt.orderId)
  if (!order) throw new Error(`payout ${attempt.reference} has no order`)
  if (order.status !== 'WAITING' && order.status !== 'PAID') {
    // It ended, and whoever ended it did not live to write that down here.
    return savePayout(desk.pool, asked, { state: ended[order.status], askAt: null, said: null })
  }
  const provider = desk.providers.find(attempt.provider)
  if (!provider || (await desk.providers.stateOf(provider.name)) === 'off') {
    const said = provider ? 'The provider is off.' : 'The provider is not set up.'
    return savePayout(desk.pool, asked, {
      state: attempt.state,
      askAt: later(offPauseMs),
      said,
    })
  }
  const payout = payoutOf(order, attempt.reference, await currencyOfAgent(desk, order))
  const outcome = await call(desk, attempt, signal, (_provider, limit) =>
    provider.askPayout(payout, limit),
  )
  if (order.status === 'PAID') {
    // Whoever wrote that may have been about to write, too, that the money came back.
    if (outcome.type === 'returned' || outcome.type === 'unknown')
      await settle(desk, asked, outcome)
    else await savePayout(desk.pool, asked, { state: 'paid', askAt: null, said: null })
  } else if (outcome.type === 'not_found' && provider.can.idempotentByReference) {
    // The call may never have got there. Only who promises to pay a reference once gets it again,
    // and only while nobody has ended the order during the question, or is about to.
    const now = await findOrder(desk.pool, attempt.agentId, attempt.orderId)
    const again: PayoutAttempt = { ...asked, state: 'handed', askAt: later(silenceMs) }
    if (now?.status === 'WAITING' && (await claimPayout(desk.pool, asked, again))) {
      await submit(desk, again, order, signal)
    }
  } else await settle(desk, asked, outcome, signal)
}

/** Acts on what a provider says of a payout, whichever way it came. Saying it again changes nothing. */
export async function settle(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  outcome: PayoutOutcome,
  signal?: AbortSignal,
): Promise<Effect> {
  const save = (state: PayoutState, said: string | null, askAt: Date | null = null) =>
    savePayout(desk.pool, attempt, { state, askAt, said })
  switch (outcome.type) {
    case 'paid':
    case 'cancelled': {
      const effect = await move(desk, attempt, outcome.type === 'paid' ? 'PAID' : 'CANCEL')
      await save(outcome.type, effect.detail ?? null)
      return effect
    }
    case 'returned': {
      // The news of the payment itself may be late, or lost.
      await move(desk, attempt, 'PAID')
      const effect = await move(desk, attempt, 'REVERT')
      await save('returned', effect.detail ?? null)
      return effect
    }
    case 'rejected': {
      const order = await findOrder(desk.pool, attempt.agentId, attempt.orderId)
      if (outcome.mayTryAnother && order?.status === 'WAITING') {
        const next = await handOver(desk, order, { insteadOf: attempt })
        if (next) {
          await submit(desk, next, order, signal)
          return { result: 'applied', detail: `${next.provider} has it now.` }
        }
      }
      const effect = await move(desk, attempt, 'FAILED')
      await save('rejected', effect.detail ?? outcome.reason)
      return effect
    }
    default: {
      const pauseMs = Math.min(firstQuestionMs * 2 ** Math.min(attempt.asks, 20), longestPauseMs)
      const said =
        outcome.type === 'unknown'
          ? outcome.reason
          : outcome.type === 'not_found'
            ? 'The provider does not know it: find out, then run sluice payout resolve.'
            : null
      await save(outcome.type, said, new Date(desk.now().getTime() + pauseMs))
      return { result: 'unchanged' }
    }
  }
}

/** What a payout ended as, by what its order came to. */
const ended: Record<OrderStatus, PayoutState> = {
  WAITING: 'unknown',
  PAID: 'paid',
  FAILED: 'rejected',
  CANCEL: 'cancelled',
  REVERT: 'returned',
  EXPIRED: 'rejected',
  VOID: 'rejected',
}

async function move(desk: PayoutDesk, attempt: PayoutAttempt, to: OrderStatus): Promise<Effect> {
  const { agentId, orderId, reference } = attempt
  try {
    const { changed } = await desk.teller.do({
      type: 'outcome',
      agentId,
      orderId,
      at: desk.now(),
      to,
      providerRef: reference,
    })
    return { result: changed ? 'applied' : 'unchanged' }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_transition') throw error
    return { result: 'refused', detail: error.message }
  }
}

/** Everything a provider can say. */
const outcomeTypes: Record<PayoutOutcome['type'], true> = {
  accepted: true,
  paid: true,
  rejected: true,
  cancelled: true,
  returned: true,
  not_found: true,
  unknown: true,
}

/** A call to a provider. However it fails, what became of the payout is then not known. */
async function call(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  signal: AbortSignal | undefined,
  work: (provider: Provider, limit: AbortSignal) => Promise<PayoutOutcome>,
): Promise<PayoutOutcome> {
  const provider = desk.providers.find(attempt.provider)
  if (!provider) return { type: 'unknown', reason: 'The provider is not set up.' }
  try {
    const outcome = await callWithin(callLimitMs, signal, (limit) => work(provider, limit))
    if (Object.hasOwn(outcomeTypes, outcome?.type)) return outcome
    return { type: 'unknown', reason: 'The provider said what cannot be read.' }
  } catch (error) {
    return { type: 'unknown', reason: error instanceof Error ? error.message : String(error) }
  }
}

function payoutOf(order: Order, reference: string, currency: Currency): Payout {
  const { amountMinor, accountNo, accountName, bankCode, extraParams } = order
  return {
    reference,
    amountMinor,
    currency,
    payee: { accountNo, accountName, bankCode },
    extraParams,
  }
}

async function currencyOfAgent(desk: PayoutDesk, order: Order): Promise<Currency> {
  const currency = await currencyOf(desk.pool, order.agentId)
  if (!currency) throw new Error(`order ${order.orderId} has no agent`)
  return currency
}
