import { createHash } from 'node:crypto'
import { databaseTime, timeToPass } from '../db/database-time.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { type Currency, decimalText } from '../lib/money.ts'

/** An event that the bank reports, as sent over the wire but without its id. */
export type BankEvent = { reference: string } & (
  | {
      type: 'payment'
      paymentId: string
      amount: string
      currency: string
      paidAt: string
      payer: {
        accountNo: string
        accountName: string | null
        bankCode: string | null
      } | null
    }
  | { type: 'payment_taken_back'; paymentId: string }
  | { type: 'deposit_ended'; status: 'FAILED' | 'VOID' | 'EXPIRED' }
  | { type: 'payout'; outcome: object }
  | { type: 'cost'; costId: string; amount: string; currency: string }
)

export interface ClaimedNotice {
  noticeNo: bigint
  event: BankEvent
  /** Includes this attempt. It identifies the claim, because the next claim has a higher number. */
  attempts: number
}

/** The event's result in the answer to a notice. */
export interface EventResult {
  result: 'applied' | 'unchanged' | 'refused' | 'waiting' | null
  detail: string | null
}

/**
 * Longer than a notice may take, so that no other process sends it at the same time. By the database's clock.
 */
const leaseS = 10
const repeatAfterMs = 500

/** Adds a notice in the transaction of the change that it reports. Returns its number. */
export async function addNotice(tx: Tx, event: BankEvent, now: Date, copies = 1): Promise<bigint> {
  const { rows } = await tx.query<{ notice_no: bigint }>(
    `insert into sandbox_bank.notices (reference, event, copies_left, attempts, next_at)
     values ($1, $2, $3, 0, least($4::timestamptz, now())) returning notice_no`,
    [event.reference, JSON.stringify(event), copies, now],
  )
  const noticeNo = rows[0]?.notice_no
  if (noticeNo === undefined) throw new Error('a notice was not written')
  return noticeNo
}

/** A notice to be added, and how often it is sent. */
export interface NewNotice {
  event: BankEvent
  copies: number
}

/**
 * Adds notices that this process is about to send, in the transaction of the changes that they report: as many as it has
 * room for are claimed with it, which saves writing each once more. Returns those. Not claimed are those about a reference
 * of which something earlier is not told yet.
 */
export async function addNotices(
  tx: Tx,
  notices: readonly NewNotice[],
  now: Clock,
  room: number,
): Promise<ClaimedNotice[]> {
  if (notices.length === 0) return []
  const added = await tx.query<NoticeRow>({
    name: 'bank-add-notices',
    text: `insert into sandbox_bank.notices (reference, event, copies_left, attempts, next_at, lease_until)
      select g.reference, g.event, g.copies, g.is_claimed::int,
        case when g.is_claimed then ${leaseEnd} else least($2::timestamptz, now()) end,
        case when g.is_claimed then ${leaseEnd} end
      from (
        select n.*, n.at <= $3 and not exists (
          select 1 from sandbox_bank.notices e
          where e.reference = n.reference and e.accepted_at is null) as is_claimed
        from unnest($4::text[], $5::jsonb[], $6::int[]) with ordinality n (reference, event, copies, at)
      ) g
      returning notice_no, event, attempts`,
    values: [
      timeToPass(now),
      now(),
      room,
      notices.map(({ event }) => event.reference),
      notices.map(({ event }) => JSON.stringify(event)),
      notices.map(({ copies }) => copies),
    ],
  })
  return claimed(added).filter(({ attempts }) => attempts > 0)
}

/** The bank charges a hundredth of an amount, and no less than the smallest unit. */
export function chargeFor({
  reference,
  amountMinor,
  currency,
}: {
  reference: string
  amountMinor: bigint
  currency: Currency
}): BankEvent {
  const amount = decimalText(amountMinor / 100n || 1n, currency)
  return { reference, type: 'cost', costId: reference, amount, currency }
}

export function eventId(noticeNo: bigint): string {
  return `evt-${noticeNo}`
}

/** About one notice in ten is sent again after it was accepted; the number alone decides which. */
export function isSentTwice(noticeNo: bigint): boolean {
  return createHash('sha256').update(eventId(noticeNo)).digest().readUInt8(0) < 26
}

/** The bank reports the events of one reference in order; only repeats may come later. */
const nothingEarlierIsUntold = `(n.accepted_at is not null or not exists (
  select 1 from sandbox_bank.notices e
  where e.reference = n.reference and e.notice_no < n.notice_no and e.accepted_at is null))`

const leaseEnd = `${databaseTime('$1')} + interval '${leaseS} s'`

const claim = (which: string) => `update sandbox_bank.notices c
  set attempts = attempts + 1, lease_until = ${leaseEnd}, next_at = ${leaseEnd}
  where notice_no = any(array(
    select n.notice_no from sandbox_bank.notices n where ${which} and ${nothingEarlierIsUntold}
    order by n.next_at, n.notice_no limit $2 for update of n skip locked
  ))
  returning notice_no, event, attempts`

const claimDue = claim(`n.copies_left > 0 and n.next_at <= ${databaseTime('$1')}`)
const claimOfReference = claim(
  `n.reference = $3 and n.accepted_at is null
    and (n.lease_until is null or n.lease_until <= ${databaseTime('$1')})`,
)

/** Claims due notices. A process that does not report in time loses its claim. */
export async function claimDueNotices(
  pool: Pool,
  now: Clock,
  limit: number,
): Promise<ClaimedNotice[]> {
  const values = [timeToPass(now), limit]
  return claimed(await pool.query<NoticeRow>({ name: 'bank-claim-due', text: claimDue, values }))
}

/** Claims the next notice about a reference, due or not, unless another process is sending it. */
export async function claimNextOf(
  pool: Pool,
  reference: string,
  now: Clock,
): Promise<ClaimedNotice | undefined> {
  const values = [timeToPass(now), 1, reference]
  return claimed(await pool.query<NoticeRow>(claimOfReference, values))[0]
}

interface NoticeRow {
  notice_no: bigint
  event: BankEvent
  attempts: number
}

function claimed({ rows }: { rows: NoticeRow[] }): ClaimedNotice[] {
  return rows.map(({ notice_no, event, attempts }) => ({ noticeNo: notice_no, event, attempts }))
}

export interface AcceptedNotice extends EventResult {
  notice: ClaimedNotice
}

/** Marks notices as accepted. The first answer to each is kept. */
export async function recordAccepted(
  pool: Pool,
  accepted: AcceptedNotice[],
  now: Clock,
): Promise<void> {
  await pool.query({
    name: 'bank-accepted',
    text: `update sandbox_bank.notices n set
       copies_left = copies_left - case when accepted_at is null and a.is_sent_twice then 0 else 1 end,
       result = case when accepted_at is null then a.result else n.result end,
       detail = case when accepted_at is null then a.detail else n.detail end,
       accepted_at = coalesce(accepted_at, ${databaseTime('$6')}), lease_until = null,
       next_at = ${databaseTime('$6')} + interval '${repeatAfterMs} ms'
     from unnest($1::bigint[], $2::integer[], $3::boolean[], $4::text[], $5::text[])
       a (notice_no, attempts, is_sent_twice, result, detail)
     where n.notice_no = a.notice_no and n.attempts = a.attempts`,
    values: [
      accepted.map(({ notice }) => notice.noticeNo),
      accepted.map(({ notice }) => notice.attempts),
      accepted.map(({ notice }) => isSentTwice(notice.noticeNo)),
      accepted.map(({ result }) => result),
      accepted.map(({ detail }) => detail),
      timeToPass(now),
    ],
  })
}

/** Schedules a refused notice again: after half a second, then twice as long each time, up to 30 s. */
export async function recordRefused(
  pool: Pool,
  { noticeNo, attempts }: ClaimedNotice,
  now: Clock,
): Promise<void> {
  const delayMs = Math.min(30_000, 500 * 2 ** Math.min(attempts - 1, 10))
  await pool.query(
    `update sandbox_bank.notices set lease_until = null,
       next_at = ${databaseTime('$3')} + $4 * interval '1 ms'
     where notice_no = $1 and attempts = $2`,
    [noticeNo, attempts, timeToPass(now), delayMs],
  )
}

export interface NoticeState extends EventResult {
  reference: string
  isAccepted: boolean
}

export async function readNotice(pool: Pool, noticeNo: bigint): Promise<NoticeState> {
  const { rows } = await pool.query<EventResult & { reference: string; is_accepted: boolean }>(
    `select reference, accepted_at is not null as is_accepted, result, detail
     from sandbox_bank.notices where notice_no = $1`,
    [noticeNo],
  )
  const row = rows[0]
  if (!row) throw new Error(`there is no notice ${noticeNo}`)
  const { reference, result, detail } = row
  return { reference, isAccepted: row.is_accepted, result, detail }
}

/** How long it is until an act or a notice is due, in milliseconds; undefined if none is to come. */
export async function untilDueMs(pool: Pool, now: Clock): Promise<number | undefined> {
  const { rows } = await pool.query<{ ms: number | null }>({
    name: 'bank-until-due',
    text: `select 1000 * date_part('epoch', least(
        (select min(due_at) from sandbox_bank.acts where played_at is null) - $2::timestamptz,
        (select min(next_at) from sandbox_bank.notices where copies_left > 0)
          - ${databaseTime('$1')})) as ms`,
    values: [timeToPass(now), now()],
  })
  return rows[0]?.ms ?? undefined
}
