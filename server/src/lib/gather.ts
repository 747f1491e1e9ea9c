/**
 * Batches calls: items that arrive during one run go into the next. It needs no timer, and an idle
 * batcher runs an item at once. `run` returns its answers in the order of the items.
 */
export function gather<Item, Answer>(
  run: (items: Item[]) => Promise<Answer[]>,
  most = 500,
): (item: Item) => Promise<Answer> {
  let waiting: {
    item: Item
    resolve: (answer: Answer) => void
    reject: (error: unknown) => void
  }[] = []
  let running = false
  const next = async () => {
    if (running) return
    running = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const answers = await run(batch.map(({ item }) => item))
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (waiting.length === 1) setImmediate(() => void next())
    })
}
