import Type from 'typebox'
import { appId, isoTime, oneOf, orNull, page, paging, strict } from './shapes.ts'

export const ApiLogQuery = Type.Object(
  {
    agent: Type.Optional(appId),
    answered: Type.Optional(oneOf(['refused'], 'only what was answered with a problem')),
    ...paging,
  },
  strict,
)

export const ApiLogPage = page(
  Type.Object({
    app_id: appId,
    agent_name: Type.String(),
    at: isoTime('when it was answered'),
    request_id: Type.String({ description: 'the x-request-id of the answer' }),
    method: Type.String(),
    path: Type.String({ description: 'with its query, as it is signed' }),
    status: Type.Integer(),
    code: orNull(Type.String({ description: 'the problem that it was answered with' })),
    detail: orNull(Type.String({ description: 'what the answer said of it' })),
    duration_ms: Type.Integer(),
    ip: Type.String(),
    body: orNull(
      Type.String({
        description: 'with accounts and names masked; null if it was none, or no JSON',
      }),
    ),
    left_out: Type.Integer({
      description: 'so many requests before it are not kept',
    }),
  }),
)
