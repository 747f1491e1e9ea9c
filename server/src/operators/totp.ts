import { Secret, TOTP } from 'otpauth'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type SecretKeys, unseal } from '../lib/secret-box.ts'

const periodS = 30

function totpOf(secret: string, label = 'console'): TOTP {
  return new TOTP({
    issuer: 'Sluice',
    label,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: periodS,
  })
}

/** Creates a secret, in base 32 so that people can type it. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** The URI that an authenticator reads from the QR code. */
export function otpauthUri(secret: string, email: string): string {
  return totpOf(secret, email).toString()
}

/** The time step of a code, at most one step early or late; undefined if it matches none. */
export function stepOfCode(secret: string, code: string, now: Date): bigint | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const timestamp = now.getTime()
  const delta = totpOf(secret).validate({ token: code, timestamp, window: 1 })
  return delta === null ? undefined : BigInt(Math.floor(timestamp / 1000 / periodS) + delta)
}

/** The time step of a user's code; undefined if it matches none or there is no such user. */
export async function checkCode(
  pool: Pool,
  secretKeys: SecretKeys,
  userId: bigint,
  code: string,
  now: Date,
): Promise<bigint | undefined> {
  const { rows } = await pool.query<{ sealed_totp_secret: Buffer | null }>(
    'select sealed_totp_secret from users where user_id = $1',
    [userId],
  )
  const sealed = rows[0]?.sealed_totp_secret
  // A secret that no key opens matches no code: an error would tell who is a user and who is not.
  const secret = sealed && unseal(secretKeys, `user ${userId}`, sealed)
  return secret ? stepOfCode(secret, code, now) : undefined
}

/**
 * Uses up a code's time step. Each counts once over all processes, because it must be later than the last one
 * used. This locks the user, so that a reset or a suspension happens entirely before or after it.
 */
export async function useStep(db: Pool | Tx, userId: bigint, step: bigint): Promise<boolean> {
  const { rowCount } = await db.query(
    `update users set last_totp_step = $2
     where user_id = $1 and (last_totp_step is null or last_totp_step < $2)
       and sealed_totp_secret is not null and disabled_at is null`,
    [userId, step],
  )
  return rowCount === 1
}

/** Uses up a user's code; returns true only the first time. */
export async function useCode(
  pool: Pool,
  secretKeys: SecretKeys,
  userId: bigint,
  code: string,
  now: Date,
): Promise<boolean> {
  const step = await checkCode(pool, secretKeys, userId, code, now)
  return step !== undefined && useStep(pool, userId, step)
}
