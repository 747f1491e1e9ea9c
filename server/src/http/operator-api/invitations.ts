import Type from 'typebox'
import { Problem } from '../../lib/problem.ts'
import { qrDataUrl } from '../../lib/qr-png.ts'
import { acceptInvitation, findInvitation } from '../../operators/invite.ts'
import { startSession } from '../../operators/sessions.ts'
import { otpauthUri } from '../../operators/totp.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, openRoute } from './operator-route.ts'
import { isoTime, orNull } from './schemas/shapes.ts'
import { Me, Password, RoleName } from './schemas/users.ts'
import { setSessionCookie } from './session-cookie.ts'
import { meOf } from './sign-in.ts'

const TokenParams = Type.Object({ token: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }) })

/** The invitation link that enrols a user: a code to scan, then password and code. */
export function invitationRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, secretKeys, now, publicUrl } = deps.desk

  openRoute(api, {
    method: 'GET',
    url: '/invitations/:token',
    summary: 'What an invitation is for, and the secret to give an authenticator',
    tag: 'Sign-in',
    schema: {
      params: TokenParams,
      response: Type.Object({
        email: orNull(Type.String({ description: 'null for the first admin, who sends one' })),
        role: RoleName,
        expires_at: isoTime('until when the link works'),
        totp: Type.Object({
          secret: Type.String({ description: 'base 32, for typing' }),
          uri: Type.String({ description: 'otpauth:' }),
          qrcode: Type.String({ description: 'a data: URL of the QR code as PNG' }),
        }),
      }),
    },
    handler: async ({ params }) => {
      const found = await findInvitation(pool, secretKeys, params.token, now())
      if (!found) throw new Problem('not_found', 'This link has been used or has ended.')
      const uri = otpauthUri(found.totpSecret, found.user?.email ?? 'admin')
      return {
        email: found.user?.email ?? null,
        role: found.role,
        expires_at: found.expiresAt.toISOString(),
        totp: { secret: found.totpSecret, uri, qrcode: qrDataUrl(uri) },
      }
    },
  })

  openRoute(api, {
    method: 'POST',
    url: '/invitations/:token',
    summary: 'Accept an invitation; the answer signs in',
    tag: 'Sign-in',
    schema: {
      params: TokenParams,
      body: Type.Object(
        {
          email: Type.Optional(
            Type.String({ maxLength: 254, description: 'an email address, of the first admin' }),
          ),
          password: Password,
          code: Type.String({ maxLength: 16, description: 'the code the authenticator shows' }),
        },
        { additionalProperties: false },
      ),
      response: Me,
    },
    handler: async ({ request, reply, params, body }) => {
      const { ip } = request
      const user = await acceptInvitation(
        pool,
        secretKeys,
        params.token,
        { email: body.email, password: body.password, code: body.code, ip },
        now(),
      )
      const { userId, email, role, agentId } = user
      const userAgent = request.headers['user-agent']
      const { token, sessionId } = await startSession(pool, { userId, ip, userAgent }, now())
      setSessionCookie(reply, publicUrl(), token)
      return meOf(deps, { userId, email, role, agentId, sessionId, ip })
    },
  })
}
