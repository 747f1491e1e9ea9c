import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far a signature's `t` and a body's `timestamp` may be from our clock, in either direction. */
export const clockToleranceS = 300

const maxHeaderBytes = 512
const maxSignatures = 4

export interface SignatureHeader {
  t: string
  signatures: string[]
}

/** Parses `t=<unix seconds>,v1=<hex>[,v1=...]`; undefined if the header is malformed. */
export function parseSignatureHeader(header: string): SignatureHeader | undefined {
  if (Buffer.byteLength(header) > maxHeaderBytes) return undefined
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

/** Signs the path as well as the body, because deposit and withdrawal requests have the same body. */
export function signRequest(
  secret: string,
  t: string,
  method: string,
  pathWithQuery: string,
  body: Buffer | string,
): string {
  return createHmac('sha256', secret)
    .update(`${t}.${method} ${pathWithQuery}.`)
    .update(body)
    .digest('hex')
}

/**
 * The byte after `t.` is `{` here and a letter in a request, so neither signature is valid for the other.
 */
export function signCallback(secret: string | Buffer, t: string, body: Buffer | string): string {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
}

/** Whether any given signature is the expected one. The time taken does not depend on which one matches. */
export function matchesAny(expectedHex: string, givenHex: readonly string[]): boolean {
  const expected = Buffer.from(expectedHex, 'hex')
  let matched = false
  for (const given of givenHex) {
    matched = timingSafeEqual(expected, Buffer.from(given, 'hex')) || matched
  }
  return matched
}
