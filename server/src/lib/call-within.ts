/** The other side did not answer within the time limit. */
export class NoAnswer extends Error {}

/**
 * Calls an outside service with a time limit. The signal aborts the call; a call that ignores its signal
 * is abandoned. Throws the error of the call, or the reason why it was aborted.
 */
export async function callWithin<T>(
  limitMs: number,
  stop: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const late = setTimeout(() => ending.abort(new NoAnswer('There was no answer in time.')), limitMs)
  const stopped = () => ending.abort(stop?.reason)
  stop?.addEventListener('abort', stopped)
  if (stop?.aborted) stopped()
  const ended = new Promise<never>((_resolve, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason))
  })
  // Outside the race below, a rejection would be unhandled and end the process.
  ended.catch(() => {})
  try {
    ending.signal.throwIfAborted()
    return await Promise.race([call(ending.signal), ended])
  } finally {
    clearTimeout(late)
    stop?.removeEventListener('abort', stopped)
  }
}
