/** Who was called said nothing in the time it had. */
export class NoAnswer extends Error {}

/**
 * A call to somebody outside, which ends in time: its signal tells it to, and it is left behind where it
 * does not listen. Throws what the call throws, or why it was ended.
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
  // Nobody may be waiting any more when it is rejected.
  ended.catch(() => {})
  try {
    ending.signal.throwIfAborted()
    return await Promise.race([call(ending.signal), ended])
  } finally {
    clearTimeout(late)
    stop?.removeEventListener('abort', stopped)
  }
}
