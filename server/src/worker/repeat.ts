/** Something that is done again and again until it is stopped. */
export interface Repeated {
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>
}

/**
 * Does something, waits, and does it again. A round that says it left work over is followed by the
 * next at once; a round that fails is reported and tried again after the wait.
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
        return 'done' as const
      })
      if (left === 'more' || stopped) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  })()
  return {
    stop() {
      stopped = true
      wake()
      return running
    },
  }
}
