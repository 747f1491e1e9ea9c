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
  type ConnectorSecret,
  type ConnectorVersion,
  findVersion,
  listSecrets,
  listUses,
  listVersions,
  type NewNames,
  type NewUse,
} from './connector-store.ts'
import { storedDocument } from './stored-document.ts'

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
  rules: NewNames & { targets: CallbackTargets },
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
  return addVersion(pool, name, text, by, rules, also)
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
  const ran = await runSamples(checkedDocument(found.document).document, samples)
  const run = await addRun(
    pool,
    {
      connector: name,
      version: found.version,
      passed: ran.passed,
      samples,
      results: keptResults(ran),
    },
    by,
  )
  return { ...ran, version: found.version, run }
}

const longestResults = 1024 * 1024

/** What is kept of a run. Of a large set, what was not read as it should be, as far as there is room for it. */
function keptResults({ results, missing }: SamplesRun): string {
  const written = (kept: SamplesRun['results']) =>
    JSON.stringify({ results: kept, missing, tried: results.length })
  const fits = (text: string) => Buffer.byteLength(text) <= longestResults
  const whole = written(results)
  if (fits(whole)) return whole
  const failed = results.filter(({ ok }) => !ok)
  while (!fits(written(failed))) failed.length = Math.floor(failed.length / 2)
  return written(failed)
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
  use: NewUse
  /** The use that it takes the place of, 0 if there is none. */
  after: number
  before: { version: number; secrets: Record<string, number> } | null
  /** Who added each secret that changes. */
  addedBy: Record<string, string>
}

/** What is asked for: a version, the newest if none is named, and how. */
export interface UseAsked {
  version?: number | undefined
  /** The number of each secret that the document uses; the newest if left out. */
  secrets?: Record<string, number> | undefined
  /** Whether the secrets are of the same account at the company as those before; needed if those of calls change. */
  sameAccount?: boolean | undefined
  /** Notices that are signed with the secrets before are not taken any more. */
  formerVoid?: boolean | undefined
}

/**
 * Plans the use of a version with exactly these secrets. Throws if one is missing or not used, or if the connector is
 * of a bank account that cannot be.
 */
export async function planUse(db: Pool | Tx, name: string, asked: UseAsked): Promise<PlannedUse> {
  const found = await versionNamed(db, name, asked.version)
  // It has passed its samples: that a later release asks for more must not keep anybody from changing a key.
  const document = storedDocument(found.document)
  const kept = await listSecrets(db, name)
  const newest = Object.fromEntries(kept.map(({ secret, n }) => [secret, n]))
  const secrets = numbersOf(document, kept, asked.secrets ?? newest, asked.secrets !== undefined)
  await refuseAccount(db, document)
  const [latest] = await listUses(db, name)
  const former = latest && (await findVersion(db, name, latest.version))
  const keepsKeys =
    former && isSameOfCalls(document, secrets, former.document, latest?.secrets ?? {})
  if (latest && !keepsKeys && asked.sameAccount === undefined) throw whichAccount()
  const isSame = latest && (keepsKeys || asked.sameAccount)
  const changes = kept.filter(
    ({ secret, n }) => secrets[secret] === n && latest?.secrets[secret] !== n,
  )
  return {
    use: {
      connector: name,
      version: found.version,
      secrets,
      sameSince: isSame ? latest.sameSince : (latest?.n ?? 0) + 1,
      formerVoid: asked.formerVoid ?? false,
      account: document.account ?? null,
    },
    after: latest?.n ?? 0,
    before: latest ? { version: latest.version, secrets: latest.secrets } : null,
    addedBy: Object.fromEntries(changes.map(({ secret, addedBy }) => [secret, addedBy])),
  }
}

/** With a key of another account, what was handed over before is asked about with the key before: nobody can guess which. */
function whichAccount(): Problem {
  const message =
    'must be said, because a secret of calls changes: true (--same-account) if it is of the same account at the company, false (--other-account) if it is of another'
  const errors = [{ field: 'same_account', message }]
  return new Problem('invalid_request', `same_account ${message}.`, { errors })
}

/** The numbers of the secrets that a document uses. */
function numbersOf(
  document: ConnectorDocument,
  kept: readonly ConnectorSecret[],
  numbers: Record<string, number>,
  isNamed: boolean,
): Record<string, number> {
  const used = [...secretsUsed(document)].sort()
  const missing = used.filter(
    (secret) => !kept.some((each) => each.secret === secret && each.n === numbers[secret]),
  )
  if (missing.length > 0) {
    throw new Problem(
      'invalid_transition',
      `Set the ${missing.length === 1 ? 'secret' : 'secrets'} ${missing.join(', ')} first: on its page, or with sluice provider add FILE --secret NAME=VALUE.`,
    )
  }
  const strange = Object.keys(numbers).find((secret) => !used.includes(secret))
  if (isNamed && strange !== undefined) {
    throw new Problem('invalid_request', `This version uses no secret "${strange}".`)
  }
  return Object.fromEntries(used.map((secret) => [secret, numbers[secret] ?? 0]))
}

/** The secrets that calls are made with; the others only read notices. */
export function secretsOfCalls({ notice: _notice, ...calls }: ConnectorDocument): string[] {
  return [...secretsUsed(calls)].sort()
}

/** Whether calls are made with the same secrets as before: then they reach the same account. */
function isSameOfCalls(
  document: ConnectorDocument,
  secrets: Record<string, number>,
  formerText: string,
  formerSecrets: Record<string, number>,
): boolean {
  const ofCalls = (each: ConnectorDocument, numbers: typeof secrets) =>
    JSON.stringify(secretsOfCalls(each).map((secret) => [secret, numbers[secret]]))
  return ofCalls(document, secrets) === ofCalls(storedDocument(formerText), formerSecrets)
}

async function refuseAccount(
  db: Pool | Tx,
  { account: asked, currencies }: ConnectorDocument,
): Promise<void> {
  if (asked === undefined) return
  const account = await findBankAccount(db, asked)
  if (!account) throw new Problem('invalid_transition', `There is no bank account "${asked}".`)
  if (account.currency === currencies[0]) return
  throw new Problem('invalid_transition', `The bank account ${asked} is in ${account.currency}.`)
}
