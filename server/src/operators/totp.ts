import { Secret, TOTP } from 'otpauth'
import type { Pool, PoolClient } from '../db/pool.ts'
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

/** A new secret, in base 32 as people type it. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** What an authenticator reads from the QR code. */
export function otpauthUri(secret: string, email: string): string {
  return totpOf(secret, email).toString()
}

/** The time step a code is of, one step early or late at most; undefined where it is of none. */
export function stepOfCode(secret: string, code: string, now: Date): bigint | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const timestamp = now.getTime()
  const delta = totpOf(secret).validate({ token: code, timestamp, window: 1 })
  return delta === null ? undefined : BigInt(Math.floor(timestamp / 1000 / periodS) + delta)
}

/** Takes a user's code. It counts once, over all processes: the step it is of must be a later one. */
export async function useCode(
  tx: Pool | PoolClient,
  secretKeys: SecretKeys,
  userId: bigint,
  code: string,
  now: Date,
): Promise<boolean> {
  const { rows } = await tx.query<{ sealed_totp_secret: Buffer | null }>(
    'select sealed_totp_secret from users where user_id = $1',
    [userId],
  )
  const sealed = rows[0]?.sealed_totp_secret
  if (!sealed) return false
  const step = stepOfCode(unseal(secretKeys, `user ${userId}`, sealed), code, now)
  if (step === undefined) return false
  const { rowCount } = await tx.query(
    `update users set last_totp_step = $2
     where user_id = $1 and (last_totp_step is null or last_totp_step < $2)`,
    [userId, step],
  )
  return rowCount === 1
}
