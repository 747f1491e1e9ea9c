/** The five accounts of an agent's book. They always add up to zero, and so does every change. */
export interface Accounts {
  available: bigint
  held: bigint
  clearing: bigint
  fees: bigint
  adjustments: bigint
}

export const accountNames = ['available', 'held', 'clearing', 'fees', 'adjustments'] as const

export const noChange: Accounts = {
  available: 0n,
  held: 0n,
  clearing: 0n,
  fees: 0n,
  adjustments: 0n,
}

export function add(balances: Accounts, change: Accounts): Accounts {
  return {
    available: balances.available + change.available,
    held: balances.held + change.held,
    clearing: balances.clearing + change.clearing,
    fees: balances.fees + change.fees,
    adjustments: balances.adjustments + change.adjustments,
  }
}

export function sumOf(accounts: Accounts): bigint {
  return accountNames.reduce((sum, name) => sum + accounts[name], 0n)
}
