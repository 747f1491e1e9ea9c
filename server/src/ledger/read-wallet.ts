import type { Pool } from '../db/pool.ts'
import type { Accounts } from './accounts.ts'
import type { Wallet } from './book.ts'

export async function readWallet(pool: Pool, agentId: bigint): Promise<Wallet> {
  const { rows } = await pool.query<Accounts & { seq: bigint }>({
    text: 'select seq, available, held, clearing, fees, adjustments from wallets where agent_id = $1',
    values: [agentId],
  })
  if (!rows[0]) throw new Error(`agent ${agentId} has no wallet`)
  const { seq, ...balances } = rows[0]
  return { agentId, seq, balances }
}

export async function readWallets(
  pool: Pool,
  agentIds: readonly bigint[],
): Promise<Map<bigint, { seq: bigint; balances: Accounts }>> {
  const { rows } = await pool.query<Accounts & { agent_id: bigint; seq: bigint }>(
    `select agent_id, seq, available, held, clearing, fees, adjustments from wallets
     where agent_id = any($1::bigint[])`,
    [agentIds],
  )
  return new Map(rows.map(({ agent_id, seq, ...balances }) => [agent_id, { seq, balances }]))
}
