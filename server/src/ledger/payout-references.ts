import { type Columns, columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { parseTxnId, txnId } from '../lib/ids.ts'
import { paymentCode } from '../lib/payment-code.ts'

/** Which attempt at paying an order out a reference names. */
export interface NamedPayout {
  reference: string
  agentId: bigint
  orderId: string
  attempt: number
}

export const referenceColumns: Columns<NamedPayout> = columns<NamedPayout>({
  reference: ['reference', 'text'],
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  attempt: ['attempt', 'int'],
})

export const payoutsByReference = `select ${referenceColumns.select('r')} from payout_references r
  where r.reference = any($1::text[])`

export const insertReferences = `insert into payout_references (${referenceColumns.names})
  select * from ${referenceColumns.unnest}
  on conflict do nothing
  returning reference`

/**
 * The references that an attempt at an order may have, in the order in which they are tried. A code has 50
 * bits, so two payouts among tens of millions may well draw the same; eight times in a row they do not.
 */
export function referencesOf(
  agentId: bigint,
  orderId: string,
  attempt: number,
): [string, ...string[]] {
  const seed = longReference(agentId, orderId, attempt)
  const again = [1, 2, 3, 4, 5, 6, 7].map((draw) => paymentCode(`${seed}#${draw}`))
  return [paymentCode(seed), ...again]
}

/** How payouts were named before they had codes: 36 characters and more, too long for many banks. */
function longReference(agentId: bigint, orderId: string, attempt: number): string {
  return `${txnId(agentId, orderId)}-${attempt}`
}

/** What a reference of the long form names. */
function parseLongReference(reference: string): NamedPayout | undefined {
  const match = /^(.+)-(\d{1,3})$/.exec(reference)
  const named = match?.[1] === undefined ? undefined : parseTxnId(match[1])
  return named && { reference, ...named, attempt: Number(match?.[2]) }
}

/** The payouts that references name, by reference. Their orders may have been archived. */
export async function findNamedPayouts(
  pool: Pool | Tx,
  references: readonly string[],
): Promise<Map<string, NamedPayout>> {
  const { rows } = references.length
    ? await pool.query<NamedPayout>(payoutsByReference, [references])
    : { rows: [] }
  const found = new Map(rows.map((named) => [named.reference, named]))
  for (const reference of references) {
    const named = found.get(reference) ?? parseLongReference(reference)
    if (named) found.set(reference, named)
  }
  return found
}
