import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { WebSocket } from 'undici'
import { heard } from './callbacks.js'
import { load, type Signer, signedPost } from './load.js'
import { type Bench, newDatabase, orderBody } from './orders-row.js'
import { checkOut, ownTree, startWhole } from './start-whole.js'
import { forgetStatements, readStatements, statementLine } from './statements.js'
import { type Cost, costOf, readUse } from './use-of-machine.js'

/**
 * Whole orders: from the agent's request to its callback, with the payment company and the agent as bare processes of
 * their own. Each line says what an order has cost: CPU time of the service and of PostgreSQL (by application name in the
 * JSON), and bytes of its log and on its disk, until the last callback is recorded and the proof has caught up.
 */
const agents = 4

interface Variant {
  name: string
  tree: string
  method: string
  kind: 'deposit' | 'withdraw'
  /** Whether the sandbox's bank, which is part of the service, pays deposits; else a process of its own. */
  paidBySandbox?: boolean
  processes?: number
  cores?: string
}

interface Result extends Cost {
  perSecond: number
}

export async function runFullOrder(bench: Bench) {
  const qr = { method: 'link+qrcode+transfer', kind: 'deposit' } as const
  return runWhole(bench, 'full-order', [
    { name: 'QR and transfer', tree: ownTree, ...qr },
    { name: 'link only', tree: ownTree, ...qr, method: 'link' },
    { name: "paid by the sandbox's bank", tree: ownTree, ...qr, paidBySandbox: true },
    ...againstIn(bench, { name: `QR and transfer, ${bench.against}`, ...qr }),
    ...againstIn(bench, {
      name: `the sandbox's bank, ${bench.against}`,
      ...qr,
      paidBySandbox: true,
    }),
  ])
}

/** The sandbox's bank, which is part of the service, pays them out. */
export async function runFullWithdrawal(bench: Bench) {
  const withdrawal = { method: 'link', kind: 'withdraw' } as const
  return runWhole(bench, 'full-withdrawal', [
    { name: 'service', tree: ownTree, ...withdrawal },
    ...againstIn(bench, { name: String(bench.against), ...withdrawal }),
  ])
}

/** Four processes of the service that share one core, against one that has it for itself: what contends. */
export async function runFleet(bench: Bench) {
  const alike = { tree: ownTree, method: 'link', kind: 'deposit', cores: '0' } as const
  return runWhole(bench, 'fleet', [
    { name: 'four processes', ...alike, processes: 4 },
    { name: 'one process', ...alike },
  ])
}

function againstIn(bench: Bench, variant: Omit<Variant, 'tree'>): Variant[] {
  if (bench.against === undefined) return []
  bench.checkedOut ??= checkOut(bench.against, bench.dataDir)
  return [{ ...variant, tree: bench.checkedOut.tree }]
}

async function runWhole(bench: Bench, name: string, variants: Variant[]) {
  process.stderr.write(`${name}: `)
  const running = []
  for (const variant of variants) running.push(await open(bench, variant))
  const results = variants.map((): Result[] => [])
  // One round is only for warming up.
  for (let round = 0; round <= bench.rounds; round++) {
    for (const [at, { run, databaseUrl }] of running.entries()) {
      if (bench.statements && round === 1) await forgetStatements(databaseUrl)
      const result = await run(bench.orders)
      if (round > 0) results[at]?.push(result)
      process.stderr.write('.')
    }
  }
  process.stderr.write('\n')
  for (const each of running) await each.close()
  const medians = results.map(medianOf)
  for (const [at, own] of medians.entries()) {
    const first = medians[0] ?? own
    const compared =
      at === 0
        ? ''
        : `  (rate ${ratio(first.perSecond, own.perSecond)} ×, service ${ratio(first.serviceUs, own.serviceUs)} ×, PostgreSQL ${ratio(first.postgresUs, own.postgresUs)} ×)`
    process.stdout.write(
      `${(at === 0 ? name : '').padEnd(16)} ${(variants[at]?.name ?? '').padEnd(28)} ${lineOf(own)}${compared}\n`,
    )
    process.stdout.write(
      `${''.padEnd(45)} ${Object.entries(own.byName)
        .filter(([, us]) => us >= 1)
        .sort(([, a], [, b]) => b - a)
        .map(([who, us]) => `${who} ${us.toFixed(0)}`)
        .join(', ')}\n`,
    )
    if (!bench.statements) continue
    const { databaseUrl = '' } = running[at] ?? {}
    const costs = await readStatements(databaseUrl, bench.rounds * bench.orders)
    process.stdout.write(`${costs.slice(0, 60).map(statementLine).join('\n')}\n`)
  }
  return { name, variants: medians.map((own, at) => ({ variant: variants[at]?.name, ...own })) }
}

const ratio = (own: number, other: number) => (own / other).toFixed(2)

function lineOf({ perSecond, serviceUs, postgresUs, walBytes, diskBytes }: Result): string {
  return `${perSecond.toFixed(0)}/s, service ${serviceUs.toFixed(0)} µs, PostgreSQL ${postgresUs.toFixed(0)} µs, log ${(walBytes / 1000).toFixed(1)} KB, disk ${(diskBytes / 1000).toFixed(1)} KB an order`
}

/** The middle of each figure. */
function medianOf(results: Result[]): Result {
  const middle = (of: (result: Result) => number) =>
    results.map(of).sort((a, b) => a - b)[Math.floor(results.length / 2)] ?? 0
  const names = new Set(results.flatMap(({ byName }) => Object.keys(byName)))
  return {
    perSecond: middle(({ perSecond }) => perSecond),
    serviceUs: middle(({ serviceUs }) => serviceUs),
    postgresUs: middle(({ postgresUs }) => postgresUs),
    byName: Object.fromEntries(
      [...names].map((name) => [name, middle(({ byName }) => byName[name] ?? 0)]),
    ),
    walBytes: middle(({ walBytes }) => walBytes),
    diskBytes: middle(({ diskBytes }) => diskBytes),
  }
}

async function open(bench: Bench, variant: Variant, inspect = false) {
  const databaseUrl = await newDatabase(bench.postgresUrl)
  const secretKey = randomBytes(32).toString('base64')
  const receiver = start('./callbacks-receiver.js', [])
  const { port } = await heard<{ port: number }>(receiver, 'port')
  const service = await startWhole(variant.tree, {
    ...{ databaseUrl, dataDir: bench.dataDir, secretKey, agents, inspect },
    method: variant.method,
    receiverUrl: `http://127.0.0.1:${port}`,
    fund: variant.kind === 'withdraw' ? 10_000_000 : 0,
    processes: variant.processes ?? 1,
    cores: variant.cores,
  })
  const provider = start('./provider-stub.js', [secretKey, '32', ...service.ports.map(String)])
  await heard(provider, 'up')
  const path = `/payment/${variant.kind}`
  const isPaidBySandbox = variant.kind === 'withdraw' || variant.paidBySandbox === true
  const request = (at: number) =>
    signedPost(
      service.agents[at % agents] as Signer,
      path,
      orderBody(isPaidBySandbox ? { extraParams: { sandbox: 'paid' } } : {}),
    )

  async function expecting(count: number, note: boolean) {
    const ready = [heard(receiver, 'expecting'), heard(provider, 'expecting')]
    receiver.send({ expect: count, note })
    provider.send({ expect: count })
    await Promise.all(ready)
  }

  /** Tells the payment company of a deposit as soon as it is made. */
  function made(body: Buffer): void {
    const txnId = /"txn_id":"([^"]+)"/.exec(body.toString('latin1', 0, 200))?.[1]
    if (!isPaidBySandbox && txnId !== undefined) provider.send([txnId])
  }

  async function run(count: number): Promise<Result> {
    const requests = Array.from({ length: count }, (_, at) => request(at))
    await expecting(count, false)
    const before = await readUse(databaseUrl, service.pids)
    const arrived = heard(receiver, 'arrived')
    const started = performance.now()
    const { statuses } = await load(service.ports, requests, bench.connections, made)
    if (Object.keys(statuses).join() !== '201') throw new Error(JSON.stringify(statuses))
    await arrived
    const seconds = (performance.now() - started) / 1000
    await isAllDone(databaseUrl)
    const after = await readUse(databaseUrl, service.pids)
    return { perSecond: count / seconds, ...costOf(before, after, count) }
  }

  return {
    ...{ service, provider, receiver, databaseUrl, expecting, made, request, run },
    async close() {
      await service.stop()
      provider.removeAllListeners('exit')
      provider.kill('SIGKILL')
      receiver.kill('SIGKILL')
      // Each release proves its own books; it fails if they are not as they should be.
      await service.command('verify')
    },
  }
}

/** Waits until every callback is recorded and the proof has caught up. */
async function isAllDone(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'bench' })
  await client.connect()
  const open = () =>
    client.query(
      `select from sluice.callbacks where state = 'waiting'
       union all
       select from sluice.wallets w left join sluice.proofs p using (agent_id)
       where p.proved_seq is distinct from w.seq limit 1`,
    )
  while ((await open()).rowCount !== 0) await pause(100)
  await client.end()
}

/** Orders at a steady pace: what they cost, and how long each stage takes. */
export async function runTrickle(bench: Bench) {
  process.stderr.write('trickle: ')
  const method = 'link+qrcode+transfer'
  const day = await open(bench, { name: 'trickle', tree: ownTree, method, kind: 'deposit' })
  await day.run(bench.orders)
  const paces = []
  for (const perSecond of [10, 100]) {
    const count = perSecond * 10
    await day.expecting(count, true)
    const before = await readUse(day.databaseUrl, day.service.pids)
    const arrived = heard(day.receiver, 'arrived')
    const answered = heard<{ answered: Answered[] }>(day.provider, 'answered')
    const creationMs: number[] = []
    const started = performance.now()
    const under: Promise<void>[] = []
    for (let at = 0; at < count; at++) {
      const wait = (at * 1000) / perSecond - (performance.now() - started)
      if (wait > 0) await pause(wait)
      under.push(
        load(day.service.ports, [day.request(at)], 1, day.made).then(({ p50Ms }) => {
          creationMs.push(p50Ms)
        }),
      )
    }
    await Promise.all([...under, arrived])
    const notices = (await answered).answered
    const noted = heard<{ noted: { atNs: string; orderId: string }[] }>(day.receiver, 'noted')
    day.receiver.send('noted')
    const arrivedNs = new Map((await noted).noted.map(({ orderId, atNs }) => [orderId, atNs]))
    await isAllDone(day.databaseUrl)
    const after = await readUse(day.databaseUrl, day.service.pids)
    const ms = (from: string, to: string) => Number(BigInt(to) - BigInt(from)) / 1e6
    paces.push({
      perSecond,
      ...costOf(before, after, count),
      creation: quantiles(creationMs),
      notice: quantiles(notices.map(({ sentNs, answeredNs }) => ms(sentNs, answeredNs))),
      // The answer to the notice comes with the commit.
      callback: quantiles(
        notices.map(({ txnId, answeredNs }) => ms(answeredNs, arrivedNs.get(txnId) ?? answeredNs)),
      ),
    })
    process.stderr.write('.')
  }
  process.stderr.write('\n')
  await day.close()
  for (const pace of paces) {
    const stage = ({ p50Ms, p99Ms }: ReturnType<typeof quantiles>) =>
      `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`
    process.stdout.write(
      `${'trickle'.padEnd(16)} ${lineOf(pace)}; creation ${stage(pace.creation)}, notice ${stage(pace.notice)}, answer to it until the callback is there ${stage(pace.callback)}\n`,
    )
  }
  return { name: 'trickle', paces }
}

interface Answered {
  txnId: string
  sentNs: string
  answeredNs: string
}

function quantiles(ms: number[]) {
  const sorted = ms.sort((a, b) => a - b)
  const at = (q: number) => sorted[Math.floor((sorted.length - 1) * q)] ?? 0
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** A CPU profile of each stage of whole orders, one stage after the other, for the developer tools of a browser. */
export async function writeProfiles(bench: Bench, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const method = 'link+qrcode+transfer'
  const day = await open(bench, { name: 'profile', tree: ownTree, method, kind: 'deposit' }, true)
  await day.run(bench.orders)
  const inspector = await attach(day.service.inspectors[0] ?? '')
  const profiled = async (stage: string, work: () => Promise<unknown>) => {
    await inspector.call('Profiler.start')
    await work()
    const { profile } = await inspector.call('Profiler.stop')
    const file = join(folder, `${stage}.cpuprofile`)
    writeFileSync(file, JSON.stringify(profile))
    process.stdout.write(`${file}\n`)
  }
  const each = (word: string) =>
    Promise.all(day.service.agents.map(({ appId }) => day.service.command('callback', word, appId)))
  await each('pause')
  await day.expecting(bench.orders, false)
  const made: string[] = []
  await profiled('creation', () =>
    load(
      day.service.ports,
      Array.from({ length: bench.orders }, (_, at) => day.request(at)),
      bench.connections,
      (body) => made.push(JSON.parse(body.toString()).txn_id),
    ),
  )
  const answered = heard(day.provider, 'answered')
  await profiled('notice', () => {
    day.provider.send(made)
    return answered
  })
  const arrived = heard(day.receiver, 'arrived')
  await profiled('callback', async () => {
    await each('resume')
    await arrived
  })
  inspector.close()
  await isAllDone(day.databaseUrl)
  await day.close()
}

/** The inspector of a process. */
async function attach(url: string) {
  const socket = new WebSocket(url)
  const waiting = new Map<number, (result: { profile?: unknown }) => void>()
  let last = 0
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data))
    waiting.get(id)?.(result)
  })
  const call = (method: string) =>
    new Promise<{ profile?: unknown }>((resolve) => {
      waiting.set(++last, resolve)
      socket.send(JSON.stringify({ id: last, method }))
    })
  await call('Profiler.enable')
  return { call, close: () => socket.close() }
}

function start(file: string, args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args)
}
