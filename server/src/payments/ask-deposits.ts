import { setTimeout as pause } from 'node:timers/promises'
import {
  askDepositAgain,
  type ConnectorDeposit,
  claimDueDeposits,
  nextAskMs,
} from '../connectors/connector-deposits.ts'
import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { callWithin } from '../lib/call-within.ts'
import { toCollect } from '../orders/to-collect.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import type { NoticeTaker } from './take-notice.ts'

const callLimitMs = 10_000
/** A deposit belongs to who asks about it for so long. */
const leaseMs = 30_000
const atOnce = 32
/** How long after its end a deposit is still asked about: money may come late. */
const afterEndMs = 86_400_000
const longestPauseMs = 900_000
/** How often to look whether a provider that is off is on again. */
const offPauseMs = 60_000

/** How long a round waits for its questions; a provider that takes longer holds up nobody else's. */
const roundMs = 500

/**
 * Asks providers about deposits that are not paid yet, where a provider wants to be asked. What it says is taken like a
 * notice. Each provider has its own places, and is asked again once all its answers are there.
 */
export class DepositAsker {
  private readonly desk: Desk
  private readonly taker: Pick<NoticeTaker, 'take'>
  private readonly onError: (error: unknown) => void
  /** By provider: how many deposits it is being asked about. */
  private readonly underWay = new Map<string, Promise<number>>()

  constructor(desk: Desk, taker: Pick<NoticeTaker, 'take'>, onError: (error: unknown) => void) {
    this.desk = desk
    this.taker = taker
    this.onError = onError
  }

  /** Asks what is due, and does not wait for a provider that takes long. Returns how many were asked about. */
  look(): Promise<number> {
    return Promise.race([this.ask(), pause(roundMs, 0, { ref: false })])
  }

  /** Asks each provider that is not being asked at the moment, and waits for their answers. */
  async ask(): Promise<number> {
    const idle = this.desk.providers.all.filter(
      ({ name, askDeposit }) => askDeposit !== undefined && !this.underWay.has(name),
    )
    for (const provider of idle) {
      const asking = this.askOf(provider)
        .catch((error) => {
          this.onError(error)
          return 0
        })
        .finally(() => this.underWay.delete(provider.name))
      this.underWay.set(provider.name, asking)
    }
    const counts = await Promise.all(idle.map(({ name }) => this.underWay.get(name) ?? 0))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Waits for all questions that are under way. */
  async stopped(): Promise<void> {
    await Promise.all(this.underWay.values())
  }

  private async askOf(provider: Provider): Promise<number> {
    const { pool, now } = this.desk
    const places = Math.min(atOnce, provider.callsAtOnce ?? atOnce)
    const due = await claimDueDeposits(pool, [provider.name], timeToPass(now), leaseMs, places)
    await Promise.all(
      due.map((each) => askAbout(this.desk, this.taker, provider, each).catch(this.onError)),
    )
    return due.length
  }
}

async function askAbout(
  desk: Desk,
  taker: Pick<NoticeTaker, 'take'>,
  provider: Provider,
  deposit: ConnectorDeposit,
): Promise<void> {
  const { pool, now, providers } = desk
  const again = (askInMs: number | null) => askDepositAgain(pool, deposit, askInMs, timeToPass(now))
  const order = await findOrder(pool, deposit.agentId, deposit.orderId)
  const endMs = (order?.expiresAt?.getTime() ?? 0) + afterEndMs
  // Money may come after the provider or the agent has ended it, too, and be taken back after it came. With two ids the
  // payer may pay both.
  const mayChange = provider.asksPaidDeposits || deposit.theirIds.length > 1
  const isOver = order?.status === 'PAID' ? !mayChange : order?.status === 'REVERT'
  if (!order || isOver || order.provider !== provider.name || now().getTime() > endMs) {
    return again(null)
  }
  if ((await providers.stateOf(provider.name)) === 'off') return again(offPauseMs)
  let isClear = true
  for (const theirId of deposit.theirIds.length > 0 ? deposit.theirIds : [null]) {
    const asked = { ...toCollect(order, deposit.code), use: deposit.use, theirId }
    const said = await callWithin(callLimitMs, undefined, async (signal) =>
      provider.askDeposit?.(asked, signal),
    ).catch(() => undefined)
    isClear &&= said !== undefined
    // What a company says of a paid deposit later, and no rule knows, is no news: only that its money is gone would be.
    const isNews = ({ type }: ProviderEvent) =>
      type !== 'unread' || order.status !== 'PAID' || deposit.theirIds.length > 1
    const events = said?.events.filter(isNews) ?? []
    if (said && events.length > 0) await taker.take(provider, events, said.body)
  }
  await again(pauseMs(deposit, order, isClear, now().getTime()))
}

/** Steadily while the payer may pay any moment, then less and less often. */
function pauseMs(
  { asks, everyS: every }: ConnectorDeposit,
  { status, expiresAt, completedAt }: Order,
  isClear: boolean,
  nowMs: number,
): number {
  const everyS = every ?? 15
  if (status === 'WAITING' && isClear) {
    return nextAskMs(everyS, (expiresAt?.getTime() ?? 0) - nowMs)
  }
  if (status === 'PAID') return Math.max(longestPauseMs, nowMs - (completedAt?.getTime() ?? nowMs))
  return Math.min(everyS * 1_000 * 2 ** Math.min(asks, 10), longestPauseMs)
}
