import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'
import { Lie, type ProofTx } from './lie.ts'
import { type OrderRow, orderFromRow } from './order-row.ts'
import { proveSpan, proveTotals } from './prove.ts'
import {
  proveAllClaims,
  proveClaimPage,
  proveUnmatchedPage,
  proveWaitingClaims,
} from './prove-claims.ts'
import { proveOrders } from './prove-orders.ts'
import { proveCredits } from './prove-payments.ts'

const chunk = 2_000

export interface Proof {
  agentId: bigint
  appId: string
  journalRows: number
  orders: number
  callbacks: number
  /** The first lie found, in words. */
  finding: string | null
}

/** Proves every agent's whole book, or one agent's. Calls back while it works. */
export async function verify(
  pool: Pool,
  options: { appId?: string; onProgress?: (proof: Proof) => void },
): Promise<Proof[]> {
  const { rows: agents } = await pool.query<AgentToProve>(
    `select agent_id, app_id, currency from agents
     where $1::text is null or app_id = $1 order by agent_id`,
    [options.appId ?? null],
  )
  const proofs: Proof[] = []
  if (options.appId === undefined) {
    for (const agentId of await findOrphans(pool)) {
      const finding = `agent ${agentId} has orders, but is not there`
      proofs.push({ agentId, appId: '-', journalRows: 0, orders: 0, callbacks: 0, finding })
    }
  }
  for (const agent of agents) {
    const proof: Proof = {
      agentId: agent.agent_id,
      appId: agent.app_id,
      journalRows: 0,
      orders: 0,
      callbacks: 0,
      finding: null,
    }
    proof.finding = await inSnapshot(pool, (tx) =>
      proveWholly(tx, agent, proof, () => options.onProgress?.(proof)),
    )
    options.onProgress?.(proof)
    proofs.push(proof)
  }
  // What is wrong in an agent's book is said there.
  if (options.appId === undefined && proofs.every(({ finding }) => finding === null)) {
    const finding = await proveEveryClaim(pool)
    const nothing = { journalRows: 0, orders: 0, callbacks: 0 }
    if (finding !== null) proofs.push({ agentId: 0n, appId: '-', ...nothing, finding })
  }
  return proofs
}

/** What providers' payments are claimed as, over all agents, a short look at a time. */
async function proveEveryClaim(pool: Pool): Promise<string | null> {
  for (const provePage of [proveClaimPage, proveUnmatchedPage]) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const from: string = after
      const finding = await inSnapshot(pool, async (tx) => {
        after = await provePage(tx, from)
      })
      if (finding !== null) return finding
    }
  }
  return null
}

/** Agents that have orders and are not there. Skips from agent to agent along the orders' key. */
async function findOrphans(pool: Pool): Promise<bigint[]> {
  const { rows } = await pool.query<{ agent_id: bigint }>(
    `with recursive owners as (
       (select agent_id from orders order by agent_id limit 1)
       union all
       select (select o.agent_id from orders o where o.agent_id > owners.agent_id
               order by o.agent_id limit 1)
       from owners where owners.agent_id is not null
     )
     select agent_id from owners
     where agent_id is not null and agent_id not in (select agent_id from agents)`,
  )
  return rows.map(({ agent_id }) => agent_id)
}

interface AgentToProve {
  agent_id: bigint
  app_id: string
  currency: Currency
}

async function proveWholly(
  tx: ProofTx,
  { agent_id, currency }: AgentToProve,
  proof: Proof,
  onProgress: () => void,
): Promise<void> {
  const lastSeq = await proveTotals(tx, agent_id)
  await proveCredits(tx, agent_id)
  for (let seq = 0n; seq < lastSeq; onProgress()) {
    const span = await proveSpan(tx, agent_id, currency, seq, chunk)
    proof.journalRows += span.rows
    proof.callbacks += span.callbacks
    if (span.rows === 0) throw new Lie(`journal row ${seq + 1n} is missing`)
    seq = span.lastSeq
  }
  for (let after: string | null = null; ; onProgress()) {
    const page = await proveOrderPage(tx, agent_id, after, chunk)
    proof.orders += page.orders
    if (page.last === null) break
    after = page.last
  }
  await proveAllClaims(tx, agent_id)
}

async function proveOrderPage(tx: ProofTx, agentId: bigint, after: string | null, limit: number) {
  const { rows } = await tx.query<OrderRow>(
    `select * from orders where agent_id = $1 and order_id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
     order by order_id limit $3`,
    [agentId, after, limit],
  )
  await proveOrders(tx, agentId, rows.map(orderFromRow))
  await proveCredits(
    tx,
    agentId,
    rows.map(({ order_id }) => order_id),
  )
  return { orders: rows.length, last: rows.length < limit ? null : (rows.at(-1)?.order_id ?? null) }
}

/** Runs a proof on one snapshot of the database. Returns the lie it found, or null. */
async function inSnapshot(
  pool: Pool,
  prove: (tx: ProofTx) => Promise<void>,
): Promise<string | null> {
  const client = await pool.connect()
  let broken = true
  try {
    await client.query('begin isolation level repeatable read read only')
    let finding: string | null = null
    try {
      await prove(client as unknown as ProofTx)
    } catch (error) {
      if (!(error instanceof Lie)) throw error
      finding = error.message
    }
    await client.query('commit')
    broken = false
    return finding
  } finally {
    client.release(broken)
  }
}

const tailRows = 1_000
const againRows = 500

/**
 * One small step of the proof that never ends: for every agent with new rows and for one more, the
 * rows that are new, and a stretch of what was proved before. Returns how much it looked at and the
 * lies it found.
 */
export async function proveOnward(
  pool: Pool,
  now: Date,
): Promise<{ rows: number; findings: string[] }> {
  const { rows: agents } = await pool.query<
    AgentToProve & { proved_seq: bigint; again_seq: bigint; again_order: string | null }
  >(
    `(select a.agent_id, a.app_id, a.currency, coalesce(p.proved_seq, 0)::bigint as proved_seq,
        coalesce(p.again_seq, 0)::bigint as again_seq, p.again_order
      from wallets w join agents a using (agent_id) left join proofs p using (agent_id)
      where w.seq > coalesce(p.proved_seq, 0) order by p.checked_at nulls first limit 10)
     union
     (select a.agent_id, a.app_id, a.currency, coalesce(p.proved_seq, 0),
        coalesce(p.again_seq, 0), p.again_order
      from wallets w join agents a using (agent_id) left join proofs p using (agent_id)
      order by p.checked_at nulls first limit 1)`,
  )
  let looked = 0
  const findings: string[] = []
  for (const agent of agents) {
    const next = {
      proved: agent.proved_seq,
      again: agent.again_seq,
      order: agent.again_order,
    }
    const finding = await inSnapshot(pool, async (tx) => {
      const tail = await proveSpan(tx, agent.agent_id, agent.currency, agent.proved_seq, tailRows)
      await proveTotals(tx, agent.agent_id)
      next.proved = tail.lastSeq
      const again = await proveSpan(tx, agent.agent_id, agent.currency, agent.again_seq, againRows)
      next.again = again.rows < againRows ? 0n : again.lastSeq
      const page = await proveOrderPage(tx, agent.agent_id, agent.again_order, againRows)
      next.order = page.last
      await proveWaitingClaims(tx, agent.agent_id)
      looked += tail.rows + again.rows
    })
    if (finding !== null) findings.push(`${agent.app_id}: ${finding}`)
    await pool.query(
      `insert into proofs (agent_id, proved_seq, again_seq, again_order, finding, checked_at)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (agent_id) do update set proved_seq = excluded.proved_seq,
         again_seq = excluded.again_seq, again_order = excluded.again_order,
         finding = excluded.finding, checked_at = excluded.checked_at`,
      [agent.agent_id, next.proved, next.again, next.order, finding, now],
    )
  }
  return { rows: looked, findings }
}

/** How the endless proof stands, over all agents. */
export async function proofState(pool: Pool): Promise<{ redAgents: number; unprovedRows: number }> {
  const { rows } = await pool.query<{ red: bigint; unproved: bigint }>(
    `select count(p.finding) as red,
       coalesce(sum(w.seq - coalesce(p.proved_seq, 0)), 0)::bigint as unproved
     from wallets w left join proofs p using (agent_id)`,
  )
  return {
    redAgents: Number(rows[0]?.red ?? 0n),
    unprovedRows: Number(rows[0]?.unproved ?? 0n),
  }
}
