import type { FastifyReply, FastifyRequest } from 'fastify'
import { publicPath } from '../app.ts'

/**
 * Over TLS the name begins with `__Host-`: browsers take such a cookie from this very host alone, so no other site
 * of the domain can plant one.
 */
function nameAt(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-sluice_session' : 'sluice_session'
}

/** The token in the browser's cookie; undefined if there is nothing that could be a token. */
export function sessionTokenOf({ headers }: FastifyRequest, publicUrl: string): string | undefined {
  const held = new RegExp(`(?:^|;) *${nameAt(publicUrl)}=([\\w-]{43}) *(?:;|$)`)
  return held.exec(headers.cookie ?? '')?.[1]
}

/**
 * Sets the session cookie, or removes it if the token is undefined. Scripts cannot read it, other sites
 * cannot cause it to be sent.
 */
export function setSessionCookie(
  reply: FastifyReply,
  publicUrl: string,
  token: string | undefined,
): void {
  const attributes = [
    `${nameAt(publicUrl)}=${token ?? ''}`,
    // Browsers require this path of a `__Host-` cookie.
    ...(publicUrl.startsWith('https:')
      ? ['Path=/', 'Secure']
      : [`Path=${publicPath(publicUrl)}/console`]),
    'HttpOnly',
    'SameSite=Strict',
    ...(token === undefined ? ['Max-Age=0'] : []),
  ]
  reply.header('set-cookie', attributes.join('; '))
}
