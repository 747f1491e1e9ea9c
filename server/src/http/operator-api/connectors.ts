import type { Static } from 'typebox'
import type { ConnectorFigures } from '../../connectors/connector-figures.ts'
import {
  addSecret,
  type ConnectorRun,
  type ConnectorUse,
  type ConnectorVersion,
  listConnectors,
  listRuns,
  listSecrets,
  listUses,
  listVersions,
  type NewUse,
  useVersion,
} from '../../connectors/connector-store.ts'
import {
  addDocument,
  checkedDocument,
  planUse,
  secretsOfCalls,
  trySamples,
  type UseAsked,
  versionNamed,
} from '../../connectors/manage-connectors.ts'
import { storedDocument } from '../../connectors/stored-document.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { type Currency, currencies, defaultCurrency, parseDecimal } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { type AuditRow, readAudit } from '../../operators/read-audit.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import type { ConnectorDocument, Echo, NoticeAt } from '../../providers/http/connector-document.ts'
import { readDocument, secretsUsed } from '../../providers/http/document-faults.ts'
import { defaultLimits } from '../../providers/http/http-provider.ts'
import type { Asked } from '../../providers/http/read-answer.ts'
import { amountAt, textAt } from '../../providers/http/read-value.ts'
import { type SampleCall, type Tried, tryOn } from '../../providers/http/try-sample.ts'
import { readRoutingTable, saveProviderState } from '../../routing/providers.ts'
import type { ProviderState } from '../../routing/route-order.ts'
import { invalidRequest } from '../check.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import {
  AddedSecret,
  AddedVersion,
  CheckBody,
  CheckedDocument,
  ConnectorDetail,
  ConnectorDocumentView,
  ConnectorList,
  ConnectorParams,
  NewConnector,
  NewConnectorSecret,
  SamplesBody,
  SamplesResult,
  TriedView,
  TryBody,
  UseBody,
  UsedVersion,
  VersionParams,
} from './schemas/connectors.ts'
import { twoPersonRoute } from './two-person-route.ts'

const documentLimit = 600 * 1024
const samplesLimit = 2 * 1024 * 1024

/** Payment companies that are connected by a document. */
export function connectorRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { desk, callbackTargets } = deps
  const { pool, providers, now, secretKeys } = desk
  const look = { tag: 'Connectors', permission: 'manage_providers', agents: 'none' } as const
  const subjectOf = (id: string) => ({ kind: 'provider', id })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/connectors',
    summary: 'The connectors of payment companies',
    schema: { response: ConnectorList },
    handler: async () => {
      await providers.freshen()
      const { states } = await readRoutingTable(pool)
      const figures = await providers.connectors?.figures()
      const data = []
      for (const { name } of await listConnectors(pool)) {
        const [versions, uses, runs] = await Promise.all([
          listVersions(pool, name),
          listUses(pool, name),
          listRuns(pool, name),
        ])
        const fault = providers.connectors?.faultOf(name)
        data.push(summaryOf(name, versions, uses[0], runs, states, fault, figures?.get(name)))
      }
      return { data, next: null }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/connectors/:name',
    summary: 'A connector, its versions and its secrets without what they are',
    schema: { params: ConnectorParams, response: ConnectorDetail },
    handler: async ({ params: { name } }) => {
      await providers.freshen()
      const newest = await versionNamed(pool, name, undefined)
      const [versions, uses, secrets, runs, { states }, log] = await Promise.all([
        listVersions(pool, name),
        listUses(pool, name),
        listSecrets(pool, name),
        listRuns(pool, name),
        readRoutingTable(pool),
        readAudit(pool, { subject: subjectOf(name), limit: 500 }),
      ])
      const document = storedDocument(newest.document)
      const names = new Set([
        ...Object.keys(document.secrets),
        ...secrets.map(({ secret }) => secret),
      ])
      const [use] = uses
      const figures = (await providers.connectors?.figures())?.get(name)
      const fault = providers.connectors?.faultOf(name)
      return {
        ...summaryOf(name, versions, use, runs, states, fault, figures),
        source: document.source ?? null,
        limits: limitsOf(shownDocument(versions, use)),
        notice_url: `${desk.publicUrl()}/providers/${name}/notices`,
        use: use?.n ?? 0,
        secrets: [...names].map((secret) => {
          const last = secrets.findLast((each) => each.secret === secret)
          return {
            name: secret,
            found: document.secrets[secret] ?? null,
            newest: last?.n ?? null,
            in_use: use?.secrets[secret] ?? null,
            added_at: last?.addedAt.toISOString() ?? null,
            added_by: last?.addedBy ?? null,
          }
        }),
        versions: versions.map(({ version, document: text, sha256, addedAt, addedBy }) => {
          const own = runs.filter((run) => run.version === version)
          return {
            version,
            sha256,
            added_at: addedAt.toISOString(),
            added_by: addedBy,
            reason: reasonIn(log, 'add_connector_version', version, addedAt),
            secrets: [...secretsUsed(storedDocument(text))].sort(),
            secrets_of_calls: secretsOfCalls(storedDocument(text)),
            passed: own.some(({ passed }) => passed),
            tried_at: own[0]?.ranAt.toISOString() ?? null,
            tried_by: own[0]?.ranBy ?? null,
          }
        }),
        uses: uses.map(({ n, version, usedAt, usedBy }) => ({
          use: n,
          version,
          at: usedAt.toISOString(),
          by: usedBy,
          reason: reasonIn(log, 'use_connector', version, usedAt),
        })),
      }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/connectors/:name/versions/:version',
    summary: "A version of a connector's document",
    schema: { params: VersionParams, response: ConnectorDocumentView },
    handler: async ({ params }) => {
      const { version, document } = await versionNamed(pool, params.name, Number(params.version))
      return { version, document }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'POST',
    url: '/connectors/check',
    summary: 'What is wrong with a document, or what it does; nothing is kept',
    withoutCode: 'changes nothing',
    bodyLimit: documentLimit,
    schema: { body: CheckBody, response: CheckedDocument },
    handler: async ({ body }) => {
      const read = readDocument(body.document)
      if ('faults' in read) return { faults: read.faults, found: null }
      const { document } = read
      const secrets = Object.entries(document.secrets)
      return {
        faults: [],
        found: {
          company: document.company,
          source: document.source ?? null,
          ...abilitiesOf(document),
          notices: document.notice !== undefined,
          limits: limitsOf(document),
          secrets: secrets.map(([secret, found]) => ({ name: secret, found })),
        },
      }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'POST',
    url: '/connectors',
    summary: 'Add a version of a document; it is not used yet',
    bodyLimit: documentLimit,
    schema: { body: NewConnector, response: { status: 201, schema: AddedVersion } },
    handler: async ({ operator, body }) => {
      const at = now()
      const { version, isNew } = await addDocument(
        pool,
        body.name,
        body.document,
        { name: operator.email, at },
        {
          targets: callbackTargets,
          isMadeInCode: (name) => providers.isMadeInCode(name),
          switchOff: (tx, name) => saveProviderState(tx, name, 'off', at),
        },
        (tx, added) =>
          writeAudit(tx, {
            at,
            operator,
            action: 'add_connector_version',
            subject: subjectOf(body.name),
            agentId: null,
            after: { version: added.version, sha256: added.sha256 },
            reason: body.reason,
          }),
      )
      return { name: body.name, version: version.version, is_new: isNew }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'POST',
    url: '/connectors/:name/secrets',
    summary: 'Keep a secret of a connector; it is not used yet',
    schema: {
      params: ConnectorParams,
      body: NewConnectorSecret,
      response: { status: 201, schema: AddedSecret },
    },
    handler: async ({ operator, params: { name }, body }) => {
      const at = now()
      const { secret } = body
      const by = { name: operator.email, at }
      const given = { connector: name, secret, text: body.value }
      const n = await addSecret(pool, secretKeys, given, by, (tx, number) =>
        writeAudit(tx, {
          at,
          operator,
          action: 'add_connector_secret',
          subject: subjectOf(name),
          agentId: null,
          after: { secret, n: number },
          reason: body.reason,
        }),
      )
      return { secret, n }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'POST',
    url: '/connectors/:name/samples',
    summary: 'Try samples on a version; it may be used once they pass',
    withoutCode: 'it moves no money: using the version takes a code',
    bodyLimit: samplesLimit,
    schema: { params: ConnectorParams, body: SamplesBody, response: SamplesResult },
    handler: async ({ operator, params: { name }, body }) => {
      const by = { name: operator.email, at: now() }
      const ran = await trySamples(pool, name, body.version, body.samples, by)
      const { version, passed, missing, results } = ran
      return {
        version,
        passed,
        missing,
        results: results.map((each) => ({ ...each, tried: each.tried.map(triedView) })),
      }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'POST',
    url: '/connectors/:name/try',
    summary: 'What a version makes of an answer or a notice; nothing is changed',
    withoutCode: 'changes nothing',
    bodyLimit: samplesLimit,
    schema: { params: ConnectorParams, body: TryBody, response: TriedView },
    handler: async ({ params: { name }, body }) => {
      const { version, document } = await versionNamed(pool, name, body.version)
      const read = checkedDocument(document).document
      const bytes = Buffer.from(body.body)
      // The schema allows only known calls.
      const call = body.call as SampleCall
      const answer = { status: body.status ?? 200, body: bytes }
      const { asked, assumed } = askedIn(body, read, call, bytes)
      const tried = tryOn(read, call, answer, asked)
      const signature =
        call === 'notice' && body.headers !== undefined && read.notice
          ? await signatureOf(name, read.notice, bytes, headersIn(body.headers), body.address)
          : null
      return { version, assumed, signature, tried: tried.map(triedView) }
    },
  })

  /** What the rules of a version and the secrets in use say of a notice's signature. */
  async function signatureOf(
    name: string,
    { from, ...notice }: NoticeAt,
    body: Buffer,
    headers: Record<string, string>,
    ip: string | undefined,
  ): Promise<string> {
    const url = `${desk.publicUrl()}/providers/${name}/notices`
    const sent = { body, headers, method: 'POST', path: new URL(url).pathname, url, ip }
    const asked = from && ip !== undefined ? { ...notice, from } : notice
    const fault = await providers.connectors?.noticeFault(name, asked, sent)
    if (fault === null)
      return 'The connector is not used yet, so there is no secret to check it with.'
    if (fault !== undefined) return `By the secret in use, ${fault}.`
    return from && ip === undefined
      ? 'The signature is right. Whether its address is one of those in the document was not checked: give the address.'
      : 'genuine'
  }

  twoPersonRoute(api, {
    tag: 'Connectors',
    permission: 'manage_providers',
    agents: 'none',
    method: 'POST',
    url: '/connectors/:name/use',
    summary: 'Use a version that has passed its samples, with these secrets',
    schema: { params: ConnectorParams, body: UseBody, response: UsedVersion },
    approval: {
      action: 'use_connector',
      repeats: 'effect',
      view: async ({ params: { name }, body }) => {
        const { use, before, after, addedBy } = await planUse(pool, name, askedUse(body))
        if (after !== body.use) throw changedMeanwhile()
        const { sha256 } = await versionNamed(pool, name, body.version)
        return {
          subject: subjectOf(name),
          agentId: null,
          before,
          after: { ...usedView(use), sha256, secrets_added_by: addedBy },
        }
      },
    },
    handler: async ({ operator, params: { name }, body }) => {
      const at = now()
      const used = await inTransaction(pool, async (tx) => {
        const { use, before } = await planUse(tx, name, askedUse(body))
        const done = await useVersion(tx, use, body.use, { name: operator.email, at })
        if (!done) throw changedMeanwhile()
        await takeEffect(tx, operator, at)
        await writeAudit(tx, {
          at,
          operator,
          action: 'use_connector',
          subject: subjectOf(name),
          agentId: null,
          ...(before && { before }),
          after: usedView(use),
          reason: body.reason,
        })
        return done
      })
      return { name, version: used.version, use: used.n }
    },
  })
}

function askedUse(body: Static<typeof UseBody>): UseAsked {
  const { version, secrets, same_account: sameAccount, former_void: formerVoid } = body
  return { version, secrets, sameAccount, formerVoid }
}

/** What a use is shown and written down as. */
function usedView({ version, secrets, sameSince, formerVoid }: NewUse) {
  return { version, secrets, same_account_since: sameSince, former_void: formerVoid }
}

function summaryOf(
  name: string,
  versions: readonly ConnectorVersion[],
  use: ConnectorUse | undefined,
  runs: readonly ConnectorRun[],
  states: ReadonlyMap<string, ProviderState>,
  fault: string | undefined,
  figures: ConnectorFigures | undefined,
) {
  const newest = versions.at(-1)
  const document = shownDocument(versions, use)
  return {
    name,
    company: document.company,
    state: use ? (states.get(name) ?? 'on') : 'off',
    version: use?.version ?? null,
    newest_version: newest?.version ?? 0,
    newest_passed: runs.some(({ version, passed }) => version === newest?.version && passed),
    ...abilitiesOf(document),
    fault: fault ?? null,
    figures: figures
      ? {
          processes: figures.processes,
          calls: figures.calls,
          failures: figures.failures,
          not_called: figures.notCalled,
          under_way: figures.underWay,
          state: figures.state,
          last_fault: figures.lastFault,
          last_fault_at: figures.lastFaultAt?.toISOString() ?? null,
        }
      : null,
  }
}

/** The document in use, or the newest if none is. */
function shownDocument(
  versions: readonly ConnectorVersion[],
  use: ConnectorUse | undefined,
): ConnectorDocument {
  const shown = versions.find(({ version }) => version === use?.version) ?? versions.at(-1)
  return storedDocument(shown?.document ?? '{}')
}

function abilitiesOf({ currencies, expectDeposit, submitPayout, account }: ConnectorDocument) {
  return {
    currencies,
    deposits: expectDeposit !== undefined,
    payouts: submitPayout !== undefined,
    account: account ?? null,
  }
}

function limitsOf({ limits }: ConnectorDocument) {
  const { callsAtOnce, callsPerSecond, timeoutMs } = { ...defaultLimits, ...limits }
  return { calls_at_once: callsAtOnce, calls_per_second: callsPerSecond, timeout_ms: timeoutMs }
}

/** Why somebody did something to a version, as the audit log has it. */
function reasonIn(
  log: readonly AuditRow[],
  action: string,
  version: number,
  at: Date,
): string | null {
  const row = log.find(
    (each) =>
      each.action === action &&
      each.at.getTime() === at.getTime() &&
      Object(each.after).version === version,
  )
  return row?.reason ?? null
}

function triedView({ rule, ruleName, got, fault }: Tried) {
  return { rule, rule_name: ruleName, got, fault }
}

/** What a person says was asked about; what they leave out is taken from the answer, and named. */
function askedIn(
  body: Static<typeof TryBody>,
  document: ConnectorDocument,
  call: SampleCall,
  bytes: Buffer,
): { asked: Asked; assumed: string[] } {
  const echo: Echo = (call === 'notice' ? undefined : document[call]?.echo) ?? {}
  const json = parseExactJson(bytes)
  const textOf = (at: string | undefined) => (at === undefined ? undefined : textAt(json, at))
  const repeated = currencies.find((each) => each === textOf(echo.currency)?.toUpperCase())
  // The schema allows only known currencies.
  const given = body.currency as Currency | undefined
  const currency = given ?? repeated ?? document.currencies[0] ?? defaultCurrency
  const amountMinor =
    body.amount === undefined
      ? ((echo.amount && amountAt(json, echo.amount, currency)) ?? 0n)
      : parseDecimal(body.amount, currency)
  if (amountMinor === undefined) {
    throw invalidRequest([{ field: 'amount', message: `must be an amount in ${currency}` }])
  }
  const left = {
    reference: echo.reference !== undefined && body.reference === undefined,
    amount: echo.amount !== undefined && body.amount === undefined,
    currency: echo.currency !== undefined && body.currency === undefined,
    theirId: echo.theirId !== undefined && body.their_id === undefined,
    payee: echo.payee !== undefined,
  }
  return {
    asked: {
      reference: body.reference ?? textOf(echo.reference) ?? '',
      amountMinor,
      currency,
      theirId: body.their_id ?? textOf(echo.theirId) ?? null,
      payeeId: textOf(echo.payee),
    },
    assumed: Object.entries(left).flatMap(([name, isLeft]) => (isLeft ? [name] : [])),
  }
}

/** Headers as people copy them, one on a line. */
function headersIn(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(':')
    return at < 1 ? [] : [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]]
  })
  return Object.fromEntries(lines)
}

function changedMeanwhile(): Problem {
  return new Problem(
    'changed_meanwhile',
    'The connector has changed since you read it. Read it again, then make your change.',
  )
}
