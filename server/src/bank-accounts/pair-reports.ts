import type { BankIds, Day } from '../statements/statement.ts'
import type { BankReport, ReportSource } from './bank-report.ts'
import { plainAccountNo } from './expected-deposits.ts'

/** A movement that a report may be about, and what was reported of it so far. */
export interface KnownMovement {
  movementId: string
  amountMinor: bigint
  bookedOn: Day
  bookedAt: Date | null
  reports: {
    source: ReportSource
    /** Null for a push, which is a file of its own. */
    fileId: string | null
    bookedOn: Day
    balanceAfterMinor: bigint | null
    ids: BankIds
    text: string
    payerAccountNo: string | null
  }[]
}

/** Ids that a bank gives out. */
const bankIds = ['accountServicerRef', 'transactionId', 'uetr', 'feedId'] as const
/** Ids that a payer chooses: payers use the same again. */
const payerIds = ['endToEndId', 'instructionId'] as const

/**
 * Finds which known movement each report of one file is about; a report without one is a movement of its own,
 * to which later reports of the same file never belong. Returns an id for each report, and the movements that
 * are new.
 */
export function pairReports(
  reports: readonly BankReport[],
  known: readonly KnownMovement[],
  fileId: string | null,
  newId: () => string,
): { movementIds: string[]; added: Set<string> } {
  const byAmount = new Map<bigint, Set<KnownMovement>>()
  for (const movement of known) {
    const same = byAmount.get(movement.amountMinor)
    if (same) same.add(movement)
    else byAmount.set(movement.amountMinor, new Set([movement]))
  }
  const added = new Set<string>()
  const movementIds = reports.map((report) => {
    const candidates = byAmount.get(report.amountMinor)
    const movement = candidates && bestOf(report, candidates, fileId)
    if (movement) {
      // A line of a file is about one movement, and no other line of it is about the same.
      candidates.delete(movement)
      return movement.movementId
    }
    const movementId = newId()
    added.add(movementId)
    return movementId
  })
  return { movementIds, added }
}

function bestOf(
  report: BankReport,
  candidates: Iterable<KnownMovement>,
  fileId: string | null,
): KnownMovement | undefined {
  let best: { movement: KnownMovement; rank: number[] } | undefined
  for (const movement of candidates) {
    const rank = rankOf(report, movement, fileId)
    if (!rank || (best && compare(rank, best.rank) >= 0)) continue
    best = { movement, rank }
    // Nothing can fit better: a day of many equal payments must not be searched to its end for each.
    if (rank.every((each) => each === 0)) break
  }
  return best?.movement
}

/** How well a report fits a movement, the lowest first; undefined if it is not about it. */
function rankOf(
  report: BankReport,
  { bookedOn, bookedAt, reports }: KnownMovement,
  fileId: string | null,
): number[] | undefined {
  const isOfThisFile = (each: KnownMovement['reports'][number]) =>
    fileId === null ? each.source === 'push' : each.fileId === fileId
  if (reports.some((each) => isOfThisFile(each) || contradicts(report, each))) return undefined
  const ofKind = reports.filter(({ source }) => source === report.source)
  const days = Math.abs(daysBetween(bookedOn, report.bookedOn))
  const isNamed =
    reports.some((each) => sharesId(report.ids, each.ids, bankIds)) ||
    (ofKind.length === 0 && reports.some((each) => sharesId(report.ids, each.ids, payerIds)))
  const isSameDay = ofKind.some((each) => each.bookedOn === report.bookedOn)
  const isNew = ofKind.length === 0 && isWithinBankingDay(bookedOn, report.bookedOn)
  if (!(isNamed && days <= 5) && !isSameDay && !isNew) return undefined
  const apartMs =
    bookedAt && report.bookedAt ? Math.abs(bookedAt.getTime() - report.bookedAt.getTime()) : 0
  const isSameText = reports.some(({ text }) => plain(text) === plain(report.text))
  const mayBeNamed = [...bankIds, ...payerIds].some((name) => report.ids[name] !== null)
  return [isNamed || !mayBeNamed ? 0 : 1, isSameText ? 0 : 1, days, apartMs]
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, each] of a.entries()) {
    const difference = each - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function contradicts(report: BankReport, other: KnownMovement['reports'][number]): boolean {
  const differ = (a: string | null, b: string | null) => a !== null && b !== null && a !== b
  const names = [...bankIds, ...payerIds] as const
  if (names.some((name) => name !== 'feedId' && differ(report.ids[name], other.ids[name]))) {
    return true
  }
  if (differ(fullAccountNo(report.payer.accountNo), fullAccountNo(other.payerAccountNo)))
    return true
  const [a, b] = [report.balanceAfterMinor, other.balanceAfterMinor]
  return a !== null && b !== null && a !== b
}

function sharesId(a: BankIds, b: BankIds, names: readonly (keyof BankIds)[]): boolean {
  return names.some((name) => a[name] !== null && a[name] === b[name])
}

/** An account number without a mask, as it is compared; null if part of it is hidden. */
export function fullAccountNo(accountNo: string | null): string | null {
  if (accountNo === null || /[*•]|x{2}|(^|[^a-z])x([^a-z]|$)/i.test(accountNo)) return null
  const plainNo = plainAccountNo(accountNo)
  return plainNo === '' ? null : plainNo
}

/** A masked account number as an SQL pattern; null if fewer than four digits of it can be seen. */
export function maskedPattern(accountNo: string | null): string | null {
  const shown = (accountNo ?? '').replace(/[\s./-]/g, '').toUpperCase()
  if (!/^[A-Z0-9*•]+$/.test(shown) || shown.replace(/\D/g, '').length < 4) return null
  return shown.replace(/[X*•]/g, '_')
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

export function daysBetween(a: Day, b: Day): number {
  return Math.round((Date.parse(b) - Date.parse(a)) / 86_400_000)
}

/** Whether one day is the other, or its next banking day: banks book weekends on Monday. */
export function isWithinBankingDay(a: Day, b: Day): boolean {
  const [earlier, later] = a < b ? [a, b] : [b, a]
  let day = new Date(`${earlier}T00:00:00Z`)
  do {
    if (day.toISOString().slice(0, 10) === later) return true
    day = new Date(day.getTime() + 86_400_000)
  } while (day.getUTCDay() === 0 || day.getUTCDay() === 6)
  return day.toISOString().slice(0, 10) === later
}
