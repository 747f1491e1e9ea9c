import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { history } from './mixed-row.js'
import { type Bench, newDatabase } from './orders-row.js'

/** From the command to a service that can take orders, with an empty embedded database; then again. */
export async function runStart({ rounds }: Bench) {
  process.stderr.write('start: ')
  const emptyMs: number[] = []
  const againMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-start-'))
    emptyMs.push(await startOnce(dataDir))
    againMs.push(await startOnce(dataDir))
    rmSync(dataDir, { recursive: true, force: true })
    process.stderr.write('.')
  }
  process.stderr.write('\n')
  const row = { name: 'start', emptyMs: median(emptyMs), againMs: median(againMs) }
  process.stdout.write(
    `${row.name.padEnd(24)} ${(row.emptyMs / 1000).toFixed(1)} s from nothing, ${(row.againMs / 1000).toFixed(1)} s with the database there\n`,
  )
  return row
}

/** From the command to ready on a database with five million orders, against an empty one. */
export async function runStartFull(bench: Bench) {
  process.stderr.write('start-five-million: ')
  const { url } = await history(bench)
  const empty = await newDatabase(bench.postgresUrl)
  // The first start makes the tables.
  await startOnce(bench.dataDir, empty)
  const fullMs: number[] = []
  const emptyMs: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    fullMs.push(await startOnce(bench.dataDir, url))
    emptyMs.push(await startOnce(bench.dataDir, empty))
    process.stderr.write('.')
  }
  process.stderr.write('\n')
  const row = { name: 'start-five-million', fullMs: median(fullMs), emptyMs: median(emptyMs) }
  process.stdout.write(
    `${row.name.padEnd(24)} ${(row.fullMs / 1000).toFixed(1)} s with five million orders, ${(row.emptyMs / 1000).toFixed(1)} s with none\n`,
  )
  return row
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

async function startOnce(dataDir: string, databaseUrl?: string): Promise<number> {
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../bin/sluice.js', import.meta.url)), 'serve', '--json'],
    {
      env: {
        ...process.env,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  // What it prints when it listens.
  await once(child.stdout, 'data')
  const ms = performance.now() - started
  child.kill('SIGTERM')
  await once(child, 'exit')
  return ms
}
