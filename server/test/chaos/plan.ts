import { seeded } from '../support/load.ts'

/** What the suite does to the service; what receivers and the bank do goes on all the time. */
export const faultKinds = [
  'kill service',
  'kill worker',
  'kill PostgreSQL',
  'freeze service',
  'freeze worker',
  'freeze PostgreSQL',
  'cut at commit',
  'cut at insert',
  'cut connections',
  'silent network',
  'slow network',
  'full pool',
  'no connections',
  'full disk',
  'clock jump',
] as const

export type FaultKind = (typeof faultKinds)[number]

export interface PlannedFault {
  atMs: number
  kind: FaultKind
  /** From 0 to 1: which of several it strikes. */
  which: number
  /** From 0 to 1: how hard it strikes. */
  force: number
}

const slowestPaceMs = 2_500

/** Every kind in turn, in an order of the seed, for as long as there is time. */
export function makePlan(seed: number, seconds: number): PlannedFault[] {
  const random = seeded(seed)
  const paceMs = Math.min(slowestPaceMs, (seconds * 1_000) / faultKinds.length)
  const plan: PlannedFault[] = []
  let round: FaultKind[] = []
  while (plan.length * paceMs < seconds * 1_000) {
    if (round.length === 0) round = shuffled(faultKinds, random)
    const kind = round.pop()
    if (!kind) break
    const atMs = Math.round((plan.length + random() * 0.8) * paceMs)
    plan.push({ atMs, kind, which: random(), force: random() })
  }
  return plan
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
