import type { Callback } from './callback.ts'
import { signCallback, utf8 } from './signature.ts'

export interface MakeCallbackOptions {
  appId?: string
  /** The time of the signature; now by default. */
  at?: Date
  eventSeq?: number
  eventEpoch?: number
  attempt?: number
}

export interface MadeCallback {
  body: string
  headers: Record<string, string>
}

/** Makes a callback as the service would send it, for an agent's tests. Given fields override defaults. */
export async function makeCallback(
  fields: Partial<Callback>,
  secrets: string | readonly string[],
  {
    appId = 'app_test',
    at = new Date(),
    eventSeq = 1,
    eventEpoch = 0,
    attempt = 1,
  }: MakeCallbackOptions = {},
): Promise<MadeCallback> {
  const body = JSON.stringify({
    refId: 'ref-1',
    transactionId: `1-${'0'.repeat(32)}`,
    userId: 'user-1',
    amount: 100,
    fee: 0,
    status: 'PAID',
    extParams: {},
    successAt: at.toISOString().slice(0, 19).replace('T', ' '),
    wallet: { balance: 100 },
    ...fields,
  })
  const t = String(Math.floor(at.getTime() / 1000))
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-appid': appId,
      'x-signature': await signCallback([secrets].flat(), t, utf8(body)),
      'x-event-seq': String(eventSeq),
      'x-event-epoch': String(eventEpoch),
      'x-attempt': String(attempt),
    },
  }
}
