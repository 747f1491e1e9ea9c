import { type Agent, type AgentRow, agentFromRow } from '../agents/agent.ts'
import { parseSettleTo } from '../agents/settle-to.ts'
import { readWallet } from '../ledger/read-wallet.ts'
import { balancesAfter, seqAsOf } from '../ledger/wallet-as-of.ts'
import { mostWithFee, parseFeeRule } from '../lib/fee.ts'
import { localTimeIn, startOfDay } from '../lib/local-time.ts'
import { minorPerUnit, toMinor } from '../lib/money.ts'
import { mondayOf } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
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
        if (!(error instanceof Problem)) this.onError(error)
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
