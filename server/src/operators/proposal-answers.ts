import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type SecretKeys, seal, unseal } from '../lib/secret-box.ts'

/** The answer of a proposal's action: it is deleted by being read. */
export async function takeAnswer(
  tx: Tx,
  secretKeys: SecretKeys,
  proposalId: string,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ sealed_answer: Buffer }>(
    'delete from proposal_answers where proposal_id = $1 returning sealed_answer',
    [proposalId],
  )
  return rows[0] && unseal(secretKeys, ownerOf(proposalId), rows[0].sealed_answer)
}

export function sealAnswer(secretKeys: SecretKeys, proposalId: string, answer: string): Buffer {
  return seal(secretKeys, ownerOf(proposalId), answer)
}

function ownerOf(proposalId: string): string {
  return `proposal ${proposalId}`
}

/** Deletes answers that nobody has looked at for so long. */
export async function forgetAnswers(pool: Pool, before: Date): Promise<void> {
  await pool.query('delete from proposal_answers where made_at < $1', [before])
}
