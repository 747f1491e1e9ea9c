import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import swagger from '@fastify/swagger'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { isConnectionLost, sqlState } from '../db/pool.ts'
import { Problem, type ProblemCode } from '../lib/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The agent behind the request, for the log; set when the door has let it in. */
    appId: string | undefined
  }
}

export interface AppOptions {
  log: FastifyBaseLogger
  trustedProxies: string[]
  publicUrl: () => string
  version: string
  onResponse?: (answer: { route: string; method: string; status: number; seconds: number }) => void
}

const maxBodyBytes = 16 * 1024
const problemType = 'application/problem+json'
/** What every answer says, unless its route says otherwise. */
const manners = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** An HTTP server with the manners all doors share: ids, problems, headers, one log line a request. */
export async function buildApp(
  options: AppOptions,
  addRoutes: (app: FastifyInstance) => void,
): Promise<FastifyInstance> {
  const { log, trustedProxies, publicUrl, version } = options
  const roots = new Set<string>()
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit: maxBodyBytes,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // What comes in over an open connection while draining is answered like everything else.
    return503OnClosing: false,
    requestTimeout: 30_000,
    keepAliveTimeout: 75_000,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    genReqId: newRequestId,
    rewriteUrl: (request) => withoutPrefix(request.url ?? '/', publicPath(publicUrl()), roots),
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, request, reply) => {
      const { status, headers, body } = bareAnswer(problemOf(error), request.id)
      reply.raw.writeHead(status, headers)
      reply.raw.end(body)
    },
  })
  // Bodies reach the door as they were sent; our own checks read the same schemas that are described.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))

  closeSilentConnections(app)
  app.decorateRequest('appId', undefined)
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    for (const [name, value] of Object.entries(manners)) {
      if (!reply.hasHeader(name)) reply.header(name, value)
    }
  })
  app.addHook('onResponse', async (request, reply) => {
    const seconds = reply.elapsedTime / 1000
    // The route's pattern, never the address: addresses can hold tokens and names.
    const route = request.routeOptions.url ?? 'none'
    const { method, ip } = request
    const status = reply.statusCode
    options.onResponse?.({ route, method, status, seconds })
    const line = { method, route, status, ms: reply.elapsedTime, ip }
    request.log.info(request.appId === undefined ? line : { ...line, app_id: request.appId })
  })
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    if (problem.status >= 500) {
      request.log.error({ err: problem.cause ?? problem }, problem.message)
    }
    if (problem.retryAfterS !== undefined) reply.header('retry-after', problem.retryAfterS)
    return reply
      .code(problem.status)
      .type(problemType)
      .send(JSON.stringify(problem.toJSON(request.id)))
  })
  app.setNotFoundHandler(() => {
    throw new Problem('not_found', 'No endpoint has this path; GET /openapi.json lists them.')
  })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sluice',
        version,
        description: 'Deposit and withdraw orders with signed callbacks.',
      },
      servers: [{ url: publicUrl() }],
      components: {
        securitySchemes: {
          appId: { type: 'apiKey', in: 'header', name: 'x-appid' },
          signature: {
            type: 'apiKey',
            in: 'header',
            name: 'x-signature',
            description:
              't=<unix seconds>,v1=<hex>: HMAC-SHA256, keyed with the secret, of t + "." + METHOD + " " + path with query + "." + raw body',
          },
        },
      },
    },
    hideUntagged: true,
  })
  app.addHook('onRoute', ({ url }) => {
    roots.add(rootOf(url))
  })
  addRoutesAndRefuseOtherMethods(app, addRoutes)
  return app
}

/** The path part of PUBLIC_URL, without a slash at its end. */
export function publicPath(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, '')
}

/**
 * A proxy may take the path of PUBLIC_URL away or leave it. Where that path is, say, /payment, what
 * is left of /payment/payment/deposit still begins with it, so only what leads to a route is cut.
 */
function withoutPrefix(url: string, prefix: string, roots: ReadonlySet<string>): string {
  if (prefix === '' || !(url.startsWith(`${prefix}/`) || url === prefix)) return url
  const rest = url.slice(prefix.length) || '/'
  return roots.has(rootOf(rest)) ? rest : url
}

/** The first segment of a path. */
function rootOf(url: string): string {
  return url.split(/[/?]/)[1] ?? ''
}

/**
 * Browsers connect ahead of need. Node waits for such a connection to ask for something; whoever has
 * not sent a byte by the time the server closes is not waiting for an answer.
 */
function closeSilentConnections(app: FastifyInstance): void {
  const connected = new Set<Socket>()
  app.server.on('connection', (socket) => {
    connected.add(socket)
    socket.once('close', () => connected.delete(socket))
  })
  app.addHook('preClose', async () => {
    for (const socket of connected) if (socket.bytesRead === 0) socket.destroy()
  })
}

/** A path that exists answers other methods with 405 and the ones it takes. */
function addRoutesAndRefuseOtherMethods(
  app: FastifyInstance,
  addRoutes: (app: FastifyInstance) => void,
): void {
  const taken = new Map<string, string[]>()
  let isComplete = false
  app.addHook('onRoute', ({ url, method }) => {
    if (!isComplete) taken.set(url, [...(taken.get(url) ?? []), ...[method].flat()])
  })
  addRoutes(app)
  isComplete = true
  for (const [url, methods] of taken) {
    const allow = methods.join(', ')
    app.route({
      url,
      method: allMethods.filter((method) => !methods.includes(method)),
      schema: { hide: true },
      handler: (_request, reply) => {
        reply.header('allow', allow)
        throw new Problem('method_not_allowed', `This path takes ${allow}.`)
      },
    })
  }
}

/** What is told of an error: its own words, or those for what fastify or the database said. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isConnectionLost(error) || sqlState(error) === '57014') {
    return new Problem('overloaded', 'The database did not answer in time; repeat the request.', {
      retryAfterS: 1,
      cause: error,
    })
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known: Record<string, [ProblemCode, string]> = {
    FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', `A body has at most ${maxBodyBytes} bytes.`],
    FST_ERR_CTP_INVALID_MEDIA_TYPE: [
      'unsupported_media_type',
      'Send the body as content-type: application/json.',
    ],
    // A QUERY without a body: a method that has one, and that nothing here takes.
    FST_ERR_ROUTE_MISSING_CONTENT_TYPE: [
      'unsupported_media_type',
      'Send the body as content-type: application/json.',
    ],
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
      'malformed_json',
      'The body is not as long as content-length says.',
    ],
    FST_ERR_BAD_URL: ['not_found', 'The path is not a valid URL path.'],
    // No id or token of ours is as long.
    FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'No endpoint has this path.'],
    FST_ERR_ASYNC_CONSTRAINT: ['not_found', 'No endpoint has this path.'],
  }
  const [problem, detail] = known[code] ?? [
    'internal',
    'The request may or may not have taken effect; repeat it, and report the request_id if it stays so.',
  ]
  return new Problem(problem, detail, { cause: error })
}

function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** A problem with all an answer has, for where there is no reply that hooks could complete. */
function bareAnswer(problem: Problem, requestId: string) {
  const body = JSON.stringify(problem.toJSON(requestId))
  const headers = {
    ...manners,
    'x-request-id': requestId,
    'content-type': problemType,
    'content-length': Buffer.byteLength(body),
  }
  return { status: problem.status, headers, body }
}

/** Bytes that are not HTTP, or headers that are too large: there is no request to answer yet. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('headers_too_large', 'The headers of a request have at most 16 KiB.')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new Problem('request_timeout', 'Send the whole request within 30 seconds.')
        : new Problem('malformed_request', 'This is not a request the service can read.')
  const { status, headers, body } = bareAnswer(problem, newRequestId())
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
