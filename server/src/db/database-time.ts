import { type Clock, systemClock } from '../lib/clock.ts'

/**
 * The time to pass to a statement whose times several processes compare, such as the end of a lease:
 * none, so that the database takes its own, which is the same for all of them. A clock that a test moves
 * is passed as it is.
 */
export function timeToPass(clock: Clock): Date | null {
  return clock === systemClock ? null : clock()
}

/**
 * In a statement: the time that was passed as this parameter, or else the database's own. Where rows are
 * changed it stands in a `with` of its own, for Citus allows it neither in `set` and `where` nor in `returning`.
 */
export function databaseTime(parameter: `$${number}`): string {
  return `coalesce(${parameter}::timestamptz, now())`
}
