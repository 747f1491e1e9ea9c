import type { Static } from 'typebox'
import { plainAccountNo } from '../../bank-accounts/expected-deposits.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import type { Order } from '../../ledger/book.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { listAssignees, mayDecidePayments } from '../../operators/find-assignee.ts'
import {
  addNote,
  forgetSharedView,
  type Marked,
  readMarks,
  readSharedViews,
  setTag,
  shareView,
} from '../../operators/marks.ts'
import type { Operator } from '../../operators/operator.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { actOn } from './order-actions.ts'
import { maskedNumber, seesPersons } from './personal-data.ts'
import {
  Assignees,
  CancelTogether,
  DoneTogether,
  ForgetView,
  MarkOrder,
  MarkTogether,
  OrderMarks,
  ResendTogether,
  SharedViews,
  ShareView,
} from './schemas/marks.ts'
import { TxnParams } from './schemas/orders.ts'
import { orderNamed } from './scope.ts'

/** What people know of orders, and what they do to several at once. */
export function markRoutes(api: OperatorApi, desk: Desk, wake: (agents: bigint[]) => void): void {
  orderMarkRoutes(api, desk)
  togetherRoutes(api, desk, wake)
  viewRoutes(api, desk)
}

const says = 'says what people know of it, and moves no money'

function orderMarkRoutes(api: OperatorApi, desk: Desk): void {
  const common = { tag: 'Orders', agents: 'none' } as const
  const marksOf = async (operator: Operator, order: Order) => {
    const found = await readMarks(desk.pool, markedIn(order))
    const isShown = seesPersons(operator)
    return jsonText({
      data: found.map(({ kind, subject, tags, assignee, notes }) => ({
        about: kind,
        subject: kind === 'account' && !isShown ? maskedNumber(subject) : subject,
        tags,
        assignee,
        notes: notes.map(({ at, author, assignee, note }) => ({ at, by: author, assignee, note })),
      })),
    })
  }

  operatorRoute(api, {
    ...common,
    permission: 'view',
    method: 'GET',
    url: '/orders/:txn_id/marks',
    summary: 'Notes and tags of an order, of its user and of the account it names',
    schema: { params: TxnParams, response: OrderMarks },
    handler: async ({ operator, params }) =>
      marksOf(operator, (await orderNamed(desk.pool, operator, params.txn_id)).order),
  })

  operatorRoute(api, {
    ...common,
    permission: 'act_on_orders',
    method: 'GET',
    url: '/assignees',
    summary: 'Who can look into orders and payments',
    schema: { response: Assignees },
    handler: async () => ({ data: await listAssignees(desk.pool) }),
  })

  operatorRoute(api, {
    ...common,
    permission: 'act_on_orders',
    method: 'POST',
    url: '/orders/:txn_id/marks',
    withoutCode: says,
    summary: 'Tag, note or assign an order, its user or the account it names',
    schema: { params: TxnParams, body: MarkOrder, response: OrderMarks },
    handler: async ({ operator, params, body }) => {
      const { order } = await orderNamed(desk.pool, operator, params.txn_id)
      const marked = markedIn(order).find(({ kind }) => kind === body.about)
      if (!marked) throw new Problem('not_found', 'There is nothing of this kind.')
      await mark(desk, operator, order, marked, body)
      return marksOf(operator, order)
    },
  })
}

/** The order itself, its user, and the account that pays or is paid. */
function markedIn({ agentId, orderId, userId, accountNo }: Order): Marked[] {
  const account = plainAccountNo(accountNo)
  return [
    { agentId, kind: 'order', subject: orderId },
    { agentId, kind: 'user', subject: userId },
    ...(account === '' ? [] : [{ agentId, kind: 'account' as const, subject: account }]),
  ]
}

type Said = Omit<Static<typeof MarkOrder>, 'about'>

async function mark(
  desk: Desk,
  operator: Operator,
  order: Order,
  marked: Marked,
  said: Said,
): Promise<void> {
  const given = (['tag', 'untag', 'note', 'assignee'] as const).filter(
    (name) => said[name] !== undefined,
  )
  if (given.length !== 1) {
    const message = 'must be given alone: one of tag, untag, note, assignee'
    throw invalidRequest([{ field: given[0] ?? 'tag', message }])
  }
  const { tag, untag, note } = said
  const assignee = typeof said.assignee === 'string' ? said.assignee.toLowerCase() : null
  if (assignee !== null && !(await mayDecidePayments(desk.pool, assignee))) {
    const message = 'must be the address of a user who may act on orders'
    throw invalidRequest([{ field: 'assignee', message }])
  }
  const at = desk.now()
  const by = { name: operator.email, at }
  await inTransaction(desk.pool, async (tx) => {
    if (tag !== undefined) await setTag(tx, marked, tag, true, by)
    else if (untag !== undefined) await setTag(tx, marked, untag, false, by)
    else await addNote(tx, marked, note === undefined ? { assignee } : { note }, by)
    await writeAudit(tx, {
      at,
      operator,
      action: 'mark_order',
      subject: { kind: 'order', id: txnId(order.agentId, order.orderId) },
      agentId: order.agentId,
      after: { about: marked.kind, ...(note === undefined ? said : { note: 'a note' }) },
    })
  })
}

interface Outcome {
  txn_id: string
  outcome: 'done' | 'refused'
  detail: string | null
}

/** Does something to each of several orders; one that refuses keeps no other from it. */
async function each(
  txnIds: readonly string[],
  act: (txnId: string) => Promise<unknown>,
): Promise<{ data: Outcome[] }> {
  const data: Outcome[] = []
  for (const txn_id of new Set(txnIds)) {
    try {
      await act(txn_id)
      data.push({ txn_id, outcome: 'done', detail: null })
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      data.push({ txn_id, outcome: 'refused', detail: error.message })
    }
  }
  return { data }
}

function togetherRoutes(api: OperatorApi, desk: Desk, wake: (agents: bigint[]) => void): void {
  const common = { tag: 'Orders', method: 'POST' } as const

  operatorRoute(api, {
    ...common,
    permission: 'resend_callbacks',
    agents: 'own',
    withoutCode: 'an agent is told again what it was told before',
    url: '/orders-together/resend',
    summary: 'Send the last callback of several orders again',
    schema: { body: ResendTogether, response: DoneTogether },
    handler: async ({ operator, body }) => {
      const agents = new Set<bigint>()
      const done = await each(body.txn_ids, async (id) => {
        const named = await orderNamed(desk.pool, operator, id)
        await actOn(desk, operator, named, 'resend', body.reason)
        agents.add(named.order.agentId)
      })
      wake([...agents])
      return done
    },
  })

  operatorRoute(api, {
    ...common,
    permission: 'act_on_orders',
    agents: 'none',
    url: '/orders-together/cancel',
    summary: 'Cancel several withdrawals that no provider has, with one code',
    schema: { body: CancelTogether, response: DoneTogether },
    handler: async ({ operator, body }) =>
      each(body.txn_ids, async (id) => {
        const named = await orderNamed(desk.pool, operator, id)
        await actOn(desk, operator, named, 'cancel', body.reason)
      }),
  })

  operatorRoute(api, {
    ...common,
    permission: 'act_on_orders',
    agents: 'none',
    withoutCode: says,
    url: '/orders-together/mark',
    summary: 'Tag or assign several orders',
    schema: { body: MarkTogether, response: DoneTogether },
    handler: async ({ operator, body: { txn_ids, ...said } }) =>
      each(txn_ids, async (id) => {
        const { order } = await orderNamed(desk.pool, operator, id)
        const { agentId, orderId } = order
        await mark(desk, operator, order, { agentId, kind: 'order', subject: orderId }, said)
      }),
  })
}

function viewRoutes(api: OperatorApi, desk: Desk): void {
  const common = { tag: 'Orders', agents: 'none' } as const
  const views = async () => ({
    data: (await readSharedViews(desk.pool, 'orders')).map(({ name, filters, sharedBy }) => ({
      name,
      filters,
      shared_by: sharedBy,
    })),
  })
  operatorRoute(api, {
    ...common,
    permission: 'view',
    method: 'GET',
    url: '/shared-views',
    summary: 'Views of orders that everybody sees',
    schema: { response: SharedViews },
    handler: views,
  })
  const change = {
    permission: 'act_on_orders',
    method: 'POST',
    withoutCode: 'names filters',
  } as const
  operatorRoute(api, {
    ...common,
    ...change,
    url: '/shared-views',
    summary: 'Share a view',
    schema: { body: ShareView, response: SharedViews },
    handler: async ({ operator, body }) => {
      const view = { ...body, sharedBy: operator.email }
      const at = desk.now()
      await inTransaction(desk.pool, async (tx) => {
        if (!(await shareView(tx, 'orders', view, at))) {
          throw new Problem('invalid_transition', 'Another view has this name.')
        }
        await writeAudit(tx, {
          at,
          operator,
          action: 'share_view',
          subject: { kind: 'view', id: body.name },
          agentId: null,
          after: { filters: body.filters },
        })
      })
      return views()
    },
  })
  operatorRoute(api, {
    ...common,
    ...change,
    url: '/shared-views/forget',
    summary: 'Share a view no more',
    schema: { body: ForgetView, response: SharedViews },
    handler: async ({ operator, body }) => {
      const at = desk.now()
      await inTransaction(desk.pool, async (tx) => {
        const filters = await forgetSharedView(tx, 'orders', body.name)
        if (filters === undefined) return
        await writeAudit(tx, {
          at,
          operator,
          action: 'forget_view',
          subject: { kind: 'view', id: body.name },
          agentId: null,
          before: { filters },
        })
      })
      return views()
    },
  })
}
