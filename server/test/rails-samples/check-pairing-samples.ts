import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BankReport, reportsOf } from '../../src/bank-accounts/bank-report.ts'
import { readBankFile } from '../../src/statements/read-bank-file.ts'
import { BankFileFault, type BankStatement, noIds } from '../../src/statements/statement.ts'
import { movementsAfter, type ReportsTogether } from '../support/paired-movements.ts'

/**
 * Takes real bank files twice, in two orders, and with a push for every entry before, after and in between: the
 * movements of each account are the same.
 */
export async function checkPairingSamples(
  folder: string,
): Promise<{ checked: number; differences: string[] }> {
  const byAccount = new Map<string, ReportsTogether[]>()
  let checked = 0
  for (const path of ['camt', 'mt940', 'ofx'].flatMap((each) => filesIn(folder, each))) {
    const statements = await readOrRefused(join(folder, path))
    if (!statements) continue
    checked++
    for (const accountNo of new Set(statements.map((each) => each.accountNo))) {
      // As each of its accounts takes it: nothing of the others counts.
      const told = (await readOrRefused(join(folder, path), accountNo)) ?? []
      const own = told.filter((each) => each.accountNo === accountNo)
      const others = told.filter((each) => each.accountNo !== accountNo)
      if (others.some(({ entries }) => entries.length > 0)) {
        throw new Error(`${path}: entries of other accounts are read for ${accountNo}`)
      }
      const reports = (['intraday', 'statement'] as const).flatMap((kind) =>
        reportsOf(
          kind,
          own.filter((each) => each.kind === kind).flatMap(({ entries }) => entries),
        ),
      )
      const account = accountNo ?? path
      const files = byAccount.get(account) ?? []
      byAccount.set(account, [...files, { fileId: path, reports }])
    }
  }
  const differences = [...byAccount].flatMap(([account, files]) => {
    const expected = shown(files)
    return Object.entries(ordersOf(files)).flatMap(([order, reports]) =>
      shown(reports) === expected ? [] : [`${account}: other movements ${order}`],
    )
  })
  return { checked, differences }
}

function ordersOf(files: readonly ReportsTogether[]): Record<string, ReportsTogether[]> {
  const pushes = pushesOf(files)
  const half = pushes.length >> 1
  const [some, rest] = [pushes.slice(0, half), pushes.slice(half)]
  return {
    'if all is read twice': [...files, ...files],
    'in the other order': files.toReversed(),
    'after the pushes': [...pushes, ...files],
    'before the pushes': [...files, ...pushes],
    'between the pushes': [...some, ...files, ...rest, ...files.toReversed()],
  }
}

/** A push for each entry that the bank booked, once however often its files tell it. */
function pushesOf(files: readonly ReportsTogether[]): ReportsTogether[] {
  return movementsAfter(files).map(({ movementId, amountMinor, bookedOn }) => {
    const push: BankReport = {
      source: 'push',
      key: `push ${movementId}`,
      line: null,
      amountMinor,
      bookedOn,
      bookedAt: new Date(`${bookedOn}T10:00:00Z`),
      balanceAfterMinor: null,
      chargesMinor: 0n,
      ids: { ...noIds, feedId: movementId },
      text: '',
      payer: { accountNo: null, name: null, bank: null },
      isReturn: false,
      batchCount: null,
    }
    return { fileId: null, reports: [push] }
  })
}

function shown(files: readonly ReportsTogether[]): string {
  return movementsAfter(files)
    .map(({ bookedOn, amountMinor }) => `${bookedOn} ${amountMinor}`)
    .sort()
    .join('\n')
}

async function readOrRefused(
  path: string,
  accountNo: string | null = null,
): Promise<BankStatement[] | undefined> {
  const options = {
    ...{ currency: null, zone: 'Europe/Berlin', decimalsOf: () => 2 },
    ...(accountNo !== null && { isOwn: (written: string) => written === accountNo }),
  }
  try {
    return await readBankFile(readFileSync(path), options)
  } catch (fault) {
    if (fault instanceof BankFileFault) return undefined
    throw fault
  }
}

function filesIn(folder: string, kind: string): string[] {
  if (!existsSync(join(folder, kind))) return []
  return readdirSync(join(folder, kind), { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(folder.length + 1))
    .sort()
}
