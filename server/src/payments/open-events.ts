import { type Aged, countAged } from '../db/aged.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { ProviderEvent } from '../providers/provider.ts'
import { eventFromText } from './event-text.ts'

/** A reported event that could not be processed yet. */
export interface OpenEvent {
  /** The agent that the event names; 0 if it names none. */
  agentId: bigint
  provider: string
  eventId: string
  orderId: string | null
  receivedAt: Date
  /** What the provider reported, in words. */
  words: string
  /** False for money that came in. */
  canClose: boolean
  tries: number
  /** Why it could not be processed. */
  detail: string | null
  /** How many there are that were not understood for the same reason: they are listed as one. */
  alike: number
}

/** Those in their first processing are not open: the process that took them is at it. */
const isOpen = 'act_at is not null and (tries > 0 or act_at <= $1)'

/** Counts the events that are open. */
export function countOpenEvents(pool: Pool, now: Date): Promise<Aged> {
  return countAged(pool, `select received_at as at from notice_events where ${isOpen}`, [now])
}

/**
 * What no rule fits although it says of what kind it is, by how it is stored. What a rule fits and cannot read may be a
 * payment: each is for a person.
 */
const isOfUnknownKind = `(event ~ '^\\{"id":"unread-[0-9a-f]{64}","type":"unread"'
  and detail like 'A person has to look into it: no rule fits it: %')`

/** Open events, the oldest first; those with an id if one is given. Those that are not understood are told by kind. */
export async function listOpenEvents(
  pool: Pool,
  now: Date,
  filter: { provider?: string | undefined; eventId?: string | undefined; limit: number },
): Promise<OpenEvent[]> {
  const { rows } = await pool.query<Omit<OpenEvent, 'words' | 'canClose'> & { text: string }>(
    `select agent_id as "agentId", provider, event_id as "eventId", order_id as "orderId",
       received_at as "receivedAt", event as text, tries, detail, alike
     from (
       select *, (count(*) over kind)::int as alike,
         row_number() over (kind order by received_at, event_id) as n
       from (
         select *, case when ${isOfUnknownKind} then detail else agent_id || ' ' || event_id end as said
         from notice_events
         where ${isOpen} and ($2::text is null or provider = $2)
           and ($3::text is null or event_id = $3)
       ) open
       window kind as (partition by provider, said)
     ) told
     where n = 1 order by received_at, provider, event_id limit $4`,
    [now, filter.provider ?? null, filter.eventId ?? null, filter.limit],
  )
  return rows.map(({ text, ...row }) => ({ ...row, ...understood(text) }))
}

/** An event that cannot be read may be one of money. */
function understood(text: string): Pick<OpenEvent, 'words' | 'canClose'> {
  try {
    const event = eventFromText(text)
    return { words: eventInWords(event), canClose: event.type !== 'payment' }
  } catch {
    return { words: 'What was reported cannot be read.', canClose: false }
  }
}

/**
 * A person ends an event that cannot be processed, with what was found out about it. That moves no money.
 * Reported money is never closed: it is decided on as a payment.
 */
export async function closeEvent(pool: Pool, event: OpenEvent, evidence: string): Promise<void> {
  if (!event.canClose) {
    throw new Problem(
      'invalid_transition',
      'This event reports money, which is not closed: the service acts on it once the cause is mended.',
    )
  }
  const { rowCount } = await pool.query(
    `update notice_events set result = 'closed', detail = $4, act_at = null
     where agent_id = $1 and provider = $2 and event_id = $3 and result is null`,
    [event.agentId, event.provider, event.eventId, evidence],
  )
  if (rowCount === 1) return
  throw new Problem('changed_meanwhile', 'The event is not open any more.')
}

/**
 * A person ends every event of a provider that is of the same unknown kind as this one, if there are as many as they were
 * shown: one that came since may say something else.
 */
export async function closeAlike(
  pool: Pool,
  event: OpenEvent,
  evidence: string,
  shown: number,
): Promise<void> {
  if (event.alike < 2) {
    throw new Problem(
      'invalid_request',
      'Only events of one unknown kind are closed together: close this one alone.',
    )
  }
  await inTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `update notice_events set result = 'closed', detail = $3, act_at = null
       where provider = $1 and detail = $2 and result is null and act_at is not null
         and ${isOfUnknownKind}`,
      [event.provider, event.detail, evidence],
    )
    if (rowCount === shown) return
    const detail = `There are ${rowCount} of them by now, not ${shown}: look at the list again.`
    throw new Problem('changed_meanwhile', detail)
  })
}

function eventInWords(event: ProviderEvent): string {
  switch (event.type) {
    case 'payment':
      return `Payment ${event.paymentId} of ${decimalText(event.amountMinor, event.currency)} ${event.currency} came in for ${event.reference}.`
    case 'payment_taken_back':
      return `Payment ${event.paymentId} for ${event.reference} was taken back.`
    case 'deposit_ended':
      return `Deposit ${event.reference} is ${event.status}.`
    case 'cost':
      return `${decimalText(event.amountMinor, event.currency)} ${event.currency} is charged for ${event.reference}.`
    case 'unread':
      return `What was reported is not understood: ${event.fault}.`
    case 'payout':
      return `Payout ${event.reference} is ${event.outcome.type.replace('_', ' ')}.`
  }
}
