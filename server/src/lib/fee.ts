import { type Currency, parseDecimal } from './money.ts'

/** `PERCENT%`, `FIXED` or `PERCENT%+FIXED`; the percentage in millionths of the amount. */
export interface FeeRule {
  millionths: bigint
  fixedMinor: bigint
}

/** Parses a rule such as `1.5%+2`; returns an error message if it is invalid. */
export function parseFeeRule(text: string, currency: Currency): FeeRule | string {
  const match = /^(?:(\d{1,3}(?:\.\d{1,4})?)%)?(\+)?(\d+(?:\.\d+)?)?$/.exec(text)
  const [, percent, plus, fixed] = match ?? []
  const both = percent !== undefined && fixed !== undefined
  if (!match || (percent === undefined && fixed === undefined) || both !== (plus !== undefined)) {
    return `"${text}" is not a fee: write PERCENT%, FIXED or PERCENT%+FIXED, such as 1.5%+2`
  }
  const millionths = percent === undefined ? 0n : percentInMillionths(percent)
  if (millionths > 1_000_000n) return `a fee of ${percent}% is more than the amount`
  const fixedMinor = fixed === undefined ? 0n : parseDecimal(fixed, currency)
  if (fixedMinor === undefined) {
    return `the fixed part ${fixed} is finer than ${currency} allows, or too large`
  }
  return { millionths, fixedMinor }
}

/** The fee for an amount. Money is rounded nowhere else: half up, to the minor unit. */
export function feeOf(amountMinor: bigint, rule: FeeRule): bigint {
  return shareOf(amountMinor, rule.millionths) + rule.fixedMinor
}

/** The largest multiple of a step that a total covers together with its fee; 0 if it covers none. */
export function mostWithFee(totalMinor: bigint, rule: FeeRule, stepMinor: bigint): bigint {
  const covers = (amountMinor: bigint) => amountMinor + feeOf(amountMinor, rule) <= totalMinor
  const left = totalMinor - rule.fixedMinor
  if (left <= 0n) return 0n
  // Rounding the fee can make the guess wrong by a step.
  let most = ((left * 1_000_000n) / (1_000_000n + rule.millionths) / stepMinor) * stepMinor
  while (covers(most + stepMinor)) most += stepMinor
  while (most > 0n && !covers(most)) most -= stepMinor
  return most
}

/** A share of an amount, in millionths of it. */
export function shareOf(amountMinor: bigint, millionths: bigint): bigint {
  return (amountMinor * millionths + 500_000n) / 1_000_000n
}

export function percentInMillionths(percent: string): bigint {
  const [whole = '0', fraction = ''] = percent.split('.')
  return BigInt(whole + fraction.padEnd(4, '0'))
}
