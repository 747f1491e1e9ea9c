import { checker, readQuery } from '../check.ts'
import { SeqQuery } from './schemas.ts'

const seqQuery = checker(SeqQuery)

/** The start and length of a list by sequence number. */
export function seqRange(query: unknown): { after: bigint; limit: number } {
  const given = readQuery(query, seqQuery)
  return { after: BigInt(Number(given.get('after') ?? 0)), limit: Number(given.get('limit') ?? 50) }
}

/** A page of `limit` items from `limit + 1` that were read, with where the next one begins. */
export function pageOf(items: { seq: bigint; json: string }[], limit: number): string {
  const shown = items.slice(0, limit)
  const next = items.length > limit ? String(shown.at(-1)?.seq) : 'null'
  return `{"data":[${shown.map(({ json }) => json).join(',')}],"next":${next}}`
}
