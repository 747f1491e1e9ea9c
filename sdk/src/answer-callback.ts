import type { Callback } from './callback.ts'
import {
  type CallbackHeaders,
  CallbackRefused,
  headerOf,
  verifyCallback,
} from './verify-callback.ts'

type Secrets = string | readonly string[]

/** Values from the headers. They are not signed: use them for logs and for skipping repeats. */
export interface CallbackInfo {
  /** The outcome's number in the agent's journal. */
  eventSeq: number | undefined
  /** The epoch that the number counts within: it rises when the service was restored from a backup. */
  eventEpoch: number | undefined
  /** Epoch and number, such as `0-17`: the same for each repeat of an outcome, and for no other. */
  eventKey: string | undefined
  /** The number of the attempt, starting at 1. */
  attempt: number | undefined
}

export interface CallbackHandlerOptions {
  /** The agent's live secrets, or a function that finds them by app id. */
  secrets: Secrets | ((appId: string | undefined) => Secrets | Promise<Secrets>)
  /**
   * Stores the outcome. The handler answers 200 once this has resolved; if it throws, the service sends
   * the callback again. The same callback can arrive more than once.
   */
  onCallback: (callback: Callback, info: CallbackInfo) => unknown
  /** Called with refused callbacks and with errors thrown by onCallback; console.error by default. */
  onError?: (error: unknown) => void
}

export interface CallbackAnswer {
  status: 200 | 401 | 413 | 500
  body: string
}

/** No callback is longer than this: extraParams have at most 4 KiB, and the rest is short. */
export const maxBodyBytes = 64 * 1024

/** Verifies the callback and passes it to onCallback; shared by the handlers of all servers. */
export async function answerCallback(
  readBody: () => unknown,
  headers: CallbackHeaders,
  { secrets, onCallback, onError = console.error }: CallbackHandlerOptions,
): Promise<CallbackAnswer> {
  try {
    // verifyCallback refuses anything else with a helpful message.
    const rawBody = (await readBody()) as string
    const keys =
      typeof secrets === 'function' ? await secrets(headerOf(headers, 'x-appid')) : secrets
    const callback = await verifyCallback(rawBody, headers, keys)
    const eventSeq = numberIn(headerOf(headers, 'x-event-seq'))
    const eventEpoch = numberIn(headerOf(headers, 'x-event-epoch'))
    await onCallback(callback, {
      eventSeq,
      eventEpoch,
      eventKey: eventSeq === undefined ? undefined : `${eventEpoch ?? 0}-${eventSeq}`,
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

/** The service stores the answer with the attempt, so operators can read the message there. */
function answer(status: CallbackAnswer['status'], message: string): CallbackAnswer {
  return { status, body: JSON.stringify({ code: status === 200 ? 0 : status, message }) }
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
