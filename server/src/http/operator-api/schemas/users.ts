import Type from 'typebox'
import { type Role, roles } from '../../../operators/operator.ts'
import { isoTime, orNull, strict } from './shapes.ts'

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

const preferences = {
  time_zone: orNull(
    Type.String({
      maxLength: 64,
      description: "the zone in which I read times; null: the service's",
    }),
  ),
  language: orNull(
    Type.String({
      pattern: '^[a-z]{2}(-[A-Z]{2})?$',
      description: "in which I read the console, such as th; null: the browser's",
    }),
  ),
}
export const PreferencesRequest = Type.Object(preferences, strict)

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
  time_zone: Type.String({ description: 'the zone in which the service counts its days' }),
  preferences: Type.Object(preferences),
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
