import { type Columns, columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { parseTxnId, txnId } from '../lib/ids.ts'
import { paymentCode } from '../lib/payment-code.ts'

/** The attempt at paying out an order that a reference names. */
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
 * The references that an attempt may use, in the order in which they are tried. A code has 50 bits, so
 * two of tens of millions of payouts may well get the same one, but not eight times in a row.
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

/** The reference of payouts before they had codes: at least 36 characters, too long for many banks. */
function longReference(agentId: bigint, orderId: string, attempt: number): string {
  return `${txnId(agentId, orderId)}-${attempt}`
}

/** Parses a reference of the long form. */
function parseLongReference(reference: string): NamedPayout | undefined {
  const match = /^(.+)-(\d{1,3})$/.exec(reference)
  const named = match?.[1] === undefined ? undefined : parseTxnId(match[1])
  return named && { reference, ...named, attempt: Number(match?.[2]) }
}

/** Finds payouts by reference. Their orders may have been archived. */
export async function findNamedPayouts(
  pool: Pool | Tx,
  references: readonly string[],
): Promise<Map<string, NamedPayout>> {
  const { rows } = references.length
    ? await pool.query<NamedPayout>({
        name: 'named-payouts',
        text: payoutsByReference,
        values: [references],
      })
    : { rows: [] }
  const found = new Map(rows.map((named) => [named.reference, named]))
  for (const reference of references) {
    const named = found.get(reference) ?? parseLongReference(reference)
    if (named) found.set(reference, named)
  }
  return found
}
