import Type from 'typebox'
import { appId, code, isoTime, orNull, reason, strict } from './shapes.ts'

export const StopList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      app_id: orNull(Type.String({ description: 'null: everything' })),
      deposits: Type.Boolean({ description: 'whether deposits are stopped as well' }),
      at: isoTime('when it was stopped'),
      by: Type.String(),
      reason: Type.String(),
    }),
  ),
})
export const StopBody = Type.Object(
  {
    app_id: Type.Optional(appId),
    deposits: Type.Optional(Type.Boolean({ description: 'stop deposits as well' })),
    reason,
    code: Type.Optional(code),
  },
  strict,
)
export const StopParams = Type.Object({
  id: Type.String({ maxLength: 64, description: 'the id of a stop' }),
})
export const GoBody = Type.Object({ reason, code: Type.Optional(code) }, strict)
