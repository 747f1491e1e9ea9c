import { currencyOf } from '../agents/agent-currency.ts'
import type { Pool } from '../db/pool.ts'
import { findPayout } from '../ledger/payouts.ts'
import { gather } from '../lib/gather.ts'
import { parseTxnId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from './desk.ts'
import { findOrder } from './find-order.ts'
import { type Effect, settle } from './pay-out.ts'
import { findPayment, findUnmatched, recordUnmatched, returnUnmatched } from './payments.ts'

type NoticeDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers'>

interface NoticeRecord {
  agentId: bigint
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

  constructor(desk: NoticeDesk) {
    this.desk = desk
    this.record = gather((notices) => recordNotices(desk.pool, notices))
    this.finish = gather((done) => finishNotices(desk.pool, done))
  }

  /** What became of each event. Throws where it cannot be told yet: then it must be reported again. */
  async take(
    provider: Provider,
    events: ProviderEvent[],
    body: Buffer,
  ): Promise<({ id: string } & Effect)[]> {
    const effects: ({ id: string } & Effect)[] = []
    // In the order in which the provider tells them.
    for (const event of events) {
      const notice: NoticeRecord = {
        agentId: agentNamedIn(event)?.agentId ?? 0n,
        provider: provider.name,
        eventId: event.id,
        receivedAt: this.desk.now(),
        body,
      }
      const before = await this.record(notice)
      const effect = before ?? (await act(this.desk, provider, event))
      if (!before) await this.finish({ notice, effect })
      effects.push({ id: event.id, ...effect })
    }
    return effects
  }
}

/** A payout's reference is its order's id and the number of the attempt. */
function agentNamedIn({ reference }: ProviderEvent) {
  return parseTxnId(reference) ?? parseTxnId(reference.replace(/-\d{1,3}$/, ''))
}

async function act(desk: NoticeDesk, provider: Provider, event: ProviderEvent): Promise<Effect> {
  switch (event.type) {
    case 'payment':
      return takePayment(desk, provider, event)
    case 'payment_taken_back':
      return takeBack(desk, provider, event)
    case 'deposit_ended':
      return endDeposit(desk, provider, event)
    case 'payout': {
      const named = agentNamedIn(event)
      const payout =
        named && (await findPayout(desk.pool, named.agentId, provider.name, event.reference))
      if (!payout) return { result: 'refused', detail: 'There is no such payout.' }
      return settle(desk, payout, event.outcome)
    }
  }
}

async function takePayment(
  desk: NoticeDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'payment' },
): Promise<Effect> {
  const at = desk.now()
  const payment = {
    paymentId: `${provider.name}:${event.paymentId}`,
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
  const { reference, currency } = event
  const isNew = await recordUnmatched(desk.pool, { ...payment, reference, currency }, at)
  return isNew ? { result: 'waiting', detail: 'unmatched' } : { result: 'unchanged' }
}

async function takeBack(
  desk: NoticeDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'payment_taken_back' },
): Promise<Effect> {
  const paymentId = `${provider.name}:${event.paymentId}`
  const unmatched = await findUnmatched(desk.pool, paymentId)
  const at = desk.now()
  if (unmatched?.state === 'waiting') {
    await returnUnmatched(desk.pool, paymentId, 'The bank took it back.', at)
    return { result: 'applied' }
  }
  if (unmatched?.state === 'returned') return { result: 'unchanged' }
  const agentId = unmatched?.assignedTo ?? parseTxnId(event.reference)?.agentId
  const payment = agentId && (await findPayment(desk.pool, agentId, paymentId))
  if (!agentId || !payment) {
    // The news of the payment itself has not come yet.
    throw new Problem(
      'overloaded',
      `Payment ${event.paymentId} is not known yet; report it again.`,
      {
        retryAfterS: 1,
      },
    )
  }
  const { orderId } = payment
  return effectOf(desk.teller.do({ type: 'take_back_payment', agentId, orderId, paymentId, at }))
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
    `insert into notices (agent_id, provider, event_id, received_at, body)
     select a, p, e, r, decode(b, 'base64')
     from unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::text[])
       n(a, p, e, r, b)
     on conflict do nothing`,
    [
      ...keys,
      notices.map(({ receivedAt }) => receivedAt.toISOString()),
      notices.map(({ body }) => body.toString('base64')),
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
      done.map(({ effect }) => effect.detail?.slice(0, 1_000) ?? null),
    ],
  )
  return done.map(() => undefined)
}
