import pg from 'pg'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { DatabaseGate } from './database-gate.ts'
import { addressesOf, isByTransaction, watchPrimary } from './hosts.ts'
import { transactionClient } from './transaction-client.ts'

/**
 * Money and sequence numbers are bigint everywhere. Ids are bare digits everywhere except in PostgreSQL,
 * which writes a uuid with dashes.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.UUID, orderIdFromUuid],
  // A day is a day in some zone, which a Date would lose.
  [pg.types.builtins.DATE, String],
])

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** The role that has the service's rights; its login is a member and has them by that. */
export const serviceRole = 'sluice_service'

/**
 * The address with sessions that act as the service's role although their login may do more. It keeps mistakes from
 * doing harm, but nobody who means it: such a session can switch back.
 */
export function actingAsService(url: string): string {
  const address = new URL(url)
  const given = address.searchParams.get('options') ?? ''
  address.searchParams.set('options', `${given} -c role=${serviceRole}`.trim())
  return address.href
}

export interface PoolOptions {
  url: string
  max: number
  name: string
  onError: (error: Error) => void
  /** No request waits for the owner's statements. */
  as?: 'owner' | 'service'
  /** Sends statements without waiting for the answer to the previous one. */
  pipeline?: boolean
  /** More settings for each session. */
  settings?: Record<string, string>
  /** Lets only connections to a known server through. */
  gate?: DatabaseGate | undefined
}

export type Pool = pg.Pool
export type PoolClient = pg.PoolClient

/**
 * Acknowledged writes must be on disk, whatever the database, the login or the URL sets: a lower setting
 * is raised, a higher one stays.
 */
const raised = (isLocal: boolean) => `set_config('synchronous_commit',
  case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write') then 'on'
    else current_setting('synchronous_commit') end, ${isLocal})`

/** For the session, so that a later change of the server's settings cannot lower it. */
const raiseForSession = `select ${raised(false)}`

/**
 * For a transaction: behind a pooler the session that it runs in may be another than the one that was opened. Answers with
 * the database's time.
 */
export const raiseForTransaction = { name: 'durable', text: `select ${raised(true)}, now()` }

/**
 * A pool whose sessions start in our schema, by a start-up option, so that no statement can run before it. Their
 * rights are those of the login in the address, and nothing switches them.
 */
export function openPool({ url, max, name, onError, as, gate, ...options }: PoolOptions): Pool {
  const settings = {
    search_path: 'sluice',
    TimeZone: 'UTC',
    statement_timeout: '15s',
    lock_timeout: '8s',
    idle_in_transaction_session_timeout: '15s',
    ...options.settings,
  }
  // Options in the URL would replace ours, and with them the schema.
  const address = new URL(url)
  const given = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options')
  const isPooled = isByTransaction(url)
  const isUnhurried = as === 'owner' || options.settings?.synchronous_commit === 'off'
  // One that does not answer is not waited for where there are others.
  const isOneOfSeveral = addressesOf(address.href).length > 1
  const config: pg.PoolConfig & { pipeline?: boolean } = {
    connectionString: address.href,
    max,
    types,
    application_name: name,
    ...(!isPooled && { options: [given, optionsOf(settings)].join(' ').trim() }),
    // No request waits for the owner's statements, nor for those whose loss does not matter, so a busy
    // database may take longer to connect.
    connectionTimeoutMillis: isOneOfSeveral ? 2_000 : isUnhurried ? 60_000 : 5_000,
    idleTimeoutMillis: 60_000,
    // Somewhat after the server's own end of it, which is the better answer.
    query_timeout: as === 'owner' ? 620_000 : 20_000,
    keepAlive: true,
    pipeline: isPooled || (options.pipeline ?? false),
    ...(isPooled && { Client: transactionClient(() => forTransaction(given, settings), gate) }),
  }
  // The pool does not hand out a connection that cannot be made durable, or whose server is not known.
  config.onConnect = async (client) => {
    // Each of its transactions looks for itself.
    if (isPooled) return
    await gate?.check(client)
    await keepSettings(client, settings)
    if (!('synchronous_commit' in settings)) await client.query(raiseForSession)
  }
  const pool = new pg.Pool(config)
  // Behind a pooler by transaction each transaction looks for itself.
  followPrimary(pool, address.href, onError, isPooled ? undefined : gate)
  pool.on('error', onError)
  // A checked-out client emits its connection errors itself, and an unhandled error event ends the
  // process.
  pool.on('connect', (client) => client.on('error', onError))
  // Behind a pooler nothing is prepared.
  if (!isPooled) pool.on('acquire', forgetOldPlans)
  return pool
}

function optionsOf(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([key, value]) => `-c ${key}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ')
}

/** What sets a transaction up as a session would be by its options. */
function forTransaction(options: string, settings: Record<string, string>): string {
  const given = [...options.matchAll(/-c\s*(\w+)=((?:\\.|\S)*)/g)].map(
    ([, key = '', value = '']): [string, string] => [key, value.replaceAll(/\\(.)/g, '$1')],
  )
  const set = [...given, ...Object.entries(settings)].map(
    ([key, value]) => `set_config(${pg.escapeLiteral(key)}, ${pg.escapeLiteral(value)}, true)`,
  )
  return [...set, ...('synchronous_commit' in settings ? [] : [raised(true)])].join(', ')
}

/** A pooler may have swallowed what a session starts with. */
async function keepSettings(client: pg.ClientBase, settings: Record<string, string>) {
  const { rows } = await client.query<{ path: string }>(
    `select current_setting('search_path') as path`,
  )
  if (rows[0]?.path === settings.search_path) return
  const names = Object.keys(settings)
  const set = names.map((_name, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, false)`)
  await client.query(`select ${set.join(', ')}`, Object.entries(settings).flat())
}

/**
 * Gives up connections to a server that another has replaced: it may be frozen or cut off and let every statement wait,
 * or still take writes that nobody will ever see. Where the address names several servers, connects to the one that
 * takes writes.
 */
function followPrimary(
  pool: Pool,
  url: string,
  onError: PoolOptions['onError'],
  gate: DatabaseGate | undefined,
): void {
  const clients = new Set<PoolClient>()
  pool.on('remove', (client) => clients.delete(client))
  pool.on('connect', (client) => clients.add(client))
  // Whatever is open is to the server before: a connection to this one was not let through.
  gate?.onMove(() => {
    for (const client of clients) socketOf(client).destroy()
  })
  if (addressesOf(url).length === 1) return
  const watch = watchPrimary(url, onError)
  // Read for each new connection.
  Object.defineProperty(pool.options, 'connectionString', { get: () => watch.current })
  const destroyIfElsewhere = (client: PoolClient) => {
    const { host, port } = client as PoolClient & { host: string; port: number }
    const now = new URL(watch.current)
    // An address of version 6 is in brackets, or not.
    const [is, was] = [now.hostname, host].map((name) => name.replaceAll(/[[\]]/g, ''))
    if (is !== was || Number(now.port || 5432) !== port) socketOf(client).destroy()
  }
  // Another may take writes since it was opened.
  pool.on('connect', destroyIfElsewhere)
  const onMove = () => {
    for (const client of clients) destroyIfElsewhere(client)
  }
  watch.onMove(onMove)
  const end = pool.end.bind(pool) as () => Promise<void>
  pool.end = (async () => {
    watch.leave(onMove)
    await end()
  }) as Pool['end']
}

/** The library has no other way to end a connection whose server does not answer. */
function socketOf(client: PoolClient): { destroy(): void } {
  return (client as PoolClient & { connection: { stream: { destroy(): void } } }).connection.stream
}

const [planLivesMs, planServes, longestPlanMs] = [1_000, 50, 60_000]
const planned = new WeakMap<PoolClient, { atMs: number; uses: number }>()

/**
 * Makes a session plan its prepared statements again. Otherwise a session keeps a plan made while a table was
 * small: on an empty table all indexes that begin with agent_id cost the same, and the one chosen then could
 * later read a whole agent's rows for every row. This affects foreign-key checks too. Tables grow by use, so plans
 * are made again after so many uses, at most once a second: where little happens, planning took three times as long as
 * the rest. The statement is sent ahead of the next one; a pipelined session does not wait for its answer.
 */
export function forgetOldPlans(client: PoolClient): void {
  const now = performance.now()
  const since = planned.get(client) ?? { atMs: now, uses: 0 }
  planned.set(client, since)
  const age = now - since.atMs
  since.uses++
  if (age < planLivesMs || (since.uses < planServes && age < longestPlanMs)) return
  planned.set(client, { atMs: now, uses: 0 })
  // If this fails, the next statement fails too, and the caller waits for that one.
  client.query('discard plans').catch(() => {})
}

/** Throws if the database does not answer. */
export async function reach(pool: Pool): Promise<void> {
  await pool.query('select 1')
}

/** Whether the connection failed, rather than the database refusing a statement. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // Class 08: connection exceptions; 57P: shutdown, crash, cannot connect now; 53: out of connections,
  // memory or disk; 25006: a standby, which is read-only.
  if (/^(08|57P|53|25006|25P0[34])/.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/.test(code))
    return true
  return (
    /connection|Connection|Query read timeout|not queryable|timeout exceeded when trying to connect/.test(
      error.message,
    ) && !/^[0-9A-Z]{5}$/.test(code)
  )
}

/** The code of an error reported by PostgreSQL, such as 23505. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Whether other transactions were in the way: the same work can be retried. */
export function isContention(error: unknown): boolean {
  // Serialization failure, deadlock, lock timeout, statement cancelled.
  return ['40001', '40P01', '55P03', '57014'].includes(sqlState(error) ?? '')
}
