import { answerCallback, type CallbackHandlerOptions, maxBodyBytes } from './answer-callback.ts'
import type { CallbackHeaders } from './verify-callback.ts'

export interface FastifyCallbackOptions extends CallbackHandlerOptions {
  /** The path of the route, below the prefix of the registration; / by default. */
  path?: string
}

/** The part of a Fastify instance that the plugin needs. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (
      request: unknown,
      body: Uint8Array,
      done: (error: null, body: Uint8Array) => void,
    ) => void,
  ): unknown
  post(
    path: string,
    options: { bodyLimit: number },
    handler: (request: FastifyRequestPart, reply: FastifyReplyPart) => Promise<unknown>,
  ): unknown
}

interface FastifyRequestPart {
  headers: CallbackHeaders
  body: unknown
}

interface FastifyReplyPart {
  code(status: number): FastifyReplyPart
  header(name: string, value: string): FastifyReplyPart
  send(body: string): unknown
}

/**
 * A plugin for `app.register(fastifyCallbacks, { path, secrets, onCallback })`. It leaves the body
 * unparsed inside its own scope; all other routes keep their parsers.
 */
export function fastifyCallbacks(
  scope: FastifyScope,
  options: FastifyCallbackOptions,
  done: () => void,
): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) =>
    parsed(null, body),
  )
  scope.post(options.path ?? '/', { bodyLimit: maxBodyBytes }, async (request, reply) => {
    const { status, body } = await answerCallback(() => request.body, request.headers, options)
    return reply.code(status).header('content-type', 'application/json').send(body)
  })
  done()
}
