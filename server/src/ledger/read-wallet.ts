import type { Pool } from '../db/pool.ts'
import type { Wallet } from './book.ts'
import { walletColumns } from './book-columns.ts'

export async function readWallet(pool: Pool, agentId: bigint): Promise<Wallet> {
  const wallet = (await readWallets(pool, [agentId])).get(agentId)
  if (!wallet) throw new Error(`agent ${agentId} has no wallet`)
  return wallet
}

export async function readWallets(
  pool: Pool,
  agentIds: readonly bigint[],
): Promise<Map<bigint, Wallet>> {
  const { rows } = await pool.query(
    `select ${walletColumns.select('w')} from wallets w where agent_id = any($1::bigint[])`,
    [agentIds],
  )
  return new Map(rows.map(walletColumns.fromRow).map((wallet) => [wallet.agentId, wallet]))
}
