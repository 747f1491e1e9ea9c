import { createHmac } from 'node:crypto'
import { clockToleranceS, matchesAny, parseSignatureHeader } from './signature.ts'
import {
  bodyVariants,
  type Cause,
  callbackVariants,
  requestVariants,
  secretVariants,
  type Variant,
} from './signature-mistakes.ts'

/** A signed request or callback, as sent or as received. */
export interface SignedMessage {
  /** Undefined for a callback. */
  request?: { method: string; path: string } | undefined
  headers: Readonly<Record<string, string>>
  body: Buffer
}

export interface SignatureExplanation {
  ok: boolean
  /** The exact bytes that should have been signed. */
  signed: Buffer
  /** The right value of `x-signature`, for the timestamp in the message. */
  expected: string
  /** The value of `x-signature` in the message. */
  got: string | undefined
  /** What is wrong, most likely cause first; empty if the signature is valid. */
  causes: Cause[]
  /** The bytes that the sender signed instead, if we could work them out. */
  signedInstead: Buffer | undefined
}

/**
 * Checks the signature of a message and explains why it is wrong: tries the usual mistakes until one of
 * them yields the signature in the message. Only for callers who hold the secret, because `expected` is a
 * valid signature.
 */
export function explainSignature(
  message: SignedMessage,
  secrets: readonly string[],
  now: Date,
): SignatureExplanation {
  const header = findHeader(message.headers)
  const read = readLoosely(header.value ?? '', now)
  const { request, body } = message
  const prefixes = request
    ? requestVariants(read.t, request.method, request.path, hostIn(message.headers))
    : callbackVariants(read.t)
  const signed = Buffer.concat([Buffer.from(prefixes[0]?.value ?? ''), body])
  const keys = secrets.filter((secret) => secret.trim() !== '')
  const explained = {
    signed,
    expected: [`t=${read.t}`, ...keys.map((key) => `v1=${hmac(Buffer.from(key), signed)}`)].join(
      ',',
    ),
    got: header.value,
  }
  const refused = (causes: Cause[], signedInstead?: Buffer): SignatureExplanation => ({
    ...explained,
    ok: causes.length === 0,
    causes,
    signedInstead,
  })
  if (keys.length === 0 || keys.length < secrets.length) {
    return refused([
      {
        code: 'secret_missing',
        message: 'There is no secret to check with, or an empty one: is its setting filled in?',
      },
    ])
  }
  if (header.value === undefined) return refused(header.causes)

  const found = findMistakes(message, read.signatures, keys, prefixes)
  const shape = [...header.causes, ...appIdCauses(message.headers), ...read.causes]
  const clock = read.isTimeGiven ? clockCauses(read.t, now) : []
  if (found) {
    const instead = found.signed.equals(signed) ? undefined : found.signed
    return refused([...shape, ...found.causes, ...clock], instead)
  }
  if (read.signatures.length === 0) return refused(shape)
  return refused([...shape, unknownCause(message), ...clock])
}

interface Mistakes {
  causes: Cause[]
  signed: Buffer
}

/** The smallest set of mistakes, two at most, that yields one of the signatures. */
function findMistakes(
  { request, body }: SignedMessage,
  signatures: readonly string[],
  secrets: readonly string[],
  prefixes: readonly Variant<string>[],
): Mistakes | undefined {
  const bodies = bodyVariants(body, request !== undefined)
  const keys = secrets.flatMap(secretVariants)
  const candidates = bodies.flatMap((text) =>
    prefixes.flatMap((prefix) =>
      keys.map((key) => ({
        prefix,
        text,
        key,
        causes: [key.cause, prefix.cause, text.cause].filter((cause) => cause !== undefined),
      })),
    ),
  )
  for (const count of [0, 1, 2]) {
    for (const { prefix, text, key, causes } of candidates) {
      if (causes.length !== count) continue
      const signed = Buffer.concat([Buffer.from(prefix.value), text.value])
      if (matchesAny(hmac(key.value, signed), signatures)) return { causes, signed }
    }
  }
  return undefined
}

function hmac(key: Buffer, bytes: Buffer): string {
  return createHmac('sha256', key).update(bytes).digest('hex')
}

/** The cause to report when none of the known mistakes yields the signature. */
function unknownCause({ request, body }: SignedMessage): Cause {
  const text = body.toString()
  if (body.length === 0 && !request) {
    return {
      code: 'body_missing',
      message: 'The body is empty: something has read it before. Keep the bytes as they came.',
    }
  }
  // The service's own JSON begins and ends like this; any other callback text has been rewritten.
  if (!request && text.includes('"refId"') && !/^\{"refId":".*\}$/s.test(text)) {
    return {
      code: 'body_reserialised',
      message:
        'The body was parsed and written again, so its bytes are not those that were signed. Keep the bytes as they came, before anything parses them.',
    }
  }
  return {
    code: 'wrong_secret',
    message:
      'No secret here gives this signature: the secret is of another agent, or was replaced by a rotation, or the body, the path or the method is not what was signed.',
  }
}

function clockCauses(t: string, now: Date): Cause[] {
  const lateS = Math.floor(now.getTime() / 1000) - Number(t)
  if (Math.abs(lateS) <= clockToleranceS) return []
  return [
    {
      code: 'clock_off',
      message: `The clock is off by ${Math.abs(lateS)} seconds: it was signed ${lateS > 0 ? 'that long ago' : 'in the future'}, and ${clockToleranceS} are allowed. Set the clock, and sign each attempt anew.`,
    },
  ]
}

/** Finds x-signature in any case, or under a name that is probably a misspelling of it. */
function findHeader(headers: SignedMessage['headers']): {
  value: string | undefined
  causes: Cause[]
} {
  const entries = Object.entries(headers)
  const right = entries.find(([name]) => name.toLowerCase() === 'x-signature')
  if (right) return { value: right[1].trim(), causes: [] }
  const near = entries.find(([name, value]) => /sign|hmac/i.test(name) || /\bv1=/.test(value))
  if (near) {
    const message = `The header is called x-signature, not ${near[0]}.`
    return { value: near[1].trim(), causes: [{ code: 'header_misspelt', message }] }
  }
  const message =
    'The header x-signature is missing: it was not sent, or something in front drops headers.'
  return { value: undefined, causes: [{ code: 'header_missing', message }] }
}

/** x-appid is not signed, but the service rejects requests without it. */
function appIdCauses(headers: SignedMessage['headers']): Cause[] {
  const names = Object.keys(headers)
  const near = names.find((name) => /^(x[-_]?)?app[-_]?id$/i.test(name))
  if (near === undefined || names.some((name) => name.toLowerCase() === 'x-appid')) return []
  return [{ code: 'header_misspelt', message: `The header is called x-appid, not ${near}.` }]
}

function hostIn(headers: SignedMessage['headers']): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'host')?.[1]
}

interface LooseHeader {
  t: string
  isTimeGiven: boolean
  signatures: string[]
  causes: Cause[]
}

/** Reads what it can from a malformed header, and notes what is wrong with it. */
function readLoosely(header: string, now: Date): LooseHeader {
  const parsed = parseSignatureHeader(header)
  if (parsed) return { ...parsed, isTimeGiven: true, causes: [] }
  const t = /(?:^|[\s,;])t\s*[=:]\s*"?(\d{1,15})\b/i.exec(header)?.[1]
  const hex = [...header.matchAll(/(?<![0-9a-zA-Z+/])[0-9a-fA-F]{64}(?![0-9a-zA-Z+/=])/g)].map(
    String,
  )
  const base64 = [...header.matchAll(/(?<![0-9a-zA-Z+/])[A-Za-z0-9+/]{43}=/g)].map((match) =>
    Buffer.from(match[0], 'base64').toString('hex'),
  )
  const causes: Cause[] = []
  const add = (code: Cause['code'], message: string) => causes.push({ code, message })
  if (t === undefined) add('time_missing', 'The header has no t=<unix seconds>.')
  if (t !== undefined && t.length > 12) {
    add('time_in_milliseconds', 't is in milliseconds: it is whole seconds since 1970.')
  }
  if (hex.some((digits) => /[A-F]/.test(digits))) {
    add('header_upper_case', 'The signature is in capitals: write its hex digits in lower case.')
  }
  if (base64.length > 0) add('header_base64', 'The signature is in base64: write it in hex.')
  if (/\s/.test(header)) add('header_spaces', 'There is white space in the header: remove it.')
  if (hex.length + base64.length > 0 && !/\bv1=/.test(header)) {
    add('header_prefix', 'A signature in the header begins with v1=.')
  }
  if (causes.length === 0) {
    const message =
      'The header x-signature does not have the shape t=<unix seconds>,v1=<64 hex digits>, with one t and at most four v1.'
    add('header_malformed', message)
  }
  return {
    t: t ?? String(Math.floor(now.getTime() / 1000)),
    isTimeGiven: t !== undefined && t.length <= 12,
    signatures: [...hex.map((digits) => digits.toLowerCase()), ...base64].slice(0, 4),
    causes,
  }
}

/**
 * The offset at which two buffers first differ and the bytes from there on; undefined if they are equal.
 */
export function firstDifference(
  one: Buffer,
  other: Buffer,
): { at: number; one: Buffer; other: Buffer } | undefined {
  let at = 0
  while (at < one.length && at < other.length && one[at] === other[at]) at++
  if (at === one.length && at === other.length) return undefined
  return { at, one: one.subarray(at, at + 16), other: other.subarray(at, at + 16) }
}
