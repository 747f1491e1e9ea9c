import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** What has been used up to a moment: CPU time in µs, and bytes. */
interface Reading {
  serviceUs: number
  /** All of PostgreSQL, those of its processes that have ended included. */
  postgresUs: number
  /** By application name, and "background" for processes that nobody has connected. */
  byName: Map<number, { name: string; us: number }>
  walBytes: number
  diskBytes: number
}

/** What one order has cost. */
export interface Cost {
  serviceUs: number
  postgresUs: number
  byName: Record<string, number>
  walBytes: number
  diskBytes: number
}

/** Reads what a service and PostgreSQL use; the difference of two readings is what the work between them took. */
export async function readUse(databaseUrl: string, servicePids: number[]): Promise<Reading> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'bench' })
  await client.connect()
  const { rows } = await client.query<{ wal: string; disk: string; own: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
       pg_database_size(current_database()) as disk, pg_backend_pid() as own`,
  )
  const { rows: backends } = await client.query<{ pid: number; name: string }>(
    `select pid, coalesce(nullif(application_name, ''), 'background') as name from pg_stat_activity`,
  )
  // While the backend is there.
  const parent = statOf(rows[0]?.own ?? 0)?.parent
  await client.end()
  if (parent === undefined) throw new Error('PostgreSQL has to be on this machine')
  const postmaster = statOf(parent)
  const nameOf = new Map(backends.map(({ pid, name }) => [pid, name]))
  const byName = new Map<number, { name: string; us: number }>()
  for (const pid of childrenOf(parent)) {
    const stat = statOf(pid)
    if (stat) byName.set(pid, { name: nameOf.get(pid) ?? 'background', us: stat.us })
  }
  const alive = [...byName.values()].reduce((sum, { us }) => sum + us, 0)
  return {
    serviceUs: servicePids.reduce((sum, pid) => sum + (statOf(pid)?.us ?? 0), 0),
    postgresUs: (postmaster?.us ?? 0) + (postmaster?.endedUs ?? 0) + alive,
    byName,
    walBytes: Number(rows[0]?.wal),
    diskBytes: Number(rows[0]?.disk),
  }
}

/** What each of so many orders took between two readings. */
export function costOf(before: Reading, after: Reading, orders: number): Cost {
  const byName: Record<string, number> = {}
  for (const [pid, { name, us }] of after.byName) {
    if (name === 'bench') continue
    byName[name] = (byName[name] ?? 0) + (us - (before.byName.get(pid)?.us ?? 0)) / orders
  }
  return {
    serviceUs: (after.serviceUs - before.serviceUs) / orders,
    postgresUs: (after.postgresUs - before.postgresUs) / orders,
    byName,
    walBytes: (after.walBytes - before.walBytes) / orders,
    diskBytes: (after.diskBytes - before.diskBytes) / orders,
  }
}

const tickUs = 10_000

/** A process's CPU time, that of its children that have ended, and its parent: proc(5). */
function statOf(pid: number): { parent: number; us: number; endedUs: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name, which is second, may have spaces in it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const at = (field: number) => Number(fields[field - 3])
    return {
      parent: at(4),
      us: (at(14) + at(15)) * tickUs,
      endedUs: (at(16) + at(17)) * tickUs,
    }
  } catch {
    return undefined
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.parent === parent)
}
