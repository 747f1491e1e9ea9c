import type { Config } from '../config.ts'
import { type DatabaseFindings, inspectDatabase } from '../db/inspect-database.ts'
import { serviceRole } from '../db/pool.ts'
import { clockFinding } from './check-machine.ts'
import { plainFault } from './command.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const oldestVersion = 150_000

/** Checks a database before the service uses it. */
export async function checkDatabase(config: Config, url: string): Promise<Finding[]> {
  let found: DatabaseFindings
  try {
    found = await inspectDatabase(url)
  } catch (error) {
    const fault = plainFault(error)
    const advice =
      'See that DATABASE_URL is right, that PostgreSQL runs, and that it lets this machine in.'
    return [fail('database', fault instanceof Error ? fault.message : String(fault), advice)]
  }
  return [
    versionFinding(found),
    clockFinding("the database's clock", found.clockAheadMs),
    durabilityFinding(found, config),
    ...replicaFindings(found, config),
    ...citusFindings(found),
    snapshotFinding(found.oldestSnapshot),
    migrationFinding(found, config),
    ...modeFindings(found, config),
    ...roleFindings(found),
    loginFinding(found, config),
  ]
}

function versionFinding({ version, login, isReadOnly }: DatabaseFindings): Finding {
  const text = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000} as ${login}`
  if (version < oldestVersion) {
    return fail('database', `${text} is too old`, 'Use PostgreSQL 15 or newer.')
  }
  if (isReadOnly) {
    const advice = 'Point DATABASE_URL at the primary.'
    return fail('database', `${text} is a standby, which cannot be written to`, advice)
  }
  return ok('database', text)
}

function durabilityFinding(found: DatabaseFindings, { mode }: Config): Finding {
  const { unsafeSettings, synchronousCommit } = found
  if (unsafeSettings.length === 0) {
    const isRaised = ['off', 'local', 'remote_write'].includes(synchronousCommit)
    const text = `synchronous_commit ${synchronousCommit}${isRaised ? ', raised to on' : ''}`
    return ok('durability', `fsync and full_page_writes on, ${text}`)
  }
  const text = `${unsafeSettings.join(' and ')} off: what was acknowledged may be lost or spoilt when the database's machine fails`
  const advice = 'Turn it on in postgresql.conf and reload.'
  return mode === 'live' ? fail('durability', text, advice) : warn('durability', text, advice)
}

/** A failover to a replica that commits did not wait for loses what agents were told. */
function replicaFindings(found: DatabaseFindings, { mode }: Config): Finding[] {
  if (mode !== 'live') return []
  const { hasSynchronousStandby, replicas } = found
  if (hasSynchronousStandby) return [ok('replica', 'commits wait for a synchronous one')]
  const advice =
    "Set synchronous_standby_names = 'ANY 1 (...)' on the primary, or synchronous_mode in Patroni; see docs/deploy.md. Without it a failover loses the last moments."
  const text =
    replicas === 0
      ? 'no commit waits for another server'
      : `${replicas} follow, but no commit waits for any of them`
  return [warn('replica', text, advice)]
}

/** A table that lies on one node alone cannot be joined with those that are spread, nor grow with them. */
function citusFindings({ undistributed, pending }: DatabaseFindings): Finding[] {
  if (undistributed === undefined || pending.length > 0) return []
  if (undistributed.length === 0) return [ok('citus', 'all tables are distributed')]
  const some = undistributed.slice(0, 5).join(', ')
  const more = undistributed.length > 5 ? ` and ${undistributed.length - 5} more` : ''
  return [
    fail(
      'citus',
      `${some}${more} lie on one node alone`,
      'Run server/src/db/distribute.sql as the owner, before the first order. Not all lists of the console work on Citus yet.',
    ),
  ]
}

const longSnapshotS = 600
const longSnapshotTransactions = 1_000_000

/** A snapshot that is held for long keeps old row versions from being cleaned up. */
export function snapshotFinding(oldest: DatabaseFindings['oldestSnapshot']): Finding {
  if (!oldest) return ok('snapshots', 'none is held')
  const { holder, since, ageS, transactions } = oldest
  const started = since === null ? 'a time that this login may not see' : since.toISOString()
  const text = `${holder} has held the oldest since ${started}, ${transactions} transactions ago`
  const isLong = ageS === null ? transactions > longSnapshotTransactions : ageS > longSnapshotS
  if (!isLong) return ok('snapshots', text)
  const advice =
    'While it is held, rows that change often become slow to read. Wait for it or end it; for backups see docs/operate.md.'
  return warn('snapshots', text, advice)
}

function migrationFinding(found: DatabaseFindings, config: Config): Finding {
  const { pending, unknown, excesses } = found
  if (unknown.length > 0) {
    const advice = 'Run the newer version of the service that made them.'
    return fail('migrations', `${unknown.join(', ')} are not known to this version`, advice)
  }
  if (pending.length === 0) return ok('migrations', 'all applied')
  const text = `not applied: ${pending.join(', ')}`
  const isOwner = config.databaseUrl === undefined || excesses.length > 0
  return isOwner && config.databaseOwnerUrl === undefined
    ? warn('migrations', text, 'They are applied at the next start; or run "sluice migrate" now.')
    : fail('migrations', text, 'Run "sluice migrate".')
}

function modeFindings(found: DatabaseFindings, { mode }: Config): Finding[] {
  if (found.mode === undefined || found.mode === mode) return []
  const text = `the database was first started with MODE=${found.mode}, and MODE is ${mode}`
  return [fail('mode', text, `Set MODE=${found.mode}, or use a database of its own.`)]
}

/** The service's rights are those of a role that cannot change the journal. */
function roleFindings(found: DatabaseFindings): Finding[] {
  // The migrations create the role and its rights.
  if (!found.roleExists || found.pending.length > 0) return []
  const findings: Finding[] = []
  if (!found.hasRights) {
    const advice = `Let an administrator run: grant ${serviceRole} to ${found.login}`
    findings.push(fail('role', `${found.login} has not the rights of ${serviceRole}`, advice))
  }
  if (found.journalIsOpen) {
    const advice = `Let the owner run: revoke update, delete, truncate on sluice.journal from ${serviceRole}`
    findings.push(fail('role', `${serviceRole} could change the journal`, advice))
  }
  if (findings.length > 0) return findings
  return [ok('role', `${serviceRole}, which cannot change the journal`)]
}

/** A login that may do more than the service's role could undo what the role forbids. */
function loginFinding({ login, excesses }: DatabaseFindings, { mode }: Config): Finding {
  if (excesses.length === 0) return ok('login', `${login}, which cannot become the owner`)
  const text = `${login} ${excesses.join(' and ')}`
  const advice =
    'Give the service a login of its own; see "A server of your own" in docs/operate.md.'
  return mode === 'live' ? fail('login', text, advice) : warn('login', text, advice)
}
