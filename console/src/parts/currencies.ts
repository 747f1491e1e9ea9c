import { currencyRows } from './currency-rows.ts'

export type Currency = keyof typeof currencyRows

export const currencies = Object.keys(currencyRows) as Currency[]

/** What is chosen before anybody chooses. */
export const defaultCurrency = currencies[0] as Currency

/** The currency for the value of a select. */
export function currencyChosen(value: string): Currency {
  return currencies.find((each) => each === value) ?? defaultCurrency
}
