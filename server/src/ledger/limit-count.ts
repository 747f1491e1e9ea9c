import type { Span } from '../lib/local-time.ts'
import type { Order } from './book.ts'
import {
  type AgentLimits,
  accountKey,
  countingKey,
  countsBackTo,
  countsForLimits,
  entryKey,
  type LimitFacts,
  type LimitPayee,
  type LimitSubject,
  type LimitUse,
  limitSubjects,
  quarterOf,
  subjectOf,
  type Use,
  useKey,
} from './limits.ts'

/** Keeps count for the limits while a batch is folded: what was read, and what the batch has changed so far. */
export class LimitCount {
  readonly newPayees: LimitPayee[] = []
  private readonly limits: ReadonlyMap<bigint, AgentLimits>
  /** By agent, kind, subject, and then by the quarter of an hour. */
  private readonly changed = new Map<string, Map<number, LimitUse>>()
  private readonly paid = new Set<string>()

  constructor(limits: ReadonlyMap<bigint, AgentLimits>) {
    this.limits = limits
  }

  /** What an agent's limits need to know about a new order; undefined if it has none. */
  factsFor(order: Order): LimitFacts | undefined {
    const { agentId } = order
    const limits = this.limits.get(agentId)
    if (!limits) return undefined
    return {
      rules: limits.rules,
      used: (per, subject, span) => this.used(limits, order, per, subject, span),
      isListed: (rule, value) => limits.listed.has(entryKey(rule, value)),
      isPayee: (account) =>
        !knowsPayees(limits) ||
        limits.payees.has(account) ||
        this.paid.has(`${agentId} ${account}`),
    }
  }

  /** Takes note of a new order, or of one that has changed. */
  change(before: Order | undefined, after: Order): void {
    const limits = this.limits.get(after.agentId)
    if (!limits) return
    const step = (countsForLimits(after) ? 1n : 0n) - (before && countsForLimits(before) ? 1n : 0n)
    if (step !== 0n) for (const per of limitSubjects) this.add(limits, after, per, step)
    // A refund to the payer waits for nothing, so refunds make no account a known one.
    if (after.kind !== 'withdraw' || after.status !== 'PAID' || after.refundOf !== null) return
    if (!limits.counting.has(countingKey('withdraw', 'payee'))) return
    const account = accountKey(after)
    const key = `${after.agentId} ${account}`
    if (this.paid.has(key)) return
    this.paid.add(key)
    this.newPayees.push({ agentId: after.agentId, account, orderId: after.orderId })
  }

  /** What has changed, each quarter of an hour once. */
  changes(): LimitUse[] {
    return [...this.changed.values()]
      .flatMap((quarters) => [...quarters.values()])
      .filter(({ amountMinor, orders }) => amountMinor !== 0n || orders !== 0n)
  }

  private add(limits: AgentLimits, order: Order, per: LimitSubject, step: bigint): void {
    const { agentId, kind, amountMinor, createdAt } = order
    const from = limits.counting.get(countingKey(kind, per))
    if (!from || createdAt < from) return
    const subject = subjectOf(order, per)
    const key = `${agentId} ${countingKey(kind, per)} ${subject}`
    const quarters = this.changed.get(key) ?? new Map<number, LimitUse>()
    this.changed.set(key, quarters)
    const startsAt = quarterOf(createdAt)
    const use = quarters.get(startsAt.getTime()) ?? {
      agentId,
      kind,
      per,
      subject,
      startsAt,
      amountMinor: 0n,
      orders: 0n,
    }
    quarters.set(startsAt.getTime(), {
      ...use,
      amountMinor: use.amountMinor + step * amountMinor,
      orders: use.orders + step,
    })
  }

  private used(
    limits: AgentLimits,
    { agentId, kind }: Order,
    per: LimitSubject,
    subject: string,
    span: Span,
  ): Use {
    // Sums that are not kept up to date say nothing. What is counted in part is less than what was used, so that
    // nothing is refused without need.
    const isCounted = limits.counting.has(countingKey(kind, per))
    const read = isCounted ? limits.used.get(useKey(kind, per, subject, span)) : undefined
    let { amountMinor, orders } = read ?? { amountMinor: 0n, orders: 0n }
    const quarters = this.changed.get(`${agentId} ${countingKey(kind, per)} ${subject}`)
    for (const use of quarters?.values() ?? []) {
      if (use.startsAt < span.start || use.startsAt >= span.end) continue
      amountMinor += use.amountMinor
      orders += use.orders
    }
    return { amountMinor, orders }
  }
}

/** Until all accounts that were ever paid are known, none is taken for a new one. */
function knowsPayees({ counting }: AgentLimits): boolean {
  const from = counting.get(countingKey('withdraw', 'payee'))
  return from !== undefined && from <= countsBackTo('payee', from)
}
