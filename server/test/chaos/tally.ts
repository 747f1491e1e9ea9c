import type { ChaosLoad } from './load.ts'
import { type FaultKind, faultKinds } from './plan.ts'
import type { World } from './world.ts'

/** How often something happened, by what it was. */
export type Tally = Record<string, number>

/** What the outside world did, which no plan decides: counted where it can be seen. */
export async function outsideTally(world: World): Promise<{ receivers: Tally; bank: Tally }> {
  const receivers: Tally = {}
  for (const { receiver } of world.agents) {
    for (const [way, count] of receiver.ways) receivers[way] = (receivers[way] ?? 0) + count
    const { size } = new Set(receiver.arrivals.map(({ seq }) => seq))
    receivers.repeats = (receivers.repeats ?? 0) + receiver.arrivals.length - size
  }
  const { rows } = await world.asOwner((owner) =>
    owner.query<Tally>(
      `select
         (select count(*)::int from sandbox_bank.payouts) as payouts,
         (select count(*)::int from sandbox_bank.payouts where story like 'timeout%') as "calls without an answer",
         (select count(*)::int from sandbox_bank.payments) as payments,
         (select count(*)::int from sandbox_bank.notices) as notices,
         (select coalesce(sum(attempts - 1), 0)::int from sandbox_bank.notices) as "notices repeated"`,
    ),
  )
  return { receivers, bank: rows[0] ?? {} }
}

/** The kinds that never happened, though they can here. */
export function missing(world: World, happened: Map<FaultKind, number>): string[] {
  const possible = faultKinds.filter((kind) => kind !== 'full disk' || !world.disk.fault)
  return possible.filter((kind) => !happened.get(kind))
}

/** The run in a few lines. */
export function summary(
  world: World,
  load: ChaosLoad,
  happened: Map<FaultKind, number>,
  { receivers, bank }: { receivers: Tally; bank: Tally },
): string {
  const faults = Object.fromEntries(faultKinds.map((kind) => [kind, happened.get(kind) ?? 0]))
  return [
    `faults that happened: ${inWords(faults)}`,
    ...(world.disk.fault ? [`full disk: not possible, ${world.disk.fault}`] : []),
    `orders: ${load.placed.length}; answers: ${inWords(Object.fromEntries(load.results))}`,
    `receivers: ${inWords(receivers)}`,
    `bank: ${inWords(bank)}`,
  ].join('\n')
}

function inWords(tally: Tally): string {
  return Object.entries(tally)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')
}
