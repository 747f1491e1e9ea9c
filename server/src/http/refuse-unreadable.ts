import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../lib/problem.ts'
import { afterAnswers } from './bound-connections.ts'

export const problemType = 'application/problem+json'

/** The headers of every answer, unless its route sets them differently. */
export const manners = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** The whole request must arrive within this time. */
export const requestTimeoutMs = 30_000

/**
 * How long to keep reading after the last answer. If the connection closed at once, the client might never
 * see it.
 */
const lingerMs = 2_000

export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** A complete answer for a problem where there is no reply for hooks to complete. */
export function bareAnswer(problem: Problem, requestId: string) {
  const body = JSON.stringify(problem.toJSON(requestId))
  const headers = {
    ...manners,
    'x-request-id': requestId,
    'content-type': problemType,
    'content-length': Buffer.byteLength(body),
  }
  return { status: problem.status, headers, body }
}

/** Refuses an `expect` header other than 100-continue. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const problem = new Problem('expectation_failed', 'Send expect: 100-continue or no expect.')
  const { status, headers, body } = bareAnswer(problem, newRequestId())
  // The body may or may not follow, so it is unknown where the next request would begin.
  response.writeHead(status, { ...headers, connection: 'close' }).end(body)
}

/** The error of Node's parser for bytes that it could not read. */
export interface UnreadableError extends Error {
  code?: string
  /** The bytes being parsed, and how far the parser got. */
  rawPacket?: unknown
  bytesParsed?: number | undefined
}

/**
 * Answers bytes that are not HTTP, too slow or too many, for which there is no request that a route could
 * answer. Earlier requests are answered first. `allowOf` returns the methods that a path accepts.
 */
export function refuseUnreadable(
  error: UnreadableError,
  socket: Socket,
  allowOf: (path: string) => string,
): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const line = requestLineOf(error)
  if (error.code === 'HPE_INVALID_METHOD' && line) {
    const allow = allowOf(line.target)
    endWith(socket, methodNotAllowed(allow), { allow })
  } else if (error.code === 'HPE_INVALID_VERSION' && line) {
    endWith(socket, versionNotSupported())
  } else {
    endWith(socket, problemOfParser(error))
  }
}

export function methodNotAllowed(allow: string): Problem {
  return new Problem('method_not_allowed', `This path takes ${allow}.`)
}

/** Sends the connection's last answer, after those that are still pending. */
export function endWith(socket: Socket, problem: Problem, more: Record<string, string> = {}): void {
  afterAnswers(socket, () => {
    // A request that asked to close the connection has already received the last answer.
    if (!socket.writable) return
    const { status, headers, body } = bareAnswer(problem, newRequestId())
    const lines = Object.entries({ ...headers, ...more, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
  })
}

function problemOfParser({ code }: UnreadableError): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'The headers of a request have at most 16 KiB.')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('body_too_large', 'Send chunks without extensions.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem(
        'request_timeout',
        `Send the whole request within ${requestTimeoutMs / 1000} seconds.`,
      )
    case 'HPE_PAUSED_H2_UPGRADE':
      return versionNotSupported()
    default:
      return new Problem('malformed_request', 'This is not a request the service can read.')
  }
}

export function versionNotSupported(): Problem {
  return new Problem('http_version_not_supported', 'Send HTTP/1.1.')
}

/** The line where the parser stopped, if it is a request line. */
function requestLineOf({ rawPacket, bytesParsed = 0 }: UnreadableError) {
  if (!Buffer.isBuffer(rawPacket)) return undefined
  const text = rawPacket.toString('latin1')
  const begin = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1
  const [, target] = /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/\d\.\d\r?\n/.exec(text.slice(begin)) ?? []
  return target === undefined ? undefined : { target }
}
