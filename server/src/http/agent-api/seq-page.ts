import { checker, readQuery } from '../check.ts'
import { EventQuery, SeqQuery } from './schemas.ts'

const seqQuery = checker(SeqQuery)
const eventQuery = checker(EventQuery)

/** The start and length of a list by sequence number. */
export function seqRange(query: unknown): { after: bigint; limit: number } {
  const given = readQuery(query, seqQuery)
  return { after: BigInt(Number(given.get('after') ?? 0)), limit: Number(given.get('limit') ?? 50) }
}

/** The same for events, with the epoch that the sequence number is of, if it is said. */
export function eventRange(query: unknown): {
  after: bigint
  limit: number
  epoch: number | undefined
} {
  const given = readQuery(query, eventQuery)
  const epoch = given.get('epoch')
  return {
    after: BigInt(Number(given.get('after') ?? 0)),
    limit: Number(given.get('limit') ?? 50),
    epoch: epoch === undefined ? undefined : Number(epoch),
  }
}

/** A page of `limit` items from `limit + 1` that were read, with where the next one begins. */
export function pageOf(items: { seq: bigint; json: string }[], limit: number): string {
  const shown = items.slice(0, limit)
  const next = items.length > limit ? String(shown.at(-1)?.seq) : 'null'
  return `{"data":[${shown.map(({ json }) => json).join(',')}],"next":${next}}`
}
