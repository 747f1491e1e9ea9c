import type { Answer } from '../api.ts'
import type { api } from '../paths.ts'

export type Currency = Answer<typeof api.agents>['data'][number]['currency']

/** One that the service gets and this lacks does not compile. */
const known: Record<Currency, true> = { THB: true, VND: true }

export const currencies = Object.keys(known) as Currency[]

/** The currency that was chosen from the list of them. */
export function currencyChosen(value: string): Currency {
  return currencies.find((each) => each === value) ?? 'THB'
}
