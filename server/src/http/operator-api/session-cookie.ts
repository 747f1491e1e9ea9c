import type { FastifyReply, FastifyRequest } from 'fastify'
import { publicPath } from '../app.ts'

const name = 'sluice_session'
const heldToken = new RegExp(`(?:^|;) *${name}=([\\w-]{43}) *(?:;|$)`)

/** The token in the browser's cookie; undefined if there is nothing that could be a token. */
export function sessionTokenOf({ headers }: FastifyRequest): string | undefined {
  return heldToken.exec(headers.cookie ?? '')?.[1]
}

/**
 * Sets the session cookie, or removes it if the token is undefined. Scripts cannot read it, other sites
 * cannot cause it to be sent, and only the console receives it.
 */
export function setSessionCookie(
  reply: FastifyReply,
  publicUrl: string,
  token: string | undefined,
): void {
  const attributes = [
    `${name}=${token ?? ''}`,
    `Path=${publicPath(publicUrl)}/console`,
    'HttpOnly',
    'SameSite=Strict',
    ...(publicUrl.startsWith('https:') ? ['Secure'] : []),
    ...(token === undefined ? ['Max-Age=0'] : []),
  ]
  reply.header('set-cookie', attributes.join('; '))
}
