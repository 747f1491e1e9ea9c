import type { Payment, PaymentClaim, UnmatchedPayment } from '../ledger/book.ts'
import { claimColumns } from '../ledger/book-columns.ts'
import { houseBook } from '../ledger/house.ts'
import { claimsById } from '../ledger/payment-claims.ts'
import type { Currency } from '../lib/money.ts'
import { ensure, ensureSame, type ProofTx, type ProvedAgent } from './proof-failure.ts'
import { proveBankClaims } from './prove-movements.ts'

/** Proves that each payment of an agent is claimed by that agent, for the same amount. */
export async function proveClaimed(
  tx: ProofTx,
  { agentId, currency }: ProvedAgent,
  payments: readonly Pick<Payment, 'paymentId' | 'amountMinor'>[],
): Promise<void> {
  const ids = payments.map(({ paymentId }) => paymentId)
  const claims = await readClaims(tx, ids)
  for (const { paymentId, amountMinor } of payments) {
    const claim = claims.get(paymentId)
    const where = `the claim on payment ${paymentId}`
    ensure(claim !== undefined, () => `${where} is missing`)
    ensureSame(where, 'agent', claim.agentId, agentId)
    ensureSame(where, 'amount', claim.amountMinor, amountMinor)
    ensureSame(where, 'currency', claim.currency, currency)
  }
  const named = new Set([...claims.values()].flatMap(({ orderId }) => orderId ?? []))
  const { rows } = await tx.query<{ order_id: string }>(
    `select order_id from orders where agent_id = $1 and order_id = any($2)
     union all select order_id from archived_refs where agent_id = $1 and order_id = any($2)`,
    [agentId, [...named]],
  )
  for (const { order_id } of rows) named.delete(order_id)
  const [lost] = named
  ensure(lost === undefined, () => `a payment is claimed for order ${lost}, which is not there`)
}

/**
 * Proves a page of claims: the payment of an agent's claim exists or was archived; the payment of a claim
 * without an agent is among the unmatched payments that belong to no agent. Reads by id, one
 * table at a time, because the tables may be distributed over machines in different ways. Returns the
 * last id if the page was full.
 */
export async function proveClaimPage(
  tx: ProofTx,
  after: string,
  limit: number,
): Promise<string | null> {
  const { rows: claims } = await tx.query<PaymentClaim>(
    `select ${claimColumns.select('c')} from payment_claims c
     where payment_id > $1 order by payment_id limit $2`,
    [after, limit],
  )
  const { rows: payments } = await tx.query<{ agent_id: bigint; payment_id: string }>(
    `select p.agent_id, p.payment_id from payments p
     join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
       on p.agent_id = k.agent_id and p.payment_id = k.payment_id`,
    [claims.map(({ agentId }) => agentId), claims.map(({ paymentId }) => paymentId)],
  )
  const recorded = new Set(payments.map((row) => `${row.agent_id} ${row.payment_id}`))
  const gone = claims.filter(({ agentId, paymentId }) => !recorded.has(`${agentId} ${paymentId}`))
  const { rows: archived } = await tx.query<{ agent_id: bigint; once_key: string }>(
    `select a.agent_id, a.once_key from archived_keys a
     join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
       on a.agent_id = k.agent_id and a.once_key = k.once_key`,
    [gone.map(({ agentId }) => agentId), gone.map(({ paymentId }) => `payment:${paymentId}`)],
  )
  for (const row of archived)
    recorded.add(`${row.agent_id} ${row.once_key.slice('payment:'.length)}`)
  const ids = claims.map(({ paymentId }) => paymentId)
  for (const { owner, payment_id } of await readUnmatched(tx, ids)) {
    if (owner === 0n) recorded.add(`0 ${payment_id}`)
  }
  for (const { agentId, paymentId } of claims) {
    const whose = agentId === 0n ? 'nobody' : `agent ${agentId}`
    ensure(
      recorded.has(`${agentId} ${paymentId}`),
      () => `payment ${paymentId} is claimed for ${whose}, who has no such payment`,
    )
  }
  await proveBankClaims(tx, claims)
  return claims.length < limit ? null : (ids.at(-1) ?? null)
}

/**
 * Proves that every payment that is or was unmatched has its claim. Returns the last id if the page was
 * full.
 */
export async function proveUnmatchedPage(
  tx: ProofTx,
  after: string,
  limit: number,
): Promise<string | null> {
  const { rows } = await tx.query<{ payment_id: string }>(
    `select payment_id from unmatched_payments where payment_id > $1 order by payment_id limit $2`,
    [after, limit],
  )
  const ids = rows.map(({ payment_id }) => payment_id)
  const unmatched = await readUnmatched(tx, ids)
  const contradicted = unmatched.flatMap(({ contradicts }) => contradicts ?? [])
  const claims = await readClaims(tx, [...ids, ...contradicted])
  await proveHouseRows(tx, unmatched)
  for (const { payment_id, owner, amount, currency } of unmatched) {
    const claim = claims.get(payment_id)
    const where = `the claim on unmatched payment ${payment_id}`
    ensure(claim !== undefined, () => `${where} is missing`)
    ensureSame(where, 'agent', claim.agentId, owner)
    ensureSame(where, 'amount', claim.amountMinor, amount)
    ensureSame(where, 'currency', claim.currency, currency)
  }
  for (const id of contradicted) {
    ensure(claims.has(id), () => `payment ${id} is contradicted, but was never claimed`)
  }
  return ids.length < limit ? null : (ids.at(-1) ?? null)
}

const decidingEvent = {
  returned: 'payment_returned',
  dismissed: 'payment_dismissed',
  assigned: 'payment_assigned',
  waiting: undefined,
}

/** Proves that the house's book took each payment in and gave it up, by the rows that it names. */
async function proveHouseRows(
  tx: ProofTx,
  payments: readonly Awaited<ReturnType<typeof readUnmatched>>[number][],
): Promise<void> {
  const named = payments.flatMap(({ currency, received_seq, decided_seq }) =>
    [received_seq, decided_seq ?? 0n]
      .filter((seq) => seq > 0n)
      .map((seq) => ({
        agentId: houseBook(currency),
        seq,
      })),
  )
  const { rows } = await tx.query<{ agent_id: bigint; seq: bigint; once_key: string | null }>(
    `select j.agent_id, j.seq, j.once_key from journal j
     join unnest($1::bigint[], $2::bigint[]) k(agent_id, seq)
       on j.agent_id = k.agent_id and j.seq = k.seq`,
    [named.map(({ agentId }) => agentId), named.map(({ seq }) => seq)],
  )
  const keys = new Map(rows.map((row) => [`${row.agent_id} ${row.seq}`, row.once_key]))
  for (const { payment_id, currency, state, received_seq, decided_seq } of payments) {
    const where = `unmatched payment ${payment_id}`
    const keyOf = (seq: bigint | null) =>
      seq === null || seq === 0n ? null : keys.get(`${houseBook(currency)} ${seq}`)
    const event = decidingEvent[state]
    ensureSame(where, 'that it was decided', decided_seq !== null, event !== undefined)
    ensure(received_seq > 0n || state !== 'waiting', () => `${where} waits in no book`)
    if (received_seq > 0n) {
      ensureSame(where, 'received by', keyOf(received_seq), `payment_received:${payment_id}`)
    }
    // What was in no book when it was decided on was given up by none.
    if (event === undefined || (received_seq === 0n && decided_seq === 0n)) continue
    ensureSame(where, 'decided by', keyOf(decided_seq), `${event}:${payment_id}`)
  }
}

async function readClaims(tx: ProofTx, ids: string[]): Promise<Map<string, PaymentClaim>> {
  const { rows } = await tx.query<PaymentClaim>(claimsById, [ids])
  return new Map(rows.map((claim) => [claim.paymentId, claim]))
}

/** `owner` is 0 while the payment belongs to no agent. */
async function readUnmatched(tx: ProofTx, ids: string[]) {
  const { rows } = await tx.query<{
    payment_id: string
    owner: bigint
    amount: bigint
    currency: Currency
    contradicts: string | null
    state: UnmatchedPayment['state']
    received_seq: bigint
    decided_seq: bigint | null
  }>(
    `select payment_id, coalesce(assigned_to, 0)::bigint as owner, amount, currency, contradicts, state,
       received_seq, decided_seq
     from unmatched_payments where payment_id = any($1)`,
    [ids],
  )
  return rows
}
