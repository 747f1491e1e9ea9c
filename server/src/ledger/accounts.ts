/**
 * The accounts of a book. In every book and in every change they add up to zero: positive is what the house
 * owes or has earned, negative what it has or has spent.
 */
export const accountNames = [
  'available',
  'held',
  'reserve',
  'suspense',
  'unexplained',
  'clearing',
  'fees',
  'costs',
  'adjustments',
  'differences',
  'transfers',
] as const

export type AccountName = (typeof accountNames)[number]

export type Accounts = Record<AccountName, bigint>

export const noChange: Accounts = {
  available: 0n,
  held: 0n,
  reserve: 0n,
  suspense: 0n,
  unexplained: 0n,
  clearing: 0n,
  fees: 0n,
  costs: 0n,
  adjustments: 0n,
  differences: 0n,
  transfers: 0n,
}

export function add(balances: Accounts, change: Accounts): Accounts {
  return {
    available: balances.available + change.available,
    held: balances.held + change.held,
    reserve: balances.reserve + change.reserve,
    suspense: balances.suspense + change.suspense,
    unexplained: balances.unexplained + change.unexplained,
    clearing: balances.clearing + change.clearing,
    fees: balances.fees + change.fees,
    costs: balances.costs + change.costs,
    adjustments: balances.adjustments + change.adjustments,
    differences: balances.differences + change.differences,
    transfers: balances.transfers + change.transfers,
  }
}

export function sumOf(accounts: Accounts): bigint {
  return accountNames.reduce((sum, name) => sum + accounts[name], 0n)
}

/** What was paid in: either it went straight to its order, or it waited in suspense. */
export function paidInBy({ clearing, suspense }: Accounts): bigint {
  return -(clearing + suspense)
}
