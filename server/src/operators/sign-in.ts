import { createHmac } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { SharedBuckets } from '../db/shared-buckets.ts'
import { addressKey } from '../lib/address-key.ts'
import { fieldProblem, Problem } from '../lib/problem.ts'
import { derivedKey, type SecretKeys } from '../lib/secret-box.ts'
import { writeAudit } from './audit.ts'
import { countSignInFailure, forgetFailures } from './code-failures.ts'
import { type DeviceOwner, isKnownDevice, makeDevice } from './device.ts'
import type { Operator } from './operator.ts'
import { ownerOfPasskey, removePasskeys, useAssertion } from './passkeys.ts'
import { hashPassword, isPassword, passwordFault } from './password.ts'
import { endSessions, hasBeenAt, hasBeenNear, startSession } from './sessions.ts'
import { tellOwner } from './tell-people.ts'
import { checkCode, useStep } from './totp.ts'
import { parseEmail } from './user.ts'

export interface SignInRequest {
  email: string
  password: string
  code: string
  ip: string
  userAgent: string | undefined
  /** What the browser kept of an earlier sign-in. */
  device: string | undefined
}

/**
 * Limits on guessing. They lock nobody out of a device that has signed in before: it has a limit of its own, whatever
 * others try from wherever. All limits hold over all processes, and their buckets are kept until they are full.
 */
const limits = {
  address: { perS: 1 / 6, burst: 30 },
  accountAtAddress: { perS: 1 / 60, burst: 10 },
  accountFromElsewhere: { perS: 1 / 30, burst: 30 },
  device: { perS: 1 / 60, burst: 10 },
  /** How many refused sign-ins of nobody we know are put on record, over all addresses. */
  recordsOfStrangers: { perS: 1 / 10, burst: 100 },
}

interface UserWithPassword {
  user_id: bigint
  email: string
  role: Operator['role']
  agent_id: bigint | null
  password_hash: string | null
  disabled_at: Date | null
  codes_stopped_at: Date | null
  devices_since: Date | null
}

const signInColumns = `user_id, email, role, agent_id, password_hash, disabled_at, codes_stopped_at,
  devices_since`

/** Handles sign-in. Recent attempts are in the database, so the limits hold over all processes. */
export class SignIn {
  private readonly pool: Pool
  private readonly secretKeys: SecretKeys
  private readonly buckets: SharedBuckets
  private readonly now: () => Date
  private readonly warn: (message: string) => void

  constructor(
    pool: Pool,
    secretKeys: SecretKeys,
    buckets: SharedBuckets,
    now: () => Date,
    warn: (message: string) => void,
  ) {
    this.pool = pool
    this.secretKeys = secretKeys
    this.buckets = buckets
    this.now = now
    this.warn = warn
  }

  /**
   * Starts a session. Every failure takes the same work and gives the same answer, so that it does not reveal
   * who is a user or which part was right.
   */
  async signIn(
    request: SignInRequest,
  ): Promise<{ token: string; device: string; operator: Operator }> {
    const { ip, userAgent } = request
    const now = this.now()
    const email = parseEmail(request.email) ?? ''
    const user = await this.findWithPassword(email)
    const userId = user?.user_id ?? 0n
    const owner = ownerOf(user)
    const onDevice =
      owner !== undefined && isKnownDevice(this.secretKeys, owner, request.device, now)
    if (onDevice) await this.slowDown('device', request.device ?? '')
    else await this.slowDownStranger(email, userId, ip)
    const isRight = await isPassword(user?.password_hash ?? null, request.password)
    const step = await checkCode(this.pool, this.secretKeys, userId, request.code, now)
    const isOnRecord = user !== undefined || (await this.isRecordedStranger())
    let isStopped = false
    const started = await inTransaction(this.pool, async (tx) => {
      const isIn =
        user !== undefined &&
        user.disabled_at === null &&
        (user.codes_stopped_at === null || onDevice) &&
        isRight &&
        step !== undefined &&
        (await useStep(tx, userId, step))
      if (isIn) await alertOfNewPlace(tx, { userId, ip, onDevice }, now)
      const session = isIn ? await startSession(tx, { userId, ip, userAgent }, now) : undefined
      // The text typed as an address could be anything, even a password, so it is not stored.
      const by = { userId: user?.user_id ?? null, email: user?.email ?? 'unknown', ip }
      if (isOnRecord) {
        await writeAudit(tx, {
          at: now,
          operator: by,
          action: 'sign_in',
          subject: { kind: 'user', id: user ? String(userId) : 'unknown' },
          agentId: user?.agent_id ?? null,
          outcome: isIn ? 'done' : 'refused',
        })
      }
      if (isIn) await forgetFailures(tx, userId)
      else if (user && user.disabled_at === null && isRight) {
        const about = { userId, agentId: user.agent_id }
        isStopped = await countSignInFailure(tx, about, onDevice, by, now)
      }
      return session
    })
    if (isStopped) {
      this.warn(
        onDevice
          ? `a device of user ${userId} gave too many wrong codes and is a stranger's now`
          : `somebody has the password of user ${userId} and guesses codes: it signs in no new device until it is changed`,
      )
    }
    if (!started || !user || !owner) {
      throw new Problem(
        'sign_in_refused',
        'Email, password and code do not go together. A code works once: wait for the next one.',
      )
    }
    // A device's sign-in says nothing about the others at its address.
    const bucket = onDevice
      ? this.bucketOf('device', request.device ?? '')
      : this.bucketOf('accountAtAddress', `${email} ${addressKey(ip)}`)
    await this.buckets.forget(bucket)
    const { role, agent_id: agentId } = user
    const { token, sessionId } = started
    const device = makeDevice(this.secretKeys, owner, now)
    return { token, device, operator: { userId, email, role, agentId, sessionId, ip } }
  }

  /** Starts a session for whoever answers a challenge with a passkey, which has verified the person. */
  async signInWithPasskey(
    publicUrl: string,
    request: Omit<SignInRequest, 'email' | 'password' | 'code'> & { answer: string },
  ): Promise<{ token: string; device: string; operator: Operator }> {
    const { ip, userAgent } = request
    const now = this.now()
    await this.slowDownAddress(ip)
    const started = await inTransaction(this.pool, async (tx) => {
      const userId = await ownerOfPasskey(tx, request.answer)
      // Locked before the passkey, so that a reset or a suspension happens entirely before or after it.
      const { rows } = await tx.query<UserWithPassword>(
        `select ${signInColumns} from users where user_id = $1 and password_hash is not null for update`,
        [userId],
      )
      const [user] = rows
      const owner = ownerOf(user)
      if (userId === undefined || !user || !owner) return undefined
      const { email, role, agent_id: agentId } = user
      const isIn =
        (await useAssertion(tx, publicUrl, request.answer, undefined, now)) === userId &&
        user.disabled_at === null
      await writeAudit(tx, {
        at: now,
        operator: { userId, email, ip },
        action: 'sign_in',
        subject: { kind: 'user', id: String(userId) },
        agentId,
        outcome: isIn ? 'done' : 'refused',
        after: { with: 'passkey' },
      })
      if (!isIn) return undefined
      const onDevice = isKnownDevice(this.secretKeys, owner, request.device, now)
      await alertOfNewPlace(tx, { userId, ip, onDevice }, now)
      const session = await startSession(tx, { userId, ip, userAgent }, now)
      const { sessionId } = session
      const operator = { userId, email, role, agentId, sessionId, ip }
      return {
        token: session.token,
        device: makeDevice(this.secretKeys, owner, now),
        operator,
      }
    })
    if (!started) throw new Problem('sign_in_refused', 'This passkey does not sign in here.')
    return started
  }

  async slowDownAddress(ip: string): Promise<void> {
    await this.slowDown('address', addressKey(ip))
  }

  /** For the codes of somebody who has signed in elsewhere. */
  async slowDownUser(userId: bigint, ip: string): Promise<void> {
    await this.slowDown('accountAtAddress', `user ${userId} ${addressKey(ip)}`)
  }

  /** What the browser of a user keeps who has just signed in there by other means. */
  async deviceFor(email: string): Promise<string | undefined> {
    const owner = ownerOf(await this.findWithPassword(email))
    return owner && makeDevice(this.secretKeys, owner, this.now())
  }

  /**
   * Changes the user's own password and ends all their other sessions. Other devices are strangers then, and passkeys
   * are removed unless they are to be kept: whoever had the old password may have added one.
   */
  async changePassword(
    operator: Operator,
    given: { currentPassword: string; password: string; keepsPasskeys: boolean },
  ): Promise<void> {
    const { userId, email, ip, agentId, sessionId } = operator
    await this.slowDown('accountAtAddress', `${email} ${addressKey(ip)}`)
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
      await tx.query(
        `update users set password_hash = $2, updated_at = $3, code_failures = 0,
           codes_stopped_at = null, proposals_since = $3 where user_id = $1`,
        [userId, passwordHash, now],
      )
      await endSessions(tx, userId, now, sessionId)
      if (!given.keepsPasskeys) await removePasskeys(tx, userId)
      await tellOwner(tx, userId, {
        what: 'password',
        words: 'Your password was changed.',
        at: now,
      })
      await writeAudit(tx, { ...entry, at: now, after: { keeps_passkeys: given.keepsPasskeys } })
    })
  }

  private async slowDownStranger(email: string, userId: bigint, ip: string): Promise<void> {
    const from = addressKey(ip)
    await this.slowDown('address', from)
    await this.slowDown('accountAtAddress', `${email} ${from}`)
    if (!(await hasBeenAt(this.pool, userId, ip))) {
      await this.slowDown('accountFromElsewhere', email)
    }
  }

  /** Whether a refused sign-in of nobody we know is still put on record. */
  async isRecordedStranger(): Promise<boolean> {
    const bucket = this.bucketOf('recordsOfStrangers', '')
    return (await this.buckets.takeOne(bucket, limits.recordsOfStrangers)).taken
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
    const { rows } = await this.pool.query<UserWithPassword>(
      `select ${signInColumns} from users where email = $1`,
      [email],
    )
    return rows[0]
  }
}

/** Tells a user that they signed in with a browser or from an address that they never did before. */
async function alertOfNewPlace(
  tx: Tx,
  { userId, ip, onDevice }: { userId: bigint; ip: string; onDevice: boolean },
  at: Date,
): Promise<void> {
  if (onDevice && (await hasBeenNear(tx, userId, ip))) return
  await raiseAlert(tx, {
    kind: 'sign_in_new_place',
    subject: `user ${userId} ${addressKey(ip)}`,
    words: `Somebody signed in to your account from ${ip}, ${onDevice ? 'where you never were before' : 'with a browser that never did before'}. If that was not you: change your password under Your account, which ends that session and removes all passkeys, and tell an admin.`,
    to: { userId },
    at,
  })
}

function ownerOf(
  user: { user_id: bigint; password_hash: string | null; devices_since: Date | null } | undefined,
): DeviceOwner | undefined {
  return (
    user && {
      userId: user.user_id,
      passwordHash: user.password_hash,
      devicesSince: user.devices_since,
    }
  )
}
