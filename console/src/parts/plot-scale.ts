/** The values at which a plot has lines: round numbers, zero always among them. */
export function ticksFor(values: readonly (number | null)[], count = 4): number[] {
  const known = values.filter((value) => value !== null)
  const most = Math.max(0, ...known)
  const least = Math.min(0, ...known)
  const span = most - least
  if (span === 0) return [0, 1]
  const rough = span / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10)
  const first = Math.floor(least / step)
  const last = Math.ceil(most / step)
  return Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step)
}

/** Which points are named below a plot, so that names do not touch. */
export function namedPoints(count: number, room: number): number[] {
  const every = Math.max(1, Math.ceil(count / Math.max(1, room)))
  return Array.from({ length: Math.ceil(count / every) }, (_, n) => n * every)
}
