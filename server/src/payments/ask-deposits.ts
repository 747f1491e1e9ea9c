import {
  askDepositAgain,
  type ConnectorDeposit,
  claimDueDeposits,
} from '../connectors/connector-deposits.ts'
import { timeToPass } from '../db/database-time.ts'
import { findOrder } from '../ledger/find-order.ts'
import { callWithin } from '../lib/call-within.ts'
import { toCollect } from '../orders/to-collect.ts'
import type { Provider } from '../providers/provider.ts'
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

/**
 * Asks providers about deposits that are not paid yet, where a provider wants to be asked. What it says is taken like a
 * notice. Returns how many were asked about.
 */
export async function askDeposits(
  desk: Desk,
  taker: Pick<NoticeTaker, 'take'>,
  onError: (error: unknown) => void,
): Promise<number> {
  const askable = desk.providers.all.filter(({ askDeposit }) => askDeposit !== undefined)
  if (askable.length === 0) return 0
  const names = askable.map(({ name }) => name)
  const at = timeToPass(desk.now)
  const due = await claimDueDeposits(desk.pool, names, at, leaseMs, atOnce)
  await Promise.all(
    due.map(async (deposit) => {
      const provider = askable.find(({ name }) => name === deposit.connector)
      if (provider) await askAbout(desk, taker, provider, deposit).catch(onError)
    }),
  )
  return due.length
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
  // Money may come after the provider or the agent has ended it, too.
  const mayBePaid = order?.status !== 'PAID' && order?.status !== 'REVERT'
  if (!order || !mayBePaid || order.provider !== provider.name || now().getTime() > endMs) {
    return again(null)
  }
  if ((await providers.stateOf(provider.name)) === 'off') return again(offPauseMs)
  let isClear = true
  for (const theirId of deposit.theirIds.length > 0 ? deposit.theirIds : [null]) {
    const asked = { ...toCollect(order), use: deposit.use, theirId }
    const said = await callWithin(callLimitMs, undefined, async (signal) =>
      provider.askDeposit?.(asked, signal),
    ).catch(() => undefined)
    isClear &&= said !== undefined
    if (said && said.events.length > 0) await taker.take(provider, said.events, said.body)
  }
  await again(pauseMs(deposit, order.status === 'WAITING' && isClear))
}

/** Steadily while the payer may pay any moment, then less and less often. */
function pauseMs({ asks, everyS }: ConnectorDeposit, isNear: boolean): number {
  const everyMs = (everyS ?? 15) * 1_000
  return isNear ? everyMs : Math.min(everyMs * 2 ** Math.min(asks, 10), longestPauseMs)
}
