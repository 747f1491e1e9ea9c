import pg from 'pg'
import { type Backend, openBackend } from '../backend.ts'
import { type Config, readConfig } from '../config.ts'
import { AlreadyServing } from '../db/embedded.ts'
import { isConnectionLost, openPool, type Pool } from '../db/pool.ts'
import { DatabaseFault } from '../db/run-migration.ts'
import type { Desk } from '../teller/desk.ts'
import { note } from './output.ts'
import { UsageError } from './usage-error.ts'

/** Reads the settings; throws an error that lists everything wrong with them. */
export function loadConfig(): Config {
  const read = readConfig()
  if ('config' in read) return read.config
  throw new UsageError(
    `the settings are not right:\n${read.faults.map((f) => `  - ${f}`).join('\n')}`,
  )
}

/** Opens the database; expected faults are reported without a stack trace. */
export function openDatabase(...options: Parameters<typeof openBackend>): Promise<Backend> {
  return openBackend(...options).catch((error) => {
    throw plainFault(error)
  })
}

/** Turns a known fault of the database into a plain message. */
export function plainFault(error: unknown): unknown {
  if (error instanceof AggregateError) return plainFault(error.errors[0])
  if (!(error instanceof Error)) return error
  if (error instanceof AlreadyServing) return new UsageError(error.message)
  if (error.message.includes('unsupported startup parameter')) {
    return new UsageError(
      'a pooler before the database refuses what a session starts with: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the server itself; or set pool_mode = session and ignore_startup_parameters = options there; or name the server in DATABASE_URL',
    )
  }
  if (isConnectionLost(error))
    return new UsageError(`the database cannot be reached: ${error.message}`)
  const isPlain = error instanceof pg.DatabaseError || error instanceof DatabaseFault
  return isPlain ? new UsageError(`the database: ${error.message}`) : error
}

/** Runs a command on the database, whether or not a service is running. */
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

/** Runs a command with the owner's login, for what the service itself may not do. */
export async function withOwner<T>(
  name: string,
  work: (owner: Pool, backend: Backend, config: Config) => Promise<T>,
): Promise<T> {
  return withBackend(async (backend, config) => {
    if (backend.ownerUrl === undefined) {
      throw new UsageError("this takes the owner's login: set DATABASE_OWNER_URL")
    }
    const owner = openPool({
      url: backend.ownerUrl,
      max: 1,
      name: `sluice ${name}`,
      as: 'owner',
      // Reading months of a busy agent may take longer than any request is allowed; what locks is small.
      settings: { statement_timeout: '10min' },
      onError: (error) => note(`the database: ${error.message}`),
    })
    try {
      return await work(owner, backend, config)
    } finally {
      await owner.end()
    }
  })
}

/** The same with a sandbox bank, which sends its notices to this process. */
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
      await desk.providers.freshen()
      return await work(desk, backend, config)
    } finally {
      await close()
    }
  })
}

/** The same with a teller, for a command that changes orders or wallets. */
export async function withDesk<T>(
  work: (desk: Desk, backend: Backend, config: Config) => Promise<T>,
): Promise<T> {
  return withBackend(async (backend, config) => {
    const { openDesk } = await import('../service/open-desk.ts')
    const { desk, close } = openDesk(config, backend, {
      onFault: (error) => note(`the database: ${String(error)}`),
    })
    try {
      await desk.providers.freshen()
      return await work(desk, backend, config)
    } finally {
      await close()
    }
  })
}
