import type { FastifyReply, FastifyRequest } from 'fastify'
import { publicPath } from '../app.ts'

/**
 * session: who is signed in. invitation: the browser that opened an invitation. device: has signed in before.
 * sso: the browser that began to sign in at an issuer.
 */
export type CookieName = 'session' | 'invitation' | 'device' | 'sso'

const keptForS = { session: undefined, invitation: 86_400, device: 400 * 86_400, sso: 600 }

/**
 * Over TLS the name begins with `__Host-`: browsers take such a cookie from this very host alone, so no other site
 * of the domain can plant one.
 */
function nameAt(publicUrl: string, name: CookieName): string {
  return `${publicUrl.startsWith('https:') ? '__Host-' : ''}sluice_${name}`
}

/** What the browser holds as this cookie; undefined if it is nothing that the service could have set. */
export function cookieOf(
  { headers }: FastifyRequest,
  publicUrl: string,
  name: CookieName,
): string | undefined {
  const held = new RegExp(`(?:^|;) *${nameAt(publicUrl, name)}=([\\w.-]{1,200}) *(?:;|$)`)
  return held.exec(headers.cookie ?? '')?.[1]
}

/**
 * Sets a cookie, or removes it if the value is undefined. Scripts cannot read it, and other sites cannot cause it to
 * be sent.
 */
export function setCookie(
  reply: FastifyReply,
  publicUrl: string,
  name: CookieName,
  value: string | undefined,
): void {
  const maxAgeS = value === undefined ? 0 : keptForS[name]
  const attributes = [
    `${nameAt(publicUrl, name)}=${value ?? ''}`,
    // Browsers require this path of a `__Host-` cookie.
    ...(publicUrl.startsWith('https:')
      ? ['Path=/', 'Secure']
      : [`Path=${publicPath(publicUrl)}/console`]),
    'HttpOnly',
    'SameSite=Strict',
    ...(maxAgeS === undefined ? [] : [`Max-Age=${maxAgeS}`]),
  ]
  reply.header('set-cookie', attributes.join('; '))
}
