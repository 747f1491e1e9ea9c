/** A number that is not counted further than is worth it, and the oldest of what was counted. */
export interface Aged {
  count: number
  oldestAt: Date | null
}
