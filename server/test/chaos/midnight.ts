import { setTimeout as pause } from 'node:timers/promises'
import type { ChaosLoad } from './load.ts'
import type { FaultKind } from './plan.ts'
import { strike } from './strike.ts'
import type { World } from './world.ts'

/** A midnight that is not far, and the zone in which it is one. */
export interface Midnight {
  at: Date
  zone: string
  /** What local times are ahead of UTC. */
  aheadMs: number
}

const hourMs = 3_600_000
/** Agents are settled ten minutes after midnight; clocks may be off by less than a minute. */
const settledAfterMs = 11 * 60_000

/** The first full hour that is a while away, and a zone where it is midnight. */
export function midnightAfter(now: Date): Midnight {
  const at = new Date(Math.ceil((now.getTime() + 15 * 60_000) / hourMs) * hourMs)
  const ahead = (24 - at.getUTCHours()) % 24
  // The names of these zones have the opposite sign.
  const zone = ahead <= 14 ? `Etc/GMT-${ahead}` : `Etc/GMT+${24 - ahead}`
  return { at, zone, aheadMs: (ahead <= 14 ? ahead : ahead - 24) * hourMs }
}

/**
 * Lets midnight pass, and the time until agents are settled, while nobody asks for anything. Then everybody goes on,
 * and those who settle agents are struck while they do. Returns how many settlements were made.
 */
export async function passMidnight(
  world: World,
  load: ChaosLoad,
  strikes: readonly FaultKind[],
): Promise<number> {
  await load.hold(() =>
    world.pass(Math.max(0, world.midnight.at.getTime() + settledAfterMs - world.now().getTime())),
  )
  // A process that starts looks for agents to settle at once.
  for (const kind of strikes) {
    await strike(world, { atMs: 0, kind, which: 0, force: 0.5 }).catch(() => 0)
  }
  const expected = world.agents.filter(({ terms }) => terms.settleKeep !== undefined).length
  let made = 0
  for (let look = 0; look < 60 && made < expected; look++) {
    made = await settlements(world).catch(() => made)
    if (made < expected) await pause(250)
  }
  return made
}

async function settlements(world: World): Promise<number> {
  const { rows } = await world.asOwner((owner) =>
    owner.query<{ made: number }>(
      `select count(*)::int as made from sluice.orders where ref_id like 'settlement-%'`,
    ),
  )
  return rows[0]?.made ?? 0
}
