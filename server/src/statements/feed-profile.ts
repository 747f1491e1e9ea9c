import { type Static, Type } from 'typebox'
import { compiled } from '../lib/compiled.ts'
import { compileSmsPattern } from './sms-pattern.ts'

const Pointer = Type.String({ pattern: '^(/[^/]{1,64}){1,6}$' })
const Words = Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { maxItems: 10 })
const Direction = Type.Union([Type.Literal('credit'), Type.Literal('debit')])

const FeedProfileSchema = Type.Object(
  {
    id: Type.Optional(Pointer),
    amount: Type.Optional(Pointer),
    /** Without it, the amount's sign tells. */
    direction: Type.Optional(
      Type.Object({ at: Pointer, credit: Words, debit: Words }, { additionalProperties: false }),
    ),
    /** With a zone, or in the bank's. */
    time: Type.Optional(Pointer),
    texts: Type.Optional(Type.Array(Pointer, { maxItems: 5 })),
    account: Type.Optional(Pointer),
    balance: Type.Optional(Pointer),
    payer: Type.Optional(
      Type.Object(
        {
          account_no: Type.Optional(Pointer),
          name: Type.Optional(Pointer),
          bank: Type.Optional(Pointer),
        },
        { additionalProperties: false },
      ),
    ),
    /** The text of a message, which the first pattern that fits reads. */
    message: Type.Optional(Pointer),
    patterns: Type.Optional(
      Type.Array(
        Type.Object(
          { direction: Direction, pattern: Type.String({ maxLength: 500 }) },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 20 },
      ),
    ),
  },
  { additionalProperties: false },
)

/** Where the fields of a push stand in what a sender writes. */
export type FeedProfile = Static<typeof FeedProfileSchema>

/** The values of a push as the sender writes them. */
export interface SentPush {
  id: string | null
  direction: 'credit' | 'debit'
  /** Decimal text without a sign. */
  amount: string
  /** As it is written; null if the sender tells none. */
  time: string | null
  text: string
  accountNo: string | null
  balance: string | null
  payer: { accountNo: string | null; name: string | null; bank: string | null }
}

const validator = compiled(FeedProfileSchema)

/** Profiles for senders that describe what they send. */
export const builtInFeedProfiles: Record<string, FeedProfile> = {
  sepay: {
    id: '/transaction_id',
    amount: '/amount',
    direction: { at: '/transfer_type', credit: ['credit', 'in'], debit: ['debit', 'out'] },
    // Its running balance is always 0, and its date has no zone.
    time: '/transaction_date',
    texts: ['/content', '/reference_code', '/va'],
  },
  casso: {
    id: '/data/id',
    amount: '/data/amount',
    time: '/data/transactionDateTime',
    texts: ['/data/description', '/data/reference'],
    account: '/data/accountNumber',
    balance: '/data/runningBalance',
    payer: {
      account_no: '/data/counterAccountNumber',
      name: '/data/counterAccountName',
      bank: '/data/counterAccountBankName',
    },
  },
}

/** What is wrong with a profile, in words; null if nothing is. */
export function feedProfileFault(value: unknown): string | null {
  if (!validator.Check(value)) {
    const [, [first]] = validator.Errors(value)
    return `${first?.instancePath || 'the profile'}: ${first?.message ?? 'has the wrong shape'}.`
  }
  const { amount, message, patterns } = value
  if ((message === undefined) !== (patterns === undefined)) {
    return 'needs both message and patterns, or neither'
  }
  if (amount === undefined && patterns === undefined) return 'says nowhere where the amount stands'
  for (const { pattern } of patterns ?? []) {
    try {
      compileSmsPattern(pattern)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  return null
}

/** Reads what a sender wrote. Returns a sentence if it does not fit. */
export function readSentPush(profile: FeedProfile, body: unknown): SentPush | string {
  const said = (pointer: string | undefined) => (pointer ? plainText(valueAt(body, pointer)) : null)
  const message = said(profile.message)
  const read = message === null ? undefined : readMessage(profile, message)
  if (profile.message !== undefined && message === null)
    return `There is no text at ${profile.message}.`
  if (profile.message !== undefined && !read) return 'No pattern of the account fits the message.'
  const written = read?.values.amount ?? said(profile.amount)
  if (written === null) return `There is no amount at ${profile.amount}.`
  const amount = plainAmount(written)
  if (amount === undefined) return `“${written.slice(0, 40)}” is no amount.`
  const direction = read?.direction ?? directionOf(profile, said(profile.direction?.at), amount)
  if (!direction) return `What stands at ${profile.direction?.at} is neither credit nor debit.`
  const balance = read?.values.balance ?? said(profile.balance)
  const texts = (profile.texts ?? []).map(said).filter((text) => text !== null)
  const isOneOfAKind = read?.values.time !== undefined || read?.values.balance !== undefined
  return {
    // A message with a time or a balance in it is the same only if all of it is.
    id: said(profile.id) ?? (isOneOfAKind ? message : null),
    direction,
    amount: amount.replace('-', ''),
    time: said(profile.time),
    text: [...texts, ...(message === null ? [] : [message])].join('\n'),
    accountNo: read?.values.account ?? said(profile.account),
    balance: balance === null ? null : (plainAmount(balance) ?? null),
    payer: {
      accountNo: said(profile.payer?.account_no),
      name: read?.values.name ?? said(profile.payer?.name),
      bank: said(profile.payer?.bank),
    },
  }
}

function readMessage({ patterns = [] }: FeedProfile, message: string) {
  for (const { direction, pattern } of patterns) {
    const values = compileSmsPattern(pattern).read(message)
    if (values) return { direction, values }
  }
  return undefined
}

function directionOf(
  { direction }: FeedProfile,
  word: string | null,
  amount: string,
): SentPush['direction'] | undefined {
  if (!direction) return amount.startsWith('-') ? 'debit' : 'credit'
  const said = word?.toLowerCase() ?? ''
  if (direction.credit.some((each) => each.toLowerCase() === said)) return 'credit'
  return direction.debit.some((each) => each.toLowerCase() === said) ? 'debit' : undefined
}

function valueAt(body: unknown, pointer: string): unknown {
  let value = body
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/** Texts, and numbers that a double carries exactly. */
function plainText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  if (typeof value !== 'number' || !Number.isFinite(value)) return null
  const text = String(value)
  return text.replace(/\D/g, '').length <= 15 && !text.includes('e') ? text : null
}

/**
 * An amount without grouping marks: no currency has three decimals, so a mark before three digits groups them.
 * Undefined if it is none.
 */
function plainAmount(text: string): string | undefined {
  const [, sign = '', digits = ''] = /^([+-]?)(\d[\d.,]*)$/.exec(text.trim()) ?? []
  const [, whole = '', rest] = /^([\d.,]*?)(?:[.,](\d{1,2}))?$/.exec(digits) ?? []
  if (!/^\d+$|^\d{1,3}([.,]\d{3})+$/.test(whole)) return undefined
  const isMixed = whole.includes('.') && whole.includes(',')
  if (isMixed) return undefined
  return `${sign === '-' ? '-' : ''}${whole.replace(/[.,]/g, '')}${rest === undefined ? '' : `.${rest}`}`
}
