import { Problem } from './problem.ts'

/** Lets so many pieces of work of one key run at once; some more wait for their turn, the rest is refused. */
export class Turns {
  private readonly atOnce: number
  private readonly waiting: number
  private readonly keys = new Map<string, { running: number; waiting: (() => void)[] }>()

  constructor(limits: { atOnce: number; waiting: number }) {
    this.atOnce = limits.atOnce
    this.waiting = limits.waiting
  }

  /** Runs the work when its turn has come. */
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
      // The place goes to whoever waits, or is free.
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.running === 0) this.keys.delete(key)
    }
  }
}
