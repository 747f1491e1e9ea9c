import type { Callback } from './callback.ts'
import {
  type CallbackHeaders,
  CallbackRefused,
  headerOf,
  verifyCallback,
} from './verify-callback.ts'

type Secrets = string | readonly string[]

/** What the headers say besides. They are not signed: good for logs and for skipping repeats. */
export interface CallbackInfo {
  /** The place of the outcome in the agent's journal. */
  eventSeq: number | undefined
  /** 1 the first time. */
  attempt: number | undefined
}

export interface CallbackHandlerOptions {
  /** The agent's live secrets, or where to find them by app id. */
  secrets: Secrets | ((appId: string | undefined) => Secrets | Promise<Secrets>)
  /**
   * Takes the outcome in. The service is told 200 when this has resolved, and sends the callback again
   * where it throws. It can come more than once.
   */
  onCallback: (callback: Callback, info: CallbackInfo) => unknown
  /** Hears of what was refused and of what onCallback threw; console.error unless told. */
  onError?: (error: unknown) => void
}

export interface CallbackAnswer {
  status: 200 | 401 | 413 | 500
  body: string
}

/** No callback is longer: extraParams have at most 4 KiB, and the rest is short. */
export const maxBodyBytes = 64 * 1024

/** Checks what came and hands it on; the same for every server. */
export async function answerCallback(
  readBody: () => unknown,
  headers: CallbackHeaders,
  { secrets, onCallback, onError = console.error }: CallbackHandlerOptions,
): Promise<CallbackAnswer> {
  try {
    // Whatever else it is, verifyCallback refuses it with words.
    const rawBody = (await readBody()) as string
    const keys =
      typeof secrets === 'function' ? await secrets(headerOf(headers, 'x-appid')) : secrets
    const callback = await verifyCallback(rawBody, headers, keys)
    await onCallback(callback, {
      eventSeq: numberIn(headerOf(headers, 'x-event-seq')),
      attempt: numberIn(headerOf(headers, 'x-attempt')),
    })
    return answer(200, 'ok')
  } catch (error) {
    onError(error)
    if (error instanceof CallbackRefused) return answer(401, error.message)
    if (error instanceof BodyTooLarge) return answer(413, error.message)
    return answer(500, 'The callback could not be taken in; send it again.')
  }
}

export class BodyTooLarge extends Error {
  constructor() {
    super(`A callback has at most ${maxBodyBytes} bytes.`)
  }
}

/** The service keeps the answer with the attempt, so the words are there for who looks for them. */
function answer(status: CallbackAnswer['status'], message: string): CallbackAnswer {
  return { status, body: JSON.stringify({ code: status === 200 ? 0 : status, message }) }
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
