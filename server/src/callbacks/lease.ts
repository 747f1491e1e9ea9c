import type { Clock } from '../lib/clock.ts'

/** How long a claim holds, by the database's clock. A process that has not reported by then loses it. */
export const leaseS = 60

/**
 * The time left on a claim, as seen by the process that holds it. It counts from before the claim was
 * requested, and by whichever of two clocks shows more time passed: the wall clock may be set back, and the
 * steady clock may stop while the machine sleeps.
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
