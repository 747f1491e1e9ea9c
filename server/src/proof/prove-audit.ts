import { auditColumns, auditLanes } from '../db/audit-columns.ts'
import type { Pool } from '../db/pool.ts'
import { chainHash, type HashedField, noHash } from '../lib/chain-hash.ts'
import { ensure, ensureSame, type ProofTx } from './proof-failure.ts'
import { inSnapshot, Pace } from './proof-snapshot.ts'

/** How far the audit log is proved: rows up to `seq` of a lane, the last of which has this hash. */
interface Place {
  lane: number
  seq: bigint
  hash: string
}

const start: Place = { lane: 0, seq: 0n, hash: noHash }

/** JSON as it was written, which the driver would parse. */
const selected = auditColumns
  .map((name) => (['after', 'before'].includes(name) ? `${name}::text as ${name}` : name))
  .join(', ')

type AuditRow = Record<string, unknown> & { lane_seq: bigint; hash: string }

/**
 * Proves the next rows of a lane: none was changed, removed or put in between, and the lane ends where it says.
 * Returns where to go on; undefined after the last lane.
 */
async function proveAuditPage(
  tx: ProofTx,
  { lane, seq, hash }: Place,
  limit: number,
): Promise<{ rows: number; next: Place | undefined }> {
  const { rows: lanes } = await tx.query<{ lane: number; seq: bigint; hash: string }>(
    'select lane, seq, hash from audit_lanes order by lane',
  )
  for (const [at, each] of lanes.entries()) {
    ensureSame(`the lanes of the audit log`, 'number', each.lane, at)
  }
  ensure(lanes.length > auditLanes, () => `lane ${lanes.length} of the audit log is missing`)
  const head = lanes[lane]
  ensure(head !== undefined, () => `lane ${lane} of the audit log is missing`)
  const { rows } = await tx.query<AuditRow>(
    `select lane_seq, hash, ${selected} from audit_log
     where lane = $1 and lane_seq > $2 order by lane_seq limit $3`,
    [lane, seq, limit],
  )
  let last = { lane, seq, hash }
  for (const row of rows) {
    const what = `row ${last.seq + 1n} of lane ${lane} of the audit log`
    ensure(row.lane_seq === last.seq + 1n, () => `${what} is missing`)
    ensure(
      row.hash === chainHash(last.hash, 'audit', fieldsOf(row)),
      () => `${what} is not as it was written, or does not follow the row before it`,
    )
    last = { lane, seq: row.lane_seq, hash: row.hash }
  }
  if (rows.length === limit) return { rows: rows.length, next: last }
  ensure(
    last.seq === head.seq && last.hash === head.hash,
    () =>
      `lane ${lane} of the audit log ends with row ${last.seq}, but was written up to ${head.seq}`,
  )
  const next = lanes[lane + 1] && { ...start, lane: lane + 1 }
  if (!next) {
    const { rowCount } = await tx.query(
      `select from audit_log where lane > $1 or lane < 0 or lane is null or lane_seq is null
         or lane_seq < 1 limit 1`,
      [lane],
    )
    ensure(rowCount === 0, () => 'the audit log has rows in no lane')
  }
  return { rows: rows.length, next }
}

function fieldsOf(row: AuditRow): HashedField[] {
  return auditColumns.map((name) => {
    const value = row[name]
    if (value === null) return [name, null]
    return [name, value instanceof Date ? value.toISOString() : String(value)]
  })
}

/** Proves the whole audit log. Returns how many rows it has. */
export async function proveAudit(pool: Pool): Promise<number> {
  const pace = new Pace(pool)
  let count = 0
  for (let place: Place | undefined = start; place; ) {
    const from: Place = place
    const page = await pace.page((tx, limit) => proveAuditPage(tx, from, limit))
    count += page.rows
    place = page.next
  }
  return count
}

/** Proves the audit log a page at a time, over and over. */
export class AuditProof {
  private place: Place = start

  /** Throws at a fault; the same page is proved again until it is gone. */
  async step(pool: Pool, limit: number): Promise<void> {
    const { next } = await inSnapshot(pool, (tx) => proveAuditPage(tx, this.place, limit))
    this.place = next ?? start
  }
}
