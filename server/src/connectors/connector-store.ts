import { createHash } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { reportLines } from '../bank-accounts/line-source.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import { type SecretKeys, seal } from '../lib/secret-box.ts'
import { secretFault } from '../providers/http/signing-faults.ts'
import { storedDocument } from './stored-document.ts'

/** Who does something, and when. */
export interface By {
  name: string
  at: Date
}

/** A version of a connector's document. */
export interface ConnectorVersion {
  connector: string
  version: number
  document: string
  sha256: string
  addedAt: Date
  addedBy: string
}

/** A sample set that was tried on a version. */
export interface ConnectorRun {
  connector: string
  version: number
  n: number
  passed: boolean
  ranAt: Date
  ranBy: string
}

/** Which version of a connector is used, with which secrets. */
export interface ConnectorUse {
  connector: string
  n: number
  version: number
  run: number
  /** The number of each secret. */
  secrets: Record<string, number>
  /** Since which use its secrets have been of the same account at the company. */
  sameSince: number
  /** Notices that are signed with secrets of the uses before are not taken any more. */
  formerVoid: boolean
  usedAt: Date
  usedBy: string
}

/** A secret without what it is. */
export interface ConnectorSecret {
  secret: string
  n: number
  addedAt: Date
  addedBy: string
}

const connectorName = /^[a-z][a-z0-9-]{1,31}$/

/** Names are taken one at a time, so that no bank account and no connector share one. */
async function lockProviderNames(tx: Tx): Promise<void> {
  await tx.query('lock table providers in share row exclusive mode')
}

/** What a new connector has to do with the other providers. */
export interface NewNames {
  isMadeInCode: (name: string) => boolean
  /** Gives it no orders until somebody switches it on. */
  switchOff: (tx: Tx, name: string) => Promise<void>
}

/**
 * Adds a version of a connector's document, and the connector if it is new. The same document again is the same
 * version. Throws if the name was ever anybody else's.
 */
export async function addVersion(
  pool: Pool,
  name: string,
  document: string,
  by: By,
  { isMadeInCode, switchOff }: NewNames,
  also?: (tx: Tx, version: ConnectorVersion, isNew: boolean) => Promise<void>,
): Promise<{ version: ConnectorVersion; isNew: boolean }> {
  const sha256 = createHash('sha256').update(document).digest('hex')
  return inTransaction(pool, async (tx) => {
    await lockProviderNames(tx)
    const known = await findConnector(tx, name)
    if (!known) {
      await makeConnector(tx, name, by, isMadeInCode)
      await switchOff(tx, name)
    }
    const versions = await listVersions(tx, name)
    const same = versions.find((each) => each.sha256 === sha256)
    if (same) return { version: same, isNew: false }
    const version: ConnectorVersion = {
      connector: name,
      version: Math.max(0, ...versions.map((each) => each.version)) + 1,
      document,
      sha256,
      addedAt: by.at,
      addedBy: by.name,
    }
    await tx.query(
      `insert into connector_versions (connector, version, document, sha256, added_at, added_by)
       values ($1, $2, $3, $4, $5, $6)`,
      [name, version.version, document, sha256, by.at, by.name],
    )
    await also?.(tx, version, true)
    return { version, isNew: true }
  })
}

async function makeConnector(
  tx: Tx,
  name: string,
  by: By,
  isMadeInCode: (name: string) => boolean,
): Promise<void> {
  if (!connectorName.test(name) || isMadeInCode(name) || (await isKnown(tx, name))) {
    const message = connectorName.test(name)
      ? 'is taken or was used before: choose another'
      : 'must be 2 to 32 small letters, digits and dashes, beginning with a letter'
    const errors = [{ field: 'name', message }]
    throw new Problem('invalid_request', `The name "${name}" ${message}.`, { errors })
  }
  await tx.query('insert into connectors (name, created_at, created_by) values ($1, $2, $3)', [
    name,
    by.at,
    by.name,
  ])
}

/** Whether a bank account or a provider had the name: its money and its orders are not the connector's. */
async function isKnown(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await tx.query<{ known: boolean }>(
    `select exists (select 1 from bank_accounts where name = $1)
       or exists (select 1 from providers where name = $1)
       or exists (select 1 from provider_routes where provider = $1)
       or exists (select 1 from clearings where provider = $1)
       or exists (select 1 from payouts where provider = $1 and ask_at is not null)
       or exists (select 1 from orders where provider = $1 and status = 'WAITING') as known`,
    [name],
  )
  return rows[0]?.known ?? true
}

export async function findConnector(
  db: Pool | Tx,
  name: string,
): Promise<{ name: string; createdAt: Date; createdBy: string } | undefined> {
  const { rows } = await db.query<{ name: string; createdAt: Date; createdBy: string }>(
    `select name, created_at as "createdAt", created_by as "createdBy" from connectors
     where name = $1`,
    [name],
  )
  return rows[0]
}

export async function listConnectors(
  db: Pool | Tx,
): Promise<{ name: string; createdAt: Date; createdBy: string }[]> {
  const { rows } = await db.query<{ name: string; createdAt: Date; createdBy: string }>(
    `select name, created_at as "createdAt", created_by as "createdBy" from connectors
     order by name`,
  )
  return rows
}

const versionColumns = `connector, version, document, sha256, added_at as "addedAt",
  added_by as "addedBy"`

/** Oldest first. */
export async function listVersions(db: Pool | Tx, name: string): Promise<ConnectorVersion[]> {
  const { rows } = await db.query<ConnectorVersion>(
    `select ${versionColumns} from connector_versions where connector = $1 order by version`,
    [name],
  )
  return rows
}

export async function findVersion(
  db: Pool | Tx,
  name: string,
  version: number,
): Promise<ConnectorVersion | undefined> {
  const { rows } = await db.query<ConnectorVersion>(
    `select ${versionColumns} from connector_versions where connector = $1 and version = $2`,
    [name, version],
  )
  return rows[0]
}

/** What a secret is sealed for: it opens for no other connector, and under no other name. */
export function ownerOfSecret(connector: string, secret: string): string {
  return `connector ${connector} ${secret}`
}

/** Sealed it is a little longer, and the database takes 16 KiB. */
const longestSecret = 16_000

/** Keeps a secret, sealed. It is used once a use names its number. */
export async function addSecret(
  pool: Pool,
  secretKeys: SecretKeys,
  { connector, secret, text }: { connector: string; secret: string; text: string },
  by: By,
  also?: (tx: Tx, n: number) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async (tx) => {
    await lockConnector(tx, connector)
    const versions = (await listVersions(tx, connector)).map((each) =>
      storedDocument(each.document),
    )
    const newest = versions.at(-1)
    const isNamed = versions.some(({ secrets }) => Object.hasOwn(secrets, secret))
    const fault = !isNamed
      ? 'is in no version of the document'
      : Buffer.byteLength(text) > longestSecret
        ? `is longer than ${longestSecret} bytes`
        : newest && secretFault(newest, secret, text)
    if (fault !== undefined) {
      throw new Problem('invalid_request', `This cannot be the secret "${secret}": it ${fault}.`)
    }
    const { rows } = await tx.query<{ n: number }>(
      `insert into connector_secrets (connector, secret, n, sealed, added_at, added_by)
       select $1, $2, coalesce(max(n), 0) + 1, $3, $4, $5
       from connector_secrets where connector = $1 and secret = $2 returning n`,
      [connector, secret, seal(secretKeys, ownerOfSecret(connector, secret), text), by.at, by.name],
    )
    const n = rows[0]?.n ?? 1
    await also?.(tx, n)
    return n
  })
}

/** All secrets of a connector, oldest first. */
export async function listSecrets(db: Pool | Tx, connector: string): Promise<ConnectorSecret[]> {
  const { rows } = await db.query<ConnectorSecret>(
    `select secret, n, added_at as "addedAt", added_by as "addedBy" from connector_secrets
     where connector = $1 order by secret, n`,
    [connector],
  )
  return rows
}

/** Changes to a connector come one after the other. */
async function lockConnector(tx: Tx, name: string): Promise<void> {
  await lockProviderNames(tx)
  if (await findConnector(tx, name)) return
  throw new Problem('not_found', `There is no connector "${name}".`)
}

/** Writes down what became of a sample set. */
export async function addRun(
  pool: Pool,
  run: Pick<ConnectorRun, 'connector' | 'version' | 'passed'> & {
    samples: string
    results: string
  },
  by: By,
): Promise<number> {
  return inTransaction(pool, async (tx) => {
    await lockConnector(tx, run.connector)
    const { rows } = await tx.query<{ n: number }>(
      `insert into connector_runs (connector, version, n, samples, passed, results, ran_at, ran_by)
       select $1, $2, coalesce(max(n), 0) + 1, $3, $4, $5, $6, $7
       from connector_runs where connector = $1 and version = $2 returning n`,
      [run.connector, run.version, run.samples, run.passed, run.results, by.at, by.name],
    )
    return rows[0]?.n ?? 1
  })
}

/** The runs of a connector's samples, newest first. */
export async function listRuns(db: Pool | Tx, connector: string): Promise<ConnectorRun[]> {
  const { rows } = await db.query<ConnectorRun>(
    `select connector, version, n, passed, ran_at as "ranAt", ran_by as "ranBy"
     from connector_runs where connector = $1 order by version desc, n desc limit 200`,
    [connector],
  )
  return rows
}

/** The newest run of samples that a version has passed. */
async function passedRun(
  db: Pool | Tx,
  connector: string,
  version: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ n: number | null }>(
    `select max(n) as n from connector_runs where connector = $1 and version = $2 and passed`,
    [connector, version],
  )
  return rows[0]?.n ?? undefined
}

const useColumns = `u.connector, u.n, u.version, u.run, u.same_since as "sameSince",
  u.former_void as "formerVoid", u.used_at as "usedAt", u.used_by as "usedBy",
  coalesce((select json_object_agg(s.secret, s.secret_n) from connector_use_secrets s
    where s.connector = u.connector and s.n = u.n), '{}') as secrets`

/** A use, and when another took its place. */
export type PastUse = ConnectorUse & { replacedAt: Date | null }

/** The uses of every connector that were in effect since then, the newest of each first. */
export async function readUses(db: Pool | Tx, since: Date): Promise<PastUse[]> {
  const { rows } = await db.query<PastUse>(
    `select ${useColumns}, next.used_at as "replacedAt" from connector_uses u
     left join connector_uses next on next.connector = u.connector and next.n = u.n + 1
     where next.n is null or next.used_at > $1
     order by u.connector, u.n desc`,
    [since],
  )
  return rows
}

/** The uses of a connector, newest first. */
export async function listUses(db: Pool | Tx, connector: string): Promise<ConnectorUse[]> {
  const { rows } = await db.query<ConnectorUse>(
    `select ${useColumns} from connector_uses u where connector = $1 order by n desc limit 100`,
    [connector],
  )
  return rows
}

export async function findUse(
  db: Pool | Tx,
  connector: string,
  n: number,
): Promise<ConnectorUse | undefined> {
  const { rows } = await db.query<ConnectorUse>(
    `select ${useColumns} from connector_uses u where connector = $1 and n = $2`,
    [connector, n],
  )
  return rows[0]
}

/** The newest use whose secrets are of the account at the company that has been used since the given one. */
export async function findNewestOf(
  db: Pool | Tx,
  connector: string,
  sameSince: number,
): Promise<ConnectorUse | undefined> {
  const { rows } = await db.query<ConnectorUse>(
    `select ${useColumns} from connector_uses u
     where connector = $1 and same_since = $2 order by n desc limit 1`,
    [connector, sameSince],
  )
  return rows[0]
}

/** The sealed secrets of these numbers. */
export async function readSecrets(
  db: Pool | Tx,
  connector: string,
  numbers: Record<string, number>,
): Promise<{ secret: string; sealed: Buffer }[]> {
  const { rows } = await db.query<{ secret: string; sealed: Buffer }>(
    `select s.secret, s.sealed from connector_secrets s
     join unnest($2::text[], $3::int[]) u(secret, n) on u.secret = s.secret and u.n = s.n
     where s.connector = $1`,
    [connector, Object.keys(numbers), Object.values(numbers)],
  )
  return rows
}

/** What is to be used. */
export type NewUse = Pick<
  ConnectorUse,
  'connector' | 'version' | 'secrets' | 'sameSince' | 'formerVoid'
> & {
  /** The bank account whose lines it reports. */
  account: string | null
}

/**
 * Uses a version from now on, in every process, if it has passed its samples. Returns undefined if somebody else
 * changed what is used since `after`, the number of the use that was read.
 */
export async function useVersion(
  tx: Tx,
  { account, ...use }: NewUse,
  after: number,
  by: By,
): Promise<ConnectorUse | undefined> {
  const { connector, version, secrets, sameSince, formerVoid } = use
  await lockConnector(tx, connector)
  const run = await passedRun(tx, connector, version)
  if (run === undefined) {
    throw new Problem(
      'invalid_transition',
      `Version ${version} has not passed its samples: try them first, on its page or with sluice provider test ${connector} --sample FILE.`,
    )
  }
  const [latest] = await listUses(tx, connector)
  if ((latest?.n ?? 0) !== after) return undefined
  const n = after + 1
  await tx.query(
    `insert into connector_uses (connector, n, version, run, passed, same_since, former_void,
       used_at, used_by)
     values ($1, $2, $3, $4, true, $5, $6, $7, $8)`,
    [connector, n, version, run, sameSince, formerVoid, by.at, by.name],
  )
  await tx.query(
    `insert into connector_use_secrets (connector, n, secret, secret_n)
     select $1, $2, * from unnest($3::text[], $4::int[])`,
    [connector, n, Object.keys(secrets), Object.values(secrets)],
  )
  await reportLines(tx, connector, account)
  await raiseAlert(tx, {
    kind: 'bank_account_changed',
    subject: `connector ${connector}`,
    words: `The connector ${connector} uses version ${version} of its document from now on.`,
    to: { roles: ['admin'] },
    at: by.at,
  })
  return { ...use, n, run, usedAt: by.at, usedBy: by.name }
}
