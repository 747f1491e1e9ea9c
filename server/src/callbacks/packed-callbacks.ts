/**
 * The callbacks of a claim travel as one text, a record for each, instead of a row for each. Of the 60 to 70 µs
 * that a callback costs the sender this saves 2 (see docs/performance.md): for every row pg makes an object, and a
 * string for every column, before it reads numbers out of them. And a claim is one row, whatever it took.
 */
import type { OrderKind } from '../ledger/book.ts'
import type { ClaimedCallback } from './claimed-callback.ts'

/** Stands between records. A body may have line breaks, but no JSON has this. */
const separator = '\x1e'

/** An aggregate of rows with these columns: fields with a space between them. The body comes last, and may hold spaces. */
export const packedCallbacks = `string_agg(concat_ws(' ', seq, kind, attempts, created_at_ms, body), '${separator}')`

/** The callbacks that a claim has packed; null where it took none. */
export function unpackCallbacks(
  packed: string | null,
  claim: Pick<ClaimedCallback, 'agentId' | 'turn' | 'lease'>,
): ClaimedCallback[] {
  if (packed === null) return []
  return packed.split(separator).map((record) => unpack(record, claim))
}

function unpack(
  record: string,
  { agentId, turn, lease }: Pick<ClaimedCallback, 'agentId' | 'turn' | 'lease'>,
): ClaimedCallback {
  const kindAt = record.indexOf(' ') + 1
  const attemptsAt = record.indexOf(' ', kindAt) + 1
  const createdMsAt = record.indexOf(' ', attemptsAt) + 1
  const bodyAt = record.indexOf(' ', createdMsAt) + 1
  return {
    agentId,
    turn,
    lease,
    seq: BigInt(record.slice(0, kindAt - 1)),
    kind: record.slice(kindAt, attemptsAt - 1) as OrderKind,
    attempts: Number(record.slice(attemptsAt, createdMsAt - 1)),
    createdAtMs: Number(record.slice(createdMsAt, bodyAt - 1)),
    body: record.slice(bodyAt),
  }
}
