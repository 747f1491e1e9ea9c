import { createHash } from 'node:crypto'
import { type Agent, type AgentRow, agentFromRow } from '../agents/agent.ts'
import { parseSettleTo } from '../agents/settle-to.ts'
import { raiseAlarm } from '../approvals/alarms.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { readWallet } from '../ledger/read-wallet.ts'
import { balancesAfter, seqAsOf } from '../ledger/wallet-as-of.ts'
import { mostWithFee, parseFeeRule } from '../lib/fee.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { minorPerUnit, toMinor } from '../lib/money.ts'
import { daysAfter, mondayOf, startOfDate } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import { isHeld } from '../routing/stops.ts'
import type { Desk } from '../teller/desk.ts'
import { createWithdraw } from './create-order.ts'

/** Clocks of other processes may be behind: by now they have all reached the new day. */
const settledMs = 10 * 60_000
const pageSize = 50

/** The refId of an agent's settlement of a day: there is at most one. */
export function settlementRef(day: string): string {
  return `settlement-${day}`
}

/** A day that an agent is settled for. */
interface Day {
  day: string
  start: Date
}

/**
 * Settles agents by their terms: every day, or on Mondays, an ordinary withdrawal to the agent's listed account.
 * It is of what was available when the day began, above what is to stay and less the fee, in whole units, and at
 * most one withdrawal's largest amount; the rest stays for the next time. What cannot be made now, because no
 * provider takes it, is tried again until the day is over, a Monday's until the week is. Admins are told of what is
 * still not made in the last hour of a day.
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
    // What was settled in the time that a restore lost would be settled once more.
    if (await isHeld(this.desk.pool)) return 'done'
    const at = new Date(this.desk.now().getTime() - settledMs)
    const today = this.day(localTimeIn(this.timeZone)(at).slice(0, 10))
    const monday = this.day(mondayOf(today.day))
    const tomorrow = this.day(daysAfter(today.day, 1))
    const isLastHour = tomorrow.start.getTime() - at.getTime() <= 3_600_000
    const agents = await this.readUnsettled(today, monday)
    this.after = agents.length < pageSize ? 0n : (agents.at(-1)?.agentId ?? 0n)
    for (const agent of agents) {
      const day = agent.settle === 'weekly' ? monday : today
      // One agent that cannot be settled must not keep the others from it.
      await settle(this.desk, agent, day).catch((error) => {
        if (!(error instanceof Problem)) return this.onError(error)
        // A limit will hardly be another one before the day is over; the rest may pass.
        if (error.code !== 'limit_exceeded' && !isLastHour) return undefined
        return alarmRefused(this.desk, agent, day, error).catch(this.onError)
      })
    }
    return this.after === 0n ? 'done' : 'more'
  }

  private day(day: string): Day {
    return { day, start: startOfDate(day, this.timeZone) }
  }

  /**
   * The agents that are to be settled now and were not yet. One that was changed since Monday is settled for the next
   * one, unless the audit log says that it was weekly before every change.
   */
  private async readUnsettled(today: Day, monday: Day): Promise<Agent[]> {
    const { rows } = await this.desk.pool.query<AgentRow>(
      `select a.* from wallets w join agents a on a.agent_id = w.agent_id
       left join orders o on o.agent_id = w.agent_id
         and o.ref_id = case a.settle when 'weekly' then $3 else $2 end
       left join archived_refs r on r.agent_id = w.agent_id
         and r.ref_id = case a.settle when 'weekly' then $3 else $2 end
       where w.agent_id > $1 and a.status = 'active' and o.ref_id is null and r.ref_id is null
         and (a.settle = 'daily'
           or a.settle = 'weekly' and ($2 = $3 or a.updated_at < $4 or a.created_at < $4 and (
             select bool_and(l.before->>'settle' = 'weekly') from audit_log l
             where l.agent_id = a.agent_id and l.subject_kind = 'agent' and l.at >= $4)))
       order by w.agent_id limit $5`,
      [
        this.after,
        settlementRef(today.day),
        settlementRef(monday.day),
        startOfDate(daysAfter(monday.day, 1), this.timeZone),
        pageSize,
      ],
    )
    return rows.map(agentFromRow)
  }
}

/** Creates the settlement, if there is anything to settle. Repeating it makes no second one. */
async function settle(desk: Desk, agent: Agent, { day, start }: Day): Promise<void> {
  const amount = await settledAmount(desk, agent, start)
  const account = parseSettleTo(agent.settleTo ?? '', agent.currency)
  if (typeof account === 'string') throw new Error(`agent ${agent.appId}: ${account}`)
  if (amount < agent.minWithdraw) return
  const request = { refId: settlementRef(day), userId: 'settlement', extraParams: null }
  // The wallet may have changed since it was read: what is to stay is kept under its lock.
  const leaveMinor = toMinor(agent.settleKeep, agent.currency)
  await createWithdraw(desk, agent, { ...request, ...account, amount }, { leaveMinor })
}

/** Tells every admin, once for each settlement, that an agent's money was not settled, and why. */
async function alarmRefused(
  desk: Desk,
  { agentId, appId, name }: Agent,
  { day, start }: Day,
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
