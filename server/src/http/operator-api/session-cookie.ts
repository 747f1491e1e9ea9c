import type { FastifyReply, FastifyRequest } from 'fastify'
import { publicPath } from '../app.ts'

const name = 'sluice_session'
const heldToken = new RegExp(`(?:^|;) *${name}=([\\w-]{43}) *(?:;|$)`)

/** What the browser holds; undefined where it holds nothing that could be a token. */
export function sessionTokenOf({ headers }: FastifyRequest): string | undefined {
  return heldToken.exec(headers.cookie ?? '')?.[1]
}

/**
 * Gives the browser a token, or with undefined takes it away. No script can read it, no other site
 * can have it sent, and it goes to the console alone.
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
