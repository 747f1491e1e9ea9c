import { beginEpoch } from '../agents/event-epochs.ts'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { timeToPass } from '../db/database-time.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import type { Clock } from '../lib/clock.ts'
import { newOrderId, orderIdFromUuid, txnId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from '../operators/audit.ts'
import { nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'

/** A moment at which the database was found to be restored from a backup. */
export interface Restore {
  restoreId: string
  /** What happened since may be missing. */
  since: Date
  markedAt: Date
}

/** A restore that holds back whatever would pay out, until two people release it. */
export interface Hold extends Restore {
  epoch: bigint
  /** What was noticed, or who said so, in words. */
  found: string
  /** When all providers had been asked about what waits; null: they are being asked. */
  askedAt: Date | null
}

const service: Outsider = { userId: null, email: 'sluice', ip: null }

/** Held while a restore is written down, so that processes that notice it at once make one hold of it. */
const restoreLock = 7_358_402

/**
 * Holds back what would pay out: the database was restored, as somebody says or the service has noticed. What is held
 * for the same restore stays as it is. The backup may be older than its last row says, so `since` is asked for, or taken from marks.
 */
export async function holdRestored(
  tx: Tx,
  {
    since,
    found,
    by = service,
    now,
    epoch = 0n,
    lostAt,
  }: {
    since: Date
    found: string
    by?: Operator | Outsider
    now: Clock
    /** The last epoch that is known outside of the database. */
    epoch?: bigint
    /** When what is missing was written. A restore that was marked since, and lost that time, is the same one. */
    lostAt?: Date | 'not known'
  },
): Promise<Hold | undefined> {
  await tx.query('select pg_advisory_xact_lock($1)', [restoreLock])
  const open = await openHold(tx)
  if (lostAt === 'not known' && open) return open
  // A database that is held may be restored once more: what it lost then has to be asked about as well.
  if (lostAt instanceof Date && (await isCovered(tx, lostAt))) return open
  const restore = await markRestored(tx, since, by, now)
  const at = restore.markedAt
  const { rows } = await tx.query<{ epoch: bigint }>(
    `insert into restore_holds (restore_id, epoch, found)
     select $1, greatest($2, $3, coalesce((select max(h.epoch) from restore_holds h), 0) + 1), $4
     returning epoch`,
    [restore.restoreId, BigInt(Math.floor(at.getTime() / 1_000)), epoch + 1n, found],
  )
  const begun = rows[0]?.epoch ?? 0n
  await beginEpoch(tx, begun)
  await raiseAlert(tx, {
    kind: 'payout_alarm',
    subject: `restore ${restore.restoreId}`,
    words: `Nothing is paid out until two people release it. ${found}`,
    to: { roles: ['admin', 'operator'] },
    at,
  })
  return { ...restore, epoch: begun, found, askedAt: null }
}

async function markRestored(
  tx: Tx,
  since: Date,
  by: Operator | Outsider,
  now: Clock,
): Promise<Restore> {
  // Orders from before it count by when they were written: a clock that is behind must not leave out the last of them.
  const { rows } = await tx.query<{ at: Date }>(
    'select greatest($1::timestamptz, coalesce($2::timestamptz, clock_timestamp())) as at',
    [now(), timeToPass(now)],
  )
  const at = rows[0]?.at ?? now()
  const restore: Restore = { restoreId: newOrderId(at), since, markedAt: at }
  await tx.query(
    `insert into restores (restore_id, since, marked_by, marker, marked_at)
     values ($1, $2, $3, $4, $5)`,
    [restore.restoreId, since, by.userId ?? nobody, by.email, at],
  )
  await writeAudit(tx, {
    at,
    operator: by,
    action: 'mark_restored',
    subject: { kind: 'restore', id: restore.restoreId },
    agentId: null,
    after: { since },
  })
  return restore
}

/** Clocks of processes differ by less. */
const clocksDifferMs = 60_000

/** Whether a restore is known that lost what was written at a moment. */
async function isCovered(db: Pool | Tx, lostAt: Date): Promise<boolean> {
  const { rows } = await db.query(
    'select 1 from restores where since <= $1 and marked_at >= $2 limit 1',
    [lostAt, new Date(lostAt.getTime() - clocksDifferMs)],
  )
  return rows.length > 0
}

/** The last hold that nobody has released; nothing is paid out meanwhile. */
export async function openHold(db: Pool | Tx): Promise<Hold | undefined> {
  const { rows } = await db.query<Hold>(
    `select r.restore_id as "restoreId", r.since, r.marked_at as "markedAt", h.epoch, h.found,
       h.asked_at as "askedAt"
     from restore_holds h join restores r on r.restore_id = h.restore_id
     left join restore_releases l on l.restore_id = h.restore_id
     where l.restore_id is null order by r.marked_at desc, r.restore_id desc limit 1`,
  )
  return rows[0]
}

/** Whether an order was there before some restore, so that it may have left in the time that was lost. */
export async function isFromBeforeRestore(
  db: Pool | Tx,
  { createdAt }: Pick<Order, 'createdAt'>,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'before-restore',
    text: 'select 1 from restores where marked_at >= $1 limit 1',
    values: [createdAt],
  })
  return rows.length > 0
}

/** The latest epoch of all events; 0 before the first restore. */
export async function lastEpoch(db: Pool | Tx): Promise<bigint> {
  const { rows } = await db.query<{ epoch: bigint }>(
    'select coalesce(max(epoch), 0) as epoch from restore_holds',
  )
  return rows[0]?.epoch ?? 0n
}

/** Something that is not the same here and elsewhere, or that nobody could be asked about. */
export interface Difference {
  subject: string
  words: string
  /** The order that it is about, if it is about one. */
  order?: Pick<Order, 'agentId' | 'orderId'> | undefined
  /** Who may have that order, and under which references. */
  at?: { provider: string; references: readonly string[] } | undefined
}

export interface KnownDifference extends Difference {
  /** Whether somebody has to find out about it: nobody has answered, and its order still waits elsewhere. */
  isOpen: boolean
}

export async function differencesOf(pool: Pool, restoreId: string): Promise<KnownDifference[]> {
  const { rows } = await pool.query<{
    subject: string
    words: string
    agent_id: bigint | null
    order_id: string | null
    provider: string | null
    payout_references: string[] | null
    is_found: boolean
  }>(
    `select d.subject, d.words, d.agent_id, d.order_id, d.provider, d.payout_references,
       f.subject is not null as is_found
     from restore_differences d
     left join restore_findings f on f.restore_id = d.restore_id and f.subject = d.subject
     where d.restore_id = $1 order by d.subject`,
    [restoreId],
  )
  const differences = rows.map(({ agent_id: agentId, order_id: orderId, ...row }) => {
    const { subject, words, provider, payout_references: references, is_found: isFound } = row
    return {
      ...{ subject, words, isFound },
      order:
        agentId === null || orderId === null
          ? undefined
          : { agentId, orderId: orderIdFromUuid(orderId) },
      at: provider === null || references === null ? undefined : { provider, references },
    }
  })
  const waiting = await waitingOf(
    pool,
    differences.flatMap(({ order }) => order ?? []),
  )
  return differences.map(({ isFound, ...each }) => ({
    ...each,
    isOpen: !isFound && isUnsettled(each, waiting),
  }))
}

type Waiting = Map<string, Pick<Order, 'provider' | 'providerRef'>>

/** An order that waits no more is settled, and so is one that is with the provider that may have it. */
function isUnsettled({ order, at }: Difference, waiting: Waiting): boolean {
  if (!order) return true
  const now = waiting.get(txnId(order.agentId, order.orderId))
  if (!now) return false
  return (
    at === undefined ||
    now.provider !== at.provider ||
    !at.references.includes(now.providerRef ?? '')
  )
}

/** Those of some orders that wait, and whom they are with. */
async function waitingOf(
  pool: Pool,
  orders: readonly Pick<Order, 'agentId' | 'orderId'>[],
): Promise<Waiting> {
  const waiting: Waiting = new Map()
  for (const agentId of new Set(orders.map((order) => order.agentId))) {
    const { rows } = await pool.query<{
      order_id: string
      provider: string | null
      provider_ref: string | null
    }>(
      `select order_id, provider, provider_ref from orders
       where agent_id = $1 and order_id = any($2::uuid[]) and status = 'WAITING'`,
      [agentId, orders.filter((order) => order.agentId === agentId).map((order) => order.orderId)],
    )
    for (const { order_id, provider, provider_ref: providerRef } of rows) {
      waiting.set(txnId(agentId, orderIdFromUuid(order_id)), { provider, providerRef })
    }
  }
  return waiting
}

/** The hold that is not released, and how many differences are open; null if nothing is held. */
export async function readHold(pool: Pool): Promise<(Hold & { open: number }) | null> {
  const hold = await openHold(pool)
  if (!hold) return null
  const differences = await differencesOf(pool, hold.restoreId)
  return { ...hold, open: differences.filter(({ isOpen }) => isOpen).length }
}

/** PostgreSQL stores no NUL; a provider's words may have one. */
const storable = (text: string) => text.replaceAll('\0', '')

const storedSubject = (subject: string) => storable(subject).slice(0, 200)

export async function noteDifference(
  db: Pool | Tx,
  restoreId: string,
  { subject, words, order, at: where }: Difference,
  at: Date,
): Promise<void> {
  await db.query(
    `insert into restore_differences
       (restore_id, subject, words, found_at, agent_id, order_id, provider, payout_references)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [
      ...[restoreId, storedSubject(subject), storable(words).slice(0, 1_000), at],
      ...[order?.agentId ?? null, order?.orderId ?? null],
      ...[where?.provider ?? null, where?.references ?? null],
    ],
  )
}

/** What two people say of a difference, or the provider that could not say it before. */
export interface DifferenceFinding {
  subject: string
  finding: 'answered' | 'not_paid' | 'has_it' | 'seen'
  /** Under which the provider has it. */
  reference?: string | undefined
}

export async function noteFindings(
  db: Pool | Tx,
  restoreId: string,
  findings: readonly DifferenceFinding[],
  at: Date,
): Promise<void> {
  for (const { subject, finding, reference } of findings) {
    await db.query(
      `insert into restore_findings (restore_id, subject, finding, reference, found_at)
       values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [restoreId, storedSubject(subject), finding, reference ?? null, at],
    )
  }
}

export async function noteAsked(db: Pool | Tx, restoreId: string, at: Date): Promise<void> {
  await db.query('update restore_holds set asked_at = $2 where restore_id = $1', [restoreId, at])
}

/** Refuses to release a hold that is not there any more, or before all providers were asked. */
export async function holdToRelease(db: Pool | Tx, restoreId: string): Promise<Hold> {
  const hold = await openHold(db)
  if (hold?.restoreId !== restoreId) {
    throw new Problem('not_found', 'There is no such hold any more.')
  }
  if (hold.askedAt === null) {
    throw new Problem(
      'invalid_transition',
      'Providers are still being asked what they have paid: wait for a worker to end that.',
    )
  }
  return hold
}

/** Two people say that what left in the lost time is known, and payouts may go on. */
export async function releaseHold(
  tx: Tx,
  hold: Hold,
  {
    by,
    evidence,
    findings,
    at,
  }: { by: Operator; evidence: string; findings: readonly DifferenceFinding[]; at: Date },
): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into restore_releases (restore_id, released_by, releaser, evidence, released_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [hold.restoreId, by.userId, by.email, evidence, at],
  )
  if (rowCount === 0) throw new Problem('changed_meanwhile', 'It was released meanwhile.')
  await noteFindings(tx, hold.restoreId, findings, at)
  await writeAudit(tx, {
    at,
    operator: by,
    action: 'release_hold',
    subject: { kind: 'restore', id: hold.restoreId },
    agentId: null,
    after: { findings },
    reason: evidence,
  })
}
