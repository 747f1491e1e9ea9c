import type { Pool } from '../db/pool.ts'

/**
 * The ends of all chains at a moment. Kept where the database's owner cannot reach it, it shows whether the history
 * up to then was rewritten, even if all hashes were computed again.
 */
export interface Heads {
  format: 'sluice-heads-1'
  at: string
  books: BookHead[]
  audit: LaneHead[]
}

/** The last row of a book; an agent's is named by its app id. */
interface BookHead {
  book: string
  seq: number
  hash: string
}

interface LaneHead {
  lane: number
  seq: number
  hash: string
}

const bookOf = `coalesce(a.app_id, 'house ' || w.currency)`

/** Reads the present ends of all chains that have rows. */
export async function readHeads(pool: Pool, now: Date): Promise<Heads> {
  const { rows: books } = await pool.query<BookHead>(
    `select ${bookOf} as book, w.seq::float8 as seq, w.hash from wallets w
     left join agents a using (agent_id) where w.seq > 0 order by w.agent_id`,
  )
  const { rows: audit } = await pool.query<LaneHead>(
    'select lane, seq::float8 as seq, hash from audit_lanes where seq > 0 order by lane',
  )
  return { format: 'sluice-heads-1', at: now.toISOString(), books, audit }
}

/** Reads heads that were kept: one JSON value, or one on each line. Throws if the text is something else. */
export function parseHeads(text: string): Heads[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const values: unknown[] = isJson(text)
    ? [JSON.parse(text)]
    : lines.map((line) => JSON.parse(line))
  if (values.length === 0) throw new Error('it is empty')
  return values.map((value) => {
    const { format, books, audit } = value as Partial<Heads>
    if (format !== 'sluice-heads-1' || !Array.isArray(books) || !Array.isArray(audit)) {
      throw new Error('it is not what "sluice heads" writes')
    }
    return value as Heads
  })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What became of kept heads in today's chains. */
export interface HeadsProof {
  heads: number
  findings: { book: string; finding: string }[]
  /** By book and seq: hashes of rows that were archived since, which the files have to show. */
  archived: Map<string, Map<bigint, string>>
}

/** Proves that today's chains contain the heads that were kept. */
export async function proveHeads(pool: Pool, kept: readonly Heads[]): Promise<HeadsProof> {
  // The same head is kept as often as it was written while nothing happened.
  const books = new Map(
    kept
      .flatMap((each) => each.books)
      .map((head) => [`${head.book} ${head.seq} ${head.hash}`, head]),
  )
  const lanes = new Map(
    kept
      .flatMap((each) => each.audit)
      .map((head) => [`${head.lane} ${head.seq} ${head.hash}`, head]),
  )
  const proof: HeadsProof = { heads: books.size + lanes.size, findings: [], archived: new Map() }
  for (const some of inPages([...books.values()])) await proveBookHeads(pool, some, proof)
  for (const some of inPages([...lanes.values()])) await proveLaneHeads(pool, some, proof)
  return proof
}

async function proveBookHeads(pool: Pool, heads: BookHead[], proof: HeadsProof): Promise<void> {
  const { rows } = await pool.query<{ at: bigint; hash: string | null; archived: bigint | null }>(
    `select k.at, j.hash,
       (select max(p.to_seq) from archive_parts p where p.agent_id = w.agent_id) as archived
     from unnest($1::text[], $2::bigint[]) with ordinality k(book, seq, at)
     left join agents a on a.app_id = k.book
     left join wallets w on w.agent_id = a.agent_id
       or (a.agent_id is null and 'house ' || w.currency = k.book and w.agent_id < 0)
     left join journal j on j.agent_id = w.agent_id and j.seq = k.seq
     order by k.at`,
    [heads.map(({ book }) => book), heads.map(({ seq }) => seq)],
  )
  for (const [at, { book, seq, hash }] of heads.entries()) {
    const found = rows[at]
    const row = `journal row ${seq}`
    // The files prove rows before the archive's end, those as well that are still in the books.
    if (found && found.archived !== null && BigInt(seq) < found.archived) {
      const ofBook = proof.archived.get(book) ?? new Map<bigint, string>()
      proof.archived.set(book, ofBook.set(BigInt(seq), hash))
      continue
    }
    if (found?.hash === hash) continue
    const finding = found?.hash
      ? `${row} has another hash than the one that was kept`
      : `${row}, whose hash was kept, is missing`
    proof.findings.push({ book, finding })
  }
}

async function proveLaneHeads(pool: Pool, heads: LaneHead[], proof: HeadsProof): Promise<void> {
  const { rows } = await pool.query<{ hash: string | null }>(
    `select l.hash from unnest($1::smallint[], $2::bigint[]) with ordinality k(lane, seq, at)
     left join audit_log l on l.lane = k.lane and l.lane_seq = k.seq order by k.at`,
    [heads.map(({ lane }) => lane), heads.map(({ seq }) => seq)],
  )
  for (const [at, { lane, seq, hash }] of heads.entries()) {
    const found = rows[at]?.hash
    if (found === hash) continue
    const what = found ? 'has another hash than the one that was kept' : 'is missing'
    proof.findings.push({ book: 'audit', finding: `row ${seq} of lane ${lane} ${what}` })
  }
}

function* inPages<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += 1_000) yield all.slice(at, at + 1_000)
}
