import { type BankAccountTerms, freshTerms } from './bank-account-terms.ts'

/** What the command line proposes: an account as its options make it. In the console a second person confirms it. */
export const commandBankAccount = 'bank account by command'

/** The terms of an account, with amounts as texts. */
export interface CommandBankAccount {
  terms: Record<string, unknown>
  isNew: boolean
  isOff: boolean
  newSecret: boolean
  /** The private key for its bank's server; sealed while the proposal waits. */
  sftpKey: string | null
  /** What somebody paid to try its QR code, in minor units. */
  testPaid: string | null
  reason: string | null
}

/** Terms as a proposal keeps them, and nothing else of an account: amounts are texts. */
export function termsForProposal(terms: BankAccountTerms): Record<string, unknown> {
  const { name, currency, zone } = terms
  const fields = Object.keys(
    freshTerms(name, currency, { kind: 'none', value: null }, 'none', zone),
  )
  return Object.fromEntries(
    fields.map((field) => {
      const value = terms[field as keyof BankAccountTerms]
      return [field, typeof value === 'bigint' ? String(value) : value]
    }),
  )
}

/** The same, read back. */
export function termsOfProposal(kept: Record<string, unknown>): BankAccountTerms {
  const entries = Object.entries(kept).map(([name, value]) => [
    name,
    name.endsWith('Minor') && typeof value === 'string' ? BigInt(value) : value,
  ])
  return Object.fromEntries(entries) as BankAccountTerms
}
