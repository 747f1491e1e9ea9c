import type { Pool } from '../db/pool.ts'
import type { ItemKind, OpenItem } from './book.ts'
import { itemColumns } from './book-columns.ts'

/** An item in its present state, with the person assigned to it. */
export interface FoundItem extends OpenItem {
  closedAt: Date | null
  resolution: 'order_paid' | 'looked_into' | null
  closedBy: string | null
  evidence: string | null
  assignee: string | null
}

export interface ItemSearch {
  state: 'open' | 'closed'
  agentId: bigint | null
  kind: ItemKind | null
  assignee: string | null
  after: { openedAt: Date; itemId: string } | null
  limit: number
}

/** Items with their latest assignee. */
const items = `select ${itemColumns.select('i')}, i.closed_at as "closedAt", i.resolution,
    i.closed_by as "closedBy", i.evidence, n.assignee from open_items i left join lateral (
    select assignee from payment_notes n where n.payment_id = i.item_id and n.assigns
    order by n.note_no desc limit 1
  ) n on true`

/** Lists items for a person to look into: open ones oldest first, closed ones latest first. */
export async function searchItems(pool: Pool, search: ItemSearch): Promise<FoundItem[]> {
  const isOpen = search.state === 'open'
  const [beyond, direction] = isOpen ? ['>', 'asc'] : ['<', 'desc']
  const { rows } = await pool.query<FoundItem>(
    `${items}
     where (i.closed_at is null) = $1 and ($2::bigint is null or i.agent_id = $2)
       and ($3::text is null or i.kind = $3) and ($4::text is null or n.assignee = $4)
       and ($5::timestamptz is null or (i.opened_at, i.item_id) ${beyond} ($5, $6))
     order by i.opened_at ${direction}, i.item_id ${direction} limit $7`,
    [
      isOpen,
      search.agentId,
      search.kind,
      search.assignee,
      search.after?.openedAt ?? null,
      search.after?.itemId ?? null,
      search.limit,
    ],
  )
  return rows
}

export async function findItem(pool: Pool, itemId: string): Promise<FoundItem | undefined> {
  const { rows } = await pool.query<FoundItem>(`${items} where i.item_id = $1`, [itemId])
  return rows[0]
}

/** The open items of an order. */
export async function openItemsOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<FoundItem[]> {
  const { rows } = await pool.query<FoundItem>(
    `${items} where i.agent_id = $1 and i.order_id = $2 and i.closed_at is null
     order by i.opened_at, i.item_id`,
    [agentId, orderId],
  )
  return rows
}

/** Closes an item on a person's decision. Returns false if it was already closed. */
export async function closeItem(
  pool: Pool,
  item: Pick<OpenItem, 'agentId' | 'itemId'>,
  closed: { at: Date; by: string; evidence: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update open_items set closed_at = $3, closed_by = $4, evidence = $5, resolution = 'looked_into'
     where agent_id = $1 and item_id = $2 and closed_at is null`,
    [item.agentId, item.itemId, closed.at, closed.by, closed.evidence],
  )
  return rowCount === 1
}

/** Counts the open items of each kind; of the given agents, or of all. */
export async function countOpenItems(
  pool: Pool,
  agentIds: readonly bigint[] | null = null,
): Promise<{ kind: ItemKind; count: number; oldest: Date }[]> {
  const { rows } = await pool.query<{ kind: ItemKind; count: bigint; oldest: Date }>(
    `select kind, count(*) as count, min(opened_at) as oldest from open_items
     where closed_at is null and ($1::bigint[] is null or agent_id = any($1::bigint[]))
     group by kind`,
    [agentIds],
  )
  return rows.map(({ kind, count, oldest }) => ({ kind, count: Number(count), oldest }))
}
