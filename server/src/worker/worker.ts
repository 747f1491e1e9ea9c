import { keepApiLog } from '../agents/api-log.ts'
import { lookAtRule } from '../alert-rules/look-at-rules.ts'
import { channels } from '../alerts/alert.ts'
import type { SendMail } from '../alerts/alert-senders.ts'
import { type AlertSenders, deliverAlerts } from '../alerts/deliver-alerts.ts'
import { forgetAlerts, handOutAlert } from '../alerts/hand-out.ts'
import { keepWatch, type Trouble } from '../alerts/keep-watch.ts'
import { gatherHeld } from '../alerts/quiet-hours.ts'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { brokenConnections } from '../bank-accounts/bank-connections.ts'
import { releaseExpected } from '../bank-accounts/expected-deposits.ts'
import { fullAccounts } from '../bank-accounts/full-accounts.ts'
import { pruneSlips } from '../bank-accounts/slips.ts'
import { pruneAttempts } from '../callbacks/prune-attempts.ts'
import type { CallbackSender } from '../callbacks/sender.ts'
import { stuckLanes } from '../callbacks/stuck-lanes.ts'
import { forgetDeposits } from '../connectors/connector-deposits.ts'
import { dropPartition, makePartitionsAhead } from '../db/partitions.ts'
import type { Pool } from '../db/pool.ts'
import { CallbackCounter, foldInsights, forgetInsights } from '../insights/fold-insights.ts'
import { countForLimits, forgetOldUses } from '../ledger/limit-counting.ts'
import { endViews } from '../operators/agent-views.ts'
import { expireOrders, expiryPage } from '../orders/expire-orders.ts'
import { releaseReserves } from '../orders/release-reserves.ts'
import { Settler } from '../orders/settle-agents.ts'
import { DepositAsker } from '../payments/ask-deposits.ts'
import { bookFileSums, bookMovements, movementPage } from '../payments/book-movement.ts'
import type { BankInbox } from '../payments/fetch-bank-files.ts'
import { NoticeTaker } from '../payments/take-notice.ts'
import type { WatchedFolder } from '../payments/watch-folder.ts'
import { releaseCaughtUp } from '../payout-files/after-restore.ts'
import { followOrders } from '../payout-files/follow-orders.ts'
import { forgetDrafts } from '../payout-files/forget-drafts.ts'
import { goForwardWithAll, type Rests } from '../payout-files/go-forward.ts'
import { endItems, type PassingOn } from '../payout-files/item-ends.ts'
import { payoutAlarms } from '../payout-files/payout-alarms.ts'
import { putDueFiles } from '../payout-files/put-file.ts'
import { draftBeforeCutoffs } from '../payout-files/schedule-drafts.ts'
import { askAfterRestore } from '../payouts/ask-after-restore.ts'
import type { CallWatch } from '../payouts/pay-out.ts'
import type { PayoutRunner } from '../payouts/payout-runner.ts'
import { unknownPayouts } from '../payouts/unknown-payouts.ts'
import { otherFault, redBooks } from '../proof/red-books.ts'
import { proveOnward, RoundProof } from '../proof/verify.ts'
import { redDays } from '../reconcile/red-days.ts'
import { tellDigests } from '../reports/daily-digest.ts'
import { forgetReportFiles } from '../reports/report-schedule.ts'
import { sendReport, startReports } from '../reports/send-reports.ts'
import type { Desk } from '../teller/desk.ts'
import { HeldUpAgents } from '../teller/held-up-agents.ts'
import { FeeSweeper } from '../teller/sweep-fees.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface WorkerOptions {
  desk: Desk
  /** A separate pool, so that the proof never takes a connection from a request. */
  proofPool: Pool
  /** Where it is looked for what people are told of, and reports are read. */
  watchPool: Pool
  /** Whether this process proves the ledger continuously. */
  provesLedger: boolean
  sender: CallbackSender
  /** Where banks' files are put. */
  folder: WatchedFolder
  /** Fetches what banks put on their servers. */
  inbox: BankInbox
  /** Undefined if this process does not hand withdrawals to providers. */
  payouts: PayoutRunner | undefined
  /** How long attempts to deliver callbacks are kept; the latest attempt is always kept. */
  attemptsKeptMs: number
  /** How long the raw notices of providers are kept; their events are always kept. */
  noticesKeptMs: number
  /** The zone in which days begin. */
  timeZone: string
  /** How people are told outside of the console, and what to do about what did not reach them. */
  alerts: {
    senders: AlertSenders
    /** Undefined if mail is not set up. */
    sendMail: SendMail | undefined
    /** The addresses of a server that reports are brought to, or why they may not be dialled. */
    addressesOf: (host: string) => Promise<string[] | string>
    onGivenUp: (message: string) => void
  }
  /** Writes the ends of the chains elsewhere, every so often; undefined if nowhere. */
  heads: { publish: () => Promise<void>; everyMs: number } | undefined
  onError: (error: unknown) => void
  /** Called when the proof finds a fault that the previous round did not find. */
  onProofFailure: (finding: string) => void
}

/** Starts all background work. Any number of processes may do it at the same time. */
export function startWorker(options: WorkerOptions): Pick<Repeated, 'stop'> {
  const {
    desk,
    proofPool,
    watchPool,
    provesLedger,
    sender,
    folder,
    inbox,
    payouts,
    attemptsKeptMs,
    noticesKeptMs,
    timeZone,
    alerts,
    heads,
    onError,
  } = options
  const passOn: CallWatch['passOn'] = payouts && ((...given) => payouts.take(...given))
  const notices = new NoticeTaker(desk, onError, passOn)
  const deposits = new DepositAsker(desk, notices, onError)
  const fees = new FeeSweeper(desk, timeZone)
  const settler = new Settler(desk, timeZone, onError)
  const [expiring, releasing] = [new HeldUpAgents(1_000), new HeldUpAgents(1_000)]
  const filesAtRest: Rests = new Map()
  const passing: PassingOn | undefined = passOn && { passOn, untilMs: new Map() }
  const loops = [
    repeat(
      500,
      async () => ((await expireOrders(desk, expiring)) >= expiryPage ? 'more' : 'done'),
      onError,
    ),
    repeat(1_000, async () => ((await notices.finishLeftOvers()) > 0 ? 'more' : 'done'), onError),
    repeat(1_000, async () => ((await deposits.look()) > 0 ? 'more' : 'done'), onError),
    repeat(
      3_600_000,
      () => forgetDeposits(proofPool, new Date(desk.now().getTime() - depositsKeptMs), 1_000),
      onError,
    ),
    repeat(
      1_000,
      async () => ((await bookMovements(desk, onError)) >= movementPage ? 'more' : 'done'),
      onError,
    ),
    repeat(
      1_000,
      async () => {
        await goForwardWithAll(desk, onError, filesAtRest)
        await endItems(desk, 'all', onError, passing)
        await followOrders(desk.pool, 'open')
        return 'done'
      },
      onError,
    ),
    repeat(
      20_000,
      async () => {
        await askAfterRestore(desk, onError)
        await releaseCaughtUp(desk)
        await draftBeforeCutoffs(desk, onError)
        await forgetDrafts(desk, onError)
        return 'done'
      },
      onError,
    ),
    repeat(
      3_600_000,
      async () => {
        await followOrders(proofPool, 'all')
        return 'done'
      },
      onError,
    ),
    repeat(5_000, () => releaseExpected(proofPool, desk.now()), onError),
    repeat(5_000, () => folder.poll(), onError),
    repeat(10_000, () => inbox.poll(), onError),
    repeat(
      2_000,
      async () => {
        await putDueFiles(desk, onError)
        return 'done'
      },
      onError,
    ),
    repeat(
      30_000,
      async () => {
        await bookFileSums(desk, onError)
        return 'done'
      },
      onError,
    ),
    // A safety net: usually the sender is woken when a callback is due.
    repeat(
      1_000,
      async () => {
        await sender.poll()
        return 'done'
      },
      onError,
    ),
    repeat(60_000, () => fees.poll(), onError),
    repeat(60_000, () => settler.poll(), onError),
    repeat(30_000, () => endViews(desk.pool, desk.now()), onError),
    repeat(
      60_000,
      async () => ((await releaseReserves(desk, releasing)) > 0 ? 'more' : 'done'),
      onError,
    ),
    repeat(
      60_000,
      async () => {
        const before = new Date(desk.now().getTime() - attemptsKeptMs)
        return pruneAttempts(proofPool, before, 1_000)
      },
      onError,
    ),
    repeat(5_000, () => countForLimits(proofPool, desk.now(), { mostMs: 500 }), onError),
    repeat(3_600_000, () => pruneSlips(proofPool, desk.now()), onError),
    repeat(3_600_000, () => keepApiLog(proofPool, desk.now()), onError),
    ...insightLoops(desk, proofPool, timeZone, onError),
    ...alertLoops(desk, watchPool, alerts, onError),
    repeat(3_600_000, () => forgetOldUses(proofPool, desk.now(), 1_000), onError),
    repeat(
      3_600_000,
      async () => {
        await makePartitionsAhead(proofPool, desk.now())
        return 'done'
      },
      onError,
    ),
    repeat(
      3_600_000,
      async () => {
        const before = new Date(desk.now().getTime() - noticesKeptMs)
        return (await dropPartition(proofPool, 'notices', before)) ? 'more' : 'done'
      },
      onError,
    ),
  ]
  if (provesLedger) loops.push(proofLoop(options))
  if (heads) {
    const publish = async () => {
      await heads.publish()
      return 'done' as const
    }
    loops.push(repeat(heads.everyMs, publish, onError))
  }
  if (payouts) loops.push(repeat(1_000, () => payouts.poll(), onError))
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await deposits.stopped()
      await notices.stopped()
      await payouts?.stop()
      await sender.stop()
    },
  }
}

/** What part of the time the proof may take, and the longest it rests for that. */
const proofShare = 0.03
const longestRestMs = 5_000

/**
 * Proves the ledger: new rows every second, and old ones again, a limited number at a time. Both rest in between, so that
 * they cost the same on a large ledger and leave a busy machine to the orders: many new rows at once cost less each.
 */
function proofLoop({
  desk,
  proofPool,
  onError,
  onProofFailure,
}: Pick<WorkerOptions, 'desk' | 'proofPool' | 'onError' | 'onProofFailure'>): Repeated {
  const round = new RoundProof()
  let known: string[] = []
  let [restsUntilMs, restsAgainUntilMs] = [0, 0]
  const prove = async (again: boolean) => {
    const tell = (findings: readonly string[]) => {
      for (const finding of findings) if (!known.includes(finding)) onProofFailure(finding)
    }
    const { findings, fault } = await proveOnward(proofPool, desk.now(), { again })
    if (fault !== undefined) onError(fault)
    // Before the rest, which may fail.
    tell(findings)
    if (!again) {
      known = [...new Set([...known, ...findings])]
      return
    }
    const others = await round.step(proofPool, onError)
    tell(others)
    if (others.some((finding) => !known.includes(finding))) {
      await raiseAlert(proofPool, { ...otherFault, at: desk.now() })
    }
    known = [...findings, ...others]
  }
  return repeat(
    1_000,
    async () => {
      const startedMs = performance.now()
      if (startedMs < restsUntilMs) return 'done'
      const again = startedMs >= restsAgainUntilMs
      try {
        await prove(again)
      } finally {
        const endedMs = performance.now()
        const restMs = Math.min((endedMs - startedMs) / proofShare, longestRestMs)
        // New rows wait no longer because old ones were proved as well.
        if (again) restsAgainUntilMs = endedMs + restMs
        else restsUntilMs = endedMs + restMs
      }
      return 'done'
    },
    onError,
  )
}

/** Folds the journals into summaries, and forgets old ones. */
function insightLoops(
  { now }: Desk,
  proofPool: Pool,
  timeZone: string,
  onError: (error: unknown) => void,
): Repeated[] {
  const callbacks = new CallbackCounter(proofPool, timeZone, now)
  return [
    repeat(1_000, () => foldInsights(proofPool, { timeZone, now: now() }), onError),
    repeat(2_000, () => callbacks.look(), onError),
    repeat(3_600_000, () => forgetInsights(proofPool, now(), 1_000), onError),
  ]
}

/** How long a deposit at a connector is known by the company's own id. */
const depositsKeptMs = 90 * 86_400_000

/** How long files of reports are kept. */
const reportsKeptMs = 400 * 86_400_000

/** How long alerts are kept after they were handed out. */
const alertsKeptMs = 90 * 86_400_000

/** Looks for what people have to be told of, and tells them. */
function alertLoops(
  { pool, secretKeys, now }: Desk,
  watchPool: Pool,
  { senders, sendMail, addressesOf, onGivenUp }: WorkerOptions['alerts'],
  onError: (error: unknown) => void,
): Repeated[] {
  const available = channels.filter((channel) => senders[channel] !== undefined)
  const handOut = async () => {
    const isMore = await handOutAlert(pool, available, now())
    return isMore ? ('more' as const) : ('done' as const)
  }
  const troubles: [kind: Parameters<typeof keepWatch>[1], look: () => Promise<Trouble[]>][] = [
    ['payout_unknown', () => unknownPayouts(watchPool, now())],
    ['payout_alarm', () => payoutAlarms(watchPool)],
    ['callbacks_failing', () => stuckLanes(watchPool)],
    ['bank_connection', () => brokenConnections(watchPool)],
    ['bank_account_full', () => fullAccounts(watchPool)],
    ['proof_red', () => redBooks(watchPool)],
  ]
  const watch = async () => {
    for (const [kind, look] of troubles) {
      // One that fails keeps nobody from hearing of the others.
      const kept = look().then((found) => keepWatch(watchPool, kind, found, now()))
      await kept.catch(onError)
    }
    return 'done' as const
  }
  const watchBanks = async () => {
    await keepWatch(watchPool, 'reconcile_break', await redDays(watchPool, now()), now())
    return 'done' as const
  }
  return [
    repeat(2_000, handOut, onError),
    repeat(2_000, () => deliverAlerts(pool, secretKeys, senders, now, onGivenUp), onError),
    repeat(60_000, watch, onError),
    repeat(2_000, () => lookAtRule(watchPool, now), onError),
    repeat(10_000, () => gatherHeld(pool, now), onError),
    repeat(10_000, () => tellDigests(watchPool, now(), onError), onError),
    repeat(10_000, () => startReports({ pool: watchPool, now }), onError),
    repeat(
      5_000,
      () => sendReport({ pool, books: watchPool, secretKeys, now, sendMail, addressesOf }, onError),
      onError,
    ),
    repeat(
      3_600_000,
      () => forgetReportFiles(watchPool, new Date(now().getTime() - reportsKeptMs)),
      onError,
    ),
    repeat(3_600_000, watchBanks, onError),
    repeat(
      3_600_000,
      () => forgetAlerts(watchPool, new Date(now().getTime() - alertsKeptMs)),
      onError,
    ),
  ]
}
