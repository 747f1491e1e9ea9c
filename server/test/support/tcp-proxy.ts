import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What becomes of a connection that is about to commit. */
export type CutAtCommit =
  /** It is cut, and the server never sees the commit. */
  | 'before'
  /** The server commits; the connection is cut before it can say so. */
  | 'after'
  /** The server commits; the connection stays, and nothing is ever heard on it again. */
  | 'silent'

const commit = Buffer.from('commit\0')
const committed = ['COMMIT\0', 'ROLLBACK\0'].map((words) => Buffer.from(words))
/** In the first words of a connection. */
const named = (name: string) => Buffer.from(`application_name\0sluice ${name}\0`)
const ofTheTeller = named('teller')
/** Those that commit at times of their own. */
const ofTheirOwn = ['callbacks', 'proof', 'watch'].map(named)

/** Stands between a client and PostgreSQL, and fails in the ways a network does. */
export class TcpProxy {
  /** Commits that something became of so far. */
  cuts = 0
  /** Pieces of data that were held up, and answers that were swallowed, so far. */
  delayed = 0
  swallowed = 0
  private readonly server: Server
  private target: URL
  private readonly pairs = new Set<{ client: Socket; upstream: Socket }>()
  private plan: CutAtCommit[] = []
  private committing = commit
  private isTellersOnly = true
  private afterCut = () => {}
  private refusing = false
  private stalled = false
  private delayMs = 0
  /** What is still on its way to a socket; nothing may overtake it. */
  private readonly onTheWay = new Map<Socket, Promise<void>>()

  private constructor(target: URL) {
    this.target = target
    this.server = createServer((client) => this.join(client))
  }

  static async open(databaseUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(databaseUrl))
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** The address of the database by way of the proxy. */
  get url(): string {
    const address = this.server.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed')
    const url = new URL(this.target)
    url.hostname = '127.0.0.1'
    url.port = String(address.port)
    return url.href
  }

  /**
   * What is to become of the next commits that somebody asked for, one each; calls back when it does. Background work
   * commits too, so that only the teller's count, unless anybody's may be meant.
   */
  cutNextCommits(
    cuts: CutAtCommit[],
    afterCut: () => void = () => {},
    of: 'teller' | 'anybody' = 'teller',
  ): void {
    this.plan = [...cuts]
    this.afterCut = afterCut
    this.committing = commit
    this.isTellersOnly = of === 'teller'
  }

  /** The same for a statement that is a transaction by itself, known by its name. */
  cutNextStatements(name: string, cuts: CutAtCommit[], afterCut?: () => void): void {
    this.cutNextCommits(cuts, afterCut, 'anybody')
    this.committing = Buffer.from(`${name}\0`)
  }

  /** Cuts every connection, and says how many there were. */
  cutAll(): number {
    const { size } = this.pairs
    for (const { client, upstream } of this.pairs) {
      client.resetAndDestroy()
      upstream.destroy()
    }
    return size
  }

  /** Connections that come meanwhile are reset at once. */
  refuse(refusing: boolean): void {
    this.refusing = refusing
  }

  /** Connections that come from now on are to another server; those that are open stay. */
  leadTo(databaseUrl: string): void {
    this.target = new URL(databaseUrl)
  }

  /** The server's answers are swallowed; what the client sends still arrives. */
  stall(stalled: boolean): void {
    this.stalled = stalled
  }

  /** Every piece of data, either way, takes so long. */
  slowDown(delayMs: number): void {
    this.delayMs = delayMs
  }

  async close(): Promise<void> {
    this.cutAll()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private pass(to: Socket, data: Buffer): void {
    const before = this.onTheWay.get(to)
    if (this.delayMs === 0 && !before) {
      to.write(data)
      return
    }
    this.delayed++
    const arrived = (before ?? Promise.resolve())
      .then(() => pause(this.delayMs))
      .then(() => {
        to.write(data)
        if (this.onTheWay.get(to) === arrived) this.onTheWay.delete(to)
      })
    this.onTheWay.set(to, arrived)
  }

  /** What was sent before a commit in one go is answered before it. */
  private isAnswered(data: Buffer): boolean {
    return this.committing !== commit || committed.some((words) => data.includes(words))
  }

  private join(client: Socket): void {
    if (this.refusing) {
      client.resetAndDestroy()
      return
    }
    const { port, hostname } = this.target
    const host = decodeURIComponent(hostname)
    const upstream = host.startsWith('/')
      ? connect(`${host}/.s.PGSQL.${port}`)
      : connect(Number(port), host)
    const pair = { client, upstream }
    this.pairs.add(pair)
    let fate: CutAtCommit | undefined
    let [isSpared, isTellers] = [false, false]
    client.once('data', (data) => {
      isSpared = ofTheirOwn.some((words) => data.includes(words))
      isTellers = data.includes(ofTheTeller)
    })
    upstream.on('data', (data) => {
      if (fate === undefined && this.stalled) this.swallowed++
      else if (fate === undefined) this.pass(client, data)
      // The commit has been answered, and nobody was there to hear it.
      else if (fate === 'after' && this.isAnswered(data)) upstream.destroy()
    })
    client.on('data', (data) => {
      const isMeant = this.isTellersOnly ? isTellers : !isSpared
      if (isMeant && fate === undefined && data.includes(this.committing)) {
        fate = this.plan.shift()
      }
      if (fate !== 'before') this.pass(upstream, data)
      if (fate === undefined) return
      this.cuts++
      if (fate !== 'silent') client.resetAndDestroy()
      if (fate === 'before') upstream.destroy()
      this.afterCut()
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => {
        // Let the server come to its answer, so that what was sent to it is not lost as well.
        if (fate !== 'after' || one === upstream) other.destroy()
        this.pairs.delete(pair)
      })
    }
  }
}
