import { timingSafeEqual } from 'node:crypto'
import { parseTxnId } from '../lib/ids.ts'
import { mark, type SecretKeys } from '../lib/secret-box.ts'
import type { Desk } from '../teller/desk.ts'

/**
 * The unguessable part of a payment link. It is derived from the order's id rather than stored, which saves a
 * column and an index on the busiest table, and it identifies the agent.
 */
export function pageToken(keys: SecretKeys, agentId: bigint, orderId: string): string {
  const name = `${agentId}-${orderId}`
  return `${name}-${markOf(keys[0], name)}`
}

/** The address of an order's payment page. */
export function pageLink(
  { publicUrl, secretKeys }: Pick<Desk, 'publicUrl' | 'secretKeys'>,
  { agentId, orderId }: { agentId: bigint; orderId: string },
): string {
  return `${publicUrl()}/pay/${pageToken(secretKeys, agentId, orderId)}`
}

/**
 * The order that a token stands for, if it was made with any of the keys. The comparison takes constant time,
 * and only the exact text that was issued is accepted.
 */
export function parsePageToken(
  keys: SecretKeys,
  token: string,
): { agentId: bigint; orderId: string } | undefined {
  const [, name = '', given = ''] = /^(\d{1,18}-[0-9a-f]{32})-([\w-]{22})$/.exec(token) ?? []
  const matched = keys.filter((key) => isSame(markOf(key, name), given.padEnd(22)))
  return matched.length > 0 ? parseTxnId(name) : undefined
}

function markOf(key: Buffer, name: string): string {
  return mark(key, 'payment page', name).toString('base64url')
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
