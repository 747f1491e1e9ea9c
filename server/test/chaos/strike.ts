import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { kill, postmasterPid } from '../support/process.ts'
import type { CutAtCommit } from '../support/tcp-proxy.ts'
import type { FaultKind, PlannedFault } from './plan.ts'
import type { ServiceSlot } from './service-slot.ts'
import type { World } from './world.ts'

/** Clocks are this far apart at most: less than half of what a lease leaves room for. */
const furthestClockMs = 20_000
/** The whole main pool of one process. */
const poolSize = 8

/** Does one planned fault to its end, its healing included. Says how often it really happened. */
export function strike(world: World, fault: PlannedFault): Promise<number> {
  return strikes[fault.kind](world, fault)
}

const strikes: Record<FaultKind, (world: World, fault: PlannedFault) => Promise<number>> = {
  'kill service': async (world, { which }) => Number(await pick(world.doors, which).kill()),

  'kill worker': async (world) => Number(await world.worker.kill()),

  'kill PostgreSQL': async (world) => {
    const pid = postmasterPid(world.disk.folder)
    if (pid === undefined) return 0
    kill(pid)
    return 1
  },

  'freeze service': (world, { which, force }) =>
    freeze([pick(world.doors, which).pid], 500 + force * 3_500),

  'freeze worker': (world, { force }) => freeze([world.worker.pid], 500 + force * 5_500),

  'freeze PostgreSQL': async (world, { force }) => {
    const pids = await world.asOwner(async (owner) => {
      const { rows } = await owner.query<{ pid: number }>(
        'select pid from pg_stat_activity where pid <> pg_backend_pid()',
      )
      return rows.map(({ pid }) => pid)
    })
    const postmaster = postmasterPid(world.disk.folder)
    if (postmaster === undefined) return 0
    return freeze([postmaster, ...pids], 500 + force * 2_000)
  },

  // Those that come next are cut: how many were is counted by the proxy.
  'cut at commit': async (world, { which, force }) => {
    const { proxy } = pick(world.slots, which)
    const before = proxy.cuts
    proxy.cutNextCommits(cutsFor(force), undefined, 'anybody')
    await until(() => proxy.cuts > before, 5_000)
    return proxy.cuts - before
  },

  'cut at insert': async (world, { which, force }) => {
    const { proxy } = pick(world.doors, which)
    const before = proxy.cuts
    proxy.cutNextStatements('insert-orders', cutsFor(force))
    await until(() => proxy.cuts > before, 5_000)
    return proxy.cuts - before
  },

  'cut connections': async (world, { which }) => {
    const { proxy } = pick(world.slots, which)
    return Math.sign(proxy.cutAll())
  },

  'silent network': async (world, { which, force }) => {
    const { proxy } = pick(world.slots, which)
    const before = proxy.swallowed
    proxy.stall(true)
    await pause(500 + force * 2_500)
    // A connection that has lost bytes in the middle is good for nothing.
    proxy.cutAll()
    proxy.stall(false)
    return Math.sign(proxy.swallowed - before)
  },

  'slow network': async (world, { which, force }) => {
    const { proxy } = pick(world.slots, which)
    const before = proxy.delayed
    proxy.slowDown(20 + force * 180)
    await pause(1_000 + force * 2_000)
    proxy.slowDown(0)
    return Math.sign(proxy.delayed - before)
  },

  'full pool': (world, { which, force }) =>
    world.asOwner(async (owner) => {
      const door = pick(world.doors, which)
      await owner.query(`set lock_timeout = '5s'`)
      await owner.query('begin')
      await owner.query('lock table sluice.orders in access exclusive mode')
      // Many who read at once, so that every connection is in somebody's hands.
      const reads = readsAtOnce(world, door, poolSize * 3)
      const isFull = await untilTrue(async () => {
        const { rows } = await owner.query<{ count: number }>(
          `select count(*)::int from pg_stat_activity
           where application_name = 'sluice serve' and wait_event_type = 'Lock'`,
        )
        return (rows[0]?.count ?? 0) >= poolSize
      }, 4_000)
      await pause(force * 2_000)
      await owner.query('rollback')
      await reads
      return Number(isFull)
    }),

  'no connections': async (world, { which, force }) => {
    const taken: pg.Client[] = []
    let refused = false
    while (!refused && taken.length < 400) {
      const more = Array.from({ length: 10 }, () => new pg.Client(world.postgres.ownerUrl))
      const results = await Promise.allSettled(
        more.map(async (client) => {
          client.on('error', () => {})
          await client.connect()
          taken.push(client)
        }),
      )
      const failures = results.filter((result) => result.status === 'rejected')
      refused = failures.some(({ reason }) => reason?.code === '53300')
      if (failures.length > 0 && !refused) break
    }
    // Somebody has to connect anew, and cannot.
    if (refused) pick(world.slots, which).proxy.cutAll()
    await pause(300 + force * 1_500)
    await Promise.all(taken.map((client) => client.end().catch(() => {})))
    return Number(refused)
  },

  'full disk': async (world, { force }) => {
    const { disk } = world
    if (disk.fault !== undefined) return 0
    try {
      return await world.asOwner(async (owner) => {
        disk.fill()
        const isFull = await owner
          .query(
            `do $$ begin for i in 1..100 loop
               insert into public.chaos_rows select md5(random()::text) from generate_series(1, 1000);
             end loop; end $$`,
          )
          .then(
            () => false,
            (error) => error.code === '53100' || /terminated|No space/i.test(error.message),
          )
        await pause(force * 2_000)
        return Number(isFull)
      })
    } finally {
      disk.clear()
    }
  },

  'clock jump': async (world, { which, force }) =>
    Number(await pick(world.slots, which).setOffset(Math.round(force * furthestClockMs))),
}

function pick<T>(items: readonly T[], which: number): T {
  const item = items[Math.floor(which * items.length)]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

function cutsFor(force: number): CutAtCommit[] {
  const all: CutAtCommit[] = ['before', 'after', 'after']
  return all.slice(0, 1 + Math.floor(force * 3))
}

/** Stops processes and lets them go on. Counts only where the main one really stood still. */
async function freeze(pids: number[], ms: number): Promise<number> {
  const stopped = pids.filter((pid) => signal(pid, 'SIGSTOP'))
  const first = pids[0] ?? 0
  const stoodStill = await untilTrue(async () => isStopped(first), 200)
  await pause(ms)
  for (const pid of stopped) signal(pid, 'SIGCONT')
  return Number(stoodStill)
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return pid > 0 && process.kill(pid, name)
  } catch {
    // It was killed meanwhile.
    return false
  }
}

function isStopped(pid: number): boolean {
  try {
    return /^T/.test(execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }))
  } catch {
    return false
  }
}

async function readsAtOnce(world: World, door: ServiceSlot, count: number): Promise<void> {
  const agent = pick(world.agents, 0)
  const client = world.client(agent, door)
  await Promise.allSettled(
    Array.from({ length: count }, () => client.get('/payment/orders?refId=none')),
  )
}

async function until(condition: () => boolean, withinMs: number): Promise<void> {
  await untilTrue(async () => condition(), withinMs)
}

async function untilTrue(condition: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await pause(10)
  }
  return true
}
