/** Something the person at the keyboard can put right; told without a stack. */
export class UsageError extends Error {}
