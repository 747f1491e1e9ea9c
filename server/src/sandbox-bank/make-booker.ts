import type { Columns } from '../db/columns.ts'
import type { Pool } from '../db/pool.ts'
import { gather } from '../lib/gather.ts'

/** An order to the bank, with the times of its story's acts. */
export interface Booking<Order> {
  order: Order
  acts: readonly Date[]
}

/** It was booked now; it was booked before; or its reference is that of another order. */
export type Booked = 'new' | 'same' | 'other'

/**
 * Books orders, each once with the acts of its story. Those that come in together are written by one statement. `insert`
 * names the table, and `contents` are the columns in which a repeat must be the same.
 */
export function makeBooker<Order extends { reference: string }>(
  pool: Pool,
  party: 'deposit' | 'payout',
  insert: string,
  columns: Columns<Order>,
  contents: Pick<Columns<Order>, 'names' | 'rows' | 'values'>,
): (booking: Booking<Order>) => Promise<Booked> {
  const count = columns.names.split(', ').length
  const book = `with booked as (
      ${insert} (${columns.names}) select * from ${columns.unnest}
      on conflict do nothing returning reference
    ), planned as (
      insert into sandbox_bank.acts (party, reference, step, due_at)
      select '${party}', act.reference, act.step, act.due_at
      from unnest($${count + 1}::text[], $${count + 2}::int[], $${count + 3}::timestamptz[])
        act (reference, step, due_at) join booked using (reference)
    )
    select reference from booked`
  const rowOf = (alias: string) =>
    `(${contents.names.split(', ').map((name) => `${alias}.${name}`)})`
  const same = `select b.reference from sandbox_bank.${party}s b join ${contents.rows('g')} using (reference)
    where ${rowOf('b')} is not distinct from ${rowOf('g')}`

  async function bookAll(bookings: readonly Booking<Order>[]): Promise<Booked[]> {
    // In the same sequence everywhere, so that two processes with the same orders do not wait for each other.
    const firsts = new Map<string, Booking<Order>>()
    for (const each of bookings) {
      if (!firsts.has(each.order.reference)) firsts.set(each.order.reference, each)
    }
    const sorted = [...firsts.values()].sort((a, b) =>
      a.order.reference < b.order.reference ? -1 : 1,
    )
    const acts = sorted.flatMap(({ order: { reference }, acts }) =>
      acts.map((dueAt, step) => ({ reference, step, dueAt })),
    )
    const { rows } = await pool.query<{ reference: string }>({
      name: `book-${party}s`,
      text: book,
      values: [
        ...columns.values(sorted.map(({ order }) => order)),
        acts.map(({ reference }) => reference),
        acts.map(({ step }) => step),
        acts.map(({ dueAt }) => dueAt.toISOString()),
      ],
    })
    const booked = new Set(rows.map(({ reference }) => reference))
    const isNew = (each: Booking<Order>) =>
      booked.has(each.order.reference) && firsts.get(each.order.reference) === each
    const repeats = bookings.filter((each) => !isNew(each))
    const known = new Set<Booking<Order>>()
    for (const each of repeats) {
      const found = await pool.query(same, contents.values([each.order]))
      if (found.rowCount === 1) known.add(each)
    }
    return bookings.map((each) => (isNew(each) ? 'new' : known.has(each) ? 'same' : 'other'))
  }

  const gathered = gather(async (bookings: Booking<Order>[]): Promise<(Booked | Error)[]> => {
    try {
      return await bookAll(bookings)
    } catch (error) {
      if (bookings.length === 1) throw error
      // One that cannot be booked does not keep the others from it.
      return Promise.all(
        bookings.map((each) => bookAll([each]).then(([one]) => one ?? new Error(), asError)),
      )
    }
  })
  return async (booking) => {
    const booked = await gathered(booking)
    if (booked instanceof Error) throw booked
    return booked
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
