import { signCallback } from '../lib/signature.ts'

/** The headers of one attempt to deliver a callback, signed with every live secret, newest first. */
export function callbackHeaders(callback: {
  appId: string
  /** Undefined for a test that is about no order. */
  kind: string | undefined
  secrets: readonly (string | Buffer)[]
  body: Buffer
  seq: bigint | number
  epoch: number
  attempt: number
  at: Date
  version: string
}): Record<string, string> {
  const { appId, kind, secrets, body, seq, epoch, attempt, at, version } = callback
  const t = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => `v1=${signCallback(secret, t, body)}`)
  return {
    'content-type': 'application/json',
    'x-appid': appId,
    'x-signature': [`t=${t}`, ...signatures].join(','),
    ...(kind && { 'x-event': eventOf(kind, body) }),
    'x-event-seq': String(seq),
    'x-event-epoch': String(epoch),
    'x-attempt': String(attempt),
    'user-agent': `Sluice/${version}`,
  }
}

/** Such as `deposit.paid`. The first status in the body is the order's: a quote inside a text is escaped. */
function eventOf(kind: string, body: Buffer): string {
  const [, status = ''] = /"status":"([A-Z]+)"/.exec(body.toString('latin1')) ?? []
  return `${kind}.${status.toLowerCase()}`
}
