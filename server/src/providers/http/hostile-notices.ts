import { type ExactJson, valueAt } from '../../lib/exact-json.ts'
import { Exact } from '../../lib/json-text.ts'
import { clockToleranceS } from '../../lib/signature.ts'
import type { NoticeAt } from './connector-document.ts'
import { readEvent, writtenText } from './read-events.ts'
import { clockText } from './render-request.ts'
import { bytesOver, type Secrets, signatureOver, sortedSignature } from './signed-bytes.ts'
import { pointersRead } from './signing-faults.ts'
import type { SampleResult } from './try-sample.ts'
import { eventsIn, noticeFault, readBody, type SentNotice } from './verify-notice.ts'

export interface SampleKeys {
  signing: Secrets
  checking: Secrets
  /** Of somebody else. */
  forger: Secrets
}

/** What is made of a notice, of repetitions and of forgeries of it, signed with keys that were made for the run. */
export function hostileNotices(
  notice: NoticeAt,
  name: string,
  body: Buffer,
  keys: SampleKeys,
  at: Date,
): SampleResult[] {
  const { verify } = notice
  const later = (ms: number) => new Date(at.getTime() + ms)
  const sent = signedNotice(notice, body, keys.signing, at)
  const check = (what: string, given: SentNotice, expected: string, now = at): SampleResult => {
    const fault = noticeFault(notice, given, keys.checking, now) ?? null
    const got = fault === null ? 'genuine' : 'refused'
    const tried = [{ rule: null, ruleName: null, got: [got], fault }]
    return {
      name: `${name}: ${what}`,
      call: 'notice',
      ok: got === expected,
      expected: [expected],
      tried,
    }
  }
  const refused = (what: string, given: SentNotice, now = at) => check(what, given, 'refused', now)
  const again = signedNotice(notice, body, keys.signing, later(60_000))
  const repeated = check('the same again', again, 'genuine', later(60_000))
  const isSame = String(idsIn(notice, sent.body)) === String(idsIn(notice, again.body))
  const results = [
    check('signed', sent, 'genuine'),
    isSame ? repeated : { ...repeated, ok: false, expected: ['the same ids'] },
    refused('without a signature', { ...sent, headers: {}, body }),
    refused('signed by another', signedNotice(notice, body, keys.forger, at)),
  ]
  if (!('signature' in verify)) return results
  for (const pointer of pointersRead(notice)) {
    const changed = withAnother(notice, sent.body, pointer)
    if (changed) results.push(refused(`with another ${pointer}`, { ...sent, body: changed }))
  }
  if (verify.kind === 'sorted') {
    const joined = withJoined(
      notice,
      sent.body,
      'at' in verify.signature ? verify.signature.at : '',
    )
    if (joined) results.push(refused('with two fields as one', { ...sent, body: joined }))
  } else {
    const longer = Buffer.concat([sent.body, Buffer.from(' ')])
    results.push(refused('with another body', { ...sent, body: longer }))
  }
  if (verify.timestamp) {
    const toleranceS = verify.timestamp.toleranceS ?? clockToleranceS
    results.push(refused('much later', sent, later((toleranceS + 1) * 1000)))
  }
  return results
}

/** The ids of all that a notice reports. */
function idsIn(notice: NoticeAt, body: Buffer): string[] {
  const json = readBody(notice, body)
  const said = json === undefined ? [] : (eventsIn(notice, json) ?? [])
  return said.flatMap((each) => {
    const { events, lines } = readEvent(notice.rules, each)
    return [...events, ...lines].flatMap((event) => [
      event.id,
      ...('paymentId' in event ? [event.paymentId] : []),
      ...('costId' in event ? [event.costId] : []),
    ])
  })
}

/** The body with another value at a pointer; undefined if there is none. */
function withAnother(notice: NoticeAt, body: Buffer, pointer: string): Buffer | undefined {
  const json = readBody(notice, body)
  const value = valueAt(json, pointer)
  if (json === undefined || value === undefined || value === '') return undefined
  return written(notice, withValue(json, pointer.split('/').slice(1), another(value)))
}

function another(value: ExactJson): ExactJson {
  if (value instanceof Exact) return new Exact(value.text === '0' ? '1' : `${value.text}1`)
  return typeof value === 'string' ? `${value}1` : value === true ? false : 'another'
}

function withValue(json: ExactJson, [part, ...rest]: readonly string[], to: ExactJson): ExactJson {
  if (part === undefined) return to
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  if (json instanceof Map) {
    const inner = json.get(name)
    return new Map(json).set(name, inner === undefined ? to : withValue(inner, rest, to))
  }
  if (!Array.isArray(json)) return json
  return json.map((each, at) => (String(at) === name ? withValue(each, rest, to) : each))
}

/** The body with its first two fields, in order of their names, written as one. */
function withJoined(notice: NoticeAt, body: Buffer, own: string): Buffer | undefined {
  const json = readBody(notice, body)
  if (!(json instanceof Map)) return undefined
  const fields = [...json]
    .filter(([name, value]) => `/${name}` !== own && value !== '' && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const [first, second] = fields
  if (!first || !second) return undefined
  const text = (value: ExactJson) => (value instanceof Exact ? value.text : String(value))
  const members = new Map(json)
  members.delete(second[0])
  members.set(first[0], `${text(first[1])}&${second[0]}=${text(second[1])}`)
  return written(notice, members)
}

/** A body as it is sent. */
function written({ format }: NoticeAt, json: ExactJson): Buffer {
  if (format !== 'form' || !(json instanceof Map)) return Buffer.from(writtenText(json))
  const fields = [...json].map(([name, value]): [string, string] => [name, String(value)])
  return Buffer.from(new URLSearchParams(fields).toString())
}

/** A notice as the company would send it. */
export function signedNotice(
  notice: NoticeAt,
  body: Buffer,
  secrets: Secrets,
  now: Date,
): SentNotice {
  const { verify } = notice
  const way = { method: 'POST', path: '/', url: 'https://sluice.example/', ip: addressIn(notice) }
  const headers: Record<string, string> = {}
  const sent: SentNotice = { body, headers, ...way }
  if (verify.kind === 'token') {
    headers[verify.header.toLowerCase()] = `${verify.prefix ?? ''}${secrets(verify.key.secret)}`
    return sent
  }
  if (verify.kind === 'basic') {
    const user = 'text' in verify.user ? verify.user.text : secrets(verify.user.secret)
    const both = `${user}:${secrets(verify.password.secret)}`
    headers.authorization = `Basic ${Buffer.from(both).toString('base64')}`
    return sent
  }
  const timestamp = verify.timestamp ? clockText(verify.timestamp.as, now) : ''
  const { timestamp: clock } = verify
  if (clock && 'header' in clock.in) addTo(headers, clock.in, timestamp)
  if (clock && 'at' in clock.in) sent.body = withMember(notice, sent.body, clock.in.at, timestamp)
  const signature = signatureOf(notice, sent, timestamp, secrets)
  if ('header' in verify.signature) addTo(headers, verify.signature, signature)
  else sent.body = withMember(notice, sent.body, verify.signature.at, signature)
  return sent
}

function signatureOf(
  notice: NoticeAt,
  sent: SentNotice,
  timestamp: string,
  secrets: Secrets,
): string {
  const { verify } = notice
  if (verify.kind === 'token' || verify.kind === 'basic') return ''
  if (verify.kind === 'sorted') {
    const json = readBody(notice, sent.body)
    const own = 'at' in verify.signature ? verify.signature.at : ''
    const fields =
      json instanceof Map
        ? [...json].flatMap(([name, value]): [string, string][] =>
            `/${name}` === own ? [] : [[name, value === null ? '' : plainText(writtenText(value))]],
          )
        : []
    return sortedSignature(verify, fields, secrets) ?? ''
  }
  const header = (name: string) => {
    const value = sent.headers[name.toLowerCase()]
    return typeof value === 'string' ? value : ''
  }
  const { method, path, url, body } = sent
  const message = { timestamp, nonce: '', method, path, query: '', url, body, header }
  return signatureOver(verify, bytesOver(verify.over, message) ?? Buffer.alloc(0), secrets)
}

function plainText(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : json
}

function addTo(
  headers: Record<string, string>,
  { header, field, prefix = '' }: { header: string; field?: string; prefix?: string },
  value: string,
): void {
  const name = header.toLowerCase()
  const written = field === undefined ? prefix + value : `${field}=${prefix}${value}`
  const before = headers[name]
  headers[name] = before === undefined ? written : `${before},${written}`
}

/** The body with one more member, or with another value of it. */
function withMember(notice: NoticeAt, body: Buffer, pointer: string, value: string): Buffer {
  const json = readBody(notice, body) ?? new Map<string, ExactJson>()
  return written(notice, withValue(json, pointer.split('/').slice(1), value))
}

function addressIn({ from }: NoticeAt): string | undefined {
  return from?.[0]?.split('/')[0]
}
