import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { seeded } from '../support/load.ts'
import { usually } from '../support/long.ts'
import { cleanUp, verifyClean } from '../support/process.ts'
import { check } from './check.ts'
import { ChaosLoad } from './load.ts'
import { passMidnight } from './midnight.ts'
import { disturb, tooMuch } from './neighbour.ts'
import { ChaosOperator } from './operator.ts'
import { type FaultKind, makePlan, type PlannedFault } from './plan.ts'
import { settle } from './settle.ts'
import { strike } from './strike.ts'
import { missing, outsideTally, summary } from './tally.ts'
import { World, withOwner } from './world.ts'

/** How long faults go on: a short plan with the other tests, minutes with `npm run chaos`. */
const seconds = Number(process.env.CHAOS_SECONDS ?? usually(6, { long: 10 }))
/** Repeats the plan and the random choices of a run, which prints its seed. */
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))
const isLong = seconds >= 60
/** How long each bad deed of a neighbour goes on, and how much it leaves lying about. */
const neighbourhood = { windowMs: 8_000, rows: Number(process.env.CHAOS_ROWS ?? 100_000) }

/** What those suffer who settle agents after midnight. */
const midnightStrikes: FaultKind[] = isLong
  ? ['cut at commit', 'kill worker', 'kill service', 'kill worker']
  : ['kill worker']

let world: World | undefined
afterEach(async () => {
  await world?.close()
  await cleanUp()
})

test(
  'whatever breaks, what was acknowledged holds, once, and everybody is told',
  async ({ onTestFailed }) => {
    console.info(`CHAOS_SEED=${seed} CHAOS_SECONDS=${seconds}`)
    const plan = makePlan(seed, seconds)
    onTestFailed(() => console.info(plan.map(({ atMs, kind }) => `${atMs} ms: ${kind}`).join('\n')))
    world = await World.open(seed, { withNeighbour: isLong })
    const load = new ChaosLoad(world, seed, 12)
    const operator = new ChaosOperator(world, seeded(seed + 50))
    const happened = await carryOut(world, plan)
    // The last fault may have killed PostgreSQL, which is started again.
    const { postgres } = world
    await expect
      .poll(() => withOwner(postgres.ownerUrl, async () => 'back').catch(() => 'away'))
      .toBe('back')
    const disturbances = isLong ? await disturb(world, load, neighbourhood) : []
    await operator.stop()
    const settlements = await passMidnight(world, load, midnightStrikes)
    await load.stop()
    const repeated = await load.resolve()
    const findings = await settle(world, load)

    console.info(summary(world, load, happened, await outsideTally(world)))
    console.info([...operator.decisions].map(([what, count]) => `${count} ${what}`).join(', '))
    console.info(
      `${repeated} wishes were repeated at the end until it was known what became of them`,
    )
    console.info(`${settlements} agents were settled`)
    findings.push(...load.surprises, ...tooMuch(disturbances))
    for (const slot of world.slots) {
      findings.push(...slot.collapses, ...load.internals.flatMap((id) => slot.logged(id)))
    }
    for (const agent of world.agents) {
      const placed = load.placed.filter((each) => each.agent === agent)
      findings.push(...(await check(world, agent, placed)))
    }
    expect(findings).toEqual([])
    await verifyClean(world.env)
    // A run that tested nothing must not pass.
    if (isLong) expect(missing(world, happened)).toEqual([])
    if (isLong) expect(operator.decisions.get('payments credited')).toBeGreaterThan(0)
    if (isLong) expect(settlements).toBeGreaterThan(0)
    else expect(happened.size).toBeGreaterThan(4)
  },
  (seconds + 1_200) * 1_000,
)

/** Strikes as planned and returns how often each kind really happened, when all is healed again. */
async function carryOut(world: World, plan: PlannedFault[]): Promise<Map<FaultKind, number>> {
  const startedAt = performance.now()
  const sinceStartS = () => (performance.now() - startedAt) / 1_000
  const happened = new Map<FaultKind, number>()
  const carryOutOne = async (fault: PlannedFault) => {
    const beganS = sinceStartS()
    // Where, say, PostgreSQL has just been killed, its disk cannot be seen to be full.
    const times = await strike(world, fault).catch(() => 0)
    if (times > 0) happened.set(fault.kind, (happened.get(fault.kind) ?? 0) + times)
    if (isLong) console.info(inWords(beganS, sinceStartS(), fault.kind, times))
  }
  const underway: Promise<void>[] = []
  for (const fault of plan) {
    await pause(Math.max(0, fault.atMs - sinceStartS() * 1_000))
    underway.push(carryOutOne(fault))
  }
  await Promise.all(underway)
  return happened
}

function inWords(fromS: number, toS: number, kind: string, times: number): string {
  const took = `${fromS.toFixed(1)} s to ${toS.toFixed(1)} s`.padStart(20)
  return `${took}  ${kind}${times === 0 ? ': did not happen' : times > 1 ? `, ${times} times` : ''}`
}
