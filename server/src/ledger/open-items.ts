import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { BookableItem, ItemKind, OpenItem } from './book.ts'
import { itemColumns } from './book-columns.ts'
import { readJournalByKey } from './read-journal.ts'

/** An item in its present state, with the person assigned to it. */
export interface FoundItem extends BookableItem {
  resolution: 'order_paid' | 'looked_into' | null
  /** When it last was opened again after it had been closed. */
  reopenedAt: Date | null
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
    i.closed_by as "closedBy", i.evidence, i.booked_as as "bookedAs", i.reopened_at as "reopenedAt", n.assignee from open_items i left join lateral (
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

/**
 * Refuses a reference by which an item's money is booked, or booked back: what people book by hand is not what the item
 * says, and the proof lays both side by side.
 */
export async function refuseItemRef(
  pool: Pool,
  ref: string,
  row: { agentId: bigint; onceKey: string },
): Promise<void> {
  // No item's id has one, and most references of machines do.
  if (ref.includes(':')) return
  const { rowCount } = await pool.query('select 1 from open_items where item_id = any($1)', [
    [ref, ref.replace(/-back$/, '')],
  ])
  if (rowCount === 0) return
  // What was booked so before may be asked for again.
  if (await readJournalByKey(pool, row.agentId, row.onceKey)) return
  const detail = 'It is the id of an open item: book the item, or take a reference of your own.'
  throw new Problem('invalid_request', detail, {
    errors: [{ field: 'ref', message: 'is the id of an open item' }],
  })
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

/**
 * What speaks against sending an order to a provider that has not got it: another provider says that it paid, and it is
 * open whether it has; or the order refunds a deposit that was taken back.
 */
export async function whyNotToSend(
  pool: Pool,
  { agentId, orderId }: { agentId: bigint; orderId: string },
): Promise<{ paidBy: string | undefined; isTakenBack: boolean }> {
  const { rows } = await pool.query<{ kind: ItemKind; provider: string }>(
    `select kind, provider from open_items where agent_id = $1 and order_id = $2
       and (kind = 'refunded_and_taken_back'
         or (provider_said = 'PAID' and closed_at is null))`,
    [agentId, orderId],
  )
  const isOfDeposit = ({ kind }: { kind: ItemKind }) => kind === 'refunded_and_taken_back'
  return {
    paidBy: rows.find((row) => !isOfDeposit(row))?.provider,
    isTakenBack: rows.some(isOfDeposit),
  }
}

/**
 * Closes an item on a person's decision. Returns false if it was already closed, or if its provider has said something
 * else than the person has seen; or if its order waits for what the person found out: to end the order closes it. The
 * wallet's lock keeps the teller from deciding on the item meanwhile.
 */
export async function closeItem(
  pool: Pool,
  seen: Pick<OpenItem, 'agentId' | 'itemId' | 'providerSaid'>,
  closed: { at: Date; by: string; evidence: string },
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    await tx.query('select 1 from wallets where agent_id = $1 for no key update', [seen.agentId])
    const { rowCount } = await tx.query(
      `update open_items set closed_at = $3, closed_by = $4, evidence = $5, resolution = 'looked_into'
       where agent_id = $1 and item_id = $2 and closed_at is null and provider_said = $6
         and (reopened_at is null or not exists (select 1 from orders o
           join payouts p on p.agent_id = o.agent_id and p.order_id = o.order_id and p.reference = o.provider_ref
           where o.agent_id = $1 and o.order_id = open_items.order_id and o.status = 'WAITING'
             and (open_items.provider_said = 'PAID' or p.ask_at is null)))`,
      [seen.agentId, seen.itemId, closed.at, closed.by, closed.evidence, seen.providerSaid],
    )
    return rowCount === 1
  })
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
