import type { Pool } from '../db/pool.ts'
import { txnId } from '../lib/ids.ts'
import { isPaymentCode, paymentCode } from '../lib/payment-code.ts'

/** What codes of deposits begin with; those of payouts begin with SX. */
const form = 'DX'

interface Named {
  agentId: bigint
  orderId: string
}

/**
 * The codes that a deposit may have, in the order in which they are tried. Of many millions of deposits two may well
 * draw the same one, but not eight times in a row.
 */
function codesOf({ agentId, orderId }: Named): string[] {
  const seed = txnId(agentId, orderId)
  return [0, 1, 2, 3, 4, 5, 6, 7].map((draw) => paymentCode(`${seed}#${draw}`, form))
}

/** Takes a code for a deposit: the same one again for the same deposit. */
export async function takeCode(pool: Pool, deposit: Named): Promise<string> {
  for (const code of codesOf(deposit)) {
    await pool.query(
      `insert into deposit_codes (code, agent_id, order_id) values ($1, $2, $3)
       on conflict do nothing`,
      [code, deposit.agentId, deposit.orderId],
    )
    const owner = (await readOwners(pool, [code])).get(code)
    if (owner?.agentId === deposit.agentId && owner.orderId === deposit.orderId) return code
  }
  throw new Error('all codes of a deposit are taken')
}

/** The ids of the deposits that references name by their codes. */
export async function findByCode(
  pool: Pool,
  references: readonly string[],
): Promise<Map<string, string>> {
  const codes = references.filter((each) => isPaymentCode(each, [form]))
  if (codes.length === 0) return new Map()
  const named = [...(await readOwners(pool, codes))].filter(([code, owner]) =>
    codesOf(owner).includes(code),
  )
  return new Map(named.map(([code, { agentId, orderId }]) => [code, txnId(agentId, orderId)]))
}

async function readOwners(pool: Pool, codes: readonly string[]): Promise<Map<string, Named>> {
  const { rows } = await pool.query<Named & { code: string }>(
    `select code, agent_id as "agentId", replace(order_id::text, '-', '') as "orderId"
     from deposit_codes where code = any($1)`,
    [codes],
  )
  return new Map(rows.map(({ code, ...owner }) => [code, owner]))
}
