import { createHmac, generateKeyPairSync } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { parseExactJson } from '../../lib/exact-json.ts'
import { type Currency, currencies, parseDecimal } from '../../lib/money.ts'
import { clockToleranceS } from '../../lib/signature.ts'
import type { ConnectorDocument, NoticeAt, Verify } from './connector-document.ts'
import type { Asked, CompanyAnswer } from './read-answer.ts'
import { readEvent, writtenText } from './read-events.ts'
import { clockText } from './render-request.ts'
import { bytesOver, type Secrets, signatureOver, sortedSignature } from './signed-bytes.ts'
import { bytesOfBody, type SampleCall, sampleCalls, type Tried, tryOn } from './try-sample.ts'
import { eventsIn, noticeFault, readBody, type SentNotice } from './verify-notice.ts'

const strict = { additionalProperties: false }

const Sample = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    call: Type.Unsafe<SampleCall>({ enum: sampleCalls }),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    body: Type.Unknown({ description: 'JSON, or the text itself' }),
    expect: Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 }),
  },
  strict,
)

/** Samples of what a company says, and what each must be read as. */
export const SampleSet = Type.Object(
  {
    $schema: Type.Optional(Type.String({ maxLength: 300 })),
    order: Type.Object(
      {
        reference: Type.String({ minLength: 1, maxLength: 100 }),
        amount: Type.String({ pattern: '^\\d{1,12}(\\.\\d{1,4})?$' }),
        currency: Type.Unsafe<Currency>({ enum: currencies }),
      },
      { ...strict, description: 'what the answers are about, if they repeat it' },
    ),
    samples: Type.Array(Sample, { minItems: 1, maxItems: 200 }),
  },
  strict,
)
export type SampleSet = Static<typeof SampleSet>

/** What became of one sample, or of something that was made of it. */
export interface SampleResult {
  name: string
  call: SampleCall
  ok: boolean
  expected: string[]
  tried: Tried[]
}

export interface SamplesRun {
  passed: boolean
  results: SampleResult[]
  /** What the set does not show. */
  missing: string[]
}

const checked = Compile(SampleSet)

/** Reads a sample set; why it is none if it is not. */
export function readSamples(text: string): { set: SampleSet } | { fault: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { fault: 'The samples are not JSON.' }
  }
  if (parseExactJson(Buffer.from(text)) === undefined) {
    return { fault: 'The samples have a member twice, or are nested too deeply.' }
  }
  if (checked.Check(value)) return { set: value }
  const [, [first]] = checked.Errors(value)
  return { fault: `The samples are not right at ${first?.instancePath}: ${first?.message}.` }
}

/**
 * Tries samples on a document: each must be read as it says. Adds what a company may do at any time, made of the samples:
 * a page of HTML, half an answer, an unknown one, the same notice again, a forged one. Nothing is called.
 */
export function runSamples(document: ConnectorDocument, text: string): SamplesRun {
  const read = readSamples(text)
  if ('fault' in read) return { passed: false, results: [], missing: [read.fault] }
  const { order, samples } = read.set
  const asked: Asked = {
    reference: order.reference,
    currency: order.currency,
    amountMinor: parseDecimal(order.amount, order.currency) ?? 0n,
  }
  const results: SampleResult[] = samples.flatMap(({ name, call, status = 200, expect }, at) => {
    const body = bytesOfBody(samples[at]?.body, text, `/samples/${at}/body`)
    const answer = { status, body }
    const tried = tryOn(document, call, answer, asked)
    const got = tried.flatMap((each) => each.got)
    const own = { name, call, ok: isSame(got, expect), expected: [...expect], tried }
    if (call !== 'notice') return [own, ...hostileAnswers(document, name, call, answer, asked)]
    return document.notice ? [own, ...hostileNotices(document.notice, name, body)] : [own]
  })
  const missing = missingIn(document, results)
  return { passed: missing.length === 0 && results.every(({ ok }) => ok), results, missing }
}

function isSame(got: readonly string[], expected: readonly string[]): boolean {
  return got.length === expected.length && got.every((each, at) => each === expected[at])
}

/** Outcomes that end nothing. */
const harmless = new Set(['unknown', 'accepted'])

function hostileAnswers(
  document: ConnectorDocument,
  name: string,
  call: Exclude<SampleCall, 'notice'>,
  { status, body }: CompanyAnswer,
  asked: Asked,
): SampleResult[] {
  const html = Buffer.from('<!doctype html><html><body>Service is being updated</body></html>')
  const half = body.subarray(0, Math.floor(body.length / 2))
  const hostile: [string, CompanyAnswer][] = [
    ['HTML with 200', { status: 200, body: html }],
    ['HTML with its status', { status, body: html }],
    ['an unknown body', { status, body: Buffer.from('{"unknown":"body"}') }],
    ['half of it', { status, body: half }],
    ['nothing', { status, body: Buffer.alloc(0) }],
    ['the same with 502', { status: 502, body }],
    ['too much', { status, body, isCut: true }],
  ]
  return hostile.map(([what, answer]) => {
    const tried = tryOn(document, call, answer, asked)
    const got = tried.flatMap((each) => each.got)
    const ok = got.every((each) => harmless.has(each))
    return { name: `${name}: ${what}`, call, ok, expected: ['unknown'], tried }
  })
}

const sampleTime = new Date('2026-01-31T08:30:00Z')

function hostileNotices(notice: NoticeAt, name: string, body: Buffer): SampleResult[] {
  const secrets = secretsForSamples(notice.verify)
  const { verify } = notice
  const sent = signedNotice(notice, body, secrets.signing, sampleTime)
  const check = (what: string, given: SentNotice, isGenuine: boolean, now = sampleTime) => {
    const fault = noticeFault(notice, given, secrets.checking, now)
    const ok = (fault === undefined) === isGenuine
    const got = [fault === undefined ? 'genuine' : 'refused']
    return {
      name: `${name}: ${what}`,
      call: 'notice' as const,
      ok,
      expected: [isGenuine ? 'genuine' : 'refused'],
      tried: [{ rule: null, ruleName: null, got, fault: fault ?? null }],
    }
  }
  const forged = createHmac('sha256', 'nobody').update(body).digest('hex')
  const other = secretsForSamples(verify)
  const forger: Secrets = (secret) =>
    other.signing(secret)?.startsWith('-----') ? other.signing(secret) : `${forged}`
  const results = [
    check('signed', sent, true),
    check('without a signature', { ...sent, headers: {}, body }, false),
    check('signed by another', signedNotice(notice, body, forger, sampleTime), false),
    {
      ...check('the same again', sent, true),
      ok: isSame(idsIn(notice, sent.body), idsIn(notice, sent.body)),
    },
  ]
  if ('signature' in verify && !('at' in verify.signature)) {
    const changed = Buffer.concat([sent.body, Buffer.from(' ')])
    results.push(check('with another body', { ...sent, body: changed }, verify.kind === 'sorted'))
  }
  if ('timestamp' in verify && verify.timestamp) {
    const lateMs = ((verify.timestamp.toleranceS ?? clockToleranceS) + 1) * 1000
    const later = new Date(sampleTime.getTime() + lateMs)
    results.push(check('much later', sent, false, later))
  }
  return results
}

function idsIn(notice: NoticeAt, body: Buffer): string[] {
  const json = readBody(notice, body)
  const said = json === undefined ? [] : (eventsIn(notice, json) ?? [])
  return said.flatMap((each) => readEvent(notice.rules, each).events.map(({ id }) => id))
}

/** Secrets for trying: nobody's, and for RSA and Ed25519 a pair of keys. */
function secretsForSamples(verify: Verify): { signing: Secrets; checking: Secrets } {
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const publicPem = { type: 'spki', format: 'pem' } as const
  if (verify.kind === 'rsa' || verify.kind === 'ed25519') {
    const { privateKey, publicKey } =
      verify.kind === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ed25519')
    return {
      signing: () => privateKey.export(pem).toString(),
      checking: () => publicKey.export(publicPem).toString(),
    }
  }
  const secret = Buffer.from('secret of samples').toString('hex')
  return { signing: () => secret, checking: () => secret }
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

/** The body with one more member, or with another value of it; only of the outermost object. */
function withMember(notice: NoticeAt, body: Buffer, pointer: string, value: string): Buffer {
  const name = pointer.slice(1)
  if (notice.format === 'form') {
    const form = new URLSearchParams(body.toString())
    form.set(name, value)
    return Buffer.from(form.toString())
  }
  const json = parseExactJson(body)
  const members = new Map(json instanceof Map ? json : [])
  members.set(name, value)
  return Buffer.from(writtenText(members))
}

function addressIn({ from }: NoticeAt): string | undefined {
  return from?.[0]?.split('/')[0]
}

/** What a set has to show before a connector may be used. */
function missingIn(document: ConnectorDocument, results: readonly SampleResult[]): string[] {
  const has = (calls: readonly SampleCall[], pattern: RegExp) =>
    results.some(
      ({ ok, call, tried }) =>
        ok &&
        calls.includes(call) &&
        tried.some(({ got }) => got.some((each) => pattern.test(each))),
    )
  const ofDeposits = ['expectDeposit', 'askDeposit', 'notice'] as const
  const ofPayouts = ['submitPayout', 'askPayout', 'notice'] as const
  const missing: string[] = []
  if (document.expectDeposit) {
    if (!has(ofDeposits, /^accepted with /)) missing.push('a deposit that is taken (expectDeposit)')
    if (!has(ofDeposits, /^payment /)) missing.push('a deposit that is paid (notice or askDeposit)')
    if (!has(ofDeposits, /^deposit_ended |^rejected$/))
      missing.push('a deposit that fails or is refused')
  }
  if (document.submitPayout) {
    if (!has(ofPayouts, /^paid$|^payout paid /)) missing.push('a payout that is paid')
    if (!has(ofPayouts, /^rejected(,|$)|^payout rejected/)) missing.push('a payout that is refused')
    if (!has(['submitPayout'], /^accepted$/)) missing.push('a payout that is taken (submitPayout)')
  }
  if (document.account !== undefined && !has(['notice'], /^line /))
    missing.push('a line of the account')
  if (document.notice && !results.some(({ call }) => call === 'notice')) missing.push('a notice')
  return missing
}
