import type { FastifyInstance } from 'fastify'

export interface SecurityContact {
  /** A mailto: or https: address. */
  contact: string
  /** Where the rules for reports are, if anywhere. */
  policy: string | undefined
}

const validDays = 90
const dayMs = 86_400_000

/**
 * `/.well-known/security.txt`: whom to tell about a weakness (RFC 9116). The operator stands by the contact for as long
 * as the service is run with it, so it expires a while after the day on which it is read.
 */
export function securityTxtRoute(
  app: FastifyInstance,
  { contact, policy }: SecurityContact,
  publicUrl: () => string,
  now: () => Date,
): void {
  app.get('/.well-known/security.txt', async (_request, reply) => {
    const today = Math.floor(now().getTime() / dayMs) * dayMs
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${new Date(today + validDays * dayMs).toISOString()}`,
      'Preferred-Languages: en',
      `Canonical: ${publicUrl()}/.well-known/security.txt`,
      ...(policy === undefined ? [] : [`Policy: ${policy}`]),
    ]
    reply.header('cache-control', 'public, max-age=3600')
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`)
  })
}
