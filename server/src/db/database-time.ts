import { type Clock, systemClock } from '../lib/clock.ts'

/**
 * The time to pass to a statement whose times several processes compare, such as the end of a lease. It
 * is null in production: the database then uses its own clock, which all processes share. Only a clock
 * that a test moves is passed.
 */
export function timeToPass(clock: Clock): Date | null {
  return clock === systemClock ? null : clock()
}

/**
 * SQL for the time passed as this parameter or, if it is null, the database's time. A statement that
 * changes rows must put it in a separate `with`, because Citus does not allow it in `set`, `where` or
 * `returning`.
 */
export function databaseTime(parameter: `$${number}`): string {
  return `coalesce(${parameter}::timestamptz, now())`
}
