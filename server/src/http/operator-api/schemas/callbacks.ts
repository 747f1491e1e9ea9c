import Type from 'typebox'
import { orderKinds, orderStatuses } from '../../../ledger/book.ts'
import { appId, code, isoTime, oneOf, orNull, page, paging, reason, seq, strict } from './shapes.ts'

export const deliveries = [
  'waiting',
  'sending',
  'delivered',
  'exhausted',
  'no_address',
  'superseded',
  'paused',
]
/** `failing`: waits for another attempt after a failed one; `undelivered`: every state except delivered. */
export const callbackStates = [...deliveries, 'failing', 'undelivered']

export const CallbackListQuery = Type.Object(
  {
    agent: Type.Optional(appId),
    state: Type.Optional(oneOf(callbackStates, `one of ${callbackStates.join(', ')}`)),
    older_than_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'seconds since it happened; without a state, of what is undelivered',
      }),
    ),
    ...paging,
  },
  strict,
)

const callbackFields = {
  app_id: appId,
  agent_name: Type.String(),
  seq,
  txn_id: Type.String(),
  ref_id: Type.String(),
  kind: oneOf(orderKinds, 'deposit or withdraw'),
  status: oneOf(orderStatuses, 'the outcome it tells'),
  at: isoTime('when the outcome happened'),
  delivery: oneOf(deliveries, 'how far it has come'),
  attempts: Type.Integer({ description: 'since it was last set going' }),
  due_at: orNull(isoTime('when it is tried next; null where it is not')),
  delivered_at: orNull(isoTime('when it was accepted')),
  last_status: orNull(Type.Integer({ description: 'what the latest attempt was answered with' })),
  last_error: orNull(Type.String({ description: 'why the latest attempt failed' })),
}

/** Newest first; waiting ones in the order in which they are due. */
export const CallbackList = page(Type.Object(callbackFields))

export const CallbackParams = Type.Object({ app_id: appId, seq }, strict)

export const CallbackDetail = Type.Object({
  ...callbackFields,
  body: Type.String({ description: 'the exact bytes, masked for viewers' }),
  url: orNull(Type.String({ description: 'where it would be sent now' })),
  attempts_made: Type.Array(
    Type.Object({
      started_at: isoTime('when'),
      duration_ms: Type.Integer(),
      url: Type.String(),
      address: orNull(Type.String({ description: 'the IP address that was dialled' })),
      status: orNull(Type.Integer()),
      response_headers: orNull(Type.String()),
      response_body: orNull(Type.String({ description: 'at most 16 KiB' })),
      error: orNull(Type.String()),
    }),
    { description: 'newest first; at most 100' },
  ),
  curl: Type.String({
    description: 'a curl command that sends the same body; sign it with the secret',
  }),
})

export const ResendRequest = Type.Object({ reason }, strict)
export const ResendAnswer = Type.Object({
  app_id: appId,
  seq,
  delivery: oneOf(deliveries, 'waiting: it goes out in a moment'),
})

export const ReplayRequest = Type.Object(
  {
    agent: Type.Optional(appId),
    failed_since: isoTime('an ISO 8601 time with zone; outcomes of then or later'),
    reason,
  },
  strict,
)
export const ReplayAnswer = Type.Object({
  resent: Type.Integer({ description: 'callbacks that go out again' }),
  left_out: Type.Integer({
    description:
      'callbacks that stay as they are, because a later state of their order has gone out',
  }),
  agents: Type.Array(
    Type.Object({ app_id: appId, resent: Type.Integer(), left_out: Type.Integer() }),
  ),
})

export const CallbackLane = Type.Object({
  app_id: appId,
  agent_name: Type.String(),
  state: oneOf(['open', 'probing', 'paused'], 'open, probing or paused'),
  health: oneOf(
    ['good', 'warn', 'bad'],
    'bad: probed, or callbacks were given up; warn: some were refused, have no address, or it is paused',
  ),
  why: orNull(Type.String({ description: 'why it is probed' })),
  width: Type.Integer({ description: 'requests at once' }),
  probe_at: orNull(isoTime('when the next single request may go')),
  resumed_at: orNull(isoTime('when it was last let go')),
  waiting: Type.Integer({ description: 'callbacks that wait, counted up to 1000' }),
  failing: Type.Integer({ description: 'those of them that were sent and not accepted yet' }),
  oldest_at: orNull(isoTime('the outcome that has waited longest among those counted')),
  given_up: Type.Integer({ description: 'tried until their time was over, counted up to 1000' }),
  superseded: Type.Integer({
    description: 'not sent any more, because a later state of the order was; counted up to 1000',
  }),
  no_address: Type.Integer({ description: 'that have nowhere to go, counted up to 1000' }),
})
export const CallbackLaneList = Type.Object({ data: Type.Array(CallbackLane) })
export const LaneParams = Type.Object({ app_id: appId }, strict)
export const LaneRequest = Type.Object({ reason, code: Type.Optional(code) }, strict)
