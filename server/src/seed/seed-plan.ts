import type { Agent } from '../agents/agent.ts'
import type { Order } from '../ledger/book.ts'
import type { Command } from '../ledger/commands.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { banksOf } from '../lib/banks.ts'
import { feeOf, parseFeeRule } from '../lib/fee.ts'
import { newOrderId } from '../lib/ids.ts'
import { minorPerUnit, toMinor } from '../lib/money.ts'
import { noReserve } from '../lib/reserve-rule.ts'
import type { PastPayout } from '../payouts/past-payouts.ts'

/** A random number from 0 to 1; the same start gives the same sequence. */
export type Chance = () => number

export function chanceFrom(start: number): Chance {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What happens to one made-up order, in chronological order. */
export interface PlannedOrder {
  commands: Command[]
  /** The payout's final state, if it was handed to a provider. */
  payout: PastPayout | undefined
}

const families = [
  'Jaidee',
  'Srisuk',
  'Nguyen',
  'Tran',
  'Wong',
  'Rattana',
  'Pham',
  'Chai',
  'Le',
  'Boonmee',
]
const givens = [
  'Somchai',
  'Malee',
  'Anh',
  'Linh',
  'Niran',
  'Ploy',
  'Minh',
  'Kanya',
  'Duc',
  'Arthit',
]
const unknownSaid = 'The call timed out; asked since, and not answered.'

/** How orders end: the share of each outcome among orders of its kind, in hundredths of a per cent. */
const depositEnds = [
  ['paid', 7_900],
  ['expired', 1_450],
  ['failed', 180],
  ['void', 160],
  ['taken_back', 40],
  ['late', 90],
  ['wrong_amount', 110],
  ['duplicate', 70],
] as const
const withdrawEnds = [
  ['paid', 9_100],
  ['failed', 520],
  ['cancel', 210],
  ['revert', 170],
] as const

/** The provider of payouts with an unknown outcome: it is not set up, so no answer ever comes. */
const silentProvider = 'northbank'

/** Plans an order created at a given time; it has ended by `now` unless it is recent. */
export function planOrder(
  agent: Agent,
  number: number,
  at: Date,
  now: Date,
  chance: Chance,
): PlannedOrder {
  return chance() < 0.68
    ? planDeposit(agent, number, at, now, chance)
    : planWithdrawal(agent, number, at, now, chance)
}

function planDeposit(
  agent: Agent,
  number: number,
  at: Date,
  now: Date,
  chance: Chance,
): PlannedOrder {
  const order = newOrder(agent, 'deposit', number, at, chance)
  const { agentId, orderId } = order
  const create: Command = { type: 'create', agentId, at, order }
  const later = (seconds: number) => new Date(at.getTime() + seconds * 1000)
  const expires = order.expiresAt ?? at
  const paidAt = later(20 + chance() * 400)
  const receive = (amountMinor: bigint, when: Date, suffix = ''): Command => ({
    type: 'receive_payment',
    agentId,
    orderId,
    provider: order.provider,
    at: new Date(when.getTime() + 1_500),
    payment: {
      paymentId: `sandbox:seed-${agentId}-${number}${suffix}`,
      amountMinor,
      paidAt: when,
      payer: {
        accountNo: order.accountNo,
        accountName: order.accountName,
        bankCode: order.bankCode,
      },
    },
  })
  const expire: Command = {
    type: 'expire',
    agentId,
    orderId,
    at: new Date(expires.getTime() + 400),
  }
  const full = receive(order.amountMinor, paidAt)
  const steps: Record<(typeof depositEnds)[number][0], () => Command[]> = {
    paid: () => [full],
    expired: () => [expire],
    failed: () => [{ type: 'outcome', agentId, orderId, at: paidAt, to: 'FAILED' }],
    void: () => [{ type: 'cancel', agentId, orderId, at: paidAt }],
    taken_back: () => [
      full,
      {
        type: 'take_back_payment',
        agentId,
        orderId,
        paymentId: `sandbox:seed-${agentId}-${number}`,
        at: later(86_400),
      },
    ],
    late: () => [
      expire,
      receive(order.amountMinor, new Date(expires.getTime() + 60_000 + chance() * 3e6)),
    ],
    wrong_amount: () => [
      receive(order.amountMinor - toMinor(chance() < 0.5 ? 1n : -1n, agent.currency), paidAt),
      expire,
    ],
    duplicate: () => [full, receive(order.amountMinor, later(500 + chance() * 3_000), '-again')],
  }
  const end = pick(depositEnds, chance)
  const commands = [create, ...steps[end]()]
  const odd = commands.find(
    (command) => command.type === 'receive_payment' && (command !== full || end === 'late'),
  )
  if (odd?.type === 'receive_payment' && end !== 'taken_back') {
    commands.push(...decision(odd, end, now, chance))
  }
  return { commands: commands.filter(({ at: when }) => when <= now), payout: undefined }
}

/** A person's decision on money that did not fit; some payments of the last days still wait for one. */
function decision(
  { agentId, orderId, at, payment: { paymentId } }: Command & { type: 'receive_payment' },
  end: string,
  now: Date,
  chance: Chance,
): Command[] {
  const isYoung = now.getTime() - at.getTime() < 3 * 86_400_000
  if (isYoung ? chance() < 0.7 : chance() < 0.01) return []
  const decided = { agentId, at: new Date(at.getTime() + 1_800_000 + chance() * 60_000_000) }
  if (end === 'duplicate' || orderId === null || chance() < 0.25) {
    const evidence = `Sent back, transfer ${Math.floor(chance() * 1e9)}`
    return [{ ...decided, type: 'return_payment', paymentId, evidence }]
  }
  return [{ ...decided, type: 'credit_payment', orderId, paymentId }]
}

function planWithdrawal(
  agent: Agent,
  number: number,
  at: Date,
  now: Date,
  chance: Chance,
): PlannedOrder {
  const order = newOrder(agent, 'withdraw', number, at, chance)
  const { agentId, orderId } = order
  const create: Command = { type: 'create', agentId, at, order }
  const later = (seconds: number) => new Date(at.getTime() + seconds * 1000)
  const end = pick(withdrawEnds, chance)
  if (end === 'cancel') {
    const cancel: Command = { type: 'cancel', agentId, orderId, at: later(2) }
    return { commands: [create, cancel].filter(({ at: when }) => when <= now), payout: undefined }
  }
  // The outcome of a few recent payouts is still unknown.
  const isUnknown = now.getTime() - at.getTime() < 5 * 86_400_000 && chance() < 0.0015
  const references = referencesOf(agentId, orderId, 1)
  const [providerRef] = references
  const endedAt = later(3 + chance() * 240)
  const handed: Command = {
    type: 'hand_over',
    agentId,
    orderId,
    at: later(1),
    provider: isUnknown ? silentProvider : 'sandbox',
    references,
    insteadOf: null,
    token: newOrderId(at),
    askAt: later(11),
  }
  const to = end === 'failed' ? 'FAILED' : 'PAID'
  const outcomes: Command[] = isUnknown
    ? []
    : [{ type: 'outcome', agentId, orderId, at: endedAt, to, providerRef }]
  if (end === 'revert' && !isUnknown) {
    const returnedAt = new Date(endedAt.getTime() + 7_200_000 * (0.2 + chance()))
    outcomes.push({ type: 'outcome', agentId, orderId, at: returnedAt, to: 'REVERT', providerRef })
  }
  const commands = [create, handed, ...outcomes].filter(({ at: when }) => when <= now)
  const last = commands.at(-1)
  const payout: PastPayout = { agentId, orderId, asks: 0, askAt: null, said: null, state: 'paid' }
  if (isUnknown) {
    const askAt = new Date(now.getTime() + 600_000 + chance() * 3_000_000)
    Object.assign(payout, { state: 'unknown', asks: 12, askAt, said: unknownSaid })
  } else if (last?.type !== 'outcome') {
    Object.assign(payout, { state: 'accepted', askAt: new Date(now.getTime() + 60_000) })
  } else if (last.to !== 'PAID') {
    const said = last.to === 'FAILED' ? 'The account does not exist.' : 'The money came back.'
    Object.assign(payout, { state: last.to === 'FAILED' ? 'rejected' : 'returned', said })
  }
  return { commands, payout: commands.includes(handed) ? payout : undefined }
}

function newOrder(
  agent: Agent,
  kind: Order['kind'],
  number: number,
  at: Date,
  chance: Chance,
): Order {
  const amountMinor = toMinor(amountOf(agent, chance), agent.currency)
  const feeRule = kind === 'deposit' ? agent.depositFee : agent.withdrawFee
  const rule = parseFeeRule(feeRule, agent.currency)
  if (typeof rule === 'string') throw new Error(`agent ${agent.agentId}: ${rule}`)
  const banks = banksOf(agent.currency).filter(({ closed }) => !closed)
  return {
    agentId: agent.agentId,
    orderId: newOrderId(at),
    kind,
    refId: `${kind === 'deposit' ? 'D' : 'W'}-${String(number).padStart(8, '0')}`,
    refundOf: null,
    userId: `user-${Math.floor(chance() * chance() * 20_000) + 1}`,
    currency: agent.currency,
    payableMinor: null,
    amountMinor,
    feeMinor: feeOf(amountMinor, rule),
    feeRule,
    lateMoney: kind === 'deposit' ? agent.lateMoney : null,
    reserveRule: kind === 'deposit' && agent.reserve !== noReserve ? agent.reserve : null,
    revertFee: kind === 'withdraw' ? agent.revertFee : null,
    accountName: `${oneOf(givens, chance)} ${oneOf(families, chance)}`,
    accountNo: String(1_000_000_000 + Math.floor(chance() * 8_999_999_999)),
    bankCode: oneOf(banks.slice(0, 8), chance).code,
    extraParams: chance() < 0.2 ? `{"channel":"${chance() < 0.5 ? 'app' : 'web'}"}` : null,
    status: 'WAITING',
    version: 1,
    answer: '',
    createdAt: at,
    expiresAt: kind === 'deposit' ? new Date(at.getTime() + agent.expiresInS * 1000) : null,
    completedAt: null,
    paidAmountMinor: null,
    paidFeeMinor: null,
    releaseAt: null,
    provider: kind === 'deposit' ? 'sandbox' : null,
    providerRef: null,
    handedOverAt: null,
    instructions: null,
  }
}

/** Mostly small round amounts, and a large one now and then. */
function amountOf({ currency }: Agent, chance: Chance): bigint {
  const size = chance()
  const units = Math.ceil(
    50 + 9_950 * size * size * size + (chance() < 0.01 ? 90_000 * chance() : 0),
  )
  const rounded = chance() < 0.6 ? Math.ceil(units / 100) * 100 : units
  return BigInt(rounded) * (minorPerUnit(currency) === 1n ? 1_000n : 1n)
}

function pick<T extends string>(shares: readonly (readonly [T, number])[], chance: Chance): T {
  let left = chance() * shares.reduce((sum, [, share]) => sum + share, 0)
  for (const [name, share] of shares) {
    left -= share
    if (left < 0) return name
  }
  return (shares[0] as readonly [T, number])[0]
}

function oneOf<T>(values: readonly T[], chance: Chance): T {
  return values[Math.floor(chance() * values.length)] as T
}
