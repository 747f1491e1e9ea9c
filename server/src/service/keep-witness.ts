import { randomUUID } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { type Place, readPlace } from '../db/database-gate.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { isConnectionLost, openPool, type Pool } from '../db/pool.ts'
import { DatabaseFault } from '../db/run-migration.ts'
import {
  deploymentName,
  forgetMarks,
  type Mark,
  makeMark,
  raiseMark,
  readMarks,
} from '../db/witness-marks.ts'
import type { Order } from '../ledger/book.ts'
import { holdRestored, lastEpoch } from '../payouts/restore-hold.ts'
import { type Heads, proveHeads, readHeads } from '../proof/heads.ts'
import { mostAheadMs } from '../teller/settle-batch.ts'
import { repeat } from '../worker/repeat.ts'
import type { Ground } from './ground.ts'
import {
  forgetWitness,
  type KeptWitness,
  lastHeads,
  readWitnesses,
  tryFolder,
  witnessFolder,
  writeWitness,
} from './witness-files.ts'

const dayMs = 86_400_000

/** While money moves a mark is made every second; otherwise as often as a new process may have to wait for one. */
const idleMs = 5_000
const headsEveryMs = 60_000
/** How long a process that has no witness waits for another to make a mark. */
const vouchingMs = 2 * idleMs + 2_000
/** Marks are made at least this often while a process runs: a backup is not older than its last mark by more. */
const marginMs = 60_000
/** A witness that nobody renewed for so long is of no use, nor is its mark. */
const filesKeptMs = 30 * dayMs
const marksKeptDays = 400
/** How much later others may have gone on and a file still stand for what they did: as long as a house takes to stop. */
const vouchedForMs = 60 * 60_000
/** If nobody made a mark before the backup, it may be as old as this. */
const longestBackupMs = 30 * dayMs
/** How many of the orders written last are looked for after a failover. */
const mostWritten = 256

/** What a look has found missing, and when that was written. */
interface Loss {
  words: string
  at: Date | 'not known'
}

/**
 * Knows what this process, and those before it on this disk, have seen in the database; holds payouts back if the
 * database does not have it any more. See docs/decisions/0061-a-restore-is-noticed.md.
 */
export class WitnessKeeper {
  private readonly ground: Ground
  private readonly patienceMs: number
  /** A connection of its own, which passes the gate that it opens for the others. */
  private readonly pool: Pool
  private readonly witnessId = randomUUID().replaceAll('-', '')
  private folder = ''
  /** The last turn that is in the database for certain, and the last one that was tried. */
  private turn = 0n
  private tried = 0n
  private markedAt = new Date(0)
  private markedAtMs = Number.NEGATIVE_INFINITY
  private epoch = 0n
  private heads: Heads | undefined
  private headsAtMs = Number.NEGATIVE_INFINITY
  /** Since the last mark, which stands for all before it. */
  private written: (Pick<Order, 'agentId' | 'orderId' | 'version'> & { at: Date })[] = []
  private isMoneyMoving = false
  private isKept = true
  /** Whether a later server was met than the own connection is to. */
  private isReplaced = false
  private clocksDiffer = false

  constructor(ground: Ground, patienceMs = vouchingMs) {
    this.ground = ground
    this.patienceMs = patienceMs
    const { backend, onError } = ground
    this.pool = openPool({ url: backend.databaseUrl, max: 1, name: 'sluice witness', onError })
    ground.closing.add(() => this.pool.end())
  }

  /** Compares the database with what is kept outside, before anything else is done, and goes on doing so. */
  async start(): Promise<void> {
    const { config, backend, closing, clock, onError } = this.ground
    this.folder = witnessFolder(config.dataDir, await deploymentName(this.pool))
    const oldest = clock().getTime() - (marksKeptDays - 1) * dayMs
    const files = await readWitnesses(this.folder)
    // The mark of one that is older was forgotten.
    const kept = files.filter(({ at }) => Date.parse(at) > oldest)
    const loss = (await this.lossOf(kept)) ?? (await this.unwitnessed(kept))
    if (loss) await this.hold(loss, kept)
    const place = await this.place()
    this.sayWhereItIs(place, kept)
    await this.tryToKeep()
    await this.begin()
    for (const each of files) {
      if (clock().getTime() - Date.parse(each.at) > filesKeptMs || loss) await forgetWitness(each)
    }
    await this.compareClocks()
    await forgetMarks(this.pool, marksKeptDays)
    backend.gate.accept(place)
    const marking = repeat(
      1_000,
      async () => {
        await this.mark()
        return 'done'
      },
      (error) => {
        if (!isConnectionLost(error)) onError(error)
      },
    )
    backend.gate.watch((isReplaced) => {
      this.isReplaced ||= isReplaced
      marking.wake()
    })
    closing.add(() => marking.stop())
  }

  /** Notes an order that is on disk, as far as the database says. */
  wrote({ agentId, orderId, version }: Order): void {
    this.isMoneyMoving = true
    this.written.push({ agentId, orderId, version, at: this.ground.clock() })
    if (this.written.length > 2 * mostWritten) this.written = this.written.slice(-mostWritten)
  }

  /** Looks whether the database is the one that it was, makes a mark in it and keeps that outside. */
  private async mark(): Promise<void> {
    const { backend } = this.ground
    if (this.isReplaced) {
      this.isReplaced = false
      const client = await this.pool.connect()
      client.release(true)
    }
    const place = await this.place()
    const isKnown = backend.gate.isKnown(place)
    const isDue = this.isMoneyMoving || performance.now() - this.markedAtMs >= idleMs
    if (isKnown && !isDue) return
    await this.compareClocks()
    const loss = isKnown ? undefined : await this.lossOfWritten()
    const newest = this.written.at(-1)
    if (loss || !(await this.raise())) {
      const words = `mark ${this.turn} of this process is not there`
      await this.hold(loss ?? { words, at: this.markedAt }, [])
      await this.begin()
    }
    // Another server may have taken the mark than the one that was looked at: what was written is looked for there.
    if (JSON.stringify(await this.place()) !== JSON.stringify(place)) {
      this.isMoneyMoving = true
      return
    }
    // They may be archived before the next look.
    if (newest) this.written.splice(0, this.written.indexOf(newest) + 1)
    if (!isKnown) {
      this.sayWhereItIs(place, [])
      this.ground.metrics.databaseMoved()
    }
    backend.gate.accept(place)
  }

  private async place(): Promise<Place> {
    const client = await this.pool.connect()
    let isBroken = true
    try {
      const place = await readPlace(client)
      isBroken = false
      return place
    } finally {
      client.release(isBroken)
    }
  }

  /** Makes this process's own mark in the database as it is now. */
  private async begin(): Promise<void> {
    this.written = []
    this.turn = 0n
    const markedAt = this.ground.clock()
    const { rows } = await this.pool.query<{ turn: bigint }>(
      'select turn from witness_marks where witness_id = $1',
      [this.witnessId],
    )
    this.epoch = await lastEpoch(this.pool)
    if (rows[0]) {
      this.turn = rows[0].turn
      await this.raise()
      return
    }
    this.tried += 1n
    await makeMark(this.pool, { witnessId: this.witnessId, turn: this.tried, markedAt })
    await this.keep(this.tried, markedAt)
  }

  /** False if the database has forgotten the last turn. */
  private async raise(): Promise<boolean> {
    const markedAt = this.ground.clock()
    this.isMoneyMoving = false
    this.tried += 1n
    const mark: Mark = { witnessId: this.witnessId, turn: this.tried, markedAt }
    if (performance.now() - this.headsAtMs >= headsEveryMs) {
      this.heads = await readHeads(this.pool, markedAt)
      this.headsAtMs = performance.now()
    }
    if (!(await raiseMark(this.pool, mark, this.turn))) return false
    await this.keep(this.tried, markedAt)
    return true
  }

  /** Keeps a turn outside, now that it is committed. */
  private async keep(turn: bigint, markedAt: Date): Promise<void> {
    this.turn = turn
    this.markedAt = markedAt
    this.markedAtMs = performance.now()
    this.heads ??= await readHeads(this.pool, markedAt)
    const { system, timeline } = await this.place()
    try {
      await writeWitness(this.folder, {
        format: 'sluice-witness-1',
        witnessId: this.witnessId,
        turn: Number(turn),
        at: markedAt.toISOString(),
        system,
        timeline,
        epoch: Number(this.epoch),
        heads: this.heads,
      })
      this.isKept = true
    } catch (error) {
      this.ground.log.error(
        { err: error },
        'the witness of the database cannot be kept in DATA_DIR',
      )
      if (this.isKept) {
        await this.tell('witness', 'DATA_DIR cannot be written: the next start will be held.')
      }
      this.isKept = false
    }
  }

  /** A mark that is made but not kept would hold the next start, and each one after it: live does not begin with one. */
  private async tryToKeep(): Promise<void> {
    const { config, log } = this.ground
    try {
      await tryFolder(this.folder)
    } catch (error) {
      const words = `DATA_DIR must be a folder that can be written, and that stays: ${error}`
      if (config.mode === 'live') throw new DatabaseFault(words)
      log.error(words)
    }
  }

  private tell(subject: string, words: string): Promise<void> {
    const to = { roles: ['admin', 'operator'] }
    return raiseAlert(this.pool, {
      ...{ kind: 'payout_alarm', subject, words, to },
      at: this.ground.clock(),
    })
  }

  /** The teller refuses what is of a later time than the database's. */
  private async compareClocks(): Promise<void> {
    const { clock, log } = this.ground
    const { rows } = await this.pool.query<{ now: Date }>('select clock_timestamp() as now')
    const aheadMs = clock().getTime() - (rows[0]?.now ?? clock()).getTime()
    const differ = Math.abs(aheadMs) > mostAheadMs
    if (differ && !this.clocksDiffer) {
      const seconds = Math.round(Math.abs(aheadMs) / 1_000)
      const words = `The database's clock is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} a process's: one of them is wrong, and what that process asks for may be refused.`
      log.error(words)
      await this.tell('clocks', words)
    }
    this.clocksDiffer = differ
  }

  /** The last of that which is kept outside and the database does not have: those before it may be known. */
  private async lossOf(kept: readonly KeptWitness[]): Promise<Loss | undefined> {
    const losses: (Loss & { at: Date })[] = []
    const marks = new Map((await readMarks(this.pool)).map((mark) => [mark.witnessId, mark]))
    for (const { witnessId, turn, at } of kept) {
      const mark = marks.get(witnessId)
      if (mark && mark.turn >= turn) continue
      const has = mark ? `only ${mark.turn} is there` : 'none of that process is there'
      losses.push({ words: `mark ${turn} of ${at} is missing, ${has}`, at: new Date(at) })
    }
    const file = this.ground.config.heads.file
    const published = file === undefined ? undefined : await lastHeads(file)
    const heads = [...kept.map((each) => each.heads), ...(published ? [published] : [])]
    for (const each of heads) {
      const [finding] = (await proveHeads(this.pool, [each])).findings
      if (finding) {
        losses.push({ words: `${finding.book}: ${finding.finding}`, at: new Date(each.at) })
      }
    }
    return losses.sort((a, b) => b.at.getTime() - a.at.getTime())[0]
  }

  /** What of the orders that were written last the database does not have: requests wait for this. */
  private async lossOfWritten(): Promise<Loss | undefined> {
    const written = this.written.slice(-mostWritten).reverse()
    const versions = new Map<string, number>()
    for (const agentId of new Set(written.map((each) => each.agentId))) {
      const ids = written.filter((each) => each.agentId === agentId).map((each) => each.orderId)
      const { rows } = await this.pool.query<{ order_id: string; version: number }>(
        'select order_id, version from orders where agent_id = $1 and order_id = any($2)',
        [agentId, ids],
      )
      for (const row of rows) versions.set(row.order_id, row.version)
    }
    const lost = written.find(
      ({ orderId, version }) => (versions.get(orderId) ?? Number.NEGATIVE_INFINITY) < version,
    )
    if (!lost) return undefined
    const words = `order ${lost.agentId}-${lost.orderId} is not as it was written`
    return { words, at: lost.at }
  }

  /**
   * Nothing is kept here of a database that was in use, or only what somebody saw of it long before others went on. If
   * another process goes on with it, that one has looked; otherwise nobody knows what it lacks, which must not be found
   * out with money.
   */
  private async unwitnessed(kept: readonly KeptWitness[]): Promise<Loss | undefined> {
    const { config, log } = this.ground
    const before = await readMarks(this.pool)
    // Heads that are published every hour may show a loss, but not that there is none.
    const newest = before.at(-1)
    if (config.mode !== 'live' || !newest) return undefined
    const seenUntil = Math.max(...kept.map(({ at }) => Date.parse(at)))
    if (seenUntil >= newest.markedAt.getTime() - vouchedForMs) return undefined
    const turnOf = new Map(before.map(({ witnessId, turn }) => [witnessId, turn]))
    const until = performance.now() + this.patienceMs
    log.info('DATA_DIR does not say what the database had last: waiting for another process')
    while (performance.now() < until) {
      const marks = await readMarks(this.pool)
      if (marks.some(({ witnessId, turn }) => turn > (turnOf.get(witnessId) ?? 0n)))
        return undefined
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    const has =
      kept.length === 0
        ? 'nothing is kept in DATA_DIR of what it had'
        : `what is kept in DATA_DIR ends at ${new Date(seenUntil).toISOString()}, long before its last mark`
    return { words: `${has}, and no other process vouches for it`, at: 'not known' }
  }

  private async hold({ words, at }: Loss, kept: readonly KeptWitness[]): Promise<void> {
    const { log, clock } = this.ground
    const last = (await readMarks(this.pool)).at(-1)
    const now = clock()
    const longest = now.getTime() - longestBackupMs
    const sinceMs = last ? Math.min(last.markedAt.getTime(), now.getTime()) - marginMs : longest
    const epoch = Math.max(Number(this.epoch), ...kept.map((each) => each.epoch))
    const hold = await inTransaction(this.pool, (tx) =>
      holdRestored(tx, {
        since: new Date(sinceMs),
        found: `It was noticed: ${words}.`,
        now: clock,
        epoch: BigInt(epoch),
        lostAt: at,
      }),
    )
    if (hold)
      log.fatal(
        { found: words },
        'the database was restored: nothing is paid out until two people release it',
      )
    else log.warn({ found: words }, 'the database was restored, which is known')
  }

  private sayWhereItIs({ system, timeline }: Place, kept: readonly KeptWitness[]): void {
    const { log } = this.ground
    const other = kept.find((each) => each.system !== system || each.timeline !== timeline)
    if (kept.length > 0 && !other) return
    log.info(
      { system, timeline },
      kept.length > 0 || this.turn > 0n
        ? 'the database is on another timeline or server'
        : 'the database is watched',
    )
  }
}
