/** A task that repeats until it is stopped. */
export interface Repeated {
  /** Resolves when the current round has ended. */
  stop(): Promise<void>
  /** Ends the pause, if there is one. */
  wake(): void
}

const longestAfterErrorMs = 10_000

/**
 * Runs a task again and again, with a pause after each round. A round that returns `more` is followed by
 * the next at once. An error is reported, and the task is tried again after the pause, or after ten seconds: what is done
 * once an hour must not be left for an hour because the database was away for a moment.
 */
export function repeat(
  everyMs: number,
  round: () => Promise<'done' | 'more'>,
  onError: (error: unknown) => void,
): Repeated {
  let stopped = false
  let wake = () => {}
  const running = (async () => {
    while (!stopped) {
      const left = await round().catch((error) => {
        onError(error)
        return 'failed' as const
      })
      if (left === 'more' || stopped) continue
      const pauseMs = left === 'failed' ? Math.min(everyMs, longestAfterErrorMs) : everyMs
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  })()
  return {
    wake: () => wake(),
    stop() {
      stopped = true
      wake()
      return running
    },
  }
}
