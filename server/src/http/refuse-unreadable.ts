import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../lib/problem.ts'
import { afterAnswers } from './bound-connections.ts'

export const problemType = 'application/problem+json'

/** What every answer says, unless its route says otherwise. */
export const manners = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** A whole request must be there after so long. */
export const requestTimeoutMs = 30_000

/** How long we read on behind a last answer: closed at once, the other side might never see it. */
const lingerMs = 2_000

export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** A problem with all an answer has, for where there is no reply that hooks could complete. */
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

/** `expect` with anything but 100-continue. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const problem = new Problem('expectation_failed', 'Send expect: 100-continue or no expect.')
  const { status, headers, body } = bareAnswer(problem, newRequestId())
  // The body may be on its way or not: nobody knows where the next request begins.
  response.writeHead(status, { ...headers, connection: 'close' }).end(body)
}

/** What Node's parser says of bytes that it could not read. */
export interface UnreadableError extends Error {
  code?: string
  /** What was being parsed, and how far it went. */
  rawPacket?: unknown
  bytesParsed?: number | undefined
}

/**
 * Bytes that are not HTTP, or come too slowly, or are too many: there is no request that a route could
 * answer. Requests before them are answered first. `allowOf` tells what a path takes.
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

/** Gives a connection its last answer, behind those that it still waits for. */
export function endWith(socket: Socket, problem: Problem, more: Record<string, string> = {}): void {
  afterAnswers(socket, () => {
    // Its last answer has been given already, by what asked for the connection to be closed.
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

/** The line in which the parser stopped, where it is that of a request. */
function requestLineOf({ rawPacket, bytesParsed = 0 }: UnreadableError) {
  if (!Buffer.isBuffer(rawPacket)) return undefined
  const text = rawPacket.toString('latin1')
  const begin = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1
  const [, target] = /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/\d\.\d\r?\n/.exec(text.slice(begin)) ?? []
  return target === undefined ? undefined : { target }
}
