import { setImmediate as betweenOthers } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { compiled } from '../../lib/compiled.ts'
import { parseExactJson, valueAt } from '../../lib/exact-json.ts'
import { type Currency, currencies, parseDecimal } from '../../lib/money.ts'
import type { ConnectorDocument, EventAt } from './connector-document.ts'
import { eventsOf, isEnd } from './document-faults.ts'
import { hostileNotices } from './hostile-notices.ts'
import { otherBodies } from './other-values.ts'
import type { Asked, CompanyAnswer } from './read-answer.ts'
import { sampleRequests } from './sample-requests.ts'
import { sampleSecrets } from './sample-secrets.ts'
import type { Secrets } from './signed-bytes.ts'
import {
  bytesOfBody,
  type SampleCall,
  type SampleResult,
  sampleCalls,
  tryOn,
} from './try-sample.ts'

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
        theirId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 128,
            description: "the company's own id, for answers that repeat it",
          }),
        ),
        payeeId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: "the company's id of the payee, for answers that repeat it",
          }),
        ),
      },
      { ...strict, description: 'what the answers are about, if they repeat it' },
    ),
    samples: Type.Array(Sample, { minItems: 1, maxItems: 200 }),
  },
  strict,
)
export type SampleSet = Static<typeof SampleSet>

export interface SamplesRun {
  passed: boolean
  results: SampleResult[]
  /** What the set does not show. */
  missing: string[]
}

const checked = compiled(SampleSet)
const maxBytes = 1024 * 1024

/** Reads a sample set; why it is none if it is not. */
export function readSamples(text: string): { set: SampleSet } | { fault: string } {
  let value: unknown
  if (Buffer.byteLength(text) > maxBytes) return { fault: 'The samples are longer than 1 MiB.' }
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

const sampleTime = new Date('2026-01-31T08:30:00Z')

/**
 * Tries samples on a document: each must be read as it says. Adds what a company may do at any time, made of the samples:
 * a page of HTML, half an answer, an unknown one, the same notice again, a forged one. Makes every request too. Nothing is
 * called. A large set takes seconds, so the process does other work between two samples.
 */
export async function runSamples(document: ConnectorDocument, text: string): Promise<SamplesRun> {
  const read = readSamples(text)
  if ('fault' in read) return { passed: false, results: [], missing: [read.fault] }
  const { order, samples } = read.set
  const written = parseExactJson(Buffer.from(text))
  const amountMinor = parseDecimal(order.amount, order.currency)
  const faultOfOrder = !document.currencies.includes(order.currency)
    ? `The order of the samples is in ${order.currency}, which the document does not have.`
    : amountMinor === undefined || amountMinor === 0n
      ? `The order of the samples has an amount that is none in ${order.currency}.`
      : undefined
  if (amountMinor === undefined || faultOfOrder !== undefined) {
    return { passed: false, results: [], missing: [faultOfOrder ?? ''] }
  }
  const asked: Asked = {
    reference: order.reference,
    currency: order.currency,
    amountMinor,
    theirId: order.theirId ?? null,
    payeeId: order.payeeId,
  }
  const keys = sampleSecrets(document)
  const forger = sampleSecrets(document).signing
  const shown: SampleResult[] = []
  const hostile: SampleResult[] = []
  for (const [at, { name, call, status = 200, expect }] of samples.entries()) {
    await betweenOthers()
    const body = bytesOfBody(samples[at]?.body, valueAt(written, `/samples/${at}/body`))
    const answer = { status, body }
    const tried = tryOn(document, call, answer, asked)
    const got = tried.flatMap((each) => each.got)
    shown.push({ name, call, ok: isSame(got, expect), expected: [...expect], tried })
    hostile.push(...aboutOthers(document, name, call, answer, asked, got))
    if (call !== 'notice') hostile.push(...hostileAnswers(document, name, call, answer, asked))
    else if (document.notice) {
      hostile.push(...hostileNotices(document.notice, name, body, { ...keys, forger }, sampleTime))
    }
  }
  const results = [...requestResults(document, asked, keys.signing), ...shown, ...hostile]
  const missing = missingIn(document, shown)
  return { passed: missing.length === 0 && results.every(({ ok }) => ok), results, missing }
}

/** Whether each request can be made. */
function requestResults(
  document: ConnectorDocument,
  asked: Asked,
  secrets: Secrets,
): SampleResult[] {
  return sampleRequests(document, asked, secrets, sampleTime).map(({ call, made }) => {
    const isMade = typeof made !== 'string'
    const got = [isMade ? 'made' : 'not made']
    const fault = isMade ? null : made
    const tried = [{ rule: null, ruleName: null, got, fault }]
    return { name: `the request of ${call}`, call, ok: isMade, expected: ['made'], tried }
  })
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

/** What counts of an answer: it ends something, or shows a payer how to pay. */
const counts =
  /^(paid|rejected|cancelled|returned|accepted with|payment |payout (?!accepted)|cost |line )/

/**
 * The same about another order, another amount or another currency. Whatever a company repeats of the order has to be
 * read, so that it makes a difference.
 */
function aboutOthers(
  document: ConnectorDocument,
  name: string,
  call: SampleCall,
  { status, body }: CompanyAnswer,
  asked: Asked,
  got: readonly string[],
): SampleResult[] {
  if (!got.some((each) => counts.test(each))) return []
  // A notice names no payee: it is of the payout that its reference names.
  const repeated = call === 'notice' ? { ...asked, payeeId: undefined } : asked
  return otherBodies(body, repeated).map(({ what, body: other }) => {
    const tried = tryOn(document, call, { status, body: other }, asked)
    const said = tried.flatMap((each) => each.got)
    const ok = !said.some((each) => counts.test(each) && got.includes(each))
    const says = ok ? null : 'is read as if it were right: let the document read it (echo, amount)'
    const shown = ok ? tried : tried.map((each) => ({ ...each, fault: each.fault ?? says }))
    const expected = [call === 'notice' ? 'something else' : 'unknown']
    return { name: `${name}: ${what}`, call, ok, expected, tried: shown }
  })
}

/** What a set has to show before a connector may be used. */
function missingIn(document: ConnectorDocument, shown: readonly SampleResult[]): string[] {
  const words = (calls: readonly SampleCall[]) =>
    shown
      .filter(({ ok, call }) => ok && calls.includes(call))
      .flatMap(({ tried }) => tried.flatMap(({ got }) => got))
  const has = (calls: readonly SampleCall[], pattern: RegExp) =>
    words(calls).some((each) => pattern.test(each))
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
  if (document.notice && !shown.some(({ call }) => call === 'notice')) missing.push('a notice')
  if (tellsPayments(document, 'notice') && tellsPayments(document, 'askDeposit')) {
    const told = new Set(words(['notice']).filter((each) => each.startsWith('payment ')))
    if (!words(['askDeposit']).some((each) => told.has(each))) {
      missing.push('one payment by notice and by askDeposit, with one id: else it counts twice')
    }
  }
  return [...missing, ...rulesNotShown(document, shown)]
}

function tellsPayments(document: ConnectorDocument, where: 'notice' | 'askDeposit'): boolean {
  return eventsOf(document).some(
    ({ at, event }) => at.startsWith(`/${where}/`) && event.type === 'payment',
  )
}

/** Rules that end something or move money, and that no sample is read by. */
function rulesNotShown(document: ConnectorDocument, shown: readonly SampleResult[]): string[] {
  const isFinal = (means: string) => isEnd(means) || means === 'not_found'
  const matters = (event: EventAt) => event.type !== 'payout' || event.outcome !== 'accepted'
  const { submitPayout, askPayout, expectDeposit, askDeposit, notice } = document
  const final = [
    ...Object.entries({ submitPayout, askPayout, expectDeposit }).flatMap(([call, rules]) =>
      (rules?.answers ?? []).flatMap(({ means, name }, n) =>
        isFinal(means) ? [{ at: `/${call}/answers/${n}`, name }] : [],
      ),
    ),
    ...Object.entries({ askDeposit, notice }).flatMap(([call, rules]) =>
      (rules?.rules ?? []).flatMap(({ events, name }, n) =>
        events.some(matters) ? [{ at: `/${call}/rules/${n}`, name }] : [],
      ),
    ),
  ]
  const hit = new Set(
    shown
      .filter(({ ok }) => ok)
      .flatMap(({ tried }) => tried.flatMap(({ rule, fault }) => (fault === null ? rule : []))),
  )
  return final
    .filter(({ at }) => !hit.has(at))
    .map(({ at, name }) => `a sample of the rule ${at}${name === undefined ? '' : ` (${name})`}`)
}
