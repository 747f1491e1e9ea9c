import { openPool } from '../dist/db/pool.js'
import type { Accounts } from '../dist/ledger/accounts.js'
import type { Order } from '../dist/ledger/book.js'
import type { Command } from '../dist/ledger/commands.js'
import { withdrawAnswer } from '../dist/ledger/withdraw-answer.js'
import type { LocalTime } from '../dist/lib/local-time.js'

/**
 * The usual way, to compare with: a transaction for each withdrawal, which locks the wallet's row,
 * looks whether the refId is taken, and writes order, journal and wallet, by a pool of 16.
 */
export function plainTeller(url: string, localTime: LocalTime) {
  const pool = openPool({ url, max: 16, name: 'sluice bench plain', onError: () => {} })
  return {
    async do(command: Command): Promise<{ order: Order; changed: boolean }> {
      if (command.type !== 'create') throw new Error('only orders are created here')
      const { order, agentId, at } = command
      const client = await pool.connect()
      try {
        await client.query('begin')
        const { rows } = await client.query<Accounts & { seq: bigint }>({
          name: 'lock',
          text: 'select * from wallets where agent_id = $1 for update',
          values: [agentId],
        })
        const wallet = rows[0]
        const total = order.amountMinor + order.feeMinor
        if (!wallet || wallet.available < total) throw new Error('refused')
        const taken = await client.query({
          name: 'taken',
          text: 'select 1 from orders where agent_id = $1 and ref_id = $2',
          values: [agentId, order.refId],
        })
        if (taken.rowCount !== 0) throw new Error('refused')
        const [seq, available, held] = [
          wallet.seq + 1n,
          wallet.available - total,
          wallet.held + total,
        ]
        const answer = withdrawAnswer(order, available, localTime)
        await client.query({
          name: 'order',
          text: `insert into orders (agent_id, order_id, kind, ref_id, user_id, amount, fee, fee_rule,
              account_name, account_no, bank_code, extra_params, status, version, answer, created_at,
              currency, revert_fee)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, $14, $15, $16, $17)`,
          values: [
            agentId,
            order.orderId,
            order.kind,
            order.refId,
            order.userId,
            order.amountMinor,
            order.feeMinor,
            order.feeRule,
            order.accountName,
            order.accountNo,
            order.bankCode,
            order.extraParams,
            order.status,
            answer,
            at,
            order.currency,
            order.revertFee,
          ],
        })
        await client.query({
          name: 'journal',
          text: `insert into journal (agent_id, seq, order_id, event, at, available_change, held_change,
              clearing_change, fees_change, adjustments_change, available, held, clearing, fees,
              adjustments, currency, suspense_change, costs_change, differences_change, transfers_change,
              suspense, costs, differences, transfers, hash)
            values ($1, $2, $3, 'withdraw_held', $4, $5, $6, 0, 0, 0, $7, $8, $9, $10, $11, $12, 0, 0, 0, 0,
              0, 0, 0, 0, repeat('0', 64))`,
          values: [
            agentId,
            seq,
            order.orderId,
            at,
            -total,
            total,
            available,
            held,
            wallet.clearing,
            wallet.fees,
            wallet.adjustments,
            order.currency,
          ],
        })
        await client.query({
          name: 'wallet',
          text: 'update wallets set seq = $2, available = $3, held = $4 where agent_id = $1',
          values: [agentId, seq, available, held],
        })
        await client.query('commit')
        return { order: { ...order, answer }, changed: true }
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  }
}
