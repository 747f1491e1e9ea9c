import { percentInMillionths, shareOf } from './fee.ts'

/** `PERCENT%/DAYS`: which share of a deposit is held back, in millionths of what was paid, and how long. */
export interface ReserveRule {
  millionths: bigint
  days: number
}

/** The rule of an agent of whom nothing is held back. */
export const noReserve = 'none'

const mostDays = 1_000

/** Parses a rule such as `7.5%/90`; returns an error message if it is invalid. */
export function parseReserveRule(text: string): ReserveRule | string {
  const [, percent, days] = /^(\d{1,3}(?:\.\d{1,2})?)%\/(\d{1,4})$/.exec(text) ?? []
  if (percent === undefined || days === undefined) {
    return `"${text}" is not a reserve: write PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or ${noReserve}`
  }
  const rule = { millionths: percentInMillionths(percent), days: Number(days) }
  if (rule.millionths === 0n || rule.millionths > 1_000_000n) {
    return 'the share of a reserve must be above 0% and at most 100%'
  }
  return rule.days >= 1 && rule.days <= mostDays
    ? rule
    : `a reserve is held back for 1 to ${mostDays} days`
}

/** What a rule holds back of a deposit: its share of what was paid, but never more than the fee leaves. */
export function reserveOf(
  { paidMinor, feeMinor }: { paidMinor: bigint; feeMinor: bigint },
  { millionths }: ReserveRule,
): bigint {
  const share = shareOf(paidMinor, millionths)
  const left = paidMinor - feeMinor
  if (share > left) return left
  return share
}

/** When a reserve that was made at a time becomes available: so many times 24 hours later. */
export function releaseTime(madeAt: Date, { days }: ReserveRule): Date {
  return new Date(madeAt.getTime() + days * 86_400_000)
}
