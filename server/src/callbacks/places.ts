/** How many callbacks may be under way. */
export interface PlacesOptions {
  /** Of one agent at once, at most, over all processes. */
  widest: number
  /** In this process at once, at most. */
  maxInFlight: number
}

/**
 * The places for callbacks under way in this process. A place is reserved while a claim may come to need it,
 * taken by each callback that was claimed, and free again once the receiver has accepted; after a failure only once
 * that is recorded, so that nothing more is spent on an address that is down before its lane knows of it.
 */
export class Places {
  private readonly options: PlacesOptions
  private taken = 0
  private readonly takenOf = new Map<bigint, number>()
  private reserved = 0
  /** By agent: none has two claims under way. */
  private readonly reservedOf = new Map<bigint, number>()
  /** Accepted, with their places given back, and not recorded yet. */
  private unrecorded = 0

  constructor(options: PlacesOptions) {
    this.options = options
  }

  /** How many callbacks are under way. */
  get underWay(): number {
    return this.taken
  }

  underWayOf(agentId: bigint): number {
    return this.takenOf.get(agentId) ?? 0
  }

  /** Nothing can be reserved: what is not recorded yet counts too, so that results do not pile up. */
  get isFull(): boolean {
    return this.taken + this.reserved + this.unrecorded >= this.options.maxInFlight
  }

  isReservedFor(agentId: bigint): boolean {
    return this.reservedOf.has(agentId)
  }

  /**
   * Reserves places for a claim, and returns how many. Half of all places are for any agent; of the others none
   * gets more than a share of what is left, so that dozens of agents that do not answer leave places for one more.
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

  /** The claim that places were reserved for has ended with so many callbacks: the other places are free. */
  take(agentId: bigint, callbacks: number): void {
    this.reserved -= this.reservedOf.get(agentId) ?? 0
    this.reservedOf.delete(agentId)
    this.add(agentId, callbacks)
  }

  /** One of the agent's callbacks was accepted: its place is free, though that is not recorded yet. */
  accepted(agentId: bigint): void {
    this.add(agentId, -1)
    this.unrecorded++
  }

  /** What became of one of the agent's callbacks is on record, or will never be. */
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
