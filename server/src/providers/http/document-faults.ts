import ipaddr from 'ipaddr.js'
import { compiled } from '../../lib/compiled.ts'
import { jsonMembers } from '../../lib/json-members.ts'
import { isTimeZone } from '../../lib/local-time.ts'
import { parseDecimal } from '../../lib/money.ts'
import {
  type Auth,
  type Condition,
  ConnectorDocument,
  type EventAt,
  type PayoutRule,
  type Sign,
  type Verify,
} from './connector-document.ts'
import { type DocumentFault, schemaFaults } from './schema-faults.ts'
import { isIdempotency, isOwnHeader, keysOf, signingFaults } from './signing-faults.ts'
import { placeholdersIn } from './template.ts'

const checked = compiled(ConnectorDocument)
const maxBytes = 256 * 1024

/** Reads a document; all that is wrong with it if anything is. */
export function readDocument(
  text: string,
): { document: ConnectorDocument } | { faults: DocumentFault[] } {
  const whole = (says: string) => ({ faults: [{ at: '', says }] })
  if (Buffer.byteLength(text) > maxBytes) return whole('is longer than 256 KiB')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return whole(`is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const { duplicateKey } = jsonMembers(text)
  if (duplicateKey !== undefined) return whole(`has "${duplicateKey}" twice in one object`)
  if (isNestedDeeply(value)) return whole('is nested too deeply')
  if (!checked.Check(value)) return { faults: schemaFaults(value) }
  const faults = documentFaults(value)
  return faults.length > 0 ? { faults } : { document: value }
}

/** Deeper than any document; without recursion, because that is what it would break. */
function isNestedDeeply(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > 64) return true
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    )
  }
  return false
}

/** What the schema cannot say: what belongs together, and what would be misread. */
export function documentFaults(document: ConnectorDocument): DocumentFault[] {
  const faults: DocumentFault[] = []
  const say = (at: string, says: string) => faults.push({ at, says })
  partsFaults(document, say)
  requestFaults(document, say)
  answerFaults(document, say)
  noticeFaults(document, say)
  tokenFaults(document, say)
  signingFaults(document, say)
  secretFaults(document, say)
  return faults
}

type Say = (at: string, says: string) => void

const calls = ['expectDeposit', 'askDeposit', 'submitPayout', 'askPayout'] as const

/** All events of a document, and where they stand. */
export function eventsOf(document: ConnectorDocument): { at: string; event: EventAt }[] {
  const inRules = (where: string, rules: readonly { events: readonly EventAt[] }[] = []) =>
    rules.flatMap(({ events }, rule) =>
      events.map((event, n) => ({ at: `/${where}/rules/${rule}/events/${n}`, event })),
    )
  return [
    ...inRules('notice', document.notice?.rules),
    ...inRules('askDeposit', document.askDeposit?.rules),
  ]
}

function partsFaults(document: ConnectorDocument, say: Say): void {
  const { base, account, expectDeposit, askDeposit, submitPayout, askPayout, notice } = document
  const hasCalls = calls.some((call) => document[call] !== undefined)
  if (hasCalls && base === undefined) say('/base', 'is required: there are calls')
  if (!hasCalls && account === undefined) say('', 'has no calls: it neither collects nor pays')
  if (account !== undefined) {
    if (hasCalls) say('/account', 'a connector of a bank account only reports its lines')
    if (!notice) say('/notice', 'is required: it says how the lines of the account are reported')
    if (document.currencies.length !== 1) say('/currencies', "must be the account's alone")
  }
  if ((submitPayout === undefined) !== (askPayout === undefined)) {
    say('/askPayout', 'payouts are handed over and asked about: both calls or neither')
  }
  if (document.idempotentByReference && !submitPayout) {
    say('/idempotentByReference', 'says nothing without payouts')
  }
  if (askDeposit && !expectDeposit) say('/askDeposit', 'needs expectDeposit')
  const events = eventsOf(document)
  if (expectDeposit && !events.some(({ event }) => event.type === 'payment')) {
    say('/expectDeposit', 'no notice and no askDeposit tells that a deposit is paid')
  }
  for (const { at, event } of events) {
    if ((event.type === 'line') !== (account !== undefined)) {
      say(at, 'lines are reported by a connector with an account, and nothing else by it')
    }
    idFaults(at, event, say)
    if ('currency' in event && event.currency && 'is' in event.currency) {
      if (!document.currencies.includes(event.currency.is)) {
        say(`${at}/currency`, `${event.currency.is} is not one of its currencies`)
      }
      if (document.currencies.length > 1) {
        say(`${at}/currency`, 'with several currencies it has to be read')
      }
    }
    const time = event.type === 'payment' ? event.paidAt : undefined
    timeFault(`${at}/paidAt`, time, say)
    if (event.type === 'line') timeFault(`${at}/bookedAt`, event.bookedAt, say)
  }
}

/** What counts once is known by its id: one that never changes would count once for ever. */
function idFaults(at: string, event: EventAt, say: Say): void {
  const ids = {
    id: event.id,
    paymentId: 'paymentId' in event ? event.paymentId : undefined,
    costId: 'costId' in event ? event.costId : undefined,
  }
  for (const [name, parts] of Object.entries(ids)) {
    if (parts && !parts.some((part) => typeof part === 'string')) {
      say(`${at}/${name}`, 'must hold a pointer: the same id for all would count once')
    }
  }
}

function timeFault(
  at: string,
  time: { as: string; zone?: string | undefined } | undefined,
  say: Say,
): void {
  if (time?.as !== 'local' || isTimeZone(time.zone ?? '')) return
  say(`${at}/zone`, 'must be a zone such as Asia/Bangkok')
}

const everywhere = ['now.iso', 'now.unix', 'now.unixMs', 'nonce', 'noticeUrl', 'publicUrl']
const ofMoney = ['amount.decimal', 'amount.fixed', 'amount.minor', 'amount.integer']
const ofOrder = [...everywhere, ...ofMoney, 'currency', 'currency.lower']
const ofDeposit = [
  ...ofOrder,
  'txnId',
  'code',
  'expiresAt.iso',
  'expiresAt.unix',
  'expiresAt.unixMs',
  'expiresInS',
  'payer.accountNo',
  'payer.accountName',
  'payer.bankCode',
  'payer.bank',
  'payer.bankNumber',
]
const ofPayout = [
  ...ofOrder,
  'reference',
  'payee.id',
  'payee.accountNo',
  'payee.accountName',
  'payee.bankCode',
  'payee.bank',
  'payee.bankNumber',
]

/** The placeholders that each call may use, beside {setting.*} and {extra.*}. */
export const placeholders = {
  expectDeposit: ofDeposit,
  askDeposit: [...ofDeposit, 'theirId'],
  submitPayout: ofPayout,
  askPayout: [...ofPayout, 'theirId'],
} as const

/** Each call must name what it is about, or its answer could be about anything. */
const needed = {
  expectDeposit: ['txnId', 'code'],
  askDeposit: ['txnId', 'code', 'theirId'],
  submitPayout: ['reference'],
  askPayout: ['reference', 'theirId'],
} as const

function requestFaults(document: ConnectorDocument, say: Say): void {
  const commonHeaders = document.headers ?? {}
  headerFaults('/headers', commonHeaders, document.auth, say)
  for (const [name, text] of Object.entries(commonHeaders)) {
    templateFault('/headers', text, everywhere, document, say)
    if (isIdempotency(name)) say(`/headers/${name}`, 'is of one order: it belongs to a request')
  }
  const keepsId =
    Boolean(document.expectDeposit?.theirId) || Boolean(document.submitPayout?.theirId)
  for (const call of calls) {
    const request = document[call]?.request
    if (!request) continue
    const at = `/${call}/request`
    if (request.json !== undefined && request.form) say(at, 'has json and form: one body')
    if (request.method === 'GET' && (request.json !== undefined || request.form)) {
      say(at, 'a GET has no body')
    }
    headerFaults(`${at}/headers`, request.headers ?? {}, document.auth, say)
    const texts = [
      request.path,
      ...Object.values(request.headers ?? {}),
      ...Object.values(request.query ?? {}).flat(),
      ...Object.values(request.form ?? {}).flat(),
      ...treeTexts(`${at}/json`, request.json, say),
    ]
    repetitionFaults(at, call, request, say)
    const used = texts.flatMap((text) => templateFault(at, text, placeholders[call], document, say))
    if (!needed[call].some((name) => used.includes(name))) {
      say(at, `must hold {${needed[call].join('} or {')}}, by which the company knows it`)
    }
    if (used.includes('theirId') && !keepsId) {
      say(at, '{theirId} is of an answer, and no call says where it stands')
    }
    if (call === 'askDeposit' && used.includes('code') && !usesCodes(document)) {
      say(at, '{code} is unknown to the company: expectDeposit has to name the deposit by it')
    }
    if (used.includes('payee.id') && !document.payees) say('/payees', 'is required by {payee.id}')
    const isNamed = used.includes('payee.accountNo') || used.includes('payee.id')
    if (call === 'submitPayout' && !isNamed && used.some((name) => name.startsWith('extra.'))) {
      say(
        at,
        'must hold {payee.accountNo} or {payee.id}: whom the order names is paid, not whom the agent does',
      )
    }
    const needsBanks = used.some((name) => /^pay(ee|er)\.bank$/.test(name))
    if (needsBanks && !document.banks) say('/banks', 'is required by {payee.bank}')
  }
}

/** Whether the company is given a code for a deposit. */
export function usesCodes({ expectDeposit }: ConnectorDocument): boolean {
  return JSON.stringify(expectDeposit?.request ?? {}).includes('{code}')
}

/** Whether the company knows a deposit by its code alone, so that it repeats the code. */
export function namesByCode(document: ConnectorDocument): boolean {
  const request = JSON.stringify(document.expectDeposit?.request ?? {})
  return usesCodes(document) && !request.includes('{txnId}')
}

/** What differs each time that a request is made. */
const changing = ['now.iso', 'now.unix', 'now.unixMs', 'nonce']

/** A request that is made again must be known as the same one, or it is paid again. */
function repetitionFaults(
  at: string,
  call: keyof typeof needed,
  request: NonNullable<ConnectorDocument['submitPayout']>['request'],
  say: Say,
): void {
  const { path, headers = {}, query = {}, form = {}, json } = request
  const named = [headers, query, form].flatMap((fields) => namedTexts(fields))
  for (const [name, text] of [['path', path] as const, ...named, ...namedTexts(json)]) {
    const used = placeholdersIn(text) ?? []
    const isNaming = needed[call].some((each) => used.includes(each))
    const isKey = isIdempotency(name)
    if ((isNaming || isKey) && changing.some((each) => used.includes(each))) {
      say(at, `"${name}" differs each time: a repetition would be another payment`)
    } else if (isKey && !isNaming) {
      say(at, `"${name}" must hold {${needed[call].join('} or {')}}: one key, one order`)
    }
  }
}

/** Texts of a tree, each with the name that it stands under. */
function namedTexts(node: unknown, name = ''): [name: string, text: string][] {
  if (typeof node === 'string') return [[name, node]]
  if (typeof node !== 'object' || node === null) return []
  const number = numberIn(node)
  if (number !== undefined) return [[name, `{${number}}`]]
  return Object.entries(node).flatMap(([own, each]) =>
    namedTexts(each, Array.isArray(node) ? name : own),
  )
}

function headerFaults(
  at: string,
  headers: Record<string, string>,
  auth: Auth | undefined,
  say: Say,
): void {
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase()
    if (isOwnHeader(name)) say(`${at}/${name}`, 'is made by the service')
    if (lower === 'authorization') {
      say(`${at}/${name}`, auth ? 'is made of auth' : 'use auth, whose secret is sealed')
    }
  }
}

/** Says what is wrong with a text, and returns the placeholders in it. */
function templateFault(
  at: string,
  text: string,
  known: readonly string[],
  { settings = {} }: ConnectorDocument,
  say: Say,
): string[] {
  const found = placeholdersIn(text)
  if (!found) {
    say(at, `"${text}" has braces that are no placeholder`)
    return []
  }
  for (const name of found) {
    const setting = /^setting\.(.+)$/.exec(name)?.[1]
    if (setting !== undefined) {
      if (!Object.hasOwn(settings, setting)) say(at, `there is no setting "${setting}"`)
    } else if (!known.includes(name) && !/^extra\.[A-Za-z0-9_]{1,40}$/.test(name)) {
      say(at, `{${name}} is not known here; known are ${known.join(', ')}`)
    }
  }
  return found
}

/** The texts with placeholders of a tree. */
function treeTexts(at: string, node: unknown, say: Say, depth = 0): string[] {
  if (typeof node === 'string') return [node]
  if (typeof node !== 'object' || node === null) return []
  if (depth > 12) {
    say(at, 'is nested too deeply')
    return []
  }
  const number = numberIn(node)
  if (number !== undefined) return [`{${number}}`]
  if (Object.hasOwn(node, '$number')) say(at, '"$number" stands alone, with the name of a value')
  return Object.values(node).flatMap((each) => treeTexts(at, each, say, depth + 1))
}

/** The placeholder that a node is the number of. */
export function numberIn(node: object): string | undefined {
  const entries = Object.entries(node)
  const [first] = entries
  if (entries.length !== 1 || first?.[0] !== '$number') return undefined
  return typeof first[1] === 'string' ? first[1] : undefined
}

/** What a proxy, an overloaded machine or a redirect answers says nothing of the payout. */
function isUnsure(status: unknown): boolean {
  return (
    typeof status !== 'number' || status >= 500 || (status >= 300 && status < 400) || status === 408
  )
}

/** An account that does not exist, or was closed already, is not a payout that is known already. */
function isDuplicate(word: string): boolean {
  const plain = word.toLowerCase().replace(/[^a-z0-9]+/g, '_')
  if (/^409$|dup|conflict|twice/.test(plain)) return true
  if (/already(?!_?(closed|blocked|frozen|expired|deleted|inactive))/.test(plain)) return true
  return /exist/.test(plain) && !/(no|not|non|in|doesnt|never)_?exist/.test(plain)
}

function duplicateIn(condition: Condition): string | undefined {
  return Object.values(condition).flat().map(String).find(isDuplicate)
}

/** These speak of who asks, or of how often. */
const ofTheAsker = [401, 403, 407, 425, 429]

function answerFaults(document: ConnectorDocument, say: Say): void {
  const sure = (at: string, rule: { if: PayoutRule['if'] }) => {
    if (rule.if.status?.some(isUnsure)) {
      say(`${at}/if/status`, 'a redirect, 408 or 5xx says nothing for sure')
    }
  }
  for (const [n, rule] of (document.submitPayout?.answers ?? []).entries()) {
    const at = `/submitPayout/answers/${n}`
    if (rule.means !== 'accepted') sure(at, rule)
    if (!['accepted', 'paid', 'rejected'].includes(rule.means)) {
      say(at, 'is an answer to a question: a hand-over is taken, paid or refused')
    }
    const known = duplicateIn(rule.if)
    if (rule.means === 'rejected' && known !== undefined) {
      say(at, `"${known}": a duplicate is no refusal, the first copy may be being paid`)
    }
  }
  for (const [n, rule] of (document.askPayout?.answers ?? []).entries()) {
    const at = `/askPayout/answers/${n}`
    if (rule.means === 'accepted') continue
    sure(at, rule)
    const statuses = rule.if.status ?? []
    if (rule.means === 'not_found') {
      if (statuses.some((status) => ofTheAsker.includes(Number(status)))) {
        say(`${at}/if/status`, 'says something of who asks, and nothing of the payout')
      }
    } else if (!statuses.every(isSuccess)) {
      say(`${at}/if/status`, 'a refused question says nothing of the payout: 2xx is needed')
    }
  }
  emptyFaults(document, say)
  echoFaults(document, say)
  for (const [n, rule] of (document.expectDeposit?.answers ?? []).entries()) {
    if (rule.means !== 'rejected') continue
    const at = `/expectDeposit/answers/${n}`
    sure(at, rule)
    const { status: _status, ...words } = rule.if
    const known = duplicateIn(words)
    if (known !== undefined) {
      say(at, `"${known}": a duplicate is no refusal, a payer may have been shown the first copy`)
    }
  }
  for (const [n, rule] of (document.askDeposit?.rules ?? []).entries()) {
    sure(`/askDeposit/rules/${n}`, rule)
  }
}

/** Where nothing is listed nothing was found; it may be there in a moment, so that ends nothing. */
function emptyFaults(document: ConnectorDocument, say: Say): void {
  const { expectDeposit, submitPayout, askPayout, askDeposit } = document
  const ending = [
    ...Object.entries({ expectDeposit, submitPayout, askPayout }).flatMap(([call, rules]) =>
      (rules?.answers ?? []).flatMap((rule, n) =>
        rule.means === 'not_found' ? [] : [{ at: `/${call}/answers/${n}`, rule }],
      ),
    ),
    ...(askDeposit?.rules ?? []).flatMap((rule, n) =>
      rule.events.length === 0 ? [] : [{ at: `/askDeposit/rules/${n}`, rule }],
    ),
  ]
  for (const { at, rule } of ending) {
    const isEmpty = Object.values(rule.if).some((words) =>
      words.some((word) => typeof word === 'object' && word !== null),
    )
    if (isEmpty) say(`${at}/if`, 'an empty list may only mean not_found, or no events')
  }
}

/** Whether the company answered what it was asked. */
export function isSuccess(status: unknown): boolean {
  return typeof status === 'number' && status >= 200 && status < 300
}

/** An answer that ends a payout must say which payout it is about, and of how much. */
function echoFaults(document: ConnectorDocument, say: Say): void {
  const { submitPayout, askPayout } = document
  const ends = askPayout?.answers.some(({ means }) => isEnd(means)) ?? false
  if (ends && askPayout?.echo?.reference === undefined && askPayout?.echo?.theirId === undefined) {
    say('/askPayout/echo', 'must hold reference or theirId: the answer may be about another payout')
  }
  const isPaidAtOnce = submitPayout?.answers.some(({ means }) => means === 'paid') ?? false
  if (isPaidAtOnce && submitPayout?.echo?.reference === undefined) {
    say(
      '/submitPayout/echo',
      'must hold reference where an answer means paid; if the company does not repeat it, let it mean accepted',
    )
  }
  for (const [at, call] of Object.entries({ submitPayout, askPayout })) {
    if (call?.echo?.payee !== undefined && !document.payees) {
      say(`/${at}/echo/payee`, 'is for a document with payees')
    }
  }
  for (const [at, echo] of [
    ['/submitPayout', submitPayout?.echo],
    ['/expectDeposit', document.expectDeposit?.echo],
    ['/askDeposit', document.askDeposit?.echo],
  ] as const) {
    if (echo?.theirId !== undefined) say(`${at}/echo/theirId`, 'is for questions about payouts')
    if (echo?.payee !== undefined && at !== '/submitPayout')
      say(`${at}/echo/payee`, 'is for payouts')
  }
  for (const { at, event } of eventsOf(document)) {
    if (event.type !== 'payout') continue
    if ((event.amount === undefined) !== (event.currency === undefined)) {
      say(at, 'amount and currency stand together')
    }
    const isTold = event.amount !== undefined || submitPayout?.echo?.amount !== undefined
    if (event.outcome === 'paid' && !isTold) {
      say(
        at,
        'must hold amount and currency, or the answer to the hand-over must repeat the amount',
      )
    }
  }
}

/** Whether nothing more is asked about a payout after this. */
export function isEnd(means: string): boolean {
  return ['paid', 'rejected', 'cancelled', 'returned'].includes(means)
}

function noticeFaults(document: ConnectorDocument, say: Say): void {
  const { notice, sign } = document
  if (sign) {
    signFaults('/sign', sign, say)
    const { put, timestamp } = sign
    if ((put.header === undefined) === (put.field === undefined)) {
      say('/sign/put', 'must be a header or a field')
    }
    if (put.as !== undefined && placeholdersIn(put.as) === undefined) {
      say('/sign/put/as', 'has braces that are no placeholder')
    }
    if (hasPart(sign, 'timestamp') && !timestamp) say('/sign/timestamp', 'is required by over')
    const { headers, expectDeposit, askDeposit, submitPayout, askPayout } = document
    const sent = JSON.stringify([
      headers,
      put.as,
      expectDeposit,
      askDeposit,
      submitPayout,
      askPayout,
    ])
    const isSent = sign.nonce?.header !== undefined || sent.includes('nonce')
    if (hasPart(sign, 'nonce') && !isSent) say('/sign/nonce', 'is signed, and sent nowhere')
  }
  if (!notice) return
  const { verify, from = [] } = notice
  signFaults('/notice/verify', verify, say)
  for (const [n, each] of from.entries()) {
    if (!isNetwork(each)) say(`/notice/from/${n}`, 'is neither an address nor a network')
  }
  if ('over' in verify) {
    const isWhole = hasPart(verify, 'body') || hasPart(verify, 'bodySha256')
    if (!isWhole) say('/notice/verify/over', 'must hold the body: the rest could be forged')
    if (hasPart(verify, 'timestamp') && !verify.timestamp) {
      say('/notice/verify/timestamp', 'is required by over')
    }
    if (hasPart(verify, 'nonce')) {
      say('/notice/verify/over', 'nonce is of requests: name the header of a notice that has it')
    }
  }
  if (isWeak(verify) && from.length === 0) {
    say(
      '/notice/from',
      'is required: md5 can be forged, and so can a hash whose key is at its beginning alone',
    )
  }
}

/** A token is believed as far as the document says; beyond that there must be a question. */
function tokenFaults(document: ConnectorDocument, say: Say): void {
  const { notice, askDeposit, account, currencies } = document
  if (!notice) return
  const { verify, tokenLimits } = notice
  const isSigned = verify.kind !== 'token' && verify.kind !== 'basic'
  if (tokenLimits && (isSigned || account !== undefined)) {
    const says = isSigned ? 'is for notices without a signature' : 'the bank account has its own'
    say('/notice/tokenLimits', says)
  }
  for (const [currency, limit] of Object.entries(tokenLimits ?? {})) {
    const at = `/notice/tokenLimits/${currency}`
    const own = currencies.find((each) => each === currency)
    if (!own) say(at, 'is not one of its currencies')
    else if (Object.values(limit).some((text) => parseDecimal(text, own) === undefined)) {
      say(at, `has an amount that is none in ${currency}`)
    }
  }
  const tellsPayments = notice.rules.some(({ events }) =>
    events.some(({ type }) => type === 'payment'),
  )
  if (!isSigned && tellsPayments && !askDeposit && !tokenLimits) {
    say(
      '/notice/tokenLimits',
      'is required: a token can be used by whoever has seen one, and without askDeposit nothing confirms a payment',
    )
  }
}

function signFaults(at: string, scheme: Sign | Verify, say: Say): void {
  if (scheme.kind !== 'sorted') return
  if (isWeak(scheme) && !scheme.weak) {
    say(`${at}/weak`, 'md5 is weak, as is a key at the beginning alone: say so with "weak": true')
  }
  for (const name of ['keyAfter', 'keyBefore'] as const) {
    if (scheme[name] !== undefined && scheme.with.startsWith('hmac-')) {
      say(`${at}/${name}`, 'is for a plain hash: an HMAC has its key by itself')
    }
  }
}

/** Whoever has seen a hash of a key and a text can go on with it, and make that of a longer text. */
function isWeak(scheme: Sign | Verify): boolean {
  if (scheme.kind !== 'sorted' || scheme.with.startsWith('hmac-')) return false
  const isBeforeAlone = scheme.keyBefore !== undefined && scheme.keyAfter === undefined
  return scheme.with === 'md5' || isBeforeAlone
}

function hasPart(scheme: Sign | Verify, part: string): boolean {
  return 'over' in scheme && scheme.over.some((each) => each === part)
}

/** Whether a text is an IP address or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  return text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text)
}

/** The names of the secrets that a document uses. */
export function secretsUsed(document: ConnectorDocument): Set<string> {
  return new Set(keysOf(document).map(({ key }) => key.secret))
}

function secretFaults(document: ConnectorDocument, say: Say): void {
  const used = secretsUsed(document)
  for (const name of used) {
    if (!Object.hasOwn(document.secrets, name)) {
      say('/secrets', `"${name}" is used and not in the list`)
    }
  }
  for (const name of Object.keys(document.secrets)) {
    if (!used.has(name)) say(`/secrets/${name}`, 'is not used')
  }
}
