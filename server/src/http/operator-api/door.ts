import type { FastifyRequest } from 'fastify'
import { isAllowedIp } from '../../agents/allowed-ip.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import type { Pool } from '../../db/pool.ts'
import type { SharedBuckets } from '../../db/shared-buckets.ts'
import { Problem } from '../../lib/problem.ts'
import type { SecretKeys } from '../../lib/secret-box.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'
import { writeAudit } from '../../operators/audit.ts'
import { countSessionFailure, forgetFailures } from '../../operators/code-failures.ts'
import { lookerId, may, type Operator, type Permission } from '../../operators/operator.ts'
import { isPasskeyProof, usePasskeyProof } from '../../operators/passkeys.ts'
import { findSession } from '../../operators/sessions.ts'
import { useCode } from '../../operators/totp.ts'
import { cookieOf } from './console-cookies.ts'
import type { LookAround } from './look-around.ts'

export interface OperatorDoorOptions {
  pool: Pool
  secretKeys: SecretKeys
  buckets: SharedBuckets
  now: () => Date
  publicUrl: () => string
  lookAround: LookAround | undefined
  /** From where people of the house come, and from where users of agents; empty: from everywhere. */
  consoleAddresses: readonly string[]
  portalAddresses: readonly string[]
  warn: (message: string) => void
}

/** Limits one user's wrong codes: a few at once, then one every half minute. */
const codes = { burst: 5, perS: 1 / 30 }

/** Limits one user's refused requests: enough for a page that sends many at once, but not for a flood. */
const refusalsAtOnce = 100
const refusalsPerS = 1

const safeMethods = ['GET', 'HEAD']

export function isXmlType(type: string | undefined): boolean {
  return /^(application|text)\/xml\b/i.test(type ?? '')
}

/** Guards the console's API: checks origin, session, role and, where money moves, a fresh code. */
export class OperatorDoor {
  private readonly options: OperatorDoorOptions
  private readonly refusals = new TokenBuckets()

  constructor(options: OperatorDoorOptions) {
    this.options = options
  }

  /**
   * Refuses requests that another site could make a browser send. A form cannot set these headers, and a
   * script of another origin is not allowed to.
   */
  checkOrigin(request: FastifyRequest): void {
    if (safeMethods.includes(request.method)) return
    const { origin, 'content-type': type, 'x-sluice-console': mark } = request.headers
    const isOwn = origin === undefined || isSameOrigin(origin, this.options.publicUrl())
    // A form cannot send XML either; only some routes take it.
    const isXml = request.routeOptions.config.takesXml === true && isXmlType(type)
    if (mark !== '1' || !(isXml || /^application\/json\b/i.test(type ?? '')) || !isOwn) {
      throw new Problem(
        'csrf_refused',
        'Send content-type: application/json and x-sluice-console: 1, from the address of PUBLIC_URL.',
      )
    }
  }

  /** The operator who is signed in. */
  async operatorOf(request: FastifyRequest): Promise<Operator> {
    const token = cookieOf(request, this.options.publicUrl(), 'session')
    // A page's background refresh does not show that a person is present.
    const isUse = request.headers['x-sluice-background'] === undefined
    const { pool, now, lookAround } = this.options
    const looker = token === undefined ? undefined : lookAround?.operatorOf(token, request)
    if (looker && !safeMethods.includes(request.method)) {
      throw new Problem('not_permitted', 'This session is for looking around.')
    }
    const operator = looker ?? (token && (await findSession(pool, token, request.ip, now(), isUse)))
    if (!operator) {
      throw new Problem('not_signed_in', 'Sign in; a session ends by itself when it is not used.')
    }
    // Who sees the console as an agent's users do is of the house.
    const isOfHouse = operator.agentId === null || operator.view !== undefined
    const { consoleAddresses, portalAddresses } = this.options
    if (!isAllowedIp(request.ip, isOfHouse ? consoleAddresses : portalAddresses)) {
      throw new Problem('ip_not_allowed', `Your account is not used from ${request.ip}.`)
    }
    if (operator.view && request.routeOptions.config.leavesView !== true) {
      this.checkView(operator.view, request.method)
    }
    return operator
  }

  /** Whoever sees the console as an agent's users do only looks, and only for a while. */
  private checkView({ role, until }: NonNullable<Operator['view']>, method: string): void {
    const isOver = until === null || until <= this.options.now()
    if (isOver || !may({ role }, 'view_as_agents')) {
      throw new Problem('view_ended', 'The time to see this console is over. Leave it.')
    }
    if (!safeMethods.includes(method)) {
      throw new Problem(
        'not_permitted',
        'You see this console as the users of an agent do. Leave it to change anything.',
      )
    }
  }

  /**
   * Refuses what the role may not do and audits it, because it may be an attempt to break in. To an agent's
   * users, routes that are not for them do not exist.
   */
  async checkRole(
    operator: Operator,
    { permission, agents }: { permission: Permission; agents: 'own' | 'none' },
    route: string,
  ): Promise<void> {
    const isOutside = operator.role === 'agent' && agents === 'none'
    if (!isOutside && may(operator, permission)) return
    if (operator.userId === lookerId)
      throw new Problem('not_permitted', 'The role viewer may not do this.')
    // A page of their own that is still open asks for what this agent's users do not have.
    if (operator.view)
      throw new Problem('not_found', 'There is nothing here for users of an agent.')
    const { pool, now } = this.options
    const key = String(operator.userId)
    const { taken, waitS } = this.refusals.take(key, refusalsPerS, refusalsAtOnce, now().getTime())
    // Each refusal writes an audit row, so their number is limited.
    if (!taken) {
      throw new Problem('rate_limited', 'Too much was asked that the role may not do.', {
        retryAfterS: waitS,
      })
    }
    await writeAudit(pool, {
      at: now(),
      operator,
      action: 'use_route',
      subject: { kind: 'route', id: route },
      agentId: operator.agentId,
      after: { needs: permission },
      outcome: 'refused',
    })
    if (isOutside) throw new Problem('not_found', 'There is nothing here for users of an agent.')
    throw new Problem('not_permitted', `The role ${operator.role} may not do this.`)
  }

  async checkCode(operator: Operator, code: unknown): Promise<void> {
    if (typeof code !== 'string' || code === '') {
      throw new Problem('code_required', 'Send the code your authenticator shows now, as code.')
    }
    const { pool, secretKeys, buckets, now } = this.options
    const key = String(operator.userId)
    const { taken, waitS } = await buckets.takeOne(`codes ${key}`, codes)
    if (!taken) {
      throw new Problem('rate_limited', 'Too many codes.', { retryAfterS: waitS })
    }
    const isFresh = isPasskeyProof(code)
      ? await usePasskeyProof(pool, operator, code, now())
      : await useCode(pool, secretKeys, operator.userId, code, now())
    if (!isFresh) {
      if (await this.countFailure(operator)) {
        throw new Problem('code_refused', 'Too many wrong codes: sign in again.')
      }
      throw new Problem('code_refused', 'Wait for the next code and send that one.')
    }
    await forgetFailures(pool, operator.userId)
    await buckets.forget(`codes ${key}`)
  }

  /** Returns true if it was one too many, which ends all sessions of the user. */
  private async countFailure(operator: Operator): Promise<boolean> {
    const { pool, now, warn } = this.options
    const at = now()
    const isLast = await inTransaction(pool, async (tx) => {
      await writeAudit(tx, {
        at,
        operator,
        action: 'give_code',
        subject: { kind: 'user', id: String(operator.userId) },
        agentId: operator.agentId,
        outcome: 'refused',
      })
      return countSessionFailure(tx, operator, at)
    })
    if (isLast) warn(`user ${operator.userId} gave too many wrong codes: all their sessions ended`)
    return isLast
  }
}

/**
 * Whether an origin is that of PUBLIC_URL. The header Host says nothing about it: whoever makes a browser send the
 * request chooses that too. All names of this machine are one.
 */
function isSameOrigin(origin: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const [one, own] = [new URL(origin), new URL(publicUrl)]
  if (one.origin === own.origin) return true
  const loopback = ['localhost', '127.0.0.1', '[::1]']
  return (
    one.protocol === own.protocol &&
    one.port === own.port &&
    loopback.includes(one.hostname) &&
    loopback.includes(own.hostname)
  )
}
