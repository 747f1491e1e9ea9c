import type { Pool } from '../db/pool.ts'
import type { PayoutFile } from './payout-file.ts'

/** What an order's status makes of its item. */
const stateOfItem = `case o.status when 'PAID' then 'paid' when 'REVERT' then 'returned'
  when 'FAILED' then 'rejected' when 'CANCEL' then 'cancelled' end`

/**
 * Brings items to the state of their orders, which the books decide on, and closes files whose items have all
 * ended: of one file, of all that are open, or of all there are.
 */
export async function followOrders(
  pool: Pool,
  which: Pick<PayoutFile, 'account' | 'fileId'> | 'open' | 'all',
): Promise<void> {
  const named = typeof which === 'object' ? which : null
  let open: { file_id: string }[] | null = null
  if (which === 'open') {
    // Looked for first: there are few of them among all the items there have ever been.
    const files = await pool.query<{ file_id: string }>({
      name: 'open-payout-files',
      text: `select file_id from payout_files where state not in ('closed', 'cancelled')`,
    })
    open = files.rows
    if (open.length === 0) return
  }
  const { rows } = await pool.query<{ account: string; reference: string; state: string }>(
    `select i.account, i.reference, ${stateOfItem} as state from payout_items i, orders o
     where o.agent_id = i.agent_id and o.order_id = i.order_id and o.provider_ref = i.reference
       and o.status <> 'WAITING' and i.state <> ${stateOfItem}
       and ($1::text is null or i.account = $1) and ($2::uuid is null or i.file_id = $2)
       and ($3::uuid[] is null or (i.account, i.file_id) in (select f.account, f.file_id
         from payout_files f where f.file_id = any($3::uuid[])))`,
    [named?.account ?? null, named?.fileId ?? null, open?.map(({ file_id }) => file_id) ?? null],
  )
  if (rows.length > 0) {
    await pool.query(
      `update payout_items i set state = k.state
       from unnest($1::text[], $2::text[], $3::text[]) k(account, reference, state)
       where i.account = k.account and i.reference = k.reference`,
      [
        rows.map(({ account }) => account),
        rows.map(({ reference }) => reference),
        rows.map(({ state }) => state),
      ],
    )
  }
  await pool.query(
    `update payout_files f set state = 'closed'
     where f.state in ('exported', 'sent', 'acknowledged')
       and ($1::text is null or f.account = $1) and ($2::uuid is null or f.file_id = $2)
       and not exists (select 1 from payout_items i where i.account = f.account
         and i.file_id = f.file_id and i.state in ('waiting', 'accepted', 'unknown'))`,
    [named?.account ?? null, named?.fileId ?? null],
  )
}
