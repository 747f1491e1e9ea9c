import type { BankReport } from '../../src/bank-accounts/bank-report.ts'
import { type KnownMovement, pairReports } from '../../src/bank-accounts/pair-reports.ts'

/** Reports that came together; a push has no file. */
export interface ReportsTogether {
  fileId: string | null
  reports: BankReport[]
}

/** The movements after files came in some order. A line that came before is known by its key. */
export function movementsAfter(files: readonly ReportsTogether[]): KnownMovement[] {
  const known: KnownMovement[] = []
  const byKey = new Map<string, string>()
  let made = 0
  for (const { fileId, reports } of files) {
    const fresh = reports.filter(({ key }) => !byKey.has(key))
    const inFile = new Set(reports.flatMap(({ key }) => byKey.get(key) ?? []))
    const { movementIds } = pairReports(
      fresh,
      known,
      { fileId, isTrusted: true },
      () => `m${++made}`,
      inFile,
    )
    for (const [at, each] of fresh.entries()) {
      const movementId = movementIds[at] ?? ''
      byKey.set(each.key, movementId)
      const row = { ...each, fileId, isTrusted: true, payerAccountNo: each.payer.accountNo }
      const before = known.find((one) => one.movementId === movementId)
      if (!before) known.push({ ...each, movementId, reports: [row] })
      else {
        before.reports.push(row)
        if (each.source === 'statement') before.bookedOn = each.bookedOn
      }
    }
  }
  return known
}
