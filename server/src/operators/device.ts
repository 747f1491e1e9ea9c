import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { derivedKey, type SecretKeys } from '../lib/secret-box.ts'

/** How long a device is remembered without signing in. */
const validMs = 400 * 86_400_000

/** Who a device is remembered for. A new password makes strangers of all devices. */
export interface DeviceOwner {
  userId: bigint
  passwordHash: string | null
  /** Devices that signed in before this are strangers. */
  devicesSince: Date | null
}

/**
 * What a browser keeps after signing in. It opens nothing by itself: it only shows that guesses from elsewhere are not
 * this person's.
 */
export function makeDevice(secretKeys: SecretKeys, owner: DeviceOwner, now: Date): string {
  const at = String(now.getTime())
  return `${owner.userId}.${at}.${markOf(secretKeys[0], owner, at)}`
}

/** Whether a cookie is from a device on which this user has signed in before. */
export function isKnownDevice(
  secretKeys: SecretKeys,
  owner: DeviceOwner,
  cookie: string | undefined,
  now: Date,
): boolean {
  const [, userId, at = '', given = ''] =
    /^(\d{1,18})\.(\d{1,15})\.([\w-]{43})$/.exec(cookie ?? '') ?? []
  if (userId !== String(owner.userId) || owner.passwordHash === null) return false
  const since = owner.devicesSince?.getTime() ?? Number.NEGATIVE_INFINITY
  const madeMs = Number(at)
  if (madeMs <= since || madeMs > now.getTime() + 60_000 || madeMs < now.getTime() - validMs)
    return false
  return secretKeys.some((key) =>
    timingSafeEqual(Buffer.from(markOf(key, owner, at)), Buffer.from(given)),
  )
}

function markOf(key: Buffer, { userId, passwordHash }: DeviceOwner, at: string): string {
  const generation = createHash('sha256')
    .update(passwordHash ?? '')
    .digest('hex')
  return createHmac('sha256', derivedKey(key, 'devices'))
    .update(`${userId} ${at} ${generation}`)
    .digest('base64url')
}
