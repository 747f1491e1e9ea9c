import { type ClientBase, escapeLiteral } from 'pg'

/** Which server a connection has met. A failover changes the timeline, a restore may change all three. */
export interface Place {
  /** Null where the login may not ask. */
  system: string | null
  timeline: number | null
  startedAt: string
}

/** A server that nobody has looked at yet: requests wait, as they do while a database starts. */
export class StrangeDatabase extends Error {
  readonly code = '57P03'

  constructor(what: string) {
    super(`connection to ${what}`)
  }
}

/** Whether a server was promoted after another of the same database, which is not to be used any more. */
export function replaces(place: Place, other: Place): boolean {
  return (
    place.system !== null &&
    place.system === other.system &&
    (place.timeline ?? 0) > (other.timeline ?? 0)
  )
}

async function placeOf(client: ClientBase): Promise<Place> {
  try {
    return await readPlace(client)
  } catch (error) {
    // Recovery is in progress.
    if (Object(error).code === '55000') throw new StrangeDatabase('a standby, which cannot write')
    throw error
  }
}

/**
 * Keeps connections to a server that was not there before from being used until somebody has looked whether it lacks
 * anything. Open until the first look.
 */
export class DatabaseGate {
  private known: Place | undefined
  private onStranger: (isReplaced: boolean) => void = () => {}
  private readonly moves = new Set<() => void>()

  /**
   * Called for each connection to a server that is not known. `isReplaced`: it was promoted after the known one, which may
   * still take writes, and of which an open connection notices nothing.
   */
  watch(onStranger: (isReplaced: boolean) => void): void {
    this.onStranger = onStranger
  }

  /** Called when another server is accepted: no connection to the one before is used any more. */
  onMove(hook: () => void): void {
    this.moves.add(hook)
  }

  accept(place: Place): void {
    const hasMoved = this.known !== undefined && !this.isKnown(place)
    this.known = place
    if (hasMoved) for (const hook of this.moves) hook()
  }

  isKnown(place: Place): boolean {
    return JSON.stringify(this.known) === JSON.stringify(place)
  }

  /** Throws unless the connection's server is the known one. */
  async check(client: ClientBase): Promise<void> {
    if (this.known === undefined) return
    const place = await placeOf(client)
    if (!this.isKnown(place)) throw this.stranger(replaces(place, this.known))
  }

  /**
   * For a transaction behind a pooler, which may have another server at any time: an expression that fails in SQL on any but the
   * known one. Each server has its own moment of start.
   */
  get proofOfServer(): string {
    if (this.known === undefined) return '1'
    const isKnown = `extract(epoch from pg_postmaster_start_time())::text = ${escapeLiteral(this.known.startedAt)}`
    return `1 / (case when ${isKnown} then 1 else 0 end)`
  }

  /** What to throw where a server is not the known one; somebody looks at it. */
  stranger(isReplaced = false): StrangeDatabase {
    this.onStranger(isReplaced)
    return new StrangeDatabase('another database server than before: it is looked at first')
  }
}

export async function isStandby(client: Pick<ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  return rows[0]?.standby !== false
}

/** Some hosted databases do not let a login ask for these; then only what is in the tables counts. */
const unasked = ['42501', '0A000', '42883']

/** Throws on a standby, which has no place of its own. */
export async function readPlace(client: Pick<ClientBase, 'query'>): Promise<Place> {
  try {
    const { rows } = await client.query<Place>(
      `select (select s.system_identifier::text from pg_control_system() s) as system,
         ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline,
         extract(epoch from pg_postmaster_start_time())::text as "startedAt"`,
    )
    if (rows[0]) return rows[0]
    throw new Error('the database says nothing of itself')
  } catch (error) {
    if (!unasked.includes(Object(error).code)) throw error
    const { rows } = await client.query<{ at: string }>(
      'select extract(epoch from pg_postmaster_start_time())::text as at',
    )
    return { system: null, timeline: null, startedAt: rows[0]?.at ?? '' }
  }
}
