import Type from 'typebox'
import { printable } from '../../printable-text.ts'
import { code, isoTime, orNull, reason, strict } from './shapes.ts'

const provider = Type.String({ maxLength: 32, description: 'the provider that reported it' })
const eventId = Type.String({ maxLength: 200, description: 'its id in the books' })

export const EventList = Type.Object({
  data: Type.Array(
    Type.Object({
      provider,
      event_id: eventId,
      txn_id: orNull(Type.String({ description: 'the order that it names, if it names one' })),
      words: Type.String({ description: 'what the provider reported, in words' }),
      detail: orNull(Type.String({ description: 'why the service could not act on it yet' })),
      received_at: isoTime('when it first arrived'),
      tries: Type.Integer({ description: 'how often the service has tried', maximum: 2 ** 31 - 1 }),
      can_close: Type.Boolean({ description: 'false for reported money, which is never closed' }),
      alike: Type.Integer({
        description: 'how many were not understood for the same reason; only the oldest is listed',
      }),
    }),
    { description: 'the oldest first, at most 200' },
  ),
})

export const CloseEventRequest = Type.Object(
  {
    provider,
    event_id: eventId,
    alike: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 2 ** 31 - 1,
        description: 'close all of the same unknown kind, of which there are as many',
      }),
    ),
    evidence: printable(1000),
    reason,
    code: Type.Optional(code),
  },
  strict,
)
