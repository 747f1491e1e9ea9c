import { isConnectionLost, type Pool, type PoolClient, raiseForTransaction } from '../db/pool.ts'
import {
  type BatchTx,
  BooksChanged,
  commitOrders,
  isBatchCommitted,
  readBooks,
  writeBooks,
} from '../ledger/books-store.ts'
import { type Command, type Decision, needsWallet } from '../ledger/commands.ts'
import { fold, noBooks, type Writes } from '../ledger/fold.ts'
import type { LimitRule } from '../ledger/limits.ts'
import { readLimits } from '../ledger/limits-store.ts'
import type { LocalTime } from '../lib/local-time.ts'

/** No connection could be opened: nothing was sent, so nothing can have been written. */
export class NotConnected extends Error {}

/** How far a process's clock may be ahead of the database's. */
export const mostAheadMs = 60_000

export interface TransactOptions {
  localTime: LocalTime
  ifLocked: 'wait' | 'skip'
  /** Whether commands have the times of this machine, rather than of a clock that a test moves. */
  isOnTime: boolean
  /** Whether the answer to an earlier commit of these commands was lost. */
  mayBeWritten?: boolean
}

/** What an attempt was about to commit, while it is unknown whether it did. */
export interface Attempt {
  folded?: { decisions: (Decision | undefined)[]; writes: Writes }
}

const tooEarly: Decision = {
  type: 'refused',
  code: 'overloaded',
  detail:
    "The database's clock is behind this process's by more than a minute; repeat the request.",
}

function isEmpty(writes: Writes): boolean {
  return Object.values(writes).every(({ length }) => length === 0)
}

/** Whether the answer says that an order is there, which this transaction has only found. */
function isRepeat(decision: Decision | undefined): boolean {
  return decision?.type === 'unchanged' && decision.order !== undefined
}

/**
 * Ends a transaction that found what an earlier one wrote. A commit that only reads waits for nobody. This one writes, so it
 * waits for the replicas that the lost answer would have waited for: its place in the log is behind what was found.
 */
async function commitBehind(client: PoolClient): Promise<void> {
  try {
    await client.query(`select pg_logical_emit_message(true, 'sluice', '')`)
    await client.query('commit')
  } catch (error) {
    if (isConnectionLost(error)) throw error
    // A server that does not have it, or does not let us, still has what was found.
    await client.query('rollback')
  }
}

/**
 * Runs commands in one transaction. With `skip`, a command whose wallet another transaction has locked
 * gets no decision. Neither does a deposit that limits have to be measured for, but whose wallet is not locked. If the
 * answer to an earlier commit was lost, this looks for its rows first, under the same locks: if they are on disk, it
 * returns the decisions of that attempt.
 *
 * The times of a book never go down. So a process whose clock is far ahead would take the books along, and end
 * orders before their time: what it asks for is refused until its clock is right.
 */
export async function transact(
  pool: Pool,
  commands: Command[],
  options: TransactOptions,
  attempt: Attempt,
): Promise<(Decision | undefined)[]> {
  const client = await connect(pool)
  const tx = client as unknown as BatchTx
  let broken = true
  try {
    const began = Promise.all([
      client.query('begin'),
      client.query<{ now: Date }>(raiseForTransaction),
    ])
    const reading = readBooks(tx, commands, options.ifLocked)
    await Promise.allSettled([began, reading])
    const [, { rows: times }] = await began
    const books = await reading
    if (attempt.folded && (await isBatchCommitted(tx, attempt.folded.writes))) {
      await commitBehind(client)
      broken = false
      return attempt.folded.decisions
    }
    const isLocked = (command: Command) =>
      needsWallet(command)
        ? options.ifLocked === 'skip' && !books.wallets.has(command.agentId)
        : isLimited(books.limitRules, command)
    const latestMs = (times[0]?.now.getTime() ?? 0) + mostAheadMs
    const isAhead = ({ at }: Command) => options.isOnTime && at.getTime() > latestMs
    const free = commands.filter((command) => !isLocked(command) && !isAhead(command))
    books.limits = await readLimits(tx, free, books.limitRules, books.wallets, options.localTime)
    const folded = fold(books, free, options.localTime)
    await writeBooks(tx, folded.writes)
    let next = 0
    const decisions = commands.map((command) =>
      isLocked(command) ? undefined : isAhead(command) ? tooEarly : folded.decisions[next++],
    )
    attempt.folded = { decisions, writes: folded.writes }
    if (isEmpty(folded.writes) && (options.mayBeWritten || decisions.some(isRepeat))) {
      await commitBehind(client)
      broken = false
      return decisions
    }
    const { command } = await client.query('commit')
    // PostgreSQL answers a commit of an aborted transaction with ROLLBACK, not with an error.
    if (command !== 'COMMIT') throw new Error(`commit was answered with ${command}`)
    broken = false
    return decisions
  } catch (error) {
    if (!isConnectionLost(error)) {
      broken = await client.query('rollback').then(
        () => false,
        () => true,
      )
    }
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * Inserts deposits, which need no wallet, with one statement in a separate transaction and without
 * reading the books first. Deposits whose refId is taken get no decision, and neither does any of them if
 * one refId is archived or one is of a time that is ahead: the caller must settle those with `transact`.
 */
export async function insertDeposits(
  pool: Pool,
  commands: Command[],
  { localTime, isOnTime }: Pick<TransactOptions, 'localTime' | 'isOnTime'>,
): Promise<(Decision | undefined)[]> {
  const client = await connect(pool)
  let broken = true
  try {
    const { decisions, writes } = fold(noBooks, commands, localTime)
    const lastMs = Math.max(...commands.map(({ at }) => at.getTime()))
    const inserted = await commitOrders(
      client,
      writes.newOrders,
      isOnTime ? new Date(lastMs - mostAheadMs) : undefined,
    )
    broken = false
    return decisions.map((decision) =>
      decision.type !== 'refused' && inserted.has(decision.order?.orderId ?? '')
        ? decision
        : undefined,
    )
  } catch (error) {
    broken = isConnectionLost(error)
    if (error instanceof BooksChanged) return commands.map(() => undefined)
    throw error
  } finally {
    client.release(broken)
  }
}

/** Whether an agent has limits on deposits. */
function isLimited(rules: readonly LimitRule[], { agentId }: Command): boolean {
  return rules.some(
    (rule) => rule.kind === 'deposit' && (rule.agentId === 0n || rule.agentId === agentId),
  )
}

function connect(pool: Pool): Promise<PoolClient> {
  return pool.connect().catch((error) => {
    throw new NotConnected(String(error), { cause: error })
  })
}
