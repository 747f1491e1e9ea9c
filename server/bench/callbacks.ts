import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openPool } from '../dist/db/pool.js'
import { verify } from '../dist/ledger/verify.js'

/** Callbacks delivered per second, against a bare loop that posts the same bodies, by turns. */
export async function benchCallbacks(postgresUrl: string, rounds: number, dataDir: string) {
  const count = 4_000
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{"code":0}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const name = `bench_${randomBytes(4).toString('hex')}`
  const admin = new pg.Client(postgresUrl)
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = new URL(postgresUrl)
  url.pathname = `/${name}`
  const child = fork(
    fileURLToPath(new URL('./callbacks-for-bench.js', import.meta.url)),
    [`http://127.0.0.1:${port}`, '4'],
    {
      env: {
        ...process.env,
        DATABASE_URL: url.href,
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
      },
    },
  )
  const told = (word: string) =>
    new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
      const hear = (message: unknown) => {
        if (message !== word) return
        child.off('message', hear)
        child.removeAllListeners('exit')
        resolve()
      }
      child.on('message', hear)
    })
  await told('up')
  const measured: Record<'service' | 'bare', number[]> = { service: [], bare: [] }
  for (let round = 0; round <= rounds; round++) {
    for (const run of ['service', 'bare'] as const) {
      const ready = told('ready')
      child.send({ run, count })
      await ready
      const done = told('done')
      const started = performance.now()
      child.send('go')
      await done
      if (round > 0) measured[run].push((count * 1000) / (performance.now() - started))
      process.stderr.write('.')
    }
  }
  process.stderr.write('\n')
  child.kill('SIGKILL')
  server.closeAllConnections()
  server.close()
  const pool = openPool({ url: url.href, max: 1, name: 'sluice bench', onError: () => {} })
  const lie = (await verify(pool, {})).find(({ finding }) => finding !== null)
  await pool.end()
  if (lie) throw new Error(`callbacks: ${lie.finding}`)
  const median = (values: number[]) =>
    values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  const perSecond = median(measured.service)
  const bare = median(measured.bare)
  return {
    name: 'callbacks',
    perSecond,
    compared: [{ with: 'a bare undici loop', perSecond: bare, ratio: perSecond / bare }],
  }
}
