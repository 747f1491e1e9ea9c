/** The source of the current time; tests pass a clock that they can move. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()
