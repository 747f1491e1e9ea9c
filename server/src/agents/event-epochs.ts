import type { Tx } from '../db/in-transaction.ts'

/** From their next events on, all agents are in a new epoch: the database was restored, and numbers are used again. */
export async function beginEpoch(tx: Tx, epoch: bigint): Promise<void> {
  await tx.query(
    `insert into event_epochs (agent_id, epoch, after_seq)
     select w.agent_id, $1, w.seq from wallets w where w.agent_id > 0`,
    [epoch],
  )
}

/** An agent's number may have been another's that a restore has lost: its events are of the epoch of now. */
export async function joinEpoch(tx: Tx, agentId: bigint): Promise<void> {
  await tx.query(
    `insert into event_epochs (agent_id, epoch, after_seq)
     select $1, max(h.epoch), 0 from restore_holds h having max(h.epoch) is not null`,
    [agentId],
  )
}
