import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../db/pool.ts'
import { accountNames } from '../ledger/accounts.ts'
import { allHouseBooks, houseBook } from '../ledger/house.ts'
import type { Currency } from '../lib/money.ts'
import {
  ProofFailure,
  type ProofTx,
  type ProvedAgent,
  type ProvedPage,
  type Stretch,
} from './proof-failure.ts'
import { inSnapshot, Pace } from './proof-snapshot.ts'
import { proveJournalPage, proveTotals } from './prove.ts'
import { proveArchivedRefs, proveParts } from './prove-archived.ts'
import { AuditProof, proveAudit } from './prove-audit.ts'
import { findNextAccount, proveAccount } from './prove-bank-account.ts'
import { proveClaimPage, proveUnmatchedPage } from './prove-claims.ts'
import { beforeAllEvents, type EventPlace, proveEventPage } from './prove-events.ts'
import { beforeAllLimits, type LimitPlace, proveLimitPage } from './prove-limits.ts'
import { proveExpectedPage, proveMovementPage } from './prove-movements.ts'
import { proveOrderPage, proveOrdersById } from './prove-orders.ts'
import { provePaymentPage } from './prove-payments.ts'
import { proveNextPayoutFile } from './prove-payout-files.ts'
import { proveReferencePage } from './prove-references.ts'

export interface Proof {
  agentId: bigint
  appId: string
  journalRows: number
  orders: number
  callbacks: number
  payments: number
  /** The first contradiction found, in words. */
  finding: string | null
}

/** Called during a proof, with the total number of the agent's journal rows. */
export type OnProgress = (proof: Proof, journalRowsInAll: number) => void

const firstOrder = '00000000-0000-0000-0000-000000000000'

/**
 * Proves the whole book of every agent, or of one agent, page by page. `except` names agents that were proved and
 * of whom nothing was written since: what holds across agents is proved with them all the same.
 */
export async function verify(
  pool: Pool,
  options: { appId?: string; except?: ReadonlySet<string>; onProgress?: OnProgress },
): Promise<Proof[]> {
  const { rows: agents } = await pool.query<AgentRow>(
    `select agent_id, app_id, currency from agents
     where $1::text is null or app_id = $1 order by agent_id`,
    [options.appId ?? null],
  )
  const proofs: Proof[] = []
  const counts = { journalRows: 0, orders: 0, callbacks: 0, payments: 0 }
  if (options.appId === undefined) {
    for (const agentId of await findOrphans(pool, agents)) {
      const finding = `agent ${agentId} has orders or a wallet, but is not there`
      proofs.push({ agentId, appId: '-', ...counts, finding })
    }
  }
  const books = agents.filter((each) => !options.except?.has(each.app_id)).map(bookOf)
  if (options.appId === undefined) books.push(...(await usedHouseBooks(pool)))
  for (const { agentId, appId, currency } of books) {
    const proof: Proof = { agentId, appId, ...counts, finding: null }
    proof.finding = await findingOf(() =>
      proveWholly(pool, { agentId, currency }, proof, options.onProgress),
    )
    proofs.push(proof)
  }
  // A fault in an agent's book is already reported there.
  if (options.appId === undefined && proofs.every(({ finding }) => finding === null)) {
    const finding = await findingOf(async () => {
      await proveEveryClaim(pool)
      for (const { words } of await unevenTransfers(pool)) throw new ProofFailure(words)
    })
    if (finding !== null) proofs.push({ agentId: 0n, appId: '-', ...counts, finding })
  }
  if (options.appId === undefined) {
    const finding = await findingOf(async () => {
      await proveAudit(pool)
    })
    if (finding !== null) proofs.push({ agentId: 0n, appId: 'audit', ...counts, finding })
  }
  return proofs
}

/**
 * Proves what must hold across all agents: which agent each payment belongs to, which payout each
 * reference names, that the books agree with the banks, that every reported event has been or will be
 * handled, and what counts for limits.
 */
async function proveEveryClaim(pool: Pool): Promise<void> {
  const pace = new Pace(pool)
  const pages = [
    proveClaimPage,
    proveUnmatchedPage,
    proveReferencePage,
    proveMovementPage,
    proveExpectedPage,
  ]
  for (const provePage of pages) {
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after
      after = await pace.page((tx, limit) => provePage(tx, from, limit))
    }
  }
  for (let after: string | null = ''; after !== null; ) {
    const from: string = after
    const account = await inSnapshot(pool, (tx) => findNextAccount(tx, from))
    if (account) await inSnapshot(pool, (tx) => proveAccount(tx, account))
    after = account?.name ?? null
  }
  for (let after: string | null = ''; after !== null; ) {
    const from: string = after
    after = await inSnapshot(pool, (tx) => proveNextPayoutFile(tx, from))
  }
  for (let after: EventPlace | null = beforeAllEvents; after !== null; ) {
    const from: EventPlace = after
    after = await pace.page((tx, limit) => proveEventPage(tx, from, limit))
  }
  for (let after: LimitPlace | null = beforeAllLimits; after !== null; ) {
    const from: LimitPlace = after
    after = await pace.page((tx, limit) => proveLimitPage(tx, from, limit))
  }
}

/** The books of the house, as proofs name them; no agent's appId has a space. */
const houseBooks = allHouseBooks.map(({ agentId, currency }) => ({
  agentId,
  appId: `house ${currency}`,
  currency,
}))

/** Leaves out the books of the house in which nothing ever happened, which one look shows of all of them. */
async function usedHouseBooks(pool: Pool): Promise<typeof houseBooks> {
  const without = (table: string) =>
    `not exists (select 1 from ${table} x where x.agent_id = w.agent_id)`
  const { rows } = await pool.query<AgentRow>(
    `select w.agent_id, w.currency from wallets w where w.agent_id < 0 and w.seq = 0
       and ${accountNames.map((name) => `w.${name} = 0`).join(' and ')}
       and ${['journal', 'orders', 'payments', 'callbacks', 'clearings', 'archive_parts'].map(without).join(' and ')}`,
  )
  const isUnused = (book: (typeof houseBooks)[number]) =>
    rows.some((row) => row.agent_id === book.agentId && row.currency === book.currency)
  return houseBooks.filter((book) => !isUnused(book))
}

function bookOf({ agent_id: agentId, app_id: appId, currency }: AgentRow) {
  return { agentId, appId, currency }
}

interface AgentRow {
  agent_id: bigint
  app_id: string
  currency: Currency
}

/**
 * Finds agents that have orders or a wallet but do not exist. Skips from agent to agent along the keys.
 */
async function findOrphans(pool: Pool, agents: readonly AgentRow[]): Promise<bigint[]> {
  const known = new Set(agents.map(({ agent_id }) => agent_id))
  const orphans: bigint[] = []
  for (let after = 0n; ; ) {
    // An agent that was created since is not among those that were read.
    const { rows } = await pool.query<{ agent_id: bigint | null; is_there: boolean }>(
      `select n.agent_id, exists (select 1 from agents a where a.agent_id = n.agent_id) as is_there
       from (select least(
         (select agent_id from orders where agent_id > $1 order by agent_id limit 1),
         (select agent_id from wallets where agent_id > $1 order by agent_id limit 1)) as agent_id) n`,
      [after],
    )
    const [next] = rows
    if (!next || next.agent_id === null) return orphans
    after = next.agent_id
    if (!known.has(after) && !next.is_there) orphans.push(after)
  }
}

/**
 * Proves an agent's whole book. History does not change, so each page of it is proved on its own; rows
 * that change are proved on one snapshot with everything they must agree with. Rows added during the
 * proof are left to the next one.
 */
async function proveWholly(
  pool: Pool,
  agent: ProvedAgent,
  proof: Proof,
  onProgress: OnProgress = () => {},
): Promise<void> {
  const pace = new Pace(pool)
  const extent = await pace.page((tx) => proveTotals(tx, agent))
  const tell = () => onProgress(proof, Number(extent.seq))
  await pace.page((tx) => proveArchivedRefs(tx, agent.agentId))
  for (let seq = 0n; seq < extent.seq; tell()) {
    const page = await pace.page((tx, limit) => proveNextPage(tx, agent, seq, limit))
    proof.journalRows += page.rows
    proof.callbacks += page.callbacks
    if (page.lastSeq >= extent.seq) break
    if (page.rows === 0) throw new ProofFailure(`journal row ${seq + 1n} is missing`)
    seq = page.lastSeq
  }
  // Most books of the house have no orders, and one look shows it.
  for (let after: string | null = extent.lastOrder && firstOrder; after !== null; tell()) {
    const from: Omit<Stretch, 'limit'> = { after, upTo: extent.lastOrder }
    const page: ProvedPage = await pace.page((tx, limit) =>
      proveOrderPage(tx, agent, { ...from, limit }),
    )
    proof.orders += page.proved
    after = page.last
  }
  for (let after: string | null = extent.lastPayment && ''; after !== null; tell()) {
    const from: Omit<Stretch, 'limit'> = { after, upTo: extent.lastPayment }
    const page: ProvedPage = await pace.page((tx, limit) =>
      provePaymentPage(tx, agent, { ...from, limit }),
    )
    proof.payments += page.proved
    after = page.last
  }
}

/**
 * Proves journal rows after a seq or, because archiving may continue during the proof, after the archived
 * rows.
 */
async function proveNextPage(tx: ProofTx, agent: ProvedAgent, seq: bigint, limit: number) {
  const archived = await proveParts(tx, agent.agentId)
  return proveJournalPage(tx, agent, archived > seq ? archived : seq, limit)
}

/** The contradiction that ended a proof, or null. */
async function findingOf(prove: () => Promise<void>): Promise<string | null> {
  try {
    await prove()
    return null
  } catch (error) {
    if (error instanceof ProofFailure) return error.message
    throw error
  }
}

const tailRows = 1_000
/** How many pages of a book's new rows a step proves: a book that grows fast is caught up with, and others wait no longer. */
const tailPages = 20
const againRows = 500

interface ProvedBook extends AgentRow {
  proved_seq: bigint
  again_seq: bigint
  again_order: string | null
  again_payment: string | null
  finding: string | null
  is_turn: boolean
}

/**
 * Makes one small step of the background proof: proves the new rows of every book that has any. With `again`, also a
 * range of what was proved before, of one of the agents' books and one of the house's, by turns. Books without rows have
 * turns of their own, so that they do not hold up the others. So an order costs about the same however many rows there
 * are. Returns how many rows it read and the contradictions it found.
 */
export async function proveOnward(
  pool: Pool,
  now: Date,
  { again = true, pages = tailPages }: { again?: boolean; pages?: number } = {},
): Promise<{ rows: number; findings: string[]; fault?: unknown }> {
  const { rows: agents } = await pool.query<ProvedBook>({
    name: 'books-to-prove',
    text: `with books as (
       select w.agent_id, w.seq, coalesce(a.app_id, 'house ' || w.currency) as app_id,
         coalesce(a.currency, w.currency) as currency,
         coalesce(p.proved_seq, 0)::bigint as proved_seq, coalesce(p.again_seq, 0)::bigint as again_seq,
         p.again_order, p.again_payment, p.again_at, p.checked_at, p.finding
       from wallets w left join agents a using (agent_id) left join proofs p using (agent_id)
     ), turns as (
       select distinct on (agent_id > 0, seq > 0) agent_id from books where $1
       order by agent_id > 0, seq > 0, again_at nulls first, agent_id
     ), grown as (
       select agent_id from books where seq > proved_seq order by checked_at nulls first limit 10
     )
     select b.agent_id, b.app_id, b.currency, b.proved_seq, b.again_seq, b.again_order, b.again_payment,
       b.finding, b.agent_id in (select agent_id from turns) as is_turn
     from books b
     where b.agent_id in (select agent_id from turns union select agent_id from grown)
     order by b.agent_id`,
    values: [again],
  })
  let looked = 0
  let fault: unknown
  const findings = again ? await findWalletless(pool) : []
  // The finding is the house's: it has a part in every transfer.
  const uneven = new Map(
    (again ? await unevenTransfers(pool) : []).map(({ currency, words }) => [
      houseBook(currency),
      words,
    ]),
  )
  findings.push(...uneven.values())
  for (const { agent_id: agentId, currency, is_turn: isTurn, ...agent } of agents) {
    const next = {
      proved: agent.proved_seq,
      again: agent.again_seq,
      order: agent.again_order,
      payment: agent.again_payment,
    }
    let finding: string | null
    try {
      finding = await findingOf(async () => {
        looked += await proveNew(pool, { agentId, currency }, next, pages)
        if (isTurn) looked += await proveAgain(pool, { agentId, currency }, next)
      })
    } catch (error) {
      // A book that cannot be looked at in the time that a statement has must not keep the others from their turn.
      fault ??= error
      await pool.query(
        `insert into proofs (agent_id, proved_seq, again_seq, checked_at, again_at)
         values ($1, 0, 0, $2, $3)
         on conflict (agent_id) do update set checked_at = excluded.checked_at,
           again_at = coalesce(excluded.again_at, proofs.again_at)`,
        [agentId, now, isTurn ? now : null],
      )
      continue
    }
    if (finding !== null) findings.push(`${agent.app_id}: ${finding}`)
    // That new rows prove says nothing of an earlier finding, which may be about any other.
    const before = isTurn ? null : agent.finding
    await pool.query({
      name: 'write-proof',
      text: `insert into proofs (agent_id, proved_seq, again_seq, again_order, again_payment, finding,
         checked_at, again_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (agent_id) do update set proved_seq = excluded.proved_seq,
         again_seq = excluded.again_seq, again_order = excluded.again_order,
         again_payment = excluded.again_payment, finding = excluded.finding,
         checked_at = excluded.checked_at, again_at = coalesce(excluded.again_at, proofs.again_at)`,
      values: [
        ...[agentId, next.proved, next.again, next.order, next.payment],
        ...[finding ?? uneven.get(agentId) ?? before, now, isTurn ? now : null],
      ],
    })
    uneven.delete(agentId)
  }
  for (const [agentId, finding] of uneven) {
    await pool.query(
      `insert into proofs (agent_id, proved_seq, again_seq, finding, checked_at)
       select agent_id, 0, 0, $2, $3 from wallets where agent_id = $1
       on conflict (agent_id) do update set finding = coalesce(proofs.finding, excluded.finding)`,
      [agentId, finding, now],
    )
  }
  return { rows: looked, findings, ...(fault !== undefined && { fault }) }
}

/** Proves one kind of row that is no agent's, a page at a time, over and over. */
interface RoundPart {
  of: string
  prove: (pool: Pool) => Promise<void>
}

/** Goes on after the last page with the first one again. If a page does not prove, it is proved again until it does. */
function inTurn<Place>(
  of: string,
  first: Place,
  provePage: (tx: ProofTx, after: Place, limit: number) => Promise<Place | null>,
): RoundPart {
  let after = first
  return {
    of,
    prove: async (pool) => {
      after = (await inSnapshot(pool, (tx) => provePage(tx, after, againRows))) ?? first
    },
  }
}

/**
 * Proves movements page by page and, after the last page, lays the books beside the next account: that reads all of an
 * account, so it must not happen more often than its movements are gone through. An account that cannot be read does not
 * hold up the others.
 */
function movementsThenAccount(): RoundPart {
  let [movement, account] = ['', '']
  return {
    of: 'bank accounts',
    prove: async (pool) => {
      const after = movement
      const next = await inSnapshot(pool, (tx) => proveMovementPage(tx, after, againRows))
      movement = next ?? ''
      if (next !== null) return
      const found = await inSnapshot(pool, (tx) => findNextAccount(tx, account))
      if (found) {
        await inSnapshot(pool, (tx) => proveAccount(tx, found)).catch((error) => {
          if (!(error instanceof ProofFailure)) account = found.name
          throw error
        })
      }
      account = found?.name ?? ''
    },
  }
}

/**
 * Proves what holds across agents: payments and whose they are, payout references, reported events, what banks
 * reported and what is expected at them, payout files, what counts for limits, and the audit log.
 */
export class RoundProof {
  private readonly parts: RoundPart[]

  constructor() {
    const audit = new AuditProof()
    this.parts = [
      inTurn('payments', '', proveClaimPage),
      inTurn('payments', '', proveUnmatchedPage),
      inTurn('payouts', '', proveReferencePage),
      inTurn('events', beforeAllEvents, proveEventPage),
      movementsThenAccount(),
      inTurn('bank accounts', '', proveExpectedPage),
      inTurn('payout files', '', proveNextPayoutFile),
      inTurn('limits', beforeAllLimits, proveLimitPage),
      { of: 'audit', prove: (pool) => audit.step(pool, againRows) },
    ]
  }

  /** Returns the contradictions that were found. A part that cannot be read, such as by a timeout, does not stop the rest. */
  async step(
    pool: Pool,
    onError: (error: unknown) => void = (error) => {
      throw error
    },
  ): Promise<string[]> {
    const findings: string[] = []
    for (const { of, prove } of this.parts) {
      try {
        const finding = await findingOf(() => prove(pool))
        if (finding !== null) findings.push(`${of}: ${finding}`)
      } catch (error) {
        onError(error)
      }
    }
    return findings
  }
}

/**
 * The currencies in which not all that left one book arrived in another: over all books of a currency, transfers
 * must add up to zero. Nodes of a cluster may disagree for a moment about a move that was just committed, so a
 * difference counts only if it is still there a while later.
 */
async function unevenTransfers(pool: Pool): Promise<{ currency: Currency; words: string }[]> {
  for (let looks = 0; ; looks++) {
    if (looks > 0) await pause(500)
    const { rows } = await pool.query<{ currency: Currency; transfers: bigint }>(
      `select currency, sum(transfers)::bigint as transfers from wallets
       group by currency having sum(transfers) <> 0`,
    )
    if (rows.length > 0 && looks < 2) continue
    return rows.map(({ currency, transfers }) => ({
      currency,
      words: `transfers between the books in ${currency} add up to ${transfers}, not to zero`,
    }))
  }
}

/** Counts the wallets last, so that an agent created between the two queries is not reported. */
async function findWalletless(pool: Pool): Promise<string[]> {
  const count = async (what: string) => {
    const { rows } = await pool.query<{ count: bigint }>(`select count(*) from ${what}`)
    return rows[0]?.count ?? 0n
  }
  const agents = await count('agents')
  const wallets = await count('wallets join agents using (agent_id)')
  return agents > wallets ? [`${agents - wallets} agents have no wallet`] : []
}

/** How far the proof of a book has come. */
interface ProofPlace {
  proved: bigint
  again: bigint
  order: string | null
  payment: string | null
}

/** Proves an agent's new rows, with their orders, and what they add up to. */
async function proveNew(
  pool: Pool,
  agent: ProvedAgent,
  next: ProofPlace,
  mostPages: number,
): Promise<number> {
  let [proved, rows] = [next.proved, 0]
  for (let page = 0; page < mostPages; page++) {
    const tail = await inSnapshot(pool, async (tx) => {
      const page = await proveNextPage(tx, agent, proved, tailRows)
      await proveOrdersById(tx, agent, page.orderIds)
      return page
    })
    proved = tail.lastSeq
    rows += tail.rows
    if (tail.rows < tailRows) break
  }
  await inSnapshot(pool, (tx) => proveTotals(tx, agent))
  next.proved = proved
  return rows
}

/** Proves a range of what was proved before, each kind of row on its own short snapshot. */
async function proveAgain(pool: Pool, agent: ProvedAgent, next: ProofPlace): Promise<number> {
  const stretch = { upTo: null, limit: againRows }
  const again = await inSnapshot(pool, (tx) => proveNextPage(tx, agent, next.again, stretch.limit))
  next.again = again.rows < againRows ? 0n : again.lastSeq
  const orders = await inSnapshot(pool, (tx) =>
    proveOrderPage(tx, agent, { ...stretch, after: next.order ?? firstOrder }),
  )
  next.order = orders.last
  const payments = await inSnapshot(pool, (tx) =>
    provePaymentPage(tx, agent, { ...stretch, after: next.payment ?? '' }),
  )
  next.payment = payments.last
  return again.rows
}

/** The state of the background proof, over all agents. */
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

export interface ProofOfAgent {
  provedSeq: bigint
  finding: string | null
  checkedAt: Date | null
}

/** The state of the background proof for one agent's book. */
export async function proofOf(pool: Pool, agentId: bigint): Promise<ProofOfAgent> {
  const { rows } = await pool.query<{
    proved_seq: bigint
    finding: string | null
    checked_at: Date
  }>('select proved_seq, finding, checked_at from proofs where agent_id = $1', [agentId])
  const row = rows[0]
  return {
    provedSeq: row?.proved_seq ?? 0n,
    finding: row?.finding ?? null,
    checkedAt: row?.checked_at ?? null,
  }
}
