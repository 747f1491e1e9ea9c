import { firstOrderIdAt } from '../lib/ids.ts'
import { ensure, type ProofTx } from './proof-failure.ts'

/** How far the proof of what limits count has come: what is added up, and up to which time. */
export interface LimitPlace {
  agentId: bigint
  kind: string
  per: string
  /** Null before the first quarter of an hour. */
  upTo: Date | null
  /** The account up to which those that were paid are proved; these come before their orders. */
  account?: string
}

export const beforeAllLimits: LimitPlace = { agentId: 0n, kind: '', per: '', upTo: null }

const quarterMs = 900_000

/** The number of an account, without what is between its letters and digits. */
const number = `upper(translate(o.account_no,
    translate(o.account_no, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', ''), ''))`

/** Whose orders are added up together: in words of this file, so that it shares no mistake. */
const subjects: Record<string, string> = {
  agent: `''`,
  user: 'o.user_id',
  account: `concat(case
    when length(${number}) between 15 and 34 and ${number} similar to '[A-Z]{2}[0-9]{2}%' then null
    when length(o.bank_code) <> 11 then concat(o.bank_code, ':')
    when o.bank_code similar to '[A-Z]{4}0[A-Z0-9]{6}' then concat(substr(o.bank_code, 1, 4), ':')
    when o.bank_code similar to '[A-Z]{6}[A-Z0-9]{5}' then concat(substr(o.bank_code, 1, 8), ':')
    else concat(o.bank_code, ':') end, ${number})`,
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
  const isUnderWay = place.upTo !== null || place.account !== undefined
  const { rows } = await tx.query<LimitPlace & { countsFrom: Date }>(
    `select agent_id as "agentId", kind, per, counts_from as "countsFrom" from limit_counting
     where (agent_id, kind, per) ${isUnderWay ? '>=' : '>'} ($1, $2, $3)
     order by agent_id, kind, per limit 1`,
    [place.agentId, place.kind, place.per],
  )
  const [counted] = rows
  if (!counted) return null
  const { agentId, kind, per, countsFrom } = counted
  const isSame = agentId === place.agentId && kind === place.kind && per === place.per
  const next = { agentId, kind, per, upTo: null }
  if (per === 'payee' && !(isSame && place.upTo)) {
    const account = await provePayees(tx, agentId, isSame ? (place.account ?? '') : '', limit)
    if (account !== null) return { ...next, account }
  }
  const from = isSame && place.upTo && place.upTo > countsFrom ? place.upTo : countsFrom
  const to = await endOfStretch(tx, agentId, from, limit)
  if (per === 'payee') {
    await proveKnown(tx, agentId, from, to)
    return to ? { agentId, kind, per, upTo: to } : next
  }
  if (!isSame) await proveBeginning(tx, agentId, kind, per)
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

/**
 * Proves that accounts were paid by the orders that are said to have paid them, as far as these are not archived.
 * Returns the last account that was looked at; null at the end.
 */
async function provePayees(
  tx: ProofTx,
  agentId: bigint,
  after: string,
  limit: number,
): Promise<string | null> {
  const { rows } = await tx.query<{ account: string; order_id: string; is_lie: boolean }>(
    `select p.account, p.order_id, case when o.order_id is null then not exists (
         select 1 from archived_refs a where a.agent_id = p.agent_id and a.order_id = p.order_id)
       else o.kind <> 'withdraw' or o.refund_of is not null or o.status not in ('PAID', 'REVERT')
         or ${subjects.account} <> p.account end as is_lie
     from (select * from limit_payees where agent_id = $1 and account > $2
       order by account limit $3) p
     left join orders o on o.agent_id = p.agent_id and o.order_id = p.order_id
     order by p.account`,
    [agentId, after, limit],
  )
  const lie = rows.find(({ is_lie }) => is_lie)
  ensure(
    lie === undefined,
    () => `agent ${agentId} is said to have paid an account with order ${lie?.order_id}`,
  )
  return rows.length === limit ? (rows.at(-1)?.account ?? null) : null
}

/** Proves that every account is known that orders of a stretch have paid. */
async function proveKnown(
  tx: ProofTx,
  agentId: bigint,
  from: Date,
  to: Date | null,
): Promise<void> {
  const { rows } = await tx.query<{ order_id: string }>(
    `select o.order_id from orders o
     where o.agent_id = $1 and o.order_id >= $2 and ($3::uuid is null or o.order_id < $3)
       and o.created_at >= $4 and o.kind = 'withdraw' and o.refund_of is null
       and o.status in ('PAID', 'REVERT') and not exists (
         select 1 from limit_payees p where p.agent_id = $1 and p.account = ${subjects.account})
     limit 1`,
    [agentId, firstOrderIdAt(from), to && firstOrderIdAt(to), from],
  )
  const [lie] = rows
  ensure(
    lie === undefined,
    () => `the account that agent ${agentId} has paid with order ${lie?.order_id} is not known`,
  )
}

/** Proves that nothing is kept of before the time from which orders count, except what is being forgotten. */
async function proveBeginning(tx: ProofTx, agentId: bigint, kind: string, per: string) {
  const { rows } = await tx.query(
    `select 1 from limit_counting c join limit_uses u
       on u.agent_id = c.agent_id and u.kind = c.kind and u.per = c.per
         and u.starts_at < c.counts_from
     where c.agent_id = $1 and c.kind = $2 and c.per = $3
       and c.counts_from > now() - interval '60 days' limit 1`,
    [agentId, kind, per],
  )
  ensure(
    rows.length === 0,
    () =>
      `what counts for limits of agent ${agentId} (${kind} by ${per}) began earlier than it says`,
  )
}
