import { Problem } from './problem.ts'

/**
 * Limits how many jobs per key run at once. A limited number of further jobs wait; the rest are refused.
 */
export class Turns {
  private readonly atOnce: number
  private readonly waiting: number
  private readonly keys = new Map<string, { running: number; waiting: (() => void)[] }>()

  constructor(limits: { atOnce: number; waiting: number }) {
    this.atOnce = limits.atOnce
    this.waiting = limits.waiting
  }

  /** Runs the job when its turn comes. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.keys.get(key) ?? { running: 0, waiting: [] }
    this.keys.set(key, line)
    if (line.running < this.atOnce) line.running++
    else if (line.waiting.length < this.waiting) {
      await new Promise<void>((resolve) => line.waiting.push(resolve))
    } else {
      throw new Problem('overloaded', 'Too many of these are under way; ask for them in turn.', {
        retryAfterS: 1,
      })
    }
    try {
      return await work()
    } finally {
      // The next waiting job takes over the place, if there is one.
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.running === 0) this.keys.delete(key)
    }
  }
}
