import { createHash } from 'node:crypto'
import { storableOrNull, storableText } from '../lib/storable-text.ts'
import type { BankEntry, BankIds, Counterparty, Day } from '../statements/statement.ts'

/** How a movement is reported: at once, during the day, by the day's statement, or by people who saw a slip. */
export type ReportSource = 'push' | 'intraday' | 'statement' | 'hand'

/** One line of one source. Several reports may be about the same movement of money. */
export interface BankReport {
  source: ReportSource
  /** The same for the same line, whichever file brings it. */
  key: string
  /** Null for a push, and by hand. */
  line: number | null
  /** Positive for money that came in. */
  amountMinor: bigint
  bookedOn: Day
  bookedAt: Date | null
  balanceAfterMinor: bigint | null
  /** What the bank says that it kept of a credit. */
  chargesMinor: bigint
  ids: BankIds
  text: string
  payer: Counterparty
  isReturn: boolean
  /** How many payments the bank put into this line without telling them apart; null if it is one. */
  batchCount: number | null
}

/** The most that is kept of a report's text. */
const longestText = 4_000

/** The booked entries of one file as reports. Equal lines of one day are told apart by their number. */
export function reportsOf(
  source: 'intraday' | 'statement',
  entries: readonly BankEntry[],
): BankReport[] {
  const seen = new Map<string, number>()
  return entries
    .filter(({ status, amountMinor }) => status === 'booked' && amountMinor !== 0n)
    .map((entry) => {
      const text = storableText(entry.texts.join('\n')).slice(0, longestText)
      const content = createHash('sha256')
        .update(
          JSON.stringify([
            entry.bookedOn,
            entry.bookedAt?.toISOString() ?? null,
            String(entry.amountMinor),
            entry.currency,
            Object.entries(entry.ids).sort(([a], [b]) => (a < b ? -1 : 1)),
            entry.counterparty.accountNo,
            text,
            entry.balanceAfterMinor === null ? null : String(entry.balanceAfterMinor),
          ]),
        )
        .digest('hex')
      const number = (seen.get(content) ?? 0) + 1
      seen.set(content, number)
      return {
        source,
        key: `${content}-${number}`,
        line: entry.line,
        amountMinor: entry.amountMinor,
        bookedOn: entry.bookedOn,
        bookedAt: entry.bookedAt,
        balanceAfterMinor: entry.balanceAfterMinor,
        chargesMinor: entry.chargesMinor,
        ids: entry.ids,
        text,
        payer: {
          accountNo: storableOrNull(entry.counterparty.accountNo),
          name: storableOrNull(entry.counterparty.name),
          bank: storableOrNull(entry.counterparty.bank),
        },
        isReturn: entry.isReturn,
        batchCount: (entry.batchCount ?? 1) > 1 ? entry.batchCount : null,
      }
    })
}
