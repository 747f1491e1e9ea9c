import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'

/**
 * An agent's epochs, latest first, as `epoch:seq`: each counts for the events after its seq. There is one for each
 * restore of the database since the agent was made, as their numbers may name other events than before it.
 */
export type EventEpochs = readonly string[]

/** The epochs of the agent in parameter `$1`, as an SQL array. */
export const epochsOfAgent = `array(select e.epoch || ':' || e.after_seq from event_epochs e
  where e.agent_id = $1 order by e.epoch desc)`

export async function readEpochs(db: Pool | Tx, agentId: bigint): Promise<EventEpochs> {
  const { rows } = await db.query<{ epochs: string[] }>(`select ${epochsOfAgent} as epochs`, [
    agentId,
  ])
  return rows[0]?.epochs ?? []
}

/** The epoch in which an event was written; 0 before the first restore. */
export function epochOf(epochs: EventEpochs, seq: bigint): number {
  const found = epochs.map(parts).find(({ afterSeq }) => afterSeq < seq)
  return found?.epoch ?? 0
}

/** From where an agent goes on that has an event of an epoch: numbers of later epochs begin below it again. */
export function seqToGoOnAfter(epochs: EventEpochs, seq: bigint, epoch: number): bigint {
  let least = seq
  for (const { epoch: later, afterSeq } of epochs.map(parts)) {
    if (later > epoch && afterSeq < least) least = afterSeq
  }
  return least
}

/**
 * The epoch of a seq that an agent names without one. A number that no event has had yet is of the time that a restore
 * lost, so the agent goes on where numbers were used again; otherwise it would hear nothing until they pass its own.
 */
export async function epochUnsaid(
  db: Pool | Tx,
  agentId: bigint,
  epochs: EventEpochs,
  seq: bigint,
): Promise<number> {
  const latest = epochs[0] === undefined ? 0 : parts(epochs[0]).epoch
  if (latest === 0) return 0
  const { rows } = await db.query<{ seq: bigint }>('select seq from wallets where agent_id = $1', [
    agentId,
  ])
  return seq > (rows[0]?.seq ?? seq) ? 0 : latest
}

function parts(text: string): { epoch: number; afterSeq: bigint } {
  const [epoch = '0', afterSeq = '0'] = text.split(':')
  return { epoch: Number(epoch), afterSeq: BigInt(afterSeq) }
}
