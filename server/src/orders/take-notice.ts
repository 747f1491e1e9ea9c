import { createHash } from 'node:crypto'
import { currencyOf } from '../agents/agent-currency.ts'
import type { Pool } from '../db/pool.ts'
import { isArchivedOrder } from '../ledger/archived.ts'
import { findPayout } from '../ledger/payouts.ts'
import { gather } from '../lib/gather.ts'
import { parseTxnId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from './desk.ts'
import { findOrder } from './find-order.ts'
import { type Effect, settle } from './pay-out.ts'
import {
  areUnmatched,
  findPayments,
  findUnmatched,
  recordUnmatched,
  returnUnmatched,
} from './payments.ts'

type NoticeDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers'>

/** What a column of amounts can hold. */
const largestAmount = 2n ** 63n - 1n

interface NoticeRecord {
  agentId: bigint
  orderId: string | null
  provider: string
  eventId: string
  receivedAt: Date
  body: Buffer
}

/** Takes notices of providers: each event is on disk as it came before it is acted on. */
export class NoticeTaker {
  private readonly desk: NoticeDesk
  private readonly record: (notice: NoticeRecord) => Promise<Effect | undefined>
  private readonly finish: (done: { notice: NoticeRecord; effect: Effect }) => Promise<undefined>
  private readonly isUnmatched: (paymentId: string) => Promise<boolean>

  constructor(desk: NoticeDesk) {
    this.desk = desk
    this.record = gather((notices) => recordNotices(desk.pool, notices))
    this.finish = gather((done) => finishNotices(desk.pool, done))
    this.isUnmatched = gather((paymentIds) => areUnmatched(desk.pool, paymentIds))
  }

  /** What became of each event. Throws where it cannot be told yet: then it must be reported again. */
  async take(
    provider: Provider,
    events: ProviderEvent[],
    body: Buffer,
  ): Promise<({ id: string } & Effect)[]> {
    const effects: ({ id: string } & Effect)[] = []
    // In the order in which the provider tells them.
    for (const event of events.map(storable)) {
      const named = agentNamedIn(event)
      const notice: NoticeRecord = {
        agentId: named?.agentId ?? 0n,
        orderId: named?.orderId ?? null,
        provider: provider.name,
        eventId: event.id,
        receivedAt: this.desk.now(),
        body,
      }
      const before = await this.record(notice)
      const effect = before ?? (await this.act(provider, event))
      if (!before) await this.finish({ notice, effect })
      effects.push({ id: event.id, ...effect })
    }
    return effects
  }

  private async act(provider: Provider, event: ProviderEvent): Promise<Effect> {
    const { desk } = this
    switch (event.type) {
      case 'payment': {
        // Whatever it is said to be for now: somebody is to decide on it, or has.
        const paymentId = paymentIdOf(provider, event)
        if (await this.isUnmatched(paymentId)) return { result: 'unchanged' }
        return takePayment(desk, paymentId, event)
      }
      case 'payment_taken_back':
        return takeBack(desk, paymentIdOf(provider, event), event)
      case 'deposit_ended':
        return endDeposit(desk, provider, event)
      case 'payout': {
        const named = agentNamedIn(event)
        const payout =
          named && (await findPayout(desk.pool, named.agentId, provider.name, event.reference))
        if (!payout) {
          // It stays open until somebody has found out what it means for an order that has left the books.
          if (named && (await isArchivedOrder(desk.pool, named.agentId, named.orderId))) {
            const detail = 'The order of this payout was archived; a person has to look into it.'
            throw new Problem('overloaded', detail, { retryAfterS: 60 })
          }
          return { result: 'refused', detail: 'There is no such payout.' }
        }
        return settle(desk, payout, event.outcome)
      }
    }
  }
}

/** The event with nothing in it that the database would refuse: what a provider says must be kept. */
function storable(event: ProviderEvent): ProviderEvent {
  const plain = (text: string) => text.replaceAll('\0', '')
  const plainOrNull = (text: string | null) => text && plain(text)
  const common = { id: storableId(event.id, 200), reference: plain(event.reference) }
  if (event.type !== 'payment') return { ...event, ...common }
  const { payer } = event
  return {
    ...event,
    ...common,
    payer: payer && {
      accountNo: plainOrNull(payer.accountNo),
      accountName: plainOrNull(payer.accountName),
      bankCode: plainOrNull(payer.bankCode),
    },
  }
}

/** An id as it is, or its digest where it is too long or cannot be written. */
function storableId(id: string, longest: number): string {
  if (id.length >= 1 && id.length <= longest && !id.includes('\0')) return id
  return `sha256-${createHash('sha256').update(id).digest('hex')}`
}

/** What a payment is known by: the provider's name and its own id. */
function paymentIdOf(provider: Provider, { paymentId }: { paymentId: string }): string {
  return `${provider.name}:${storableId(paymentId, 160)}`
}

/** A payout's reference is its order's id and the number of the attempt. */
function agentNamedIn({ reference }: ProviderEvent) {
  return parseTxnId(reference) ?? parseTxnId(reference.replace(/-\d{1,3}$/, ''))
}

async function takePayment(
  desk: NoticeDesk,
  paymentId: string,
  event: ProviderEvent & { type: 'payment' },
): Promise<Effect> {
  if (event.amountMinor <= 0n || event.amountMinor > largestAmount) {
    return { result: 'refused', detail: 'This is not an amount.' }
  }
  const at = desk.now()
  const payment = {
    paymentId,
    amountMinor: event.amountMinor,
    paidAt: event.paidAt ?? at,
    payer: event.payer,
  }
  const named = parseTxnId(event.reference)
  const isOurs = named && (await currencyOf(desk.pool, named.agentId)) === event.currency
  if (isOurs) {
    try {
      const done = await desk.teller.do({ type: 'receive_payment', ...named, at, payment })
      if (!done.changed) return { result: 'unchanged' }
      const why = done.payment?.why
      return why ? { result: 'waiting', detail: why } : { result: 'applied' }
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'order_not_found') throw error
    }
  }
  // It may have been somebody's before, under another reference.
  if ((await findPayments(desk.pool, paymentId)).length > 0) return { result: 'unchanged' }
  const { reference, currency } = event
  const isNew = await recordUnmatched(desk.pool, { ...payment, reference, currency }, at)
  return isNew ? { result: 'waiting', detail: 'unmatched' } : { result: 'unchanged' }
}

async function takeBack(
  desk: NoticeDesk,
  paymentId: string,
  event: ProviderEvent & { type: 'payment_taken_back' },
): Promise<Effect> {
  const again = (detail: string) => new Problem('overloaded', detail, { retryAfterS: 1 })
  const at = desk.now()
  const unmatched = await findUnmatched(desk.pool, paymentId)
  if (unmatched?.state === 'returned') return { result: 'unchanged' }
  if (unmatched?.state === 'waiting') {
    if (await returnUnmatched(desk.pool, paymentId, 'The bank took it back.', at)) {
      return { result: 'applied' }
    }
    throw again('The payment is being decided on; report it again.')
  }
  const named = parseTxnId(event.reference)?.agentId
  const found = await findPayments(desk.pool, paymentId)
  const payment = found.find(({ agentId }) => agentId === named) ?? found[0]
  // The news of the payment itself has not come yet.
  if (!payment) throw again(`Payment ${event.paymentId} is not known yet; report it again.`)
  const { agentId, orderId } = payment
  const effect = await effectOf(
    desk.teller.do({ type: 'take_back_payment', agentId, orderId, paymentId, at }),
  )
  // It was credited elsewhere since it was read, or the wallet cannot give it: the money is gone all the same.
  if (effect.result === 'refused') throw again(effect.detail ?? 'Report it again.')
  return effect
}

async function endDeposit(
  desk: NoticeDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'deposit_ended' },
): Promise<Effect> {
  const named = parseTxnId(event.reference)
  const order = named && (await findOrder(desk.pool, named.agentId, named.orderId))
  if (order?.kind !== 'deposit' || order.provider !== provider.name) {
    return { result: 'refused', detail: 'The provider has no such deposit.' }
  }
  const { agentId, orderId } = order
  return effectOf(
    desk.teller.do({ type: 'outcome', agentId, orderId, at: desk.now(), to: event.status }),
  )
}

async function effectOf(doing: Promise<{ changed: boolean }>): Promise<Effect> {
  try {
    return { result: (await doing).changed ? 'applied' : 'unchanged' }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return { result: 'refused', detail: error.message }
  }
}

/** For each notice, what became of it when it came before; undefined where it is still to be acted on. */
async function recordNotices(pool: Pool, notices: NoticeRecord[]): Promise<(Effect | undefined)[]> {
  const keys = [
    notices.map(({ agentId }) => agentId),
    notices.map(({ provider }) => provider),
    notices.map(({ eventId }) => eventId),
  ]
  const { rowCount } = await pool.query(
    `insert into notices (agent_id, provider, event_id, received_at, body, order_id)
     select a, p, e, r, decode(b, 'base64'), o
     from unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::uuid[])
       n(a, p, e, r, b, o)
     on conflict do nothing`,
    [
      ...keys,
      notices.map(({ receivedAt }) => receivedAt.toISOString()),
      notices.map(({ body }) => body.toString('base64')),
      notices.map(({ orderId }) => orderId),
    ],
  )
  if (rowCount === notices.length) return notices.map(() => undefined)
  const { rows } = await pool.query<{
    agent_id: bigint
    provider: string
    event_id: string
    detail: string | null
  }>(
    `select n.agent_id, n.provider, n.event_id, n.detail from notices n
     join unnest($1::bigint[], $2::text[], $3::text[]) k(a, p, e)
       on n.agent_id = k.a and n.provider = k.p and n.event_id = k.e
     where n.result is not null`,
    keys,
  )
  return notices.map((notice) => {
    const row = rows.find(
      (each) =>
        each.event_id === notice.eventId &&
        each.provider === notice.provider &&
        each.agent_id === notice.agentId,
    )
    return row && { result: 'unchanged', ...(row.detail !== null && { detail: row.detail }) }
  })
}

async function finishNotices(
  pool: Pool,
  done: { notice: NoticeRecord; effect: Effect }[],
): Promise<undefined[]> {
  await pool.query(
    `update notices n set result = u.r, detail = u.d
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) u(a, p, e, r, d)
     where n.agent_id = u.a and n.provider = u.p and n.event_id = u.e and n.result is null`,
    [
      done.map(({ notice }) => notice.agentId),
      done.map(({ notice }) => notice.provider),
      done.map(({ notice }) => notice.eventId),
      done.map(({ effect }) => effect.result),
      done.map(({ effect }) => effect.detail?.replaceAll('\0', '').slice(0, 1_000) ?? null),
    ],
  )
  return done.map(() => undefined)
}
