import { type Callback, parseCallback } from './callback.ts'
import {
  clockToleranceS,
  isSignedCallback,
  parseSignatureHeader,
  type SignatureHeader,
  utf8,
} from './signature.ts'

/** Why a callback was refused; stable, for programs. */
export type RefusalReason =
  | 'secret_missing'
  | 'header_missing'
  | 'header_malformed'
  | 'body_missing'
  | 'body_parsed'
  | 'body_reserialised'
  | 'secret_whitespace'
  | 'wrong_secret'
  | 'clock_off'
  | 'body_malformed'

/** A callback that must not be trusted. `message` says why, and what to do about it. */
export class CallbackRefused extends Error {
  override readonly name = 'CallbackRefused'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

/** Headers as servers provide them: fetch's Headers, or an object as in node:http. */
export type CallbackHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** The current time; for tests. */
  now?: Date
}

/**
 * Returns the callback if the service really sent the request; otherwise throws CallbackRefused. Pass
 * the body's raw bytes and all of the agent's live secrets (two during a key rotation).
 */
export async function verifyCallback(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: CallbackHeaders,
  secrets: string | readonly string[],
  { now = new Date() }: VerifyOptions = {},
): Promise<Callback> {
  const keys = typeof secrets === 'string' ? [secrets] : (secrets ?? [])
  if (keys.length === 0 || keys.some((key) => typeof key !== 'string' || key.trim() === '')) {
    throw new CallbackRefused(
      'secret_missing',
      'There is no secret to check with, or an empty one: is its setting filled in here?',
    )
  }
  const signature = signatureIn(headers)
  const body = bytesOf(rawBody)
  if (!(await isSignedCallback(keys, signature, body))) {
    throw await diagnosis(body, signature, keys)
  }
  const lateS = Math.floor(now.getTime() / 1000) - Number(signature.t)
  if (Math.abs(lateS) > clockToleranceS) {
    throw new CallbackRefused(
      'clock_off',
      `The clock is off by ${Math.abs(lateS)} seconds: the callback was signed ${lateS > 0 ? 'that long ago' : 'in the future'}, and ${clockToleranceS} are allowed. Set this machine's clock; if it is right, somebody is sending an old callback again.`,
    )
  }
  try {
    return parseCallback(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CallbackRefused('body_malformed', `The body is not a callback: ${why}.`, { cause })
  }
}

/** A header by its name in any case; undefined if it is missing or occurs more than once. */
export function headerOf(headers: CallbackHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  const values = Array.isArray(found) ? found : [found]
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : undefined
}

function signatureIn(headers: CallbackHeaders): SignatureHeader {
  const header = headerOf(headers, 'x-signature')
  if (header === undefined) {
    throw new CallbackRefused(
      'header_missing',
      'The header x-signature is missing: this is not from the service, or something in front drops headers.',
    )
  }
  const signature = parseSignatureHeader(header)
  if (!signature) {
    throw new CallbackRefused(
      'header_malformed',
      'The header x-signature has not the shape t=<unix seconds>,v1=<64 hex digits>.',
    )
  }
  return signature
}

const rawBodyAdvice = 'Pass the bytes as they came, before anything parses them.'

function bytesOf(rawBody: unknown): Uint8Array {
  const body = typeof rawBody === 'string' ? utf8(rawBody) : rawBody
  if (body === undefined || body === null) throw bodyMissing()
  // Not instanceof: in test runners, a Buffer may come from another realm than this code.
  const bytes = ArrayBuffer.isView(body)
    ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    : Object.prototype.toString.call(body) === '[object ArrayBuffer]'
      ? new Uint8Array(body as ArrayBuffer)
      : undefined
  if (bytes?.length === 0) throw bodyMissing()
  if (bytes) return bytes
  throw new CallbackRefused(
    'body_parsed',
    `The body was parsed before it came here, and its bytes are lost. ${rawBodyAdvice}`,
  )
}

function bodyMissing(): CallbackRefused {
  return new CallbackRefused(
    'body_missing',
    `The body is empty: something has read it before. ${rawBodyAdvice}`,
  )
}

/** Explains why no secret matches, by trying the common mistakes one by one. */
async function diagnosis(
  body: Uint8Array,
  signature: SignatureHeader,
  secrets: readonly string[],
): Promise<CallbackRefused> {
  const bare = secrets
    .map((secret) => secret.replace(/^["'\s]+|["'\s]+$/g, ''))
    .filter((secret) => secret !== '')
  if (await isSignedCallback(bare, signature, body)) {
    return new CallbackRefused(
      'secret_whitespace',
      'The secret is right but for white space or quotes around it: remove them from the setting.',
    )
  }
  const text = new TextDecoder().decode(body)
  const written = writtenAgain(text)
  for (const original of originalsOf(text, written)) {
    if (await isSignedCallback(secrets, signature, original)) return reserialised()
  }
  // The service's JSON begins and ends like this; otherwise the text was serialized again.
  if (written?.includes('"refId":') && !/^\{"refId":".*\}$/s.test(text)) return reserialised()
  return new CallbackRefused(
    'wrong_secret',
    'No secret matches: the secret is of another agent, or was replaced by a rotation, or the body was changed on the way.',
  )
}

function reserialised(): CallbackRefused {
  return new CallbackRefused(
    'body_reserialised',
    `The body was parsed and written again, or read in another encoding, so its bytes are not those that were signed. ${rawBodyAdvice}`,
  )
}

/** The texts that the body may have been before a framework changed it. */
function originalsOf(text: string, written: string | undefined): Uint8Array[] {
  const isLatin1 = !/[^\0-\u00ff]/.test(text)
  return [
    ...(written === undefined ? [] : [utf8(written)]),
    ...(isLatin1 ? [Uint8Array.from(text, (character) => character.charCodeAt(0))] : []),
  ]
}

/** A JSON text without whitespace, as the service writes it. */
function writtenAgain(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return undefined
  }
}
