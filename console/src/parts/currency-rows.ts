// Written by server/test/console/console-schemas.test.ts; run it with -u after a change.
export const currencyRows = {
  THB: { decimals: 2 },
  VND: { decimals: 0 },
  SGD: { decimals: 2 },
  MYR: { decimals: 2 },
  IDR: { decimals: 2 },
  PHP: { decimals: 2 },
  INR: { decimals: 2 },
  BRL: { decimals: 2 },
  EUR: { decimals: 2 },
  CHF: { decimals: 2 },
  GBP: { decimals: 2 },
  USD: { decimals: 2 },
} as const
