import Type from 'typebox'
import { type Role, roles } from '../../../operators/operator.ts'
import { isoTime, orNull } from './shapes.ts'

/** The shapes of users and their sessions. */

export const RoleName = Type.Unsafe<Role>({
  type: 'string',
  enum: [...roles],
  description: `one of ${roles.join(', ')}`,
})
export const Password = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'a password of 12 to 256 characters',
})

export const Me = Type.Object({
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    role: RoleName,
    app_id: orNull(Type.String({ description: 'the agent, for a user of one' })),
    agent_name: orNull(Type.String()),
  }),
  permissions: Type.Array(Type.String()),
  view: orNull(
    Type.Object(
      { until: orNull(isoTime('when this ends by itself')) },
      { description: 'for an operator who sees the console as the users of an agent do' },
    ),
  ),
  mode: Type.Unsafe<'sandbox' | 'live'>({ type: 'string', enum: ['sandbox', 'live'] }),
  time_zone: Type.String({ description: 'the zone in which times are shown' }),
  version: Type.String(),
  now: isoTime('the time of the service'),
})

export const LeftView = Type.Object({
  app_id: Type.String({ description: 'the agent whose console it was' }),
})

export const SessionList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      current: Type.Boolean({ description: 'the one that asks' }),
      ip: Type.String(),
      user_agent: orNull(Type.String()),
      created_at: isoTime('when it began'),
      last_seen_at: isoTime('when it was last used'),
    }),
  ),
  next: Type.Null(),
})

export const Done = Type.Object({})
