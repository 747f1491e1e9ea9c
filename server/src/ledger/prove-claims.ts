import { orderIdFromUuid } from '../lib/ids.ts'
import type { JournalRow, PaymentClaim } from './book.ts'
import { demand, type ProofTx } from './lie.ts'
import { type ClaimRow, claimFromRow, claimsById } from './payment-claims.ts'

const chunk = 2_000

/** Every payment that these rows credit is claimed by the agent: it is nobody else's. */
export async function proveClaims(tx: ProofTx, agentId: bigint, rows: JournalRow[]): Promise<void> {
  const ids = rows.flatMap(({ onceKey }) =>
    onceKey?.startsWith('payment:') ? onceKey.slice('payment:'.length) : [],
  )
  if (ids.length > 0) await provePaymentsClaimed(tx, agentId, 'and payment_id = any($2)', ids)
}

/** Every payment of an agent, credited or not, is claimed by it. */
export async function proveAllClaims(tx: ProofTx, agentId: bigint): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    after = await provePaymentsClaimed(
      tx,
      agentId,
      `and payment_id > $2 order by payment_id limit ${chunk}`,
      after,
    )
  }
}

/** Every payment of an agent that waits is claimed by it. */
export async function proveWaitingClaims(tx: ProofTx, agentId: bigint): Promise<void> {
  const oldest = `and state = 'waiting' order by reported_at limit $2`
  await provePaymentsClaimed(tx, agentId, oldest, chunk)
}

/** Returns the last payment of a page that was full. */
async function provePaymentsClaimed(
  tx: ProofTx,
  agentId: bigint,
  which: string,
  value: string | string[] | number,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ payment_id: string; amount: bigint }>(
    `select payment_id, amount from payments where agent_id = $1 ${which}`,
    [agentId, value],
  )
  const claims = await readClaims(
    tx,
    rows.map(({ payment_id }) => payment_id),
  )
  for (const { payment_id, amount } of rows) {
    const claim = claims.get(payment_id)
    demand(
      claim?.agentId === agentId && claim.amountMinor === amount,
      () => `payment ${payment_id} of ${amount} is not the agent's: ${claimInWords(claim)}`,
    )
  }
  return rows.length < chunk ? undefined : rows.at(-1)?.payment_id
}

/**
 * What a stretch of claims says is so: an agent's has its payment, or is being given to it; nobody's waits or
 * was decided on. Read by id, table by table: they are spread over machines in different ways. Returns
 * where the next stretch begins.
 */
export async function proveClaimPage(tx: ProofTx, after: string): Promise<string | undefined> {
  const { rows } = await tx.query<ClaimRow>(
    'select * from payment_claims where payment_id > $1 order by payment_id limit $2',
    [after, chunk],
  )
  const claims = rows.map(claimFromRow)
  const owned = claims.filter(({ agentId }) => agentId > 0n)
  const { rows: payments } = await tx.query<{ key: string; amount: bigint; currency: string }>(
    `select p.agent_id || ' ' || p.payment_id as key, p.amount, a.currency
     from payments p join agents a using (agent_id)
     join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
       on p.agent_id = k.agent_id and p.payment_id = k.payment_id`,
    [owned.map(({ agentId }) => agentId), owned.map(({ paymentId }) => paymentId)],
  )
  const paid = new Map(payments.map((payment) => [payment.key, payment]))
  const unmatched = await readUnmatched(
    tx,
    claims.map(({ paymentId }) => paymentId),
  )
  const orders = await readOrders(tx, owned)
  for (const claim of claims) {
    const { paymentId, agentId, orderId, amountMinor, currency } = claim
    const row = unmatched.get(paymentId)
    const found = paid.get(`${agentId} ${paymentId}`) ?? (row?.owner === agentId ? row : undefined)
    demand(
      found?.amount === amountMinor && found.currency === currency,
      () => `payment ${paymentId} is ${claimInWords(claim)}, but not recorded so`,
    )
    demand(
      orderId === null || orders.has(`${agentId} ${orderId}`),
      () => `payment ${paymentId} is claimed for order ${orderId}, which its agent does not have`,
    )
  }
  return rows.length < chunk ? undefined : rows.at(-1)?.payment_id
}

/** Every payment that is or was nobody's has its claim. Returns where the next stretch begins. */
export async function proveUnmatchedPage(tx: ProofTx, after: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ payment_id: string; contradicts: string | null }>(
    `select payment_id, contradicts from unmatched_payments
     where payment_id > $1 order by payment_id limit $2`,
    [after, chunk],
  )
  const ids = rows.map(({ payment_id }) => payment_id)
  const contradicted = rows.flatMap(({ contradicts }) => contradicts ?? [])
  const unmatched = await readUnmatched(tx, ids)
  const claims = await readClaims(tx, [...ids, ...contradicted])
  for (const id of ids) {
    const claim = claims.get(id)
    const row = unmatched.get(id)
    demand(
      claim !== undefined && claim.agentId === row?.owner && claim.amountMinor === row.amount,
      () => `unmatched payment ${id} is ${row?.owner}'s, but ${claimInWords(claim)}`,
    )
  }
  for (const id of contradicted) {
    demand(claims.has(id), () => `payment ${id} is contradicted, but was never claimed`)
  }
  return rows.length < chunk ? undefined : rows.at(-1)?.payment_id
}

async function readClaims(tx: ProofTx, ids: string[]): Promise<Map<string, PaymentClaim>> {
  const { rows } = await tx.query<ClaimRow>(claimsById, [ids])
  return new Map(rows.map((row) => [row.payment_id, claimFromRow(row)]))
}

async function readUnmatched(tx: ProofTx, ids: string[]) {
  const { rows } = await tx.query<{
    payment_id: string
    owner: bigint
    amount: bigint
    currency: string
  }>(
    `select payment_id, coalesce(assigned_to, 0)::bigint as owner, amount, currency
     from unmatched_payments where payment_id = any($1)`,
    [ids],
  )
  return new Map(rows.map((row) => [row.payment_id, row]))
}

async function readOrders(tx: ProofTx, claims: PaymentClaim[]): Promise<Set<string>> {
  const named = claims.filter(({ orderId }) => orderId !== null)
  const { rows } = await tx.query<{ agent_id: bigint; order_id: string }>(
    `select o.agent_id, o.order_id from orders o
     join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on o.agent_id = k.agent_id and o.order_id = k.order_id`,
    [named.map(({ agentId }) => agentId), named.map(({ orderId }) => orderId)],
  )
  return new Set(rows.map((row) => `${row.agent_id} ${orderIdFromUuid(row.order_id)}`))
}

function claimInWords(claim: PaymentClaim | undefined): string {
  if (!claim) return 'claimed by nobody'
  const whose = claim.agentId === 0n ? 'nobody' : `agent ${claim.agentId}`
  return `claimed for ${whose}, ${claim.amountMinor} ${claim.currency}`
}
