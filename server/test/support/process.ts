import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import {
  copyFile,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'
import { AgentClient } from './service.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const shellProgram = join(root, 'server/test/support/command-shell.js')

export type Env = Record<string, string>

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  pid: number
  /** What it has written so far. */
  stdout: string
  stderr: string
  ended: Promise<Ended>
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

const running = new Set<Running>()
const folders = new Set<string>()
const servers = new Set<{ close(): Promise<void> }>()

/**
 * Ends all that was started here and removes its folders; for afterEach or afterAll. The shell of `command` stays
 * for the next test, unless it is at work.
 */
export async function cleanUp(): Promise<void> {
  const ending = [...running].filter((each) => each !== shell || isShellAtWork)
  for (const { pid } of ending) killGroup(pid)
  await Promise.all(ending.map(({ ended }) => ended))
  for (const folder of folders) {
    const left = postmasterPid(folder)
    if (left !== undefined) kill(left)
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
  folders.clear()
  await Promise.all([...servers].map((server) => server.close()))
  servers.clear()
}

// A run that is broken off leaves nothing behind either.
process.on('exit', () => {
  for (const { pid } of running) killGroup(pid)
  for (const folder of folders) {
    kill(postmasterPid(folder) ?? 0)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

export function kill(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

/** Starts a program in a process group of its own, with nothing of our environment but paths. */
export function start(
  file: string,
  args: string[],
  options: {
    env?: Env
    cwd?: string
    input?: string
    /** Leaves stdin open for the test to write to. */
    stdin?: boolean
    messages?: boolean
  } = {},
): Running {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(file, args, {
    // Node.js 22 and later compile every file once for all processes.
    env: { PATH, HOME, NODE_COMPILE_CACHE: join(tmpdir(), 'compiled'), ...options.env },
    cwd: options.cwd ?? tmpdir(),
    detached: true,
    stdio: [
      options.input === undefined && !options.stdin ? 'ignore' : 'pipe',
      'pipe',
      'pipe',
      // A channel for messages both ways.
      ...(options.messages ? (['ipc'] as const) : []),
    ],
  })
  if (!options.stdin) child.stdin?.end(options.input)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      running.delete(started)
      resolve({ code, signal, stdout: started.stdout, stderr: started.stderr })
    })
  })
  const started: Running = {
    child,
    pid: child.pid ?? 0,
    stdout: '',
    stderr: '',
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    started.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    started.stderr += text
  })
  running.add(started)
  return started
}

/** Starts `sluice` with these arguments. */
export function startSluice(args: string[], env: Env): Running {
  return start(process.execPath, [inject('programs').sluice, ...args], { env })
}

/** Runs `sluice` with these arguments to its end. */
export function sluice(args: string[], env: Env): Promise<Ended> {
  return startSluice(args, env).ended
}

/**
 * Runs commands to their end, one after the other in one process: where a process for each would prove
 * nothing more, it would only take longer. Not for serve or listen, nor for what is to happen at once.
 */
export function command(args: string[], env: Env): Promise<Ended> {
  const ended = lastCommand.then(() => inShell(args, env))
  lastCommand = ended.catch(() => {})
  return ended
}

let lastCommand: Promise<unknown> = Promise.resolve()
let shell: Running | undefined
let isShellAtWork = false

async function inShell(args: string[], env: Env): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env
  if (!shell || !running.has(shell)) shell = startShell()
  const { child, ended, stderr } = shell
  isShellAtWork = true
  const answer = new Promise<Ended>((resolve) => {
    child.once('message', (told: Ended) => {
      isShellAtWork = false
      resolve(told)
    })
  })
  child.send({ args, env: { PATH, HOME, ...env } })
  const broken = ended.then(() => {
    throw new Error(`the shell ended at sluice ${args.join(' ')}: ${stderr}`)
  })
  return Promise.race([answer, broken])
}

/** Keeps nobody from ending: it ends with the process that started it. */
function startShell(): Running {
  const started = start(process.execPath, [shellProgram], { messages: true })
  const { child } = started
  for (const each of [child, child.channel, child.stdout, child.stderr]) {
    if (each && 'unref' in each && typeof each.unref === 'function') each.unref()
  }
  return started
}

/** The same with --json for a command that must succeed; reads what it printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export async function commandJson(args: string[], env: Env): Promise<any> {
  return readJson(args, await command([...args, '--json'], env))
}

/** Runs a command with --json that must succeed, and reads what it printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export async function sluiceJson(args: string[], env: Env): Promise<any> {
  return readJson(args, await sluice([...args, '--json'], env))
}

function readJson(args: string[], { code, stdout, stderr }: Ended) {
  if (code !== 0) {
    throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  }
  return JSON.parse(stdout)
}

/** Fails where `sluice verify` does. */
export async function verifyClean(env: Env): Promise<void> {
  expect(await commandJson(['verify'], env)).toMatchObject({ ok: true, findings: [] })
}

export interface Serving extends Running {
  /** Where it listens. */
  url: string
  /** The demo agent, where this start made it. */
  demo: { appId: string; secret: string } | undefined
  /** Signs for an agent; without one named, for the demo agent. */
  agent(of?: { appId: string; secret: string }): AgentClient
}

/** Starts `sluice serve`, on a free port unless one is named, and waits until it is ready. */
export async function serve(env: Env): Promise<Serving> {
  const started = startSluice(['serve', '--json'], { PORT: '0', ...env })
  const told = await readiness(started)
  const demo = told.secret ? { appId: told.app_id ?? '', secret: told.secret } : undefined
  return Object.assign(started, {
    url: told.listening,
    demo,
    agent(of = demo) {
      if (!of) throw new Error('name an agent: this start made none')
      return new AgentClient(told.listening, of.appId, of.secret, 0n, () => new Date())
    },
  })
}

/** What a serve prints once it is ready. */
async function readiness(
  started: Running,
): Promise<{ listening: string; app_id?: string; secret?: string }> {
  const failed = started.ended.then(({ code, signal, stderr }) => {
    throw new Error(`serve ended with ${signal ?? code}: ${stderr}`)
  })
  failed.catch(() => {})
  const ready = new Promise<void>((resolve) => {
    started.child.stdout?.on('data', () => started.stdout.endsWith('}\n') && resolve())
  })
  await Promise.race([ready, failed])
  return JSON.parse(started.stdout)
}

/** A folder for DATA_DIR that goes away with its PostgreSQL. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-process-'))
  folders.add(folder)
  return folder
}

/** The same with a database in it that is up to date, as a service left it that nobody has used yet. */
export async function dataFolder(): Promise<string> {
  const folder = await tempFolder()
  // With its owner, who is another than root.
  execFileSync('cp', ['-a', `${inject('madeDataDir')}/.`, folder])
  return folder
}

/** The main process of the PostgreSQL in a data directory, if it runs. */
export function postmasterPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres/postmaster.pid')
  if (!existsSync(file)) return undefined
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  return pid > 0 && isRunning(pid) ? pid : undefined
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // One that has ended and only waits for its parent to notice is gone for everybody else.
  const stat = `/proc/${pid}/stat`
  return !(existsSync(stat) && / Z /.test(readFileSync(stat, 'utf8')))
}

/** What the PostgreSQL in a data directory has logged. */
export function postgresLog(dataDir: string): string {
  const folder = join(dataDir, 'postgres/log')
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('')
}

/** The process that writes PostgreSQL's log is the last to end, so its last line may come after the server is gone. */
export async function expectShutDown(dataDir: string): Promise<void> {
  await expect
    .poll(() => postgresLog(dataDir), { interval: 20 })
    .toMatch(/database system is shut down\n$/)
}

/** Takes a port, and says which. */
export async function listen(port = 0): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((socket) => socket.destroy())
  await listening(server, port)
  const taken = { port: portOf(server), close: () => closed(server) }
  servers.add(taken)
  return taken
}

/** Beneath the ports that systems give away by themselves, above those of embedded databases. */
const [firstPort, portCount] = [30_000, 2_700]

/** A port on which nobody listens, and which nobody else is given as long as the tests run. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + randomInt(portCount)
    if (!(await reserve(port))) continue
    const taken = await listen(port).catch(() => undefined)
    await taken?.close()
    if (taken) return port
  }
}

/** Other tests, of whichever run, see by the port of the same number for datagrams that this one is given away. */
function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close()
      resolve(false)
    })
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  })
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve())
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

/**
 * The working tree in a folder of its own, where npm's scripts may build and write without touching
 * what other tests run. Packages are linked, our own ones to the copy.
 */
export async function copyOfRepository({ built = false } = {}): Promise<string> {
  const copy = await tempFolder()
  for (const folder of built ? ['server', 'sdk', 'console'] : []) {
    await cp(join(root, folder, 'dist'), join(copy, folder, 'dist'), { recursive: true })
  }
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const path of files.split('\0')) {
    if (path === '' || !existsSync(join(root, path))) continue
    await mkdir(dirname(join(copy, path)), { recursive: true })
    await copyFile(join(root, path), join(copy, path))
  }
  const packages = join(root, 'node_modules')
  await linkPackages(packages, join(copy, 'node_modules'))
  if (built) {
    // The compiler knows linked packages by where they really are, and would check everything anew.
    const known = join(copy, 'server/dist/.tsbuildinfo')
    const realPath = relative(dirname(known), packages)
    const text = await readFile(known, 'utf8')
    await writeFile(known, text.replaceAll('"../../node_modules/', `"${realPath}/`))
  }
  return copy
}

async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const name of await readdir(from)) {
    const path = join(from, name)
    if ((await lstat(path)).isSymbolicLink()) await symlink(await readlink(path), join(to, name))
    else if (/^(@.*|\.bin)$/.test(name)) await linkPackages(path, join(to, name))
    else await symlink(path, join(to, name))
  }
}
