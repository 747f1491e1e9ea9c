import ipaddr from 'ipaddr.js'
import { type ExactJson, parseExactJson, valueAt } from '../../lib/exact-json.ts'
import { Exact } from '../../lib/json-text.ts'
import { clockToleranceS } from '../../lib/signature.ts'
import type { NoticeAt, Verify, Where } from './connector-document.ts'
import { textAt, timeOf } from './read-value.ts'
import {
  bytesOver,
  isAnyOf,
  isSignedBy,
  keyBytes,
  keyOrText,
  type Secrets,
  sortedSignature,
} from './signed-bytes.ts'

/** A notice as it came. */
export interface SentNotice {
  body: Buffer
  headers: Record<string, string | string[] | undefined>
  method: string
  /** With its query, as it was asked for. */
  path: string
  /** The address that it is known by outside. */
  url: string
  /** Where it came from; undefined if that is not known. */
  ip: string | undefined
}

const maxSignatures = 8

/**
 * Why a notice is not the company's; undefined if it is. The signature is checked over the bytes that came, whatever
 * they say.
 */
export function noticeFault(
  notice: NoticeAt,
  sent: SentNotice,
  secrets: Secrets,
  now: Date,
): string | undefined {
  if (notice.from && !isFrom(notice.from, sent.ip)) return 'it comes from another address'
  const { verify } = notice
  try {
    switch (verify.kind) {
      case 'token':
        return isAnyOf(`${verify.prefix ?? ''}${keyBytes(verify.key, secrets)}`, [
          headerOf(sent, verify.header) ?? '',
        ])
          ? undefined
          : 'its token is not the one'
      case 'basic': {
        const both = `${keyOrText(verify.user, secrets)}:${keyBytes(verify.password, secrets)}`
        const expected = `Basic ${Buffer.from(both).toString('base64')}`
        const isIt = isAnyOf(expected, [headerOf(sent, 'authorization') ?? ''])
        return isIt ? undefined : 'its user or password is not the one'
      }
      default:
        return signatureFault(verify, sent, readBody(notice, sent.body), secrets, now)
    }
  } catch (error) {
    // A key that cannot be read, or a signature that is none, signs nothing.
    return `it cannot be checked: ${error instanceof Error ? error.message : String(error)}`
  }
}

function signatureFault(
  verify: Verify & { kind: 'hmac' | 'rsa' | 'ed25519' | 'sorted' },
  sent: SentNotice,
  body: ExactJson | undefined,
  secrets: Secrets,
  now: Date,
): string | undefined {
  const signatures = textsIn(verify.signature, sent, body)
  if (signatures.length === 0) return 'it has no signature'
  if (signatures.length > maxSignatures) return 'it has too many signatures'
  const [timestamp, second] = verify.timestamp ? textsIn(verify.timestamp.in, sent, body) : ['']
  if (timestamp === undefined || second !== undefined) return 'it has no time, or two'
  if (!isSigned(verify, sent, body, { signatures, timestamp }, secrets)) {
    return 'its signature is not right'
  }
  if (!verify.timestamp) return undefined
  const at = timeOf(timestamp, verify.timestamp.as)
  const toleranceMs = (verify.timestamp.toleranceS ?? clockToleranceS) * 1000
  const isNow = at && Math.abs(now.getTime() - at.getTime()) <= toleranceMs
  return isNow ? undefined : 'its time is not now'
}

function isSigned(
  verify: Verify & { kind: 'hmac' | 'rsa' | 'ed25519' | 'sorted' },
  sent: SentNotice,
  body: ExactJson | undefined,
  { signatures, timestamp }: { signatures: readonly string[]; timestamp: string },
  secrets: Secrets,
): boolean {
  if (verify.kind === 'sorted') {
    const expected = sortedSignature(verify, plainFields(body, verify.signature), secrets)
    return expected !== undefined && isAnyOf(expected, signatures)
  }
  const [path = '', query = ''] = sent.path.split(/\?(.*)/s)
  const bytes = bytesOver(verify.over, {
    timestamp,
    nonce: '',
    method: sent.method,
    path,
    query,
    url: sent.url,
    body: sent.body,
    header: (name) => headerOf(sent, name),
  })
  return bytes !== undefined && isSignedBy(verify, bytes, signatures, secrets)
}

/**
 * The names and values of the body, without the signature; undefined for a value that is not plain. One with & in it
 * could be split into other fields, whose signature is the same.
 */
function plainFields(
  body: ExactJson | undefined,
  signature: Where,
): [string, string | undefined][] {
  if (!(body instanceof Map)) return [['', undefined]]
  const own = 'at' in signature ? signature.at : ''
  return [...body].flatMap(([name, value]): [string, string | undefined][] =>
    `/${name}` === own ? [] : [[name, /[&=]/.test(name) ? undefined : unsplit(value)]],
  )
}

function unsplit(value: ExactJson): string | undefined {
  const text = plainText(value)
  return text?.includes('&') ? undefined : text
}

function plainText(value: ExactJson): string | undefined {
  if (value === null) return ''
  if (value instanceof Exact) return value.text
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}

/** The texts that stand there; several only in a header such as `t=1,v1=ab,v1=cd`, or `ab,cd` while a key is rotated. */
function textsIn(where: Where, sent: SentNotice, body: ExactJson | undefined): string[] {
  if ('at' in where) return [textAt(body, where.at)].filter((each) => each !== undefined)
  const header = headerOf(sent, where.header)
  if (header === undefined || header.length > 4096) return []
  const { field, prefix = '' } = where
  const parts = prefix.includes(',') ? [header] : header.split(',').map((part) => part.trim())
  const texts =
    field === undefined
      ? parts
      : parts
          .filter((part) => part.startsWith(`${field}=`))
          .map((part) => part.slice(field.length + 1))
  return texts
    .filter((text) => text.startsWith(prefix) && text.length > prefix.length)
    .map((text) => text.slice(prefix.length))
}

/** A header that stands there once. */
function headerOf({ headers }: SentNotice, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : undefined
}

/** What a notice says, as JSON; a form is an object of texts. Undefined if it cannot be read. */
export function readBody({ format = 'json' }: NoticeAt, body: Buffer): ExactJson | undefined {
  if (format === 'json') return parseExactJson(body)
  const fields = new Map<string, ExactJson>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (fields.has(name)) return undefined
    fields.set(name, value)
  }
  return fields.size > 0 ? fields : undefined
}

function isFrom(networks: readonly string[], ip: string | undefined): boolean {
  if (ip === undefined || !ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return networks.some((each) => {
    const [network, bits] = each.includes('/')
      ? ipaddr.parseCIDR(each)
      : ([ipaddr.process(each), undefined] as const)
    if (network.kind() !== address.kind()) return false
    return address.match(network, bits ?? (address.kind() === 'ipv4' ? 32 : 128))
  })
}

/** The events in a body; undefined if they are not where they should be. */
export function eventsIn({ events }: NoticeAt, body: ExactJson): readonly ExactJson[] | undefined {
  if (events === undefined) return Array.isArray(body) ? undefined : [body]
  const list = valueAt(body, events)
  return Array.isArray(list) && list.length >= 1 && list.length <= 100 ? list : undefined
}
