import { createHash, createHmac, createPublicKey, sign, timingSafeEqual, verify } from 'node:crypto'
import type { Encoding, Part, Sign, Verify } from './connector-document.ts'

/** Opens the secrets of a connector; undefined if there is none of the name. */
export type Secrets = (name: string) => string | undefined

/** A secret is missing or cannot be used: nothing is signed, and nothing is believed. */
export class NoSecret extends Error {}

export type KeyOf = { secret: string; decode?: 'hex' | 'base64' | undefined }

/** A shorter key that is decoded was read in the wrong letters, or can be guessed. */
const shortestKeyBytes = 16

/** Why a text cannot be the secret of a key; undefined if it can. */
export function keyFault({ decode }: KeyOf, text: string): string | undefined {
  if (text === '') return 'is empty'
  if (decode === undefined) return undefined
  // Decoding passes over what it does not know: a text in other letters would be an empty key, which anybody has.
  const bytes = Buffer.from(text, decode)
  const given = decode === 'hex' ? text.toLowerCase() : text.replace(/=+$/, '')
  const again = bytes.toString(decode).replace(/=+$/, '')
  if (given !== again) return `is not in ${decode === 'hex' ? 'hex' : 'Base64'}`
  return bytes.length < shortestKeyBytes ? `has less than ${shortestKeyBytes} bytes` : undefined
}

/** The bytes of a key. */
export function keyBytes(key: KeyOf, secrets: Secrets): Buffer {
  const text = secrets(key.secret)
  if (text === undefined || text === '') throw new NoSecret(`the secret "${key.secret}" is not set`)
  const fault = keyFault(key, text)
  if (fault !== undefined) throw new NoSecret(`the secret "${key.secret}" ${fault}`)
  return Buffer.from(text, key.decode ?? 'utf8')
}

export function keyOrText(key: KeyOf | { text: string }, secrets: Secrets): string {
  return 'text' in key ? key.text : keyBytes(key, secrets).toString('utf8')
}

/** What a signature may be over. */
export interface SignedMessage {
  timestamp: string
  nonce: string
  method: string
  path: string
  query: string
  url: string
  body: Buffer
  header: (name: string) => string | undefined
}

/** The bytes that a signature is over; undefined if a part of them is missing. */
export function bytesOver(over: readonly Part[], message: SignedMessage): Buffer | undefined {
  const parts: Buffer[] = []
  for (const part of over) {
    const value = partOf(part, message)
    if (value === undefined) return undefined
    parts.push(Buffer.isBuffer(value) ? value : Buffer.from(value))
  }
  return Buffer.concat(parts)
}

function partOf(part: Part, message: SignedMessage): Buffer | string | undefined {
  if (typeof part === 'object') return 'text' in part ? part.text : message.header(part.header)
  if (part === 'bodySha256') return createHash('sha256').update(message.body).digest('hex')
  return message[part]
}

type OverBytes = Extract<Sign | Verify, { kind: 'hmac' | 'rsa' | 'ed25519' }>

/** The signature over bytes, in the scheme's own letters. */
export function signatureOver(scheme: OverBytes, bytes: Buffer, secrets: Secrets): string {
  const key = keyBytes(scheme.key, secrets)
  switch (scheme.kind) {
    case 'hmac':
      return encoded(createHmac(scheme.hash, key).update(bytes).digest(), scheme.encode)
    case 'rsa':
      return encoded(sign('sha256', bytes, key.toString()), scheme.encode)
    case 'ed25519':
      return encoded(sign(null, bytes, key.toString()), scheme.encode)
  }
}

type Sorted = (Sign | Verify) & { kind: 'sorted' }

/**
 * The signature over names and values in order of the names. Undefined if a value is no plain one: what would be left
 * out of it could be forged.
 */
export function sortedSignature(
  scheme: Sorted,
  fields: readonly (readonly [string, string | undefined])[],
  secrets: Secrets,
): string | undefined {
  const except = new Set(scheme.except ?? [])
  const kept = fields.filter(([name]) => !except.has(name))
  if (kept.some(([, value]) => value === undefined)) return undefined
  const text = kept
    .filter(([, value]) => !scheme.skipEmpty || value !== '')
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  return encoded(sortedDigest(scheme, text, secrets), scheme.encode)
}

function sortedDigest(scheme: Sorted, text: string, secrets: Secrets): Buffer {
  const key = keyBytes(scheme.key, secrets)
  switch (scheme.with) {
    case 'hmac-sha256':
    case 'hmac-sha512':
      return createHmac(scheme.with.slice('hmac-'.length), key).update(text).digest()
    default: {
      const { keyBefore, keyAfter } = scheme
      const hash = createHash(scheme.with)
      if (keyBefore !== undefined) hash.update(key).update(keyBefore)
      hash.update(text)
      if (keyAfter !== undefined || keyBefore === undefined) hash.update(keyAfter ?? '').update(key)
      return hash.digest()
    }
  }
}

/** Whether one of the signatures is right for the bytes. */
export function isSignedBy(
  scheme: OverBytes,
  bytes: Buffer,
  signatures: readonly string[],
  secrets: Secrets,
): boolean {
  const key = keyBytes(scheme.key, secrets)
  if (scheme.kind === 'hmac') {
    const expected = encoded(createHmac(scheme.hash, key).update(bytes).digest(), scheme.encode)
    return isAnyOf(expected, signatures)
  }
  const publicKey = createPublicKey(key.toString())
  const hash = scheme.kind === 'rsa' ? 'sha256' : null
  return signatures.some((each) => verify(hash, bytes, publicKey, decoded(each, scheme.encode)))
}

/** Compares texts in a time that does not depend on where they differ. Nothing is never what is expected. */
export function isAnyOf(expected: string, given: readonly string[]): boolean {
  if (expected === '') return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const right = digest(expected)
  let isOne = false
  for (const each of given) isOne = timingSafeEqual(right, digest(each)) || isOne
  return isOne
}

function encoded(bytes: Buffer, encoding: Encoding): string {
  return encoding === 'HEX' ? bytes.toString('hex').toUpperCase() : bytes.toString(encoding)
}

function decoded(text: string, encoding: Encoding): Buffer {
  return Buffer.from(text, encoding === 'HEX' ? 'hex' : encoding)
}
