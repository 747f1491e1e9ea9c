import type { Agent } from '../agents/agent.ts'
import type { ExpectedDeposit } from '../bank-accounts/expected-deposits.ts'
import {
  bindDeposit,
  keepAsked,
  mayBeTaken,
  unbindDeposit,
} from '../connectors/connector-deposits.ts'
import { takeCode } from '../connectors/deposit-codes.ts'
import { timeToPass } from '../db/database-time.ts'
import { isArchivedRef } from '../ledger/archived.ts'
import type { Order, OrderKind } from '../ledger/book.ts'
import type { Command } from '../ledger/commands.ts'
import { archivedRefDetail, isRepeat, refIdConflictDetail } from '../ledger/decide.ts'
import { findOrderByRefId } from '../ledger/find-order.ts'
import { accountNoFault, bankCodeMeaning, findBank } from '../lib/banks.ts'
import { callWithin } from '../lib/call-within.ts'
import { feeOf, parseFeeRule } from '../lib/fee.ts'
import { newOrderId } from '../lib/ids.ts'
import { type Currency, toMinor } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { noReserve } from '../lib/reserve-rule.ts'
import type { DepositOutcome, DepositToCollect, Provider } from '../providers/provider.ts'
import type { Created, Desk, OrderRequest } from '../teller/desk.ts'
import { answerOf, depositAnswer } from './deposit-answer.ts'
import { toCollect } from './to-collect.ts'
import { isPayable, waysNamedBy } from './ways-to-pay.ts'

/** How long a provider may take to return payment instructions for a deposit. */
const callLimitMs = 10_000

/** Creates a deposit order. It is on disk, with payment instructions, before the answer is sent. */
export async function createDeposit(
  desk: Desk,
  agent: Agent,
  request: OrderRequest,
): Promise<Created> {
  checkExtraParams(desk, 'deposit', request)
  const order = newOrder(agent, 'deposit', inMinor(agent, request), desk.now())
  const candidates = answeringFirst(
    await desk.providers.candidates({ ...order, direction: 'deposit' }),
  )
  const refusal = refusalOf(agent, order, request, candidates)
  const place = refusal ? undefined : await placeDeposit(desk, order, candidates)
  if (!place || 'first' in place) {
    const first = place?.first ?? (await answerRepeatOrRefuse(desk, order, refusal ?? noPlace()))
    return { isNew: false, answer: await finalAnswer(desk, agent, first, candidates) }
  }
  const { provider, expected } = place
  const payable = expected ? { ...order, payableMinor: surplusOf(expected) } : order
  const given = provider.depositInstructions(toCollect(payable, expected?.code))
  const ways = given && waysNamedBy(agent.method, given)
  const { isNew, order: taken } = await create(desk, {
    ...payable,
    provider: provider.name,
    instructions: ways ? JSON.stringify(ways) : null,
    answer: depositAnswer(desk, agent, payable, ways),
  }).catch(async (error) => {
    // Refused for sure: what was reserved for it is free for others.
    const isRefused = error instanceof Problem && error.code === 'limit_exceeded'
    if (expected && isRefused) await desk.expected.release(expected)
    throw error
  })
  // Of several requests with one refId, only one became the order.
  if (expected && taken.orderId !== order.orderId) await desk.expected.release(expected)
  return { isNew, answer: await finalAnswer(desk, agent, taken, candidates) }
}

/** Those that fail at the moment are asked last. */
function answeringFirst(candidates: Provider[]): Provider[] {
  const fails = (each: Provider) => each.isAnswering?.() === false
  return [...candidates.filter((each) => !fails(each)), ...candidates.filter(fails)]
}

/**
 * The provider that takes a deposit. A bank account must have a code, and maybe an amount, free for it: if
 * not, the next provider gets it. A repeat must not take a place, so the first order is looked for before.
 */
async function placeDeposit(
  desk: Desk,
  order: Order,
  candidates: Provider[],
): Promise<{ provider: Provider; expected?: ExpectedDeposit } | { first: Order } | undefined> {
  let isRepeatChecked = false
  for (const provider of candidates) {
    if (!provider.recognises) return { provider }
    if (!isRepeatChecked) {
      const first = await findOrderByRefId(desk.pool, order.agentId, order.refId)
      if (first) return { first: await answerRepeatOrRefuse(desk, order, undefined) }
      isRepeatChecked = true
    }
    const expected = await desk.expected.expect(provider.name, provider.recognises, {
      ...order,
      expiresAt: order.expiresAt ?? order.createdAt,
    })
    if (expected) return { provider, expected }
  }
  return undefined
}

function surplusOf({ amountMinor, payableMinor }: ExpectedDeposit): bigint | null {
  return payableMinor === amountMinor ? null : payableMinor
}

function noPlace(): Problem {
  const detail = 'Too many payers are expected with this amount now; repeat the request later.'
  return new Problem('provider_unavailable', detail, { retryAfterS: 60 })
}

/** Creates a withdraw order. Amount and fee are held from the wallet before the answer is sent. */
export async function createWithdraw(
  desk: Desk,
  agent: Agent,
  request: OrderRequest,
  terms: Pick<CreateCommand, 'leaveMinor'> = {},
): Promise<Created> {
  checkExtraParams(desk, 'withdraw', request)
  const order = newOrder(agent, 'withdraw', inMinor(agent, request), desk.now())
  const candidates = await desk.providers.candidates({
    ...order,
    direction: 'withdraw',
  })
  const refusal = refusalOf(agent, order, request, candidates)
  if (refusal) {
    return { isNew: false, answer: (await answerRepeatOrRefuse(desk, order, refusal)).answer }
  }
  const { isNew, order: taken } = await create(desk, order, terms)
  return { isNew, answer: taken.answer }
}

type CreateCommand = Command & { type: 'create' }

/** Has the teller create an order. For a refund, the deposit must still have the given version. */
export async function create(
  desk: Desk,
  order: Order,
  terms: Pick<CreateCommand, 'depositVersion' | 'toPayer' | 'leaveMinor' | 'onlyRepeat'> = {},
): Promise<{ isNew: boolean; order: Order }> {
  const done = await desk.teller.do({
    type: 'create',
    agentId: order.agentId,
    at: order.createdAt,
    order,
    ...terms,
  })
  if (!done.order) throw new Error('a creation was answered without an order')
  return { isNew: done.changed, order: done.order }
}

/**
 * The answer to a deposit, now and for every repeat. A deposit that its provider has not registered yet is
 * registered there first, even if a new order would be routed elsewhere.
 */
async function finalAnswer(
  desk: Desk,
  agent: Agent,
  order: Order,
  candidates: Provider[],
): Promise<string> {
  const provider = desk.providers.find(order.provider)
  // Nobody was ever told how to pay it.
  if (order.instructions === null && order.status === 'FAILED') throw refused()
  const isInstructed = order.instructions !== null || order.status !== 'WAITING'
  if (isInstructed) return answerOf(order)
  // It may be there again in a moment, and the payer has nothing to pay by yet.
  if (!provider) throw notTaken()
  if (provider.depositInstructions(toCollect(order))) return answerOf(order)
  if ((await desk.providers.stateOf(provider.name)) === 'off') throw notTaken()
  return announce(desk, agent, order, [provider, ...candidates.filter((c) => c !== provider)])
}

/**
 * Registers a stored deposit with a provider and stores its instructions. If that fails, the agent repeats
 * its request and the provider is called again under the same id. The next provider is tried only if this one
 * has definitely not taken the deposit; if all have refused it, and nobody may have it from an earlier call, it has failed.
 */
async function announce(
  desk: Desk,
  agent: Agent,
  order: Order,
  providers: Provider[],
): Promise<string> {
  let reason: string | undefined
  const refusedBy: string[] = []
  for (const provider of providers) {
    const bound = await bindToConnector(desk, order, provider)
    const deposit = { ...toCollect(order, bound?.code), ...(bound && { use: bound.use }) }
    const span = desk.tracer
      ?.ofOrder(order.orderId, 'provider expect', 'client')
      .set({ 'sluice.provider': provider.name })
    const outcome = await expectDeposit(provider, deposit)
    span?.set({ 'sluice.outcome': outcome.type }).end(outcome.type === 'unknown')
    if (outcome.type === 'accepted') {
      if (bound) {
        const { theirId = null, askEveryS = null } = outcome
        const leftMs = deposit.expiresAt.getTime() - desk.now().getTime()
        await keepAsked(desk.pool, bound, theirId, askEveryS, leftMs, timeToPass(desk.now))
      }
      const ways = waysNamedBy(agent.method, outcome.instructions)
      const done = await desk.teller.do({
        type: 'instruct',
        agentId: order.agentId,
        orderId: order.orderId,
        at: desk.now(),
        provider: provider.name,
        providerRef: deposit.txnId,
        instructions: JSON.stringify(ways),
        answer: depositAnswer(desk, agent, order, ways),
      })
      const { order: instructed = order } = done
      // Another request with the same refId ended it a moment before, and its agent was told so.
      if (instructed.instructions === null && instructed.status === 'FAILED') throw refused()
      return answerOf(instructed)
    }
    if (outcome.type === 'unknown') throw notTaken()
    if (outcome.type === 'rejected') {
      reason ??= outcome.reason
      refusedBy.push(provider.name)
      continue
    }
    // Another call under the same id may have arrived, or be about to, unless this is the only one.
    if (!(bound?.isNew && (await unbindDeposit(desk.pool, bound)))) throw notTaken()
  }
  const areAllAsked = refusedBy.length === providers.length
  if (!areAllAsked || (await mayBeTaken(desk.pool, order, refusedBy))) throw notTaken()
  const { agentId, orderId } = order
  const { order: ended } = await desk.teller.do({
    type: 'outcome',
    agentId,
    orderId,
    at: desk.now(),
    to: 'FAILED',
    unlessInstructed: true,
  })
  // A request with the same refId may have been luckier.
  if (ended && (ended.instructions !== null || ended.status !== 'FAILED')) return answerOf(ended)
  throw refused(reason)
}

/** A deposit at a connector keeps the use that it is asked for with first. */
async function bindToConnector(
  { pool, now }: Desk,
  { agentId, orderId }: Order,
  { name: connector, use, version, usesCodes }: Provider,
) {
  if (use === undefined || version === undefined) return undefined
  const code = usesCodes ? await takeCode(pool, { agentId, orderId }) : null
  return bindDeposit(pool, { agentId, orderId, connector, use, version, code, madeAt: now() })
}

/** Calls a provider about a deposit. If the call fails in any way, the outcome is unknown. */
async function expectDeposit(
  provider: Provider,
  deposit: DepositToCollect,
): Promise<DepositOutcome> {
  const instructions = provider.depositInstructions(deposit)
  if (instructions) return { type: 'accepted', instructions }
  try {
    const outcome = await callWithin(callLimitMs, undefined, async (signal) =>
      provider.expectDeposit?.(deposit, signal),
    )
    const isClear =
      outcome?.type === 'rejected' ||
      outcome?.type === 'not_sent' ||
      (outcome?.type === 'accepted' && isPayable(outcome.instructions))
    return isClear ? outcome : { type: 'unknown', reason: 'The provider said what cannot be read.' }
  } catch (error) {
    return { type: 'unknown', reason: String(error) }
  }
}

function notTaken(): Problem {
  const detail = 'The provider did not take it; repeat the request.'
  return new Problem('provider_unavailable', detail, { retryAfterS: 5 })
}

function refused(reason?: string): Problem {
  const why = reason === undefined ? '' : ` It says: ${reason}`
  return new Problem('provider_refused', `No provider takes this order, and it has failed.${why}`)
}

/** Parameters that a provider cannot interpret make the request invalid. */
export function checkExtraParams(
  desk: Desk,
  kind: OrderKind,
  { extraParams }: Pick<OrderRequest, 'extraParams'>,
): void {
  const errors = desk.providers.all.flatMap((each) => each.faultIn?.(kind, extraParams) ?? [])
  if (errors.length === 0) return
  const names = errors.map(({ field }) => field).join(', ')
  throw new Problem('invalid_request', `Correct ${names} and send the request again.`, { errors })
}

/** A request whose amount is in minor units. */
type MinorRequest = Omit<OrderRequest, 'amount'> & { amountMinor: bigint }

function inMinor({ currency }: Agent, { amount, ...request }: OrderRequest): MinorRequest {
  return { ...request, amountMinor: toMinor(amount, currency) }
}

export function newOrder(agent: Agent, kind: OrderKind, request: MinorRequest, now: Date): Order {
  const { amountMinor } = request
  const feeRule = kind === 'deposit' ? agent.depositFee : agent.withdrawFee
  const rule = parseFeeRule(feeRule, agent.currency)
  if (typeof rule === 'string') throw new Error(`agent ${agent.agentId}: ${rule}`)
  return {
    agentId: agent.agentId,
    orderId: newOrderId(now),
    kind,
    refId: request.refId,
    refundOf: null,
    userId: request.userId,
    currency: agent.currency,
    amountMinor,
    payableMinor: null,
    feeMinor: feeOf(amountMinor, rule),
    feeRule,
    lateMoney: kind === 'deposit' ? agent.lateMoney : null,
    reserveRule: kind === 'deposit' && agent.reserve !== noReserve ? agent.reserve : null,
    revertFee: kind === 'withdraw' ? agent.revertFee : null,
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
    releaseAt: null,
    provider: null,
    providerRef: null,
    handedOverAt: null,
    instructions: null,
  }
}

/** Why this agent may not create this order, in the order of the checks. */
export function refusalOf(
  agent: Agent,
  order: Order,
  request: Pick<OrderRequest, 'bankCode'>,
  candidates: Provider[],
): Problem | undefined {
  if (agent.status === 'suspended') {
    return new Problem('agent_suspended', 'The agent may not create orders; ask the operator.')
  }
  const [min, max] =
    order.kind === 'deposit'
      ? [agent.minDeposit, agent.maxDeposit]
      : [agent.minWithdraw, agent.maxWithdraw]
  const [minMinor, maxMinor] = [toMinor(min, agent.currency), toMinor(max, agent.currency)]
  if (order.amountMinor < minMinor || order.amountMinor > maxMinor) {
    const what = order.refundOf === null ? order.kind : 'refund'
    return new Problem(
      'amount_out_of_range',
      `A ${what} of this agent must be from ${min} to ${max}${what === 'refund' ? ', as its withdrawals' : ''}.`,
    )
  }
  if (order.kind === 'deposit' && order.feeMinor >= order.amountMinor) {
    return new Problem('amount_out_of_range', 'The fee would eat the whole amount.')
  }
  const refusal = destinationFault(agent.currency, { ...order, bankCode: request.bankCode })
  if (refusal) return refusal
  // A name that could be more than one in a bank's file is taken by nobody, since a route may send it there any day. A
  // refund goes to who paid, whatever they are called.
  const breaksOut =
    order.kind === 'withdraw' && order.refundOf === null
      ? candidates.map((each) => each.nameFault?.(order.accountName) ?? null).find(Boolean)
      : undefined
  if (breaksOut) return nameRefused(breaksOut)
  // Any other is refused only if nobody can pay to it.
  const faultsWith = (...extraParams: [string | null] | []) =>
    candidates.map(
      (each) => each.payeeFault?.(order, order.currency, order.amountMinor, ...extraParams) ?? null,
    )
  const faults = order.kind === 'withdraw' ? faultsWith(order.extraParams) : []
  const [fault] = faults
  if (fault && faults.every((each) => each !== null)) {
    if (faultsWith().every((each) => each !== null)) return nameRefused(fault)
    const errors = [{ field: 'extraParams', message: fault }]
    return new Problem('invalid_request', fault, { errors })
  }
  if (candidates.length === 0) {
    return new Problem('provider_unavailable', 'No payment provider takes such an order now.', {
      retryAfterS: 60,
    })
  }
  return undefined
}

function nameRefused(fault: string): Problem {
  const errors = [{ field: 'accountName', message: fault }]
  return new Problem('invalid_request', fault, { errors })
}

/** Why no money can go to this account, or come from it. */
export function destinationFault(
  currency: Currency,
  { accountNo, bankCode }: Pick<Order, 'accountNo' | 'bankCode'>,
): Problem | undefined {
  const bank = findBank(currency, bankCode)
  if (!bank) {
    return new Problem(
      'unknown_bank_code',
      `No ${currency} bank has this code; in ${currency}, bankCode is ${bankCodeMeaning(currency)}.`,
    )
  }
  if (bank.closed) {
    return new Problem('unknown_bank_code', `${bank.name} (${bank.code}) is closed.`)
  }
  const accountFault = accountNoFault(currency, accountNo)
  if (accountFault !== undefined) {
    return new Problem('invalid_request', `accountNo ${accountFault}.`, {
      errors: [{ field: 'accountNo', message: accountFault }],
    })
  }
  return undefined
}

/** Answers a repeat as the first time, even if a new order would now be refused. */
async function answerRepeatOrRefuse(
  desk: Desk,
  order: Order,
  refusal: Problem | undefined,
): Promise<Order> {
  const first = await findOrderByRefId(desk.pool, order.agentId, order.refId)
  if (!first && (await isArchivedRef(desk.pool, order.agentId, order.refId))) {
    throw new Problem('ref_id_conflict', archivedRefDetail)
  }
  if (!first) throw refusal ?? new Error('an order was held back without a reason')
  if (!isRepeat(first, order)) throw new Problem('ref_id_conflict', refIdConflictDetail)
  // Like every answer that an order is there, this one waits until replicas have it: the teller sees to that.
  const { order: found } = await create(desk, order, { onlyRepeat: true }).catch((error) => {
    // It was there a moment ago: a database took over that never had it.
    const isGone = error instanceof Problem && error.code === 'not_found'
    throw isGone ? (refusal ?? new Error('an order is gone that was there')) : error
  })
  return found
}
