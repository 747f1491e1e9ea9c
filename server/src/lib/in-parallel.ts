/** Does work for each item, so many at once. All are tried; then the first error is thrown. */
export async function inParallel<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const errors: unknown[] = []
  const worker = async () => {
    for (const item of rest) await work(item).catch((error) => errors.push(error))
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  if (errors.length > 0) throw errors[0]
}
