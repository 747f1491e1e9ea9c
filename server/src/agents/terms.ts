import ipaddr from 'ipaddr.js'
import { parseFeeRule } from '../lib/fee.ts'
import { type Currency, maxAmount } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { frameOriginFaults, readFrameOrigins } from './frame-origins.ts'

export const methods = ['link', 'link+qrcode', 'link+transfer', 'link+qrcode+transfer'] as const

export type Method = (typeof methods)[number]

/** What a term is: each door reads and shows a kind in one way. */
type TermKind = 'text' | 'optional' | 'address' | 'fee' | 'choice' | 'units' | 'whole' | 'list'

type TermGroup = 'addresses' | 'fees' | 'limits' | 'page' | 'access'

/** Something that an operator says of an agent. */
export interface Term<Value = unknown, Field extends string = string> {
  /** What the API and the console call it; the command line too, with dashes. */
  field: Field
  kind: TermKind
  /** What it is about, and where the console shows it. */
  group: TermGroup
  /** What is typed on the command line: `<url>`. */
  typed: string
  /** For people who set it. */
  about: string
  /** What it has to be, after "must be". */
  must: string
  /** Until somebody says otherwise. */
  initially: Value
  choices?: readonly string[]
  /** The bounds of a number; how long a text may be. */
  least?: number
  most?: number
  /** What is wrong with a value, beyond its shape. */
  faults(value: Value, currency: Currency): string[]
  /** What is kept, where that is not what was said. */
  read?(said: Value): Value
}

/**
 * Everything that operators say of an agent. The columns of `agents`, the options of the command line, the
 * fields of the console and its API, and the checks follow from this table.
 */
export const terms = {
  name: text('name', 128, 'what people call it'),
  depositCallbackUrl: address('deposit_callback', 'where outcomes of deposits are sent'),
  withdrawCallbackUrl: address('withdraw_callback', 'where outcomes of withdrawals are sent'),
  depositFee: fee('deposit_fee'),
  withdrawFee: fee('withdraw_fee'),
  revertFee: choice('revert_fee', ['return', 'keep'], 'the fee of a payout that came back'),
  lateMoney: choice('late_money', ['review', 'credit'], 'money late or of another amount'),
  method: {
    ...choice('method', methods, 'how payers can pay'),
    group: 'page',
    typed: 'method',
    must: `one of ${methods.join(', ')}`,
    initially: 'link+qrcode+transfer',
  } satisfies Term<Method> as Term<Method, 'method'>,
  expiresInS: {
    ...whole('expires_in', 1, 2_592_000, 'seconds', 900),
    group: 'page',
    typed: 'seconds',
    about: 'how long a deposit stays open',
  },
  minDeposit: units('min_deposit', 1n),
  maxDeposit: units('max_deposit', maxAmount),
  minWithdraw: units('min_withdraw', 1n),
  maxWithdraw: units('max_withdraw', maxAmount),
  rateLimit: {
    ...whole('rate_limit', 0, 1_000_000, 'requests a second', 200),
    about: 'requests a second, 0 for no limit',
  },
  allowedIps: {
    ...list('allow_ip', 'cidr...', 'only requests from these addresses'),
    must: 'a list of addresses or CIDR ranges; empty: every address',
    faults: (ranges: string[]) =>
      ranges
        .filter((range) => !ipaddr.isValid(range) && !ipaddr.isValidCIDR(range))
        .map((range) => `"${range}" is not an address or a CIDR range`),
  },
  /** Who may show its payment page in a frame; empty: nobody, `any`: everybody. */
  frameOrigins: {
    ...list(
      'frame_origin',
      'origin...',
      'who may show the payment page in a frame: origins, "any" or "none"',
    ),
    group: 'page',
    must: 'a list of origins such as https://shop.example; any, alone, for every origin; empty for nobody; a new agent in live must have it said',
    faults: frameOriginFaults,
    read: readFrameOrigins,
  },
  support: {
    ...text('support', 500, 'whom payers ask; shown on the payment page'),
    kind: 'optional' as const,
    initially: null as string | null,
    faults: (said: string | null) =>
      said === null || isPrintable(said, 500) ? [] : ['must be 1 to 500 printable characters'],
  },
} satisfies Record<string, Term>

type Table = typeof terms
export type TermName = keyof Table

/** What was agreed with an agent. Limits are in whole units. */
export type Terms = { [Name in TermName]: Table[Name]['initially'] }

/** The same under the names of the API: whole units are numbers there, far below what a number holds exactly. */
export type TermsView = {
  [Name in TermName as Table[Name]['field']]: Table[Name]['initially'] extends bigint
    ? number
    : Table[Name]['initially']
}

export const termNames = Object.keys(terms) as TermName[]

/** A term by its name, whatever its values are. */
export const termOf = (name: TermName): Term => terms[name]

/** The column of `agents` that keeps a term. */
export function columnOf(name: TermName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Something made for each term, by the terms' names. */
function eachTerm<Made>(make: (term: Term, name: TermName) => unknown): Made {
  return Object.fromEntries(termNames.map((name) => [name, make(termOf(name), name)])) as Made
}

export const initialTerms: Terms = eachTerm((term) => term.initially)

export function termsFromRow(row: Record<string, unknown>): Terms {
  return eachTerm((_term, name) => row[columnOf(name)])
}

export function termsView(agent: Terms): TermsView {
  const shown = termNames.map((name) => {
    const value = agent[name]
    return [termOf(name).field, typeof value === 'bigint' ? Number(value) : value]
  })
  return Object.fromEntries(shown)
}

/** The terms with what is said of them; what is not said stays. */
export function appliedTerms(now: Terms, said: Partial<TermsView>): Terms {
  const given: Record<string, unknown> = said
  return eachTerm((term, name) => {
    const value = given[term.field]
    if (value === undefined) return now[name]
    if (term.kind === 'units') return Number.isInteger(value) ? BigInt(value as number) : -1n
    return term.read ? term.read(value) : value
  })
}

/** Something wrong with one of an agent's terms, under the name that the API has for it. */
export interface TermsFault {
  field: string
  message: string
}

/** What can be seen to be wrong without asking anybody. */
export function shapeFaults(said: Terms, currency: Currency): TermsFault[] {
  const faults = termNames.flatMap((name) => {
    const term = termOf(name)
    return term.faults(said[name], currency).map((message) => ({ field: term.field, message }))
  })
  for (const [direction, min, max] of [
    ['deposit', said.minDeposit, said.maxDeposit],
    ['withdraw', said.minWithdraw, said.maxWithdraw],
  ] as const) {
    if (min >= 1n && min <= max && max <= maxAmount) continue
    const message = `must be whole units, from 1 up to the largest ${direction}, which is at most ${maxAmount}`
    faults.push({ field: `min_${direction}`, message })
  }
  return faults
}

function text<Field extends string>(
  field: Field,
  most: number,
  about: string,
): Term<string, Field> {
  const must = `1 to ${most} printable characters`
  const faults = (said: string) => (isPrintable(said, most) ? [] : [`must be ${must}`])
  return {
    field,
    kind: 'text',
    group: 'page',
    typed: 'text',
    about,
    must,
    most,
    initially: '',
    faults,
  }
}

/** Whether an address may be called is asked when it changes: that needs the network. */
function address<Field extends string>(field: Field, about: string): Term<string | null, Field> {
  const must = 'an http or https URL, or null'
  const faults = () => []
  return {
    field,
    kind: 'address',
    group: 'addresses',
    typed: 'url',
    about,
    must,
    initially: null,
    faults,
  }
}

function fee<Field extends string>(field: Field): Term<string, Field> {
  const must = 'PERCENT%, FIXED or PERCENT%+FIXED'
  const faults = (said: string, currency: Currency) => {
    const parsed = parseFeeRule(said, currency)
    return typeof parsed === 'string' ? [parsed] : []
  }
  return {
    field,
    kind: 'fee',
    group: 'fees',
    typed: 'rule',
    about: must,
    must,
    initially: '0%',
    faults,
  }
}

/** The first of them until somebody says otherwise. */
function choice<Field extends string, const Of extends readonly [string, ...string[]]>(
  field: Field,
  choices: Of,
  about: string,
): Term<Of[number], Field> {
  const must = `${choices.join(' or ')}: ${about}`
  const [initially] = choices
  const faults = () => []
  return {
    field,
    kind: 'choice',
    group: 'fees',
    typed: 'what',
    about,
    must,
    choices,
    initially,
    faults,
  }
}

function whole<Field extends string>(
  field: Field,
  least: number,
  most: number,
  unit: string,
  initially: number,
): Term<number, Field> {
  const must = `${least} to ${most} ${unit}`
  const isWithin = (said: number) => Number.isInteger(said) && said >= least && said <= most
  const faults = (said: number) => (isWithin(said) ? [] : [`must be ${must}`])
  return {
    field,
    kind: 'whole',
    group: 'access',
    typed: 'number',
    about: unit,
    must,
    least,
    most,
    initially,
    faults,
  }
}

/** How they go together is looked at for all of them at once. */
function units<Field extends string>(field: Field, initially: bigint): Term<bigint, Field> {
  const about = 'whole units'
  const faults = () => []
  return {
    field,
    kind: 'units',
    group: 'limits',
    typed: 'amount',
    about,
    must: about,
    initially,
    faults,
  }
}

function list<Field extends string>(
  field: Field,
  typed: string,
  about: string,
): Term<string[], Field> {
  const faults = () => []
  return { field, kind: 'list', group: 'access', typed, about, must: about, initially: [], faults }
}
