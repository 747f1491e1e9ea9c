import type { Pool } from '../db/pool.ts'
import { type SecretKeys, unseal } from '../lib/secret-box.ts'
import { AccessTokens } from '../providers/http/access-tokens.ts'
import type { CompanyClient } from '../providers/http/company-client.ts'
import { CompanyLane, type LaneFigures } from '../providers/http/company-lane.ts'
import type { ConnectorDocument } from '../providers/http/connector-document.ts'
import { readDocument } from '../providers/http/document-faults.ts'
import { defaultLimits, makeHttpProvider } from '../providers/http/http-provider.ts'
import type { Secrets } from '../providers/http/signed-bytes.ts'
import type { Provider } from '../providers/provider.ts'
import {
  type ConnectorUse,
  findVersion,
  ownerOfSecret,
  readSecrets,
  readUses,
} from './connector-store.ts'

/** Notices may be signed with the secrets before for so long after a change. */
const overlapMs = 86_400_000
/** How many documents of older versions are kept in memory. */
const keptDocuments = 200

export interface ConnectorsOptions {
  secretKeys: SecretKeys
  client: Pick<CompanyClient, 'send'>
  now: () => Date
  publicUrl: () => string
  onError: (error: unknown) => void
}

/** The connectors that are used, as providers. */
export class ConnectorsInUse {
  private readonly pool: Pool
  private readonly options: ConnectorsOptions
  private readonly tokens: AccessTokens
  private readonly lanes = new Map<string, CompanyLane>()
  private readonly documents = new Map<string, Promise<ConnectorDocument | undefined>>()
  private made = new Map<string, { key: string; provider: Provider }>()

  constructor(pool: Pool, options: ConnectorsOptions) {
    this.pool = pool
    this.options = options
    this.tokens = new AccessTokens(options.client)
  }

  /** Reads what is used now. A connector that cannot be read is left out; the others go on. */
  async read(): Promise<readonly Provider[]> {
    const uses = await readUses(this.pool)
    const made = new Map<string, { key: string; provider: Provider }>()
    for (const [at, use] of uses.entries()) {
      // The newest of each comes first, then the one before it.
      if (uses[at - 1]?.connector === use.connector) continue
      const next = uses[at + 1]
      const before = next?.connector === use.connector ? next : undefined
      const isOverlap =
        before && this.options.now().getTime() - use.usedAt.getTime() < overlapMs
          ? before
          : undefined
      const key = `${use.n} ${isOverlap?.n ?? 0}`
      const known = this.made.get(use.connector)
      try {
        const provider = known?.key === key ? known.provider : await this.make(use, isOverlap)
        if (provider) made.set(use.connector, { key, provider })
      } catch (error) {
        this.options.onError(error)
      }
    }
    this.made = made
    return [...made.values()].map(({ provider }) => provider)
  }

  /** How a connector has done in this process. */
  figuresOf(name: string): LaneFigures | undefined {
    return this.lanes.get(name)?.figures
  }

  private async make(
    use: ConnectorUse,
    before: ConnectorUse | undefined,
  ): Promise<Provider | undefined> {
    const { connector: name, version } = use
    const document = await this.documentOf(name, version)
    if (!document) return undefined
    const { publicUrl, now, client } = this.options
    const connector = {
      name,
      version,
      document,
      secrets: await this.open(name, use.secrets),
      formerSecrets: before ? [await this.open(name, before.secrets)] : [],
    }
    return makeHttpProvider(connector, {
      client,
      tokens: this.tokens,
      lane: this.laneOf(name, document),
      documentOf: (older) => this.documentOf(name, older),
      now,
      publicUrl,
    })
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
  private documentOf(name: string, version: number): Promise<ConnectorDocument | undefined> {
    const key = `${name} ${version}`
    const known = this.documents.get(key)
    if (known) return known
    const reading = findVersion(this.pool, name, version).then((found) => {
      const read = found && readDocument(found.document)
      return read && 'document' in read ? read.document : undefined
    })
    // What could not be read may be there later.
    reading.then(
      (document) => !document && this.documents.delete(key),
      () => this.documents.delete(key),
    )
    if (this.documents.size >= keptDocuments) this.documents.clear()
    this.documents.set(key, reading)
    return reading
  }
}
