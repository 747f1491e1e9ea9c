import { createHmac } from 'node:crypto'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { SharedBuckets } from '../db/shared-buckets.ts'
import { fieldProblem, Problem } from '../lib/problem.ts'
import { derivedKey, type SecretKeys } from '../lib/secret-box.ts'
import { writeAudit } from './audit.ts'
import type { Operator } from './operator.ts'
import { hashPassword, isPassword, passwordFault } from './password.ts'
import { endSessions, hasBeenAt, startSession } from './sessions.ts'
import { checkCode, useStep } from './totp.ts'
import { parseEmail } from './user.ts'

export interface SignInRequest {
  email: string
  password: string
  code: string
  ip: string
  userAgent: string | undefined
}

/**
 * Limits on guessing. They lock no user out permanently: the buckets refill, and attempts from other
 * addresses do not slow a user down at an address they have used before.
 */
const limits = {
  address: { perS: 1 / 6, burst: 30 },
  accountAtAddress: { perS: 1 / 60, burst: 10 },
  accountFromElsewhere: { perS: 1 / 30, burst: 30 },
}

/** Handles sign-in. Recent attempts are in the database, so the limits hold over all processes. */
export class SignIn {
  private readonly pool: Pool
  private readonly secretKeys: SecretKeys
  private readonly buckets: SharedBuckets
  private readonly now: () => Date

  constructor(pool: Pool, secretKeys: SecretKeys, buckets: SharedBuckets, now: () => Date) {
    this.pool = pool
    this.secretKeys = secretKeys
    this.buckets = buckets
    this.now = now
  }

  /**
   * Starts a session. Every failure takes the same work and gives the same answer, so that it does not reveal
   * who is a user or which part was right.
   */
  async signIn(request: SignInRequest): Promise<{ token: string; operator: Operator }> {
    const { ip, userAgent } = request
    const now = this.now()
    const email = parseEmail(request.email) ?? ''
    await this.slowDown('address', ip)
    await this.slowDown('accountAtAddress', `${email} ${ip}`)
    const user = await this.findWithPassword(email)
    const userId = user?.user_id ?? 0n
    if (!(await hasBeenAt(this.pool, userId, ip)))
      await this.slowDown('accountFromElsewhere', email)
    const isRight = await isPassword(user?.password_hash ?? null, request.password)
    const step = await checkCode(this.pool, this.secretKeys, userId, request.code, now)
    const started = await inTransaction(this.pool, async (tx) => {
      const isIn =
        user !== undefined &&
        user.disabled_at === null &&
        isRight &&
        step !== undefined &&
        (await useStep(tx, userId, step))
      const session = isIn ? await startSession(tx, { userId, ip, userAgent }, now) : undefined
      await writeAudit(tx, {
        at: now,
        // The text typed as an address could be anything, even a password, so it is not stored.
        operator: { userId: user?.user_id ?? null, email: user?.email ?? 'unknown', ip },
        action: 'sign_in',
        subject: { kind: 'user', id: user ? String(userId) : 'unknown' },
        agentId: user?.agent_id ?? null,
        outcome: isIn ? 'done' : 'refused',
      })
      return session
    })
    if (!started || !user) {
      throw new Problem(
        'sign_in_refused',
        'Email, password and code do not go together. A code works once: wait for the next one.',
      )
    }
    await this.buckets.forget(this.bucketOf('accountAtAddress', `${email} ${ip}`))
    const { role, agent_id: agentId } = user
    const { token, sessionId } = started
    return { token, operator: { userId, email, role, agentId, sessionId, ip } }
  }

  /** Changes the user's own password and ends all their other sessions. */
  async changePassword(
    operator: Operator,
    given: { currentPassword: string; password: string },
  ): Promise<void> {
    const { userId, email, ip, agentId, sessionId } = operator
    await this.slowDown('accountAtAddress', `${email} ${ip}`)
    const user = await this.findWithPassword(email)
    const subject = { kind: 'user', id: String(userId) }
    const entry = { operator, action: 'change_password', subject, agentId }
    if (!(await isPassword(user?.password_hash ?? null, given.currentPassword))) {
      await writeAudit(this.pool, { ...entry, at: this.now(), outcome: 'refused' })
      throw fieldProblem('current_password', 'is not your password')
    }
    const fault = passwordFault(given.password, email)
    if (fault !== undefined) throw fieldProblem('password', fault)
    const passwordHash = await hashPassword(given.password)
    const now = this.now()
    await inTransaction(this.pool, async (tx) => {
      await tx.query('update users set password_hash = $2, updated_at = $3 where user_id = $1', [
        userId,
        passwordHash,
        now,
      ])
      await endSessions(tx, userId, now, sessionId)
      await writeAudit(tx, { ...entry, at: now })
    })
  }

  private async slowDown(limit: keyof typeof limits, key: string): Promise<void> {
    const bucket = this.bucketOf(limit, key)
    const { taken, waitS } = await this.buckets.takeOne(bucket, limits[limit])
    if (!taken) {
      throw new Problem('rate_limited', 'Too many tries; wait a while.', { retryAfterS: waitS })
    }
  }

  /** The text typed as an address could be anything, so the database gets only a keyed digest of it. */
  private bucketOf(limit: keyof typeof limits, key: string): string {
    const digestKey = derivedKey(this.secretKeys[0], 'sign-in limits')
    return `${limit} ${createHmac('sha256', digestKey).update(key).digest('base64url')}`
  }

  private async findWithPassword(email: string) {
    const { rows } = await this.pool.query<{
      user_id: bigint
      email: string
      role: Operator['role']
      agent_id: bigint | null
      password_hash: string | null
      disabled_at: Date | null
    }>(
      `select user_id, email, role, agent_id, password_hash, disabled_at from users
       where email = $1`,
      [email],
    )
    return rows[0]
  }
}
