import { execFileSync, fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type LoadResult, load, type Signer, signedGet, signedPost } from './load.js'
import { answerOf, type Bench, newDatabase, orderBody, prove } from './orders-row.js'

const requests = 4_000
const connections = 32

/**
 * A day in small: deposits that are paid, withdrawals that are paid out, reads between them, every
 * outcome called back, all at once. It is not compared with anything: what counts is that nothing
 * fails, how long people wait, and that the ledger proves.
 */
export async function runMixed(bench: Bench) {
  process.stderr.write('mixed: ')
  const day = await openDay(bench, { url: await newDatabase(bench.postgresUrl), agents: 10 })
  const [result = nothing] = await byTurns(bench, [day])
  await day.close()
  process.stderr.write('\n')
  const row = { name: 'mixed', ...result, callbacks: day.callbacks() }
  process.stdout.write(
    `${lineOf('mixed', row)}  0 errors, every outcome called back, ledger proved\n`,
  )
  return row
}

/** The same on tables with five million orders, of the agents that ask among others. */
export async function runFiveMillion(bench: Bench) {
  process.stderr.write('five-million: ')
  const { url, agents } = await history(bench)
  const full = await openDay(bench, { url, agents })
  const empty = await openDay(bench, {
    url: await newDatabase(bench.postgresUrl),
    agents: agents.length,
  })
  const [own = nothing, other = nothing] = await byTurns(bench, [full, empty])
  await full.close()
  await empty.close()
  process.stderr.write('\n')
  const ratio = own.perSecond / other.perSecond
  process.stdout.write(`${lineOf('five-million', own)}  0 errors, ledger proved\n`)
  process.stdout.write(
    `${''.padEnd(24)} ${ratio.toFixed(2).padStart(6)} × ${lineOf('', other).trim()} on an empty database\n`,
  )
  return {
    name: 'five-million',
    ...own,
    compared: [{ with: 'an empty database', ...other, ratio }],
  }
}

/** What the service keeps in memory under mixed load, and whether that grows. */
export async function runMemory(bench: Bench) {
  process.stderr.write('memory: ')
  const day = await openDay(bench, { url: await newDatabase(bench.postgresUrl), agents: 10 })
  const minutesMb: number[] = []
  for (let minute = 0; minute < 5; minute++) {
    const until = performance.now() + 60_000
    while (performance.now() < until) await day.run(requests)
    minutesMb.push((await day.residentBytes()) / 1e6)
    process.stderr.write('.')
  }
  await day.close()
  process.stderr.write('\n')
  const [, , third = 0, , last = 0] = minutesMb
  const row = { name: 'memory', residentMb: last, growthMbPerMinute: (last - third) / 2, minutesMb }
  process.stdout.write(
    `${'memory'.padEnd(24)} ${last.toFixed(0).padStart(6)} MB resident after five minutes (${minutesMb.map((mb) => mb.toFixed(0)).join(', ')}), ${row.growthMbPerMinute.toFixed(1)} MB a minute at the end\n`,
  )
  return row
}

let made: Promise<{ url: string; agents: Signer[] }> | undefined

/** A database with a history, made once for all rows that ask for it. */
export function history(bench: Bench): Promise<{ url: string; agents: Signer[] }> {
  made ??= makeHistory(bench)
  return made
}

async function makeHistory({ postgresUrl, dataDir, historyOrders }: Bench) {
  const url = await newDatabase(postgresUrl)
  process.stderr.write(`making ${historyOrders} orders, which takes minutes for millions\n`)
  const text = execFileSync(
    process.execPath,
    [
      fileURLToPath(new URL('../bin/sluice.js', import.meta.url)),
      ...['seed', '--orders', String(historyOrders), '--json'],
    ],
    {
      env: { ...process.env, DATABASE_URL: url, DATA_DIR: dataDir, LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 10_000_000,
    },
  )
  const seeded: { app_id: string; secret: string }[] = JSON.parse(text).agents
  const client = new pg.Client(url)
  await client.connect()
  // The requests are in baht, and to be called back.
  const { rows } = await client.query<{ app_id: string }>(
    `select app_id from sluice.agents where currency = 'THB' and deposit_callback_url is not null`,
  )
  await client.query('vacuum analyze')
  await client.end()
  const inBaht = new Set(rows.map(({ app_id }) => app_id))
  const agents = seeded
    .filter(({ app_id }) => inBaht.has(app_id))
    .map(({ app_id, secret }) => ({ appId: app_id, secret }))
  return { url, agents }
}

interface Day {
  run(count: number): Promise<LoadResult>
  callbacks(): number
  residentBytes(): Promise<number>
  close(): Promise<void>
}

/** A service with a bank and a receiver. `agents` are made, or are there and are given funds. */
async function openDay(
  bench: Bench,
  { url, agents: given }: { url: string; agents: number | Signer[] },
): Promise<Day> {
  let arrived = 0
  const receiver = createServer((request, response) => {
    arrived++
    request.resume().on('end', () => response.end('{"code":0}'))
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const child = fork(
    fileURLToPath(new URL('./serve-for-bench.js', import.meta.url)),
    [
      'mixed',
      typeof given === 'number' ? String(given) : JSON.stringify(given),
      ...['link', '1000000', receiverUrl],
    ],
    {
      env: {
        ...process.env,
        DATABASE_URL: url,
        PORT: '0',
        DATA_DIR: bench.dataDir,
        LOG_LEVEL: 'silent',
      },
    },
  )
  const { url: serviceUrl, agents } = await answerOf<{ url: string; agents: Signer[] }>(child)
  const port = Number(new URL(serviceUrl).port)
  await proofCaughtUp(url)
  return {
    async run(count) {
      const before = arrived
      const result = await load([port], requestsOf(agents, count), connections)
      const errors = Object.entries(result.statuses).filter(([status]) => !status.startsWith('2'))
      if (errors.length > 0) throw new Error(`mixed: ${JSON.stringify(result.statuses)}`)
      // Everything that was begun comes to its end: half of the requests lead to an outcome.
      while (arrived < before + count / 2) await pause(20)
      process.stderr.write('.')
      return result
    },
    callbacks: () => arrived,
    residentBytes: () => answerOf<number>(child, 'memory'),
    async close() {
      child.removeAllListeners('exit')
      child.kill('SIGKILL')
      receiver.closeAllConnections()
      receiver.close()
      await prove(url, 'mixed')
    },
  }
}

function requestsOf(agents: readonly Signer[], count: number): Buffer[] {
  const story = (sandbox: string) => orderBody({ extraParams: { sandbox } })
  return Array.from({ length: count }, (_, at) => {
    const agent = agents[at % agents.length] as Signer
    switch (at % 4) {
      case 0:
        return signedPost(agent, '/payment/deposit', orderBody())
      case 1:
        return signedPost(agent, '/payment/deposit', story('paid'))
      case 2:
        return signedPost(agent, '/payment/withdraw', story('paid'))
      default:
        return signedGet(agent, at % 8 === 3 ? '/payment/wallet' : '/payment/orders?limit=20')
    }
  })
}

/** Waits until the background proof has looked at all that was there before. */
async function proofCaughtUp(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const behind = () =>
    client.query(
      `select from sluice.wallets w left join sluice.proofs p using (agent_id)
       where p.proved_seq is distinct from w.seq`,
    )
  while ((await behind()).rowCount !== 0) await pause(200)
  await client.end()
}

/** Each day's median over the rounds; by turns, so that a noisy moment hits all of them. */
async function byTurns(bench: Bench, days: readonly Day[]): Promise<Median[]> {
  const measured = days.map((): LoadResult[] => [])
  // One round is only for warming up.
  for (let round = 0; round <= bench.rounds; round++) {
    for (const [at, day] of days.entries()) {
      const result = await day.run(requests)
      if (round > 0) measured[at]?.push(result)
    }
  }
  return measured.map((results) => {
    const sorted = results.sort((a, b) => a.perSecond - b.perSecond)
    const { perSecond, p50Ms, p99Ms } = sorted[Math.floor(sorted.length / 2)] as LoadResult
    return { perSecond, p50Ms, p99Ms }
  })
}

const nothing: Median = { perSecond: 0, p50Ms: 0, p99Ms: 0 }

type Median = Pick<LoadResult, 'perSecond' | 'p50Ms' | 'p99Ms'>

function lineOf(name: string, { perSecond, p50Ms, p99Ms }: Median): string {
  return `${name.padEnd(24)} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms`
}
