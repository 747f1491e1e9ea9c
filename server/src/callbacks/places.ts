/** Limits on the callbacks under way. */
export interface PlacesOptions {
  /** At most this many for one agent, over all processes. */
  widest: number
  /** At most this many in this process. */
  maxInFlight: number
}

/**
 * Counts the callbacks under way in this process. A claim reserves places, each claimed callback takes one,
 * and the place is free again once the receiver accepts. After a failure it is freed only once the failure is
 * recorded, so that the lane knows of a dead address before more is sent to it.
 */
export class Places {
  private readonly options: PlacesOptions
  private taken = 0
  private readonly takenOf = new Map<bigint, number>()
  private reserved = 0
  /** By agent: an agent has at most one claim under way. */
  private readonly reservedOf = new Map<bigint, number>()
  /** Accepted callbacks whose places are free but whose results are not recorded yet. */
  private unrecorded = 0

  constructor(options: PlacesOptions) {
    this.options = options
  }

  get underWay(): number {
    return this.taken
  }

  underWayOf(agentId: bigint): number {
    return this.takenOf.get(agentId) ?? 0
  }

  /** Nothing can be reserved. Unrecorded results count too, so that they do not pile up. */
  get isFull(): boolean {
    return this.taken + this.reserved + this.unrecorded >= this.options.maxInFlight
  }

  isReservedFor(agentId: bigint): boolean {
    return this.reservedOf.has(agentId)
  }

  /**
   * Reserves places for a claim and returns how many. Any agent may use half of all places; of the other
   * half, an agent gets only a share of what is left, so that even dozens of agents that do not answer leave
   * room for another.
   */
  reserve(agentId: bigint): number {
    if (this.isFull || this.isReservedFor(agentId)) return 0
    const { maxInFlight, widest } = this.options
    const own = this.underWayOf(agentId)
    const free = maxInFlight - this.taken - this.reserved
    const share = Math.max(Math.floor(free / 16), free - Math.ceil(maxInFlight / 2))
    const room = Math.min(widest - own, Math.max(own === 0 ? 1 : 0, share - own))
    if (room <= 0) return 0
    this.reservedOf.set(agentId, room)
    this.reserved += room
    return room
  }

  /** Ends a claim that returned this many callbacks, and frees the other places it had reserved. */
  take(agentId: bigint, callbacks: number): void {
    this.reserved -= this.reservedOf.get(agentId) ?? 0
    this.reservedOf.delete(agentId)
    this.add(agentId, callbacks)
  }

  /** Frees the place of an accepted callback, although its result is not recorded yet. */
  accepted(agentId: bigint): void {
    this.add(agentId, -1)
    this.unrecorded++
  }

  /** The result of one of the agent's callbacks is recorded, or never will be. */
  recorded(agentId: bigint, wasAccepted: boolean): void {
    if (wasAccepted) this.unrecorded--
    else this.add(agentId, -1)
  }

  private add(agentId: bigint, callbacks: number): void {
    const own = this.underWayOf(agentId) + callbacks
    if (own === 0) this.takenOf.delete(agentId)
    else this.takenOf.set(agentId, own)
    this.taken += callbacks
  }
}
