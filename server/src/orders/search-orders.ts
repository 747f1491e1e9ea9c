import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import type { Order, OrderKind, OrderStatus } from '../ledger/book.ts'
import { orderColumns } from '../ledger/book-columns.ts'
import { findNamedPayouts } from '../ledger/payout-references.ts'
import { firstOrderIdAt, parseTxnId } from '../lib/ids.ts'
import { toMinor } from '../lib/money.ts'

export interface OrderSearch {
  /** The agents whose orders are searched. */
  agents: readonly Pick<Agent, 'agentId' | 'currency'>[]
  kind?: OrderKind | undefined
  status?: OrderStatus | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** In whole currency units. */
  minAmount?: bigint | undefined
  maxAmount?: bigint | undefined
  provider?: string | undefined
  /** Only withdrawals whose outcome at the provider is unknown. */
  isUnknown?: boolean | undefined
  /** Only of this user, by the id that the agent gave. */
  userId?: string | undefined
  /** Only of this account, as it was given. */
  accountNo?: string | undefined
  /** Only what this person looks into, by their address. */
  assignee?: string | undefined
  /** Only what has this tag: the order or its user. */
  tag?: string | undefined
}

export interface OrderPage {
  orders: FoundOrder[]
  /** The last order read, if there may be more. */
  next: string | null
  /** Set if the search stopped because it had read enough orders, not because it had found enough. */
  searchedTo: Date | null
}

/** Roughly how many orders one request reads, which takes a fifth of a second at most. */
const budget = 100_000
/** Sorts after every order id, and before every order id. */
export const pastAll = 'f'.repeat(32)
export const beforeAll = '0'.repeat(32)

export const foundColumns = orderColumns.pick(
  'agentId',
  'orderId',
  'kind',
  'refId',
  'userId',
  'currency',
  'amountMinor',
  'payableMinor',
  'feeMinor',
  'accountName',
  'accountNo',
  'bankCode',
  'status',
  'createdAt',
  'expiresAt',
  'completedAt',
  'paidAmountMinor',
  'provider',
  'providerRef',
)

const columns = foundColumns.select('o')

/** An order as lists show it. */
export type FoundOrder = Pick<Order, keyof typeof foundColumns.description>

/**
 * Finds matching orders of some agents, newest first. Ids sort by time, so this walks back along each agent's
 * key in windows that together hold a bounded number of orders. That needs no index over all agents, which
 * every new order would pay for, and no request scans a table because its matches are rare.
 */
export async function searchOrders(
  pool: Pool,
  search: OrderSearch,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<OrderPage> {
  const found: FoundOrder[] = []
  let { high, low } = boundsOf(search, after)
  const widest = Math.ceil(budget / 2 / Math.max(1, search.agents.length))
  let window = limit + 1
  for (let looked = 0; ; window = Math.max(limit + 1, Math.min(widest, window * 8))) {
    const floor = hasOwnIndex(search) ? undefined : await windowEnd(pool, search, high, low, window)
    const room = limit + 1 - found.length
    found.push(...(await ordersBetween(pool, search, high, floor ?? low, room)))
    if (found.length > limit) {
      const orders = found.slice(0, limit)
      return { orders, next: orders.at(-1)?.orderId ?? null, searchedTo: null }
    }
    if (floor === undefined) return { orders: found, next: null, searchedTo: null }
    high = floor
    looked += window * search.agents.length
    if (looked >= budget) return { orders: found, next: floor, searchedTo: timeOfOrderId(floor) }
  }
}

/** Yields every matching order, newest first, a few thousand at a time; only one window is in memory. */
export async function* everyOrder(pool: Pool, search: OrderSearch): AsyncGenerator<FoundOrder[]> {
  let { high, low } = boundsOf(search, undefined)
  const window = Math.max(50, Math.ceil(4_000 / Math.max(1, search.agents.length)))
  for (;;) {
    const floor = await windowEnd(pool, search, high, low, window)
    yield await ordersBetween(pool, search, high, floor ?? low, null)
    if (floor === undefined) return
    high = floor
  }
}

function boundsOf({ from, to }: OrderSearch, after: string | undefined) {
  const top = to ? firstOrderIdAt(to) : pastAll
  return {
    high: after !== undefined && after < top ? after : top,
    low: from ? firstOrderIdAt(from) : beforeAll,
  }
}

/** Rare states, users, accounts, tags and people have their own indexes, so a search for them need not stop early. */
function hasOwnIndex({ status, userId, accountNo, assignee, tag }: OrderSearch): boolean {
  const isRare = status !== undefined && status !== 'PAID' && status !== 'EXPIRED'
  return isRare || [userId, accountNo, assignee, tag].some((each) => each !== undefined)
}

/** The order down to which no agent has more than `window` orders; undefined if that covers all. */
export async function windowEnd(
  pool: Pool,
  { agents }: Pick<OrderSearch, 'agents'>,
  high: string,
  low: string,
  window: number,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ order_id: string }>(
    `select f.order_id from unnest($1::bigint[]) a(agent_id) cross join lateral (
       select o.order_id from orders o
       where o.agent_id = a.agent_id and o.order_id < $2 and o.order_id >= $3
       order by o.order_id desc offset $4 limit 1
     ) f order by f.order_id desc limit 1`,
    [agents.map(({ agentId }) => agentId), high, low, window - 1],
  )
  return rows[0]?.order_id
}

async function ordersBetween(
  pool: Pool,
  search: OrderSearch,
  high: string,
  low: string,
  limit: number | null,
): Promise<FoundOrder[]> {
  const { agents, kind, status } = search
  const { values, filter } = filterOf(search)
  const place = (value: unknown) => `$${values.push(value)}`
  const between = `o.order_id < ${place(high)} and o.order_id >= ${place(low)}`
  const atMost = limit === null ? '' : `limit ${place(limit)}`
  const branch = (more: string) => `(select ${columns} from orders o
    where o.agent_id = a.agent_id and ${between} ${filter} ${more} order by o.order_id desc ${atMost})`
  // Waiting orders have one index per kind; a single statement for both kinds could use neither.
  const isSplit = status === 'WAITING' && kind === undefined
  const branches =
    search.tag !== undefined
      ? taggedBranches(place(search.tag), branch)
      : isSplit
        ? `${branch("and o.kind = 'deposit'")} union all ${branch("and o.kind = 'withdraw'")}`
        : branch('')
  const { rows } = await pool.query<FoundOrder>(
    `select r.* from unnest($1::bigint[], $2::bigint[], $3::bigint[]) a(agent_id, least, most)
     cross join lateral (${branches}) r order by r."orderId" desc ${atMost}`,
    [...agentColumns(agents, search), ...values.slice(3)],
  )
  return rows
}

/** From the few records that have a tag to their orders, each by an index of its own. */
function taggedBranches(tag: string, branch: (more: string) => string): string {
  const ofTag = (kind: string, more: string) =>
    `select f.* from record_tags t cross join lateral ${branch(more)} f
     where t.agent_id = a.agent_id and t.tag = ${tag} and t.kind = '${kind}' and t.is_on`
  return [
    ofTag('order', 'and o.order_id = t.subject::uuid'),
    ofTag('user', 'and o.user_id = t.subject'),
  ].join(' union ')
}

function hasTag(tag: string): string {
  return `and exists (select from record_tags t
    where t.agent_id = o.agent_id and t.tag = ${tag} and t.is_on and (t.kind, t.subject) in (
      ('order', replace(o.order_id::text, '-', '')), ('user', o.user_id)))`
}

/** Searches give amounts in whole units, which convert to minor units differently in each currency. */
function agentColumns(agents: OrderSearch['agents'], { minAmount, maxAmount }: OrderSearch) {
  return [
    agents.map(({ agentId }) => agentId),
    agents.map(({ currency }) => (minAmount === undefined ? null : toMinor(minAmount, currency))),
    agents.map(({ currency }) => (maxAmount === undefined ? null : toMinor(maxAmount, currency))),
  ]
}

/** Conditions on `o`; the first three parameters are reserved for the agents. */
function filterOf(search: OrderSearch) {
  const { kind, status, minAmount, maxAmount, provider, isUnknown, userId, accountNo } = search
  const values: unknown[] = [null, null, null]
  let filter = ''
  if (kind !== undefined) filter += ` and o.kind = $${values.push(kind)}`
  if (status !== undefined) filter += ` and o.status = $${values.push(status)}`
  if (provider !== undefined) filter += ` and o.provider = $${values.push(provider)}`
  if (userId !== undefined) filter += ` and o.user_id = $${values.push(userId)}`
  if (accountNo !== undefined) filter += ` and o.account_no = $${values.push(accountNo)}`
  if (search.assignee !== undefined) {
    filter += ` and o.order_id in (select n.subject::uuid from record_notes n
      where n.agent_id = o.agent_id and n.kind = 'order' and n.assignee = $${values.push(search.assignee)}
        and not exists (select from record_notes m where m.agent_id = n.agent_id and m.kind = n.kind
          and m.subject = n.subject and m.assigns and m.note_no > n.note_no))`
  }
  if (isUnknown) {
    filter += ` and exists (select from payouts p where p.agent_id = o.agent_id
      and p.order_id = o.order_id and p.ask_at is not null and p.state in ('unknown', 'not_found'))`
  }
  if (minAmount !== undefined) filter += ' and o.amount >= a.least'
  if (maxAmount !== undefined) filter += ' and o.amount <= a.most'
  return { values, filter }
}

/**
 * Finds orders by any id: the order's own, the agent's refId, the reference at a provider, or a payment. Each
 * is looked up by key, agent by agent.
 */
export async function findOrdersById(
  pool: Pool,
  search: OrderSearch,
  id: string,
  providers: readonly string[],
): Promise<FoundOrder[]> {
  const named = parseTxnId(id) ?? (await findNamedPayouts(pool, [id])).get(id)
  const bare = id.toLowerCase().replaceAll('-', '')
  const orderId = named?.orderId ?? (/^[0-9a-f]{32}$/.test(bare) ? bare : null)
  const { values, filter } = filterOf(search)
  const place = (value: unknown) => `$${values.push(value)}`
  const [own, owner, ref] = [place(orderId), place(named?.agentId ?? null), place(id)]
  const tagged = search.tag === undefined ? '' : hasTag(place(search.tag))
  const payments = place([id, ...providers.map((name) => `${name}:${id}`)])
  const { high, low } = boundsOf(search, undefined)
  const { rows } = await pool.query<FoundOrder>(
    `select ${columns} from unnest($1::bigint[], $2::bigint[], $3::bigint[]) a(agent_id, least, most)
     cross join lateral (
       select ${own}::uuid as order_id where ${owner}::bigint is null or ${owner} = a.agent_id
       union
       select r.order_id from orders r where r.agent_id = a.agent_id and r.ref_id = ${ref}
       union
       select p.order_id from payments p
       where p.agent_id = a.agent_id and p.payment_id = any(${payments}::text[])
     ) k
     join orders o on o.agent_id = a.agent_id and o.order_id = k.order_id
     where o.order_id < ${place(high)} and o.order_id >= ${place(low)} ${filter} ${tagged}
     order by o.order_id desc limit 200`,
    [...agentColumns(search.agents, search), ...values.slice(3)],
  )
  return rows
}

/**
 * Finds orders by how their refId or txn_id begins, and by the ids that providers gave to them: what people have typed so
 * far, or read on somebody else's page. Each part reads a few rows of an index, agent by agent.
 */
export async function findOrdersAlike(
  pool: Pool,
  search: OrderSearch,
  text: string,
  limit: number,
): Promise<FoundOrder[]> {
  // These go by the provider's id alone, so they are not read beside each agent's orders.
  const { rows: payouts } = await pool.query<{ agent_id: bigint; order_id: string }>(
    'select agent_id, order_id from payout_ids where their_id = $1 limit 20',
    [text],
  )
  const { values, filter } = filterOf(search)
  const place = (value: unknown) => `$${values.push(value)}`
  const begun = idBegun(text)
  const [beginning, owner, most] = [place(beginningWith(text)), place(begun.agentId), place(limit)]
  const tagged = search.tag === undefined ? '' : hasTag(place(search.tag))
  const { high, low } = boundsOf(search, undefined)
  const { rows } = await pool.query<FoundOrder>(
    `select ${columns} from unnest($1::bigint[], $2::bigint[], $3::bigint[]) a(agent_id, least, most)
     cross join lateral (
       (select r.order_id from orders r where r.agent_id = a.agent_id and r.ref_id like ${beginning}
        order by r.ref_id using ~<~ limit ${most})
       union
       (select r.order_id from orders r
        where r.agent_id = a.agent_id and (${owner}::bigint is null or ${owner} = a.agent_id)
          and r.order_id >= ${place(begun.first)} and r.order_id <= ${place(begun.last)}
        order by r.order_id desc limit ${most})
       union
       (select c.order_id from connector_deposit_ids c
        where c.agent_id = a.agent_id and c.their_id = ${place(text)} limit ${most})
       union
       select p.order_id from unnest(${place(payouts.map(({ agent_id }) => agent_id))}::bigint[],
         ${place(payouts.map(({ order_id }) => order_id))}::uuid[]) p(agent_id, order_id)
       where p.agent_id = a.agent_id
     ) k
     join orders o on o.agent_id = a.agent_id and o.order_id = k.order_id
     where o.order_id < ${place(high)} and o.order_id >= ${place(low)} ${filter} ${tagged}
     order by o.order_id desc limit ${most}`,
    [...agentColumns(search.agents, search), ...values.slice(3)],
  )
  return rows
}

/** A pattern for what begins with the text, to the letter. */
export function beginningWith(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** The orders whose id begins with a text, with or without the agent's number; none if it is too short to be one. */
function idBegun(text: string): { agentId: bigint | null; first: string; last: string } {
  const [, agent, digits] =
    /^([1-9]\d{0,17})-([0-9a-f]{1,32})$/.exec(text) ?? /^()([0-9a-f]{6,32})$/.exec(text) ?? []
  if (digits === undefined) return { agentId: null, first: pastAll, last: beforeAll }
  const [first, last] = [digits.padEnd(32, '0'), digits.padEnd(32, 'f')]
  return { agentId: agent ? BigInt(agent) : null, first, last }
}

/** When an order id was created, to the millisecond. */
export function timeOfOrderId(orderId: string): Date {
  return new Date(Number.parseInt(orderId.slice(0, 12), 16))
}
