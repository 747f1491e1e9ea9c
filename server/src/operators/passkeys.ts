import { randomBytes } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { Operator } from './operator.ts'
import { hashOfToken, newToken } from './sessions.ts'

/** A challenge is answered within this time, and what stands for a code is used within the other. */
const challengeMs = 5 * 60_000
const proofMs = 2 * 60_000
const mostPasskeys = 10

/** Loaded with the first passkey: it takes a seventh of the time in which the service starts. */
const webAuthn = () => import('@simplewebauthn/server')

export interface Passkey {
  id: string
  name: string
  createdAt: Date
  lastUsedAt: Date | null
}

/** Passkeys belong to the name in PUBLIC_URL; an address without a name can have none. */
export function relyingParty(publicUrl: string): { id: string; origin: string } | undefined {
  const { hostname, origin } = new URL(publicUrl)
  const isAddress = hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)
  return isAddress ? undefined : { id: hostname, origin }
}

function partyOf(publicUrl: string) {
  const party = relyingParty(publicUrl)
  if (!party) throw new Problem('not_found', 'Passkeys need a PUBLIC_URL with a name.')
  return party
}

export async function listPasskeys(db: Pool | Tx, userId: bigint): Promise<Passkey[]> {
  const { rows } = await db.query<Passkey>(
    `select credential_id as id, name, created_at as "createdAt", last_used_at as "lastUsedAt"
     from passkeys where user_id = $1 order by created_at, credential_id`,
    [userId],
  )
  return rows
}

/** What a browser needs to make a passkey. The answer counts once, for this user and in this session. */
export async function registrationOptions(
  pool: Pool,
  publicUrl: string,
  { userId, email, sessionId }: Operator,
  now: Date,
) {
  const { id: rpID } = partyOf(publicUrl)
  const known = await listPasskeys(pool, userId)
  if (known.length >= mostPasskeys) {
    throw new Problem('invalid_request', `At most ${mostPasskeys}; remove one first.`)
  }
  const challenge = await newChallenge(pool, { purpose: 'register', userId, sessionId }, now)
  const { generateRegistrationOptions } = await webAuthn()
  return generateRegistrationOptions({
    rpName: 'Sluice',
    rpID,
    userName: email,
    userID: new Uint8Array(Buffer.from(String(userId))),
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    excludeCredentials: known.map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/** Keeps a passkey that a browser has made, if it answers a challenge of this session. */
export async function addPasskey(
  tx: Tx,
  publicUrl: string,
  { userId, sessionId }: Operator,
  given: { name: string; answer: string },
  now: Date,
): Promise<string> {
  const { id: expectedRPID, origin: expectedOrigin } = partyOf(publicUrl)
  const response = parsed(given.answer)
  const { verifyRegistrationResponse } = await webAuthn()
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: (challenge) =>
      takeChallenge(tx, challenge, { purpose: 'register', userId, sessionId }, now),
    expectedOrigin,
    expectedRPID,
    requireUserVerification: true,
  }).catch(() => undefined)
  if (!verified?.verified) throw refused('The passkey was not made as asked. Begin again.')
  const { credential } = verified.registrationInfo
  const { rowCount } = await tx.query(
    `insert into passkeys (credential_id, user_id, name, public_key, counter, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [
      credential.id,
      userId,
      given.name,
      Buffer.from(credential.publicKey),
      BigInt(credential.counter),
      now,
    ],
  )
  if (rowCount !== 1) throw refused('This passkey is known already.')
  return credential.id
}

/** What a browser needs to use a passkey: to sign in with any, or in a session with one of the user's. */
export async function assertionOptions(
  pool: Pool,
  publicUrl: string,
  operator: Operator | undefined,
  now: Date,
) {
  const { id: rpID } = partyOf(publicUrl)
  const known = operator ? await listPasskeys(pool, operator.userId) : []
  const bound = operator
    ? { purpose: 'act' as const, userId: operator.userId, sessionId: operator.sessionId }
    : { purpose: 'sign_in' as const }
  const challenge = await newChallenge(pool, bound, now)
  const { generateAuthenticationOptions } = await webAuthn()
  return generateAuthenticationOptions({
    rpID,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    userVerification: 'required',
    // Nobody is asked who they are: an answer to that would tell who is a user.
    ...(operator && { allowCredentials: known.map(({ id }) => ({ id })) }),
  })
}

/** Whose passkey an answer says that it comes from, whether or not it does. */
export async function ownerOfPasskey(tx: Tx, answer: string): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ user_id: bigint }>(
    'select user_id from passkeys where credential_id = $1',
    [idOf(parsed(answer))],
  )
  return rows[0]?.user_id
}

/**
 * The user whose passkey answered a challenge, with the person verified by the authenticator; undefined if anything
 * is wrong with it. The challenge is used up, and the passkey's counter moves on. A caller that locks the user, too,
 * locks the user first.
 */
export async function useAssertion(
  tx: Tx,
  publicUrl: string,
  answer: string,
  operator: Operator | undefined,
  now: Date,
): Promise<bigint | undefined> {
  const { id: expectedRPID, origin: expectedOrigin } = partyOf(publicUrl)
  const response = parsed(answer)
  const { rows } = await tx.query<{ user_id: bigint; public_key: Buffer; counter: bigint }>(
    'select user_id, public_key, counter from passkeys where credential_id = $1 for update',
    [idOf(response)],
  )
  const [passkey] = rows
  const bound = operator
    ? { purpose: 'act' as const, userId: operator.userId, sessionId: operator.sessionId }
    : { purpose: 'sign_in' as const }
  if (!passkey || (operator && passkey.user_id !== operator.userId)) return undefined
  const { verifyAuthenticationResponse } = await webAuthn()
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => takeChallenge(tx, challenge, bound, now),
    expectedOrigin,
    expectedRPID,
    credential: {
      id: response.id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
    requireUserVerification: true,
  }).catch(() => undefined)
  if (!verified?.verified) return undefined
  await tx.query('update passkeys set counter = $2, last_used_at = $3 where credential_id = $1', [
    response.id,
    BigInt(verified.authenticationInfo.newCounter),
    now,
  ])
  return passkey.user_id
}

const proofPrefix = 'pk_'

/** Whether what is given as a code is what stands for one. */
export function isPasskeyProof(code: string): boolean {
  return code.startsWith(proofPrefix)
}

/** What stands for a fresh code, once, in this session. */
export async function newPasskeyProof(
  tx: Tx,
  { userId, sessionId }: Operator,
  now: Date,
): Promise<string> {
  const token = newToken()
  await tx.query('delete from passkey_proofs where user_id = $1 and expires_at <= $2', [
    userId,
    now,
  ])
  await tx.query(
    `insert into passkey_proofs (token_hash, user_id, session_id, expires_at)
     values ($1, $2, $3, $4)`,
    [hashOfToken(token), userId, sessionId, new Date(now.getTime() + proofMs)],
  )
  return `${proofPrefix}${token}`
}

/** Uses up what stands for a code; returns true only the first time, and only in its own session. */
export async function usePasskeyProof(
  pool: Pool,
  { userId, sessionId }: Operator,
  code: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from passkey_proofs
     where token_hash = $1 and user_id = $2 and session_id = $3 and expires_at > $4`,
    [hashOfToken(code.slice(proofPrefix.length)), userId, sessionId, now],
  )
  return rowCount === 1
}

/** Returns false if the user has no such passkey. Codes of the authenticator stay, so nobody removes their last factor. */
export async function removePasskey(tx: Tx, userId: bigint, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'delete from passkeys where user_id = $1 and credential_id = $2',
    [userId, id],
  )
  return rowCount === 1
}

/** All of a user's, when their credentials begin anew. */
export async function removePasskeys(tx: Tx, userId: bigint): Promise<void> {
  await tx.query('delete from passkeys where user_id = $1', [userId])
  await tx.query('delete from passkey_proofs where user_id = $1', [userId])
}

function idOf({ id }: { id: unknown }): string {
  return String(id).slice(0, 1400)
}

interface Bound {
  purpose: 'register' | 'sign_in' | 'act'
  userId?: bigint
  sessionId?: string
}

async function newChallenge(pool: Pool, bound: Bound, now: Date): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  await pool.query('delete from passkey_challenges where expires_at <= $1', [now])
  await pool.query(
    `insert into passkey_challenges (challenge, purpose, user_id, session_id, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [
      challenge,
      bound.purpose,
      bound.userId ?? null,
      bound.sessionId ?? null,
      new Date(now.getTime() + challengeMs),
    ],
  )
  return challenge
}

async function takeChallenge(tx: Tx, challenge: string, bound: Bound, now: Date) {
  const { rowCount } = await tx.query(
    `delete from passkey_challenges where challenge = $1 and purpose = $2
       and user_id is not distinct from $3 and session_id is not distinct from $4 and expires_at > $5`,
    [challenge, bound.purpose, bound.userId ?? null, bound.sessionId ?? null, now],
  )
  return rowCount === 1
}

/** The browser's answer. What it holds is checked by whoever verifies it. */
function parsed(text: string) {
  try {
    const value = JSON.parse(text)
    if (typeof value?.id === 'string' && typeof value.response === 'object') return value
  } catch {}
  throw refused('Send what the browser answered, as JSON.')
}

function refused(detail: string): Problem {
  return new Problem('code_refused', detail)
}
