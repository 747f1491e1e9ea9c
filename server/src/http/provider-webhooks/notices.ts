import type { FastifyInstance } from 'fastify'
import { Problem } from '../../lib/problem.ts'
import { NoticeTaker } from '../../payments/take-notice.ts'
import type { CallWatch } from '../../payouts/pay-out.ts'
import type { Desk } from '../../teller/desk.ts'

const maxNoticeBytes = 64 * 1024

/**
 * `POST /providers/{name}/notices`: reports from providers. Each provider signs in its own way. A 200 means
 * that everything in the notice is on disk; events that could not be processed yet are marked so.
 */
export function noticeRoutes(app: FastifyInstance, desk: Desk, passOn?: CallWatch['passOn']): void {
  const taker = new NoticeTaker(desk, (error) => app.log.error({ err: error }), passOn)
  // In a separate scope, because providers send bodies of every content type.
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.post<{ Params: { name: string } }>(
      '/providers/:name/notices',
      { bodyLimit: maxNoticeBytes, schema: { hide: true } },
      async (request, reply) => {
        const provider = desk.providers.find(request.params.name)
        if (!provider) throw new Problem('not_found', 'No provider of this name is set up.')
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const events = provider.readNotice(body, request.headers, desk.now())
        if (!events) {
          throw new Problem('invalid_signature', 'This is not a notice of the provider.')
        }
        return reply.send({ results: await taker.take(provider, events, body) })
      },
    )
    done()
  })
}
