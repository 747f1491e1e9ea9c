import type { FastifyInstance } from 'fastify'
import { Problem } from '../../lib/problem.ts'
import { takeLines } from '../../payments/take-lines.ts'
import { NoticeTaker } from '../../payments/take-notice.ts'
import type { CallWatch } from '../../payouts/pay-out.ts'
import type { Desk } from '../../teller/desk.ts'

const maxNoticeBytes = 64 * 1024

/**
 * `POST /providers/{name}/notices`: reports from providers. Each provider signs in its own way. A 200 means
 * that everything in the notice is on disk; events that could not be processed yet are marked so.
 */
export function noticeRoutes(
  app: FastifyInstance,
  desk: Desk,
  { mode, passOn }: { mode: 'sandbox' | 'live'; passOn?: CallWatch['passOn'] | undefined },
): void {
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
        // Another process may have connected it a moment ago.
        await desk.providers.freshen()
        const provider = desk.providers.find(request.params.name)
        if (!provider && desk.providers.connectors?.isUnreadable(request.params.name)) {
          throw new Problem('overloaded', 'Send it again later.', { retryAfterS: 60 })
        }
        if (!provider) throw new Problem('not_found', 'No provider of this name is set up.')
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const { ip, method, headers } = request
        // As the provider knows it, whatever a proxy has taken off.
        const url = desk.publicUrl() + request.url
        const way = { ip, method, path: url.slice(new URL(url).origin.length), url }
        const { lines: reporter, noticeAnswer } = provider
        const answer = (ours: object) =>
          noticeAnswer ? reply.type(noticeAnswer.type).send(noticeAnswer.body) : reply.send(ours)
        if (reporter) {
          const read = reporter.read(body, headers, desk.now(), way)
          if (!read) throw notItsOwn()
          const onError = (error: unknown) => request.log.error({ err: error })
          const movements = await takeLines(desk, reporter, read.lines, mode, onError)
          await taker.take(provider, read.unread, body)
          return answer({ movements, unread: read.unread.length })
        }
        const events = provider.readNotice(body, headers, desk.now(), way)
        if (!events) throw notItsOwn()
        return answer({ results: await taker.take(provider, events, body) })
      },
    )
    done()
  })
}

function notItsOwn(): Problem {
  return new Problem('invalid_signature', 'This is not a notice of the provider.')
}
