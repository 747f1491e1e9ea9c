import { columns } from '../db/columns.ts'

/**
 * A provider's notice of one payment, recorded in the transaction that books the payment: it is on disk with its result,
 * or neither is. Recording it first, booking, and recording the result took three transactions, and 1,400 to 1,570 µs of
 * PostgreSQL besides the teller's for an order, instead of 670 to 830 in the same minutes. `payments/` records all other
 * notices.
 */
export interface TakenNotice {
  agentId: bigint
  provider: string
  eventId: string
  orderId: string
  noticeId: string
  receivedAt: Date
  /** The event as it was understood. */
  event: string
  /** The notice as it came, in base64. */
  body: string
}

/** A notice whose payment was booked, and whether the payment waits for a person. */
export type BookedNotice = TakenNotice & {
  result: 'applied' | 'waiting'
  detail: string | null
}

export const bookedEventColumns = columns<Omit<BookedNotice, 'body'>>({
  agentId: ['agent_id', 'bigint'],
  provider: ['provider', 'text'],
  eventId: ['event_id', 'text'],
  orderId: ['order_id', 'uuid'],
  noticeId: ['notice_id', 'uuid'],
  receivedAt: ['received_at', 'timestamptz'],
  event: ['event', 'text'],
  result: ['result', 'text'],
  detail: ['detail', 'text', 'null'],
})

export const bookedNoticeColumns = columns<
  Pick<BookedNotice, 'noticeId' | 'provider' | 'receivedAt' | 'body'>
>({
  noticeId: ['notice_id', 'uuid'],
  provider: ['provider', 'text'],
  receivedAt: ['received_at', 'timestamptz'],
  body: ['body', 'text'],
})

/** Which of these events are recorded, whatever their notices said. */
export const recordedEvents = `select n.agent_id, n.provider, n.event_id from notice_events n
  join unnest($1::bigint[], $2::text[], $3::text[]) k(agent_id, provider, event_id)
    on n.agent_id = k.agent_id and n.provider = k.provider and n.event_id = k.event_id`

export const insertBookedEvents = `insert into notice_events (${bookedEventColumns.names})
  select * from ${bookedEventColumns.unnest}
  on conflict do nothing
  returning agent_id, provider, event_id`

export const insertBookedNotices = `insert into notices (${bookedNoticeColumns.names})
  select notice_id, provider, received_at, decode(body, 'base64') from ${bookedNoticeColumns.rows('n')}`

export const eventKeyOf = ({
  agentId,
  provider,
  eventId,
}: Pick<TakenNotice, 'agentId' | 'provider' | 'eventId'>) => `${agentId} ${provider} ${eventId}`
