import type { Socket } from 'node:net'
import swagger from '@fastify/swagger'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify'
import { isConnectionLost, isContention } from '../db/pool.ts'
import { Problem, type ProblemCode } from '../lib/problem.ts'
import type { Span, Tracer } from '../lib/tracing.ts'
import { boundConnections, type ConnectionLimits, connectionLimits } from './bound-connections.ts'
import {
  bareAnswer,
  endWith,
  manners,
  methodNotAllowed,
  newRequestId,
  problemType,
  refuseExpectation,
  refuseUnreadable,
  requestTimeoutMs,
  versionNotSupported,
} from './refuse-unreadable.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The agent that sent the request, for the log; set once the request is authenticated. */
    appId: string | undefined
    /** The agent that the request names, whether it proved it or not: for the log that agents see. */
    askedBy: bigint | undefined
    /** The problem that it was answered with. */
    problem: Problem | undefined
    /** Set where requests are traced. */
    span: Span | undefined
  }
}

export interface AppOptions {
  log: FastifyBaseLogger
  trustedProxies: string[]
  publicUrl: () => string
  version: string
  /** Overrides the default limits on what a connection may have under way. */
  connectionLimits?: ConnectionLimits
  onResponse?: (answer: Answered) => void
  /** Follows requests; undefined if nobody collects traces. */
  tracer?: Tracer | undefined
}

export interface Answered {
  route: string
  method: string
  status: number
  seconds: number
  /** What the request is traced as. */
  span: Span | undefined
}

const maxBodyBytes = 16 * 1024
/** Once seen over TLS, the service is asked over TLS alone. */
const oneYear = 'max-age=31536000'
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * Builds an HTTP server with what all APIs share: request ids, problems, headers, one log line per request.
 */
export async function buildApp(
  options: AppOptions,
  addRoutes: (app: FastifyInstance) => void,
): Promise<FastifyInstance> {
  const { log, trustedProxies, publicUrl, version } = options
  const roots = new Set<string>()
  const taken = new Map<string, string[]>()
  const allowOf = (url: string) =>
    methodsOf(taken, withoutPrefix(url, publicPath(publicUrl()), roots)).join(', ')
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit: maxBodyBytes,
    // A part of a path may be as long as a request may be: what it names is not there, as a short name is not.
    routerOptions: { maxParamLength: 20_000 },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // While draining, requests on open connections are still answered normally.
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 75_000,
    http: {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      // Checked below, which answers with a body that says why.
      requireHostHeader: false,
    },
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    genReqId: newRequestId,
    rewriteUrl: (request) => withoutPrefix(request.url ?? '/', publicPath(publicUrl()), roots),
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, allowOf),
    frameworkErrors: (error, request, reply) => {
      const { status, headers, body } = bareAnswer(problemOf(error), request.id)
      reply.raw.writeHead(status, headers)
      reply.raw.end(body)
    },
  })
  // Bodies reach the handlers as raw bytes; our own checks use the same schemas as the API description.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))

  closeSilentConnections(app)
  boundConnections(app.server, options.connectionLimits ?? connectionLimits)
  app.server.on('checkExpectation', refuseExpectation)
  app.server.on('connect', ({ url }, socket: Socket) => {
    const allow = allowOf(url ?? '')
    endWith(socket, methodNotAllowed(allow), { allow })
  })
  app.decorateRequest('appId', undefined)
  app.decorateRequest('askedBy', undefined)
  app.decorateRequest('problem', undefined)
  app.decorateRequest('span', undefined)
  if (options.tracer) traceRequests(app, options.tracer)
  app.addHook('onRequest', async ({ raw, method }, reply) => {
    if (raw.httpVersionMajor !== 1) throw versionNotSupported()
    const hosts = raw.headersDistinct.host?.length ?? 0
    if (hosts > 1 || (hosts === 0 && raw.httpVersionMinor > 0)) {
      throw new Problem('malformed_request', 'Send the header Host, and send it once.')
    }
    if (!allMethods.some((each) => each === method)) {
      const allow = allowOf(raw.url ?? '')
      reply.header('allow', allow)
      throw methodNotAllowed(allow)
    }
  })
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (publicUrl().startsWith('https:')) reply.header('strict-transport-security', oneYear)
    for (const [name, value] of Object.entries(manners)) {
      if (!reply.hasHeader(name)) reply.header(name, value)
    }
  })
  app.addHook('onResponse', async (request, reply) => {
    const seconds = reply.elapsedTime / 1000
    // Logs the route's pattern, never the URL, which can contain tokens and names.
    const route = request.routeOptions.url ?? 'none'
    const { method, ip } = request
    const status = reply.statusCode
    const { span } = request
    span?.set({
      ...{ 'http.request.method': method, 'http.route': route, 'sluice.app_id': request.appId },
      'http.response.status_code': status,
    })
    span?.end(status >= 500)
    options.onResponse?.({ route, method, status, seconds, span })
    const line = { method, route, status, ms: reply.elapsedTime, ip }
    request.log.info(request.appId === undefined ? line : { ...line, app_id: request.appId })
  })
  app.setErrorHandler((error, request, reply) => {
    const isGone = request.raw.destroyed && !request.raw.complete
    const problem = isGone ? clientGone() : problemOf(error)
    request.problem = problem
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
  addRoutesAndRefuseOtherMethods(app, taken, addRoutes)
  return app
}

/** Agents' requests and the reports of providers and banks: what orders come from, and what becomes of them. */
const traced = /^\/(payment|providers|bank-feed)\//

/** A request is a span, in the trace that it names; what it asks for belongs to it. */
function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', async (request) => {
    const { url } = request.routeOptions
    if (url === undefined || !traced.test(url)) return
    request.span = tracer.request(`${request.method} ${url}`, request.headers.traceparent)
  })
  // Once the body is read: what comes after it is called from here.
  app.addHook('preValidation', ({ span }, _reply, done) => {
    if (span) tracer.within(span, done)
    else done()
  })
}

/** The path part of PUBLIC_URL, without a trailing slash. */
export function publicPath(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, '')
}

/**
 * A proxy may strip the path of PUBLIC_URL or keep it. If that path is, say, /payment, then the rest of
 * /payment/payment/deposit still begins with it, so the prefix is stripped only if the rest leads to a route.
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
 * Browsers open connections in advance, and Node waits for them to send a request. A connection that has not
 * sent a byte by the time the server closes expects no answer.
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

/** Makes every existing path answer other methods with 405 and the methods it accepts. */
function addRoutesAndRefuseOtherMethods(
  app: FastifyInstance,
  taken: Map<string, string[]>,
  addRoutes: (app: FastifyInstance) => void,
): void {
  let isComplete = false
  app.addHook('onRoute', ({ url, method }) => {
    if (!isComplete) taken.set(url, [...(taken.get(url) ?? []), ...[method].flat()])
  })
  addRoutes(app)
  isComplete = true
  for (const [url, methods] of taken) {
    const allow = methods.join(', ')
    const refuse = async (_request: unknown, reply: FastifyReply) => {
      reply.header('allow', allow)
      throw methodNotAllowed(allow)
    }
    app.route({
      url,
      method: allMethods.filter((method) => !methods.includes(method)),
      schema: { hide: true },
      // Refuses before the body is read, whatever it may be.
      onRequest: refuse,
      handler: refuse,
    })
  }
}

/** The methods that a path accepts or, if no route matches, all methods that any path accepts. */
function methodsOf(taken: ReadonlyMap<string, string[]>, url: string): readonly string[] {
  const path = url.split('?')[0] ?? ''
  const isPath = (pattern: string) => {
    const literal = pattern.replaceAll('.', '\\.')
    return new RegExp(`^${literal.replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`).test(path)
  }
  const exactness = (pattern: string) => pattern.replace(/:\w+|\*/g, '').length
  const [found] = [...taken]
    .filter(([pattern]) => isPath(pattern))
    .sort(([one], [other]) => exactness(other) - exactness(one))
  return found?.[1] ?? allMethods.filter((method) => method !== 'OPTIONS')
}

/** For the log and the metrics: there is nobody left to read it. */
function clientGone(): Problem {
  return new Problem('malformed_request', 'The connection ended before the request did.')
}

/**
 * The problem to answer an error with: the error itself, or a problem for errors of fastify or the database.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isConnectionLost(error) || isContention(error)) {
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
    // A QUERY request without a content type; no route here accepts that method.
    FST_ERR_ROUTE_MISSING_CONTENT_TYPE: [
      'unsupported_media_type',
      'Send the body as content-type: application/json.',
    ],
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
      'malformed_json',
      'The body is not as long as content-length says.',
    ],
    FST_ERR_BAD_URL: ['not_found', 'The path is not a valid URL path.'],
    // None of our ids or tokens is this long.
    FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'No endpoint has this path.'],
    FST_ERR_ASYNC_CONSTRAINT: ['not_found', 'No endpoint has this path.'],
  }
  const [problem, detail] = known[code] ?? [
    'internal',
    'The request may or may not have taken effect; repeat it, and report the request_id if it stays so.',
  ]
  return new Problem(problem, detail, { cause: error })
}
