/** A request that has not been answered by then holds no place any more. */
const youngMs = 10

/**
 * Lets requests begin, a few at once: a receiver answers sixty sooner than three hundred, and each for
 * less work here. Only for a moment, so that who does not answer keeps nobody waiting.
 */
export class Pace {
  private readonly most: number
  private readonly waiting: (() => void)[] = []
  private begun = 0
  private moment = 0
  private timer: NodeJS.Timeout | undefined

  constructor(most: number) {
    this.most = most
  }

  /** Waits for a place and has the work done in it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.begun >= this.most) await this.place()
    else this.begun++
    const { moment } = this
    try {
      return await work()
    } finally {
      if (moment === this.moment) this.leave()
    }
  }

  private place(): Promise<void> {
    this.timer ??= setTimeout(() => this.nextMoment(), youngMs)
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  private leave(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.begun--
  }

  private nextMoment(): void {
    this.moment++
    const next = this.waiting.splice(0, this.most)
    this.begun = next.length
    for (const begin of next) begin()
    this.timer = undefined
    if (this.waiting.length > 0) this.timer = setTimeout(() => this.nextMoment(), youngMs)
  }
}
