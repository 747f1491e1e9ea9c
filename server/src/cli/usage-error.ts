/** An error that the user can correct; shown without a stack trace. */
export class UsageError extends Error {}
