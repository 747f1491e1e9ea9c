import type { Answer } from '../api.ts'
import type { api } from '../paths.ts'

export type Currency = Answer<typeof api.agents>['data'][number]['currency']

/** Does not compile if a currency of the service is missing. */
const known: Record<Currency, true> = { THB: true, VND: true }

export const currencies = Object.keys(known) as Currency[]

/** The currency for the value of a select. */
export function currencyChosen(value: string): Currency {
  return currencies.find((each) => each === value) ?? 'THB'
}
