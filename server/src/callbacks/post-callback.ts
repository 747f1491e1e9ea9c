import { rootCertificates } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { Agent, type Dispatcher } from 'undici'
import { type CallbackTargets, hostOf, urlFault } from '../agents/callback-url.ts'
import type { ResolveHost } from '../agents/resolve-host.ts'
import { type Answer, ExchangeFailed, exchange } from './exchange.ts'
import { failureInWords, isClosedConnection } from './failure-in-words.ts'
import { makeVettedLookup } from './vetted-lookup.ts'

export const attemptLimitMs = 10_000
const limits = { withinMs: attemptLimitMs, keptBytes: 16 * 1024 }
const acceptance = new Set([200, 201, 202])
/** How long an idle connection is kept if the receiver sets no limit, and the most it may ask for. */
const keepAliveMs = 4_000
const keepAliveMaxMs = 60_000

/** The result of one attempt. */
export interface Attempt {
  startedAt: Date
  durationMs: number
  url: string
  /** The IP address that was dialled, if it got that far. */
  address: string | null
  status: number | null
  responseHeaders: string | null
  responseBody: Buffer | null
  retryAfter: string | undefined
  /** The error for people to read, and as one word for metrics. */
  error: string | null
  reason: string
}

export interface PosterOptions {
  targets: CallbackTargets
  resolveHost: ResolveHost
  now: () => Date
  /** An extra trusted certificate authority, for tests. */
  ca?: string
}

/** A parsed callback address. */
interface Target {
  fault: string | undefined
  origin: string
  path: string
  host: string
  hostname: string
  /** Set if the host is an IP address rather than a name. */
  address: string | null
  /**
   * Each target has its own connections, because undici scans all of an agent's connections for a free one.
   */
  agent: Agent
}

/**
 * Posts callbacks. Each new connection vets the address and dials exactly the address it vetted. It follows
 * no redirects, decompresses nothing, and has one deadline for the whole attempt.
 */
export class CallbackPoster {
  private readonly options: PosterOptions
  private readonly newAgent: () => Agent
  /** Opens a new connection for every request. */
  private readonly freshAgent: Agent
  private readonly targets = new Map<string, Target>()
  private readonly dialled = new Map<string, string>()
  private readonly answeredAt = new Map<string, number>()

  constructor(options: PosterOptions) {
    this.options = options
    const lookup = makeVettedLookup(options.targets, options.resolveHost, (host, address) => {
      if (address === undefined) this.dialled.delete(host)
      else this.dialled.set(host, address)
    })
    const shared = {
      // The lanes limit how many requests are under way.
      connections: null,
      // The attempt's own deadline covers everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 32 * 1024,
      connect: {
        lookup,
        timeout: attemptLimitMs,
        ...(options.ca && { ca: trustedBesides(options.ca) }),
      },
    }
    this.newAgent = () =>
      new Agent({
        ...shared,
        pipelining: 1,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMaxMs,
      })
    this.freshAgent = new Agent({ ...shared, pipelining: 0 })
  }

  async post(url: string, headers: Record<string, string>, body: Buffer): Promise<Attempt> {
    const attempt: Attempt = {
      startedAt: this.options.now(),
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
    const target = this.targetOf(url)
    if (target.fault !== undefined) {
      return { ...attempt, error: `the address ${target.fault}`, reason: 'forbidden_address' }
    }
    const { origin, path } = target
    const request = { origin, path, method: 'POST', headers, body } as const
    const started = performance.now()
    try {
      let answer: Answer
      try {
        answer = await exchange(target.agent, request, limits)
      } catch (error) {
        answer = await this.onceMore(error, request, started)
      }
      if (this.answeredAt.size >= 10_000) this.answeredAt.clear()
      this.answeredAt.set(origin, performance.now())
      attempt.status = answer.status
      attempt.responseHeaders = JSON.stringify(answer.headers)
      attempt.responseBody = answer.body
      attempt.retryAfter = answer.headers['retry-after']
      if (!acceptance.has(answer.status)) {
        attempt.error = `answered ${answer.status} instead of 200`
        attempt.reason = `status_${Math.floor(answer.status / 100)}xx`
      }
    } catch (error) {
      const cause = error instanceof ExchangeFailed ? error.cause : error
      Object.assign(attempt, failureInWords(cause, target.host, attemptLimitMs))
    }
    attempt.address = target.address ?? this.dialled.get(target.hostname) ?? null
    attempt.durationMs = Math.round(performance.now() - started)
    return attempt
  }

  async close(): Promise<void> {
    const agents = [...this.targets.values()].map(({ agent }) => agent)
    await Promise.all([...agents, this.freshAgent].map((agent) => agent.close()))
  }

  /**
   * Retries on a fresh connection if the receiver closed an idle connection just as it was reused: in that
   * case it has not seen the request.
   */
  private onceMore(
    error: unknown,
    request: Dispatcher.DispatchOptions & { origin: string },
    started: number,
  ): Promise<Answer> {
    const answeredAt = this.answeredAt.get(request.origin) ?? Number.NEGATIVE_INFINITY
    const mayHaveBeenIdle = started - answeredAt <= keepAliveMaxMs
    const isUnanswered =
      error instanceof ExchangeFailed && !error.begun && isClosedConnection(error.cause)
    if (!mayHaveBeenIdle || !isUnanswered) throw error
    const withinMs = attemptLimitMs - (performance.now() - started)
    return exchange(this.freshAgent, request, { ...limits, withinMs })
  }

  /**
   * Cached, because parsing and vetting an address costs more than signing and always gives the same result.
   */
  private targetOf(url: string): Target {
    const known = this.targets.get(url)
    if (known) return known
    const target = { ...parseTarget(url, this.options.targets), agent: this.newAgent() }
    if (this.targets.size >= 10_000) {
      for (const { agent } of this.targets.values()) agent.close().catch(() => {})
      this.targets.clear()
    }
    this.targets.set(url, target)
    return target
  }
}

/** The default authorities plus one more, because setting `ca` replaces the defaults. */
export function trustedBesides(authority: string): string[] {
  return [...rootCertificates, authority]
}

function parseTarget(text: string, targets: CallbackTargets): Omit<Target, 'agent'> {
  const fault = urlFault(text, targets)
  const url = fault === undefined ? new URL(text) : undefined
  const name = url ? hostOf(url) : ''
  return {
    fault,
    origin: url?.origin ?? '',
    path: url ? `${url.pathname}${url.search}` : '',
    host: url?.host ?? '',
    hostname: url?.hostname ?? '',
    address: ipaddr.isValid(name) ? name : null,
  }
}
