import type { AddressInfo } from 'node:net'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { buildBankApi } from './bank-api.ts'
import { NoticeSender } from './notice-sender.ts'
import { isSomethingDue } from './notices.ts'
import { playDueActs } from './play-acts.ts'

const lookEveryMs = 100
/** While there is much to tell. */
const lookAgainMs = 10
const lookAgainAfterFaultMs = 1_000

export interface SandboxBankOptions {
  pool: Pool
  /** Shared with the bank's one customer: it opens the counter, and signs the notices. */
  key: Buffer
  now: Clock
  /** Where notices go; undefined while there is nobody to tell. */
  noticeUrl: () => string | undefined
  host?: string
  port?: number
  /** Whether the stories go on by themselves in this process. */
  tellStories: boolean
  onError: (error: unknown) => void
}

export interface SandboxBank {
  url: string
  /** Does all that is due by now, and returns how many acts and notices that was. */
  tick(): Promise<number>
  close(): Promise<void>
}

/**
 * Opens a counter of the sandbox's bank. All of the bank is in its book, so that any number of
 * processes can open one each, and a story goes on after a restart where it was.
 */
export async function startSandboxBank(options: SandboxBankOptions): Promise<SandboxBank> {
  const { pool, key, now, noticeUrl, host = '127.0.0.1', port = 0, tellStories, onError } = options
  const teller = new NoticeSender({ pool, key, now, noticeUrl, onError })
  const app = buildBankApi({ pool, key, now, teller, onError })
  await app.listen({ host, port })
  const address = app.server.address() as AddressInfo

  const round = async () => {
    if (!(await isSomethingDue(pool, now))) return lookEveryMs
    await playDueActs(pool, now())
    return (await teller.startDue()) > 0 ? lookAgainMs : lookEveryMs
  }
  const loop = tellStories ? startLoop(round, onError) : undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async tick() {
      let done = await playDueActs(pool, now())
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

/** Does rounds until it is stopped; each says after how long the next one comes. */
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
