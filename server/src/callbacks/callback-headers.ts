import { signCallback } from '../lib/signature.ts'

/** The headers of one attempt to deliver a callback, signed with every live secret, newest first. */
export function callbackHeaders(callback: {
  appId: string
  secrets: readonly (string | Buffer)[]
  body: Buffer
  seq: bigint | number
  attempt: number
  at: Date
  version: string
}): Record<string, string> {
  const { appId, secrets, body, seq, attempt, at, version } = callback
  const t = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => `v1=${signCallback(secret, t, body)}`)
  return {
    'content-type': 'application/json',
    'x-appid': appId,
    'x-signature': [`t=${t}`, ...signatures].join(','),
    'x-event-seq': String(seq),
    'x-attempt': String(attempt),
    'user-agent': `Sluice/${version}`,
  }
}
