import { translated } from '../../languages/language.ts'

export const connectorsWords = translated('connectors', {
  title: 'Connectors',
  says: 'Payment companies that are connected by a document: how to ask for a deposit, hand over a payout, and read what the company tells.',
  add: 'Add a connector',
  none: 'No connectors yet',
  noneTeach:
    'Write a document from the company’s documentation, add it here, and try samples of what the company says.',
  deposits: 'deposits',
  payouts: 'payouts',
  lines: (account: string) => `lines of ${account}`,
  newer: (version: number) => `${version} is newer`,
  columns: {
    name: 'Name',
    company: 'Company',
    state: 'State',
    can: 'Can do',
    version: 'Version in use',
    calls: 'Calls',
    failures: 'Failures',
    fault: 'Last failure',
  },
})

/** What a connector can do, and in which currencies. */
export function canText(row: {
  deposits: boolean
  payouts: boolean
  account: string | null
  currencies: readonly string[]
}): string {
  const does = [
    row.deposits && connectorsWords.deposits,
    row.payouts && connectorsWords.payouts,
    row.account !== null && connectorsWords.lines(row.account),
  ].filter(Boolean)
  return `${does.join(', ')} (${row.currencies.join(', ')})`
}
