import { createHash } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import { Problem } from '../lib/problem.ts'
import { type SecretKeys, sealBytes, unsealBytes } from '../lib/secret-box.ts'
import { pictureContent } from './picture-content.ts'

/** The largest picture of a slip that is taken. */
export const maxSlipBytes = 4 * 1024 * 1024

const pictureTypes: [type: string, isOne: (bytes: Buffer) => boolean][] = [
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))],
  [
    'image/webp',
    (bytes) =>
      bytes.subarray(0, 4).equals(Buffer.from('RIFF')) &&
      bytes.subarray(8, 12).equals(Buffer.from('WEBP')),
  ],
]

/** What kind of picture bytes are, by how they begin; undefined if they are none. */
export function pictureType(bytes: Buffer): string | undefined {
  return pictureTypes.find(([, isOne]) => isOne(bytes))?.[0]
}

/**
 * Keeps the picture of a slip, sealed, and returns its digest, by which a payment names it. Keeping the same one again
 * changes nothing: only a payment uses it.
 */
export async function keepSlip(
  pool: Pool,
  secretKeys: SecretKeys,
  { bytes, type, by, at }: { bytes: Buffer; type: string; by: string; at: Date },
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await pool.query(
    `insert into bank_slips (sha256, type, picture, brought_by, brought_at, content)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (sha256) do update set brought_at = excluded.brought_at`,
    [
      ...[sha256, type, sealBytes(secretKeys, ownerOf(sha256), bytes), by, at],
      await pictureContent(bytes, type),
    ],
  )
  return sha256
}

/** How long a picture is kept that no payment has used: longer than any proposal is open. */
const unusedKeptMs = 30 * 86_400_000

/** Deletes some pictures that nobody has used. */
export async function pruneSlips(pool: Pool, now: Date): Promise<'done' | 'more'> {
  const most = 100
  const { rowCount } = await pool.query(
    `delete from bank_slips where sha256 in (
       select b.sha256 from bank_slips b where b.brought_at < $1
         and not exists (select 1 from hand_payments h where h.slip = b.sha256) limit $2)
     and brought_at < $1`,
    [new Date(now.getTime() - unusedKeptMs), most],
  )
  return rowCount === most ? 'more' : 'done'
}

export async function readSlip(
  pool: Pool,
  secretKeys: SecretKeys,
  sha256: string,
): Promise<{ type: string; bytes: Buffer } | undefined> {
  const { rows } = await pool.query<{ type: string; picture: Buffer }>(
    'select type, picture from bank_slips where sha256 = $1',
    [sha256],
  )
  const [row] = rows
  const bytes = row && unsealBytes(secretKeys, ownerOf(sha256), row.picture)
  return row && bytes && { type: row.type, bytes }
}

function ownerOf(sha256: string): string {
  return `slip ${sha256}`
}

/** Whose word a payment is that was recorded by hand. */
export interface HandPayment {
  account: string
  slip: string
  /** The letters and digits of the number that is on the slip. */
  reference: string | null
  recordedBy: string
  proposalId: string | null
  approvedBy: string | null
  recordedAt: Date
}

/** A reference as it is compared: slips write it with spaces and dashes, or without. */
export function plainReference(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
}

const handPayment = `account, slip, reference, recorded_by as "recordedBy",
  proposal_id as "proposalId", approved_by as "approvedBy", recorded_at as "recordedAt"`

/** Uses a slip for a payment. Neither its picture nor its reference can be used again, at any account. */
export async function useSlip(tx: Tx, used: HandPayment): Promise<void> {
  await refuseUsedSlip(tx, used)
  try {
    await tx.query(
      `insert into hand_payments
         (account, slip, reference, recorded_by, proposal_id, approved_by, recorded_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        used.account,
        used.slip,
        used.reference,
        used.recordedBy,
        used.proposalId,
        used.approvedBy,
        used.recordedAt,
      ],
    )
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    throw new Problem('slip_used', 'Somebody has just used this slip. Look at the movements.')
  }
}

/** Refuses a slip whose picture or reference a payment has used, and says which one. */
export async function refuseUsedSlip(
  db: Pool | Tx,
  { slip, reference }: Pick<HandPayment, 'slip' | 'reference'>,
): Promise<void> {
  const { rows } = await db.query<HandPayment>(
    `select ${handPayment} from hand_payments where slip = $1 or reference = $2 limit 1`,
    [slip, reference],
  )
  const [before] = rows
  if (!before) return
  const what = slip === before.slip ? 'This picture' : 'This bank reference'
  throw new Problem(
    'slip_used',
    `${what} was used on ${before.recordedAt.toISOString()} for a payment to ${before.account}, which ${before.recordedBy} recorded. Ask the payer for the slip of this payment.`,
  )
}

/** A payment that was recorded with another file that shows the same as this slip's picture. */
export async function sameShown(pool: Pool, slip: string): Promise<HandPayment | undefined> {
  const { rows } = await pool.query<HandPayment>(
    `select ${handPayment} from hand_payments where slip in (
       select b.sha256 from bank_slips a join bank_slips b on b.content = a.content and b.sha256 <> a.sha256
       where a.sha256 = $1)
     order by recorded_at limit 1`,
    [slip],
  )
  return rows[0]
}

/** Who recorded movements by hand, by account and movement. */
export async function readHandPayments(
  pool: Pool,
  movements: readonly { account: string; movementId: string }[],
): Promise<Map<string, HandPayment>> {
  const { rows } = await pool.query<HandPayment & { movement_id: string }>(
    `select r.movement_id, h.account, h.slip, h.reference, h.recorded_by as "recordedBy",
       h.proposal_id as "proposalId", h.approved_by as "approvedBy", h.recorded_at as "recordedAt"
     from bank_reports r
     join unnest($1::text[], $2::uuid[]) k(account, movement_id)
       on r.account = k.account and r.movement_id = k.movement_id
     join hand_payments h on h.slip = r.report_key
     where r.source = 'hand'`,
    [movements.map(({ account }) => account), movements.map(({ movementId }) => movementId)],
  )
  return new Map(rows.map((row) => [`${row.account}:${row.movement_id}`, row]))
}

/** Seals the pictures with the current key, one at a time, because they may be large. For the owner's login. */
export async function resealSlips(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows: slips } = await owner.query<{ sha256: string }>('select sha256 from bank_slips')
  const done: Resealed = { moved: 0, current: 0, shut: 0 }
  for (const { sha256 } of slips) {
    const { rows } = await owner.query<{ owner: string; sealed: Buffer }>(
      `select 'slip ' || sha256 as owner, picture as sealed from bank_slips where sha256 = $1`,
      [sha256],
    )
    const one = await resealRows(secretKeys, rows, async (row, sealed) => {
      const { rowCount } = await owner.query(
        'update bank_slips set picture = $2 where sha256 = $1 and picture = $3',
        [sha256, sealed, row.sealed],
      )
      return rowCount
    })
    for (const name of ['moved', 'current', 'shut'] as const) done[name] += one[name]
  }
  return done
}
