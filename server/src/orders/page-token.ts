import { mark, type SecretKeys } from '../lib/secret-box.ts'

/**
 * The unguessable part of a payment link. It is derived from the order's id rather than stored: one
 * column and one index fewer on the busiest table, and it names its agent.
 */
export function pageToken(keys: SecretKeys, agentId: bigint, orderId: string): string {
  const name = `${agentId}-${orderId}`
  return `${name}-${mark(keys[0], 'payment page', name).toString('base64url')}`
}
