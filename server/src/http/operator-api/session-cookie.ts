import { fastifyCookie as cookie } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { publicPath } from '../app.ts'

const name = 'sluice_session'

/** What the browser holds; undefined where it holds nothing that could be a token. */
export function sessionTokenOf({ headers }: FastifyRequest): string | undefined {
  const token = cookie.parse(headers.cookie ?? '')[name]
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/** Gives the browser a token, or with undefined takes it away. No script can read it. */
export function setSessionCookie(
  reply: FastifyReply,
  publicUrl: string,
  token: string | undefined,
): void {
  const value = cookie.serialize(name, token ?? '', {
    path: `${publicPath(publicUrl)}/console`,
    httpOnly: true,
    sameSite: 'strict',
    secure: publicUrl.startsWith('https:'),
    ...(token === undefined && { maxAge: 0 }),
  })
  reply.header('set-cookie', value)
}
