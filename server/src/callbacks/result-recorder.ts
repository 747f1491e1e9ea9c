import { isConnectionLost, isContention } from '../db/pool.ts'
import type { Outcome } from './outcome.ts'

/** How long to collect results while more are expected, and how many make a full batch. */
const gatherMs = 8
const gathered = 128
/** A batch matches each result with each claim, so a larger one would cost more than it saves. */
const mostAtOnce = 256
/** The delay after a failed write, and after the database has refused a single result. */
const againMs = 200
const refusedAgainMs = 1_000

export interface RecorderOptions {
  /** Records results, all of them or none. */
  write: (results: readonly Outcome[]) => Promise<void>
  /** How many callbacks are under way, with results still to come. */
  underWay: () => number
  /** Called when a batch is collected, which is the time to claim for the places it freed. */
  onGathered: () => void
  /** Called with results that are recorded, or that no longer can be. */
  onRecorded: (results: readonly Outcome[]) => void
  onError: (error: unknown) => void
}

/**
 * Records results in batches: those that arrive during one write share the next. Results that could not be
 * written are retried for as long as their claims hold. A result that the database refuses does not delay the
 * others.
 */
export class ResultRecorder {
  private readonly options: RecorderOptions
  private readonly results: Outcome[] = []
  /** Results that the database refused individually, waiting for another try. */
  private readonly refused: Outcome[] = []
  /** Results that arrived since the last batch was collected. */
  private cameIn = 0
  private isHurried = false
  private gathering: Promise<void> | undefined
  private recording: Promise<void> | undefined
  private waiting: Promise<void> | undefined

  constructor(options: RecorderOptions) {
    this.options = options
  }

  /** Every result is recorded, or no longer can be. */
  get isIdle(): boolean {
    return !this.gathering && !this.recording && !this.waiting
  }

  add(result: Outcome): void {
    this.results.push(result)
    this.cameIn++
    // A full batch is written before all pending answers are read, so that PostgreSQL is not idle until then.
    if (this.cameIn >= Math.max(this.options.underWay(), gathered)) this.flush()
    else this.gathering ??= this.gather()
  }

  /** From now on, writes results as they arrive and tries each only once. */
  hurry(): void {
    this.isHurried = true
  }

  /** Resolves once the recorder is idle. */
  async ended(): Promise<void> {
    while (!this.isIdle) await Promise.all([this.gathering, this.recording, this.waiting])
  }

  /**
   * Waits briefly while more results are expected, to write them in one batch: each statement that records or
   * claims costs nearly the same for one row as for fifty.
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

  /** Writes a batch. If the database refuses it, halves it until each refused result is on its own. */
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
   * Returns the results that can still be retried because their claims hold. The callbacks of the others will
   * be sent again: twice is better than never.
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
