import { isConnectionLost, isContention } from '../db/pool.ts'
import type { Outcome } from './outcome.ts'

/** How long results are gathered for, where more are to come, and how many are enough. */
const gatherMs = 8
const gathered = 128
/** Each result is matched with each claim of its batch, so that more would cost more than they save. */
const mostAtOnce = 256
/** How long after a write that failed the next one comes, and how long after a result was refused by itself. */
const againMs = 200
const refusedAgainMs = 1_000

export interface RecorderOptions {
  /** Writes results down, all of them or none. */
  write: (results: readonly Outcome[]) => Promise<void>
  /** How many callbacks are under way, whose results are still to come. */
  underWay: () => number
  /** Called when results have been gathered: the moment to claim for the places that they set free. */
  onGathered: () => void
  /** Called with results that are recorded, or that can no longer be. */
  onRecorded: (results: readonly Outcome[]) => void
  onError: (error: unknown) => void
}

/**
 * Records results in batches: those that come in during one write share the next. What could not be written is
 * tried again for as long as its claim holds. A result that the database refuses keeps no other one waiting.
 */
export class ResultRecorder {
  private readonly options: RecorderOptions
  private readonly results: Outcome[] = []
  /** Refused each by itself, and waiting to be tried again. */
  private readonly refused: Outcome[] = []
  /** Results since they were last gathered. */
  private cameIn = 0
  private isHurried = false
  private gathering: Promise<void> | undefined
  private recording: Promise<void> | undefined
  private waiting: Promise<void> | undefined

  constructor(options: RecorderOptions) {
    this.options = options
  }

  /** Every result has been recorded, or can no longer be. */
  get isIdle(): boolean {
    return !this.gathering && !this.recording && !this.waiting
  }

  add(result: Outcome): void {
    this.results.push(result)
    this.cameIn++
    // Not only after all the answers that are there to be read: PostgreSQL would have nothing to do until then.
    if (this.cameIn >= Math.max(this.options.underWay(), gathered)) this.flush()
    else this.gathering ??= this.gather()
  }

  /** From here on results are written as they come, and tried once. */
  hurry(): void {
    this.isHurried = true
  }

  /** Resolves when it is idle. */
  async ended(): Promise<void> {
    while (!this.isIdle) await Promise.all([this.gathering, this.recording, this.waiting])
  }

  /**
   * While most of what is under way is still to come in, a moment's wait makes a batch of it: each
   * statement, to record and to claim, costs nearly the same for one row as for fifty.
   */
  private async gather(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (this.cameIn < this.options.underWay() && !this.isHurried) await pause(gatherMs)
    this.gathering = undefined
    this.flush()
  }

  private flush(): void {
    this.cameIn = 0
    this.recording ??= this.record().finally(() => {
      this.recording = undefined
    })
    this.options.onGathered()
  }

  private async record(): Promise<void> {
    while (this.results.length > 0) {
      await this.write(this.results.splice(0, mostAtOnce))
      this.gathering ??= this.gather()
    }
  }

  /** Writes a batch. One that is refused is halved until what is refused stands alone. */
  private async write(batch: Outcome[]): Promise<void> {
    try {
      await this.options.write(batch)
    } catch (error) {
      const isRefused = !isConnectionLost(error) && !isContention(error)
      if (isRefused && batch.length > 1) {
        const middle = Math.ceil(batch.length / 2)
        await this.write(batch.slice(0, middle))
        await this.write(batch.slice(middle))
        return
      }
      this.options.onError(error)
      const open = this.giveUpLost(batch)
      if (open.length === 0) return
      if (isRefused) return this.tryLater(open)
      this.results.unshift(...open)
      await pause(againMs)
      return
    }
    this.options.onRecorded(batch)
  }

  /**
   * Returns those for which there is time to try again: their claim holds. The callbacks of the others go out
   * again: better twice than never.
   */
  private giveUpLost(batch: readonly Outcome[]): Outcome[] {
    const open = batch.filter(({ callback }) => !this.isHurried && callback.lease.leftMs() > 0)
    this.options.onRecorded(batch.filter((result) => !open.includes(result)))
    return open
  }

  private tryLater(refused: readonly Outcome[]): void {
    this.refused.push(...refused)
    this.waiting ??= pause(refusedAgainMs).then(() => {
      this.waiting = undefined
      this.results.push(...this.refused.splice(0))
      this.gathering ??= this.gather()
    })
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
