import Type from 'typebox'
import { code, isoTime, orNull, reason, strict } from './shapes.ts'

export const HoldView = Type.Object({
  id: Type.String(),
  since: isoTime('what happened since may be missing here'),
  at: isoTime('when it was noticed or said'),
  found: Type.String(),
  epoch: Type.Integer({ description: 'the epoch of the events since' }),
  asked_at: orNull(isoTime('when all providers had been asked; null: they are being asked')),
  differences: Type.Array(
    Type.Object({
      subject: Type.String(),
      words: Type.String(),
      txn_id: orNull(Type.String({ description: 'the order that it is about' })),
      provider: orNull(Type.String({ description: 'who may have that order' })),
      references: Type.Array(Type.String(), { description: 'by which it may have it' }),
      open: Type.Boolean({ description: 'whether it has to be named when payouts are released' }),
    }),
  ),
})
export const HoldList = Type.Object({
  data: Type.Array(HoldView, { description: 'what holds payouts back; empty if nothing does' }),
})
export const HoldParams = Type.Object({
  id: Type.String({ maxLength: 64, description: 'the id of a hold' }),
})
export const ReleaseBody = Type.Object(
  {
    differences: Type.Optional(
      Type.Array(
        Type.Object(
          {
            subject: Type.String({ minLength: 3, maxLength: 200, description: 'which one' }),
            finding: Type.Unsafe<'not_paid' | 'has_it' | 'seen'>({
              type: 'string',
              enum: ['not_paid', 'has_it', 'seen'],
              description:
                'not_paid: its order leaves again; has_it: its order is with this provider, who is asked; seen: it concerns no order that waits',
            }),
            reference: Type.Optional(
              Type.String({ maxLength: 100, description: 'by which the provider has it' }),
            ),
          },
          strict,
        ),
        { maxItems: 2000, description: 'what was found of each open difference' },
      ),
    ),
    reason,
    code: Type.Optional(code),
  },
  strict,
)
