import Type from 'typebox'
import { isoTime, orNull } from './shapes.ts'

export const HoldView = Type.Object({
  id: Type.String(),
  since: isoTime('what happened since may be missing here'),
  at: isoTime('when it was noticed or said'),
  found: Type.String(),
  epoch: Type.Integer({ description: 'the epoch of the events since' }),
  asked_at: orNull(isoTime('when all providers had been asked; null: they are being asked')),
  differences: Type.Array(Type.Object({ subject: Type.String(), words: Type.String() })),
})
export const HoldList = Type.Object({
  data: Type.Array(HoldView, { description: 'what holds payouts back; empty if nothing does' }),
})
export const HoldParams = Type.Object({
  id: Type.String({ maxLength: 64, description: 'the id of a hold' }),
})
