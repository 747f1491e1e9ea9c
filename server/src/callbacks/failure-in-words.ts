import { errors } from 'undici'
import { DeadlinePassed } from './exchange.ts'

/** The host name resolves to an address that may not be dialled. */
export class ForbiddenAddress extends Error {}

/** The host name has no address, or the name servers could not be reached. */
export class NameNotResolved extends Error {}

export interface Failure {
  /** For people to read. */
  error: string
  /** For metrics. */
  reason: string
}

/** Describes why an attempt got no answer. */
export function failureInWords(error: unknown, host: string, limitMs: number): Failure {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  const timedOut = {
    error: `timed out: no answer within ${limitMs / 1000} s`,
    reason: 'timeout',
  }
  if (error instanceof AggregateError && error.errors.length > 0) {
    return failureInWords(error.errors[0], host, limitMs)
  }
  if (error instanceof ForbiddenAddress) {
    return { error: `the address is not allowed: ${message}`, reason: 'forbidden_address' }
  }
  if (error instanceof NameNotResolved) return nameFailure(codeOf(error.cause), host)
  if (error instanceof DeadlinePassed) return timedOut
  if (/TIMEOUT/i.test(code) && !code.startsWith('E')) return timedOut
  switch (code) {
    case 'ECONNREFUSED':
      return { error: `connection refused by ${host}`, reason: 'refused' }
    case 'ETIMEDOUT':
      return { error: `timed out: no connection to ${host}`, reason: 'timeout' }
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return { error: `${host} cannot be reached`, reason: 'unreachable' }
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return { error: `${host} closed the connection without an answer`, reason: 'closed' }
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { error: 'the answer has too many headers', reason: 'bad_answer' }
    default:
  }
  if (/^(CERT_|ERR_TLS|DEPTH_|SELF_|UNABLE_TO_|HOSTNAME_|EPROTO|ERR_SSL)/.test(code)) {
    return { error: `TLS: ${message}`, reason: 'tls' }
  }
  if (error instanceof errors.HTTPParserError) {
    return { error: `the answer is not HTTP: ${message}`, reason: 'bad_answer' }
  }
  return { error: message, reason: 'other' }
}

function nameFailure(code: string, host: string): Failure {
  const reason = 'name_not_found'
  if (['ENOTFOUND', 'ENODATA'].includes(code)) return { error: `name not found: ${host}`, reason }
  if (['ECONNREFUSED', 'EREFUSED'].includes(code)) {
    return { error: `the name servers refused to answer for ${host}`, reason }
  }
  return { error: `the name servers did not answer for ${host}`, reason }
}

/** Whether the receiver closed the connection. */
export function isClosedConnection(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
