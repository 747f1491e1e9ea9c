import Type from 'typebox'
import { Problem } from '../../lib/problem.ts'
import { qrDataUrl } from '../../lib/qr-png.ts'
import { acceptInvitation, openInvitation } from '../../operators/invite.ts'
import { newToken, startSession } from '../../operators/sessions.ts'
import type { SignIn } from '../../operators/sign-in.ts'
import { otpauthUri } from '../../operators/totp.ts'
import { cookieOf, setCookie } from './console-cookies.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, openRoute } from './operator-route.ts'
import { isoTime, orNull, strict } from './schemas/shapes.ts'
import { Me, Password, RoleName } from './schemas/users.ts'
import { meOf } from './sign-in.ts'

const token = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'what the link has after #',
})

/** The invitation link that enrols a user: a code to scan, then password and code. */
export function invitationRoutes(api: OperatorApi, deps: OperatorDeps, signIn: SignIn): void {
  const { pool, secretKeys, now, publicUrl } = deps.desk

  openRoute(api, {
    method: 'POST',
    url: '/invitations/open',
    summary:
      'What an invitation is for, and the secret for an authenticator, for the first browser alone',
    tag: 'Sign-in',
    schema: {
      body: Type.Object({ token }, strict),
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
    handler: async ({ request, reply, body }) => {
      const browser = cookieOf(request, publicUrl(), 'invitation') ?? newToken()
      const found = await openInvitation(pool, secretKeys, { token: body.token, browser }, now())
      if (!found) {
        throw new Problem(
          'not_found',
          'This link has been used, has ended, or was opened in another browser.',
        )
      }
      setCookie(reply, publicUrl(), 'invitation', browser)
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
    url: '/invitations/accept',
    summary: 'Accept an invitation; the answer signs in',
    tag: 'Sign-in',
    schema: {
      body: Type.Object(
        {
          token,
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
    handler: async ({ request, reply, body }) => {
      const { ip } = request
      const browser = cookieOf(request, publicUrl(), 'invitation') ?? ''
      const user = await acceptInvitation(
        pool,
        secretKeys,
        { token: body.token, browser },
        { email: body.email, password: body.password, code: body.code, ip },
        now(),
      )
      const { userId, email, role, agentId } = user
      const userAgent = request.headers['user-agent']
      const session = await startSession(pool, { userId, ip, userAgent }, now())
      const { sessionId } = session
      setCookie(reply, publicUrl(), 'session', session.token)
      setCookie(reply, publicUrl(), 'device', await signIn.deviceFor(email))
      setCookie(reply, publicUrl(), 'invitation', undefined)
      return meOf(deps, { userId, email, role, agentId, sessionId, ip })
    },
  })
}
