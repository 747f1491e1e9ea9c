import { columns } from '../db/columns.ts'
import type {
  BookedItem,
  ClosedItem,
  HandedPayout,
  OpenItem,
  Order,
  Payment,
  Wallet,
} from './book.ts'
import {
  callbackColumns,
  claimColumns,
  clearingColumns,
  handedColumns,
  itemColumns,
  journalColumns,
  orderColumns,
  paymentColumns,
  unmatchedColumns,
  walletColumns,
} from './book-columns.ts'

/**
 * The teller's statements, built once. They name columns instead of using `select *`, because a prepared
 * statement with a star fails as soon as a column is added. books-sql.test.ts shows each in full.
 */

export const lockWallet = `select ${walletColumns.select('w')} from wallets w
  where w.agent_id = $1 for no key update of w`

export const lockFreeWallet = `${lockWallet} skip locked`

export const ordersByRefId = `select ${orderColumns.select('o')} from orders o
  join unnest($1::bigint[], $2::text[]) k(agent_id, ref_id)
    on o.agent_id = k.agent_id and o.ref_id = k.ref_id`

export const ordersById = `select ${orderColumns.select('o')} from orders o
  join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
    on o.agent_id = k.agent_id and o.order_id = k.order_id`

/** The refunds of deposits; those that came to nothing do not count. */
export const refundsOf = `select ${orderColumns.select('o')} from orders o
  join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
    on o.agent_id = k.agent_id and o.refund_of = k.order_id
  where o.status in ('WAITING', 'PAID')`

/** The deposits that orders refund. */
export const depositsOfRefunds = `select ${orderColumns.select('o')} from orders r
  join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
    on r.agent_id = k.agent_id and r.order_id = k.order_id
  join orders o on o.agent_id = r.agent_id and o.order_id = r.refund_of`

export const paymentsById = `select ${paymentColumns.select('p')} from payments p
  join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
    on p.agent_id = k.agent_id and p.payment_id = k.payment_id`

export const unmatchedById = `select ${unmatchedColumns.select('u')} from unmatched_payments u
  where u.payment_id = any($1::text[])`

export const clearingsOf = `select ${clearingColumns.select('c')} from clearings c
  where c.agent_id = any($1::bigint[])`

export const writeClearings = `insert into clearings (${clearingColumns.names})
  select * from ${clearingColumns.unnest}
  on conflict (agent_id, provider) do update set seq = excluded.seq, balance = excluded.balance`

/**
 * What items say against handing an order on: somebody says that it paid, or what it refunds was taken back. And whose
 * money came back: that such a one has paid is no news.
 */
export const itemsAgainst = `select i.agent_id, i.order_id, i.kind, i.provider, i.reference, i.provider_said,
    (i.closed_at is not null or i.reopened_at is not null) as "isLookedInto",
    i.reopened_at is not null as "isAskedAgain" from open_items i
  join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
    on i.agent_id = k.agent_id and i.order_id = k.order_id
  where i.provider_said in ('PAID', 'REVERT') or i.kind = 'refunded_and_taken_back'
  order by "isLookedInto", i.opened_at, i.item_id`

export const archivedByRefId = `select a.agent_id, a.ref_id from archived_refs a
  join unnest($1::bigint[], $2::text[]) k(agent_id, ref_id)
    on a.agent_id = k.agent_id and a.ref_id = k.ref_id`

export const archivedByKey = `select a.agent_id, a.once_key from archived_keys a
  join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
    on a.agent_id = k.agent_id and a.once_key = k.once_key`

export const rowsByKey = `select j.agent_id, j.once_key from journal j
  join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
    on j.agent_id = k.agent_id and j.once_key = k.once_key`

export const insertOrders = `insert into orders (${orderColumns.names})
  select * from ${orderColumns.unnest}
  on conflict do nothing
  returning order_id`

/**
 * Fails if one of these orders has the refId of an archived one, or if an agent whose deposits were not measured
 * has limits on them: only an error stops a pipeline.
 */
export const refuseArchivedRefs = `select 1 / case when count(*) = 0 then 1 else 0 end
  from (${archivedByRefId}
    union all
    select r.agent_id, r.name from limit_rules r
    where r.kind = 'deposit' and cardinality($3::bigint[]) > 0
      and (r.agent_id = 0 or r.agent_id = any($3::bigint[]))) archived`

export const refuseBefore = 'select 1 / case when $1::timestamptz <= now() then 1 else 0 end'

export const refColumns = orderColumns.pick('agentId', 'refId')

const orderChanges = orderColumns.pick(
  'status',
  'version',
  'completedAt',
  'paidAmountMinor',
  'paidFeeMinor',
  'releaseAt',
  'provider',
  'providerRef',
  'handedOverAt',
  'instructions',
)

interface OrderChange {
  order: Pick<Order, 'agentId' | 'orderId' | keyof typeof orderChanges.description>
  versionRead: number
  /** Null if the answer does not change. */
  answer: string | null
}

export const changedOrderColumns = columns<OrderChange>({
  order: { ...orderColumns.pick('agentId', 'orderId').description, ...orderChanges.description },
  versionRead: ['version_read', 'int'],
  answer: ['answer', 'text', 'null'],
})

export const updateOrders = `update orders o set ${orderChanges.set('u')},
    answer = coalesce(u.answer, o.answer)
  from ${changedOrderColumns.rows('u')}
  where o.agent_id = u.agent_id and o.order_id = u.order_id and o.version = u.version_read`

export const insertJournal = `insert into journal (${journalColumns.names})
  select * from ${journalColumns.unnest}`

export const writtenColumns = journalColumns.pick(
  'agentId',
  'seq',
  'orderId',
  'event',
  'at',
  'onceKey',
)

export const writtenRows = `select 1 from journal j join ${writtenColumns.rows('w')}
    on j.agent_id = w.agent_id and j.seq = w.seq and j.event = w.event and j.at = w.at
      and j.order_id is not distinct from w.order_id
      and j.once_key is not distinct from w.once_key`

export const queuedColumns = callbackColumns.pick(
  'agentId',
  'seq',
  'orderId',
  'kind',
  'follows',
  'createdAt',
)

/** Due at once, even if the clock of this process is ahead of the database's. */
export const insertCallbacks = `insert into callbacks (${queuedColumns.names}, state, due_at, attempts, again)
  select ${queuedColumns.names}, 'waiting', least(created_at, now()), 0, 0
  from ${queuedColumns.rows('c')}`

export const bodyColumns = callbackColumns.pick('agentId', 'seq', 'createdAt', 'body')

export const insertBodies = `insert into callback_bodies (${bodyColumns.names})
  select * from ${bodyColumns.unnest}`

export const insertPayments = `insert into payments (${paymentColumns.names})
  select * from ${paymentColumns.unnest}`

const paymentChanges = paymentColumns.pick(
  'orderId',
  'state',
  'why',
  'creditedTo',
  'evidence',
  'returnedSeq',
)

interface PaymentChange {
  payment: Pick<Payment, 'agentId' | 'paymentId' | keyof typeof paymentChanges.description>
  stateRead: Payment['state']
}

export const changedPaymentColumns = columns<PaymentChange>({
  payment: {
    ...paymentColumns.pick('agentId', 'paymentId').description,
    ...paymentChanges.description,
  },
  stateRead: ['state_read', 'text'],
})

export const updatePayments = `update payments p set ${paymentChanges.set('u')}
  from ${changedPaymentColumns.rows('u')}
  where p.agent_id = u.agent_id and p.payment_id = u.payment_id and p.state = u.state_read`

export const insertUnmatched = `insert into unmatched_payments (${unmatchedColumns.names})
  select * from ${unmatchedColumns.unnest}`

export const decidedColumns = unmatchedColumns.pick(
  'paymentId',
  'state',
  'assignedTo',
  'evidence',
  'decidedAt',
  'decidedSeq',
)

export const decideUnmatched = `update unmatched_payments p
  set ${unmatchedColumns.pick('state', 'assignedTo', 'evidence', 'decidedAt', 'decidedSeq').set('u')}
  from ${decidedColumns.rows('u')}
  where p.payment_id = u.payment_id and p.state = 'waiting'`

export const givenColumns = claimColumns.pick('paymentId', 'agentId', 'orderId')

/** Nobody's becomes an agent's. */
export const giveClaims = `update payment_claims c
  set ${claimColumns.pick('agentId', 'orderId').set('u')}
  from ${givenColumns.rows('u')}
  where c.payment_id = u.payment_id and c.agent_id = 0`

export const attemptColumns = handedColumns.pick('agentId', 'orderId', 'attempt')

/** The provider has definitely refused the attempt that this one replaces. */
export const closePayouts = `update payouts p set state = 'rejected', ask_at = null
  from ${attemptColumns.rows('u')}
  where p.agent_id = u.agent_id and p.order_id = u.order_id and p.attempt < u.attempt
    and p.ask_at is not null`

type NewPayout = Omit<HandedPayout, 'askAt'> & { askAt: Date | null; askInMs: number | null }

export const newPayoutColumns = columns<NewPayout>({
  ...handedColumns.description,
  askAt: ['ask_at', 'timestamptz', 'null'],
  askInMs: ['ask_in_ms', 'bigint', 'null'],
})

export const insertPayouts = `insert into payouts (${handedColumns.names}, state, asks, ask_at)
  select ${handedColumns.names},
    case when ask_at is null and ask_in_ms is null then 'rejected' else 'handed' end, 0,
    coalesce(ask_at, now() + ask_in_ms * interval '1 millisecond')
  from ${newPayoutColumns.rows('u')}`

export const writtenPayout = `select 1 from payouts
  where agent_id = $1 and order_id = $2 and attempt = $3 and token = $4`

const isNews = `open_items.provider_said not in ('REVERT', excluded.provider_said)`
const emptiedByNews = ['closed_at', 'resolution', 'closed_by', 'evidence']
  .map((column) => `${column} = case when ${isNews} then null else open_items.${column} end`)
  .join(',\n    ')

/**
 * A repeated report updates the same item. Once money has come back, an older report of payment does not
 * count. An item that was closed on something else is open again.
 */
export const insertItems = `insert into open_items (${itemColumns.names})
  select * from ${itemColumns.unnest}
  on conflict (agent_id, item_id) do update set
    provider_said = case when ${isNews} then excluded.provider_said else open_items.provider_said end,
    reopened_at = case when ${isNews} and open_items.closed_at is not null then excluded.opened_at
      else open_items.reopened_at end,
    ${emptiedByNews}`

export const reopenedColumns = itemColumns.pick('agentId', 'itemId', 'openedAt')

/** What a person found out is needed now, and has to be said of the order. */
export const reopenItems = `update open_items i set closed_at = null, resolution = null,
    closed_by = null, evidence = null, reopened_at = u.opened_at
  from ${reopenedColumns.rows('u')}
  where i.agent_id = u.agent_id and i.item_id = u.item_id and i.closed_at is not null`

type Contradiction = Pick<
  OpenItem,
  'agentId' | 'orderId' | 'provider' | 'reference' | 'openedAt'
> & {
  state: 'paid' | 'returned'
}

export const contradictionColumns = columns<Contradiction>({
  ...itemColumns.pick('agentId', 'orderId', 'provider', 'reference', 'openedAt').description,
  state: ['state', 'text'],
})

/** A payout's row records what the provider says, whatever the order says. */
export const contradictPayouts = `update payouts p set state = u.state, ask_at = null
  from ${contradictionColumns.rows('u')}
  where p.agent_id = u.agent_id and p.provider = u.provider and p.reference = u.reference
    and p.state <> 'returned'`

/**
 * Once a payout's money has come back, no item says any more that it was paid: a payout has items of two kinds if its
 * order changed between its provider's reports.
 */
export const returnItems = `update open_items i set provider_said = 'REVERT',
    reopened_at = case when i.closed_at is null then i.reopened_at else u.opened_at end,
    closed_at = null, resolution = null, closed_by = null, evidence = null
  from ${contradictionColumns.rows('u')}
  where i.agent_id = u.agent_id and i.order_id = u.order_id and i.reference = u.reference
    and i.provider_said = 'PAID' and exists (select 1 from open_items r
      where r.agent_id = i.agent_id and r.order_id = i.order_id and r.reference = i.reference
        and r.provider_said = 'REVERT')`

export const closedItemColumns = columns<ClosedItem>({
  ...itemColumns.pick('agentId', 'orderId', 'reference').description,
  at: ['at', 'timestamptz'],
  evidence: ['evidence', 'text'],
})

/** That the order is PAID does not settle an item about money that came back. */
export const closeItems = `update open_items i set closed_at = u.at, resolution = 'order_paid',
    evidence = u.evidence
  from ${closedItemColumns.rows('u')}
  where i.agent_id = u.agent_id and i.order_id = u.order_id and i.reference = u.reference
    and i.closed_at is null
    and i.kind not in ('failed_after_paid', 'refunded_and_taken_back') and i.provider_said <> 'REVERT'`

export const itemsById = `select ${itemColumns.select('i')}, i.closed_at as "closedAt",
    i.closed_by as "closedBy", i.evidence, i.booked_as as "bookedAs" from open_items i
  join unnest($1::bigint[], $2::text[]) k(agent_id, item_id)
    on i.agent_id = k.agent_id and i.item_id = k.item_id`

/** Rows with all that they say, by their keys. */
export const wholeRowsByKey = `select ${journalColumns.select('j')} from journal j
  join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
    on j.agent_id = k.agent_id and j.once_key = k.once_key`

export const bookedItemColumns = columns<BookedItem>({
  ...itemColumns.pick('agentId', 'itemId', 'providerSaid').description,
  at: ['at', 'timestamptz'],
  closedBy: ['closed_by', 'text'],
  evidence: ['evidence', 'text'],
  bookedAs: ['booked_as', 'text'],
})

/** A person has decided on what they have seen of an item, and its money is booked so. */
export const bookItems = `update open_items i set closed_at = u.at, resolution = 'looked_into',
    closed_by = u.closed_by, evidence = u.evidence, booked_as = u.booked_as
  from ${bookedItemColumns.rows('u')}
  where i.agent_id = u.agent_id and i.item_id = u.item_id and i.closed_at is null
    and i.provider_said = u.provider_said`

const walletChanges = walletColumns.pick('seq', 'balances', 'hash')

export const changedWalletColumns = columns<Omit<Wallet, 'currency'> & { seqRead: bigint }>({
  ...walletColumns.pick('agentId', 'seq', 'balances', 'hash').description,
  seqRead: ['seq_read', 'bigint'],
})

export const updateWallets = `update wallets w set ${walletChanges.set('u')}
  from ${changedWalletColumns.rows('u')}
  where w.agent_id = u.agent_id and w.seq = u.seq_read`
