import { signRequest } from '../lib/signature.ts'
import { UsageError } from './usage-error.ts'

/** An outcome as `GET /payment/events` returns it. */
export interface AgentEvent {
  seq: number
  epoch: number
  txn_id: string
  ref_id: string
  kind: string
  status: string
  at: string
  /** The exact bytes of the callback. */
  body: string
}

/** The service gave no usable answer; the request can be repeated. */
export class NotNow extends Error {}

/** An agent's access to the API, as far as `sluice listen` needs it. */
export interface Credentials {
  /** The base URL, without a trailing slash. */
  url: string
  appId: string
  secret: string
}

const answerLimitMs = 15_000

/** Where an agent is in its outcomes: an event's number counts within its epoch. */
export interface EventPlace {
  seq: number
  /** Unknown before the first event that was seen. */
  epoch: number | undefined
}

/** Fetches the next outcomes after one, oldest first. */
export async function eventsAfter(
  agent: Credentials,
  { seq, epoch }: EventPlace,
): Promise<AgentEvent[]> {
  const { data } = await ask(
    agent,
    `/payment/events?after=${seq}&limit=200${epoch === undefined ? '' : `&epoch=${epoch}`}`,
  )
  if (!Array.isArray(data)) throw new NotNow('the answer is not a list of events')
  return data.map((event) => {
    const fault = eventFault(event)
    if (fault !== undefined) throw new UsageError(`the service's answer is not right: ${fault}`)
    return event
  })
}

/** The latest entry in the agent's wallet. */
export async function lastPlace(agent: Credentials): Promise<EventPlace> {
  const { seq } = await ask(agent, '/payment/wallet')
  if (typeof seq !== 'number') throw new NotNow('the answer has no seq')
  return { seq, epoch: undefined }
}

/** Describes how an event differs from the body of its callback; undefined if they agree. */
function eventFault(event: AgentEvent): string | undefined {
  let body: Record<string, unknown>
  try {
    body = JSON.parse(event.body)
  } catch {
    return `event ${event.seq} has no callback that can be read`
  }
  const pairs: [string, unknown, unknown][] = [
    ['txn_id', event.txn_id, body.transactionId],
    ['ref_id', event.ref_id, body.refId],
    ['status', event.status, body.status],
  ]
  const odd = pairs.find(([, told, written]) => told !== written)
  return odd && `${odd[0]} of event ${event.seq} is not that of its callback`
}

async function ask(agent: Credentials, path: string): Promise<Record<string, unknown>> {
  const { url, appId, secret } = agent
  const t = String(Math.floor(Date.now() / 1000))
  const signedPath = new URL(url).pathname.replace(/\/$/, '') + path
  let answer: Response
  let text: string
  try {
    answer = await fetch(url + path, {
      headers: {
        'x-appid': appId,
        'x-signature': `t=${t},v1=${signRequest(secret, t, 'GET', signedPath, '')}`,
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(answerLimitMs),
    })
    text = await answer.text()
  } catch (error) {
    throw new NotNow(`${url} does not answer: ${reasonOf(error)}`)
  }
  if (answer.status === 429 || answer.status >= 500) {
    throw new NotNow(`${url} answers ${answer.status}`)
  }
  if (answer.status !== 200) throw new UsageError(refusal(agent, answer.status, text))
  return JSON.parse(text)
}

/** Explains why the service rejects the agent's requests, and what to do. */
function refusal({ url, appId }: Credentials, status: number, text: string): string {
  const [, code] = /"code":"(\w+)"/.exec(text) ?? []
  const [, detail = ''] = /"detail":"([^"]*)"/.exec(text) ?? []
  switch (code) {
    case 'invalid_signature':
      return `the service refuses the signature: is ${appId} the app id, is the secret its secret, and is ${url} the service's PUBLIC_URL?`
    case undefined:
      return `${url} answers ${status}: is it the base address of the service?`
    default:
      return `the service refuses: ${code}: ${detail}`
  }
}

/** The reason why a fetch failed, which is in the error's cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  return cause instanceof Error ? cause.message : error.message
}
