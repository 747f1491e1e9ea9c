import { type CallbackTargets, urlFault } from '../agents/callback-url.ts'
import { findBankAccount } from '../bank-accounts/bank-account.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { ConnectorDocument } from '../providers/http/connector-document.ts'
import { readDocument, secretsUsed } from '../providers/http/document-faults.ts'
import { runSamples, type SamplesRun } from '../providers/http/run-samples.ts'
import {
  addRun,
  addVersion,
  type By,
  type ConnectorUse,
  type ConnectorVersion,
  findVersion,
  listSecrets,
  listUses,
  listVersions,
  readUses,
} from './connector-store.ts'

/** A document with other settings than it came with. */
export function withSettings(text: string, settings: Record<string, string>): string {
  if (Object.keys(settings).length === 0) return text
  const { document } = checkedDocument(text)
  for (const name of Object.keys(settings)) {
    if (Object.hasOwn(document.settings ?? {}, name)) continue
    throw new Problem('invalid_request', `The document has no setting "${name}".`)
  }
  const changed = { ...document, settings: { ...document.settings, ...settings } }
  return `${JSON.stringify(changed, null, 2)}\n`
}

/** The document in a text. Throws a problem that names everything that is wrong with it. */
export function checkedDocument(text: string): { document: ConnectorDocument } {
  const read = readDocument(text)
  if ('document' in read) return read
  const errors = read.faults.map(({ at, says }) => ({ field: `document${at}`, message: says }))
  const first = errors[0]
  throw new Problem('invalid_request', `${first?.field} ${first?.message}.`, { errors })
}

/** Adds a version of a document. It changes nothing until it is used. */
export async function addDocument(
  pool: Pool,
  name: string,
  text: string,
  by: By,
  rules: { targets: CallbackTargets; isMadeInCode: (name: string) => boolean },
  also?: (tx: Tx, version: ConnectorVersion) => Promise<void>,
): Promise<{ version: ConnectorVersion; isNew: boolean }> {
  const { document } = checkedDocument(text)
  const addresses = [
    ['base', document.base],
    ['auth/tokenUrl', document.auth?.kind === 'oauth' ? document.auth.tokenUrl : undefined],
  ] as const
  for (const [at, url] of addresses) {
    const fault = url === undefined ? undefined : urlFault(url, rules.targets)
    if (fault === undefined) continue
    const errors = [{ field: `document/${at}`, message: fault }]
    throw new Problem('invalid_request', `${at} ${fault}.`, { errors })
  }
  return addVersion(pool, name, text, by, rules.isMadeInCode, also)
}

/** Tries samples on a version, the newest if none is named, and writes down what became of them. */
export async function trySamples(
  pool: Pool,
  name: string,
  version: number | undefined,
  samples: string,
  by: By,
): Promise<SamplesRun & { version: number; run: number }> {
  const found = await versionNamed(pool, name, version)
  const ran = runSamples(checkedDocument(found.document).document, samples)
  const run = await addRun(
    pool,
    {
      connector: name,
      version: found.version,
      passed: ran.passed,
      samples,
      results: JSON.stringify({ results: ran.results, missing: ran.missing }),
    },
    by,
  )
  return { ...ran, version: found.version, run }
}

/** A version of a connector, the newest if none is named. */
export async function versionNamed(
  db: Pool | Tx,
  name: string,
  version: number | undefined,
): Promise<ConnectorVersion> {
  const found =
    version === undefined
      ? (await listVersions(db, name)).at(-1)
      : await findVersion(db, name, version)
  if (found) return found
  throw new Problem(
    'not_found',
    version === undefined
      ? `There is no connector "${name}".`
      : `The connector "${name}" has no version ${version}.`,
  )
}

/** What using a version would change. */
export interface PlannedUse {
  use: Pick<ConnectorUse, 'connector' | 'version' | 'secrets'>
  /** The use that it takes the place of, 0 if there is none. */
  after: number
  before: { version: number; secrets: Record<string, number> } | null
}

/**
 * Plans the use of a version with the newest secrets. Throws if a secret is missing, or if the connector is of a bank
 * account that somebody else reports already.
 */
export async function planUse(
  db: Pool | Tx,
  name: string,
  version: number | undefined,
): Promise<PlannedUse> {
  const found = await versionNamed(db, name, version)
  const { document } = checkedDocument(found.document)
  const newest = new Map((await listSecrets(db, name)).map(({ secret, n }) => [secret, n]))
  const missing = [...secretsUsed(document)].filter((secret) => !newest.has(secret))
  if (missing.length > 0) {
    throw new Problem(
      'invalid_transition',
      `Set the ${missing.length === 1 ? 'secret' : 'secrets'} ${missing.join(', ')} first.`,
    )
  }
  await refuseAccount(db, name, document)
  const [latest] = await listUses(db, name)
  return {
    use: { connector: name, version: found.version, secrets: Object.fromEntries(newest) },
    after: latest?.n ?? 0,
    before: latest ? { version: latest.version, secrets: latest.secrets } : null,
  }
}

/** The lines of an account come from one place: two would each report the same money under an id of their own. */
async function refuseAccount(
  db: Pool | Tx,
  name: string,
  { account: asked, currencies }: ConnectorDocument,
): Promise<void> {
  if (asked === undefined) return
  const refuse = (detail: string): never => {
    throw new Problem('invalid_transition', detail)
  }
  const account = await findBankAccount(db, asked)
  if (!account) return refuse(`There is no bank account "${asked}".`)
  if (account.currency !== currencies[0]) {
    refuse(`The bank account ${asked} is in ${account.currency}.`)
  }
  if (account.feed !== 'none') {
    refuse(
      `The bank account ${asked} has a feed, which reports the same lines: switch it off first.`,
    )
  }
  for (const use of await readUses(db)) {
    if (use.connector === name) continue
    const other = await findVersion(db, use.connector, use.version)
    const read = other && readDocument(other.document)
    if (read && 'document' in read && read.document.account === asked) {
      refuse(`The connector ${use.connector} reports the lines of ${asked} already.`)
    }
  }
}
