import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Signer } from './load.js'

/** The root of this repository. */
export const ownTree = fileURLToPath(new URL('../..', import.meta.url))

export interface WholeService {
  pids: number[]
  ports: number[]
  agents: Signer[]
  /** The addresses of the inspectors, if they were asked for. */
  inspectors: string[]
  /** Runs a command of the service. */
  command(...args: string[]): Promise<string>
  stop(): Promise<void>
}

/** Starts the service of a tree as its operators do, and has its command line make the agents. */
export async function startWhole(
  tree: string,
  options: {
    databaseUrl: string
    dataDir: string
    secretKey: string
    agents: number
    method: string
    receiverUrl: string
    fund: number
    processes?: number
    inspect?: boolean
    /** The cores that the service may use, as taskset names them. */
    cores?: string | undefined
  },
): Promise<WholeService> {
  const env = {
    ...process.env,
    DATABASE_URL: options.databaseUrl,
    PORT: '0',
    DATA_DIR: options.dataDir,
    SECRET_KEY: options.secretKey,
    LOG_LEVEL: 'silent',
  }
  const bin = join(tree, 'server/bin/sluice.js')
  const command = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [bin, ...args], { env })).stdout
  const children: ChildProcess[] = []
  const ports: number[] = []
  const inspectors: string[] = []
  for (let at = 0; at < (options.processes ?? 1); at++) {
    const node = [
      ...(options.inspect ? ['--inspect=127.0.0.1:0'] : []),
      '--max-semi-space-size=32',
      ...[bin, 'serve', '--json'],
    ]
    const [file, args] =
      options.cores === undefined
        ? [process.execPath, node]
        : ['taskset', ['-c', options.cores, process.execPath, ...node]]
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const inspector = /ws:\/\/\S+/.exec(text)?.[0]
      if (inspector) inspectors.push(inspector)
    })
    ports.push(await portOf(child))
  }
  const agents = await Promise.all(
    Array.from({ length: options.agents }, async (_, at): Promise<Signer> => {
      const callback = `${options.receiverUrl}/${at}`
      const made = JSON.parse(
        await command(
          ...['agent', 'create', '--json', '--name', `Bench ${at}`, '--method', options.method],
          ...['--rate-limit', '0', '--deposit-callback', callback, '--withdraw-callback', callback],
        ),
      )
      if (options.fund > 0) {
        const fund = ['adjust', made.app_id, String(options.fund), '--reason', 'benchmark']
        await command('wallet', ...fund)
      }
      return { appId: made.app_id, secret: made.secret }
    }),
  )
  return {
    pids: children.map(({ pid }) => pid ?? 0),
    ports,
    agents,
    inspectors,
    command,
    async stop() {
      for (const child of children) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
    },
  }
}

/** The port that a service says it listens on; it says so in JSON, over one line or several. */
async function portOf(child: ChildProcess): Promise<number> {
  let said = ''
  for await (const text of child.stdout ?? []) {
    said += text
    const listening = /"listening":\s*"([^"]+)"/.exec(said)?.[1]
    if (listening !== undefined) {
      child.stdout?.resume()
      return Number(new URL(listening).port)
    }
  }
  throw new Error('the service did not start')
}

/** Another revision of this repository, built, in a worktree that goes when the benchmark ends; or a folder that has one. */
export function checkOut(revision: string, folder: string): { tree: string; remove(): void } {
  if (existsSync(join(revision, 'server/dist'))) return { tree: revision, remove() {} }
  const tree = join(folder, 'against')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ownTree, stdio: 'pipe' })
  git('worktree', 'add', '--detach', tree, revision)
  const remove = () => {
    rmSync(tree, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  try {
    const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
    const run = (...args: string[]) => execFileSync('npm', args, { cwd: tree, stdio: 'pipe' })
    if (lockOf(tree) === lockOf(ownTree)) {
      symlinkSync(join(ownTree, 'node_modules'), join(tree, 'node_modules'))
    } else run('ci', '--ignore-scripts', '--no-audit', '--no-fund')
    run('run', 'build', '--silent')
    return { tree, remove }
  } catch (error) {
    remove()
    throw error
  }
}
