import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** `SECRET_KEY` and, during a key rotation, the previous key. The first one encrypts. */
export type SecretKeys = readonly [Buffer, ...Buffer[]]

/** Encrypts a secret with AES-256-GCM, bound to its owner: it cannot be decrypted for another agent. */
export function seal(keys: SecretKeys, owner: string, secret: string): Buffer {
  return sealBytes(keys, owner, Buffer.from(secret))
}

/** What is sealed begins with this and the key's id. Former versions wrote neither. */
const withId = Buffer.from('SLK1')
const idBytes = 4

/** Names a key without revealing it. */
function idOf(key: Buffer): Buffer {
  return derivedKey(key, 'key id').subarray(0, idBytes)
}

/** The same for bytes, such as a file. */
export function sealBytes(keys: SecretKeys, owner: string, bytes: Buffer): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keys[0], iv)
  cipher.setAAD(Buffer.from(owner))
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([withId, idOf(keys[0]), iv, cipher.getAuthTag(), encrypted])
}

/** Decrypts a secret with whichever of the keys sealed it; undefined if none of them did, or it was altered. */
export function unseal(keys: SecretKeys, owner: string, sealed: Buffer): string | undefined {
  return unsealBytes(keys, owner, sealed)?.toString('utf8')
}

/** The same for bytes. */
export function unsealBytes(keys: SecretKeys, owner: string, sealed: Buffer): Buffer | undefined {
  const start = withId.length + idBytes
  const id = sealed.subarray(withId.length, start)
  const named = isNamed(sealed) ? keys.find((key) => idOf(key).equals(id)) : undefined
  const opened = named && openWith(named, owner, sealed.subarray(start))
  if (opened) return opened
  // Sealed by a former version, with any of the keys.
  for (const key of keys) {
    const found = openWith(key, owner, sealed)
    if (found) return found
  }
  return undefined
}

/**
 * Seals again, with the current key, what another key sealed. current: it is sealed with that key already. shut: none
 * of the keys opens it.
 */
export function reseal(
  keys: SecretKeys,
  owner: string,
  sealed: Buffer,
): Buffer | 'current' | 'shut' {
  const isCurrent =
    isNamed(sealed) &&
    sealed.subarray(withId.length, withId.length + idBytes).equals(idOf(keys[0])) &&
    openWith(keys[0], owner, sealed.subarray(withId.length + idBytes)) !== undefined
  if (isCurrent) return 'current'
  const bytes = unsealBytes(keys, owner, sealed)
  return bytes ? sealBytes(keys, owner, bytes) : 'shut'
}

function isNamed(sealed: Buffer): boolean {
  return sealed.subarray(0, withId.length).equals(withId)
}

function openWith(key: Buffer, owner: string, sealed: Buffer): Buffer | undefined {
  if (sealed.length < 28) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
  decipher.setAAD(Buffer.from(owner))
  decipher.setAuthTag(sealed.subarray(12, 28))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()])
  } catch {
    return undefined
  }
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
