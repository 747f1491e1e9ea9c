import pg from 'pg'
import { isStandby, type Place, readPlace, replaces } from './database-gate.ts'

/** How often the server in use is asked whether it still takes writes, and how long it has to answer. */
const everyMs = 1_000
const answerWithinMs = 1_000
/** A start has nothing to lose by hearing a slow one out. */
const startAnswerWithinMs = 3_000
/** How long a start waits for one of several servers to take writes: an election may be under way. */
const primaryWithinMs = 60_000
/** While none is known that does, each is asked this soon after it has answered. */
const againMs = 150

/** The parameter that has the other servers, in an address that otherwise names the first one. */
const others = 'other_hosts'

/**
 * DATABASE_URL as libpq reads it may name several servers: postgres://user@one:5432,two:5432/sluice. Here it becomes
 * an address that any parser reads. Undefined if it is no address of PostgreSQL.
 */
export function oneAddress(text: string): string | undefined {
  const [, start, login = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/]*@)?([^/?]*)(.*)$/s.exec(text) ?? []
  if (start === undefined) return undefined
  const [first = '', ...more] = hosts.split(',')
  const single = `${start}${login}${first}${rest}`
  if (!URL.canParse(single)) return undefined
  const url = new URL(single)
  const attrs = url.searchParams.get('target_session_attrs')
  // The only kind of session that the service can use.
  if (attrs !== null && attrs !== 'read-write' && attrs !== 'primary') return undefined
  if (attrs === null && more.length === 0) return text
  url.searchParams.delete('target_session_attrs')
  if (more.length === 0) return url.href
  if (more.some((host) => !URL.canParse(`${start}${host}/`))) return undefined
  url.searchParams.set(others, more.join(','))
  return url.href
}

/** The parameter of an address whose pooler gives each transaction another session. */
const pooled = 'pooler'

export function byTransaction(url: string): string {
  const address = new URL(url)
  address.searchParams.set(pooled, 'transaction')
  return address.href
}

export function isByTransaction(url: string): boolean {
  return new URL(url).searchParams.get(pooled) === 'transaction'
}

/** The addresses of all servers that an address names. */
export function addressesOf(url: string): string[] {
  const first = new URL(url)
  const more = (first.searchParams.get(others) ?? '').split(',').filter((host) => host !== '')
  first.searchParams.delete(others)
  first.searchParams.delete(pooled)
  return [
    first.href,
    ...more.map((host) => {
      const each = new URL(first)
      const named = new URL(`postgres://${host}/`)
      each.hostname = named.hostname
      each.port = named.port
      return each.href
    }),
  ]
}

const watches = new Map<string, PrimaryWatch>()
/** Which of several servers was last found to take writes: a pool that opens must not begin with a standby. */
const lastFound = new Map<string, number>()

/** The address of the server that takes writes, as far as is known. Looks for it if it has not been. */
export async function addressNow(url: string): Promise<string> {
  const addresses = addressesOf(url)
  const [only = url] = addresses
  if (addresses.length === 1) return only
  const watched = watches.get(url)?.current
  if (watched !== undefined) return watched
  const until = performance.now() + primaryWithinMs
  const isOver = () => performance.now() > until
  const found = await findPrimary(addresses, isOver, startAnswerWithinMs)
  const answers = addresses.map((address) => primaryAt(address, answerWithinMs))
  return newestOf(await Promise.all(answers), found)?.address ?? only
}

function hostsOf(addresses: readonly string[]): string {
  return addresses.map((address) => new URL(address).host).join()
}

/** Follows the server that takes writes, for as long as somebody uses it; the watch of an address is shared. */
export function watchPrimary(url: string, onError: (error: Error) => void): PrimaryWatch {
  const watch = watches.get(url) ?? new PrimaryWatch(url, onError)
  watches.set(url, watch)
  watch.users++
  return watch
}

export class PrimaryWatch {
  users = 0
  current: string
  /** Where the last one was that was found to take writes: one that it has replaced is not gone back to. */
  private last: Place | undefined
  private readonly told = new Set<string>()
  private readonly url: string
  private readonly onError: (error: Error) => void
  private readonly addresses: string[]
  private readonly hooks = new Set<() => void>()
  private timer: NodeJS.Timeout | undefined

  constructor(url: string, onError: (error: Error) => void) {
    this.url = url
    this.onError = onError
    this.addresses = addressesOf(url)
    this.current = this.addresses[lastFound.get(hostsOf(this.addresses)) ?? 0] ?? url
    if (this.addresses.length > 1) void this.look()
  }

  /** Called when another server takes writes than before. */
  onMove(hook: () => void): void {
    this.hooks.add(hook)
  }

  /** Ends the watch with its last user. */
  leave(hook: () => void): void {
    this.hooks.delete(hook)
    this.users--
    if (this.users > 0) return
    clearTimeout(this.timer)
    watches.delete(this.url)
  }

  private async look(): Promise<void> {
    const hasEnded = () => this.users === 0 && watches.get(this.url) !== this
    const asked = this.addresses.map((address) => primaryAt(address, answerWithinMs))
    const inUse = await asked[this.addresses.indexOf(this.current)]
    // One that says nothing keeps us from hearing another only while there is time.
    const found =
      inUse && !this.isOld(inUse)
        ? newestOf(await Promise.all(asked), inUse)
        : await findPrimary(this.addresses, hasEnded, answerWithinMs, (each) => this.isOld(each))
    this.last = found?.place ?? this.last
    if (found && found.address !== this.current) {
      this.current = found.address
      for (const hook of this.hooks) hook()
    }
    if (hasEnded()) return
    this.timer = setTimeout(() => void this.look(), everyMs)
    this.timer.unref()
  }

  /** Whether the last one has replaced it. If nothing else takes writes, somebody has to know why it is not used. */
  private isOld({ address, place }: Primary): boolean {
    if (this.last === undefined || !replaces(this.last, place)) return false
    const { host } = new URL(address)
    const what = `the database server ${host} takes writes on timeline ${place.timeline}`
    if (!this.told.has(what)) {
      this.told.add(what)
      const why = `it was replaced on timeline ${this.last.timeline}, and is not used`
      this.onError(
        new Error(
          `${what}, but ${why}: if what replaced it is lost for good, restart this process to use it`,
        ),
      )
    }
    return true
  }
}

interface Primary {
  address: string
  place: Place
}

/**
 * Two servers take writes if one was promoted while the one before it still runs: the later timeline counts. Otherwise the
 * one in use stays.
 */
function newestOf(answers: readonly (Primary | undefined)[], inUse?: Primary): Primary | undefined {
  return answers.reduce(
    (newest, each) => (newest && !(each && replaces(each.place, newest.place)) ? newest : each),
    inUse,
  )
}

/**
 * The first server that answers that it takes writes. Each is asked again by itself until one does or it is over: one that
 * says nothing must not keep us from hearing another.
 */
async function findPrimary(
  addresses: readonly string[],
  isOver: () => boolean,
  withinMs: number,
  isOld: (primary: Primary) => boolean = () => false,
): Promise<Primary | undefined> {
  let found: Primary | undefined
  await new Promise<void>((resolve) => {
    const asking = addresses.map(async (address, at) => {
      for (;;) {
        const primary = await primaryAt(address, withinMs)
        if (found !== undefined) return
        if (primary && !isOld(primary)) {
          found = primary
          lastFound.set(hostsOf(addresses), at)
          return resolve()
        }
        if (isOver()) return
        await new Promise((again) => setTimeout(again, againMs))
      }
    })
    void Promise.all(asking).then(() => resolve())
  })
  return found
}

/** Undefined if the server does not take writes, or does not answer in time. */
async function primaryAt(address: string, withinMs: number): Promise<Primary | undefined> {
  const client = new pg.Client({
    connectionString: address,
    application_name: 'sluice primary',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    if (await isStandby(client)) return undefined
    return { address, place: await readPlace(client) }
  } catch {
    return undefined
  } finally {
    void client.end().catch(() => {})
  }
}
