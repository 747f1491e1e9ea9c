import Type from 'typebox'
import { Problem } from '../../lib/problem.ts'
import { qrDataUrl } from '../../lib/qr-png.ts'
import { OidcIssuer } from '../../operators/oidc-issuer.ts'
import { type Browser, OidcSignIn } from '../../operators/oidc-sign-in.ts'
import type { SignIn } from '../../operators/sign-in.ts'
import { otpauthUri } from '../../operators/totp.ts'
import { cookieOf, setCookie } from './console-cookies.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type Given, type OperatorApi, openRoute } from './operator-route.ts'
import { orNull, strict } from './schemas/shapes.ts'
import { Me } from './schemas/users.ts'
import { meOf } from './sign-in.ts'

const steps = ['done', 'code', 'enrol'] as const

/**
 * Signing in at an issuer. It sends the browser back to the console's own page, which sends on what it brought: so all
 * of it is done by requests of our own origin, no answer of ours redirects, and the cookies stay `SameSite=Strict`.
 */
export function ssoRoutes(
  api: OperatorApi,
  deps: OperatorDeps,
  signIn: SignIn,
  warn: (message: string) => void,
): void {
  const { pool, secretKeys, now, publicUrl } = deps.desk
  const sso =
    deps.oidc && new OidcSignIn(pool, secretKeys, now, signIn, new OidcIssuer(deps.oidc, warn))
  const setUp = (): OidcSignIn => {
    if (!sso) throw new Problem('not_found', 'Single sign-on is not set up.')
    return sso
  }
  const redirectUri = () => `${publicUrl().replace(/\/+$/, '')}/console/sign-in`
  const browserOf = ({ request }: Pick<Given<never, never, never>, 'request'>): Browser => ({
    token: cookieOf(request, publicUrl(), 'sso'),
    ip: request.ip,
    userAgent: request.headers['user-agent'],
  })

  openRoute(api, {
    method: 'GET',
    url: '/sign-in/sso',
    summary: 'Whether single sign-on is set up',
    tag: 'Sign-in',
    schema: { response: Type.Object({ available: Type.Boolean() }) },
    handler: async () => ({ available: sso !== undefined }),
  })

  openRoute(api, {
    method: 'POST',
    url: '/sign-in/sso/begin',
    summary: 'The page of the issuer to go to; the answer sets a cookie',
    tag: 'Sign-in',
    schema: { response: Type.Object({ url: Type.String() }) },
    handler: async ({ request, reply }) => {
      const { url, token } = await setUp().begin(redirectUri(), request.ip)
      setCookie(reply, publicUrl(), 'sso', token)
      return { url }
    },
  })

  openRoute(api, {
    method: 'POST',
    url: '/sign-in/sso/return',
    summary: 'Send what the issuer sent the browser back with',
    tag: 'Sign-in',
    schema: {
      body: Type.Object(
        { query: Type.String({ maxLength: 8000, description: 'what stands after ?' }) },
        strict,
      ),
      response: Type.Object({
        next: Type.Unsafe<(typeof steps)[number]>({
          type: 'string',
          enum: [...steps],
          description: 'done: signed in; code: send a code; enrol: scan, then send a code',
        }),
        totp: orNull(
          Type.Object({
            secret: Type.String({ description: 'base 32, for typing' }),
            qrcode: Type.String({ description: 'a data: URL of the QR code as PNG' }),
          }),
        ),
      }),
    },
    handler: async (given) => {
      const { reply, body } = given
      const step = await setUp().comeBack(redirectUri(), body.query, browserOf(given))
      if (step.next === 'done') {
        setCookie(reply, publicUrl(), 'session', step.started.session)
        setCookie(reply, publicUrl(), 'sso', undefined)
        return { next: step.next, totp: null }
      }
      setCookie(reply, publicUrl(), 'sso', step.token)
      if (step.next === 'code') return { next: step.next, totp: null }
      const qrcode = qrDataUrl(otpauthUri(step.totpSecret, step.email))
      return { next: step.next, totp: { secret: step.totpSecret, qrcode } }
    },
  })

  openRoute(api, {
    method: 'POST',
    url: '/sign-in/sso/prove',
    summary: 'The second factor after the issuer: a code, or the answer of a passkey',
    tag: 'Sign-in',
    schema: {
      body: Type.Object(
        {
          code: Type.Optional(
            Type.String({ maxLength: 16, description: 'the code the authenticator shows' }),
          ),
          answer: Type.Optional(
            Type.String({
              minLength: 2,
              maxLength: 12_000,
              description: "the browser's answer to /sign-in/passkey/options, as JSON text",
            }),
          ),
        },
        strict,
      ),
      response: Me,
    },
    handler: async (given) => {
      const { reply, body } = given
      const proof = body.answer === undefined ? { code: body.code ?? '' } : { answer: body.answer }
      const { session, operator } = await setUp().prove(publicUrl(), proof, browserOf(given))
      setCookie(reply, publicUrl(), 'session', session)
      setCookie(reply, publicUrl(), 'sso', undefined)
      return meOf(deps, operator)
    },
  })
}
