import pg from 'pg'
import { openPool } from '../dist/db/pool.js'
import { journalColumns } from '../dist/ledger/book-columns.js'
import { journalHash } from '../dist/ledger/journal-hash.js'
import { prove } from './orders-row.js'

const chunk = 250_000

/**
 * Gives agents a history of paid deposits of 100 baht, in bulk: order, journal row, payment and a
 * delivered callback for each, continuing the wallet as it stands, so that the ledger proves like any other; which
 * takes longer than all the rest, so that it can be left out.
 */
export async function writeHistory(
  url: string,
  orders: number,
  { newest = '1 hour', isProved = true } = {},
): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=sluice' })
  // When a statement fails the database is closed, and that is not what went wrong.
  client.on('error', () => {})
  await client.connect()
  // What foreign keys would look up row by row, the proof looks at in the end.
  await client.query('set session_replication_role = replica')
  const { rows: agents } = await client.query<{ agent_id: string }>(
    'select agent_id from wallets where agent_id > 0 order by agent_id',
  )
  const each = Math.ceil(orders / agents.length)
  for (let first = 1; first <= each; first += chunk) {
    const last = Math.min(each, first + chunk - 1)
    for (const { agent_id } of agents) {
      await client.query(paidDeposits(agent_id, first, last, each, newest))
    }
    process.stderr.write(`\r${Math.min(orders, last * agents.length)} of ${orders} orders`)
  }
  process.stderr.write('\n')
  await chainHistory(url)
  await client.query('vacuum analyze')
  if (isProved) await prove(url, 'history')
  // The service proves a few rows at a time; these have just been.
  await client.query(`insert into proofs (agent_id, proved_seq, again_seq, checked_at)
    select agent_id, seq, 0, now() from wallets
    on conflict (agent_id) do update set proved_seq = excluded.proved_seq`)
  await client.end()
}

const chainedAtOnce = 5_000

/** Gives the rows their hashes, which one statement for many rows cannot. */
async function chainHistory(url: string): Promise<void> {
  const pool = openPool({ url, max: 1, name: 'sluice bench history', onError: () => {} })
  const { rows: books } = await pool.query<{ agent_id: bigint; hash: string }>(
    'select agent_id, hash from wallets where agent_id > 0',
  )
  for (const { agent_id: agentId, hash } of books) {
    const { rows: start } = await pool.query<{ seq: bigint }>(
      'select seq from journal where agent_id = $1 and hash = $2',
      [agentId, hash],
    )
    let [last, after] = [hash, start[0]?.seq ?? 0n]
    for (;;) {
      const { rows } = await pool.query(
        `select ${journalColumns.select('j')} from journal j
         where agent_id = $1 and seq > $2 order by seq limit $3`,
        [agentId, after, chainedAtOnce],
      )
      if (rows.length === 0) break
      const chained = rows.map(journalColumns.fromRow).map((row) => {
        last = journalHash(last, row)
        after = row.seq
        return { seq: row.seq, hash: last }
      })
      await pool.query(
        `update journal j set hash = u.hash from unnest($2::bigint[], $3::text[]) u(seq, hash)
         where j.agent_id = $1 and j.seq = u.seq`,
        [agentId, chained.map(({ seq }) => seq), chained.map((each) => each.hash)],
      )
    }
    await pool.query('update wallets set hash = $2 where agent_id = $1', [agentId, last])
  }
  await pool.end()
}

/** One chunk of an agent's history, as one statement. The oldest is two months older than the newest. */
function paidDeposits(
  agentId: string,
  first: number,
  last: number,
  all: number,
  newest: string,
): string {
  return `with made as materialized (
      select ${agentId}::bigint as agent_id, n, at, w.seq + n - ${first - 1} as seq,
        (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' ||
          lpad(to_hex(n % 4096), 3, '0') || 'a' || lpad(to_hex(n), 15, '0')) as hex,
        w.available + 10000::bigint * (n - ${first - 1}) as available,
        w.clearing - 10000::bigint * (n - ${first - 1}) as clearing, w.held, w.fees, w.adjustments,
        w.suspense, w.costs, w.differences, w.transfers,
        coalesce(c.balance, 0) - 10000::bigint * (n - ${first - 1}) as there
      from wallets w left join clearings c on c.agent_id = w.agent_id and c.provider = 'history',
        generate_series(${first}, ${last}) n,
        lateral (select now() - interval '${newest}' - interval '60 days' * ((${all} - n)::float8 / ${all})) t(at)
      where w.agent_id = ${agentId}
    ), new_orders as (
      insert into orders (agent_id, order_id, kind, ref_id, user_id, currency, amount, fee, fee_rule, late_money,
        account_name, account_no, bank_code, status, version, answer, created_at, expires_at, completed_at, paid_amount,
        paid_fee)
      select agent_id, hex::uuid, 'deposit', 'history-' || n, 'user-' || n % 5000, 'THB', 10000, 0, '0%',
        'review', 'Somchai Jaidee', '1234567890', 'SCB', 'PAID', 2,
        format('{"txn_id":"%s-%s","ref_id":"history-%s","amount":100,"fee":0,"method":"link",' ||
          '"expires_in":900,"created_at":"%s"}', agent_id, hex, n,
          to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')),
        at, at + interval '15 minutes', at, 10000, 0
      from made
    ), new_rows as (
      insert into journal (agent_id, seq, order_id, event, at, currency, available_change, held_change,
        clearing_change, fees_change, adjustments_change, available, held, clearing, fees, adjustments,
        once_key, suspense_change, costs_change, differences_change, transfers_change, suspense, costs,
        differences, transfers, clearing_at, clearing_there, hash)
      select agent_id, seq, hex::uuid, 'deposit_paid', at, 'THB', 10000, 0, -10000, 0, 0, available, held,
        clearing, fees, adjustments, 'payment:history:' || hex, 0, 0, 0, 0, suspense, costs, differences,
        transfers, 'history', there, repeat('f', 64)
      from made
    ), new_clearings as (
      insert into clearings (agent_id, provider, seq, balance)
      select agent_id, 'history', seq, there from made order by n desc limit 1
      on conflict (agent_id, provider) do update set seq = excluded.seq, balance = excluded.balance
    ), new_payments as (
      insert into payments (agent_id, payment_id, order_id, amount, paid_at, reported_at, state, credited_to,
        received_seq)
      select agent_id, 'history:' || hex, hex::uuid, 10000, at, at, 'credited', 'order', seq from made
    ), new_claims as (
      insert into payment_claims (payment_id, agent_id, order_id, amount, currency, claimed_at)
      select 'history:' || hex, agent_id, hex::uuid, 10000, 'THB', at from made
    ), new_callbacks as (
      insert into callbacks (agent_id, seq, order_id, body, state, created_at, kind, follows, attempts,
        due_at, again, delivered_at)
      select agent_id, seq, hex::uuid, format('{"refId":"history-%s","transactionId":"%s-%s",' ||
          '"userId":"user-%s","amount":100,"fee":0,"status":"PAID","extParams":{},"successAt":"%s",' ||
          '"wallet":{"balance":%s}}', n, agent_id, hex, n % 5000,
          to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), available / 100),
        'delivered', at, 'deposit', false, 1, at, 0, at
      from made
    )
    update wallets w set seq = m.seq, available = m.available, clearing = m.clearing
    from (select * from made order by n desc limit 1) m where w.agent_id = m.agent_id`
}
