import { randomUUID } from 'node:crypto'
import type { Pool } from '../db/pool.ts'
import { type SecretKeys, unseal } from '../lib/secret-box.ts'
import { AccessTokens } from '../providers/http/access-tokens.ts'
import type { CompanyClient } from '../providers/http/company-client.ts'
import { CompanyLane } from '../providers/http/company-lane.ts'
import type { ConnectorDocument, NoticeAt } from '../providers/http/connector-document.ts'
import {
  type BoundUse,
  defaultLimits,
  type FormerNotice,
  makeHttpProvider,
} from '../providers/http/http-provider.ts'
import type { Secrets } from '../providers/http/signed-bytes.ts'
import { noticeFault, type SentNotice } from '../providers/http/verify-notice.ts'
import type { Provider } from '../providers/provider.ts'
import { type ConnectorFigures, readFigures, tellFigures } from './connector-figures.ts'
import {
  type ConnectorUse,
  findNewestOf,
  findUse,
  findVersion,
  listUses,
  ownerOfSecret,
  type PastUse,
  readSecrets,
  readUses,
} from './connector-store.ts'
import { storedDocument } from './stored-document.ts'

/** Notices may be signed with the secrets before for so long after a change. */
const overlapMs = 86_400_000
/** A version that reads no notices leaves them for so long to the last one that did. */
const noticesReadMs = 30 * 86_400_000
/** How often a process tells the others how its calls go. */
const tellMs = 5_000
/** How many documents of older versions are kept in memory. */
const keptDocuments = 200

export interface ConnectorsOptions {
  secretKeys: SecretKeys
  client: Pick<CompanyClient, 'send'>
  now: () => Date
  publicUrl: () => string
  onError: (error: unknown) => void
}

/** A connector of which uses, and what of them cannot be opened. */
interface Made {
  key: string
  provider: Provider
  fault: string | null
}

/** The connectors that are used, as providers. */
export class ConnectorsInUse {
  private readonly pool: Pool
  private readonly options: ConnectorsOptions
  private readonly tokens: AccessTokens
  private readonly lanes = new Map<string, CompanyLane>()
  private readonly documents = new Map<string, Promise<ConnectorDocument>>()
  private unreadable: ReadonlySet<string> = new Set()
  private faults: ReadonlyMap<string, string> = new Map()
  private made = new Map<string, Made>()
  private readonly process = randomUUID()
  private toldAtMs = Number.NEGATIVE_INFINITY

  constructor(pool: Pool, options: ConnectorsOptions) {
    this.pool = pool
    this.options = options
    this.tokens = new AccessTokens(options.client)
  }

  /** Reads what is used now. A connector that cannot be read stays as it was; the others go on. */
  async read(): Promise<readonly Provider[]> {
    const nowMs = this.options.now().getTime()
    const uses = await readUses(this.pool, new Date(nowMs - noticesReadMs))
    const made = new Map<string, Made>()
    const unreadable = new Set<string>()
    const faults = new Map<string, string>()
    for (const [use, ...replaced] of grouped(uses)) {
      const name = use.connector
      const former = untilVoid(use, replaced)
      const signing = former.filter(
        ({ replacedAt }) => nowMs - (replacedAt?.getTime() ?? 0) < overlapMs,
      )
      const key = `${[use, ...former].map(({ n }) => n).join()} ${signing.length}`
      const known = this.made.get(name)
      if (known?.key === key) {
        made.set(name, known)
        continue
      }
      try {
        const { secrets } = await this.boundUse(use)
        const shut = Object.keys(use.secrets).filter((secret) => secrets(secret) === undefined)
        made.set(name, {
          key,
          provider: await this.make(use, former, signing),
          fault: shut.length === 0 ? null : `SECRET_KEY does not open ${shut.join(', ')}`,
        })
      } catch (error) {
        this.options.onError(error)
        faults.set(name, error instanceof Error ? error.message : String(error))
        if (known) made.set(name, known)
        else unreadable.add(name)
      }
    }
    for (const [name, { fault }] of made) if (fault !== null) faults.set(name, fault)
    this.made = made
    this.unreadable = unreadable
    this.faults = faults
    // No order waits for it.
    if (performance.now() - this.toldAtMs >= tellMs) this.tell().catch(this.options.onError)
    return [...made.values()].map(({ provider }) => provider)
  }

  /** Whether some connector is used and cannot be read at the moment. */
  get hasUnreadable(): boolean {
    return this.unreadable.size > 0
  }

  /** Whether a connector is used and cannot be read at the moment. */
  isUnreadable(name: string): boolean {
    return this.unreadable.has(name)
  }

  /** Why a connector cannot be used as was decided last: it cannot be read, or its secrets cannot. */
  faultOf(name: string): string | undefined {
    return this.faults.get(name)
  }

  /** Every connector that cannot be used as was decided last, and why. */
  get allFaults(): ReadonlyMap<string, string> {
    return this.faults
  }

  /**
   * Why a notice is not the company's by a version's rules and the secrets in use; undefined if it is, null if no version
   * is used yet.
   */
  async noticeFault(
    name: string,
    notice: NoticeAt,
    sent: SentNotice,
  ): Promise<string | null | undefined> {
    const [use] = await listUses(this.pool, name)
    if (!use) return null
    const secrets = await this.open(name, use.secrets)
    return noticeFault(notice, sent, secrets, this.options.now())
  }

  /** How each connector has done in all processes; what others tell is some seconds old. */
  async figures(): Promise<Map<string, ConnectorFigures>> {
    await this.tell()
    return readFigures(this.pool, this.options.now())
  }

  /** Tells the other processes how the calls of this one go. */
  private async tell(): Promise<void> {
    this.toldAtMs = performance.now()
    const figures = new Map([...this.lanes].map(([name, lane]) => [name, lane.figures]))
    for (const [name, { calls, notCalled }] of figures) {
      if (calls + notCalled === 0) figures.delete(name)
    }
    if (figures.size > 0) {
      await tellFigures(this.pool, this.process, figures, this.options.now())
    }
  }

  private async make(
    use: ConnectorUse,
    former: readonly ConnectorUse[],
    signing: readonly ConnectorUse[],
  ): Promise<Provider> {
    const { connector: name, n, version, sameSince } = use
    const { publicUrl, now, client } = this.options
    const { document, secrets } = await this.boundUse(use)
    const connector = {
      name,
      use: n,
      version,
      sameSince,
      document,
      secrets,
      formerSecrets: await Promise.all(signing.map((each) => this.open(name, each.secrets))),
      formerNotice: document.notice ? undefined : await this.lastNotice(former),
    }
    return makeHttpProvider(connector, {
      client,
      tokens: this.tokens,
      lane: this.laneOf(name, document),
      useOf: async (older) => {
        const found = await findUse(this.pool, name, older)
        return found && this.boundUse(found)
      },
      newestOf: async (since) => {
        const found = await findNewestOf(this.pool, name, since)
        return found && this.boundUse(found)
      },
      now,
      publicUrl,
    })
  }

  private async boundUse(use: ConnectorUse): Promise<BoundUse> {
    const [document, secrets] = await Promise.all([
      this.documentOf(use.connector, use.version),
      this.open(use.connector, use.secrets),
    ])
    return { document, secrets, sameSince: use.sameSince }
  }

  /** How notices were read by the last use that read any: the orders of its time are still told of. */
  private async lastNotice(former: readonly ConnectorUse[]): Promise<FormerNotice | undefined> {
    for (const use of former) {
      const { document, secrets } = await this.boundUse(use)
      if (document.notice) return { notice: document.notice, secrets }
    }
    return undefined
  }

  private laneOf(name: string, { limits = {} }: ConnectorDocument): CompanyLane {
    const lane = this.lanes.get(name) ?? new CompanyLane(defaultLimits)
    lane.limits = { ...defaultLimits, ...limits }
    this.lanes.set(name, lane)
    return lane
  }

  private async open(name: string, numbers: Record<string, number>): Promise<Secrets> {
    const rows = await readSecrets(this.pool, name, numbers)
    const texts = new Map(
      rows.map(({ secret, sealed }) => [
        secret,
        unseal(this.options.secretKeys, ownerOfSecret(name, secret), sealed),
      ]),
    )
    return (secret) => texts.get(secret)
  }

  /** A version never changes, so it is read once. */
  private documentOf(name: string, version: number): Promise<ConnectorDocument> {
    const key = `${name} ${version}`
    const known = this.documents.get(key)
    if (known) return known
    const reading = findVersion(this.pool, name, version).then((found) => {
      if (!found) throw new Error(`the connector ${name} has no version ${version}`)
      return storedDocument(found.document)
    })
    // What could not be read may be there later.
    reading.catch(() => this.documents.delete(key))
    if (this.documents.size >= keptDocuments) this.documents.clear()
    this.documents.set(key, reading)
    return reading
  }
}

/** The uses of each connector, its newest first. */
function grouped(uses: readonly PastUse[]): [PastUse, ...PastUse[]][] {
  const groups: [PastUse, ...PastUse[]][] = []
  for (const use of uses) {
    const last = groups.at(-1)
    if (last && last[0].connector === use.connector) last.push(use)
    else groups.push([use])
  }
  return groups
}

/** The uses before, as far as no later one says that what was before it is void. */
function untilVoid(use: PastUse, before: readonly PastUse[]): PastUse[] {
  const end = [use, ...before].findIndex(({ formerVoid }) => formerVoid)
  return end === -1 ? [...before] : before.slice(0, end)
}
