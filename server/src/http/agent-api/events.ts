import type { FastifyInstance } from 'fastify'
import { epochOf, epochUnsaid, readEpochs, seqToGoOnAfter } from '../../callbacks/event-epochs.ts'
import { readEvents } from '../../callbacks/read-callbacks.ts'
import { resendCallbacks } from '../../callbacks/resend-callbacks.ts'
import { archivedSeq, refuseArchived } from '../../ledger/archived.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonObject, quoted } from '../../lib/json-text.ts'
import { Problem } from '../../lib/problem.ts'
import type { Desk } from '../../teller/desk.ts'
import type { Door } from './door.ts'
import { operation, sendJson } from './operation.ts'
import type { ReadList } from './read-list.ts'
import { EventPage, EventQuery, ResendAnswer, SeqParams } from './schemas.ts'
import { eventRange, pageOf } from './seq-page.ts'

/** `GET /payment/events` and `POST /payment/events/{seq}/resend`. */
export function eventRoutes(
  app: FastifyInstance,
  door: Door,
  desk: Desk,
  readList: ReadList,
  wake: (agentIds: bigint[]) => void,
): void {
  app.get(
    '/payment/events',
    {
      schema: operation({
        id: 'listEvents',
        summary: 'List outcomes with their callbacks, oldest first',
        description: 'For an agent that was down. Numbers of holds and adjustments are left out.',
        tag: 'Callbacks',
        query: EventQuery,
        answers: { 200: EventPage },
      }),
    },
    door(async ({ agent, request, reply }) => {
      const { after: given, limit, epoch } = eventRange(request.query)
      const epochs = await readEpochs(desk.pool, agent.agentId)
      const from = epoch ?? (await epochUnsaid(desk.pool, agent.agentId, epochs, given))
      const after = seqToGoOnAfter(epochs, given, from)
      await refuseArchived(desk.pool, agent.agentId, after)
      const events = await readList(agent.agentId, (pool) =>
        readEvents(pool, { agentId: agent.agentId, afterSeq: after, limit: limit + 1 }),
      )
      const items = events.map((event) => ({
        seq: event.seq,
        json: jsonObject({
          seq: String(event.seq),
          epoch: String(epochOf(epochs, event.seq)),
          txn_id: quoted(txnId(agent.agentId, event.orderId)),
          ref_id: quoted(event.refId),
          kind: quoted(event.kind),
          status: quoted(JSON.parse(event.body).status),
          at: quoted(desk.localTime(event.at)),
          delivery: quoted(event.delivery),
          body: quoted(event.body),
        }),
      }))
      return sendJson(reply, 200, pageOf(items, limit))
    }),
  )

  app.post(
    '/payment/events/:seq/resend',
    {
      schema: operation({
        id: 'resendEvent',
        summary: 'Send a callback again',
        description: 'With the same bytes, signed afresh, whatever became of it before.',
        tag: 'Callbacks',
        params: SeqParams,
        answers: { 202: ResendAnswer },
      }),
    },
    door(async ({ agent, request, reply }) => {
      const { seq } = request.params as { seq: string }
      const named = { agentId: agent.agentId, seq: BigInt(/^\d{1,15}$/.test(seq) ? seq : 0) }
      const { resent } = await resendCallbacks(desk.pool, named, desk.now)
      if (resent === 0) {
        const isArchived =
          named.seq > 0n && named.seq <= (await archivedSeq(desk.pool, agent.agentId))
        const detail = isArchived
          ? 'The callback was archived with its order.'
          : 'The agent has no callback with this seq.'
        throw new Problem('not_found', detail)
      }
      wake([agent.agentId])
      return sendJson(reply, 202, `{"seq":${Number(seq)},"delivery":"waiting"}`)
    }),
  )
}
