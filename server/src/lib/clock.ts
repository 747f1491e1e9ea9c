/** Where the time comes from; tests pass one they can move. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()
