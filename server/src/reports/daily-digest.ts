import type { Agent } from '../agents/agent.ts'
import { listAgents } from '../agents/find-agent.ts'
import { endedBetween } from '../alert-rules/find-trouble.ts'
import { readWatched } from '../alerts/keep-watch.ts'
import { type DigestDue, digestsDue, takeDigest } from '../alerts/quiet-hours.ts'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { searchProposals } from '../approvals/proposal.ts'
import { listUnexplained } from '../bank-accounts/read-movements.ts'
import { readCallbackTrouble } from '../callbacks/failing-callbacks.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { countOpenItems } from '../ledger/open-items.ts'
import { type Currency, printedMoney } from '../lib/money.ts'
import { type Period, periodNamed } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
import { paymentsToDecide } from '../payments/search-payments.ts'
import { unknownPayouts } from './home-figures.ts'
import { readStatement } from './statement.ts'

/** How many of what waits are counted. */
const most = 100

/**
 * Tells everybody whose hour it is of the day before, in their own zone. The words and the day that was told are written
 * together: each day is told once, by any number of processes. Whoever cannot be told keeps nobody else from theirs.
 */
export async function tellDigests(
  pool: Pool,
  now: Date,
  onError: (error: unknown) => void,
): Promise<'done'> {
  for (const due of await digestsDue(pool, now, onError)) {
    await tellDigest(pool, due, now).catch(onError)
  }
  return 'done'
}

async function tellDigest(pool: Pool, due: DigestDue, now: Date): Promise<void> {
  const words = await digestWords(pool, due, now)
  await inTransaction(pool, async (tx) => {
    if (!(await takeDigest(tx, due))) return
    const { userId, day } = due
    const subject = `user ${userId} ${day}`
    await raiseAlert(tx, { kind: 'digest', subject, words, to: { userId }, at: now })
  })
}

/** What happened on a day and what waits now, for an operator or for a user of an agent. */
async function digestWords(
  pool: Pool,
  { day, zone, agentId }: Pick<DigestDue, 'day' | 'zone' | 'agentId'>,
  now: Date,
): Promise<string> {
  const period = periodNamed(day, zone)
  if (!period) throw new Error(`${day} is not a day`)
  const all = await listAgents(pool)
  const agents = all.filter((each) => agentId === null || each.agentId === agentId)
  return [
    `${day} (${zone})`,
    ...(await volumeLines(pool, agents, period)),
    await successLine(pool, agentId, 'deposit', period),
    await successLine(pool, agentId, 'withdraw', period),
    ...(agentId === null ? await queueLines(pool, all, now) : await agentLines(pool, agentId)),
  ].join('\n')
}

interface Volume {
  deposits: { count: number; minor: bigint }
  withdrawals: { count: number; minor: bigint }
  feesMinor: bigint
}

/** From the journal: what statements of the day say. */
async function volumeLines(pool: Pool, agents: Agent[], period: Period): Promise<string[]> {
  const volumes = new Map<Currency, Volume>()
  let archived = 0
  for (const agent of agents) {
    const statement = await readStatement(pool, agent, period).catch((error) => {
      if (error instanceof Problem && error.code === 'not_found') return undefined
      throw error
    })
    if (!statement) archived += 1
    const volume = volumes.get(agent.currency) ?? {
      deposits: { count: 0, minor: 0n },
      withdrawals: { count: 0, minor: 0n },
      feesMinor: 0n,
    }
    volumes.set(agent.currency, volume)
    for (const { kind, count, amountMinor } of statement?.movements ?? []) {
      const into = { deposits_paid: volume.deposits, withdrawals_paid: volume.withdrawals }
      const sum = into[kind as keyof typeof into]
      if (!sum) continue
      sum.count += count
      sum.minor += amountMinor < 0n ? -amountMinor : amountMinor
    }
    volume.feesMinor += statement?.feesMinor ?? 0n
  }
  const lines = [...volumes].map(([currency, { deposits, withdrawals, feesMinor }]) => {
    const paid = ({ count, minor }: Volume['deposits']) =>
      `${count} paid, ${printedMoney(minor, currency)}`
    const fees = printedMoney(feesMinor, currency)
    return `${currency}: deposits ${paid(deposits)}; withdrawals ${paid(withdrawals)}; fees ${fees}`
  })
  if (archived > 0) lines.push(`Without ${archived} agents, whose journal of that day is archived.`)
  return lines
}

async function successLine(
  pool: Pool,
  agentId: bigint | null,
  orderKind: 'deposit' | 'withdraw',
  period: Period,
): Promise<string> {
  const what = orderKind === 'deposit' ? 'deposits' : 'withdrawals'
  const { ended, paid } = await endedBetween(pool, { agentId, orderKind, provider: null }, period)
  if (ended === 0) return `Success of ${what}: none ended`
  return `Success of ${what}: ${Math.floor((paid * 1000) / ended) / 10} % (${paid} of ${ended} that ended)`
}

/** What waits for a person now. */
async function queueLines(pool: Pool, agents: Agent[], now: Date): Promise<string[]> {
  const ids = agents.map(({ agentId }) => agentId)
  const open = { state: 'open', agentId: null, proposedBy: null, before: null } as const
  const items = await countOpenItems(pool)
  const counts: [number, string][] = [
    [(await paymentsToDecide(pool, null)).count, 'payments to decide'],
    [(await searchProposals(pool, { ...open, now, limit: most })).length, 'approvals'],
    [(await unknownPayouts(pool, ids)).count, 'payouts without a known outcome'],
    [(await listUnexplained(pool, most)).length, 'movements that nothing explains'],
    [items.reduce((sum, { count }) => sum + count, 0), 'contradictions'],
  ]
  const waiting = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const breaks = await readWatched(pool, 'reconcile_break', most)
  const days = breaks.map(({ subject }) => subject).slice(0, 10)
  return [
    `Waiting for a person: ${waiting.join(', ') || 'nothing'}`,
    `Breaks: ${days.length === 0 ? 'none' : `${breaks.length} (${days.join(', ')})`}`,
  ]
}

async function agentLines(pool: Pool, agentId: bigint): Promise<string[]> {
  const { failing, givenUp } = await readCallbackTrouble(pool, [agentId])
  return [`Callbacks: ${failing.count} wait to be tried again, ${givenUp.count} were given up`]
}
