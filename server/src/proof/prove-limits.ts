import { firstOrderIdAt } from '../lib/ids.ts'
import { ensure, type ProofTx } from './proof-failure.ts'

/** How far the proof of what limits count has come: what is added up, and up to which time. */
export interface LimitPlace {
  agentId: bigint
  kind: string
  per: string
  /** Null before the first quarter of an hour. */
  upTo: Date | null
}

export const beforeAllLimits: LimitPlace = { agentId: 0n, kind: '', per: '', upTo: null }

const quarterMs = 900_000

/** Whose orders are added up together: in words of this file, so that it shares no mistake. */
const subjects: Record<string, string> = {
  agent: `''`,
  user: 'o.user_id',
  account: `concat(o.bank_code, ':', upper(translate(o.account_no,
    translate(o.account_no, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', ''), '')))`,
}

/**
 * Proves what counts for limits against the orders, of one agent and one way of adding up, over a stretch of time
 * with about `limit` orders. Returns where to go on; null at the end.
 */
export async function proveLimitPage(
  tx: ProofTx,
  place: LimitPlace,
  limit: number,
): Promise<LimitPlace | null> {
  const { rows } = await tx.query<LimitPlace & { countsFrom: Date }>(
    `select agent_id as "agentId", kind, per, counts_from as "countsFrom" from limit_counting
     where (agent_id, kind, per) ${place.upTo ? '>=' : '>'} ($1, $2, $3)
     order by agent_id, kind, per limit 1`,
    [place.agentId, place.kind, place.per],
  )
  const [counted] = rows
  if (!counted) return null
  const { agentId, kind, per, countsFrom } = counted
  const isSame = agentId === place.agentId && kind === place.kind && per === place.per
  const next = { agentId, kind, per, upTo: null }
  if (per === 'payee') {
    await provePayees(tx, agentId)
    return next
  }
  const from = isSame && place.upTo && place.upTo > countsFrom ? place.upTo : countsFrom
  const to = await endOfStretch(tx, agentId, from, limit)
  const { rows: lies } = await tx.query<{ starts_at: Date }>(
    `select starts_at from (
       select ${subjects[per]} as subject, to_timestamp(
           floor(extract(epoch from o.created_at) / 900) * 900) as starts_at,
         sum(o.amount) as amount, count(*) as orders
       from orders o
       where o.agent_id = $1 and o.kind = $2 and o.order_id >= $5 and ($6::uuid is null or o.order_id < $6)
         and o.created_at >= $4 and o.status not in ('FAILED', 'EXPIRED', 'VOID', 'CANCEL')
       group by 1, 2
     ) o full join (
       select u.subject, u.starts_at, u.amount, u.orders from limit_uses u
       where u.agent_id = $1 and u.kind = $2 and u.per = $3 and u.starts_at >= $4
         and ($7::timestamptz is null or u.starts_at < $7) and (u.amount <> 0 or u.orders <> 0)
     ) u using (subject, starts_at)
     where o.amount is distinct from u.amount or o.orders is distinct from u.orders
     order by 1 limit 1`,
    [agentId, kind, per, from, firstOrderIdAt(from), to && firstOrderIdAt(to), to],
  )
  const [lie] = lies
  ensure(
    lie === undefined,
    () =>
      `what counts for limits of agent ${agentId} (${kind} by ${per}) at ${lie?.starts_at.toISOString()} is not what its orders say`,
  )
  return to ? { agentId, kind, per, upTo: to } : next
}

/** The quarter of an hour in which the stretch ends; null if it has no end. */
async function endOfStretch(
  tx: ProofTx,
  agentId: bigint,
  from: Date,
  limit: number,
): Promise<Date | null> {
  const { rows } = await tx.query<{ created_at: Date }>(
    `select created_at from orders where agent_id = $1 and order_id >= $2
     order by order_id offset $3 limit 1`,
    [agentId, firstOrderIdAt(from), limit],
  )
  const [last] = rows
  if (!last) return null
  const quarter = Math.floor(last.created_at.getTime() / quarterMs) * quarterMs
  return new Date(Math.max(quarter, from.getTime() + quarterMs))
}

/** Proves that the orders that are said to have paid an account did, as far as they are not archived. */
async function provePayees(tx: ProofTx, agentId: bigint): Promise<void> {
  const { rows } = await tx.query<{ order_id: string }>(
    `select p.order_id from limit_payees p
     join orders o on o.agent_id = p.agent_id and o.order_id = p.order_id
     where p.agent_id = $1 and (o.kind <> 'withdraw' or o.refund_of is not null or o.status not in ('PAID', 'REVERT')
       or ${subjects.account} <> p.account) limit 1`,
    [agentId],
  )
  const [lie] = rows
  ensure(
    lie === undefined,
    () => `agent ${agentId} is said to have paid an account with order ${lie?.order_id}`,
  )
}
