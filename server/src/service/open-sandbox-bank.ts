import type { Backend } from '../backend.ts'
import { openPool } from '../db/pool.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { derivedKey } from '../lib/secret-box.ts'
import { startSandboxBank } from '../sandbox-bank/start-sandbox-bank.ts'

/** The key that the service and the sandbox bank share. */
export function bankKey({ secretKeys }: Backend): Buffer {
  return derivedKey(secretKeys[0], 'sandbox bank')
}

/** Opens a sandbox bank in this process. */
export async function openSandboxBank(
  backend: Backend,
  options: {
    clock?: Clock
    tellStories: boolean
    noticeUrl: () => string | undefined
    onError: (error: unknown) => void
  },
): Promise<{ url: string; close(): Promise<void> }> {
  const { clock = systemClock, tellStories, noticeUrl, onError } = options
  const pool = openPool({
    url: backend.databaseUrl,
    max: 4,
    name: 'sluice sandbox bank',
    gate: backend.gate,
    onError,
  })
  const bank = await startSandboxBank({
    pool,
    key: bankKey(backend),
    now: clock,
    noticeUrl,
    tellStories,
    onError,
  })
  return {
    url: bank.url,
    async close() {
      await bank.close()
      await pool.end()
    },
  }
}
