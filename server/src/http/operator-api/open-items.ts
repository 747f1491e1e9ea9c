import type { Agent } from '../../agents/agent.ts'
import { listAgents } from '../../agents/find-agent.ts'
import type { Booking, ItemKind } from '../../ledger/book.ts'
import { bookingsOf, notClosed } from '../../ledger/decide-item.ts'
import { closeItem, type FoundItem, findItem, searchItems } from '../../ledger/open-items.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import { hasPermission } from '../../operators/find-assignee.ts'
import type { Operator } from '../../operators/operator.ts'
import {
  type PaymentNote,
  readPaymentNotes,
  writePaymentNote,
} from '../../payments/payment-notes.ts'
import { bookItem } from '../../payouts/book-item.ts'
import { itemNext, sidesOf } from '../../payouts/item-words.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, orderSummary } from './order-summary.ts'
import {
  BookItemRequest,
  CloseRequest,
  ItemDetail,
  ItemList,
  ItemListQuery,
  ItemParams,
} from './schemas/open-items.ts'
import { AssignRequest, NoteRequest } from './schemas/payments.ts'
import { agentNamed, badCursor, orderNamed } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

/**
 * Payouts where a provider's report and the books contradict each other. Only operators see them, not agents'
 * users.
 */
export function openItemRoutes(api: OperatorApi, desk: Desk): void {
  readRoutes(api, desk)
  closeRoute(api, desk)
  bookRoute(api, desk)
  noteRoutes(api, desk)
}

function readRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/open-items',
    summary: 'List contradictions that wait for a person, or that were closed',
    tag: 'Open items',
    permission: 'view',
    agents: 'none',
    schema: { querystring: ItemListQuery, response: ItemList },
    handler: async ({ operator, query }) => {
      const { limit = 50, state = 'open' } = query
      const agent =
        query.agent === undefined ? null : await agentNamed(desk.pool, operator, query.agent)
      const found = await searchItems(desk.pool, {
        state: state as 'open' | 'closed',
        agentId: agent?.agentId ?? null,
        kind: (query.kind as ItemKind | undefined) ?? null,
        assignee: query.assignee ?? null,
        after: query.cursor === undefined ? null : placeIn(query.cursor),
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      const agents = new Map((await listAgents(desk.pool)).map((each) => [each.agentId, each]))
      return jsonText({
        data: shown.map((item) => itemView(item, agents.get(item.agentId))),
        next: found.length > limit && last ? `${last.openedAt.toISOString()} ${last.itemId}` : null,
      })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/open-items/:item_id',
    summary: 'One contradiction, with its order and what can be done',
    tag: 'Open items',
    permission: 'view',
    agents: 'none',
    schema: { params: ItemParams, response: ItemDetail },
    handler: async ({ operator, params }) => itemDetail(desk, operator, params.item_id),
  })
}

const common = {
  method: 'POST',
  tag: 'Open items',
  permission: 'act_on_orders',
  agents: 'none',
} as const

function closeRoute(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    ...common,
    url: '/open-items/:item_id/close',
    summary: 'Close a contradiction with what was found out; moves no money',
    schema: { params: ItemParams, body: CloseRequest, response: ItemDetail },
    handler: async ({ operator, params, body }) => {
      const item = await itemNamed(desk, params.item_id)
      const { reason, evidence = reason } = body
      await audited(
        desk.pool,
        desk.now,
        auditEntry(operator, 'close_open_item', item, reason),
        async () => {
          const closed = { at: desk.now(), by: operator.email, evidence }
          if (!(await closeItem(desk.pool, item, closed))) {
            throw new Problem('changed_meanwhile', notClosed)
          }
        },
        () => ({ resolution: 'looked_into', evidence }),
      )
      return itemDetail(desk, operator, item.itemId)
    },
  })
}

function bookRoute(api: OperatorApi, desk: Desk): void {
  /** The item, if it can be booked so. */
  const bookable = async (operator: Operator, itemId: string, as: string) => {
    const item = await itemNamed(desk, itemId)
    const named = txnId(item.agentId, item.orderId)
    const { order } = await orderNamed(desk.pool, operator, named)
    const way = bookingsOf(item, order).find((each) => each === as)
    if (!way) {
      throw new Problem('invalid_transition', `It cannot be booked so. ${itemNext(item, order)}`)
    }
    return { item, way, status: order.status }
  }

  twoPersonRoute(api, {
    ...common,
    permission: 'adjust_wallets',
    url: '/open-items/:item_id/book',
    summary: 'Book what left against the books, or that it is back, and close the contradiction',
    schema: { params: ItemParams, body: BookItemRequest, response: ItemDetail },
    approval: {
      action: 'write_off',
      also: ({ as }) => (as === 'charge_agent' ? ['adjust_wallet'] : []),
      repeats: 'keyed',
      view: async ({ operator, params, body }) => {
        const { item, status } = await bookable(operator, params.item_id, body.as)
        const { agentId, amountMinor: minor, currency, provider, providerSaid } = item
        return {
          subject: { kind: 'open_item', id: item.itemId },
          agentId,
          amount: { minor, currency },
          before: { provider_said: providerSaid, order_status: status },
          after: { booked_as: body.as, amount: exact(minor, currency), currency, provider },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const { reason, as } = body
      // A run that was interrupted may have closed it.
      const again = operator.proposal?.again === true
      const { item, way } = again
        ? { item: await itemNamed(desk, params.item_id), way: as as Booking }
        : await bookable(operator, params.item_id, as)
      await audited(
        desk.pool,
        desk.now,
        auditEntry(operator, 'close_open_item', item, reason),
        () => bookItem(desk, item, way, { reason, by: operator.email, again }),
        () => ({ resolution: 'looked_into', booked_as: way }),
      )
      return itemDetail(desk, operator, item.itemId)
    },
  })
}

function noteRoutes(api: OperatorApi, desk: Desk): void {
  const withoutCode = 'says who looks into it and what was found, and changes no money'
  operatorRoute(api, {
    ...common,
    withoutCode,
    url: '/open-items/:item_id/assign',
    summary: 'Say who looks into a contradiction',
    schema: { params: ItemParams, body: AssignRequest, response: ItemDetail },
    handler: async ({ operator, params, body }) => {
      const item = await itemNamed(desk, params.item_id)
      const assignee = typeof body.assignee === 'string' ? body.assignee.toLowerCase() : null
      if (assignee !== null && !(await hasPermission(desk.pool, assignee, 'act_on_orders'))) {
        const message = 'must be the address of a user who may act on orders'
        throw invalidRequest([{ field: 'assignee', message }])
      }
      const entry = auditEntry(operator, 'assign_open_item', item, null)
      const says = { assigns: true, assignee, note: null }
      await audited(
        desk.pool,
        desk.now,
        entry,
        () => write(desk, operator, item, says, body.instead_of),
        () => ({ assignee }),
      )
      return itemDetail(desk, operator, item.itemId)
    },
  })

  operatorRoute(api, {
    ...common,
    withoutCode,
    url: '/open-items/:item_id/note',
    summary: 'Note what was found out about a contradiction',
    schema: { params: ItemParams, body: NoteRequest, response: ItemDetail },
    handler: async ({ operator, params, body }) => {
      const item = await itemNamed(desk, params.item_id)
      const entry = auditEntry(operator, 'note_open_item', item, null)
      const says = { assigns: false, assignee: null, note: body.note }
      await audited(
        desk.pool,
        desk.now,
        entry,
        () => write(desk, operator, item, says),
        () => ({ note: body.note }),
      )
      return itemDetail(desk, operator, item.itemId)
    },
  })
}

async function write(
  desk: Desk,
  operator: Operator,
  item: FoundItem,
  says: Pick<PaymentNote, 'assigns' | 'assignee' | 'note'>,
  insteadOf?: string | null,
): Promise<void> {
  const note = { ...says, at: desk.now(), author: operator.email }
  const other = await writePaymentNote(desk.pool, item.itemId, note, insteadOf)
  if (!other) return
  const detail = other.assignee
    ? `${other.assignee} is looking into it now. Talk to them first.`
    : 'Nobody is looking into it any more. Read it again.'
  throw new Problem('changed_meanwhile', detail)
}

async function itemNamed(desk: Desk, itemId: string): Promise<FoundItem> {
  const item = await findItem(desk.pool, itemId)
  if (!item) throw new Problem('not_found', 'There is no such item.')
  return item
}

async function itemDetail(desk: Desk, operator: Operator, itemId: string): Promise<string> {
  const item = await itemNamed(desk, itemId)
  const named = txnId(item.agentId, item.orderId)
  const { order, agent } = await orderNamed(desk.pool, operator, named)
  const notes = await readPaymentNotes(desk.pool, itemId)
  return jsonText({
    item: itemView(item, agent),
    order: orderSummary(order, agent, operator),
    next: itemNext(item, order),
    bookings: bookingsOf(item, order),
    notes: notes.map(({ at, author: by, assignee, note }) => ({ at, by, assignee, note })),
  })
}

function auditEntry(operator: Operator, action: string, item: FoundItem, reason: string | null) {
  const { itemId: id, agentId, kind, closedAt, assignee } = item
  const before = { kind, closed_at: closedAt, assignee }
  return { operator, action, subject: { kind: 'open_item', id }, agentId, before, reason }
}

function itemView(item: FoundItem, agent: Agent | undefined) {
  return {
    item_id: item.itemId,
    kind: item.kind,
    app_id: agent?.appId ?? null,
    agent_name: agent?.name ?? null,
    txn_id: txnId(item.agentId, item.orderId),
    provider: item.provider,
    reference: item.reference,
    amount: exact(item.amountMinor, item.currency),
    currency: item.currency,
    provider_said: item.providerSaid,
    order_status: item.orderStatus,
    order_provider: item.orderProvider,
    words: sidesOf(item),
    opened_at: item.openedAt,
    closed_at: item.closedAt,
    resolution: item.resolution,
    closed_by: item.closedBy,
    evidence: item.evidence,
    booked_as: item.bookedAs,
    assignee: item.assignee,
  }
}

function placeIn(cursor: string): { openedAt: Date; itemId: string } {
  const [time = '', ...rest] = cursor.split(' ')
  const openedAt = parseIsoTime(time)
  if (!openedAt || rest.length === 0) throw badCursor()
  return { openedAt, itemId: rest.join(' ') }
}
