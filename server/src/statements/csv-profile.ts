import { type Static, Type } from 'typebox'
import { compiled } from '../lib/compiled.ts'
import { isTimeZone } from '../lib/local-time.ts'
import { isEncoding } from './file-bytes.ts'

const literal = (maxLength = 100) => Type.String({ minLength: 1, maxLength })

/** A column by its heading, or by its number from 1. */
const Column = Type.Union([literal(), Type.Integer({ minimum: 1, maximum: 200 })])
export type CsvColumn = Static<typeof Column>

/**
 * How a bank writes its CSV files. Everything is a literal or a choice: there are no patterns, so a profile
 * can neither run code nor take long.
 */
export const CsvProfileSchema = Type.Object(
  {
    encoding: literal(40),
    delimiter: Type.Union([
      Type.Literal(','),
      Type.Literal(';'),
      Type.Literal('\t'),
      Type.Literal('|'),
    ]),
    /** Lines before the table, or before its headings. With headings, other lines may stand between. */
    skipLines: Type.Optional(Type.Integer({ minimum: 0, maximum: 200 })),
    /** The table ends at the first line whose first value starts with this. A file without it was cut off. */
    footer: Type.Optional(literal()),
    /**
     * Lines of the table that are no entries, such as a balance brought forward: a value starts with this, and date or
     * amount is missing.
     */
    notEntries: Type.Optional(Type.Array(literal(), { maxItems: 20 })),
    /** What this bank writes where there is nothing. */
    emptyValue: Type.Optional(literal(20)),
    /** Before the table, the account's number stands behind this text, or in the next value. */
    accountLabel: Type.Optional(literal()),
    columns: Type.Object(
      {
        date: Column,
        time: Type.Optional(Column),
        amount: Type.Optional(Column),
        debit: Type.Optional(Column),
        credit: Type.Optional(Column),
        direction: Type.Optional(Column),
        balance: Type.Optional(Column),
        /** Where the balance has no sign of its own: `-` for an overdraft. */
        balanceSign: Type.Optional(Column),
        /** The account's own number, in every line. */
        account: Type.Optional(Column),
        texts: Type.Array(Column, { maxItems: 20 }),
        reference: Type.Optional(Column),
        payerAccount: Type.Optional(Column),
        payerName: Type.Optional(Column),
        payerBank: Type.Optional(Column),
      },
      { additionalProperties: false },
    ),
    /** D, M and MMM, YY or YYYY, and HH, mm and ss where the time is in the same value. */
    dateFormat: Type.String({ minLength: 3, maxLength: 40 }),
    /** HH, mm and ss; with a day as well where the payment's day is not the day of booking. */
    timeFormat: Type.Optional(Type.String({ minLength: 3, maxLength: 40 })),
    /** Years are 543 ahead, as on Thai calendars. */
    buddhistYear: Type.Optional(Type.Boolean()),
    decimalMark: Type.Union([Type.Literal('.'), Type.Literal(',')]),
    groupingMark: Type.Union([
      Type.Literal(''),
      Type.Literal(','),
      Type.Literal('.'),
      Type.Literal(' '),
      Type.Literal("'"),
    ]),
    /** Of the column `amount`: whether its sign is the account's, the opposite, or told by `direction`. */
    sign: Type.Optional(
      Type.Union([Type.Literal('as-written'), Type.Literal('opposite'), Type.Literal('direction')]),
    ),
    /** What the column `direction` says of money that came in, and of money that left. */
    creditWords: Type.Optional(Type.Array(literal(30), { minItems: 1, maxItems: 10 })),
    debitWords: Type.Optional(Type.Array(literal(30), { minItems: 1, maxItems: 10 })),
    /** Instead of the account's own time zone. */
    zone: Type.Optional(literal(60)),
    newestFirst: Type.Optional(Type.Boolean()),
    /** The running balance of this bank cannot be followed from line to line. */
    balanceIsLoose: Type.Optional(Type.Boolean()),
    /** This bank leaves out the line break at the end of the file, so a cut within its last line is not seen. */
    lastLineIsOpen: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type CsvProfile = Static<typeof CsvProfileSchema>

const validator = compiled(CsvProfileSchema)

/** What is wrong with a profile, in words; null if nothing is. */
export function csvProfileFault(profile: unknown): string | null {
  if (!validator.Check(profile)) {
    const [, [first]] = validator.Errors(profile)
    const where = first?.instancePath || 'the profile'
    return `${where}: ${first?.message ?? 'has the wrong shape'}.`
  }
  const { columns } = profile
  if (!isEncoding(profile.encoding)) return `The encoding ${profile.encoding} is not known.`
  if (profile.zone !== undefined && !isTimeZone(profile.zone)) {
    return `There is no time zone ${profile.zone}.`
  }
  if (profile.decimalMark === profile.groupingMark) {
    return 'The decimal mark and the grouping mark are the same.'
  }
  const hasPair = columns.debit !== undefined && columns.credit !== undefined
  const hasOneOfPair = columns.debit !== undefined || columns.credit !== undefined
  if (columns.amount === undefined ? !hasPair : hasOneOfPair) {
    return 'Name either the column of the amount, or those of debits and credits.'
  }
  const needsWords = profile.sign === 'direction'
  if (needsWords && columns.amount === undefined) return 'Only a column of amounts has a direction.'
  if (needsWords && !(columns.direction && profile.creditWords && profile.debitWords)) {
    return 'Name the column of the direction, and its words for credits and debits.'
  }
  if (needsWords && profile.creditWords?.some((word) => profile.debitWords?.includes(word))) {
    return 'A word cannot mean both credit and debit.'
  }
  if (!['D', 'M', 'Y'].every((letter) => profile.dateFormat.includes(letter))) {
    return 'The date format has no day, no month or no year.'
  }
  if ((columns.time === undefined) !== (profile.timeFormat === undefined)) {
    return 'The column of the time and its format belong together.'
  }
  const names = [...Object.values(columns).flat()]
  const kinds = new Set(names.map((column) => typeof column))
  if (kinds.size > 1) return 'Name all columns by their headings, or all by their numbers.'
  return null
}
