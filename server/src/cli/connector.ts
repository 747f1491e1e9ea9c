import type { Command } from 'commander'
import type { Backend } from '../backend.ts'
import type { Config } from '../config.ts'
import { type ConnectorFigures, readFigures } from '../connectors/connector-figures.ts'
import {
  addSecret,
  type ConnectorUse,
  findConnector,
  listConnectors,
  listSecrets,
  listUses,
  listVersions,
  useVersion,
} from '../connectors/connector-store.ts'
import {
  addDocument,
  checkedDocument,
  planUse,
  trySamples,
  versionNamed,
  withSettings,
} from '../connectors/manage-connectors.ts'
import { storedDocument } from '../connectors/stored-document.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { ConnectorDocument } from '../providers/http/connector-document.ts'
import { secretFault } from '../providers/http/signing-faults.ts'
import { saveProviderState } from '../routing/providers.ts'
import type { Desk } from '../teller/desk.ts'
import { withDesk } from './command.ts'
import { commandLine, onRecord } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { readInput } from './read-secret.ts'
import { UsageError } from './usage-error.ts'

interface AddOptions {
  name?: string
  secret?: string[]
  set?: string[]
  json?: boolean
}

/** The commands of connectors, beside those of every provider. */
export function addConnectorCommands(provider: Command): void {
  provider
    .command('add <file>')
    .description('add a version of a connector: a document that says how a company is spoken to')
    .option('--name <name>', "what it is called; the file's name if it is left out")
    .option('--secret <name=value...>', 'a secret; "-" as its value reads a line of stdin')
    .option('--set <name=value...>', 'a setting of the document')
    .option('--json', 'as JSON')
    .action(async (file: string, options: AddOptions) => {
      const text = (await readInput(file)).toString('utf8')
      const secrets = await secretsOf(options.secret ?? [], file)
      const settings = Object.fromEntries((options.set ?? []).map((each) => pairOf('set', each)))
      const name = options.name ?? nameOfFile(file)
      const whole = await plainly(async () => withSettings(text, settings))
      const { document } = await plainly(async () => checkedDocument(whole))
      for (const [secret, value] of secrets) refuseSecret(document, secret, value)
      await withDesk(async ({ pool, now, providers, secretKeys }, _backend, config) => {
        const by = { name: commandLine.email, at: now() }
        const rules = {
          targets: config.callbackTargets,
          isMadeInCode: (each: string) => providers.isMadeInCode(each),
          switchOff: (tx: Tx, each: string) => saveProviderState(tx, each, 'off', by.at),
        }
        const subject = { kind: 'provider', id: name }
        const { version, isNew } = await plainly(() =>
          onRecord(
            pool,
            { action: 'add_connector_version', subject, agentId: null },
            () => addDocument(pool, name, whole, by, rules),
            (done) => ({ version: done.version.version, sha256: done.version.sha256 }),
          ),
        )
        for (const [secret, value] of secrets) {
          const given = { connector: name, secret, text: value }
          await plainly(() =>
            onRecord(
              pool,
              { action: 'add_connector_secret', subject, agentId: null },
              () => addSecret(pool, secretKeys, given, by),
              (n) => ({ secret, n }),
            ),
          )
        }
        if (options.json) return printJson({ name, version: version.version, is_new: isNew })
        const kept = new Set((await listSecrets(pool, name)).map(({ secret }) => secret))
        const missing = Object.keys(document.secrets).filter((secret) => !kept.has(secret))
        if (missing.length > 0) {
          const set = missing.map((secret) => `${secret}=VALUE`).join(' ')
          print(
            `It needs its secrets before it is used: sluice provider add ${file} --secret ${set}`,
          )
        }
        print(
          isNew
            ? `${name} has version ${version.version}. Try its samples: sluice provider test ${name} --sample FILE`
            : `${name} has this document already, as version ${version.version}.`,
        )
      })
    })

  provider
    .command('test <name>')
    .description('try samples of what the company says on a version; nothing is called')
    .requiredOption('--sample <file>', 'the samples, as JSON')
    .option('--version <number>', 'which version; the newest if it is left out')
    .option('--json', 'as JSON')
    .action(async (name: string, options: { sample: string; version?: string; json?: boolean }) => {
      const samples = (await readInput(options.sample)).toString('utf8')
      await withDesk(async ({ pool, now }) => {
        const by = { name: commandLine.email, at: now() }
        const asked = versionIn(options.version)
        const ran = await plainly(() => trySamples(pool, name, asked, samples, by))
        if (options.json) printJson(ran)
        else {
          // What went wrong stands last, where it is seen.
          const results = ran.results.toSorted((a, b) => Number(b.ok) - Number(a.ok))
          const rows = results.map(({ name: sample, call, ok, expected, tried }) => [
            ok ? 'ok' : 'NOT',
            call,
            sample,
            expected.join('; ') || 'nothing',
            tried.flatMap(({ got }) => got).join('; ') || 'nothing',
            tried.flatMap(({ rule }) => rule ?? []).join(' ') || 'no rule',
          ])
          print(table(['', 'call', 'sample', 'expected', 'got', 'rule'], rows))
          for (const { name: sample, ok, tried } of results) {
            if (ok) continue
            for (const { fault } of tried) if (fault !== null) print(`${sample}: ${fault}`)
          }
          for (const each of ran.missing) print(`The samples do not show: ${each}`)
          if (ran.passed) print(`Version ${ran.version} of ${name} has passed.`)
        }
        if (!ran.passed) throw new UsageError(`version ${ran.version} of ${name} has not passed`)
      })
    })

  withBreakGlass(
    provider
      .command('use <name>')
      .description('use a version that has passed its samples, with the newest secrets')
      .option('--version <number>', 'which version; the newest if it is left out')
      .option('--same-account', 'a secret of calls that changes is of the same account as before')
      .option('--other-account', 'it is of another account at the company')
      .option('--former-void', 'no notice is taken any more that is signed with a secret before'),
  )
    .option('--json', 'as JSON')
    .action(async (name: string, options: UseOptions) => {
      await withDesk(async (desk, backend, config) => {
        const done = await use(desk, backend, config, name, options)
        if (!done) return
        if (options.json) return printJson({ name, version: done.version, use: done.n })
        print(`${name} uses version ${done.version} from now on`)
      })
    })

  provider
    .command('show <name>')
    .description('show a connector: its versions, its secrets without what they are, its document')
    .option('--version <number>', 'the document of this version; of that in use if left out')
    .option('--json', 'as JSON')
    .action(async (name: string, options: { version?: string; json?: boolean }) => {
      await withDesk(async ({ pool, now }) => {
        const [latest] = await listUses(pool, name)
        const shown = versionIn(options.version) ?? latest?.version
        const { version, document } = await plainly(() => versionNamed(pool, name, shown))
        const versions = (await listVersions(pool, name)).map((each) => each.version)
        const secrets = (await listSecrets(pool, name)).map(({ secret, n }) => ({ secret, n }))
        const inUse = latest?.version ?? null
        const figures = (await readFigures(pool, now())).get(name)
        if (options.json) {
          const read = JSON.parse(document)
          return printJson({
            ...{ name, in_use: inUse, versions, secrets, version },
            calls: figures ? figuresJson(figures) : null,
            document: read,
          })
        }
        print(`${name}: ${inUse === null ? 'not used' : `uses version ${inUse}`}`)
        print(`versions: ${versions.join(', ')}`)
        print(`secrets: ${secrets.map(({ secret, n }) => `${secret} (${n})`).join(', ') || 'none'}`)
        print(`calls: ${figures ? figuresText(figures) : 'none within a day'}`)
        print(`version ${version}:\n${document.trimEnd()}`)
      })
    })
}

/** Before anything is added: a secret under another name would never be used. */
function refuseSecret(document: ConnectorDocument, secret: string, value: string): void {
  const known = Object.keys(document.secrets)
  if (!known.includes(secret)) {
    throw new UsageError(
      `--secret: the document has no secret "${secret}", but ${known.join(', ') || 'none at all'}`,
    )
  }
  const fault = secretFault(document, secret, value)
  if (fault !== undefined) throw new UsageError(`--secret: the text of "${secret}" ${fault}`)
}

/** How its calls go, as on its page in the console. */
function figuresJson({ lastFault, lastFaultAt, ...figures }: ConnectorFigures) {
  const { processes, calls, failures, notCalled, underWay, state } = figures
  return {
    ...{ processes, calls, failures, not_called: notCalled, under_way: underWay, state },
    last_fault: lastFault,
    last_fault_at: lastFaultAt?.toISOString() ?? null,
  }
}

function figuresText({ calls, failures, notCalled, state, lastFault }: ConnectorFigures): string {
  const last = lastFault === null ? '' : `; the last failure: ${lastFault}`
  return `${calls} made, ${failures} without a usable answer, ${notCalled} not made; ${state}${last}`
}

/** Every connector, with the version that is used. */
export async function connectorRows(pool: Pool) {
  const connectors = await listConnectors(pool)
  return Promise.all(
    connectors.map(async ({ name }) => {
      const versions = await listVersions(pool, name)
      const newest = versions.at(-1)
      const [latest] = await listUses(pool, name)
      const company = newest ? storedDocument(newest.document).company : ''
      const version = latest?.version ?? null
      return { name, company, state: 'off', version, newest_version: newest?.version ?? 0 }
    }),
  )
}

/** Uses the newest version of a connector that is not used yet. Somebody else may have to approve that first. */
export async function switchOn(
  desk: Desk,
  backend: Backend,
  config: Config,
  name: string,
  options: ProposeOptions,
): Promise<'was used' | 'used now' | 'proposed'> {
  const isUnused =
    (await findConnector(desk.pool, name)) && (await listUses(desk.pool, name)).length === 0
  if (!isUnused) return 'was used'
  return (await use(desk, backend, config, name, options)) ? 'used now' : 'proposed'
}

type UseOptions = ProposeOptions & {
  version?: string
  sameAccount?: boolean
  otherAccount?: boolean
  formerVoid?: boolean
}

async function use(
  { pool, now }: Desk,
  backend: Backend,
  config: Config,
  name: string,
  { version, sameAccount: isSame, otherAccount: isOther, formerVoid, ...options }: UseOptions,
): Promise<ConnectorUse | undefined> {
  if (isSame && isOther) throw new UsageError('--same-account or --other-account, not both')
  const sameAccount = isSame ? true : isOther ? false : undefined
  const wanted = { version: versionIn(version), sameAccount, formerVoid }
  const planned = await plainly(() => planUse(pool, name, wanted))
  const { use: asked, after, before } = planned
  const request = {
    route: 'POST /connectors/:name/use',
    params: { name },
    body: {
      version: asked.version,
      use: after,
      secrets: asked.secrets,
      ...(sameAccount !== undefined && { same_account: sameAccount }),
      ...(formerVoid && { former_void: true }),
      reason: options.reason,
    },
  }
  if (await plainly(() => isProposed(config, backend, options, request))) return undefined
  const done = await plainly(() =>
    onRecord(
      pool,
      {
        action: 'use_connector',
        subject: { kind: 'provider', id: name },
        agentId: null,
        ...(before && { before }),
      },
      () =>
        inTransaction(pool, (tx) =>
          useVersion(tx, asked, after, { name: commandLine.email, at: now() }),
        ),
      (used) => ({ version: used?.version, secrets: asked.secrets }),
    ),
  )
  if (!done) throw new UsageError('somebody else changed it at the same moment: look at it again')
  return done
}

/** A refusal as a plain message, with everything that is wrong. */
async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const errors = error.errors ?? []
    const lines = errors.map(({ field, message }) => `  ${field}: ${message}`)
    throw new UsageError([error.message, ...lines].join('\n'))
  }
}

function versionIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new UsageError(`--version must be the number of a version, not "${text}"`)
}

function pairOf(option: string, text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--${option} must be name=value, not "${text}"`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The secrets that the options name; each "-" is a line of stdin, in their order. */
async function secretsOf(given: readonly string[], file: string): Promise<[string, string][]> {
  const pairs = given.map((each) => pairOf('secret', each))
  if (!pairs.some(([, value]) => value === '-')) return pairs
  if (file === '-') throw new UsageError('stdin holds the document: put it into a file')
  const lines = (await readInput('-')).toString('utf8').split(/\r?\n/)
  return pairs.map(([name, value]) => {
    const text = value === '-' ? lines.shift() : value
    if (text === undefined || text === '') throw new UsageError(`stdin has no line for "${name}"`)
    return [name, text]
  })
}

function nameOfFile(file: string): string {
  return (file.split('/').at(-1) ?? '').replace(/\.json$/, '').toLowerCase()
}
