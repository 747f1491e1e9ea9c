import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import type { Pool } from '../db/pool.ts'
import { type PlacesUsed, readPlacesUsed } from './expected-deposits.ts'

/** An account this full refuses deposits soon. */
const fullShare = 0.7

/** The accounts that have few amounts left which tell deposits apart. */
export async function readFullAccounts(pool: Pool): Promise<PlacesUsed[]> {
  return (await readPlacesUsed(pool)).filter(({ used, places }) => used >= places * fullShare)
}

export async function fullAccounts(pool: Pool): Promise<Trouble[]> {
  return (await readFullAccounts(pool)).map(({ account, used, places }) => ({
    subject: `bank account ${account}`,
    topic: `bank account ${account}`,
    words: `${account} expects ${used} of at most ${places} deposits of one amount at the same time. When none is left, the next account gets the order, or the answer is 503. Add an account, raise --surplus-steps, or lower --hold.`,
    to: { roles: heardBy.bank_account_full },
  }))
}
