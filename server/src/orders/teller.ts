import {
  forgetOldPlans,
  isConnectionLost,
  isContention,
  type Pool,
  type PoolClient,
} from '../db/pool.ts'
import type { Order, Payment, UnmatchedWhy } from '../ledger/book.ts'
import {
  areWritten,
  type BatchTx,
  BooksChanged,
  insertOrders,
  readBooks,
  writeBooks,
} from '../ledger/books-store.ts'
import { type Command, type Decision, needsWallet } from '../ledger/decide.ts'
import { fold, noBooks } from '../ledger/fold.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { Problem } from '../lib/problem.ts'

/** What became of a command, once it is on disk. */
export interface Done {
  order: Order | undefined
  /** Whether the command changed anything, as against having happened before. */
  changed: boolean
  /** The payment as it is now, where the command was about one and changed it. */
  payment?: Payment | undefined
  /** Why money that was reported for an order is not the order's: nothing was written. */
  unmatched?: UnmatchedWhy
}

export interface TellerOptions {
  pool: Pool
  localTime: LocalTime
  /** Batches in flight at once, each with a connection. */
  lanes: number
  maxBatch: number
  maxQueue: number
  /** How long a batch whose commit got lost is tried again before its outcome is left unknown. */
  patienceMs: number
  onBatch?: (batch: { size: number; seconds: number }) => void
  onFault?: (error: unknown) => void
  /** Called for every order that came to a new state, once it is on disk. */
  onOrder?: (order: Order) => void
  /** Called after a commit that wrote callbacks, with their agents. */
  onCallbacks?: (agentIds: Set<bigint>) => void
}

interface Waiting {
  command: Command
  resolve: (done: Done) => void
  reject: (error: unknown) => void
}

/**
 * The one place that changes money. Commands are collected while the batches before them commit: no
 * timer, and no waiting when idle. A wallet is never in two batches at once, so its commands take
 * effect in the order they came.
 */
export class Teller {
  private readonly options: TellerOptions
  private readonly queues = new Map<bigint, Waiting[]>()
  private readonly busy = new Set<bigint>()
  private waiting = 0
  private lanesInUse = 0
  private scheduled = false

  constructor(options: TellerOptions) {
    this.options = options
  }

  get queueDepth(): number {
    return this.waiting
  }

  /** Resolves when the command is on disk; rejects with a Problem where it was refused. */
  do(command: Command): Promise<Done> {
    if (this.waiting >= this.options.maxQueue) {
      return Promise.reject(
        new Problem('overloaded', 'Too much is waiting to be written; repeat the request.', {
          retryAfterS: 1,
        }),
      )
    }
    return new Promise((resolve, reject) => {
      const key = queueOf(command)
      const queue = this.queues.get(key)
      const entry = { command, resolve, reject }
      if (queue) queue.push(entry)
      else this.queues.set(key, [entry])
      this.waiting++
      this.schedule()
    })
  }

  /** Commands that arrive in the same turn of the event loop share the first batch. */
  private schedule(): void {
    if (this.scheduled || this.lanesInUse >= this.options.lanes) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      while (this.lanesInUse < this.options.lanes) {
        const batch = this.takeBatch()
        if (batch.length === 0) return
        this.lanesInUse++
        void this.runBatch(batch)
      }
    })
  }

  private takeBatch(): Waiting[] {
    const batch: Waiting[] = []
    for (const [key, queue] of this.queues) {
      if (this.busy.has(key)) continue
      // What needs no wallet goes by itself: beside others it would wait for their locks.
      if (key === withoutWallet && batch.length > 0) continue
      batch.push(...queue.splice(0, this.options.maxBatch - batch.length))
      this.busy.add(key)
      // What is left goes behind the other agents.
      this.queues.delete(key)
      if (queue.length > 0) this.queues.set(key, queue)
      if (key === withoutWallet || batch.length >= this.options.maxBatch) break
    }
    this.waiting -= batch.length
    return batch
  }

  private async runBatch(batch: Waiting[]): Promise<void> {
    const started = performance.now()
    try {
      await this.settle(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    for (const { command } of batch) this.busy.delete(queueOf(command))
    this.lanesInUse--
    this.options.onBatch?.({
      size: batch.length,
      seconds: (performance.now() - started) / 1000,
    })
    this.schedule()
  }

  /**
   * Runs a batch to its end. A commit whose answer was lost is resolved by running the batch again:
   * under the same locks it sees whether its rows are there, and is answered as it was decided then.
   */
  private async settle(batch: Waiting[]): Promise<void> {
    const deadline = performance.now() + this.options.patienceMs
    const lost: Attempt = {}
    let open = batch
    let isUnknown = false
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt === 1 && !open.some(({ command }) => needsWallet(command))) {
          open = await this.insert(open)
          if (open.length === 0) return
        }
        const decisions = await this.transact(
          open.map(({ command }) => command),
          lost,
        )
        this.answer(open, decisions, isUnknown)
        return
      } catch (error) {
        const late = performance.now() > deadline
        if (error instanceof NotConnected || isConnectionLost(error)) {
          this.options.onFault?.(error)
          if (late || (attempt === 1 && error instanceof NotConnected)) {
            const detail = 'The database cannot be reached; repeat the request.'
            throw new Problem('overloaded', detail, {
              retryAfterS: 1,
              cause: error,
            })
          }
          isUnknown = true
          await pause(Math.min(50 * attempt, 500))
        } else if (error instanceof BooksChanged || isContention(error)) {
          if (late) {
            const detail = 'The wallet is contended; repeat the request.'
            throw new Problem('overloaded', detail, {
              retryAfterS: 1,
              cause: error,
            })
          }
        } else if (batch.length > 1) {
          // One row that the database refuses must not take its neighbours down.
          const middle = Math.ceil(batch.length / 2)
          for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
            try {
              await this.settle(half)
            } catch (fault) {
              for (const { reject } of half) reject(fault)
            }
          }
          return
        } else {
          this.options.onFault?.(error)
          throw error
        }
      }
    }
  }

  private answer(batch: Waiting[], decisions: Decision[], isUnknown: boolean): void {
    const agents = new Set<bigint>()
    batch.forEach(({ command, resolve, reject }, at) => {
      const decision = decisions[at]
      if (!decision) throw new Error('the fold answered fewer commands than it was given')
      switch (decision.type) {
        case 'refused':
          reject(new Problem(decision.code, decision.detail))
          break
        case 'unmatched':
          resolve({ order: undefined, changed: false, unmatched: decision.why })
          break
        case 'unchanged': {
          // Whoever finds its own order after a connection was lost has created it before that.
          const isOwn =
            isUnknown &&
            command.type === 'create' &&
            decision.order?.orderId === command.order.orderId
          resolve({ order: decision.order, changed: isOwn })
          break
        }
        case 'changed':
          resolve({ order: decision.order, changed: true, payment: decision.payment })
          if (decision.callback) agents.add(command.agentId)
          if (decision.order && (decision.callback || command.type === 'create')) {
            this.options.onOrder?.(decision.order)
          }
      }
    })
    if (agents.size > 0) this.options.onCallbacks?.(agents)
  }

  /**
   * Orders that need no wallet are one statement, which is a transaction by itself. It goes ahead
   * without looking, and returns those whose refId was taken: they have to be looked at.
   */
  private async insert(batch: Waiting[]): Promise<Waiting[]> {
    const commands = batch.map(({ command }) => command)
    const client = await this.connect()
    let broken = true
    try {
      forgetOldPlans(client)
      const { decisions, writes } = fold(noBooks, commands, this.options.localTime)
      const inserted = await insertOrders(client, writes.newOrders)
      broken = false
      const isDone = decisions.map(
        (decision) => decision.type !== 'refused' && inserted.has(decision.order?.orderId ?? ''),
      )
      this.answer(
        batch.filter((_, at) => isDone[at]),
        decisions.filter((_, at) => isDone[at]),
        false,
      )
      return batch.filter((_, at) => !isDone[at])
    } catch (error) {
      broken = isConnectionLost(error)
      throw error
    } finally {
      client.release(broken)
    }
  }

  private connect(): Promise<PoolClient> {
    return this.options.pool.connect().catch((error) => {
      throw new NotConnected(String(error), { cause: error })
    })
  }

  private async transact(commands: Command[], lost: Attempt): Promise<Decision[]> {
    const client = await this.connect()
    let broken = true
    try {
      forgetOldPlans(client)
      const began = client.query('begin')
      const reading = readBooks(client as unknown as BatchTx, commands)
      await Promise.allSettled([began, reading])
      await began
      const books = await reading
      if (lost.folded && (await areWritten(client as unknown as BatchTx, lost.folded.writes))) {
        await client.query('rollback')
        broken = false
        return lost.folded.decisions
      }
      const folded = fold(books, commands, this.options.localTime)
      const { decisions, writes } = folded
      await writeBooks(client as unknown as BatchTx, writes)
      lost.folded = folded
      const { command } = await client.query('commit')
      // PostgreSQL answers a commit of an aborted transaction with ROLLBACK, not with an error.
      if (command !== 'COMMIT') throw new Error(`commit was answered with ${command}`)
      broken = false
      return decisions
    } catch (error) {
      if (!isConnectionLost(error)) {
        broken = await client.query('rollback').then(
          () => false,
          () => true,
        )
      }
      throw error
    } finally {
      client.release(broken)
    }
  }
}

/**
 * Agents count from one; this queue is of all commands that need no wallet. It too has one batch under
 * way at a time: what comes in meanwhile makes the next one larger, and cheaper for each.
 */
const withoutWallet = 0n

function queueOf(command: Command): bigint {
  return needsWallet(command) ? command.agentId : withoutWallet
}

/** What an attempt was about to commit, for as long as it is not known whether it did. */
interface Attempt {
  folded?: ReturnType<typeof fold>
}

/** Not even a connection could be had: nothing was sent, so there is nothing to find out. */
class NotConnected extends Error {}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
