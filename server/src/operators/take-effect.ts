import type { Tx } from '../db/in-transaction.ts'
import type { Outsider } from './audit.ts'
import type { Operator } from './operator.ts'

/**
 * Notes, in the transaction of an action, that the proposal it was approved in took effect, and keeps an
 * answer that holds a secret for the proposer. If the action is run again after a crash, the key refuses the
 * row and the transaction is rolled back: it happens once.
 */
export async function takeEffect(
  tx: Tx,
  operator: Operator | Outsider,
  at: Date,
  answer?: object,
): Promise<void> {
  const proposal = 'proposal' in operator ? operator.proposal : undefined
  if (!proposal) return
  await tx.query(
    `insert into proposal_effects (proposal_id, verdict, at) values ($1, 'approved', $2)`,
    [proposal.id, at],
  )
  if (!answer) return
  await tx.query(
    'insert into proposal_answers (proposal_id, sealed_answer, made_at) values ($1, $2, $3)',
    [proposal.id, proposal.seal(JSON.stringify(answer)), at],
  )
}

/** Takes the place of a proposal's effect, so that it has none. Returns false if it has had its effect. */
export async function refuseEffect(tx: Tx, proposalId: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into proposal_effects (proposal_id, verdict, at) values ($1, 'approved', $2)
     on conflict do nothing`,
    [proposalId, at],
  )
  return rowCount === 1
}
