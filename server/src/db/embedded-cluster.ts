import { randomBytes } from 'node:crypto'
import {
  access,
  chown,
  constants,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Account,
  type Binaries,
  findBinaries,
  ignoreExisting,
  removeAbandoned,
  run,
  serverAccount,
  unfinishedName,
} from './embedded-binaries.ts'

/** A PostgreSQL data directory and everything needed to run it. */
export interface Cluster {
  dir: string
  /** The path of the cluster as given to the server. */
  dirArgument: string
  startLog: string
  account: Account | undefined
  binaries: Binaries
  password: string
}

interface Settings {
  password: string
  /** The port of the last start, which the next start reuses. */
  port?: number
}

const settingsFile = 'sluice.json'

/** Opens the cluster under the data directory, creating it if it does not exist. */
export async function openCluster(
  givenDataDir: string,
  binariesPackage: string,
  log: (message: string) => void,
): Promise<Cluster> {
  if (process.platform === 'win32') {
    throw new Error('The embedded PostgreSQL runs on Linux and macOS only. Set DATABASE_URL.')
  }
  const dataDir = await usableDataDir(givenDataDir)
  const dir = join(dataDir, 'postgres')
  await removeAbandoned(dataDir, 'postgres')
  const account = await serverAccount(dir)
  const binaries = await findBinaries(binariesPackage, dataDir, account)

  const exists = await stat(dir).catch(() => undefined)
  if (!exists || (await readdir(dir).catch(() => ['out of reach'])).length === 0) {
    log(`creating a PostgreSQL ${binaries.majorVersion} database in ${dir}`)
    await createCluster(dir, binaries, account)
  }
  await checkOwner(dir, account)
  await checkVersion(dir, binaries)
  const { password } = await readSettings(dir)
  const dirArgument = await reachableAs(account, dir)
  return { dir, dirArgument, startLog: join(dataDir, 'postgres.log'), account, binaries, password }
}

async function usableDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true })
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(dataDir)
  } catch (cause) {
    const owner = await stat(dataDir).catch(() => undefined)
    throw foreign(dataDir, owner?.uid, cause)
  }
}

async function checkOwner(dir: string, account: Account | undefined): Promise<void> {
  const { uid } = await stat(dir)
  if (account === undefined && uid !== process.getuid?.()) throw foreign(dir, uid)
  // A copy of a cluster that root owns, such as one restored from a backup.
  if (account !== undefined && uid === 0) {
    const chowned = await run('chown', ['-R', `${account.uid}:${account.gid}`, dir])
    if (!chowned.ok) throw new Error(`Cannot give ${dir} to PostgreSQL's user: ${chowned.output}`)
  }
}

function foreign(path: string, ownerUid: number | undefined, cause?: unknown): Error {
  const uid = process.getuid?.()
  const owner = ownerUid === undefined ? 'is out of reach' : `belongs to user id ${ownerUid}`
  return new Error(
    `${path} ${owner}, and this is user id ${uid}. Start Sluice as its owner, or stop it and give ` +
      `the whole DATA_DIR to this user (chown -R ${uid}), or set DATA_DIR to another folder.`,
    { cause },
  )
}

async function checkVersion(dir: string, binaries: Binaries): Promise<void> {
  const version = (await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  if (version === binaries.majorVersion) return
  if (version === '') throw new Error(`${dir} is not a PostgreSQL cluster. Move it away.`)
  throw new Error(
    `${dir} was made by PostgreSQL ${version}, this is PostgreSQL ${binaries.majorVersion}. ` +
      'Dump it with the Sluice version that made it and restore it with this one, or set DATABASE_URL.',
  )
}

/**
 * If the path leads through root's home, PostgreSQL's user cannot reach the cluster by it. A process can
 * always refer to its own working directory, and Node enters that while it is still root.
 */
async function reachableAs(account: Account | undefined, dir: string): Promise<string> {
  if (account === undefined) return dir
  const reached = await run('sh', ['-c', 'test -x "$1"', 'sh', dir], { account })
  if (reached.ok) return dir
  if (process.platform === 'linux') return '/proc/self/cwd'
  throw new Error(`PostgreSQL's user cannot reach ${dir}. Set DATA_DIR to another folder.`)
}

async function createCluster(
  dir: string,
  binaries: Binaries,
  account: Account | undefined,
): Promise<void> {
  const unfinished = unfinishedName(dir)
  const cluster = join(unfinished, 'cluster')
  const password = randomBytes(32).toString('hex')
  try {
    await mkdir(cluster, { recursive: true, mode: 0o700 })
    await writeFile(join(unfinished, 'password'), password, { mode: 0o600, flag: 'wx' })
    if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, unfinished])
    const initdb = await run(
      binaries.initdb,
      [
        ...['-D', await reachableAs(account, cluster)],
        ...['--pwfile=../password', '--username=postgres', '--auth=scram-sha-256'],
        ...['--encoding=UTF8', '--locale=C', '--data-checksums', '--no-instructions'],
      ],
      { account, cwd: cluster },
    )
    if (!initdb.ok) throw new Error(`PostgreSQL could not create ${dir}: ${initdb.output}`)
    await writeSettings(cluster, { password }, account)
    await rename(cluster, dir).catch(ignoreExisting)
    await syncFolder(join(dir, '..'))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

export async function readSettings(dir: string): Promise<Settings> {
  try {
    return JSON.parse(await readFile(join(dir, settingsFile), 'utf8'))
  } catch (cause) {
    throw new Error(`${dir} was not made by Sluice: ${settingsFile} is missing. Move it away.`, {
      cause,
    })
  }
}

export async function writeSettings(
  dir: string,
  settings: Settings,
  account: Account | undefined,
): Promise<void> {
  const unfinished = unfinishedName(join(dir, settingsFile))
  await writeFile(unfinished, JSON.stringify(settings), { mode: 0o600, flag: 'wx', flush: true })
  if (account) await chown(unfinished, account.uid, account.gid)
  await rename(unfinished, join(dir, settingsFile))
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}
