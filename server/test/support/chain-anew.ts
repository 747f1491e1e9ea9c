import type { QueryResult } from 'pg'
import { journalColumns } from '../../src/ledger/book-columns.ts'
import { journalHash } from '../../src/ledger/journal-hash.ts'
import { noHash } from '../../src/lib/chain-hash.ts'

/**
 * Chains books again, as somebody would who has changed rows as the owner and knows how hashes are made. So a test
 * shows that a lie is found by what it says, and not only because a hash no longer fits.
 */
export async function chainAnew(
  sql: (text: string, values?: unknown[]) => Promise<QueryResult>,
  agentId: bigint | null = null,
): Promise<void> {
  const { rows } = await sql(
    `select * from sluice.journal where $1::bigint is null or agent_id = $1 order by agent_id, seq`,
    [agentId],
  )
  const last = new Map<bigint, string>()
  const chained = rows.map((read) => {
    // Whatever the connection makes of numbers and ids.
    const row = journalColumns.build(({ name, type }) => {
      const value = read[name]
      if (value === null) return null
      if (type === 'bigint') return BigInt(value)
      return type === 'uuid' ? String(value).replaceAll('-', '') : value
    })
    row.hash = journalHash(last.get(row.agentId) ?? noHash, row)
    last.set(row.agentId, row.hash)
    return row
  })
  await sql(
    `update sluice.journal j set hash = u.hash
     from unnest($1::bigint[], $2::bigint[], $3::text[]) u(agent_id, seq, hash)
     where j.agent_id = u.agent_id and j.seq = u.seq`,
    [
      chained.map((row) => row.agentId),
      chained.map((row) => row.seq),
      chained.map((row) => row.hash),
    ],
  )
  await sql(
    `update sluice.wallets w set hash = u.hash from unnest($1::bigint[], $2::text[]) u(agent_id, hash)
     where w.agent_id = u.agent_id`,
    [[...last.keys()], [...last.values()]],
  )
}
