import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { type Backend, readSecretKeys } from '../backend.ts'
import { type Config, readConfig } from '../config.ts'
import { DatabaseGate } from '../db/database-gate.ts'
import { openEmbeddedPostgres } from '../db/embedded.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { actingAsService, openPool } from '../db/pool.ts'
import { systemClock } from '../lib/clock.ts'
import { parseIsoTime } from '../lib/local-time.ts'
import { holdRestored, openHold } from '../payouts/restore-hold.ts'
import {
  checkAgent,
  checkBooks,
  checkHold,
  checkNotices,
  checkPartitions,
  checkPayoutLocks,
  checkPlaces,
  checkProviders,
} from './check-books.ts'
import { checkDatabase } from './check-database.ts'
import { checkMachine } from './check-machine.ts'
import { withBackend } from './command.ts'
import { type Finding, fail, warn } from './finding.ts'
import { commandLine } from './on-record.ts'
import { coloured, print, printJson } from './output.ts'
import { UsageError } from './usage-error.ts'

export function doctorCommand(): Command {
  return new Command('doctor')
    .option('--agent <app_id>', "also post a signed {} to this agent's callback addresses")
    .option(
      '--after-restore',
      'where things stand after a restore from a backup; if none was noticed, say that there was one: nothing is paid out until two people release it',
    )
    .option(
      '--backup-of <time>',
      'with --after-restore: the moment that the backup is of, such as 2026-01-31T08:30:00Z; without it thirty days ago',
    )
    .option('--json', 'as JSON')
    .action(async (options: DoctorOptions) => {
      if (options.afterRestore) await markUnlessHeld(options.backupOf)
      else if (options.backupOf !== undefined)
        throw new UsageError('--backup-of takes --after-restore')
      const findings = await examine(options.agent)
      const failed = findings.some(({ state }) => state === 'fail')
      if (failed) process.exitCode = 1
      if (options.json) printJson({ ok: !failed, findings })
      else for (const finding of findings) print(lineOf(finding))
    })
}

interface DoctorOptions {
  agent?: string
  afterRestore?: boolean
  backupOf?: string
  json?: boolean
}

const longestBackupMs = 30 * 86_400_000

/** The only thing that this command changes, and not if the service has noticed by itself or somebody said so. */
async function markUnlessHeld(backupOf: string | undefined): Promise<void> {
  const now = new Date()
  const since =
    backupOf === undefined ? new Date(now.getTime() - longestBackupMs) : parseIsoTime(backupOf)
  if (!since || since > now) {
    throw new UsageError('--backup-of must be a time in the past, such as 2026-01-31T08:30:00Z')
  }
  await withBackend(async ({ pool }) => {
    if (await openHold(pool)) return
    const found = `${commandLine.email} said so.`
    await inTransaction(pool, (tx) =>
      holdRestored(tx, { since, found, by: commandLine, now: systemClock }),
    )
  })
}

/** Checks everything that can be checked without changing anything. */
async function examine(appId: string | undefined): Promise<Finding[]> {
  const read = readConfig()
  if ('faults' in read) {
    return read.faults.map((fault) =>
      fail('settings', fault, 'Correct it; docs/operate.md explains every setting.'),
    )
  }
  const { config } = read
  const machine = await checkMachine(config)
  const isNew = config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'postgres'))
  if (isNew) {
    const advice = 'It is made at the first start of "sluice serve".'
    return [...machine, warn('database', `there is none yet in ${config.dataDir}`, advice)]
  }
  const embedded =
    config.databaseUrl === undefined
      ? await openEmbeddedPostgres({ dataDir: config.dataDir, use: 'command', log: () => {} })
      : undefined
  const databaseUrl = embedded?.url ?? config.databaseUrl ?? ''
  try {
    const database = await checkDatabase(config, databaseUrl)
    // Without its tables and its role, nothing more can be checked.
    const isUsable = database.every(
      ({ check, state }) => state === 'ok' || !['database', 'migrations'].includes(check),
    )
    const isOwner = database.some(({ check, state }) => check === 'login' && state !== 'ok')
    const url = isOwner ? actingAsService(databaseUrl) : databaseUrl
    const books = isUsable ? await examineBooks(config, url, appId) : []
    return [...machine, ...database, ...books]
  } finally {
    await embedded?.close()
  }
}

async function examineBooks(
  config: Config,
  databaseUrl: string,
  appId: string | undefined,
): Promise<Finding[]> {
  const keyFile = join(config.dataDir, 'secret.key')
  if (config.secretKeys.length === 0 && !existsSync(keyFile)) {
    const advice = `Restore ${keyFile}, or set SECRET_KEY to what it held.`
    return [fail('secrets', 'there is no key for the secrets in the database', advice)]
  }
  const pool = openPool({ url: databaseUrl, max: 4, name: 'sluice doctor', onError: () => {} })
  const secretKeys = await readSecretKeys(config)
  const backend: Backend = {
    ...{ databaseUrl, directUrl: databaseUrl, ownerUrl: undefined, pool, secretKeys },
    ...{ picturesDrawnSince: new Date(0), gate: new DatabaseGate() },
    close: () => pool.end(),
  }
  const { openCounter } = await import('../service/open-counter.ts')
  const { openDesk } = await import('../service/open-desk.ts')
  try {
    const { desk, close } =
      config.mode === 'sandbox'
        ? await openCounter(config, backend, () => {})
        : openDesk(config, backend, {})
    await desk.providers.freshen()
    const providers = await checkProviders(desk).finally(close)
    const agent = appId === undefined ? [] : await checkAgent(appId, backend, config)
    const partitions = await checkPartitions(backend, new Date())
    const notices = await checkNotices(backend, new Date())
    const places = await checkPlaces(backend)
    const locks = await checkPayoutLocks(backend, new Date())
    const holds = await checkHold(backend)
    const books = [...(await checkBooks(backend)), partitions, notices]
    return [...books, ...providers, ...places, ...holds, ...locks, ...agent]
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return [fail('database', text, 'Put right what is named above, then run this again.')]
  } finally {
    await backend.close()
  }
}

function lineOf({ check, state, text, advice }: Finding): string {
  const colour = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  const line = `${coloured(colour[state], state.padEnd(4))}  ${check.padEnd(17)} ${text}`
  return advice === undefined ? line : `${line}\n${' '.repeat(24)}${advice}`
}
