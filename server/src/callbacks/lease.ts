import type { Clock } from '../lib/clock.ts'

/** How long a claim holds, by the database's time. Whoever does not report by then has lost it. */
export const leaseS = 60

/**
 * What is left of a claim, as the process that holds it can tell. It counts from before the claim was
 * asked for, by whichever of two clocks says that more time has passed: one of them may be set, the other
 * stands still while the machine sleeps.
 */
export class Lease {
  private readonly now: Clock
  private readonly askedAt: number
  private readonly askedAtTick = performance.now()

  constructor(now: Clock) {
    this.now = now
    this.askedAt = now().getTime()
  }

  leftMs(): number {
    const passed = this.now().getTime() - this.askedAt
    return leaseS * 1000 - Math.max(passed, performance.now() - this.askedAtTick)
  }
}
