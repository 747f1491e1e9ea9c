import type { AddressInfo } from 'node:net'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { buildBankApi } from './bank-api.ts'
import { NoticeSender } from './notice-sender.ts'
import { untilDueMs } from './notices.ts'
import { playDueActs } from './play-acts.ts'

/** The longest pause, since other processes book too, and the shortest, while many notices are due. */
const lookEveryMs = 250
const lookAgainMs = 10
const lookAgainAfterFaultMs = 1_000

export interface SandboxBankOptions {
  pool: Pool
  /** Shared with the bank's only customer: it authorises calls and signs notices. */
  key: Buffer
  now: Clock
  /** Where notices go; undefined while there is no receiver. */
  noticeUrl: () => string | undefined
  host?: string
  port?: number
  /** Whether this process plays the stories. */
  tellStories: boolean
  onError: (error: unknown) => void
}

export interface SandboxBank {
  url: string
  /** Does everything that is due now, and returns the number of acts and notices. */
  tick(): Promise<number>
  close(): Promise<void>
}

/**
 * Starts the sandbox bank's HTTP interface. The bank's whole state is in its book, so any number of processes
 * can run it, and a story continues after a restart.
 */
export async function startSandboxBank(options: SandboxBankOptions): Promise<SandboxBank> {
  const { pool, key, now, noticeUrl, host = '127.0.0.1', port = 0, tellStories, onError } = options
  const teller = new NoticeSender({ pool, key, now, noticeUrl, onError })
  const app = buildBankApi({ pool, key, now, teller, onError })
  await app.listen({ host, port })
  const address = app.server.address() as AddressInfo

  const round = async () => {
    const untilMs = (await untilDueMs(pool, now)) ?? lookEveryMs
    if (untilMs > 0) return Math.min(Math.ceil(untilMs), lookEveryMs)
    const played = await playDueActs(pool, now, teller, onError)
    return played + (await teller.startDue()) > 0 ? lookAgainMs : lookEveryMs
  }
  const loop = tellStories ? startLoop(round, onError) : undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async tick() {
      let done = await playDueActs(pool, now, teller, onError)
      await teller.settled()
      for (let told = await teller.startDue(); told > 0; told = await teller.startDue()) {
        await teller.settled()
        done += told
      }
      return done
    },
    async close() {
      await loop?.stop()
      await teller.close()
      await app.close()
    },
  }
}

/** Runs rounds until stopped; each round returns the delay before the next. */
function startLoop(round: () => Promise<number>, onError: (error: unknown) => void) {
  let isStopped = false
  let wake = () => {}
  const running = (async () => {
    while (!isStopped) {
      const waitMs = await round().catch((error) => {
        onError(error)
        return lookAgainAfterFaultMs
      })
      if (isStopped) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  })()
  return {
    stop() {
      isStopped = true
      wake()
      return running
    },
  }
}
