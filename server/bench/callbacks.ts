import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { newDatabase, prove } from './orders-row.js'

const count = 8_000
const agents = 10
/** A few seconds at a hundred outcomes a second. */
const trickled = 500

/**
 * Callbacks delivered per second, from committed outcomes to the last delivery on disk, against a bare
 * loop that posts the same bodies and headers, by turns; and how long after its commit an outcome
 * arrives at moderate load.
 */
export async function benchCallbacks(postgresUrl: string, rounds: number, dataDir: string) {
  const receiver = start('./callbacks-receiver.js', [], process.env)
  const { port } = await heard<{ port: number }>(receiver, 'port')
  const url = await newDatabase(postgresUrl)
  const sender = start('./callbacks-for-bench.js', [`http://127.0.0.1:${port}`, String(agents)], {
    ...process.env,
    DATABASE_URL: url,
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
  })
  await heard(sender, 'up')

  async function run<Done>(what: 'service' | 'bare' | 'trickle', callbacks: number) {
    const expecting = heard(receiver, 'expecting')
    receiver.send({ expect: callbacks, note: what === 'trickle' })
    await expecting
    const ready = heard(sender, 'ready')
    sender.send({ run: what, count: callbacks })
    await ready
    const arrived = heard(receiver, 'arrived')
    const done = heard<{ done: Done }>(sender, 'done')
    const started = performance.now()
    sender.send('go')
    await arrived
    sender.send('arrived')
    const answer = await done
    process.stderr.write('.')
    return { perSecond: (callbacks * 1000) / (performance.now() - started), ...answer.done }
  }

  const measured: Record<'service' | 'bare', { perSecond: number; cpuUs: number }[]> = {
    service: [],
    bare: [],
  }
  // One round is only for warming up.
  for (let round = 0; round <= rounds; round++) {
    for (const what of ['service', 'bare'] as const) {
      const result = await run<{ cpuUs: number }>(what, count)
      if (round > 0) measured[what].push(result)
    }
  }
  const { committed } = await run<{ committed: Moment[] }>('trickle', trickled)
  const noted = heard<{ noted: Moment[] }>(receiver, 'noted')
  receiver.send('noted')
  const latenciesMs = latencies(committed, (await noted).noted)
  process.stderr.write('\n')
  sender.kill('SIGKILL')
  receiver.kill('SIGKILL')
  await prove(url, 'callbacks')
  const own = medians(measured.service)
  const bare = medians(measured.bare)
  return {
    name: 'callbacks',
    ...own,
    commitToArrival: {
      perSecond: 100,
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
    },
    compared: [{ with: 'a bare undici loop', ...bare, ratio: own.perSecond / bare.perSecond }],
  }
}

interface Moment {
  orderId: string
  atNs: string
}

/** How long after its commit each one arrived, in order. */
function latencies(committed: Moment[], arrived: Moment[]): number[] {
  const arrivedAt = new Map(arrived.map(({ orderId, atNs }) => [orderId, BigInt(atNs)]))
  return committed
    .map(({ orderId, atNs }) => {
      const at = arrivedAt.get(orderId)
      if (at === undefined) throw new Error(`${orderId} did not arrive`)
      return Number(at - BigInt(atNs)) / 1e6
    })
    .sort((a, b) => a - b)
}

function start(file: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, { env })
}

/** The next message that is the word, or an object that has it. */
export function heard<Message>(child: ChildProcess, word: string): Promise<Message> {
  return new Promise((resolve, reject) => {
    const end = (code: number | null) => reject(new Error(`a process ended with ${code}`))
    const hear = (message: unknown) => {
      const isObject = typeof message === 'object' && message !== null && word in message
      if (message !== word && !isObject) return
      child.off('message', hear)
      child.off('exit', end)
      resolve(message as Message)
    }
    child.on('message', hear)
    child.on('exit', end)
  })
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.floor((sorted.length - 1) * q)] ?? 0
}

function medians(results: { perSecond: number; cpuUs: number }[]) {
  const median = (values: number[]) =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    )
  return {
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    cpuUs: median(results.map(({ cpuUs }) => cpuUs)),
  }
}
