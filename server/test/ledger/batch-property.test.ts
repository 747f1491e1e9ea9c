import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { openPool, type Pool } from '../../src/db/pool.ts'
import { accountNames } from '../../src/ledger/accounts.ts'
import type { OrderKind } from '../../src/ledger/book.ts'
import { booksOf, type Command } from '../../src/ledger/commands.ts'
import { houseBook } from '../../src/ledger/house.ts'
import { feeOf, parseFeeRule } from '../../src/lib/fee.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { Problem } from '../../src/lib/problem.ts'
import { verify } from '../../src/proof/verify.ts'
import { Teller } from '../../src/teller/teller.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { usually } from '../support/long.ts'
import {
  type ModelAnswer,
  type ModelTerms,
  NaiveModel,
  newOrder,
  orderIdOf,
} from '../support/naive-model.ts'

/** More runs find rarer faults: `PROPERTY_RUNS=1000 npx vitest run server/test/ledger/batch-property.test.ts` */
const numRuns = Number(process.env.PROPERTY_RUNS ?? usually(8, { long: 20 }))
const timeoutMs = Math.max(60_000, numRuns * 2_000)

interface PropertyAgent extends ModelTerms {
  revertFee: 'return' | 'keep'
  lateMoney: 'review' | 'credit'
  depositFee: string
  withdrawFee: string
  reserve: string
}

const contracts: PropertyAgent[] = [
  {
    currency: 'THB',
    revertFee: 'return',
    lateMoney: 'review',
    depositFee: '1.5%+2',
    withdrawFee: '0.25%',
    reserve: 'none',
  },
  {
    currency: 'THB',
    revertFee: 'keep',
    lateMoney: 'credit',
    depositFee: '3',
    withdrawFee: '5',
    reserve: '25.55%/2',
  },
  {
    currency: 'VND',
    revertFee: 'keep',
    lateMoney: 'review',
    depositFee: '0.7%',
    withdrawFee: '1%+3',
    reserve: '100%/1',
  },
]
const start = new Date('2026-01-01T00:00:00Z').getTime()
const stepMs = 1_000
const expiresInMs = 4 * stepMs

/** A command before it is known which agents and orders there are. */
type Draft = { agent: number; target: number } & (
  | { type: 'create'; kind: OrderKind; ref: number; amount: bigint; user: number; extra: number }
  | { type: 'refund'; ref: number; amount: bigint; version: number; extra: number }
  | { type: 'hand_over'; provider: number }
  | { type: 'cancel' | 'expire' }
  | {
      type: 'outcome'
      to: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
      by: 'bank' | 'person' | 'former'
    }
  | {
      type: 'receive_payment'
      payment: number
      off: bigint
      lag: number
      payer: string | null
      matched: boolean
      by: string | null
    }
  | { type: 'credit_payment' | 'credit_wallet' | 'return_payment' | 'take_back'; payment: number }
  | { type: 'instruct' }
  | { type: 'adjust'; ref: number; amount: bigint }
  | { type: 'receive_unmatched'; payment: number; amount: bigint }
  | { type: 'end_unmatched'; payment: number; state: 'returned' | 'dismissed' }
  | { type: 'assign_payment'; payment: number; matched: boolean; byPerson: boolean }
  | { type: 'charge_cost'; ref: number; amount: bigint }
  | { type: 'sweep'; ref: number }
  | { type: 'release_reserve'; later: number }
  | { type: 'write_off'; ref: number; amount: bigint }
)

const drafts: fc.Arbitrary<Draft> = fc
  .record({
    // One agent is busier than the others, so that its orders live through more.
    agent: fc.constantFrom(0, 0, 1, 1, 1, 2),
    // Small numbers are likelier, so that orders live through several events.
    target: fc.oneof(fc.nat({ max: 2 }), fc.nat({ max: 6 })),
  })
  .chain((common) =>
    fc
      .oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            type: fc.constant('create' as const),
            kind: fc.constantFrom<OrderKind>('deposit', 'withdraw'),
            ref: fc.nat({ max: 9 }),
            amount: fc.constantFrom(300n, 1_000n, 4_999n, 20_000n),
            user: fc.nat({ max: 1 }),
            extra: fc.nat({ max: 3 }),
          }),
        },
        {
          weight: 3,
          arbitrary: fc.record({
            type: fc.constant('refund' as const),
            ref: fc.nat({ max: 9 }),
            amount: fc.constantFrom(100n, 150n, 300n, 2_500n),
            version: fc.constantFrom(2, 2, 2, 2, 3),
            extra: fc.nat({ max: 3 }),
          }),
        },
        {
          weight: 6,
          arbitrary: fc.record({
            type: fc.constant('receive_payment' as const),
            payment: fc.nat({ max: 8 }),
            off: fc.constantFrom(0n, 0n, 0n, 1n, -1n, 5_000n),
            lag: fc.nat({ max: 15 }),
            payer: fc.constantFrom(null, '1234567890', '5555555555'),
            matched: fc.constantFrom(true, true, true, true, false),
            by: fc.constantFrom('bank', 'bank', 'bank', 'bank', null, 'rival'),
          }),
        },
        {
          weight: 10,
          arbitrary: fc.record({
            type: fc.constant('outcome' as const),
            to: fc.constantFrom(
              'WAITING' as const,
              'PAID' as const,
              'PAID' as const,
              'FAILED' as const,
              'EXPIRED' as const,
              'VOID' as const,
              'CANCEL' as const,
              'REVERT' as const,
            ),
            // A person, or a provider that had it once and has it no more.
            by: fc.constantFrom<'bank' | 'person' | 'former'>(
              'bank',
              'bank',
              'person',
              'person',
              'person',
              'former',
            ),
          }),
        },
        {
          weight: 4,
          arbitrary: fc.record({
            type: fc.constant('hand_over' as const),
            provider: fc.constantFrom(0, 0, 1, 1, 2),
          }),
        },
        { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('cancel' as const, 'expire') }) },
        {
          weight: 4,
          arbitrary: fc.record({
            type: fc.constantFrom(
              'credit_payment' as const,
              'credit_wallet' as const,
              'return_payment' as const,
              'take_back' as const,
              'take_back' as const,
            ),
            payment: fc.nat({ max: 8 }),
          }),
        },
        { weight: 1, arbitrary: fc.record({ type: fc.constant('instruct' as const) }) },
        {
          weight: 3,
          arbitrary: fc.record({
            type: fc.constant('adjust' as const),
            ref: fc.nat({ max: 5 }),
            amount: fc.constantFrom(10_000n, 50_000n, -700n, 9_007_199_254_740_991n),
          }),
        },
        {
          weight: 4,
          arbitrary: fc.oneof(
            fc.record({
              type: fc.constant('receive_unmatched' as const),
              payment: fc.nat({ max: 4 }),
              amount: fc.constantFrom(300n, 1_000n, 4_999n),
            }),
            fc.record({
              type: fc.constant('assign_payment' as const),
              payment: fc.nat({ max: 4 }),
              matched: fc.boolean(),
              byPerson: fc.boolean(),
            }),
            fc.record({
              type: fc.constant('end_unmatched' as const),
              payment: fc.nat({ max: 4 }),
              state: fc.constantFrom('returned' as const, 'dismissed' as const),
            }),
          ),
        },
        {
          weight: 2,
          arbitrary: fc.oneof(
            fc.record({
              type: fc.constantFrom('charge_cost' as const, 'write_off' as const),
              ref: fc.nat({ max: 3 }),
              amount: fc.constantFrom(5n, 77n),
            }),
            fc.record({ type: fc.constant('sweep' as const), ref: fc.nat({ max: 3 }) }),
          ),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            type: fc.constant('release_reserve' as const),
            later: fc.constantFrom(0, 1, 2, 2, 2),
          }),
        },
      )
      .map((command): Draft => ({ ...common, ...command })),
  )

let database: TestDatabase
let owner: Pool
let tellerPool: Pool
let agentIds: bigint[]

beforeAll(async () => {
  database = await testDatabase()
  const onError = () => {}
  owner = openPool({ url: database.ownerUrl, max: 2, name: 'owner', as: 'owner', onError })
  tellerPool = openPool({ url: database.url, max: 3, name: 'teller', pipeline: true, onError })
  agentIds = []
  for (const contract of contracts) {
    const terms = { ...defaultTerms, name: 'Property', ...contract }
    const keys: [Buffer] = [Buffer.alloc(32, 7)]
    agentIds.push((await createAgent(owner, keys, terms, new Date(start))).agent.agentId)
  }
})
afterAll(async () => {
  await tellerPool.end()
  await owner.end()
  await database.close()
})

it(
  'any commands in any batches come to the same rows and answers as one at a time, and as the naive model',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drafts, { minLength: 8, maxLength: 40, size: 'max' }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 3 }),
        async (drafted, sizes, maxBatch, writers) => {
          const commands = commandsOf(drafted)
          const model = new NaiveModel(
            new Map(agentIds.map((agentId, at) => [agentId, contractOf(at)])),
          )
          const answers = commands.map((command) => model.do(command))
          const expected = { answers, ...rowsOf(model) }

          expect(await oneByOne(commands)).toEqual(expected)
          expect(await inChunks(commands, sizes)).toEqual(expected)
          expect(await allAtOnce(commands, { maxBatch, writers })).toEqual(expected)
        },
      ),
      // Looking for the smallest failing case must end before the test does.
      { numRuns, interruptAfterTimeLimit: timeoutMs - 15_000 },
    )
  },
  timeoutMs,
)

it('the commands of the property reach every event and every refusal', () => {
  const seen = new Set<string>()
  for (const drafted of fc.sample(fc.array(drafts, { minLength: 40, maxLength: 40 }), {
    numRuns: 1_000,
    seed: 7,
  })) {
    const model = new NaiveModel(new Map(agentIds.map((id, at) => [id, contractOf(at)])))
    for (const command of commandsOf(drafted)) {
      const answer = model.do(command)
      if ('refused' in answer) seen.add(answer.refused)
      else seen.add('unmatched' in answer ? answer.unmatched : `changed ${answer.changed}`)
    }
    for (const { event } of model.journal) seen.add(String(event))
    for (const { state, why } of model.payments) seen.add(why ?? state)
    for (const { state } of model.payouts) seen.add(`payout ${state}`)
    for (const { kind } of model.items) seen.add(String(kind))
  }
  expect([...seen].sort()).toEqual([
    'adjustment',
    'amount_out_of_range',
    'bound',
    'changed false',
    'changed true',
    'claimed_twice',
    'cost_charged',
    'credited',
    'deposit_expired',
    'deposit_failed',
    'deposit_paid',
    'deposit_taken_back',
    'deposit_void',
    'duplicate',
    'fee',
    'insufficient_balance',
    'invalid_transition',
    'late',
    'order_not_cancellable',
    'order_not_found',
    'order_not_refundable',
    'paid_after_failed',
    'paid_twice',
    'payment_assigned',
    'payment_dismissed',
    'payment_received',
    'payment_returned',
    'payout handed',
    'payout rejected',
    'ref_id_conflict',
    'refund_exceeds_payment',
    'refunded_and_taken_back',
    'reserve_released',
    'returned',
    'swept',
    'taken_back',
    'unmatched',
    'withdraw_cancelled',
    'withdraw_failed',
    'withdraw_held',
    'withdraw_paid',
    'withdraw_paid_after_failed',
    'withdraw_reverted',
    'written_off',
    'wrong_amount',
    'wrong_provider',
  ])
})

function contractOf(at: number): PropertyAgent {
  const contract = contracts[at]
  if (!contract) throw new Error(`there is no contract ${at}`)
  return contract
}

/** Turns drafts into commands: each creation gets an id, and the others aim at those made before. */
function commandsOf(drafted: Draft[]): Command[] {
  const created = agentIds.map((): Target[] => [])
  // Days that a release waits have passed for what comes after it, too: the proof finds rows that are days older than the one before.
  let days = 0
  return drafted.map((draft, index) => {
    if (draft.type === 'release_reserve') days += draft.later
    // Some have waited while later ones were written.
    const waited = draft.target % 3 === 0 ? 2.5 * stepMs : 0
    const at = new Date(start + index * stepMs - waited + days * 86_400_000)
    return commandOf(draft, index, at, created[draft.agent] ?? [])
  })
}

interface Target {
  orderId: string
  kind: OrderKind
  amount: bigint
  answer: string
  userId: string
  /** The first payment that was said to be for it. */
  paidBy?: string
}

function commandOf(draft: Draft, index: number, at: Date, own: Target[]): Command {
  const agentId = agentIds[draft.agent] ?? 0n
  const houseId = houseBook(contractOf(draft.agent).currency)
  // The newest first; where there is none, an id that nobody has.
  const aim = own.at(-1 - (draft.target % (own.length || 1)))
  const orderId = aim?.orderId ?? orderIdOf(9_999)
  switch (draft.type) {
    case 'create': {
      const contract = contractOf(draft.agent)
      const feeRule = draft.kind === 'deposit' ? contract.depositFee : contract.withdrawFee
      const rule = parseFeeRule(feeRule, contract.currency)
      if (typeof rule === 'string') throw new Error(rule)
      const fields = {
        agentId,
        orderId: orderIdOf(index + 1),
        kind: draft.kind,
        provider: 'bank',
        createdAt: at,
        refId: `ref "${draft.ref}"`,
        userId: `user-${draft.user}`,
        amountMinor: draft.amount,
        feeMinor: feeOf(draft.amount, rule),
        feeRule,
        lateMoney: draft.kind === 'deposit' ? contract.lateMoney : null,
        reserveRule:
          draft.kind === 'deposit' && contract.reserve !== 'none' ? contract.reserve : null,
        revertFee: draft.kind === 'withdraw' ? contract.revertFee : null,
        extraParams: [null, '{}', '{ "a": 1.50 }', '{"a":1.5}'][draft.extra] ?? null,
        expiresAt: draft.kind === 'deposit' ? new Date(at.getTime() + expiresInMs) : null,
      }
      const order = newOrder(fields, contract.currency)
      const { kind, userId, answer } = order
      own.push({ orderId: order.orderId, kind, amount: draft.amount, answer, userId })
      return { type: 'create', agentId, at, order }
    }
    case 'refund': {
      const contract = contractOf(draft.agent)
      // Mostly a deposit: what is aimed at otherwise cannot be refunded.
      const deposits = own.filter(({ kind }) => kind === 'deposit')
      const deposit = deposits.at(-1 - (draft.target % (deposits.length || 1))) ?? aim
      const rule = parseFeeRule(contract.withdrawFee, contract.currency)
      if (typeof rule === 'string') throw new Error(rule)
      const fields = {
        agentId,
        orderId: orderIdOf(index + 1),
        kind: 'withdraw',
        createdAt: at,
        refId: `refund "${draft.ref}"`,
        refundOf: deposit?.orderId ?? orderId,
        userId: deposit?.userId ?? 'user-0',
        amountMinor: draft.amount,
        feeMinor: feeOf(draft.amount, rule),
        feeRule: contract.withdrawFee,
        revertFee: contract.revertFee,
        extraParams: [null, '{}', '{ "a": 1.50 }', '{"a":1.5}'][draft.extra] ?? null,
      } as const
      const order = newOrder(fields, contract.currency)
      const { userId, answer } = order
      // Most are refused: only some are aimed at afterwards, so that there are enough events of others.
      const isAimedAt = draft.amount < 200n && draft.version === 2
      if (isAimedAt) {
        own.push({ orderId: order.orderId, kind: 'withdraw', amount: draft.amount, answer, userId })
      }
      return { type: 'create', agentId, at, order, depositVersion: draft.version }
    }
    case 'hand_over':
      return {
        type: 'hand_over',
        agentId,
        at,
        orderId,
        provider: 'bank',
        references: [`${orderId}-${draft.provider}`],
        insteadOf: draft.provider === 0 ? null : `${orderId}-${draft.provider - 1}`,
        token: randomUUID(),
        askAt: new Date(at.getTime() + stepMs),
      }
    case 'cancel':
      return { type: 'cancel', agentId, at, orderId }
    case 'expire':
      return { type: 'expire', agentId, at, orderId }
    case 'outcome':
      return {
        type: 'outcome',
        agentId,
        at,
        orderId,
        to: draft.to,
        ...(draft.by === 'person' && { evidence: 'seen' }),
        ...(draft.by === 'former' && { provider: 'former', providerRef: `${orderId}-former` }),
      }
    case 'receive_payment': {
      const payment = {
        paymentId: paymentOf(draft),
        amountMinor: (aim?.amount ?? 1_000n) + draft.off,
        paidAt: new Date(at.getTime() - draft.lag * stepMs),
        payer:
          draft.payer === null
            ? null
            : { accountNo: draft.payer, accountName: null, bankCode: null },
      }
      if (aim && draft.matched) aim.paidBy ??= payment.paymentId
      return {
        type: 'receive_payment',
        agentId,
        at,
        orderId: draft.matched ? orderId : null,
        provider: draft.by,
        payment,
      }
    }
    case 'credit_payment':
      return { type: 'credit_payment', agentId, at, orderId, paymentId: paymentOf(draft) }
    case 'credit_wallet':
      return { type: draft.type, agentId, at, paymentId: paymentOf(draft), reason: 'found' }
    case 'return_payment':
      return { type: draft.type, agentId, at, paymentId: paymentOf(draft), evidence: 'sent' }
    case 'take_back': {
      // Often one that a deposit was paid with, so that there is something to take back.
      const paid = own.filter(({ paidBy }) => paidBy !== undefined)
      const found = paid.at(-1 - (draft.target % (paid.length || 1)))
      const isKnown = found !== undefined && draft.payment > 3
      return {
        type: 'take_back_payment',
        agentId,
        at,
        orderId: isKnown ? found.orderId : draft.target === 0 ? null : orderId,
        paymentId: (isKnown ? found.paidBy : undefined) ?? paymentOf(draft),
      }
    }
    case 'instruct':
      return {
        type: 'instruct',
        agentId,
        at,
        orderId,
        provider: 'bank',
        providerRef: orderId,
        instructions: '{"pay":"here"}',
        answer: aim?.answer.replace('"method":"link"', '"method":"link+qrcode"') ?? '',
      }
    case 'adjust':
      return {
        type: 'adjust',
        agentId,
        at,
        amountMinor: draft.amount,
        reason: 'property',
        ref: String(draft.ref),
      }
    case 'receive_unmatched':
      return {
        type: 'receive_unmatched',
        agentId: houseId,
        at,
        unmatched: {
          paymentId: `bank:${draft.agent}-u-${draft.payment}`,
          reference: '?',
          amountMinor: draft.amount,
          currency: contractOf(draft.agent).currency,
          paidAt: at,
          payer: null,
          why: 'unmatched',
          contradicts: null,
        },
      }
    case 'end_unmatched': {
      const paymentId = `bank:${draft.agent}-u-${draft.payment}`
      return {
        type: draft.type,
        agentId: houseId,
        at,
        paymentId,
        state: draft.state,
        evidence: 'e',
      }
    }
    case 'assign_payment':
      return {
        type: 'assign_payment',
        agentId,
        houseId,
        at,
        orderId: draft.matched ? orderId : null,
        paymentId: `bank:${draft.agent}-u-${draft.payment}`,
        reason: draft.byPerson ? 'theirs' : null,
      }
    case 'charge_cost':
      return {
        type: 'charge_cost',
        agentId,
        at,
        orderId,
        provider: 'rival',
        costId: `${draft.ref}`,
        amountMinor: draft.amount,
      }
    case 'release_reserve':
      return { type: 'release_reserve', agentId, orderId, at }
    case 'sweep':
      return { type: 'sweep', agentId, houseId, at, day: `2026-01-0${draft.ref + 1}` }
    case 'write_off':
      return {
        type: 'write_off',
        agentId: houseId,
        at,
        provider: 'bank',
        amountMinor: draft.amount,
        reason: 'property',
        ref: String(draft.ref),
      }
  }
}

/** Of the agent's own: which of two agents is first is not for the order of commands to say. */
function paymentOf({ agent, payment }: { agent: number; payment: number }): string {
  return `bank:${agent}-${payment}`
}

function oneByOne(commands: Command[]) {
  return onEmptyBooks({ maxBatch: 1, writers: 1 }, async (teller) => {
    const answers: ModelAnswer[] = []
    for (const command of commands) answers.push(await answerOf(teller, command))
    return answers
  })
}

function inChunks(commands: Command[], sizes: number[]) {
  return onEmptyBooks({ maxBatch: 1_000, writers: 1 }, async (teller) => {
    const answers: ModelAnswer[] = []
    for (const wave of wavesOf(commands)) {
      for (let done = 0, turn = 0; done < wave.length; turn++) {
        const chunk = wave.slice(done, done + (sizes[turn % sizes.length] ?? 1))
        answers.push(...(await Promise.all(chunk.map((command) => answerOf(teller, command)))))
        done += chunk.length
      }
    }
    return answers
  })
}

function allAtOnce(commands: Command[], options: { maxBatch: number; writers: number }) {
  return onEmptyBooks(options, async (teller) => {
    const answers: ModelAnswer[] = []
    for (const wave of wavesOf(commands)) {
      answers.push(...(await Promise.all(wave.map((command) => answerOf(teller, command)))))
    }
    return answers
  })
}

/**
 * Creating a deposit waits for nobody, and commands on two books wait for nobody's turn, so what is asked beside it may come first. Commands that a
 * deposit's creation matters to are therefore asked after it was answered, as its agent would.
 */
function wavesOf(commands: Command[]): Command[][] {
  const waves: Command[][] = []
  let wave: Command[] = []
  for (const command of commands) {
    if (
      wave.some(
        (earlier) =>
          isAboutDepositOf(command, earlier) ||
          isAboutDepositOf(earlier, command) ||
          isOnTwoBooks(command) ||
          isOnTwoBooks(earlier),
      )
    ) {
      waves.push(wave)
      wave = []
    }
    wave.push(command)
  }
  return [...waves, wave]
}

/** Which comes first of it and another command on one of its books is not for their order to say. */
function isOnTwoBooks(command: Command): boolean {
  return booksOf(command).length > 1
}

function isAboutDepositOf(command: Command, creation: Command): boolean {
  if (creation.type !== 'create' || creation.order.kind !== 'deposit') return false
  if (creation.agentId !== command.agentId) return false
  return command.type === 'create'
    ? command.order.refId === creation.order.refId ||
        command.order.refundOf === creation.order.orderId
    : 'orderId' in command && command.orderId === creation.order.orderId
}

async function onEmptyBooks(
  options: { maxBatch: number; writers: number },
  run: (teller: Teller) => Promise<ModelAnswer[]>,
) {
  await owner.query(
    `delete from callbacks; delete from callback_bodies; delete from payments; delete from payment_claims;
     delete from unmatched_payments; delete from clearings; delete from journal; delete from payouts; delete from payout_references; delete from open_items;
     delete from orders;
     update wallets set seq = 0, hash = repeat('0', 64), ${accountNames.map((name) => `${name} = 0`).join(', ')}`,
  )
  const teller = new Teller({
    pool: tellerPool,
    localTime: localTimeIn('UTC'),
    maxQueue: 1_000,
    patienceMs: 10_000,
    ...options,
  })
  const answers = await run(teller)
  const findings = (await verify(owner, {})).map(({ finding }) => finding)
  expect(findings.filter((finding) => finding !== null)).toEqual([])
  return { answers, ...(await readRows()) }
}

async function answerOf(teller: Teller, command: Command): Promise<ModelAnswer> {
  try {
    const { order, changed, unmatched } = await teller.do(command)
    if (unmatched) return { unmatched }
    const isRepeat = command.type === 'create' && !changed
    return { status: isRepeat ? null : (order?.status ?? null), changed }
  } catch (error) {
    if (error instanceof Problem) return { refused: error.code }
    throw error
  }
}

const orderColumns = `agent_id, replace(order_id::text, '-', '') as order_id, kind, ref_id,
  replace(refund_of::text, '-', '') as refund_of, user_id, currency,
  amount, fee, fee_rule, late_money, reserve_rule, revert_fee, account_name, account_no, bank_code, extra_params,
  status, version, answer,
  created_at, expires_at, completed_at, paid_amount, paid_fee, release_at, provider, provider_ref,
  handed_over_at, instructions`

async function readRows() {
  const read = async (text: string) => (await owner.query(text)).rows
  const orderId = `replace(order_id::text, '-', '') as order_id`
  return {
    wallets: await read(
      `select agent_id, seq, ${accountNames.join(', ')} from wallets
       where agent_id > 0 or currency in ('THB', 'VND') order by agent_id`,
    ),
    clearings: await read(
      `select agent_id, provider, balance from clearings order by agent_id, provider`,
    ),
    unmatched: await read(
      `select payment_id, state, assigned_to, received_seq, decided_seq from unmatched_payments
       order by payment_id`,
    ),
    orders: await read(`select ${orderColumns} from orders order by agent_id, order_id`),
    journal: await read(
      `select agent_id, seq, ${orderId}, event, at, currency,
         ${accountNames.map((name) => `${name}_change, ${name}`).join(', ')}, clearing_at,
         clearing_there, once_key, reason
       from journal order by agent_id, seq`,
    ),
    callbacks: await read(
      `select c.agent_id, c.seq, ${orderId}, b.body, c.state, c.created_at
       from callbacks c join callback_bodies b using (agent_id, seq, created_at)
       order by c.agent_id, c.seq`,
    ),
    payments: await read(
      `select agent_id, payment_id, ${orderId}, amount, paid_at, reported_at, payer_account_no,
         payer_account_name, payer_bank_code, state, why, credited_to, evidence, received_seq,
         returned_seq
       from payments order by agent_id, payment_id`,
    ),
    payouts: await read(
      `select agent_id, ${orderId}, attempt, provider, reference, state, handed_at, asks, ask_at
       from payouts order by agent_id, order_id, attempt`,
    ),
    items: await read(
      `select agent_id, item_id, kind, ${orderId}, reference, amount, provider_said, opened_at,
         closed_at
       from open_items order by agent_id, item_id`,
    ),
  }
}

/** The model's rows, named and sorted as the database has them. */
function rowsOf(model: NaiveModel) {
  const sorted = <T>(rows: T[], keyOf: (row: T) => string) =>
    rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const bySeq = (row: Record<string, unknown>) =>
    `${String(Number(row.agent_id) + 1_000).padStart(6, '0')} ${String(row.seq).padStart(6, '0')}`
  return {
    wallets: [...model.wallets]
      .map(([agent_id, wallet]) => ({ agent_id, ...wallet }))
      .sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1)),
    clearings: [...model.clearings]
      .map(([key, balance]) => {
        const [agentId = '', provider = ''] = key.split(' ')
        return { agent_id: BigInt(agentId), provider, balance }
      })
      .sort((a, b) =>
        a.agent_id === b.agent_id
          ? a.provider < b.provider
            ? -1
            : 1
          : a.agent_id < b.agent_id
            ? -1
            : 1,
      ),
    unmatched: sorted(
      model.unmatched.map((each) => ({
        payment_id: each.paymentId,
        state: each.state,
        assigned_to: each.assignedTo,
        received_seq: each.receivedSeq,
        decided_seq: each.decidedSeq,
      })),
      ({ payment_id }) => payment_id,
    ),
    orders: sorted(
      model.orders.map((order) => ({
        agent_id: order.agentId,
        order_id: order.orderId,
        kind: order.kind,
        ref_id: order.refId,
        refund_of: order.refundOf,
        user_id: order.userId,
        currency: order.currency,
        amount: order.amountMinor,
        fee: order.feeMinor,
        fee_rule: order.feeRule,
        late_money: order.lateMoney,
        reserve_rule: order.reserveRule,
        revert_fee: order.revertFee,
        account_name: order.accountName,
        account_no: order.accountNo,
        bank_code: order.bankCode,
        extra_params: order.extraParams,
        status: order.status,
        version: order.version,
        answer: order.answer,
        created_at: order.createdAt,
        expires_at: order.expiresAt,
        completed_at: order.completedAt,
        paid_amount: order.paidAmountMinor,
        paid_fee: order.paidFeeMinor,
        release_at: order.releaseAt,
        provider: order.provider,
        provider_ref: order.providerRef,
        handed_over_at: order.handedOverAt,
        instructions: order.instructions,
      })),
      (order) => `${order.agent_id} ${order.order_id}`,
    ),
    journal: sorted(model.journal, bySeq),
    callbacks: sorted(model.callbacks, bySeq),
    payments: sorted(
      model.payments.map((payment) => ({
        agent_id: payment.agentId,
        payment_id: payment.paymentId,
        order_id: payment.orderId,
        amount: payment.amount,
        paid_at: payment.paidAt,
        reported_at: payment.reportedAt,
        payer_account_no: payment.payer,
        payer_account_name: null,
        payer_bank_code: null,
        state: payment.state,
        why: payment.why,
        credited_to: payment.creditedTo,
        evidence: payment.evidence,
        received_seq: payment.receivedSeq,
        returned_seq: payment.returnedSeq,
      })),
      (payment) => `${payment.agent_id} ${payment.payment_id}`,
    ),
    payouts: sorted(
      model.payouts,
      (payout) => `${payout.agent_id} ${payout.order_id} ${payout.attempt}`,
    ),
    items: sorted(model.items, (item) => `${item.agent_id} ${item.item_id}`),
  }
}
