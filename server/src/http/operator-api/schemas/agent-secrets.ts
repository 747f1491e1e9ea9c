import Type from 'typebox'
import { secretScopes } from '../../../agents/agent-secrets.ts'
import { appId, code, isoTime, oneOf, orNull, reason, strict } from './shapes.ts'

const scopes = Type.Array(
  oneOf(
    secretScopes,
    'callback: signs callbacks, in the place of the other secrets, and goes alone',
  ),
  { maxItems: 4, description: 'what it may do; at least one' },
)
const allowIp = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 50,
  description: 'only requests from these addresses or CIDR ranges; empty: every address',
})

export const AgentSecretList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      scopes,
      allow_ip: allowIp,
      created_at: isoTime('when it was made'),
      created_by: Type.String(),
      revoked_at: orNull(isoTime('when it ended')),
      last_used_at: orNull(isoTime('when it was last used')),
    }),
  ),
})
export const MakeSecretBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 60, description: 'what it is for' }),
    scopes,
    allow_ip: Type.Optional(allowIp),
    reason,
    code: Type.Optional(code),
  },
  strict,
)
export const MadeSecret = Type.Object({
  app_id: Type.String(),
  id: Type.Integer(),
  secret: Type.String({ description: 'shown once' }),
})
export const SecretParams = Type.Object({
  app_id: appId,
  id: Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'the id of a secret' }),
})
export const RevokeSecretBody = Type.Object({ reason, code: Type.Optional(code) }, strict)
