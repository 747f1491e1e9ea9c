import { randomUUID } from 'node:crypto'

/** Cached because many ids share a millisecond, and formatting it as hex is the costliest step. */
let lastMs = 0
let lastTime = '000000000000'

/** A new order id: a version 7 UUID as 32 hex digits, so that ids sort by time of creation. */
export function newOrderId(at: Date): string {
  // randomUUID fetches its randomness in bulk; randomBytes does not.
  const random = randomUUID()
  const ms = at.getTime()
  if (ms !== lastMs) {
    lastMs = ms
    lastTime = ms.toString(16).padStart(12, '0')
  }
  return `${lastTime}7${random.slice(15, 18)}${random.slice(19, 23)}${random.slice(24)}`
}

/** The smallest order id of a moment. It limits a list by time without an index on the time. */
export function firstOrderIdAt(at: Date): string {
  return Math.max(0, at.getTime()).toString(16).padStart(12, '0').padEnd(32, '0')
}

/** The transaction id that agents see. It contains the agent's number, so that a lookup knows the agent. */
export function txnId(agentId: bigint, orderId: string): string {
  return `${agentId}-${orderId}`
}

export function parseTxnId(text: string): { agentId: bigint; orderId: string } | undefined {
  const match = /^([1-9]\d{0,17})-([0-9a-f]{32})$/.exec(text)
  if (!match?.[1] || !match[2]) return undefined
  return { agentId: BigInt(match[1]), orderId: match[2] }
}

/** PostgreSQL writes a uuid with dashes; we use the bare digits everywhere else. */
export function orderIdFromUuid(uuid: string): string {
  return uuid.replaceAll('-', '')
}
