/** A call that waits for its place. */
interface Waiting {
  start: () => void
  /** Says that it will not be made. */
  drop: () => void
}

/** So many calls in a row without an answer, and the provider gets few until it answers one. */
const silentCalls = 16
const fewPlaces = 4
/** What may wait of one agent, and of all of them together before each may have but one. */
const perAgent = 256
const together = 8_192

/** Calls of one kind to one provider: so many at once, the agents in turn. */
export class PayoutLane {
  private readonly places: number
  /** The agent whose turn it is first. */
  private readonly queues = new Map<bigint, Waiting[]>()
  private waiting = 0
  private underWay = 0
  private silent = 0

  constructor(places: number) {
    this.places = places
  }

  /** Whether another call for this agent may wait here. */
  hasRoomFor(agentId: bigint): boolean {
    return this.waitingOf(agentId) < (this.waiting < together ? perAgent : 1)
  }

  waitingOf(agentId: bigint): number {
    return this.queues.get(agentId)?.length ?? 0
  }

  /** How many calls could begin at once. */
  get free(): number {
    return Math.max(0, this.width - this.underWay - this.waiting)
  }

  /** Does the work when it is its turn; resolves when it is done, or will not be. */
  run(agentId: bigint, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        this.underWay++
        work()
          .finally(() => {
            this.underWay--
            this.begin()
          })
          .then(resolve, reject)
      }
      const queue = this.queues.get(agentId)
      if (queue) queue.push({ start, drop: resolve })
      else this.queues.set(agentId, [{ start, drop: resolve }])
      this.waiting++
      this.begin()
    })
  }

  /** How a call to the provider ended. */
  ended(isAnswered: boolean): void {
    this.silent = isAnswered ? 0 : this.silent + 1
  }

  /** Drops all that waits. */
  clear(): void {
    for (const queue of this.queues.values()) for (const { drop } of queue) drop()
    this.queues.clear()
    this.waiting = 0
  }

  private get width(): number {
    return this.silent >= silentCalls ? Math.min(fewPlaces, this.places) : this.places
  }

  private begin(): void {
    while (this.underWay < this.width) {
      const [turn] = this.queues
      if (!turn) return
      const [agentId, queue] = turn
      const next = queue.shift()
      // What is left goes behind the other agents.
      this.queues.delete(agentId)
      if (queue.length > 0) this.queues.set(agentId, queue)
      if (!next) continue
      this.waiting--
      next.start()
    }
  }
}
