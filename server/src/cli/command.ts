import pg from 'pg'
import { type Backend, openBackend } from '../backend.ts'
import { type Config, readConfig } from '../config.ts'
import { AlreadyServing } from '../db/embedded.ts'
import { isConnectionLost } from '../db/pool.ts'
import { DatabaseFault } from '../db/run-migration.ts'
import type { Desk } from '../teller/desk.ts'
import { note } from './output.ts'
import { UsageError } from './usage-error.ts'

/** The settings, or an error that lists everything wrong with them. */
export function loadConfig(): Config {
  const read = readConfig()
  if ('config' in read) return read.config
  throw new UsageError(
    `the settings are not right:\n${read.faults.map((f) => `  - ${f}`).join('\n')}`,
  )
}

/** Opens the database; what keeps it shut is told without a stack. */
export function openDatabase(...options: Parameters<typeof openBackend>): Promise<Backend> {
  return openBackend(...options).catch((error) => {
    throw plainFault(error)
  })
}

/** What keeps a database from being used, in words. */
export function plainFault(error: unknown): unknown {
  if (error instanceof AggregateError) return plainFault(error.errors[0])
  if (!(error instanceof Error)) return error
  if (error instanceof AlreadyServing) return new UsageError(error.message)
  if (isConnectionLost(error))
    return new UsageError(`the database cannot be reached: ${error.message}`)
  const isPlain = error instanceof pg.DatabaseError || error instanceof DatabaseFault
  return isPlain ? new UsageError(`the database: ${error.message}`) : error
}

/** Runs a command on the database, beside a running service or without one. */
export async function withBackend<T>(
  work: (backend: Backend, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig()
  const backend = await openDatabase(config, 'command', () => {})
  try {
    return await work(backend, config)
  } finally {
    await backend.close()
  }
}

/** The same beside the sandbox's bank, which tells this process what it has done. */
export async function withSandbox<T>(
  work: (desk: Desk, backend: Backend, config: Config) => Promise<T>,
): Promise<T> {
  return withBackend(async (backend, config) => {
    if (config.mode !== 'sandbox') throw new UsageError('this works in the sandbox only')
    const { openCounter } = await import('../service/open-counter.ts')
    const { desk, close } = await openCounter(config, backend, (error) =>
      note(`the database: ${String(error)}`),
    )
    try {
      return await work(desk, backend, config)
    } finally {
      await close()
    }
  })
}

/** The same for a command that changes orders or wallets: it has a teller of its own. */
export async function withDesk<T>(
  work: (desk: Desk, backend: Backend, config: Config) => Promise<T>,
): Promise<T> {
  return withBackend(async (backend, config) => {
    const { openDesk } = await import('../service/open-desk.ts')
    const { desk, close } = openDesk(config, backend, {
      onFault: (error) => note(`the database: ${String(error)}`),
    })
    try {
      return await work(desk, backend, config)
    } finally {
      await close()
    }
  })
}
