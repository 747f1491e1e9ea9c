import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { orderIdFromUuid, parseTxnId, txnId } from '../lib/ids.ts'
import { paymentCode } from '../lib/payment-code.ts'

/** A payout of an order, as its reference names it. */
export interface NamedPayout {
  agentId: bigint
  orderId: string
  /** Unknown where the reference does not say. */
  attempt: number
}

export interface ReferenceRow {
  reference: string
  agent_id: bigint
  order_id: string
  attempt: number
}

export const payoutsByReference =
  'select * from payout_references where reference = any($1::text[])'

export const insertReferences = `insert into payout_references (reference, agent_id, order_id, attempt)
  select * from unnest($1::text[], $2::bigint[], $3::uuid[], $4::int[])
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
export function parseLongReference(reference: string): NamedPayout | undefined {
  const match = /^(.+)-(\d{1,3})$/.exec(reference)
  const named = match?.[1] === undefined ? undefined : parseTxnId(match[1])
  return named && { ...named, attempt: Number(match?.[2]) }
}

/** The payouts that references name, by reference. Their orders may have been archived. */
export async function findNamedPayouts(
  pool: Pool | Tx,
  references: readonly string[],
): Promise<Map<string, NamedPayout>> {
  const found = new Map<string, NamedPayout>()
  const { rows } = references.length
    ? await pool.query<ReferenceRow>(payoutsByReference, [references])
    : { rows: [] }
  for (const { reference, agent_id, order_id, attempt } of rows) {
    found.set(reference, { agentId: agent_id, orderId: orderIdFromUuid(order_id), attempt })
  }
  for (const reference of references) {
    const named = found.get(reference) ?? parseLongReference(reference)
    if (named) found.set(reference, named)
  }
  return found
}
