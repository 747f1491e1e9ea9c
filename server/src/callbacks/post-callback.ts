import type { LookupFunction } from 'node:net'
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, errors, request } from 'undici'
import { hostOf, type Mode, urlFault, vettedAddresses } from '../agents/callback-url.ts'
import type { ResolveHost } from '../agents/resolve-host.ts'

export const attemptLimitMs = 10_000
const keptBytes = 16 * 1024
const keepAliveMs = 4_000

/** What one attempt came to. */
export interface Attempt {
  startedAt: Date
  durationMs: number
  url: string
  /** The address that was dialled, where it came to that. */
  address: string | null
  status: number | null
  responseHeaders: string | null
  responseBody: Buffer | null
  retryAfter: string | undefined
  /** What went wrong, in words a person understands, and in one word for figures. */
  error: string | null
  reason: string
}

export interface PosterOptions {
  mode: Mode
  resolveHost: ResolveHost
  now: () => Date
  /** Trusted besides the system's own; for tests. */
  ca?: string
}

/**
 * Posts callbacks. The address is vetted on every connection and is then the very one that is
 * dialled. No redirects, no decompression, and one deadline for all of it.
 */
export class CallbackPoster {
  private readonly options: PosterOptions
  private readonly agent: Agent
  private readonly dialled = new Map<string, string>()
  private readonly answeredAt = new Map<string, number>()

  constructor(options: PosterOptions) {
    this.options = options
    const lookup: LookupFunction = (host, { all }, done) => {
      const giveUp = (error: Error) => {
        this.dialled.delete(host)
        done(error, '', 0)
      }
      vettedAddresses(host.replace(/\.$/, ''), options.mode, options.resolveHost).then((found) => {
        if (typeof found === 'string') return giveUp(new ForbiddenAddress(found))
        const entries = found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
        const first = entries[0]
        if (!first) return giveUp(new ForbiddenAddress(`${host} has no address`))
        this.dialled.set(host, first.address)
        if (all) return done(null, entries)
        return done(null, first.address, first.family)
      }, giveUp)
    }
    this.agent = new Agent({
      // No bound for a host: agents may share one, and none of them is to wait for another. What is
      // under way is bounded by the lanes.
      connections: null,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: 60_000,
      headersTimeout: attemptLimitMs,
      bodyTimeout: attemptLimitMs,
      maxHeaderSize: 32 * 1024,
      connect: { lookup, timeout: attemptLimitMs, ...(options.ca && { ca: options.ca }) },
    })
  }

  async post(url: string, headers: Record<string, string>, body: string): Promise<Attempt> {
    const startedAt = this.options.now()
    const started = performance.now()
    const attempt: Attempt = {
      startedAt,
      durationMs: 0,
      url,
      address: null,
      status: null,
      responseHeaders: null,
      responseBody: null,
      retryAfter: undefined,
      error: null,
      reason: 'accepted',
    }
    const fault = urlFault(url, this.options.mode)
    if (fault !== undefined) {
      return { ...attempt, error: `the address ${fault}`, reason: 'forbidden_address' }
    }
    const deadline = AbortSignal.timeout(attemptLimitMs)
    const { host, origin } = new URL(url)
    const idleMs = started - (this.answeredAt.get(origin) ?? Number.NEGATIVE_INFINITY)
    try {
      const answer = await this.send(url, headers, body, deadline).catch((error) => {
        // The receiver may have closed an idle connection at the moment it was used again: then it
        // has not seen the request, and a fresh connection settles it.
        if (idleMs > 2 * keepAliveMs || !isClosedSocket(error)) throw error
        return this.send(url, { ...headers, connection: 'close' }, body, deadline)
      })
      this.answeredAt.set(origin, performance.now())
      if (this.answeredAt.size > 10_000) this.answeredAt.clear()
      attempt.status = answer.statusCode
      attempt.responseHeaders = JSON.stringify(answer.headers)
      const asked = answer.headers['retry-after']
      attempt.retryAfter = Array.isArray(asked) ? asked[0] : asked
      // The status has come: whatever happens to the body, it is the answer.
      attempt.responseBody = await firstBytes(answer.body).catch(() => Buffer.alloc(0))
      if (![200, 201, 202].includes(answer.statusCode)) {
        attempt.error = `answered ${answer.statusCode} instead of 200`
        attempt.reason = `status_${Math.floor(answer.statusCode / 100)}xx`
      }
    } catch (error) {
      Object.assign(attempt, inWords(error, host))
    }
    const hostName = hostOf(new URL(url))
    attempt.address = ipaddr.isValid(hostName)
      ? hostName
      : (this.dialled.get(new URL(url).hostname) ?? null)
    attempt.durationMs = Math.round(performance.now() - started)
    return attempt
  }

  close(): Promise<void> {
    return this.agent.close()
  }

  private send(url: string, headers: Record<string, string>, body: string, signal: AbortSignal) {
    return request(url, { method: 'POST', headers, body, signal, dispatcher: this.agent })
  }
}

class ForbiddenAddress extends Error {}

/** As much of a body as is kept. The rest is not read. */
async function firstBytes(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= keptBytes) break
    }
  } catch {
    // Cut off by the receiver or by the deadline: what has come is kept.
  }
  body.destroy()
  return Buffer.concat(chunks).subarray(0, keptBytes)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function isClosedSocket(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error))
}

function inWords(error: unknown, host: string): { error: string; reason: string } {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  const cause = error instanceof AggregateError ? error.errors[0] : undefined
  if (cause) return inWords(cause, host)
  if (error instanceof ForbiddenAddress) {
    return { error: `the address is not allowed: ${message}`, reason: 'forbidden_address' }
  }
  if (error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name)) {
    return { error: `timed out: no answer within ${attemptLimitMs / 1000} s`, reason: 'timeout' }
  }
  if (/TIMEOUT/i.test(code) && !code.startsWith('E')) {
    return { error: `timed out: no answer within ${attemptLimitMs / 1000} s`, reason: 'timeout' }
  }
  switch (code) {
    case 'ENOTFOUND':
    case 'ENODATA':
      return { error: `name not found: ${host}`, reason: 'name_not_found' }
    case 'ETIMEOUT':
    case 'ESERVFAIL':
    case 'EREFUSED':
    case 'ECANCELLED':
      return { error: `the name servers did not answer for ${host}`, reason: 'name_not_found' }
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
