import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderStatus } from '../ledger/book.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import { type Currency, currencies, parseDecimal } from '../lib/money.ts'
import {
  beforeAll,
  beginningWith,
  type FoundOrder,
  findOrdersAlike,
  findOrdersById,
  foundColumns,
  pastAll,
  timeOfOrderId,
  windowEnd,
} from '../orders/search-orders.ts'

/** What a search found, of each kind the few that fit best. */
export interface Found {
  agents: Agent[]
  orders: FoundOrder[]
  payments: NamedPayment[]
  callbacks: NamedCallback[]
  /** Set if older orders were not looked at for an amount, because there are too many. */
  searchedTo: Date | null
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
  /** The text as a plain number, if it may be an amount. */
  amount: string
  agents: readonly Agent[]
  /** Whether payments that belong to nobody are searched too. */
  isHouse: boolean
  /** Whether names and accounts are searched: only for those who may see them. */
  byPerson: boolean
  /** Names of providers, with which their payments' ids begin. */
  providers: readonly string[]
}

const each = 6
/** How long orders are read for an amount, and how many of all agents at a time. */
const lookMs = 400
const window = 20_000

/**
 * Searches everything that has a name, a number or an amount. Each question is answered by an index, agent by agent, or
 * ends after a while, so that the time does not grow with the number of orders.
 */
export async function searchAnything(pool: Pool, search: AnythingSearch): Promise<Found> {
  const text = search.text.trim()
  const [byId, alike, byPerson, byAmount, payments, callbacks] = await Promise.all([
    findOrdersById(pool, search, text, search.providers),
    findOrdersAlike(pool, search, text, each),
    ordersBy(pool, search, text),
    ordersOfAmount(pool, search),
    paymentsBy(pool, search, text),
    callbacksOf(pool, search, text),
  ])
  const orders = new Map(
    [...byId.slice(0, each), ...alike, ...byPerson, ...byAmount.orders].map((order) => [
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
    searchedTo: byAmount.searchedTo,
  }
}

/** Account numbers are stored without spaces and hyphens. */
const bare = (text: string) => text.replace(/[\s-]/g, '')

/** A pattern for account numbers; one that fits none if the text has nothing of a number. */
function numberBeginning(text: string): string {
  const number = bare(text)
  return number === '' ? '' : beginningWith(number)
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
  const patterns = [beginningWith(text), numberBeginning(text), beginningWith(text.toLowerCase())]
  const { rows } = await pool.query<FoundOrder>(
    `select r.* from unnest($1::bigint[]) a(agent_id)
     cross join lateral (${branches.join(' union ')}) r
     order by r."orderId" desc limit ${2 * each}`,
    [agents.map(({ agentId }) => agentId), ...patterns.slice(0, byPerson ? 3 : 1)],
  )
  return rows
}

/** The newest orders of exactly this amount, as far back as there is time to look. */
async function ordersOfAmount(
  pool: Pool,
  { agents, amount }: AnythingSearch,
): Promise<{ orders: FoundOrder[]; searchedTo: Date | null }> {
  const amounts = amountsOf(agents, amount)
  const orders: FoundOrder[] = []
  const until = performance.now() + lookMs
  let high = pastAll
  while (amounts.length > 0) {
    const atATime = Math.ceil(window / amounts.length)
    const floor = await windowEnd(pool, { agents: amounts }, high, beforeAll, atATime)
    const { rows } = await pool.query<FoundOrder>(
      `select ${foundColumns.select('o')}
       from unnest($1::bigint[], $2::bigint[]) a(agent_id, amount)
       join orders o on o.agent_id = a.agent_id and o.order_id < $3 and o.order_id >= $4
         and (o.amount = a.amount or o.paid_amount = a.amount)
       order by o.order_id desc limit ${each}`,
      [
        amounts.map(({ agentId }) => agentId),
        amounts.map(({ minor }) => minor),
        high,
        floor ?? beforeAll,
      ],
    )
    orders.push(...rows)
    if (orders.length >= each || floor === undefined) break
    if (performance.now() > until) return { orders, searchedTo: timeOfOrderId(floor) }
    high = floor
  }
  return { orders: orders.slice(0, each), searchedTo: null }
}

/** What a text means in minor units, for each agent; nothing if it is no amount of its currency. */
function amountsOf(agents: readonly Agent[], text: string) {
  return agents.flatMap(({ agentId, currency }) => {
    const minor = minorOf(text, currency)
    return minor === null ? [] : [{ agentId, currency, minor }]
  })
}

function minorOf(text: string, currency: Currency): bigint | null {
  const minor = /^\d{1,12}(\.\d+)?$/.test(text) ? parseDecimal(text, currency) : undefined
  return minor === undefined || minor === 0n ? null : minor
}

/** Payments by id, or by the account or the name of who paid; those that wait for a decision by amount too. */
async function paymentsBy(
  pool: Pool,
  { agents, amount, isHouse, byPerson, providers }: AnythingSearch,
  text: string,
): Promise<NamedPayment[]> {
  const columns = `p.payment_id as "paymentId", p.amount as "amountMinor",
    p.payer_account_name as "payerName", p.payer_account_no as "payerAccountNo", p.state`
  const persons = `union
      (select q.payment_id from payments q where q.agent_id = a.agent_id
         and q.payer_account_no is not null and q.payer_account_no like $5 limit ${each})
      union
      (select q.payment_id from payments q where q.agent_id = a.agent_id
         and q.payer_account_name is not null and lower(q.payer_account_name) like $6 limit ${each})`
  const { rows } = await pool.query<NamedPayment>(
    `select ${columns}, p.agent_id as "agentId", a.currency
     from unnest($1::bigint[], $2::text[], $4::bigint[]) a(agent_id, currency, amount)
     cross join lateral (
       select unnest($3::text[]) as payment_id
       union
       (select q.payment_id from payments q where q.agent_id = a.agent_id and q.state = 'waiting'
          and q.amount = a.amount limit ${each})
       ${byPerson ? persons : ''}
     ) k
     join payments p on p.agent_id = a.agent_id and p.payment_id = k.payment_id
     order by p.reported_at desc limit ${each}`,
    [
      agents.map(({ agentId }) => agentId),
      agents.map(({ currency }) => currency),
      [text, ...providers.map((name) => `${name}:${text}`)],
      agents.map(({ currency }) => minorOf(amount, currency)),
      ...(byPerson ? [numberBeginning(text), beginningWith(text.toLowerCase())] : []),
    ],
  )
  if (!isHouse) return rows
  // What payers wrote is shown to those alone who see persons.
  const ofPersons = `or p.reference = $4 or p.payer_account_no like $5
    or lower(p.payer_account_name) like $6`
  // What waits for an owner is little; what was decided long ago is found by its id.
  const { rows: unmatched } = await pool.query<NamedPayment>(
    `select ${columns}, null::bigint as "agentId", p.currency from unmatched_payments p
     where p.payment_id = any($1::text[]) or (p.state = 'waiting' and (
       exists (select from unnest($2::text[], $3::bigint[]) m(currency, amount)
         where m.currency = p.currency and m.amount = p.amount) ${byPerson ? ofPersons : ''}))
     order by p.reported_at desc limit ${each}`,
    [
      [text, ...providers.map((name) => `${name}:${text}`)],
      currencies,
      currencies.map((currency) => minorOf(amount, currency)),
      ...(byPerson ? [text] : []),
      ...(byPerson ? [numberBeginning(text), beginningWith(text.toLowerCase())] : []),
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
