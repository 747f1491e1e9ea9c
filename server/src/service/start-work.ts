import { vettedAddresses } from '../agents/callback-url.ts'
import type { ResolveHost } from '../agents/resolve-host.ts'
import { makeAlertSenders, makeMailer } from '../alerts/alert-senders.ts'
import type { CallbackPoster } from '../callbacks/post-callback.ts'
import type { CallbackSender } from '../callbacks/sender.ts'
import type { Pool } from '../db/pool.ts'
import { BankInbox } from '../payments/fetch-bank-files.ts'
import { WatchedFolder } from '../payments/watch-folder.ts'
import { PayoutRunner } from '../payouts/payout-runner.ts'
import type { Desk } from '../teller/desk.ts'
import type { Teller } from '../teller/teller.ts'
import { version } from '../version.ts'
import { startWorker } from '../worker/worker.ts'
import type { Ground } from './ground.ts'
import { makeHeadsPublisher } from './publish-heads.ts'

const dayMs = 86_400_000

/**
 * Starts all background work, and hands withdrawals to providers as soon as they are on disk. Returns what does
 * so, unless this process leaves it to others.
 */
export function startWork(
  { config, log, clock, closing, onError }: Ground,
  options: {
    desk: Desk
    teller: Teller
    sender: CallbackSender
    proofPool: Pool
    watchPool: Pool
    resolveHost: ResolveHost
    paysOut: boolean
    provesLedger: boolean
    poster: CallbackPoster
  },
): PayoutRunner | undefined {
  const { desk, teller, sender, proofPool, watchPool, paysOut, provesLedger, poster } = options
  const { resolveHost } = options
  const publish = makeHeadsPublisher({ config, log, clock }, proofPool, poster)
  const senders = makeAlertSenders(config.alerts, {
    post: (...given) => poster.post(...given),
    link: () => `${desk.publicUrl()}/console`,
    now: clock,
    version,
  })
  const payouts = paysOut ? new PayoutRunner(desk, 64, onError) : undefined
  if (payouts) {
    teller.onOrder((order) => {
      if (order.kind === 'withdraw' && order.status === 'WAITING') payouts.offer(order)
    })
  }
  const worker = startWorker({
    desk,
    payouts,
    proofPool,
    watchPool,
    provesLedger,
    sender,
    folder: new WatchedFolder(
      config.dataDir,
      desk,
      config.mode,
      (file, fault) => log.error({ file }, `a bank's file is refused: ${fault.message}`),
      onError,
    ),
    inbox: new BankInbox(
      desk,
      config.mode,
      60_000,
      (file, reason) => log.error({ file }, `a bank's file is refused: ${reason}`),
      onError,
    ),
    attemptsKeptMs: config.attemptsKeptDays * dayMs,
    noticesKeptMs: config.noticesKeptDays * dayMs,
    timeZone: config.timeZone,
    alerts: {
      senders,
      sendMail: config.alerts.mail && makeMailer(config.alerts.mail),
      addressesOf: (host) => vettedAddresses(host, config.callbackTargets, resolveHost),
      onGivenUp: (message) => log.error(message),
    },
    heads: publish && { publish, everyMs: config.heads.everyMinutes * 60_000 },
    onError,
    onProofFailure: (finding) => log.fatal({ finding }, 'the ledger does not prove'),
  })
  closing.add(() => worker.stop())
  return payouts
}
