/** How many seconds a signature's time may be in the past or in the future. */
export const clockToleranceS = 300

const maxHeaderLength = 512
const maxSignatures = 4

export interface SignatureHeader {
  /** Unix seconds. */
  t: string
  /** 64 lower-case hex digits each. */
  signatures: string[]
}

/** The parts of `t=<unix seconds>,v1=<hex>[,v1=...]`, or undefined if the header has another shape. */
export function parseSignatureHeader(header: string): SignatureHeader | undefined {
  if (header.length > maxHeaderLength) return undefined
  let t: string | undefined
  const signatures: string[] = []
  for (const part of header.split(',')) {
    if (/^t=[1-9]\d{0,11}$/.test(part) && t === undefined) t = part.slice(2)
    else if (/^v1=[0-9a-f]{64}$/.test(part)) signatures.push(part.slice(3))
    else return undefined
  }
  if (t === undefined || signatures.length === 0 || signatures.length > maxSignatures) {
    return undefined
  }
  return { t, signatures }
}

/** The header `x-signature` of a request. `path` includes the query, exactly as sent. */
export async function signRequest(
  secret: string,
  t: string,
  method: string,
  path: string,
  body: string,
): Promise<string> {
  return `t=${t},v1=${toHex(await hmac(secret, `${t}.${method} ${path}.`, utf8(body)))}`
}

/** The header `x-signature` of a callback, with one signature for each secret. */
export async function signCallback(
  secrets: readonly string[],
  t: string,
  body: Uint8Array,
): Promise<string> {
  const signatures = await Promise.all(secrets.map((secret) => hmac(secret, `${t}.`, body)))
  return [`t=${t}`, ...signatures.map((signature) => `v1=${toHex(signature)}`)].join(',')
}

/** Whether one of the secrets made one of the signatures. Tries every pair, so that timing leaks nothing. */
export async function isSignedCallback(
  secrets: readonly string[],
  { t, signatures }: SignatureHeader,
  body: Uint8Array,
): Promise<boolean> {
  let matched = false
  for (const secret of secrets) {
    const expected = await hmac(secret, `${t}.`, body)
    for (const given of signatures) matched = isSame(expected, fromHex(given)) || matched
  }
  return matched
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

async function hmac(secret: string, prefix: string, body: Uint8Array): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(utf8(secret)), algorithm, false, [
    'sign',
  ])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(utf8(prefix), body)))
}

/** Copies all parts into new memory, because Web Crypto does not accept shared memory. */
function bytesOf(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/**
 * Web Crypto has no constant-time comparison, and `===` stops at the first byte that differs, which
 * would let an attacker guess a signature byte by byte. Both sides have the 32 bytes of SHA-256, so
 * the comparison leaks no length either.
 */
function isSame(expected: Uint8Array, given: Uint8Array): boolean {
  let difference = expected.length ^ given.length
  for (let at = 0; at < 32; at++) difference |= (expected[at] ?? 0) ^ (given[at] ?? 0)
  return difference === 0
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
