import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import type { Accounts } from '../ledger/accounts.ts'
import type { JournalEvent, JournalRow } from '../ledger/book.ts'
import { readJournal } from '../ledger/read-journal.ts'
import { balancesAfter, seqAsOf } from '../ledger/wallet-as-of.ts'
import type { Period } from '../lib/period.ts'

/** The kinds of movements on a statement, in the order in which they are shown. */
export const movementKinds = [
  'deposits_paid',
  'deposits_taken_back',
  'withdrawals_paid',
  'withdrawals_reverted',
  'refunds_paid',
  'refunds_reverted',
  'payments_credited',
  'payments_taken_back',
  'adjustments',
  'deposit_fees',
  'deposit_fees_returned',
  'withdrawal_fees',
  'withdrawal_fees_returned',
  'refund_fees',
  'refund_fees_returned',
] as const

export type MovementKind = (typeof movementKinds)[number]

export interface Movement {
  kind: MovementKind
  /** How many journal rows it comes from. */
  count: number
  /** Positive for the agent's benefit. */
  amountMinor: bigint
}

/** The agent's money at a moment. */
export interface StatementBalance {
  available: bigint
  held: bigint
  /** Held back of deposits. */
  reserve: bigint
  total: bigint
}

/** A statement of an agent: the opening balance and all movements come to the closing balance. */
export interface Statement {
  agent: Agent
  from: Date
  to: Date
  /** The range of journal rows: after the first, up to and including the second. */
  after: bigint
  last: bigint
  opening: StatementBalance
  closing: StatementBalance
  /** Those that there were, in the order of their kinds. */
  movements: Movement[]
  /** What the agent was charged, less what it got back. */
  feesMinor: bigint
}

/** How many journal rows one query adds up. */
const rowsPerQuery = 50_000n

/**
 * Reads a statement for any period. What is held for withdrawals, or held back of deposits, belongs to the agent:
 * it is part of the balance, and only a withdrawal that is paid lowers it.
 */
export async function readStatement(
  pool: Pool,
  agent: Agent,
  { from, to }: Period,
): Promise<Statement> {
  const { agentId } = agent
  const justBefore = (at: Date) => new Date(at.getTime() - 1)
  const after = await seqAsOf(pool, agentId, justBefore(from))
  const last = await seqAsOf(pool, agentId, justBefore(to))
  const opening = balanceOf((await balancesAfter(pool, agentId, after)).balances)
  const closing = balanceOf((await balancesAfter(pool, agentId, last)).balances)
  const groups: Group[] = []
  for (let seq = after; seq < last; seq += rowsPerQuery) {
    groups.push(...(await readGroups(pool, agentId, seq, last)))
  }
  const movements = movementsOf(groups)
  const moved = movements.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  if (opening.total + moved !== closing.total) {
    throw new Error(
      `agent ${agentId}: rows ${after + 1n} to ${last} come to ${moved}, not to ${closing.total - opening.total}`,
    )
  }
  const feesMinor = -movements
    .filter(({ kind }) => kind.includes('_fees'))
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  return { agent, from, to, after, last, opening, closing, movements, feesMinor }
}

/** Yields the statement's rows in chunks; reads the next only after the last has been taken. */
export async function* statementRows(
  pool: Pool,
  { agent, after, last }: Statement,
): AsyncGenerator<JournalRow[]> {
  for (let seq = after; seq < last; ) {
    const rows = await readJournal(pool, agent.agentId, seq, 1_000)
    const within = rows.filter((row) => row.seq <= last)
    if (within.length > 0) yield within
    seq = rows.at(-1)?.seq ?? last
  }
}

function balanceOf({ available, held, reserve }: Accounts): StatementBalance {
  return { available, held, reserve, total: available + held + reserve }
}

/** Journal rows of one sort, added up. */
export interface Group {
  event: JournalEvent
  isRefund: boolean
  /** The first word of the rows' once-only keys. */
  key: string | null
  count: number
  /** The change of the agent's money, after fees. */
  moved: bigint
  fees: bigint
  /** How many of the rows changed the fees. */
  feeCount: number
}

async function readGroups(
  pool: Pool,
  agentId: bigint,
  after: bigint,
  last: bigint,
): Promise<Group[]> {
  const { rows } = await pool.query<{
    event: JournalEvent
    is_refund: boolean
    key: string | null
    count: number
    moved: string
    fees: string
    fee_count: number
  }>({
    name: 'statement-groups',
    text: `select j.event, o.refund_of is not null as is_refund, split_part(j.once_key, ':', 1) as key,
        count(*)::int as count, sum(j.available_change + j.held_change + j.reserve_change)::text as moved,
        sum(j.fees_change)::text as fees, (count(*) filter (where j.fees_change <> 0))::int as fee_count
      from journal j
      left join orders o on j.event in ('withdraw_paid', 'withdraw_paid_after_failed', 'withdraw_reverted')
        and o.agent_id = j.agent_id and o.order_id = j.order_id
      where j.agent_id = $1 and j.seq > $2 and j.seq <= least($3::bigint, $2 + $4::bigint)
      group by 1, 2, 3`,
    values: [agentId, after, last, rowsPerQuery],
  })
  return rows.map(({ is_refund, moved, fees, fee_count, ...row }) => ({
    ...row,
    isRefund: is_refund,
    moved: BigInt(moved),
    fees: BigInt(fees),
    feeCount: fee_count,
  }))
}

/** Adds up by kind: each row moves an amount, and may charge a fee or give one back. */
export function movementsOf(groups: readonly Group[]): Movement[] {
  const found = new Map<MovementKind, Movement>()
  const enter = (kind: MovementKind, count: number, amountMinor: bigint) => {
    if (count === 0) return
    const before = found.get(kind)
    found.set(kind, {
      kind,
      count: (before?.count ?? 0) + count,
      amountMinor: (before?.amountMinor ?? 0n) + amountMinor,
    })
  }
  for (const group of groups) {
    const kinds = kindsOf(group)
    if (!kinds) continue
    enter(kinds.amount, group.count, group.moved + group.fees)
    if (kinds.fee) enter(kinds.fee, group.feeCount, -group.fees)
  }
  return movementKinds.flatMap((kind) => found.get(kind) ?? [])
}

/** Undefined for rows that do not change what the agent has. */
function kindsOf({
  event,
  key,
  isRefund,
}: Group): { amount: MovementKind; fee?: MovementKind } | undefined {
  switch (event) {
    case 'deposit_paid':
      return { amount: 'deposits_paid', fee: 'deposit_fees' }
    case 'deposit_taken_back':
      return { amount: 'deposits_taken_back', fee: 'deposit_fees_returned' }
    case 'withdraw_paid':
    case 'withdraw_paid_after_failed':
      return isRefund
        ? { amount: 'refunds_paid', fee: 'refund_fees' }
        : { amount: 'withdrawals_paid', fee: 'withdrawal_fees' }
    case 'withdraw_reverted':
      return isRefund
        ? { amount: 'refunds_reverted', fee: 'refund_fees_returned' }
        : { amount: 'withdrawals_reverted', fee: 'withdrawal_fees_returned' }
    case 'adjustment':
      if (key === 'payment') return { amount: 'payments_credited' }
      if (key === 'payment-taken-back') return { amount: 'payments_taken_back' }
      return { amount: 'adjustments' }
    default:
      return undefined
  }
}
