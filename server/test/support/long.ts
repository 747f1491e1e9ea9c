import { seeded } from './load.ts'

/** `npm run test:long` sets it: then everything is looked at, and otherwise as much as finds a fault. */
const isLong = process.env.SLUICE_TEST_LONG === '1'

/** How often, or how many. */
export function usually(count: number, { long }: { long: number }): number {
  return isLong ? long : count
}

/** Repeats the choices of a run, which prints its seed. */
const seed = Number(process.env.SAMPLE_SEED ?? Math.floor(Math.random() * 2 ** 31))
let isSeedPrinted = false

/** So many of them, other ones in each run; in a long one all. */
export function sample<T>(items: readonly T[], count: number): T[] {
  if (isLong || count >= items.length) return [...items]
  if (!isSeedPrinted) console.info(`SAMPLE_SEED=${seed}`)
  isSeedPrinted = true
  // Each list has a draw of its own, whatever was drawn before.
  const random = seeded(
    [...String(items)].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) | 0, seed),
  )
  const drawn = items.map((item, at) => ({ item, at, lot: random() }))
  return drawn
    .toSorted((a, b) => a.lot - b.lot)
    .slice(0, count)
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
