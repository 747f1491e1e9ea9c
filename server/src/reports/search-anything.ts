import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderStatus } from '../ledger/book.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import { type Currency, parseDecimal } from '../lib/money.ts'
import { type FoundOrder, findOrdersById, foundColumns } from '../orders/search-orders.ts'

/** What a search found, of each kind the few that fit best. */
export interface Found {
  agents: Agent[]
  orders: FoundOrder[]
  payments: NamedPayment[]
  callbacks: NamedCallback[]
}

export interface NamedPayment {
  paymentId: string
  /** Null if it belongs to no agent yet. */
  agentId: bigint | null
  amountMinor: bigint
  currency: Currency
  payerName: string | null
  payerAccountNo: string | null
  state: string
}

export interface NamedCallback {
  agentId: bigint
  seq: bigint
  orderId: string
  status: OrderStatus
  state: string
}

export interface AnythingSearch {
  text: string
  agents: readonly Agent[]
  /** Whether payments that belong to nobody are searched too. */
  isHouse: boolean
  /** Whether names and accounts are searched: only for those who may see them. */
  byPerson: boolean
  /** Names of providers, with which their payments' ids begin. */
  providers: readonly string[]
}

const each = 6
/** How many of an agent's newest orders are read for an amount. */
const newest = 20_000

/**
 * Searches everything that has a name, a number or an amount. Each question is answered by an index, agent by agent, or
 * reads a bounded number of rows, so that the time does not grow with the number of orders.
 */
export async function searchAnything(pool: Pool, search: AnythingSearch): Promise<Found> {
  const text = search.text.trim()
  const [byId, byPerson, byAmount, payments, callbacks] = await Promise.all([
    findOrdersById(pool, search, text, search.providers),
    ordersBy(pool, search, text),
    ordersOfAmount(pool, search, text),
    paymentsBy(pool, search, text),
    callbacksOf(pool, search, text),
  ])
  const orders = new Map(
    [...byId.slice(0, each), ...byPerson, ...byAmount].map((order) => [
      `${order.agentId} ${order.orderId}`,
      order,
    ]),
  )
  const lower = text.toLowerCase()
  return {
    agents: search.agents
      .filter(({ name, appId }) => `${name} ${appId}`.toLowerCase().includes(lower))
      .slice(0, each),
    orders: [...orders.values()].slice(0, 3 * each),
    payments,
    callbacks,
  }
}

/** A pattern for what begins with the text, to the letter. */
function beginning(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Account numbers are stored without spaces and hyphens. */
const bare = (text: string) => text.replace(/[\s-]/g, '')

/** A pattern for account numbers; one that fits none if the text has nothing of a number. */
function numberBeginning(text: string): string {
  const number = bare(text)
  return number === '' ? '' : beginning(number)
}

/** Orders of a user, or to an account or a name, by how they begin. */
async function ordersBy(
  pool: Pool,
  { agents, byPerson }: AnythingSearch,
  text: string,
): Promise<FoundOrder[]> {
  const columns = foundColumns.select('o')
  const branch = (value: string, pattern: string, order: string) => `(
    select ${columns} from orders o where o.agent_id = a.agent_id and ${value} like ${pattern}
    order by ${order}, o.order_id desc limit ${each})`
  const branches = [
    branch('o.user_id', '$2', 'o.user_id using ~<~'),
    ...(byPerson
      ? [
          branch('o.account_no', '$3', 'o.account_no using ~<~'),
          branch('lower(o.account_name)', '$4', 'lower(o.account_name) using ~<~'),
        ]
      : []),
  ]
  const patterns = [beginning(text), numberBeginning(text), beginning(text.toLowerCase())]
  const { rows } = await pool.query<FoundOrder>(
    `select r.* from unnest($1::bigint[]) a(agent_id)
     cross join lateral (${branches.join(' union ')}) r
     order by r."orderId" desc limit ${2 * each}`,
    [agents.map(({ agentId }) => agentId), ...patterns.slice(0, byPerson ? 3 : 1)],
  )
  return rows
}

/** The newest orders of exactly this amount. */
async function ordersOfAmount(
  pool: Pool,
  { agents }: AnythingSearch,
  text: string,
): Promise<FoundOrder[]> {
  const amounts = amountsOf(agents, text)
  if (amounts.length === 0) return []
  const { rows } = await pool.query<FoundOrder>(
    `select ${foundColumns.select('o')} from unnest($1::bigint[], $2::bigint[]) a(agent_id, amount)
     cross join lateral (
       select * from (
         select * from orders n where n.agent_id = a.agent_id order by n.order_id desc limit $3
       ) n where n.amount = a.amount or n.paid_amount = a.amount order by n.order_id desc limit ${each}
     ) o order by o.order_id desc limit ${each}`,
    [
      amounts.map(({ agentId }) => agentId),
      amounts.map(({ minor }) => minor),
      Math.ceil(newest / amounts.length),
    ],
  )
  return rows
}

function amountsOf(agents: readonly Agent[], text: string) {
  const plain = text.replaceAll(',', '')
  return agents.flatMap(({ agentId, currency }) => {
    const minor = /^\d{1,12}(\.\d+)?$/.test(plain) ? parseDecimal(plain, currency) : undefined
    return minor === undefined || minor === 0n ? [] : [{ agentId, minor }]
  })
}

/** Payments by id, or by the account or the name of who paid. */
async function paymentsBy(
  pool: Pool,
  { agents, isHouse, byPerson, providers }: AnythingSearch,
  text: string,
): Promise<NamedPayment[]> {
  const columns = `p.payment_id as "paymentId", p.amount as "amountMinor",
    p.payer_account_name as "payerName", p.payer_account_no as "payerAccountNo", p.state`
  const persons = `union
      (select q.payment_id from payments q where q.agent_id = a.agent_id
         and q.payer_account_no is not null and q.payer_account_no like $4 limit ${each})
      union
      (select q.payment_id from payments q where q.agent_id = a.agent_id
         and q.payer_account_name is not null and lower(q.payer_account_name) like $5 limit ${each})`
  const { rows } = await pool.query<NamedPayment>(
    `select ${columns}, p.agent_id as "agentId", a.currency
     from unnest($1::bigint[], $2::text[]) a(agent_id, currency)
     cross join lateral (
       select unnest($3::text[]) as payment_id ${byPerson ? persons : ''}
     ) k
     join payments p on p.agent_id = a.agent_id and p.payment_id = k.payment_id
     order by p.reported_at desc limit ${each}`,
    [
      agents.map(({ agentId }) => agentId),
      agents.map(({ currency }) => currency),
      [text, ...providers.map((name) => `${name}:${text}`)],
      ...(byPerson ? [numberBeginning(text), beginning(text.toLowerCase())] : []),
    ],
  )
  if (!isHouse) return rows
  // What payers wrote is shown to those alone who see persons.
  const waitingOnes = `or (p.state = 'waiting' and (p.reference = $2 or p.payer_account_no like $3
    or lower(p.payer_account_name) like $4))`
  // What waits for an owner is little; what was decided long ago is found by its id.
  const { rows: unmatched } = await pool.query<NamedPayment>(
    `select ${columns}, null::bigint as "agentId", p.currency from unmatched_payments p
     where p.payment_id = any($1::text[]) ${byPerson ? waitingOnes : ''}
     order by p.reported_at desc limit ${each}`,
    [
      [text, ...providers.map((name) => `${name}:${text}`)],
      ...(byPerson ? [text] : []),
      ...(byPerson ? [numberBeginning(text), beginning(text.toLowerCase())] : []),
    ],
  )
  const known = new Set(rows.map(({ paymentId }) => paymentId))
  return [...rows, ...unmatched.filter(({ paymentId }) => !known.has(paymentId))].slice(0, each)
}

/** Callbacks by their number, which is that of the journal row they tell of. */
async function callbacksOf(
  pool: Pool,
  { agents }: AnythingSearch,
  text: string,
): Promise<NamedCallback[]> {
  const [, seq] = /^#?(\d{1,15})$/.exec(text) ?? []
  if (seq === undefined) return []
  const { rows } = await pool.query<NamedCallback>(
    `select c.agent_id as "agentId", c.seq, c.order_id as "orderId", o.status, c.state
     from unnest($1::bigint[]) a(agent_id)
     join callbacks c on c.agent_id = a.agent_id and c.seq = $2
     join orders o on o.agent_id = c.agent_id and o.order_id = c.order_id limit ${each}`,
    [agents.map(({ agentId }) => agentId), seq],
  )
  return rows.map((row) => ({ ...row, orderId: orderIdFromUuid(row.orderId) }))
}
