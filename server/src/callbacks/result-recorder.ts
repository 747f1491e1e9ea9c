import type { Outcome } from './outcome.ts'

/** How long results are gathered for, where more are to come, and how many are enough. */
const gatherMs = 8
const gathered = 128
/** Each result is matched with each claim of its batch, so that more would cost more than they save. */
const mostAtOnce = 256
/** How long after a write that failed the next one comes. */
const againMs = 200

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
 * tried again for as long as its claim holds.
 */
export class ResultRecorder {
  private readonly options: RecorderOptions
  private readonly results: Outcome[] = []
  /** Results since they were last gathered. */
  private cameIn = 0
  private isHurried = false
  private gathering: Promise<void> | undefined
  private recording: Promise<void> | undefined

  constructor(options: RecorderOptions) {
    this.options = options
  }

  /** Every result has been recorded, or can no longer be. */
  get isIdle(): boolean {
    return !this.gathering && !this.recording
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
    while (!this.isIdle) await Promise.all([this.gathering, this.recording])
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

  private async write(batch: Outcome[]): Promise<void> {
    try {
      await this.options.write(batch)
    } catch (error) {
      this.options.onError(error)
      const open = this.giveUpLost(batch)
      if (open.length === 0) return
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
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
