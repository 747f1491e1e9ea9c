import { signRequest } from './signature.ts'
import { SluiceError, unknownOutcome } from './sluice-error.ts'

/** One agent at one service. */
export interface Connection {
  baseUrl: URL
  appId: string
  secret: string
  timeoutMs: number
  retries: number
  fetch: (url: string, init: RequestInit) => Promise<Response>
}

export interface Call {
  method: 'GET' | 'POST'
  /** The path below the base URL, with its query. */
  path: string
  /** Called for every attempt, so that the timestamp is fresh. */
  body?: () => string
  /** Set for a creation, which must not be reported as failed if it may have happened. */
  refId?: string
  /** Never retry this call automatically. */
  once?: boolean
  signal?: AbortSignal | undefined
}

export interface Answer<T> {
  value: T
  headers: Headers
}

const firstWaitMs = 250
const maxWaitMs = 10_000

/**
 * Sends a call and retries it where that can help. Every call of this API may be repeated: creation is
 * idempotent by refId. Each attempt gets a fresh timestamp and signature.
 */
export async function sendRequest<T>(connection: Connection, call: Call): Promise<Answer<T>> {
  const { refId, signal } = call
  const retries = call.once ? 0 : connection.retries
  let mayHaveHappened = false
  const ended = (why: unknown) =>
    refId !== undefined && mayHaveHappened ? unknownOutcome(refId, why) : why

  for (let failures = 0; ; ) {
    if (signal?.aborted) throw ended(signal.reason)
    try {
      return await attempt<T>(connection, call)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      // A refusal proves that there is no order only if every earlier attempt was refused too:
      // any other attempt may still take effect.
      mayHaveHappened ||= !isRefusal(error)
      if (!error.retryable || ++failures > retries) {
        throw signal?.aborted ? ended(signal.reason) : ended(error)
      }
      await pause(waitMs(failures, error.retryAfterS), signal)
    }
  }
}

/** Whether the service itself refused the call. */
function isRefusal({ code, status = 0 }: SluiceError): boolean {
  return code !== 'bad_answer' && status >= 400 && status < 500
}

async function attempt<T>(connection: Connection, call: Call): Promise<Answer<T>> {
  const { baseUrl, appId, secret, timeoutMs, fetch } = connection
  const { method } = call
  const url = new URL(baseUrl.pathname.replace(/\/+$/, '') + call.path, baseUrl)
  const body = call.body?.()
  const t = String(Math.floor(Date.now() / 1000))
  // Sign the path as the URL spells it, because that is what is sent.
  const signature = await signRequest(secret, t, method, url.pathname + url.search, body ?? '')
  const deadline = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  try {
    response = await fetch(url.href, {
      method,
      headers: {
        'x-appid': appId,
        'x-signature': signature,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      // The signature is valid for this address only, so do not follow redirects.
      redirect: 'manual',
      signal: call.signal ? AbortSignal.any([call.signal, deadline]) : deadline,
    })
    text = await response.text()
  } catch (cause) {
    const why = deadline.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause)
    throw new SluiceError({
      code: 'no_answer',
      message: `${method} ${url.pathname}: ${why}`,
      retryable: true,
      cause,
    })
  }
  const value = objectIn(text)
  if (response.ok && value) return { value: value as T, headers: response.headers }
  throw refusal(response, value, `${method} ${url.pathname}`)
}

function refusal(
  { status, headers }: Response,
  problem: Record<string, unknown> | undefined,
  what: string,
): SluiceError {
  const retryAfterS = secondsIn(headers.get('retry-after'))
  const requestId = headers.get('x-request-id') ?? undefined
  const passes = status === 408 || status === 429 || status >= 500
  if (status >= 400 && typeof problem?.code === 'string') {
    return new SluiceError({
      code: problem.code,
      message: String(problem.detail ?? problem.title ?? problem.code),
      status,
      requestId,
      errors: Array.isArray(problem.errors) ? problem.errors : [],
      retryable: passes,
      retryAfterS,
    })
  }
  const moved = headers.get('location')
  return new SluiceError({
    code: 'bad_answer',
    message: `${what}: the answer with status ${status} is not the service's own${moved ? `, and points to ${moved}` : ''}; check baseUrl and what stands between`,
    status,
    requestId,
    retryable: passes || status < 300,
    retryAfterS,
  })
}

/** The wait that the service asked for, within bounds; otherwise exponential backoff with jitter. */
function waitMs(failures: number, retryAfterS = 0): number {
  const stepMs = firstWaitMs * 2 ** (failures - 1) * (0.5 + Math.random())
  return Math.min(Math.max(stepMs, retryAfterS * 1000), maxWaitMs)
}

/** Ends early if the signal aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) done()
  })
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function secondsIn(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined
}

/** Runtimes put the reason for a failed connection into the error's cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== ''
    ? `${error.message}: ${cause.message}`
    : error.message
}
