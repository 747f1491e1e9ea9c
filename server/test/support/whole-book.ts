import { randomUUID } from 'node:crypto'
import type { Pool } from '../../src/db/pool.ts'
import type { Order, OrderKind, OrderStatus, Payer } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import { houseBook } from '../../src/ledger/house.ts'
import { closeItem } from '../../src/ledger/open-items.ts'
import type { PayoutState } from '../../src/ledger/payout-state.ts'
import { writeAudit } from '../../src/operators/audit.ts'
import type { Teller } from '../../src/teller/teller.ts'
import { newOrder, orderIdOf } from './naive-model.ts'

export const payer: Payer = {
  accountNo: '1234567890',
  accountName: 'Somchai Jaidee',
  bankCode: 'SCB',
}

/**
 * Writes an agent's book in which everything has happened that can: each event, each way that a payment and
 * a payout can end, and what is still open. Orders are known by the refId that they are made with.
 */
export async function writeWholeBook(owner: Pool, teller: Teller, agentId: bigint): Promise<void> {
  const houseId = houseBook('THB')
  let minute = 0
  let orders = 0
  const at = () => new Date(Date.UTC(2026, 0, 1, 0, ++minute, 7))
  const open = async (kind: OrderKind, refId: string, refunded?: Order, rule?: string) => {
    const createdAt = at()
    const fields: Partial<Order> = {
      refId,
      feeMinor: 150n,
      feeRule: '1.5%',
      revertFee: kind === 'withdraw' ? 'keep' : null,
      refundOf: refunded?.orderId ?? null,
      reserveRule: rule ?? null,
    }
    const extraParams = '{"shelf": 7.50}'
    const orderId = orderIdOf(Number(agentId) * 1_000 + ++orders)
    const order = newOrder({ agentId, orderId, kind, createdAt, extraParams, ...fields })
    const paid = refunded && { depositVersion: 2 }
    await teller.do({ type: 'create', agentId, at: createdAt, order, ...paid })
    return order
  }
  const outcome = ({ orderId }: Order, to: OrderStatus) =>
    teller.do({ type: 'outcome', agentId, at: at(), orderId, to })
  const tellPaid = ({ orderId, refId }: Order, evidence?: string) => {
    const named = { provider: 'bank', providerRef: `${refId}-1`, ...(evidence && { evidence }) }
    return teller.do({ type: 'outcome', agentId, at: at(), orderId, to: 'PAID', ...named })
  }
  const receive = (order: Order | null, id: string, amountMinor = 10_000n) => {
    const payment = { paymentId: `bank:${id}`, amountMinor, paidAt: at(), payer }
    const orderId = order?.orderId ?? null
    const received = { type: 'receive_payment', provider: null, orderId, payment } as const
    return teller.do({ ...received, agentId, at: at() })
  }
  const handOver = async ({ orderId, refId }: Order, attempt: number) => {
    const [provider, insteadOf] = attempt === 1 ? ['bank', null] : ['other', `${refId}-1`]
    const handed: Command = {
      type: 'hand_over',
      agentId,
      at: at(),
      orderId,
      provider,
      references: [`${refId}-${attempt}`],
      insteadOf,
      token: randomUUID(),
      askAt: at(),
    }
    await teller.do(handed)
  }
  const end = (refId: string, state: PayoutState) =>
    owner.query(
      `update payouts set state = $2, ask_at = null where agent_id = $1 and reference = $3`,
      [agentId, state, `${refId}-1`],
    )

  await teller.do({
    type: 'adjust',
    agentId,
    at: at(),
    amountMinor: 200_000n,
    reason: 'funds',
    ref: 'funds',
  })
  const refunded = await open('deposit', 'paid')
  await receive(refunded, 'paid')
  await outcome(await open('deposit', 'failed'), 'FAILED')
  await outcome(await open('deposit', 'expired'), 'EXPIRED')
  await outcome(await open('deposit', 'void'), 'VOID')
  const underpaid = await open('deposit', 'underpaid')
  await receive(underpaid, 'part', 4_000n)
  const part = { orderId: underpaid.orderId, paymentId: 'bank:part' }
  await teller.do({ type: 'credit_payment', agentId, at: at(), ...part })
  for (const refId of ['reserved', 'released', 'taken from reserve', 'taken after release']) {
    const reserved = await open('deposit', refId, undefined, '10%/1')
    await receive(reserved, refId)
    const its = { agentId, orderId: reserved.orderId }
    if (refId.includes('release')) {
      minute += 2 * 1_440
      await teller.do({ type: 'release_reserve', at: at(), ...its })
    }
    const gone = { type: 'take_back_payment', paymentId: `bank:${refId}` } as const
    if (refId.includes('taken')) await teller.do({ ...gone, at: at(), ...its })
  }
  const again = await open('deposit', 'paid again')
  await receive(again, 'gone')
  const { orderId } = again
  await teller.do({ type: 'take_back_payment', agentId, at: at(), orderId, paymentId: 'bank:gone' })
  await receive(again, 'late')
  await teller.do({ type: 'credit_payment', agentId, at: at(), orderId, paymentId: 'bank:late' })
  const instructed = await open('deposit', 'instructed')
  await teller.do({
    type: 'instruct',
    agentId,
    at: at(),
    orderId: instructed.orderId,
    provider: 'bank',
    providerRef: 'i-1',
    instructions:
      '{"qrcodeText":"000201","transfer":{"bankCode":"SCB","accountNumber":"999","accountName":"Us"}}',
    answer: instructed.answer.replace(
      '"expires_in"',
      '"qrcode":{"qrcode_text":"000201","qrcode_date_url":{"encoder":1}},"transfer":{"bank_code":"SCB","account_number":"999","account_name":"Us","amount":100},"expires_in"',
    ),
  })
  await receive(await open('deposit', 'waiting'), 'wrong', 5_000n)
  await receive(null, 'given back')
  const [paymentId, evidence, reason] = ['bank:given back', 'a slip', 'theirs']
  await teller.do({ type: 'return_payment', agentId, at: at(), paymentId, evidence })
  const receiveUnmatched = (id: string) =>
    teller.do({
      type: 'receive_unmatched',
      agentId: houseId,
      at: at(),
      unmatched: {
        paymentId: `bank:${id}`,
        reference: '?',
        amountMinor: 10_000n,
        currency: 'THB',
        paidAt: at(),
        payer,
        why: 'unmatched',
        contradicts: null,
      },
    })
  await receiveUnmatched('nobody waiting')
  for (const state of ['returned', 'dismissed'] as const) {
    await receiveUnmatched(`nobody ${state}`)
    const decided = { paymentId: `bank:nobody ${state}`, state, evidence }
    await teller.do({ type: 'end_unmatched', agentId: houseId, at: at(), ...decided })
  }
  await receiveUnmatched('kept')
  const assigned = { houseId, orderId: null, paymentId: 'bank:kept', reason }
  await teller.do({ type: 'assign_payment', agentId, at: at(), ...assigned })
  await receive(null, 'lost')
  await teller.do({ type: 'credit_wallet', agentId, at: at(), paymentId: 'bank:lost', reason })
  const lost = { orderId: null, paymentId: 'bank:lost' }
  await teller.do({ type: 'take_back_payment', agentId, at: at(), ...lost })

  for (const [refId, to, state] of [
    ['w paid', 'PAID', 'paid'],
    ['w failed', 'FAILED', 'rejected'],
    ['w cancelled', 'CANCEL', 'cancelled'],
    ['w reverted', 'PAID', 'returned'],
  ] as const) {
    const order = await open('withdraw', refId)
    await handOver(order, 1)
    await outcome(order, to)
    if (state === 'returned') await outcome(order, 'REVERT')
    await end(refId, state)
  }
  const contradicted = async (refId: string, to: 'FAILED' | 'CANCEL', state: PayoutState) => {
    const order = await open('withdraw', refId)
    await handOver(order, 1)
    await outcome(order, to)
    await end(refId, state)
    return tellPaid(order)
  }
  await contradicted('w item', 'FAILED', 'rejected')
  const { item: looked } = await contradicted('w looked', 'CANCEL', 'cancelled')
  if (!looked) throw new Error('nothing contradicts the books')
  const closed = { at: at(), by: 'command line', evidence }
  const subject = { kind: 'open_item', id: looked.itemId }
  const operator = { userId: null, email: closed.by, ip: null }
  await writeAudit(owner, { operator, action: 'close_open_item', subject, agentId, at: closed.at })
  await closeItem(owner, looked, closed)
  const { order: afterAll } = await contradicted('w after all', 'FAILED', 'rejected')
  if (!afterAll) throw new Error('there is no order')
  await tellPaid(afterAll, evidence)
  const elsewhere = await open('withdraw', 'w elsewhere')
  await handOver(elsewhere, 1)
  await handOver(elsewhere, 2)
  await open('withdraw', 'w open')
  await open('withdraw', 'w refund', refunded)
  const cost = { provider: 'bank', costId: 'c-1', amountMinor: 25n }
  await teller.do({ type: 'charge_cost', agentId, at: at(), orderId, ...cost })
  await teller.do({ type: 'sweep', agentId, houseId, at: at(), day: '2026-01-01' })
  const difference = { provider: 'bank', amountMinor: -3n, reason: 'rounding', ref: 'd-1' }
  await teller.do({ type: 'write_off', agentId: houseId, at: at(), ...difference })
}
