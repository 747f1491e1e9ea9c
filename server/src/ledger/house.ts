import { currencyRow } from '../lib/currencies.ts'
import { type Currency, currencies } from '../lib/money.ts'

/** The book of the house in a currency. Agents' ids start at one. */
export function houseBook(currency: Currency): bigint {
  return currencyRow(currency).houseBook
}

export function isHouse(agentId: bigint): boolean {
  return agentId < 0n
}

/** The books of the house, by currency. */
export const allHouseBooks: readonly { agentId: bigint; currency: Currency }[] = currencies.map(
  (currency) => ({ agentId: houseBook(currency), currency }),
)

/** Where clearing counts that was archived before each row named its provider; only the migration writes it. */
export const archivedProvider = '(archived)'

/** Where a withdrawal was paid that no provider had; nothing is paid so any more. */
export const unknownProvider = '(unknown)'

/** Where the money of a payment is: its id begins with the provider's name. */
export function providerOfPayment(paymentId: string): string {
  return paymentId.split(':', 1)[0] ?? paymentId
}
