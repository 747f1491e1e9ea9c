import { type BankAccount, findBankAccount } from '../../bank-accounts/bank-account.ts'
import type { Pool } from '../../db/pool.ts'
import { Problem } from '../../lib/problem.ts'
import { invalidRequest } from '../check.ts'

/** The bank account of a name. */
export async function bankAccountNamed(pool: Pool, name: string): Promise<BankAccount> {
  const account = await findBankAccount(pool, name)
  if (!account) throw new Problem('not_found', 'There is no such bank account.')
  return account
}

/** Refuses what cannot be the id of a file or a movement. */
export function checkId(id: string): void {
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Problem('not_found', 'There is nothing of this id.')
}

/** Refuses days that do not exist, such as the 30th of February. */
export function checkDays(days: Record<string, string | undefined>): void {
  const errors = Object.entries(days)
    .filter(([, day]) => day !== undefined && !isDay(day))
    .map(([field]) => ({ field, message: 'must be a day such as 2026-11-16' }))
  if (errors.length > 0) throw invalidRequest(errors)
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const at = new Date(text)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}
