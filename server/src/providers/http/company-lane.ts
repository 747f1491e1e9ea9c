import { setTimeout as pause } from 'node:timers/promises'

/** The company was not called: nothing was sent. */
export class NotCalled extends Error {}

/** After so many calls in a row without a usable answer, no call is made for a while. */
const failuresToPause = 5
const firstPauseMs = 1_000
const longestPauseMs = 60_000
/** A company that asks for more than this is tried all the same: payouts and payers wait. */
const longestRestMs = 600_000

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

/** How far ahead calls that are no hand-overs may take their turn, so that a hand-over gets one in time. */
const furthestTurnMs = 1_000

/**
 * Limits the calls to a company, at once and in a second. A company that fails is not called for a while; then one
 * call tries whether it answers again. A quarter of the places is kept for hand-overs of payouts, which also go first.
 */
export class CompanyLane {
  limits: LaneLimits
  private underWay = 0
  private othersUnderWay = 0
  private readonly waiting: (() => void)[] = []
  private readonly handOvers: (() => void)[] = []
  /** When the next call may begin, by the steady clock. */
  private nextAtMs = 0
  private failed = 0
  private pausedUntilMs = 0
  private isTrying = false
  private restsUntilMs = 0
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
    return this.hasRoomIn(this.waiting)
  }

  /** Whether a payout could be handed over soon. */
  get isReadyForHandOver(): boolean {
    return this.hasRoomIn(this.handOvers)
  }

  private hasRoomIn(queue: readonly unknown[]): boolean {
    return (
      this.isOpen &&
      queue.length < this.limits.callsAtOnce &&
      this.nextAtMs - this.nowMs() < furthestTurnMs
    )
  }

  get figures(): LaneFigures {
    return {
      calls: this.calls,
      failures: this.failures,
      notCalled: this.notCalled,
      underWay: this.underWay,
      state: this.isTrying
        ? 'trying'
        : this.failed >= failuresToPause || this.isResting
          ? 'paused'
          : 'open',
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
    isHandOver = false,
  ): Promise<T> {
    await this.enter(signal, isHandOver)
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
      this.leave(isHandOver)
    }
  }

  /** The company has asked not to be called for a while. */
  rest(ms: number): void {
    this.restsUntilMs = Math.max(this.restsUntilMs, this.nowMs() + Math.min(ms, longestRestMs))
  }

  private get isResting(): boolean {
    return this.nowMs() < this.restsUntilMs
  }

  private get isOpen(): boolean {
    if (this.isResting) return false
    if (this.failed < failuresToPause) return true
    return !this.isTrying && this.nowMs() >= this.pausedUntilMs
  }

  private async enter(signal: AbortSignal, isHandOver: boolean): Promise<void> {
    this.refuseIfClosed(signal)
    while (!this.hasPlace(isHandOver)) await this.aPlace(signal, isHandOver)
    this.refuseIfClosed(signal)
    // Taken before the pause, so that nobody else takes it.
    this.underWay++
    if (!isHandOver) this.othersUnderWay++
    const isTry = this.failed >= failuresToPause
    // The try of a company that fails: others wait for what comes of it.
    if (isTry) this.isTrying = true
    if ((await this.aTurn(signal, isHandOver)) && !signal.aborted) return
    if (isTry) this.isTrying = false
    this.leave(isHandOver)
    this.notCalled++
    throw new NotCalled(tooMany)
  }

  private hasPlace(isHandOver: boolean): boolean {
    const { callsAtOnce } = this.limits
    if (this.underWay >= callsAtOnce) return false
    const reserved = callsAtOnce > 1 ? Math.ceil(callsAtOnce / 4) : 0
    return isHandOver || this.othersUnderWay < callsAtOnce - reserved
  }

  private leave(isHandOver: boolean): void {
    this.underWay--
    if (!isHandOver) this.othersUnderWay--
    if (this.handOvers.length > 0) this.handOvers.shift()?.()
    else if (this.hasPlace(false)) this.waiting.shift()?.()
  }

  private refuseIfClosed(signal: AbortSignal): void {
    if (this.isOpen && !signal.aborted) return
    this.notCalled++
    throw new NotCalled(
      signal.aborted ? tooMany : `is not called for a while: it ${this.lastFault ?? 'fails'}`,
    )
  }

  /** Waits until another call has ended. */
  private aPlace(signal: AbortSignal, isHandOver: boolean): Promise<void> {
    const queue = isHandOver ? this.handOvers : this.waiting
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        queue.splice(queue.indexOf(begin), 1)
        this.notCalled++
        reject(new NotCalled(tooMany))
      }
      queue.push(begin)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Spaces the calls out. Returns false if the turn would come too late. */
  private async aTurn(signal: AbortSignal, isHandOver: boolean): Promise<boolean> {
    const now = this.nowMs()
    const at = Math.max(now, this.nextAtMs)
    if (!isHandOver && at - now > furthestTurnMs) return false
    this.nextAtMs = at + 1_000 / this.limits.callsPerSecond
    if (at - now >= 1) await pause(at - now, undefined, { signal }).catch(() => {})
    return true
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
