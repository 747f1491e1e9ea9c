import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import { Problem } from '../lib/problem.ts'
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
  if (!rows[0]) return undefined
  const answer = unseal(secretKeys, ownerOf(proposalId), rows[0].sealed_answer)
  // Thrown, so that it is not deleted: the right key may come back.
  if (answer === undefined) throw new Problem('not_found', 'No key that the service has opens it.')
  return answer
}

/** Seals the answers that nobody has looked at yet with the current key. For the owner's login. */
export async function resealAnswers(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{ proposal_id: string; owner: string; sealed: Buffer }>(
    `select proposal_id, 'proposal ' || replace(proposal_id::text, '-', '') as owner,
       sealed_answer as sealed from proposal_answers order by proposal_id`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      'update proposal_answers set sealed_answer = $2 where proposal_id = $1 and sealed_answer = $3',
      [row.proposal_id, sealed, row.sealed],
    )
    return rowCount
  })
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
