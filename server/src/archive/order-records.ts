import type { PoolClient } from '../db/pool.ts'
import { columnsOf, quotedSql } from './row-text.ts'

/**
 * The rows that belong to an order and are archived with it. Callbacks are found through the journal,
 * which has an index by order.
 */
const belongings = {
  journal: `select j.* from journal j
    where j.agent_id = o.agent_id and j.order_id = o.order_id order by j.seq`,
  callbacks: `select c.*, b.body as stored_body from journal j
    join callbacks c on c.agent_id = j.agent_id and c.seq = j.seq
    left join callback_bodies b
      on b.agent_id = c.agent_id and b.seq = c.seq and b.created_at = c.created_at
    where j.agent_id = o.agent_id and j.order_id = o.order_id order by c.seq`,
  payments: `select p.* from payments p
    where p.agent_id = o.agent_id and p.order_id = o.order_id order by p.payment_id`,
  payouts: `select p.* from payouts p
    where p.agent_id = o.agent_id and p.order_id = o.order_id order by p.attempt`,
  open_items: `select i.* from open_items i
    where i.agent_id = o.agent_id and i.order_id = o.order_id order by i.item_id`,
  // A refund that is made after the record was written keeps the deposit in the books.
  refunds: `select r.order_id, r.amount, r.status from orders r
    where r.agent_id = o.agent_id and r.refund_of = o.order_id order by r.order_id`,
}

const names = Object.keys(belongings)

/** What the keys of journal rows about a payment begin with. */
export const paymentKeys = [
  'payment',
  'payment-taken-back',
  'payment_received',
  'payment_returned',
  'payment_reclassified',
]

/** SQL: whether a journal row is about a payment. */
export function isRowOfPayment(row: string, payment: string): string {
  const keys = paymentKeys.map((key) => `'${key}:' || ${payment}.payment_id`)
  return `${row}.once_key in (${keys.join(', ')})`
}

/** Writes orders as CSV records, each with all rows that belong to it as JSON. */
export interface OrderRecords {
  header: string
  /** The records of these orders in their present state. */
  of(client: PoolClient, agentId: bigint, orderIds: string[]): Promise<Map<string, string>>
}

/** Prepares the records, using the columns that the table has now. */
export async function orderRecords(client: PoolClient): Promise<OrderRecords> {
  const columns = await columnsOf(client, 'orders')
  const records = [
    columns.record('o'),
    ...Object.values(belongings).map((rows) =>
      quotedSql(`(select json_agg(row_to_json(b)) from (${rows}) b)::text`),
    ),
  ].join(` || ',' || `)
  const text = `select o.order_id, ${records} as record from orders o
    where o.agent_id = $1 and o.order_id = any($2::uuid[])`
  return {
    header: [...columns.names, ...names].join(','),
    async of(reader, agentId, orderIds) {
      const { rows } = await reader.query<{ order_id: string; record: string }>(text, [
        agentId,
        orderIds,
      ])
      return new Map(rows.map(({ order_id, record }) => [order_id, record]))
    },
  }
}

/**
 * Finds an agent's finished orders whose last journal row lies between two seqs, in the order of that
 * row. Nothing of a finished order is open: it has ended, its callbacks were accepted or given up, its
 * payments decided, what was held back of it released, its payouts ended, its open items closed, and its providers'
 * reports acted on; a payment at a bank account that was given back has left the account, or
 * was only the sum of others. A deposit's
 * refunds have ended, and stay as long as the deposit does: until then they count against what was paid.
 */
export async function finishedOrders(
  client: PoolClient,
  agentId: bigint,
  { after, before, limit }: { after: bigint; before: bigint; limit: number },
): Promise<{ orderIds: string[]; lastSeq: bigint | null }> {
  const { rows } = await client.query<{ seq: bigint; order_id: string; finished: boolean }>(
    `select j.seq, j.order_id,
       o.status <> 'WAITING' and o.release_at is null
       and not exists (
         select 1 from journal k join callbacks c on c.agent_id = k.agent_id and c.seq = k.seq
         where k.agent_id = o.agent_id and k.order_id = o.order_id
           and c.state not in ('delivered', 'exhausted', 'superseded'))
       and not exists (
         select 1 from payments p left join journal k
           on k.agent_id = p.agent_id and k.seq >= $3
             and ${isRowOfPayment('k', 'p')}
         where p.agent_id = o.agent_id and p.order_id = o.order_id
           and (p.state = 'waiting' or k.seq is not null))
       and not exists (
         select 1 from payments p join bank_accounts b on b.name = split_part(p.payment_id, ':', 1)
         where p.agent_id = o.agent_id and p.order_id = o.order_id
           and p.state in ('returned', 'taken_back')
           and not exists (
             select 1 from bank_movements d where d.account = b.name and d.state = 'booked'
               and (replace(d.returns::text, '-', '') = split_part(p.payment_id, ':', 2)
                 or (replace(d.movement_id::text, '-', '') = split_part(p.payment_id, ':', 2)
                   and d.explained_by in ('batch', 'never_booked')))))
       and not exists (
         select 1 from payouts p where p.agent_id = o.agent_id and p.order_id = o.order_id
           and p.ask_at is not null)
       and not exists (
         select 1 from payout_items i where i.agent_id = o.agent_id and i.order_id = o.order_id
           and i.state not in ('dropped', case o.status when 'PAID' then 'paid'
             when 'REVERT' then 'returned' when 'CANCEL' then 'cancelled' else 'rejected' end))
       and not exists (
         select 1 from open_items i where i.agent_id = o.agent_id and i.order_id = o.order_id
           and i.closed_at is null)
       and not exists (
         select 1 from notice_events n where n.agent_id = o.agent_id and n.order_id = o.order_id
           and n.act_at is not null)
       and not exists (
         select 1 from orders r where r.agent_id = o.agent_id and r.refund_of = o.order_id
           and r.status = 'WAITING')
       and not exists (
         select 1 from orders d where d.agent_id = o.agent_id and d.order_id = o.refund_of) as finished
     from journal j join orders o on o.agent_id = j.agent_id and o.order_id = j.order_id
     where j.agent_id = $1 and j.seq > $2 and j.seq < $3
       and not exists (
         select 1 from journal k
         where k.agent_id = j.agent_id and k.order_id = j.order_id and k.seq > j.seq)
     order by j.seq limit $4`,
    [agentId, after, before, limit],
  )
  return {
    orderIds: rows.filter(({ finished }) => finished).map(({ order_id }) => order_id),
    lastSeq: rows.length < limit ? null : (rows.at(-1)?.seq ?? null),
  }
}
