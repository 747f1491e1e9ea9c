import { accountNames } from '../ledger/accounts.ts'
import { type CsvCell, csvLine } from '../lib/csv.ts'
import { Exact } from '../lib/json-text.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { type BookBalance, isBalanced, isEmptyBook, type TrialBalance } from './trial-balance.ts'

/** The lines of a trial balance, in the order in which they are shown. Together they come to zero. */
export const trialLines = {
  owed_to_agents: ({ owedToAgents }) => owedToAgents,
  receivable: ({ receivable }) => receivable,
  held: ({ held }) => held,
  reserve: ({ reserve }) => reserve,
  suspense_of_agents: ({ suspenseOfAgents }) => suspenseOfAgents,
  suspense_of_house: ({ suspenseOfHouse }) => suspenseOfHouse,
  unexplained: ({ unexplained }) => unexplained,
  clearing: ({ clearing }) => clearing,
  fees: ({ fees }) => fees,
  costs: ({ costs }) => costs,
  adjustments: ({ adjustments }) => adjustments,
  differences: ({ differences }) => differences,
  transfers: ({ transfers }) => transfers,
} as const satisfies Record<string, (balance: TrialBalance) => bigint>

export type TrialLine = keyof typeof trialLines

export const trialLineNames = Object.keys(trialLines) as readonly TrialLine[]

/** The amounts of one currency, for `jsonText`. */
export function linesView(balance: TrialBalance) {
  const money = (minor: bigint) => exactIn(minor, balance.currency)
  const lines = trialLineNames.map((name) => [name, money(trialLines[name](balance))] as const)
  return {
    currency: balance.currency,
    balanced: balance.faults.length === 0,
    ...(Object.fromEntries(lines) as Record<TrialLine, Exact>),
    total: money(balance.total),
  }
}

/** Trial balances for `jsonText`; with the books only if they are asked for. */
export function trialBalanceView(
  balances: readonly TrialBalance[],
  asOf: Date | undefined,
  withBooks: boolean,
) {
  return {
    as_of: asOf ?? null,
    balanced: isBalanced(balances),
    currencies: balances.map((balance) => ({
      ...linesView(balance),
      faults: balance.faults,
      providers: balance.providers.map(({ provider, clearing }) => ({
        provider,
        clearing: exactIn(clearing, balance.currency),
      })),
      ...(withBooks && { books: usedBooks(balance).map(bookView) }),
    })),
  }
}

/** The books that have anything to show. */
export function usedBooks({ books }: TrialBalance): BookBalance[] {
  return books.filter((book) => !isEmptyBook(book))
}

function bookView({ appId, name, currency, seq, balances, clearings }: BookBalance) {
  const money = (minor: bigint) => exactIn(minor, currency)
  return {
    app_id: appId,
    name,
    seq,
    available: money(balances.available),
    receivable: money(balances.available < 0n ? balances.available : 0n),
    held: money(balances.held),
    reserve: money(balances.reserve),
    suspense: money(balances.suspense),
    unexplained: money(balances.unexplained),
    clearing: money(balances.clearing),
    fees: money(balances.fees),
    costs: money(balances.costs),
    adjustments: money(balances.adjustments),
    differences: money(balances.differences),
    transfers: money(balances.transfers),
    providers: [...clearings]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([provider, clearing]) => ({ provider, clearing: money(clearing) })),
  }
}

/**
 * The same as a table whose amounts come to zero for each currency: a row per line, or per account of each
 * book, and clearing by provider. It has no sums among the rows, so that nothing is counted twice.
 */
export function trialBalanceCsv(
  balances: readonly TrialBalance[],
  asOf: Date | undefined,
  withBooks: boolean,
): string {
  const line = (...cells: CsvCell[]) => csvLine([asOf ?? null, ...cells])
  const rows = balances.flatMap((balance) => {
    const { currency } = balance
    const money = (minor: bigint) => exactIn(minor, currency)
    if (withBooks) {
      return usedBooks(balance).flatMap(({ appId, name, balances: accounts, clearings }) =>
        accountNames.flatMap((account) =>
          account === 'clearing'
            ? [...clearings].map(([provider, there]) =>
                line(currency, appId, name, account, provider, money(there)),
              )
            : line(currency, appId, name, account, null, money(accounts[account])),
        ),
      )
    }
    return trialLineNames.flatMap((name) =>
      name === 'clearing'
        ? balance.providers.map(({ provider, clearing }) =>
            line(currency, null, null, name, provider, money(clearing)),
          )
        : line(currency, null, null, name, null, money(trialLines[name](balance))),
    )
  })
  const head = ['as_of', 'currency', 'app_id', 'name', 'line', 'provider', 'amount']
  return csvLine(head) + rows.join('')
}

function exactIn(minor: bigint, currency: Currency): Exact {
  return new Exact(decimalText(minor, currency))
}
