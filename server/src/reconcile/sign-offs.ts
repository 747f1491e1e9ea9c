import { createHash } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import type { Day } from '../statements/statement.ts'
import type { JudgedDay } from './judge-days.ts'

/** That a person has looked at a day of an account and put their name to it. */
export interface SignOff {
  account: string
  day: Day
  /** From 1; a day that changed afterwards is signed off again. */
  no: number
  by: string
  at: Date
  state: JudgedDay['state']
  shown: string
  movements: string
  /** Why it was signed off although it was not green. */
  reason: string | null
}

/** SHA-256 of everything that is shown of a day, and of its movements alone. */
export interface DayDigests {
  shown: string
  movements: string
}

/** The last sign-off of each day, from a day on. */
export async function readSignOffs(
  tx: Tx,
  account: string,
  since: Day | null,
): Promise<Map<Day, SignOff>> {
  const { rows } = await tx.query<SignOff>(
    `select distinct on (day) account, day, signoff_no as no, signed_by as by, signed_at as at, state,
       shown, movements, reason
     from bank_day_signoffs where account = $1 and ($2::date is null or day >= $2)
     order by day, signoff_no desc`,
    [account, since],
  )
  return new Map(rows.map((row) => [row.day, row]))
}

/** Signs a day off. Returns false if somebody else did so at the same time. */
export async function insertSignOff(tx: Tx, signOff: SignOff): Promise<boolean> {
  const { account, day, no, by, at, state, shown, movements, reason } = signOff
  const { rowCount } = await tx.query(
    `insert into bank_day_signoffs (account, day, signoff_no, signed_by, signed_at, state, shown,
       movements, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [account, day, no, by, at, state, shown, movements, reason],
  )
  return rowCount === 1
}

/**
 * The days with their sign-offs. A day whose movements are others than when it was signed off is a break, also
 * if none of them is left on it.
 */
export function withSignOffs<T extends JudgedDay>(
  days: readonly T[],
  movementsOf: ReadonlyMap<Day, readonly string[]>,
  signOffs: ReadonlyMap<Day, SignOff>,
): (JudgedDay & { signOff: SignOff | null; digests: DayDigests })[] {
  const judged = new Set(days.map(({ day }) => day))
  const emptied = [...signOffs.keys()].filter((day) => !judged.has(day)).map(emptyDay)
  return [...days, ...emptied]
    .sort((a, b) => (a.day < b.day ? -1 : 1))
    .map((each) => {
      const signOff = signOffs.get(each.day) ?? null
      const movements = digestOf([...(movementsOf.get(each.day) ?? [])].sort())
      const isOther = signOff !== null && signOff.movements !== movements
      const day: JudgedDay = isOther
        ? { ...each, state: 'red', breaks: [...each.breaks, changedSince(signOff)] }
        : each
      return { ...day, signOff, digests: { shown: shownDigest(day, movements), movements } }
    })
}

function emptyDay(day: Day): JudgedDay {
  return {
    day,
    state: 'amber',
    opening: null,
    closing: null,
    breaks: [],
    movements: 0,
    amountMinor: 0n,
  }
}

function changedSince({ by, at }: SignOff): JudgedDay['breaks'][number] {
  return {
    name: 'signed_day_changed',
    amountMinor: null,
    movementId: null,
    detail: `${by} signed the day off on ${at.toISOString().slice(0, 10)}, and its movements have changed since. Look at what came or went, and sign it off again.`,
  }
}

function shownDigest({ state, opening, closing, breaks }: JudgedDay, movements: string): string {
  return digestOf([
    state,
    String(opening),
    String(closing),
    ...breaks.map(({ name, amountMinor, movementId }) => `${name} ${amountMinor} ${movementId}`),
    movements,
  ])
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
