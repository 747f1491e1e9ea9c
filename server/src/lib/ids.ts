import { randomUUID } from 'node:crypto'

/** Many ids are of the same moment, and writing one in hex costs more than the rest. */
let lastMs = 0
let lastTime = '000000000000'

/** An order's own id: a UUID of version 7 as 32 hex digits, so that ids sort by time of creation. */
export function newOrderId(at: Date): string {
  // randomUUID draws its randomness in bulk, which randomBytes does not.
  const random = randomUUID()
  const ms = at.getTime()
  if (ms !== lastMs) {
    lastMs = ms
    lastTime = ms.toString(16).padStart(12, '0')
  }
  return `${lastTime}7${random.slice(15, 18)}${random.slice(19, 23)}${random.slice(24)}`
}

/** The smallest order id of a moment: bounds a list by time without an index on the time. */
export function firstOrderIdAt(at: Date): string {
  return Math.max(0, at.getTime()).toString(16).padStart(12, '0').padEnd(32, '0')
}

/** What agents see as the transaction id. It carries the agent's number, so that a read can name it. */
export function txnId(agentId: bigint, orderId: string): string {
  return `${agentId}-${orderId}`
}

export function parseTxnId(text: string): { agentId: bigint; orderId: string } | undefined {
  const match = /^([1-9]\d{0,17})-([0-9a-f]{32})$/.exec(text)
  if (!match?.[1] || !match[2]) return undefined
  return { agentId: BigInt(match[1]), orderId: match[2] }
}

/** PostgreSQL writes a uuid with dashes; everywhere else we use the bare digits. */
export function orderIdFromUuid(uuid: string): string {
  return uuid.replaceAll('-', '')
}
