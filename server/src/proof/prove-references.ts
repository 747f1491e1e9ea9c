import type { Pool } from '../db/pool.ts'
import {
  findNamedPayouts,
  type NamedPayout,
  referenceColumns,
} from '../ledger/payout-references.ts'
import { ensure, ensureSame, type ProofTx } from './proof-failure.ts'
import type { PayoutFact } from './prove-hand-overs.ts'

/**
 * Proves that the reference of each payout names that payout, and therefore no other payout of any agent.
 */
export async function proveReferences(
  tx: ProofTx | Pool,
  agentId: bigint,
  payoutsOf: ReadonlyMap<string, readonly PayoutFact[]>,
): Promise<void> {
  const references = [...payoutsOf.values()].flat().map(({ reference }) => reference)
  if (references.length === 0) return
  const named = await findNamedPayouts(tx, references)
  for (const [orderId, payouts] of payoutsOf) {
    for (const { reference, attempt } of payouts) {
      const found = named.get(reference)
      const where = `reference ${reference}`
      ensure(found !== undefined, () => `${where} of a payout is not recorded`)
      ensureSame(where, 'agent', found.agentId, agentId)
      ensureSame(where, 'order', found.orderId, orderId)
      ensureSame(where, 'attempt', found.attempt, attempt)
    }
  }
}

/**
 * Proves that each reference of a page has its payout, or an archived order. Reads one table at a time,
 * because the tables may be distributed over machines in different ways. Returns the last one if the page
 * was full.
 */
export async function proveReferencePage(
  tx: ProofTx,
  after: string,
  limit: number,
): Promise<string | null> {
  const { rows } = await tx.query<NamedPayout>(
    `select ${referenceColumns.select('r')} from payout_references r
     where reference > $1 order by reference limit $2`,
    [after, limit],
  )
  const { rows: payouts } = await tx.query<{ agent_id: bigint; reference: string }>(
    `select p.agent_id, p.reference from payouts p
     join unnest($1::bigint[], $2::uuid[], $3::int[]) k(agent_id, order_id, attempt)
       on p.agent_id = k.agent_id and p.order_id = k.order_id and p.attempt = k.attempt`,
    [
      rows.map(({ agentId }) => agentId),
      rows.map(({ orderId }) => orderId),
      rows.map(({ attempt }) => attempt),
    ],
  )
  const used = new Set(payouts.map(({ agent_id, reference }) => `${agent_id} ${reference}`))
  const gone = rows.filter(({ agentId, reference }) => !used.has(`${agentId} ${reference}`))
  const { rows: archived } = await tx.query<{ agent_id: bigint; order_id: string }>(
    `select a.agent_id, a.order_id from archived_refs a
     join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on a.agent_id = k.agent_id and a.order_id = k.order_id`,
    [gone.map(({ agentId }) => agentId), gone.map(({ orderId }) => orderId)],
  )
  const isArchived = new Set(archived.map(({ agent_id, order_id }) => `${agent_id} ${order_id}`))
  const lost = gone.find(({ agentId, orderId }) => !isArchived.has(`${agentId} ${orderId}`))
  ensure(
    lost === undefined,
    () =>
      `reference ${lost?.reference} names attempt ${lost?.attempt} at order ${lost?.orderId}, which is not there`,
  )
  return rows.length < limit ? null : (rows.at(-1)?.reference ?? null)
}
