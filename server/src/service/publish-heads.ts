import { appendFile } from 'node:fs/promises'
import type { CallbackPoster } from '../callbacks/post-callback.ts'
import type { Config } from '../config.ts'
import type { Pool } from '../db/pool.ts'
import { signCallback } from '../lib/signature.ts'
import { readHeads } from '../proof/heads.ts'
import { version } from '../version.ts'
import type { Ground } from './ground.ts'

/** Writes the ends of all chains to where the settings say, so that they are known outside of the database too. */
export function makeHeadsPublisher(
  { config, log, clock }: Pick<Ground, 'config' | 'log' | 'clock'>,
  pool: Pool,
  poster: CallbackPoster,
): (() => Promise<void>) | undefined {
  const { heads } = config
  if (!heads.file && !heads.log && !heads.webhook) return undefined
  return async () => {
    const now = clock()
    const read = await readHeads(pool, now)
    const text = JSON.stringify(read)
    if (heads.log) log.info({ heads: read }, 'the ends of the chains')
    const results = await Promise.allSettled([
      heads.file && appendFile(heads.file, `${text}\n`, { mode: 0o600, flush: true }),
      heads.webhook && postHeads(poster, heads.webhook, Buffer.from(text), now),
    ])
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}

async function postHeads(
  poster: CallbackPoster,
  { url, secret }: NonNullable<Config['heads']['webhook']>,
  body: Buffer,
  now: Date,
): Promise<void> {
  const t = String(Math.floor(now.getTime() / 1000))
  const headers = {
    'content-type': 'application/json',
    'x-signature': `t=${t},v1=${signCallback(secret, t, body)}`,
    'user-agent': `Sluice/${version}`,
  }
  const { error } = await poster.post(url, headers, body)
  if (error !== null) throw new Error(`HEADS_WEBHOOK: ${error}`)
}
