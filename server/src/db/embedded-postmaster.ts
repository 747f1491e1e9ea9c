import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chown, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childEnvironment, errorCode, run } from './embedded-binaries.ts'
import { type Cluster, readSettings, writeSettings } from './embedded-cluster.ts'

/** The main process of a running server. */
export interface Postmaster {
  pid: number
  port: number
  /** The folder of its socket; empty if it has none, as one that an earlier version started. */
  socketFolder: string
  /** Whether it has opened everything that it listens on. */
  isListening: boolean
}

/** A server that this process started; `ended` says how it ended, if it did. */
export interface Start {
  pid: number | undefined
  ended: string | undefined
}

/** The server logs to a start-up file first and then to files in `log`; the newest one counts. */
export async function lastLogLines(cluster: Cluster): Promise<string> {
  const folder = join(cluster.dir, 'log')
  const names = await readdir(folder).catch(() => [])
  const files = await Promise.all(
    [cluster.startLog, ...names.map((name) => join(folder, name))].map(async (path) => ({
      path,
      mtimeMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  )
  const newest = files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)[0]
  const text = await readFile(newest?.path ?? cluster.startLog, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-8).join('\n')
}

/** The running server of this cluster, if any. Another process may have started it. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const recorded = await recordedPostmaster(cluster)
  return recorded && (await isPostmaster(cluster, recorded.pid)) ? recorded : undefined
}

async function recordedPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const text = await readFile(join(cluster.dir, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  // Its status is the last line, and it is written after the socket's.
  const [socketFolder = '', isListening] = [lines[4], Boolean(lines[7])]
  return pid > 0 && port > 0 ? { pid, port, socketFolder, isListening } : undefined
}

/** Identifies the cluster in the server's command line, which any user can read. */
const clusterSetting = 'sluice.cluster='
const marker = (cluster: Cluster): string => `${clusterSetting}${cluster.dir}`

/** The data directories of all embedded servers that run on this machine. */
export async function runningDataDirs(): Promise<string[]> {
  const dirs = (await commandLines()).flatMap((words) =>
    words.flatMap((word) =>
      word.startsWith(clusterSetting) ? dirname(word.slice(clusterSetting.length)) : [],
    ),
  )
  return [...new Set(dirs)].sort()
}

async function commandLines(): Promise<string[][]> {
  if (process.platform === 'linux') {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const texts = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    )
    return texts.map((text) => text.split('\0'))
  }
  const { ok, output } = await run('ps', ['-ww', '-ax', '-o', 'args='])
  return ok ? output.split('\n').map((line) => line.split(' -c ')) : []
}

/**
 * The pid alone proves nothing: after a crash it may belong to another program, or to the cluster that
 * this one was copied from.
 */
async function isPostmaster(cluster: Cluster, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return commandLine.split('\0').includes(marker(cluster))
  }
  const { ok, output } = await run('ps', ['-ww', '-o', 'args=', '-p', String(pid)])
  return ok && output.includes(marker(cluster))
}

/**
 * Makes the folder of the server's socket, which nobody else can enter, and says where it is: a statement over a socket
 * takes a third less time than over TCP. It is beside the cluster, so that no backup of the cluster has a socket's lock
 * in it. Empty if a socket cannot be there: systems allow its path about a hundred bytes, and PostgreSQL reads the
 * setting as a list.
 */
async function makeSocketFolder(cluster: Cluster, port: number): Promise<string> {
  const folder = join(cluster.dir, '../socket')
  const isFit = Buffer.byteLength(`${folder}/.s.PGSQL.${port}`) <= 100 && !/[,"\s]/.test(folder)
  // If the server's user cannot reach the cluster by its path, it cannot reach this either.
  if (!isFit || cluster.dirArgument !== cluster.dir) return ''
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (cluster.account) await chown(folder, cluster.account.uid, cluster.account.gid)
  return folder
}

/** Starts the server, which outlives this process. A second server on the same cluster exits. */
export async function startPostmaster(cluster: Cluster, fixedPort?: number): Promise<Start> {
  const port = fixedPort ?? (await freePort((await readSettings(cluster.dir)).port))
  const settings = [
    marker(cluster),
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${await makeSocketFolder(cluster, port)}`,
    // One process uses about 25 connections; this leaves room for several processes and the command line.
    'max_connections=200',
    'shared_buffers=256MB',
    // In a small database most of the write-ahead log is full-page images.
    'wal_compression=on',
    // Parallel queries use /dev/shm, and a container has only 64 MB of it.
    'max_parallel_workers_per_gather=0',
    // One file per weekday, overwritten after a week.
    'logging_collector=on',
    'log_directory=log',
    'log_filename=postgres-%a.log',
    'log_rotation_age=1d',
    'log_rotation_size=0',
    'log_truncate_on_rotation=on',
    'log_checkpoints=off',
    // Statements and error details contain payers' data; the client receives them anyway.
    'log_min_error_statement=panic',
    'log_error_verbosity=terse',
  ]
  await removeOldLogs(cluster)
  const tooLong = ((await stat(cluster.startLog).catch(() => undefined))?.size ?? 0) > 1_000_000
  const output = await open(cluster.startLog, tooLong ? 'w' : 'a', 0o600)
  try {
    const stale = await recordedPostmaster(cluster)
    const child = spawn(
      cluster.binaries.postgres,
      ['-D', cluster.dirArgument, ...settings.flatMap((setting) => ['-c', setting])],
      {
        cwd: cluster.dir,
        detached: true,
        stdio: ['ignore', output.fd, output.fd],
        // The server ignores an existing pid file if the pid in it is its grandparent's. Naming the stale
        // pid here lets the server start without our deleting the file, which another process may just
        // have written.
        env: { ...childEnvironment, ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
        ...cluster.account,
      },
    )
    child.unref()
    const start: Start = { pid: child.pid, ended: undefined }
    child.once('error', (error) => {
      start.ended = `PostgreSQL cannot be started: ${error.message}`
    })
    child.once('exit', (code, signal) => {
      start.ended = `PostgreSQL ended with ${signal ?? `code ${code}`}`
    })
    return start
  } finally {
    await output.close()
  }
}

/** PostgreSQL overwrites an old log only at midnight, so never if it does not run overnight. */
async function removeOldLogs(cluster: Cluster): Promise<void> {
  const folder = join(cluster.dir, 'log')
  for (const name of await readdir(folder).catch(() => [])) {
    const { mtimeMs } = await stat(join(folder, name))
    if (Date.now() - mtimeMs > 6 * 86_400_000) await rm(join(folder, name), { force: true })
  }
}

/** Stores the port for the next start. */
export async function keepPort(cluster: Cluster, port: number): Promise<void> {
  const settings = await readSettings(cluster.dir)
  if (settings.port !== port) {
    await writeSettings(cluster.dir, { ...settings, port }, cluster.account)
  }
}

/** Ends all connections and stops the server; resolves when it has exited. */
export async function stopPostmaster(cluster: Cluster, pid: number): Promise<void> {
  if (!(await isPostmaster(cluster, pid))) return
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return
    throw error
  }
  const deadline = Date.now() + 60_000
  while (await isPostmaster(cluster, pid)) {
    if (Date.now() > deadline) {
      throw new Error(`PostgreSQL (pid ${pid}) is still stopping.\n${await lastLogLines(cluster)}`)
    }
    await sleep(20)
  }
}

async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred
  for (let attempt = 0; attempt < 100; attempt++) {
    // Below the range of ports that the system uses for outgoing connections.
    const port = randomInt(20_000, 30_000)
    if (await isFree(port)) return port
  }
  throw new Error('No free port was found for PostgreSQL.')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
