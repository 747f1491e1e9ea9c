import { reseal, type SecretKeys } from '../lib/secret-box.ts'

export interface Resealed {
  /** How many are sealed with the current key now. */
  moved: number
  /** How many were already. */
  current: number
  /** How many none of the keys opens. */
  shut: number
}

/**
 * Seals rows again with the current key. `write` must change the row only if it still holds what was read, so that a
 * secret that was replaced meanwhile stays; it returns how many rows it changed.
 */
export async function resealRows<T extends { owner: string; sealed: Buffer }>(
  secretKeys: SecretKeys,
  rows: readonly T[],
  write: (row: T, sealed: Buffer) => Promise<number | null>,
): Promise<Resealed> {
  const done: Resealed = { moved: 0, current: 0, shut: 0 }
  for (const row of rows) {
    const sealed = reseal(secretKeys, row.owner, row.sealed)
    if (typeof sealed === 'string') done[sealed] += 1
    else done.moved += (await write(row, sealed)) ?? 0
  }
  return done
}
