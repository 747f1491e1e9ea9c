import { isConnectionLost, isContention, type Pool } from '../db/pool.ts'
import type { OpenItem, Order, Payment, UnmatchedWhy } from '../ledger/book.ts'
import { BooksChanged } from '../ledger/books-store.ts'
import { booksOf, type Command, type Decision, needsWallet } from '../ledger/commands.ts'
import { writesFor } from '../ledger/fold.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { Problem } from '../lib/problem.ts'
import type { Span, Tracer } from '../lib/tracing.ts'
import { type Attempt, insertDeposits, NotConnected, transact } from './settle-batch.ts'
import { endSpan, spanOfBatch, spanOfCommand } from './trace-teller.ts'

/** The result of a command, once it is on disk. */
export interface Done {
  order: Order | undefined
  /** Whether the command changed anything; false for a repeat. */
  changed: boolean
  /** The payment in its new state, if the command changed one. */
  payment?: Payment | undefined
  /** The event that the command was made of is recorded; nothing was done. */
  isRecorded?: true
  /** Why the reported money does not belong to the order; nothing was written. */
  unmatched?: UnmatchedWhy
  /** The item that a person has to look into, if the command contradicted the books. */
  item?: OpenItem | undefined
}

export interface TellerOptions {
  pool: Pool
  localTime: LocalTime
  /** Whether commands have the times of this machine, rather than of a clock that a test moves. */
  isOnTime?: boolean
  /** How many batches of many agents run at once, each on its own connection. They never wait for locks. */
  writers: number
  /** How many agents are settled one by one at the same time, each on one more connection; 1 by default. */
  patientWriters?: number
  maxBatch: number
  /** The limits on unanswered commands: of all agents together, and of one agent. */
  maxQueue: number
  maxQueuePerAgent?: number
  /** How long the teller keeps trying a command whose wallet is locked or whose commit got no answer. */
  patienceMs: number
  onBatch?: (batch: { size: number; seconds: number; span: Span | undefined }) => void
  onFault?: (error: unknown) => void
  /** Called for every order that was written, once it is on disk. */
  onWritten?: (order: Order) => void
  /** Called with the agents concerned after a commit that wrote callbacks. */
  onCallbacks?: (agentIds: Set<bigint>) => void
  /** Follows commands and batches; undefined if nobody collects traces. */
  tracer?: Tracer | undefined
}

interface Waiting {
  command: Command
  since: number
  resolve: (done: Done) => void
  reject: (error: unknown) => void
  span: Span | undefined
}

/** Commands of one agent that could not be settled in a batch with other agents. */
interface Case {
  entries: Waiting[]
  attempt: Attempt
  /** Whether the commands may have been written by a connection that was lost. */
  isUnknown: boolean
  tries: number
}

/**
 * The only place that changes money. It collects commands while earlier batches commit: there is no
 * timer, and an idle teller starts at once. A wallet is never in two batches at once, so its commands
 * take effect in the order in which they arrived.
 *
 * A batch of many agents never waits: commands whose wallet is locked, whose commit was lost or whose
 * write the database rejected are set aside and settled agent by agent, in turn, on separate connections.
 * So if another process holds an agent's wallet, even a frozen one, only that agent is delayed.
 */
export class Teller {
  private readonly options: TellerOptions
  private readonly orderHooks: ((order: Order) => void)[] = []
  private readonly queues = new Map<bigint, Waiting[]>()
  private readonly aside = new Map<bigint, Case[]>()
  private readonly busy = new Set<bigint>()
  private readonly unansweredOf = new Map<bigint, number>()
  private unanswered = 0
  private writersAtWork = 0
  private patientWritersAtWork = 0
  private isMovingBetweenBooks = false
  /**
   * Until when an agent's deposits go the way of those with limits, in which they are measured. It only saves
   * trying the quick way first, which refuses them.
   */
  private readonly limitedUntil = new Map<bigint, number>()
  private scheduled = false

  constructor(options: TellerOptions) {
    this.options = options
  }

  /** Commands that have not been answered yet. */
  get queueDepth(): number {
    return this.unanswered
  }

  /** Registers a function that is called for every order with a new status, once it is on disk. */
  onOrder(hook: (order: Order) => void): void {
    this.orderHooks.push(hook)
  }

  /** Resolves when the command is on disk; rejects with a Problem if it is refused. */
  do(command: Command): Promise<Done> {
    const { agentId } = command
    const ofAgent = this.unansweredOf.get(agentId) ?? 0
    const { maxQueue, maxQueuePerAgent = maxQueue } = this.options
    if (this.unanswered >= maxQueue || ofAgent >= maxQueuePerAgent) {
      return Promise.reject(overloaded('Too much is waiting to be written; repeat the request.'))
    }
    this.unanswered++
    this.unansweredOf.set(agentId, ofAgent + 1)
    const { tracer } = this.options
    const span = tracer && spanOfCommand(tracer, command)
    return new Promise((resolve, reject) => {
      let isAnswered = false
      const once =
        <T>(answer: (value: T) => void) =>
        (value: T) => {
          if (isAnswered) return
          isAnswered = true
          this.countAnswered(agentId)
          answer(value)
        }
      this.enqueue({
        command: this.isKnownAsLimited(command) ? asLimited(command) : command,
        since: performance.now(),
        resolve: once((done) => {
          if (span) endSpan(span, done.order?.orderId, false)
          resolve(done)
        }),
        reject: once((error) => {
          if (span) endSpan(span, undefined, true)
          reject(error)
        }),
        span,
      })
    })
  }

  private isKnownAsLimited({ agentId }: Command): boolean {
    const until = this.limitedUntil.get(agentId)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.limitedUntil.delete(agentId)
    return false
  }

  private countAnswered(agentId: bigint): void {
    this.unanswered--
    const left = (this.unansweredOf.get(agentId) ?? 1) - 1
    if (left === 0) this.unansweredOf.delete(agentId)
    else this.unansweredOf.set(agentId, left)
  }

  private enqueue(entry: Waiting): void {
    if (booksOf(entry.command).length > 1) {
      this.setAside([entry], {}, false)
      this.schedule()
      return
    }
    const own = queueOf(entry.command)
    const key = kindOf(own) === 'wallet' || this.aside.has(own) ? own : withoutWallet
    const queue = this.queues.get(key)
    if (queue) queue.push(entry)
    else this.queues.set(key, [entry])
    this.schedule()
  }

  /** Commands that arrive in the same turn of the event loop share the first batch. */
  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    this.later(() => {
      this.scheduled = false
      while (this.writersAtWork < this.options.writers) {
        const [keys, batch] = this.takeBatch()
        if (batch.length === 0) break
        this.writersAtWork++
        void this.runBatch(keys, batch)
      }
      for (const [key, cases] of this.aside) {
        if (this.patientWritersAtWork >= (this.options.patientWriters ?? 1)) return
        if (this.busy.has(key)) continue
        // They may all wait for the house's book: one at a time leaves a writer to the agents.
        const isOnTwoBooks = kindOf(key) === 'two books'
        if (isOnTwoBooks && this.isMovingBetweenBooks) continue
        if (isOnTwoBooks) this.isMovingBetweenBooks = true
        this.busy.add(key)
        this.patientWritersAtWork++
        void this.runAlone(key, cases)
      }
    })
  }

  /** A batch belongs to no request, not even to the one that asked for it first. */
  private later(work: () => void): void {
    const { tracer } = this.options
    setImmediate(tracer ? () => tracer.within(undefined, work) : work)
  }

  private takeBatch(): [keys: bigint[], batch: Waiting[]] {
    const keys: bigint[] = []
    const batch: Waiting[] = []
    for (const [key, queue] of this.queues) {
      if (this.busy.has(key) || this.aside.has(key)) continue
      // Commands that need no wallet get a separate batch, in one statement.
      const isWithWallet = kindOf(key) === 'wallet'
      if (!isWithWallet && batch.length > 0) continue
      batch.push(...queue.splice(0, this.options.maxBatch - batch.length))
      keys.push(key)
      this.busy.add(key)
      // The agent's remaining commands queue behind the other agents.
      this.queues.delete(key)
      if (queue.length > 0) this.queues.set(key, queue)
      if (!isWithWallet || batch.length >= this.options.maxBatch) break
    }
    return [keys, batch]
  }

  private async runBatch(keys: bigint[], batch: Waiting[]): Promise<void> {
    const started = performance.now()
    const span = this.spanOf(batch)
    let open = batch
    try {
      while (open.length > 0) open = await this.settleTogether(open)
    } catch (error) {
      this.options.onFault?.(error)
      for (const { reject } of batch) reject(error)
    }
    for (const key of keys) this.busy.delete(key)
    this.writersAtWork--
    this.report(batch.length, started, span)
    this.schedule()
  }

  private spanOf(batch: readonly Waiting[]): Span | undefined {
    const { tracer } = this.options
    return (
      tracer &&
      spanOfBatch(
        tracer,
        batch.map(({ span }) => span),
      )
    )
  }

  private report(size: number, started: number, span: Span | undefined): void {
    span?.end()
    this.options.onBatch?.({ size, seconds: (performance.now() - started) / 1000, span })
  }

  /**
   * Settles the commands that can be settled in one batch. Returns those to try again without the others.
   */
  private async settleTogether(batch: Waiting[]): Promise<Waiting[]> {
    const { pool, localTime, isOnTime = false } = this.options
    const attempt: Attempt = {}
    let open = batch
    try {
      if (!open.some(({ command }) => needsWallet(command))) {
        const inserted = await insertDeposits(pool, commandsOf(open), { localTime, isOnTime })
        open = this.answer(open, inserted, false)
        if (open.length === 0) return []
      }
      const options = { localTime, ifLocked: 'skip', isOnTime } as const
      const decisions = await transact(pool, commandsOf(open), options, attempt)
      this.setAside(this.limit(this.answer(open, decisions, false)), {}, false)
      return []
    } catch (error) {
      if (error instanceof NotConnected) {
        this.options.onFault?.(error)
        for (const { reject } of open) reject(unreachable(error))
        return []
      }
      if (error instanceof BooksChanged && error.agentIds.size > 0) {
        const isTheirs = ({ command }: Waiting) => error.agentIds.has(command.agentId)
        this.setAside(open.filter(isTheirs), {}, false)
        return open.filter((entry) => !isTheirs(entry))
      }
      const isLost = isConnectionLost(error)
      if (isLost) this.options.onFault?.(error)
      this.setAside(open, isLost ? attempt : {}, isLost)
      return []
    }
  }

  /** Deposits that were left undecided without a lock have to be measured against limits, under the lock. */
  private limit(undecided: Waiting[]): Waiting[] {
    for (const entry of undecided) {
      if (needsWallet(entry.command)) continue
      entry.command = asLimited(entry.command)
      this.limitedUntil.set(entry.command.agentId, performance.now() + limitedMs)
    }
    return undecided
  }

  /** Sets commands aside to be settled agent by agent, ahead of the agent's later commands. */
  private setAside(entries: Waiting[], { folded }: Attempt, isUnknown: boolean): void {
    const parts = new Map<bigint, { own: Waiting[]; decisions: (Decision | undefined)[] }>()
    entries.forEach((entry, at) => {
      const key = queueOf(entry.command)
      const part = parts.get(key) ?? { own: [], decisions: [] }
      part.own.push(entry)
      part.decisions.push(folded?.decisions[at])
      parts.set(key, part)
    })
    for (const [key, { own, decisions }] of parts) {
      const agentId = agentOf(key)
      // A command whose wallet was skipped was not part of the attempt.
      const attempt: Attempt =
        folded && decisions[0]
          ? { folded: { decisions, writes: writesFor(folded.writes, agentId) } }
          : {}
      const cases = this.aside.get(key) ?? []
      cases.push({ entries: own, attempt, isUnknown, tries: 0 })
      this.aside.set(key, cases)
    }
  }

  /**
   * Settles the first of an agent's cases, or leaves it for the agent's next turn, behind the other
   * agents.
   */
  private async runAlone(key: bigint, cases: Case[]): Promise<void> {
    const started = performance.now()
    const [first] = cases
    if (first) {
      if (cases.length === 1) this.letJoin(key, first)
      const { length } = first.entries
      const span = this.spanOf(first.entries)
      if (await this.settleAlone(key, cases, first)) this.report(length, started, span)
      else span?.end(true)
    }
    this.busy.delete(key)
    if (kindOf(key) === 'two books') this.isMovingBetweenBooks = false
    this.patientWritersAtWork--
    this.aside.delete(key)
    if (cases.length > 0) this.aside.set(key, cases)
    this.schedule()
  }

  /** Adds commands that have arrived since to the case, unless it is still unknown what was written. */
  private letJoin(key: bigint, { entries, attempt, isUnknown }: Case): void {
    const queue = this.queues.get(key)
    if (!queue || isUnknown || attempt.folded) return
    entries.push(...queue.splice(0, Math.max(0, this.options.maxBatch - entries.length)))
    if (queue.length === 0) this.queues.delete(key)
  }

  /**
   * Tries a case once, waiting only briefly for its wallet. After a lost commit, the case is run again to
   * find out whether it was written. Returns whether the case is settled.
   */
  private async settleAlone(key: bigint, cases: Case[], first: Case): Promise<boolean> {
    const { entries } = first
    const { localTime, isOnTime = false } = this.options
    const mayBeWritten = first.isUnknown
    const options = { localTime, ifLocked: 'wait', isOnTime, mayBeWritten } as const
    try {
      const commands = commandsOf(entries)
      const decisions = await transact(this.options.pool, commands, options, first.attempt)
      cases.shift()
      const limited = this.limit(this.answer(entries, decisions, first.isUnknown))
      this.setAside(limited, {}, first.isUnknown)
      return true
    } catch (error) {
      first.tries++
      if (error instanceof NotConnected || isConnectionLost(error)) {
        this.options.onFault?.(error)
        first.isUnknown ||= !(error instanceof NotConnected)
        this.loseThePatient(cases, first, unreachable(error))
        await pause(Math.min(50 * first.tries, 500))
      } else if (error instanceof BooksChanged || isContention(error)) {
        const refusal = overloaded('The wallet is contended; repeat the request.', error)
        this.loseThePatient(cases, first, refusal)
        if (kindOf(key) !== 'wallet') letOthersPass(cases, first)
      } else if (entries.length > 1) {
        // One row that the database rejects must not make the other commands fail.
        splitFirst(cases, first)
      } else {
        this.options.onFault?.(error)
        cases.shift()
        for (const { reject } of entries) reject(error)
      }
      return false
    }
  }

  /**
   * Refuses the commands that have waited too long. A case that may be on disk stays whole, so that the
   * remaining commands can still be resolved.
   */
  private loseThePatient(cases: Case[], first: Case, refusal: Problem): void {
    const isOver = ({ since }: Waiting) => performance.now() - since > this.options.patienceMs
    for (const entry of first.entries) if (isOver(entry)) entry.reject(refusal)
    const left = first.entries.filter((entry) => !isOver(entry))
    if (left.length === 0) cases.shift()
    else if (!first.attempt.folded) first.entries = left
  }

  /** Answers the commands that have a decision. Returns the others. */
  private answer(
    batch: Waiting[],
    decisions: (Decision | undefined)[],
    isUnknown: boolean,
  ): Waiting[] {
    const agents = new Set<bigint>()
    const undecided = batch.filter((entry, at) => {
      const { command, resolve, reject } = entry
      const decision = decisions[at]
      if (!decision) return true
      switch (decision.type) {
        case 'refused':
          reject(
            new Problem(
              decision.code,
              decision.detail,
              decision.limit && { limit: decision.limit },
            ),
          )
          break
        case 'recorded':
          resolve({ order: undefined, changed: false, isRecorded: true })
          break
        case 'unmatched':
          resolve({ order: undefined, changed: false, unmatched: decision.why })
          break
        case 'unchanged': {
          // After a lost connection, a creation that finds its own order id was written by the earlier
          // attempt.
          const isOwn =
            isUnknown &&
            command.type === 'create' &&
            decision.order?.orderId === command.order.orderId
          resolve({ order: decision.order, changed: isOwn })
          break
        }
        case 'changed':
          resolve({
            order: decision.order,
            changed: true,
            payment: decision.payment,
            item: decision.item,
          })
          for (const { order, callback } of [decision, ...(decision.also ?? [])]) {
            if (callback) agents.add(command.agentId)
            if (order) this.options.onWritten?.(order)
            if (order && (callback || command.type === 'create')) {
              for (const hook of this.orderHooks) hook(order)
            }
          }
      }
      return false
    })
    if (agents.size > 0) this.options.onCallbacks?.(agents)
    return undecided
  }
}

/**
 * The kinds of queues that an agent has: for commands on its own book, for those that need no book, and
 * for those on two books, which must not hold up the others while they wait for the house's.
 */
const queueKinds = ['wallet', 'no wallet', 'two books'] as const

/** A queue's key is the agent's id and, in the last two bits, its kind. */
function queueOf(command: Command): bigint {
  const kind = needsWallet(command) ? (booksOf(command).length > 1 ? 2n : 0n) : 1n
  return (command.agentId << 2n) | kind
}

function kindOf(key: bigint): (typeof queueKinds)[number] | undefined {
  return queueKinds[Number(key & 3n)]
}

function agentOf(key: bigint): bigint {
  return key >> 2n
}

/**
 * The queue of all commands that need no wallet, of any agent; no agent has the id 0. It also runs one
 * batch at a time: commands that arrive during a batch make the next one larger, and so cheaper per
 * command.
 */
const withoutWallet = 1n

/** How long an agent is thought to have limits on deposits. */
const limitedMs = 60_000

function asLimited(command: Command): Command {
  return command.type === 'create' && command.order.kind === 'deposit'
    ? { ...command, isLimited: true }
    : command
}

function commandsOf(entries: Waiting[]): Command[] {
  return entries.map(({ command }) => command)
}

function splitFirst(cases: Case[], { entries, isUnknown }: Case): void {
  const middle = Math.ceil(entries.length / 2)
  const halves = [entries.slice(0, middle), entries.slice(middle)]
  cases.splice(0, 1, ...halves.map((half) => ({ entries: half, attempt: {}, isUnknown, tries: 0 })))
}

/** Deposits may be reordered: one that waits for another transaction's refId must not delay the rest. */
function letOthersPass(cases: Case[], first: Case): void {
  if (cases[0] !== first) return
  if (first.entries.length > 1) splitFirst(cases, first)
  cases.push(...cases.splice(0, 1))
}

function overloaded(detail: string, cause?: unknown): Problem {
  return new Problem('overloaded', detail, { retryAfterS: 1, cause })
}

function unreachable(cause: unknown): Problem {
  return overloaded('The database cannot be reached; repeat the request.', cause)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
