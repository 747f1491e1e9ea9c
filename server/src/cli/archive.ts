import { resolve } from 'node:path'
import { Command } from 'commander'
import { archive } from '../archive/archive.ts'
import { ArchiveFault, listArchive } from '../archive/part-files.ts'
import { type ArchiveProof, proveArchive } from '../archive/prove-archive.ts'
import type { Archived } from '../archive/what-to-archive.ts'
import { countsBackTo } from '../ledger/limits.ts'
import { parseIsoTime, startOfDay } from '../lib/local-time.ts'
import { existing } from './agent.ts'
import { plainFault, withOwner } from './command.ts'
import { note, print, printJson, progress, table } from './output.ts'
import { UsageError } from './usage-error.ts'

interface Options {
  before?: string
  to?: string
  agent?: string
  dryRun?: boolean
  json?: boolean
}

export function archiveCommand(): Command {
  const command = new Command('archive')
    .option('--before <date>', 'what was written before this day, or time with zone')
    .option('--to <dir>', 'the folder of the archive; the same each time')
    .option('--agent <app_id>', 'only this agent')
    .option('--dry-run', 'say what would go, and change nothing')
    .option('--json', 'as JSON')
    .action(archiveBooks)
  command
    .command('verify <dir>')
    .description('prove the files of an archive by themselves, without a database')
    .option('--json', 'as JSON')
    // `archive` has the same --json option and may receive it, wherever it is typed.
    .action((dir: string, _: unknown, verify: Command) =>
      verifyFiles(dir, verify.optsWithGlobals()),
    )
  return command
}

async function archiveBooks({ before: text, to: folder, ...options }: Options): Promise<void> {
  if (text === undefined) throw new UsageError('name a day with --before, such as 2026-01-31')
  if (folder === undefined) throw new UsageError('name the folder of the archive with --to')
  await withOwner('archive', async (owner, { pool }, config) => {
    const before = timeOf(text, config.timeZone)
    if (before > countsBackTo('agent', new Date())) {
      throw new UsageError('--before must be at least 32 days ago: limits count a month')
    }
    if (options.agent !== undefined) await existing(pool, options.agent)
    const started = performance.now()
    const done = await archive(owner, {
      before,
      folder: resolve(folder),
      now: () => new Date(),
      onProgress: progress,
      ...(options.agent !== undefined && { appId: options.agent }),
      ...(options.dryRun && { dryRun: true }),
    }).catch((error) => {
      throw error instanceof ArchiveFault ? new UsageError(error.message) : plainFault(error)
    })
    progress('')
    tell(done, performance.now() - started, options)
  })
}

/** Parses a time; a date alone means midnight in the service's zone. */
function timeOf(text: string, timeZone: string): Date {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    const noon = parseIsoTime(`${text}T12:00:00Z`)
    if (noon) return startOfDay(noon, timeZone)
  }
  const at = parseIsoTime(text)
  if (at) return at
  throw new UsageError(
    `--before "${text}" must be a day such as 2026-01-31, or a time such as 2026-01-31T08:30:00Z`,
  )
}

function tell(done: Archived[], ms: number, { dryRun, json }: Options): void {
  const seconds = Math.round(ms / 100) / 10
  const agents = done.map((each) => ({
    app_id: each.appId,
    parts: each.parts,
    journal_rows: each.journalRows,
    orders: each.orders,
    removed_orders: each.removedOrders,
    archived_seq: each.toSeq,
  }))
  if (json) {
    printJson({ dry_run: dryRun === true, seconds, agents })
    return
  }
  const headings = ['APP ID', 'PARTS', 'JOURNAL ROWS', 'ORDERS', 'REMOVED', 'ARCHIVED TO SEQ']
  print(
    table(
      headings,
      agents.map((each) => Object.values(each).map(String)),
    ),
  )
  print(
    dryRun
      ? 'This would be archived; nothing has changed.'
      : `Archived in ${seconds} s. Prove it with: sluice verify --archive DIR`,
  )
}

async function verifyFiles(dir: string, options: { json?: boolean }): Promise<void> {
  const folder = resolve(dir)
  const proofs: ArchiveProof[] = []
  const agents = await listArchive(folder).catch((error) => {
    throw error instanceof ArchiveFault ? new UsageError(error.message) : error
  })
  if (agents.size === 0) throw new UsageError(`there is no archive in ${folder}`)
  for (const [appId, lastPart] of agents) {
    proofs.push(
      await proveArchive(folder, appId, lastPart, {
        onProgress: (proof) => progress(`${appId}: part ${proof.parts} of ${lastPart}`),
      }),
    )
  }
  progress('')
  const findings = proofs.flatMap(({ appId, finding }) =>
    finding === null ? [] : [{ app_id: appId, finding }],
  )
  const sum = (count: (proof: ArchiveProof) => number) =>
    proofs.reduce((total, proof) => total + count(proof), 0)
  const checked = {
    agents: proofs.length,
    parts: sum(({ parts }) => parts),
    journal_rows: sum(({ journalRows }) => journalRows),
    orders: sum(({ orders }) => orders),
  }
  if (options.json) printJson({ ok: findings.length === 0, checked, findings })
  else {
    print(
      `Checked ${checked.parts} parts of ${checked.agents} agents: ${checked.journal_rows} journal rows and ${checked.orders} orders.`,
    )
    for (const { app_id, finding } of findings) note(`${app_id}: ${finding}`)
    print(findings.length === 0 ? 'The archive is proved.' : 'The archive does NOT prove.')
  }
  if (findings.length > 0) process.exitCode = 1
}
