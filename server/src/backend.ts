import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { keepMode } from './db/deployment.ts'
import { openEmbeddedPostgres } from './db/embedded.ts'
import { migrate, pendingMigrations } from './db/migrate.ts'
import { openPool, type Pool, sqlState } from './db/pool.ts'
import { DatabaseFault } from './db/run-migration.ts'
import { type SecretKeys, unseal } from './lib/secret-box.ts'

/** The database and the keys, which both the service and the command line need. */
export interface Backend {
  databaseUrl: string
  pool: Pool
  secretKeys: SecretKeys
  close(): Promise<void>
}

/** Opens the database, brings its schema up to date and reads the keys. */
export async function openBackend(
  config: Config,
  use: 'serve' | 'command',
  log: (message: string) => void,
): Promise<Backend> {
  const secretKeys = await readSecretKeys(config)
  const embedded =
    config.databaseUrl === undefined
      ? await openEmbeddedPostgres({ dataDir: config.dataDir, use, log })
      : undefined
  const databaseUrl = embedded?.url ?? config.databaseUrl ?? ''
  const pool = openPool({
    url: databaseUrl,
    max: 8,
    name: `sluice ${use}`,
    onError: (error) => log(`a database connection was lost: ${error.message}`),
  })
  const close = async () => {
    await pool.end()
    await embedded?.close()
  }
  try {
    await bringUpToDate(config, databaseUrl, pool, log)
    await checkSecretKeys(pool, secretKeys, log)
    await keepMode(pool, config.mode, use, new Date())
  } catch (error) {
    await close()
    throw error
  }
  return { databaseUrl, pool, secretKeys, close }
}

async function bringUpToDate(
  config: Config,
  databaseUrl: string,
  pool: Pool,
  log: (message: string) => void,
): Promise<void> {
  // A login other than the owner's may not change the schema; only `sluice migrate` uses the owner's
  // login.
  if (config.databaseOwnerUrl !== undefined) {
    const pending = await pendingMigrations(pool).catch((error) => {
      // The role does not exist, or the login may not act as it or may not see the schema.
      if (['22023', '42501'].includes(sqlState(error) ?? '')) return ['the role or the schema']
      throw error
    })
    if (pending.length > 0) {
      throw new DatabaseFault(`it lacks ${pending.join(', ')}: run "sluice migrate" first`)
    }
    return
  }
  for (const name of await migrate(databaseUrl, { log })) log(`applied migration ${name}`)
}

/** Keys that decrypt no secret at all belong to another database: no agent's signature could be checked. */
async function checkSecretKeys(
  pool: Pool,
  secretKeys: SecretKeys,
  log: (message: string) => void,
): Promise<void> {
  const { shut, total } = await countSecrets(pool, secretKeys)
  if (shut === 0) return
  const fault = `${shut} of ${total} agents' secrets do not open with SECRET_KEY: set the key they were encrypted with, as SECRET_KEY or SECRET_KEY_PREVIOUS`
  if (shut === total) throw new DatabaseFault(fault)
  log(fault)
}

/** Counts the valid secrets, and those that the keys cannot decrypt. */
export async function countSecrets(
  pool: Pool,
  secretKeys: SecretKeys,
): Promise<{ total: number; shut: number }> {
  const { rows } = await pool.query<{ agent_id: bigint; sealed_secret: Buffer }>(
    'select agent_id, sealed_secret from agent_keys where expires_at is null or expires_at > $1',
    [new Date()],
  )
  const shut = rows.filter(
    ({ agent_id, sealed_secret }) =>
      unseal(secretKeys, `agent ${agent_id}`, sealed_secret) === undefined,
  )
  return { total: rows.length, shut: shut.length }
}

/** The keys from the settings or, in the sandbox, a key that is generated once and stored with the data. */
export async function readSecretKeys({ secretKeys, dataDir }: Config): Promise<SecretKeys> {
  const [first, ...others] = secretKeys
  if (first) return [first, ...others]
  const path = join(dataDir, 'secret.key')
  const read = async () => Buffer.from(await readFile(path, 'utf8'), 'base64')
  try {
    return [await read()]
  } catch {
    await mkdir(dataDir, { recursive: true })
    const draft = `${path}.${randomBytes(6).toString('hex')}`
    await writeFile(draft, randomBytes(32).toString('base64'), { mode: 0o600 })
    // Unlike renaming, linking does not replace a key that another process has just written.
    await link(draft, path).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    await rm(draft)
    return [await read()]
  }
}
