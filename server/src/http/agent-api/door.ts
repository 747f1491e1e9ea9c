import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../../agents/agent.ts'
import type { AgentFinder, LiveKey } from '../../agents/agent-finder.ts'
import type { AgentRate } from '../../agents/agent-rate.ts'
import type { SecretScope } from '../../agents/agent-secrets.ts'
import { isAllowedIp } from '../../agents/allowed-ip.ts'
import type { KeyUse } from '../../agents/key-use.ts'
import { addressKey } from '../../lib/address-key.ts'
import { Problem } from '../../lib/problem.ts'
import {
  clockToleranceS,
  matchesAny,
  parseSignatureHeader,
  signRequest,
} from '../../lib/signature.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'

export interface DoorOptions {
  agents: AgentFinder
  keyUse: KeyUse
  rate: AgentRate
  now: () => Date
  /** The path of PUBLIC_URL. Agents sign it even if a proxy strips it. */
  publicPath: () => string
}

/** A request whose agent is authenticated. */
export interface Signed {
  agent: Agent
  request: FastifyRequest
  reply: FastifyReply
  /** The raw body. */
  body: Buffer
  /** Refuses a secret that has none of these scopes, where what it takes depends on what is named. */
  checkScope: (...oneOf: readonly SecretScope[]) => void
}

/** Whether a secret opens anything: one that signs callbacks does not. */
function opens({ scopes }: LiveKey): boolean {
  return !scopes?.includes('callback')
}

const failuresPerS = 5
const failuresAtOnce = 300

/**
 * A secret of the usual length that no agent has. Checking an unknown app id against it takes as long as
 * checking a known one.
 */
const nobodysSecret = `sk_${'0'.repeat(64)}`

/** Whole seconds, like `t`: the clock value in our error messages is the one used in the check. */
const unixSeconds = (at: Date) => Math.floor(at.getTime() / 1000)

/**
 * Guards the agents' API: checks signature, clock, address and rate, in this order. It wraps each handler, so
 * that no route can be reached without it.
 */
export function makeDoor({ agents, keyUse, rate: agentRate, now, publicPath }: DoorOptions) {
  const failures = new TokenBuckets()

  /** A refusal, unless its address has had too many. They are not taken from the agent's rate, which a thief could use up. */
  const slowDown = (request: FastifyRequest, refusal: Problem): Problem => {
    const { taken, waitS } = failures.take(
      addressKey(request.ip),
      failuresPerS,
      failuresAtOnce,
      now().getTime(),
    )
    if (taken) return refusal
    return new Problem('rate_limited', 'Too many requests that are refused.', {
      retryAfterS: waitS,
    })
  }

  const refuse = (request: FastifyRequest, code: 'invalid_signature' | 'stale_signature') =>
    slowDown(
      request,
      new Problem(
        code,
        code === 'stale_signature'
          ? `t must be within ${clockToleranceS} seconds of the service's clock, which says ${unixSeconds(now())}.`
          : 'Send x-appid and x-signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.METHOD path.body">, keyed with the secret.',
      ),
    )

  async function authenticate(
    request: FastifyRequest,
    body: Buffer,
  ): Promise<{ agent: Agent; key: LiveKey }> {
    const appId = request.headers['x-appid']
    const header = request.headers['x-signature']
    const parsed = typeof header === 'string' ? parseSignatureHeader(header) : undefined
    if (typeof appId !== 'string' || appId === '' || appId.length > 64 || !parsed) {
      throw refuse(request, 'invalid_signature')
    }
    const found = await agents.find(appId)
    request.askedBy = found?.agent.agentId
    const path = publicPath() + request.url
    // Always checks two secrets, even if the agent has fewer, so that the timing does not reveal whether there is
    // such an agent.
    const candidates = [found?.keys[0], found?.keys[1], ...(found?.scoped ?? []).filter(opens)]
    const matched = candidates.filter((candidate) => {
      const secret = candidate?.secret ?? nobodysSecret
      const expected = signRequest(secret, parsed.t, request.method, path, body)
      return matchesAny(expected, parsed.signatures) && candidate !== undefined
    })
    const [key] = matched
    if (!found || !key) throw refuse(request, 'invalid_signature')
    if (Math.abs(unixSeconds(now()) - Number(parsed.t)) > clockToleranceS) {
      throw refuse(request, 'stale_signature')
    }
    return { agent: found.agent, key }
  }

  async function checkRate(agent: Agent, reply: FastifyReply): Promise<void> {
    if (agent.rateLimit === 0) return
    const rate = await agentRate.take(agent)
    reply.header('ratelimit-limit', agent.rateLimit)
    reply.header('ratelimit-remaining', rate.remaining)
    reply.header('ratelimit-reset', rate.resetS)
    if (!rate.taken) {
      throw new Problem('rate_limited', `The limit is ${agent.rateLimit} requests a second.`, {
        retryAfterS: rate.waitS,
      })
    }
  }

  /** A secret needs one of the scopes: without any, the scope to read. */
  return (handle: (signed: Signed) => Promise<FastifyReply>, ...scopes: SecretScope[]) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.headers['content-encoding'] !== undefined) {
        throw new Problem('unsupported_media_type', 'Send the body without content-encoding.')
      }
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const { agent, key } = await authenticate(request, body)
      request.appId = agent.appId
      // Who signs well from a forbidden address has a stolen secret: that is noted, too.
      keyUse.note(agent, key, request.ip)
      const needed = scopes.length > 0 ? scopes : (['read'] as const)
      const isWithdrawal = needed.every((scope) => scope === 'withdraw')
      if (
        !isAllowedIp(request.ip, agent.allowedIps) ||
        !isAllowedIp(request.ip, key.allowedIps ?? []) ||
        (isWithdrawal && !isAllowedIp(request.ip, agent.withdrawIps))
      ) {
        const what = isWithdrawal ? 'Withdrawals' : 'Requests'
        const detail = `${what} from ${request.ip} are not allowed.`
        throw slowDown(request, new Problem('ip_not_allowed', detail))
      }
      const checkScope = (...oneOf: readonly SecretScope[]) => {
        if (!key.scopes || oneOf.some((scope) => key.scopes?.includes(scope))) return
        const detail = `This secret has the scopes ${key.scopes.join(', ')}; this takes ${oneOf.join(' or ')}.`
        throw slowDown(request, new Problem('scope_missing', detail))
      }
      checkScope(...needed)
      await checkRate(agent, reply)
      return handle({ agent, request, reply, body, checkScope })
    }
}

export type Door = ReturnType<typeof makeDoor>
