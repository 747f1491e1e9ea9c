import ipaddr from 'ipaddr.js'
import { parseFeeRule } from '../lib/fee.ts'
import { type Currency, maxAmount } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { noReserve, parseReserveRule } from '../lib/reserve-rule.ts'
import { frameOriginFaults, readFrameOrigins } from './frame-origins.ts'
import { isReturnUrl } from './return-url.ts'
import { parseSettleTo } from './settle-to.ts'

export const methods = ['link', 'link+qrcode', 'link+transfer', 'link+qrcode+transfer'] as const

export type Method = (typeof methods)[number]

/** The kind of a term, which determines how the API, the console and the command line read and show it. */
type TermKind = 'text' | 'optional' | 'address' | 'fee' | 'choice' | 'units' | 'whole' | 'list'

type TermGroup = 'addresses' | 'fees' | 'settlement' | 'limits' | 'page' | 'access'

/** A setting of an agent. */
export interface Term<Value = unknown, Field extends string = string> {
  /** The name in the API and the console, and, with dashes, on the command line. */
  field: Field
  kind: TermKind
  /** The topic, which decides where the console shows it. */
  group: TermGroup
  /** The placeholder on the command line: `<url>`. */
  typed: string
  /** The description for operators. */
  about: string
  /** The requirement, to follow "must be". */
  must: string
  /** The default value. */
  initially: Value
  choices?: readonly string[]
  /** The bounds of a number, or of a text's length. */
  least?: number
  most?: number
  /** Describes what is wrong with a value, beyond its shape. */
  faults(value: Value, currency: Currency): string[]
  /** Converts the given value to the stored one, if they differ. */
  read?(said: Value): Value
}

/**
 * All settings of an agent. The columns of `agents`, the command line options, the fields of the console and
 * its API, and the checks are all derived from this table.
 */
export const terms = {
  name: text('name', 128, 'what people call it'),
  depositCallbackUrl: address('deposit_callback', 'where outcomes of deposits are sent'),
  withdrawCallbackUrl: address('withdraw_callback', 'where outcomes of withdrawals are sent'),
  depositFee: fee('deposit_fee'),
  withdrawFee: fee('withdraw_fee'),
  /** Holds for deposits that are created from then on. */
  reserve: {
    ...fee('reserve'),
    about: 'PERCENT%/DAYS of each paid deposit that is held back, such as 7.5%/90, or none',
    must: 'PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none',
    initially: noReserve as string,
    faults: (said: string) => {
      const parsed = said === noReserve ? undefined : parseReserveRule(said)
      return typeof parsed === 'string' ? [parsed] : []
    },
  },
  revertFee: choice('revert_fee', ['return', 'keep'], 'the fee of a payout that came back'),
  lateMoney: choice('late_money', ['review', 'credit'], 'money late or of another amount'),
  /** When the balance is paid out to the agent's own account. */
  settle: {
    ...choice('settle', ['off', 'daily', 'weekly'], 'when the balance is paid out'),
    group: 'settlement',
  } as Term<'off' | 'daily' | 'weekly', 'settle'>,
  settleKeep: {
    ...units('settle_keep', 0n),
    group: 'settlement',
    least: 0,
    about: 'whole units of the balance that stay when it is paid out',
    faults: (said: bigint) =>
      said >= 0n && said <= maxAmount ? [] : [`must be whole units from 0 to ${maxAmount}`],
  } as Term<bigint, 'settle_keep'>,
  settleTo: {
    ...text('settle_to', 200, "BANK:ACCOUNT:NAME of the agent's own account, or none"),
    kind: 'optional' as const,
    group: 'settlement' as const,
    typed: 'account',
    initially: null as string | null,
    faults: (said: string | null, currency: Currency) => {
      const parsed = said === null ? undefined : parseSettleTo(said, currency)
      return typeof parsed === 'string' ? [parsed] : []
    },
  },
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
    faults: rangeFaults,
  },
  withdrawIps: {
    ...list('withdraw_ip', 'cidr...', 'only withdrawals from these addresses'),
    must: 'a list of addresses or CIDR ranges; empty: every address that is allowed',
    faults: rangeFaults,
  },
  /** Which origins may show its payment page in a frame: none if empty, every one if `any`. */
  frameOrigins: {
    ...list(
      'frame_origin',
      'origin...',
      'who may show the payment page in a frame: origins, "any" or "none"',
    ),
    group: 'page',
    must: 'a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live',
    faults: frameOriginFaults,
    read: readFrameOrigins,
  },
  returnUrl: {
    ...text('return_url', 2_000, 'where payers go back to from the payment page'),
    kind: 'optional' as const,
    group: 'page' as const,
    typed: 'url',
    must: 'an address such as https://shop.example/thanks; in live it begins with https',
    initially: null as string | null,
    faults: (said: string | null) =>
      said === null || isReturnUrl(said)
        ? []
        : ['must be an http or https address of at most 2000 characters, without a user'],
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

/** The terms agreed with an agent. Limits are in whole currency units. */
export type Terms = { [Name in TermName]: Table[Name]['initially'] }

/** The terms under their API names. Whole units are numbers here, far below the limit of exact integers. */
export type TermsView = {
  [Name in TermName as Table[Name]['field']]: Table[Name]['initially'] extends bigint
    ? number
    : Table[Name]['initially']
}

export const termNames = Object.keys(terms) as TermName[]

/** A term by name, without its specific value type. */
export const termOf = (name: TermName): Term => terms[name]

/** The column of `agents` that stores a term. */
export function columnOf(name: TermName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Builds an object with one entry per term, keyed by term name. */
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

/** The terms with the given changes applied; all others stay. */
export function appliedTerms(now: Terms, said: Partial<TermsView>): Terms {
  const given: Record<string, unknown> = said
  return eachTerm((term, name) => {
    const value = given[term.field]
    if (value === undefined) return now[name]
    if (term.kind === 'units') return Number.isInteger(value) ? BigInt(value as number) : -1n
    return term.read ? term.read(value) : value
  })
}

/** A fault in one of an agent's terms, under its API name. */
export interface TermsFault {
  field: string
  message: string
}

/** The faults that can be found without the network or the database. */
export function shapeFaults(said: Terms, currency: Currency): TermsFault[] {
  const faults = termNames.flatMap((name) => {
    const term = termOf(name)
    return term.faults(said[name], currency).map((message) => ({ field: term.field, message }))
  })
  if (said.settle !== 'off' && said.settleTo === null) {
    faults.push({ field: 'settle_to', message: 'must be given unless settle is off' })
  }
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

/** Whether an address may be called is checked when it changes, because that needs the network. */
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

/** The first choice is the default. */
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

/** How the limits fit together is checked for all of them at once. */
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

function rangeFaults(ranges: string[]): string[] {
  return ranges
    .filter((range) => !ipaddr.isValid(range) && !ipaddr.isValidCIDR(range))
    .map((range) => `"${range}" is not an address or a CIDR range`)
}
