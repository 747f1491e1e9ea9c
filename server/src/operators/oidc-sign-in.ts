import { createHmac, timingSafeEqual } from 'node:crypto'
import { Secret } from 'otpauth'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import { derivedKey, type SecretKeys, seal } from '../lib/secret-box.ts'
import { writeAudit } from './audit.ts'
import { countSignInFailure, forgetFailures } from './code-failures.ts'
import { noteCredentials } from './credentials.ts'
import type { Bound, Identity, OidcIssuer } from './oidc-issuer.ts'
import type { Operator } from './operator.ts'
import { useAssertion } from './passkeys.ts'
import { endSessions, hasBeenNear, hashOfToken, newToken, startSession } from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import { tellAdmins, tellOwner } from './tell-people.ts'
import { checkCode, stepOfCode, useStep } from './totp.ts'
import { parseEmail, type User, type UserRow, userColumns, userFromRow } from './user.ts'

/** How long somebody may take at the issuer, and then for the code. */
const ssoMs = 10 * 60_000

/** Who asks, and what their browser holds. */
export interface Browser {
  token: string | undefined
  ip: string
  userAgent: string | undefined
}

interface Started {
  session: string
  operator: Operator
}

/** What a browser does next, after the issuer has named its user. */
export type SsoStep =
  | { next: 'done'; started: Started }
  | { next: 'code'; token: string }
  | { next: 'enrol'; token: string; email: string; totpSecret: string }

/**
 * Sign-in at an issuer. A browser holds a token, and everything that binds its sign-in is derived from that; the
 * database keeps its hash, so that each token is used once over all processes.
 */
export class OidcSignIn {
  private readonly pool: Pool
  private readonly secretKeys: SecretKeys
  private readonly now: () => Date
  private readonly signIn: SignIn
  private readonly issuer: OidcIssuer

  constructor(
    pool: Pool,
    secretKeys: SecretKeys,
    now: () => Date,
    signIn: SignIn,
    issuer: OidcIssuer,
  ) {
    this.pool = pool
    this.secretKeys = secretKeys
    this.now = now
    this.signIn = signIn
    this.issuer = issuer
  }

  /** Begins: the issuer's page, and the token for the browser. */
  async begin(redirectUri: string, ip: string): Promise<{ url: string; token: string }> {
    await this.signIn.slowDownAddress(ip)
    const token = newToken()
    const url = await this.issuer.signInPage(redirectUri, this.boundTo(token))
    await this.pool.query('delete from oidc_sign_ins where expires_at <= $1', [this.now()])
    await this.wait(this.pool, token, null)
    return { url, token }
  }

  /** Takes what the issuer sent the browser back with. Refused people are refused for good reasons, in words. */
  async comeBack(redirectUri: string, query: string, browser: Browser): Promise<SsoStep> {
    await this.signIn.slowDownAddress(browser.ip)
    const token = browser.token ?? ''
    const bound = this.boundTo(token)
    const state = new URLSearchParams(query).get('state') ?? ''
    if (!isSame(state, bound.state) || !(await this.take(token))) throw notUnderWay()
    const identity = await this.issuer.identityOf(redirectUri, query, bound)
    const admitted = await this.admit(identity, browser.ip)
    if ('refusal' in admitted) throw new Problem('sso_refused', admitted.refusal)
    const { user } = admitted
    if (user.isEnrolled && identity.usedSecondFactor) {
      return { next: 'done', started: await this.startAtOnce(user, browser) }
    }
    const next = newToken()
    await this.wait(this.pool, next, user.userId)
    if (user.isEnrolled) return { next: 'code', token: next }
    return { next: 'enrol', token: next, email: user.email, totpSecret: this.totpSecretOf(next) }
  }

  /** The second step: the code of an authenticator, which is enrolled with it if there is none, or a passkey. */
  async prove(
    publicUrl: string,
    given: { code: string } | { answer: string },
    browser: Browser,
  ): Promise<Started> {
    await this.signIn.slowDownAddress(browser.ip)
    const token = browser.token ?? ''
    const userId = await this.waitingUser(this.pool, token)
    if (userId === undefined) throw notUnderWay()
    await this.signIn.slowDownUser(userId, browser.ip)
    const now = this.now()
    const code = 'code' in given ? given.code : ''
    const step = await checkCode(this.pool, this.secretKeys, userId, code, now)
    const started = await inTransaction(this.pool, async (tx) => {
      // Locked, so that a reset or a suspension happens entirely before or after it, and the token is used once.
      const user = await lockUser(tx, 'user_id = $1', [userId])
      if (!user || user.disabledAt || (await this.waitingUser(tx, token)) !== userId)
        return undefined
      if (!user.isEnrolled) return this.enrol(tx, user, token, code, browser)
      const isProved =
        'answer' in given
          ? (await useAssertion(tx, publicUrl, given.answer, undefined, now)) === userId
          : user.codesStoppedAt === null && step !== undefined && (await useStep(tx, userId, step))
      if (isProved) {
        await forgetFailures(tx, userId)
        await this.forget(tx, token)
        return this.start(tx, user, browser, 'answer' in given ? 'sso and passkey' : 'sso and code')
      }
      const by = { userId, email: user.email, ip: browser.ip }
      await auditOf(tx, 'sign_in', by, now, { outcome: 'refused', after: { with: 'sso' } })
      await countSignInFailure(tx, { userId, agentId: null }, false, by, now)
      return undefined
    })
    if (!started) {
      throw new Problem('code_refused', 'A code works once: wait for the next one and send that.')
    }
    return started
  }

  /** Enrols the authenticator that the browser was shown, for a user who has none. */
  private async enrol(tx: Tx, user: User, token: string, code: string, browser: Browser) {
    const { userId, email } = user
    const now = this.now()
    const secret = this.totpSecretOf(token)
    const step = stepOfCode(secret, code, now)
    if (step === undefined) return undefined
    await tx.query(
      `update users set sealed_totp_secret = $2, last_totp_step = $3, updated_at = $4,
         code_failures = 0, device_failures = 0, codes_stopped_at = null where user_id = $1`,
      [userId, seal(this.secretKeys, `user ${userId}`, secret), step, now],
    )
    await tx.query('delete from oidc_sign_ins where user_id = $1', [userId])
    await endSessions(tx, userId, now)
    await auditOf(tx, 'enrol_authenticator', { userId, email, ip: browser.ip }, now)
    const words = 'An authenticator was enrolled for your account.'
    await tellOwner(tx, userId, { what: 'has credentials', words, at: now })
    return this.start(tx, user, browser, 'sso and code')
  }

  private async startAtOnce({ userId }: User, browser: Browser): Promise<Started> {
    return inTransaction(this.pool, async (tx) => {
      // Locked again: a reset or a suspension may have come in between.
      const user = await lockUser(tx, 'user_id = $1', [userId])
      if (!user?.isEnrolled || user.disabledAt) throw notUnderWay()
      return this.start(tx, user, browser, 'sso')
    })
  }

  private async start(tx: Tx, user: User, browser: Browser, how: string): Promise<Started> {
    const { userId, email, role, agentId } = user
    const { ip, userAgent } = browser
    const now = this.now()
    if (!(await hasBeenNear(tx, userId, ip))) {
      await raiseAlert(tx, {
        kind: 'sign_in_new_place',
        subject: `user ${userId} ${ip}`,
        words: `Somebody signed in to your account from ${ip}, where you never were before. If that was not you: end that session under Your account, and tell an admin and whoever runs your single sign-on.`,
        to: { userId },
        at: now,
      })
    }
    const { token, sessionId } = await startSession(tx, { userId, ip, userAgent }, now)
    await auditOf(tx, 'sign_in', { userId, email, ip }, now, { after: { with: how } })
    return { session: token, operator: { userId, email, role, agentId, sessionId, ip } }
  }

  /** The user whom an identity is, created or changed as the claim says; or why there is none. */
  private async admit(
    identity: Identity,
    ip: string,
  ): Promise<{ user: User } | { refusal: string }> {
    const isOnRecord = await this.signIn.isRecordedStranger()
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction(this.pool, async (tx) => {
          const admitted = await admitIn(tx, identity, ip, this.now())
          if ('user' in admitted) return admitted
          const { known, refusal } = admitted
          if (known || isOnRecord) {
            const email = known?.email ?? parseEmail(identity.email ?? '') ?? 'unknown'
            const by = { userId: known?.userId ?? null, email, ip }
            await auditOf(tx, 'sign_in', by, this.now(), { outcome: 'refused', after: { refusal } })
          }
          return { refusal }
        })
      } catch (error) {
        // Another transaction took the number or the address, or created this very user: the next look finds it.
        if (sqlState(error) !== '23505' || attempt >= 50) throw error
      }
    }
  }

  private async wait(db: Pool, token: string, userId: bigint | null): Promise<void> {
    await db.query(
      'insert into oidc_sign_ins (token_hash, user_id, expires_at) values ($1, $2, $3)',
      [hashOfToken(token), userId, new Date(this.now().getTime() + ssoMs)],
    )
  }

  private async take(token: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'delete from oidc_sign_ins where token_hash = $1 and user_id is null and expires_at > $2',
      [hashOfToken(token), this.now()],
    )
    return rowCount === 1
  }

  private async waitingUser(db: Pool | Tx, token: string): Promise<bigint | undefined> {
    const { rows } = await db.query<{ user_id: bigint }>(
      `select user_id from oidc_sign_ins
       where token_hash = $1 and user_id is not null and expires_at > $2`,
      [hashOfToken(token), this.now()],
    )
    return rows[0]?.user_id
  }

  private async forget(tx: Tx, token: string): Promise<void> {
    await tx.query('delete from oidc_sign_ins where token_hash = $1', [hashOfToken(token)])
  }

  private boundTo(token: string): Bound {
    const of = (what: string) => this.derived(what, token).toString('base64url')
    return { state: of('state'), nonce: of('nonce'), verifier: of('verifier') }
  }

  private totpSecretOf(token: string): string {
    const bytes = new Uint8Array(this.derived('authenticator', token).subarray(0, 20))
    return new Secret({ buffer: bytes.buffer }).base32
  }

  private derived(what: string, token: string): Buffer {
    const key = derivedKey(this.secretKeys[0], 'single sign-on')
    return createHmac('sha256', key).update(`${what} ${token}`).digest()
  }
}

type Admitted = { user: User } | { refusal: string; known: User | undefined }

async function admitIn(tx: Tx, identity: Identity, ip: string, now: Date): Promise<Admitted> {
  const { issuer, subject, role } = identity
  const known = await lockUser(tx, 'oidc_issuer = $1 and oidc_subject = $2', [issuer, subject])
  const email = parseEmail(identity.email ?? '')
  const refusal = await whyRefused(tx, identity, known, email)
  if (refusal !== undefined) {
    if (known) {
      await endSessions(tx, known.userId, now)
      await tx.query('delete from oidc_sign_ins where user_id = $1', [known.userId])
    }
    return { refusal, known }
  }
  if (role === undefined) throw new Error('somebody without a role was not refused')
  if (!known) return { user: await create(tx, { ...identity, email: email ?? '', role }, ip, now) }
  if (known.role === role) return { user: known }
  const { userId } = known
  await tx.query('update users set role = $2, updated_at = $3 where user_id = $1', [
    userId,
    role,
    now,
  ])
  await endSessions(tx, userId, now)
  await auditOf(tx, 'change_user', { userId, email: known.email, ip }, now, {
    before: { role: known.role },
    after: { role, by: 'sso' },
  })
  const words = `${known.email} is ${role} now: the issuer says so.`
  await tellAdmins(tx, { what: `user ${userId} ${role}`, words, at: now })
  return { user: { ...known, role } }
}

async function whyRefused(
  tx: Tx,
  { role }: Identity,
  known: User | undefined,
  email: string | undefined,
): Promise<string | undefined> {
  if (role === undefined) {
    return 'The issuer gives you no role here. Ask whoever runs your single sign-on for a group that OIDC_ROLES names.'
  }
  if (known?.disabledAt) return 'You are locked out here. Ask an admin.'
  if (!known && email === undefined) {
    return 'The issuer names no email address of yours that it has verified, and a user needs one.'
  }
  const { rows } = await tx.query<{ has_users: boolean; taken: boolean }>(
    `select count(*) > 0 as has_users,
       coalesce(bool_or(email = $1 and user_id is distinct from $2), false) as taken from users`,
    [email ?? null, known?.userId ?? null],
  )
  if (!rows[0]?.has_users) {
    return 'There is no user yet. The first admin accepts the invitation that the service printed, and has a password.'
  }
  if (rows[0].taken) {
    return 'Another user has your email address, and one person is one user here. Sign in as that user; or an admin disables it and has the issuer name another address of yours.'
  }
  return undefined
}

async function create(
  tx: Tx,
  { issuer, subject, email, role }: Identity & { email: string },
  ip: string,
  now: Date,
): Promise<User> {
  const { rows } = await tx.query<UserRow>(
    `insert into users (user_id, email, role, oidc_issuer, oidc_subject, created_at, updated_at)
     select max(user_id) + 1, $1, $2, $3, $4, $5, $5 from users returning ${userColumns}`,
    [email, role, issuer, subject, now],
  )
  if (!rows[0]) throw new Error('a user is not there after single sign-on')
  const user = userFromRow(rows[0])
  await noteCredentials(tx, user.userId, null, now)
  await auditOf(tx, 'create_user', { userId: user.userId, email, ip }, now, {
    after: { email, role, by: 'sso', issuer, subject },
  })
  const words = `${email} signed in for the first time and is ${role}: the issuer says so.`
  await tellAdmins(tx, { what: `user ${user.userId} ${role}`, words, at: now })
  return user
}

async function lockUser(tx: Tx, where: string, values: unknown[]): Promise<User | undefined> {
  const { rows } = await tx.query<UserRow>(
    `select ${userColumns} from users where ${where} and oidc_issuer is not null for update`,
    values,
  )
  return rows[0] && userFromRow(rows[0])
}

async function auditOf(
  tx: Tx,
  action: string,
  by: { userId: bigint | null; email: string; ip: string },
  at: Date,
  more: { before?: object; after?: object; outcome?: 'refused' } = {},
): Promise<void> {
  const subject = { kind: 'user', id: by.userId === null ? 'unknown' : String(by.userId) }
  await writeAudit(tx, { at, operator: by, action, subject, agentId: null, ...more })
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [hashOfToken(given), hashOfToken(expected)]
  return timingSafeEqual(a, b)
}

function notUnderWay(): Problem {
  return new Problem(
    'sso_refused',
    'This sign-in was begun in another browser, was used, or took too long: begin again.',
  )
}
