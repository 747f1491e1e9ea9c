import { setTimeout as pause } from 'node:timers/promises'

/** The company was not called: nothing was sent. */
export class NotCalled extends Error {}

/** After so many calls in a row without a usable answer, no call is made for a while. */
const failuresToPause = 5
const firstPauseMs = 1_000
const longestPauseMs = 60_000

const tooMany = 'was not called: too many calls were before this one'

/** How a connector has done, in this process. */
export interface LaneFigures {
  calls: number
  failures: number
  /** Calls that were not made, because the company fails or too many were under way. */
  notCalled: number
  underWay: number
  state: 'open' | 'paused' | 'trying'
  lastFault: string | null
  lastFaultAt: Date | null
}

export interface LaneLimits {
  callsAtOnce: number
  callsPerSecond: number
}

/**
 * Limits the calls to a company, at once and in a second. A company that fails is not called for a while; then one
 * call tries whether it answers again.
 */
export class CompanyLane {
  limits: LaneLimits
  private underWay = 0
  private readonly waiting: (() => void)[] = []
  /** When the next call may begin, by the steady clock. */
  private nextAtMs = 0
  private failed = 0
  private pausedUntilMs = 0
  private isTrying = false
  private calls = 0
  private failures = 0
  private notCalled = 0
  private lastFault: string | null = null
  private lastFaultAt: Date | null = null
  private readonly nowMs: () => number

  constructor(limits: LaneLimits, nowMs: () => number = () => performance.now()) {
    this.limits = limits
    this.nowMs = nowMs
  }

  /** Whether a call could begin soon. */
  get isReady(): boolean {
    return (
      this.isOpen &&
      this.waiting.length < this.limits.callsAtOnce &&
      this.nextAtMs - this.nowMs() < 1_000
    )
  }

  get figures(): LaneFigures {
    return {
      calls: this.calls,
      failures: this.failures,
      notCalled: this.notCalled,
      underWay: this.underWay,
      state: this.isTrying ? 'trying' : this.failed >= failuresToPause ? 'paused' : 'open',
      lastFault: this.lastFault,
      lastFaultAt: this.lastFaultAt,
    }
  }

  /**
   * Makes a call when there is a place for it. Throws NotCalled if it was not made. `isWell` says what a result tells of
   * the company, undefined if nothing; an error counts as a failure.
   */
  async run<T>(
    signal: AbortSignal,
    work: () => Promise<T>,
    isWell: (result: T) => boolean | undefined,
  ): Promise<T> {
    await this.enter(signal)
    this.calls++
    try {
      const result = await work()
      const well = isWell(result)
      if (well === undefined) this.isTrying = false
      else this.ended(well ? undefined : 'answers that it fails')
      return result
    } catch (error) {
      this.ended(error instanceof Error ? error.message : String(error))
      throw error
    } finally {
      this.underWay--
      this.waiting.shift()?.()
    }
  }

  private get isOpen(): boolean {
    if (this.failed < failuresToPause) return true
    return !this.isTrying && this.nowMs() >= this.pausedUntilMs
  }

  private async enter(signal: AbortSignal): Promise<void> {
    this.refuseIfClosed(signal)
    while (this.underWay >= this.limits.callsAtOnce) await this.aPlace(signal)
    this.refuseIfClosed(signal)
    // Taken before the pause, so that nobody else takes it.
    this.underWay++
    const isTry = this.failed >= failuresToPause
    // The try of a company that fails: others wait for what comes of it.
    if (isTry) this.isTrying = true
    await this.aTurn(signal)
    if (!signal.aborted) return
    this.underWay--
    if (isTry) this.isTrying = false
    this.waiting.shift()?.()
    this.notCalled++
    throw new NotCalled(tooMany)
  }

  private refuseIfClosed(signal: AbortSignal): void {
    if (this.isOpen && !signal.aborted) return
    this.notCalled++
    throw new NotCalled(
      signal.aborted ? tooMany : `is not called for a while: it ${this.lastFault ?? 'fails'}`,
    )
  }

  /** Waits until another call has ended. */
  private aPlace(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(begin), 1)
        this.notCalled++
        reject(new NotCalled(tooMany))
      }
      this.waiting.push(begin)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Spaces the calls out. */
  private async aTurn(signal: AbortSignal): Promise<void> {
    const now = this.nowMs()
    const at = Math.max(now, this.nextAtMs)
    this.nextAtMs = at + 1_000 / this.limits.callsPerSecond
    if (at - now >= 1) await pause(at - now, undefined, { signal }).catch(() => {})
  }

  private ended(fault: string | undefined): void {
    if (fault === undefined) {
      this.failed = 0
      this.isTrying = false
      return
    }
    this.failures++
    this.failed++
    this.isTrying = false
    this.lastFault = fault
    this.lastFaultAt = new Date()
    if (this.failed < failuresToPause) return
    const times = Math.min(this.failed - failuresToPause, 10)
    this.pausedUntilMs = this.nowMs() + Math.min(firstPauseMs * 2 ** times, longestPauseMs)
  }
}
