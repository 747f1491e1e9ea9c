import { createHash } from 'node:crypto'
import { type Agent, type AgentRow, agentFromRow } from '../agents/agent.ts'
import { parseSettleTo } from '../agents/settle-to.ts'
import { raiseAlarm } from '../approvals/alarms.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { readWallet } from '../ledger/read-wallet.ts'
import { balancesAfter, seqAsOf } from '../ledger/wallet-as-of.ts'
import { mostWithFee, parseFeeRule } from '../lib/fee.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import { localTimeIn, startOfDay } from '../lib/local-time.ts'
import { minorPerUnit, toMinor } from '../lib/money.ts'
import { mondayOf } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import type { Desk } from '../teller/desk.ts'
import { createWithdraw } from './create-order.ts'

/** Clocks of other processes may be behind: by now they have all reached the new day. */
const settledMs = 10 * 60_000
const pageSize = 50

/** The refId of an agent's settlement of a day: there is at most one. */
export function settlementRef(day: string): string {
  return `settlement-${day}`
}

/**
 * Settles agents by their terms: every day, or on Mondays, an ordinary withdrawal to the agent's listed account.
 * It is of what was available when the day began, above what is to stay and less the fee, in whole units, and at
 * most one withdrawal's largest amount; the rest stays for the next time. What cannot be made now, because no
 * provider takes it, is tried again until the day is over.
 */
export class Settler {
  private readonly desk: Desk
  private readonly timeZone: string
  private readonly onError: (error: unknown) => void
  private after = 0n

  constructor(desk: Desk, timeZone: string, onError: (error: unknown) => void) {
    this.desk = desk
    this.timeZone = timeZone
    this.onError = onError
  }

  /** Looks at the next page of agents; after the last one it begins again. */
  async poll(): Promise<'done' | 'more'> {
    const at = new Date(this.desk.now().getTime() - settledMs)
    const start = startOfDay(at, this.timeZone)
    const day = localTimeIn(this.timeZone)(at).slice(0, 10)
    const agents = await readUnsettled(this.desk, this.after, day)
    this.after = agents.length < pageSize ? 0n : (agents.at(-1)?.agentId ?? 0n)
    for (const agent of agents) {
      // One agent that cannot be settled must not keep the others from it.
      await settle(this.desk, agent, { day, start }).catch((error) => {
        if (!(error instanceof Problem)) return this.onError(error)
        if (error.code !== 'limit_exceeded') return undefined
        return alarmRefused(this.desk, agent, { day, start }, error).catch(this.onError)
      })
    }
    return this.after === 0n ? 'done' : 'more'
  }
}

/** The agents that are to be settled on a day and were not yet. */
async function readUnsettled(desk: Desk, after: bigint, day: string): Promise<Agent[]> {
  const { rows } = await desk.pool.query<AgentRow>(
    `select a.* from agents a
     where a.agent_id > $1 and a.status = 'active' and a.settle = any($2::text[])
       and not exists (
         select 1 from orders o where o.agent_id = a.agent_id and o.ref_id = $3)
       and not exists (
         select 1 from archived_refs r where r.agent_id = a.agent_id and r.ref_id = $3)
     order by a.agent_id limit $4`,
    [after, mondayOf(day) === day ? ['daily', 'weekly'] : ['daily'], settlementRef(day), pageSize],
  )
  return rows.map(agentFromRow)
}

/** Creates the settlement, if there is anything to settle. Repeating it makes no second one. */
async function settle(
  desk: Desk,
  agent: Agent,
  { day, start }: { day: string; start: Date },
): Promise<void> {
  const amount = await settledAmount(desk, agent, start)
  const account = parseSettleTo(agent.settleTo ?? '', agent.currency)
  if (typeof account === 'string') throw new Error(`agent ${agent.appId}: ${account}`)
  if (amount < agent.minWithdraw) return
  const request = { refId: settlementRef(day), userId: 'settlement', extraParams: null }
  await createWithdraw(desk, agent, { ...request, ...account, amount })
}

/** Tells every admin, once a day, that a limit keeps an agent's money from being settled. */
async function alarmRefused(
  desk: Desk,
  { agentId, appId, name }: Agent,
  { day, start }: { day: string; start: Date },
  { message }: Problem,
): Promise<void> {
  const at = desk.now()
  const by = 'settlement'
  const ref = settlementRef(day)
  // The same for all processes, so that it is raised once.
  const digest = createHash('sha256').update(`${agentId} ${ref}`).digest('hex')
  const id = `${firstOrderIdAt(start).slice(0, 12)}${digest.slice(0, 20)}`
  await inTransaction(desk.pool, async (tx) => {
    const words = `${name} was not settled on ${day}: ${message}`
    if (!(await raiseAlarm(tx, { id, at, by, words }))) return
    await writeAudit(tx, {
      at,
      operator: { userId: null, email: by, ip: null },
      action: 'settle_agent',
      subject: { kind: 'agent', id: appId },
      agentId,
      after: { ref_id: ref },
      reason: message,
      outcome: 'refused',
    })
  })
}

/** In whole units. What has come in since the day began is for the next day. */
async function settledAmount(desk: Desk, agent: Agent, start: Date): Promise<bigint> {
  const { agentId, currency } = agent
  const rule = parseFeeRule(agent.withdrawFee, currency)
  if (typeof rule === 'string') throw new Error(`agent ${agent.appId}: ${rule}`)
  const then = await seqAsOf(desk.pool, agentId, new Date(start.getTime() - 1))
  const { available: before } = (await balancesAfter(desk.pool, agentId, then)).balances
  const { available: now } = (await readWallet(desk.pool, agentId)).balances
  const above = lesser(now, before) - toMinor(agent.settleKeep, currency)
  const unit = minorPerUnit(currency)
  return lesser(mostWithFee(above, rule, unit) / unit, agent.maxWithdraw)
}

function lesser(one: bigint, other: bigint): bigint {
  if (one > other) return other
  return one
}
