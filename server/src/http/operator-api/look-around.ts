import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../../lib/clock.ts'
import { lookerId, type Operator } from '../../operators/operator.ts'
import { hashOfToken, newToken } from '../../operators/sessions.ts'

const linkMs = 5 * 60_000
const sessionMs = 12 * 3_600_000

/** Where a link for looking around may work at all. */
export interface Place {
  mode: 'sandbox' | 'live'
  host: string
  trustedProxies: readonly string[]
  publicUrl: () => string
}

/**
 * A way into a sandbox on one's own machine without an authenticator, for looking only. Links and sessions are kept in
 * this process and end with it; no user is made for them, and nothing that they ask for can change anything.
 */
export class LookAround {
  private readonly place: Place
  private readonly now: Clock
  private link: { hash: Buffer; untilMs: number } | undefined
  private readonly sessions = new Map<string, number>()

  constructor(place: Place, now: Clock) {
    this.place = place
    this.now = now
  }

  /** The address of a link for one use within five minutes; undefined where there is none. */
  makeLink(): string | undefined {
    if (!this.isHere()) return undefined
    const token = newToken()
    this.link = { hash: hashOfToken(token), untilMs: this.now().getTime() + linkMs }
    return `${this.place.publicUrl().replace(/\/+$/, '')}/console/look#${token}`
  }

  /** Uses a link up; answers with the token of a session. */
  open(token: string, request: FastifyRequest): string | undefined {
    const { link } = this
    if (!link || !this.admits(request)) return undefined
    if (!timingSafeEqual(link.hash, hashOfToken(token))) return undefined
    this.link = undefined
    if (link.untilMs < this.now().getTime()) return undefined
    const session = newToken()
    this.sessions.set(keyOf(session), this.now().getTime() + sessionMs)
    return session
  }

  /** Who looks around with this cookie. */
  operatorOf(token: string, request: FastifyRequest): Operator | undefined {
    const untilMs = this.sessions.get(keyOf(token))
    if (untilMs === undefined || untilMs < this.now().getTime() || !this.admits(request)) {
      return undefined
    }
    const { ip } = request
    return { ...looker, ip }
  }

  /** A sandbox that only this machine can reach, and that no proxy stands before. */
  private isHere(): boolean {
    const { mode, host, trustedProxies, publicUrl } = this.place
    const isOwn = isLoopback(host) && isLoopback(new URL(publicUrl()).hostname)
    return mode === 'sandbox' && trustedProxies.length === 0 && isOwn
  }

  /** Also what came over this machine from elsewhere is not admitted: by another name, or passed on. */
  private admits({ socket, headers }: FastifyRequest): boolean {
    const isPassedOn = Object.keys(headers).some((name) => passedOn.test(name))
    const host = (headers.host ?? '').replace(/:\d+$/, '')
    return this.isHere() && isLoopback(socket.remoteAddress) && isLoopback(host) && !isPassedOn
  }
}

const looker = {
  userId: lookerId,
  email: 'looking around',
  role: 'viewer',
  agentId: null,
  sessionId: '',
} as const

const passedOn =
  /^(forwarded|via|cdn-loop|cf-.*|x-forwarded.*|x-real-ip|x-original-.*|.*client-?ip|x-envoy-.*|x-amzn-.*)$/

const keyOf = (token: string) => hashOfToken(token).toString('hex')

function isLoopback(host: string | undefined): boolean {
  const name = (host ?? '').replace(/^\[|\]$/g, '')
  if (name === 'localhost') return true
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback'
}
