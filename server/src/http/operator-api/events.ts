import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import {
  closeAlike,
  closeEvent,
  listOpenEvents,
  type OpenEvent,
} from '../../payments/open-events.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { CloseEventRequest, EventList } from './schemas/events.ts'

const mostListed = 200

/** What providers reported and the service could not act on. Only operators see it, not agents' users. */
export function eventRoutes(api: OperatorApi, desk: Desk): void {
  const open = async () => {
    const found = await listOpenEvents(desk.pool, desk.now(), { limit: mostListed })
    return jsonText({ data: found.map(eventView) })
  }

  operatorRoute(api, {
    method: 'GET',
    url: '/notice-events',
    summary: 'List reported events that the service could not act on yet',
    tag: 'Open items',
    permission: 'view',
    agents: 'none',
    schema: { response: EventList },
    handler: open,
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/notice-events/close',
    summary: 'Close a reported event with what was found out; moves no money',
    tag: 'Open items',
    permission: 'act_on_orders',
    agents: 'none',
    schema: { body: CloseEventRequest, response: EventList },
    handler: async ({ operator, body }) => {
      const { provider, event_id: eventId, evidence, reason, alike } = body
      const filter = { provider, eventId, limit: 1 }
      const [event] = await listOpenEvents(desk.pool, desk.now(), filter)
      if (!event) throw new Problem('not_found', 'No such event is open.')
      const entry = {
        operator,
        action: 'close_event',
        subject: { kind: 'event', id: `${provider}:${eventId}` },
        agentId: event.agentId === 0n ? null : event.agentId,
        before: { says: event.words, waits: event.detail },
        reason,
      }
      await audited(
        desk.pool,
        desk.now,
        entry,
        async () => {
          if (alike === undefined) await closeEvent(desk.pool, event, evidence)
          else await closeAlike(desk.pool, event, evidence, alike)
        },
        () => ({ result: 'closed', evidence, closed: alike ?? 1 }),
      )
      return open()
    },
  })
}

function eventView(event: OpenEvent) {
  const { agentId, orderId } = event
  return {
    provider: event.provider,
    event_id: event.eventId,
    txn_id: orderId === null ? null : txnId(agentId, orderId),
    words: event.words,
    detail: event.detail,
    received_at: event.receivedAt,
    tries: event.tries,
    can_close: event.canClose,
    alike: event.alike,
  }
}
