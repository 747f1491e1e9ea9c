/** A call that waits for its turn. */
interface Waiting {
  start: () => void
  /** Reports that the call will not be made. */
  drop: () => void
}

/** After this many calls in a row without an answer, the provider gets few calls until it answers one. */
const silentCalls = 16
const fewPlaces = 4
/** The most calls that may wait for one agent, and for all agents before each may queue only one. */
const perAgent = 256
const together = 8_192

/** Limits the concurrent calls of one kind to one provider and lets the agents take turns. */
export class PayoutLane {
  /** How many calls at once; a connector may be given more or fewer at any time. */
  places: number
  /** The first entry is the agent whose turn is next. */
  private readonly queues = new Map<bigint, Waiting[]>()
  private waiting = 0
  private underWay = 0
  private silent = 0

  constructor(places: number) {
    this.places = places
  }

  /** Whether another call for this agent may be queued. */
  hasRoomFor(agentId: bigint): boolean {
    return this.waitingOf(agentId) < (this.waiting < together ? perAgent : 1)
  }

  waitingOf(agentId: bigint): number {
    return this.queues.get(agentId)?.length ?? 0
  }

  /** How many calls could begin now. */
  get free(): number {
    return Math.max(0, this.width - this.underWay - this.waiting)
  }

  /** Runs the work when its turn comes; resolves when it is done or has been dropped. */
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

  /** Records how a call to the provider ended. */
  ended(isAnswered: boolean): void {
    this.silent = isAnswered ? 0 : this.silent + 1
  }

  /** Drops all waiting calls. */
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
      // The agent's remaining calls go behind those of the other agents.
      this.queues.delete(agentId)
      if (queue.length > 0) this.queues.set(agentId, queue)
      if (!next) continue
      this.waiting--
      next.start()
    }
  }
}
