import type { Pool } from '../db/pool.ts'

/** How an account is doing. */
export interface AccountFigures {
  /** Deposits whose payment is awaited. */
  expected: number
  /** When the bank last told something new, or a file came. */
  lastReportAt: Date | null
  /** Movements that wait for a second person, and for an explanation. */
  unconfirmed: number
  unexplained: number
}

export async function readAccountFigures(
  pool: Pool,
  names: readonly string[],
): Promise<Map<string, AccountFigures>> {
  const { rows } = await pool.query<AccountFigures & { name: string }>(
    `select k.name,
       (select count(*)::int from expected_deposits e
        where e.account = k.name and e.state <> 'released') as expected,
       greatest(
         (select m.reported_at from bank_movements m
          where m.account = k.name order by m.movement_id desc limit 1),
         (select f.received_at from bank_files f
          where f.account = k.name order by f.received_at desc limit 1)
       ) as "lastReportAt",
       (select count(*)::int from bank_movements m
        where m.account = k.name and m.state = 'unconfirmed') as unconfirmed,
       (select count(*)::int from bank_movements m
        where m.account = k.name and m.state = 'unexplained') as unexplained
     from unnest($1::text[]) k(name)`,
    [names],
  )
  return new Map(rows.map(({ name, ...figures }) => [name, figures]))
}
