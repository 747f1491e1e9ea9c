import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** `SECRET_KEY` and, during a key rotation, the previous key. The first one encrypts. */
export type SecretKeys = readonly [Buffer, ...Buffer[]]

/** Encrypts a secret with AES-256-GCM, bound to its owner: it cannot be decrypted for another agent. */
export function seal(keys: SecretKeys, owner: string, secret: string): Buffer {
  return sealBytes(keys, owner, Buffer.from(secret))
}

/** The same for bytes, such as a file. */
export function sealBytes(keys: SecretKeys, owner: string, bytes: Buffer): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keys[0], iv)
  cipher.setAAD(Buffer.from(owner))
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted])
}

/** Decrypts a secret with whichever of the keys sealed it. */
export function unseal(keys: SecretKeys, owner: string, sealed: Buffer): string {
  for (const key of keys) {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
    decipher.setAAD(Buffer.from(owner))
    decipher.setAuthTag(sealed.subarray(12, 28))
    try {
      return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      // Sealed with another key: try the next one.
    }
  }
  throw new Error(
    `a secret of ${owner} does not open with SECRET_KEY: set the key it was encrypted with, as SECRET_KEY or SECRET_KEY_PREVIOUS`,
  )
}

const derivedKeys = new WeakMap<Buffer, Map<string, Buffer>>()

/** Derives a separate key for a purpose; it reveals nothing about the key it is derived from. */
export function derivedKey(key: Buffer, purpose: string): Buffer {
  const ofKey = derivedKeys.get(key) ?? new Map<string, Buffer>()
  derivedKeys.set(key, ofKey)
  const derived = ofKey.get(purpose) ?? Buffer.from(hkdfSync('sha256', key, '', purpose, 32))
  ofKey.set(purpose, derived)
  return derived
}

/** A short unguessable MAC over a text, with a key derived for the purpose. */
export function mark(key: Buffer, purpose: string, text: string): Buffer {
  return createHmac('sha256', derivedKey(key, purpose)).update(text).digest().subarray(0, 16)
}
