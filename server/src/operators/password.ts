import { hash, verify } from '@node-rs/argon2'
import { Turns } from '../lib/turns.ts'

/**
 * Argon2id, the library's default, with the parameters that OWASP recommends: 19 MiB, two passes, one lane.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Hashing takes all of a core for a while, by design. Whoever floods the sign-in page waits in line, or is sent away,
 * and the service has its other cores.
 */
const turns = new Turns({ atOnce: 2, waiting: 32 })

export const shortestPassword = 12
export const longestPassword = 256

/** Describes what is wrong with a new password. Length is what makes it strong. */
export function passwordFault(password: string, email: string): string | undefined {
  const characters = [...password].length
  if (characters < shortestPassword) {
    return `must have at least ${shortestPassword} characters; some words that only you put together are good`
  }
  if (characters > longestPassword) return `must have at most ${longestPassword} characters`
  if (password.toLowerCase().includes(email)) return 'must not hold the email address'
  return undefined
}

export function hashPassword(password: string): Promise<string> {
  return turns.take('hash', () => hash(password.normalize('NFKC'), cost))
}

let nobodys: Promise<string> | undefined

/** Checks a password against its hash. Takes equally long if there is no hash. */
export async function isPassword(hashed: string | null, password: string): Promise<boolean> {
  nobodys ??= hashPassword('nobody has this password')
  const kept = hashed ?? (await nobodys)
  const matches = await turns.take('hash', () => verify(kept, password.normalize('NFKC')))
  return hashed !== null && matches
}
