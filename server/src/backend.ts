import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { aloneSince } from './db/alone-since.ts'
import { DatabaseGate } from './db/database-gate.ts'
import { keepMode } from './db/deployment.ts'
import { embeddedLogin, openEmbeddedPostgres } from './db/embedded.ts'
import { runningDataDirs } from './db/embedded-postmaster.ts'
import { loginRights } from './db/login-rights.ts'
import { migrate, migrationState } from './db/migrate.ts'
import { actingAsService, openPool, type Pool } from './db/pool.ts'
import { refuseTransactionPooler } from './db/refuse-pooler.ts'
import { DatabaseFault } from './db/run-migration.ts'
import { type SecretKeys, unseal } from './lib/secret-box.ts'

/** The database and the keys, which both the service and the command line need. */
export interface Backend {
  /** With the service's login. */
  databaseUrl: string
  /** The same, past a pooler that would not keep a session. */
  directUrl: string
  /** With the owner's login, for what only the owner may do; undefined if this process was not given it. */
  ownerUrl: string | undefined
  pool: Pool
  /** From when on every process that may answer with an order draws its picture. */
  picturesDrawnSince: Date
  /** What all pools of the process ask before they use a connection. */
  gate: DatabaseGate
  secretKeys: SecretKeys
  close(): Promise<void>
}

type Log = (message: string, level?: 'info' | 'warn') => void

/** Opens the database, brings its schema up to date and reads the keys. */
export async function openBackend(
  config: Config,
  use: 'serve' | 'command',
  log: Log,
): Promise<Backend> {
  if (use === 'command') await refuseSecondDatabase(config)
  const secretKeys = await readSecretKeys(config)
  const embedded =
    config.databaseUrl === undefined
      ? await openEmbeddedPostgres({ dataDir: config.dataDir, use, log })
      : undefined
  const gate = new DatabaseGate()
  let pool: Pool | undefined
  const close = async () => {
    await pool?.end()
    await embedded?.close()
  }
  try {
    const logins = embedded
      ? { databaseUrl: embedded.url, ownerUrl: embedded.ownerUrl }
      : await chooseLogins(config, config.databaseUrl ?? '', log)
    const { databaseUrl, ownerUrl } = logins
    // An owner's login that was set is for commands alone: their user decides when to migrate.
    if (ownerUrl !== undefined && config.databaseOwnerUrl === undefined) {
      const serviceLogin = embedded && embeddedLogin
      for (const name of await migrate(ownerUrl, { serviceLogin, log })) {
        log(`applied migration ${name}`)
      }
    }
    pool = openPool({
      url: databaseUrl,
      max: 8,
      name: `sluice ${use}`,
      gate,
      onError: (error) => log(`a database connection was lost: ${error.message}`),
    })
    const directUrl = config.databaseDirectUrl ?? databaseUrl
    if (use === 'serve') await refuseTransactionPooler(directUrl, poolerWords(config))
    await checkMigrations(pool)
    await checkSecretKeys(pool, secretKeys, log)
    await keepMode(pool, config.mode, use, new Date())
    const picturesDrawnSince = await aloneSince(pool, '0112_pictures_are_drawn.sql')
    return { databaseUrl, directUrl, ownerUrl, pool, picturesDrawnSince, gate, secretKeys, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * A command that was not told where the data is would make a database of its own beside that of a service that runs
 * here, or write to one that nobody serves from any more, and its user would look for what they did there in vain.
 */
export async function refuseSecondDatabase(config: Config): Promise<void> {
  const { databaseUrl, isDefaultDataDir, dataDir } = config
  if (databaseUrl !== undefined || !isDefaultDataDir) return
  const dirs = await runningDataDirs()
  const isThere = existsSync(join(dataDir, 'postgres'))
  if (isThere && dirs.includes(await realpath(dataDir))) return
  const state = isThere
    ? `the one in ${dataDir} is not being served from`
    : `there is none in ${dataDir}`
  const choice = isThere
    ? `set DATA_DIR=${dataDir} if you mean that one`
    : `set DATA_DIR=${dataDir} if you want a new one there`
  if (dirs.length > 0) {
    const where = dirs.length === 1 ? dirs[0] : `one of ${dirs.join(', ')}`
    throw new DatabaseFault(
      `${state}, but Sluice runs here on ${where}: set DATA_DIR to that folder, or ${choice}`,
    )
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  if (await isServing(url)) {
    throw new DatabaseFault(
      `${state}, but a service answers at ${url}: set DATABASE_URL or DATA_DIR as it has them, or ${choice}`,
    )
  }
}

async function isServing(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) })
    return Object(await answer.json()).status === 'ok'
  } catch {
    return false
  }
}

/**
 * Refuses a login that could rewrite what must not change, or delete it. In the sandbox such a login may do for
 * everything; its sessions then act as the service's role, so that a missing right shows there and not first in live.
 */
async function chooseLogins(
  config: Config,
  url: string,
  log: Log,
): Promise<{ databaseUrl: string; ownerUrl: string | undefined }> {
  const { login, excesses } = await loginRights(url)
  if (excesses.length === 0) return { databaseUrl: url, ownerUrl: config.databaseOwnerUrl }
  const fault = `the login ${login} in DATABASE_URL ${excesses.join(' and ')}, so whoever makes the service run a statement could delete the audit log`
  const remedy = `give the service a login of its own: "create role sluice_login login password '...'" as an administrator, then set DATABASE_URL to that login and DATABASE_OWNER_URL to ${login}, and run "sluice migrate"`
  if (config.mode === 'live') throw new DatabaseFault(`${fault}: ${remedy}`)
  log(`${fault}; live refuses this: ${remedy}`, 'warn')
  const ownerUrl = config.databaseOwnerUrl ?? config.databaseDirectUrl ?? url
  return { databaseUrl: actingAsService(url), ownerUrl }
}

function poolerWords({ databaseDirectUrl }: Config): string {
  return databaseDirectUrl === undefined
    ? 'a pooler before it gives each transaction another session (pool_mode = transaction): set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the server itself; or name the server in DATABASE_URL'
    : 'DATABASE_DIRECT_URL leads to a pooler that gives each transaction another session: name the server itself there'
}

/** A login other than the owner's may not change the schema, so it can only say what is missing or too new. */
async function checkMigrations(pool: Pool): Promise<void> {
  const { pending, unknown } = await migrationState(pool)
  if (unknown.length > 0) {
    throw new DatabaseFault(
      `it has ${unknown.join(', ')}, which this version does not know: run a newer version`,
    )
  }
  if (pending.length > 0) {
    throw new DatabaseFault(`it lacks ${pending.join(', ')}: run "sluice migrate" first`)
  }
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
