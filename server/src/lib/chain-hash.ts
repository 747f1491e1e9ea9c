import { createHash } from 'node:crypto'

/** What the first row of a chain has before it. */
export const noHash = '0'.repeat(64)

/** A column's name and its value as text; null is left out. */
export type HashedField = readonly [name: string, value: string | null]

/**
 * The SHA-256, in hex, of the hash before and the row's fields, which must be in the order of their names. Each field
 * is a line `name=bytes:value`; the length keeps two different rows from giving the same text. Fields without a value
 * are left out, so a column that is added later does not change the hashes of the rows from before.
 */
export function chainHash(
  before: string,
  kind: 'journal' | 'audit',
  fields: readonly HashedField[],
): string {
  return createHash('sha256')
    .update(before + hashedText(kind, fields))
    .digest('hex')
}

/** What is hashed after the hash before. */
export function hashedText(kind: 'journal' | 'audit', fields: readonly HashedField[]): string {
  let text = `\n${kind}\n`
  for (const [name, value] of fields) {
    if (value !== null) text += `${name}=${Buffer.byteLength(value)}:${value}\n`
  }
  return text
}
