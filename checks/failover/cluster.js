import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { freePort } from '../free-port.js'
import { openNetwork } from './networks.js'

const files = fileURLToPath(new URL('../../deploy/patroni/', import.meta.url))
const names = ['one', 'two', 'three']
const example = (at) => `10.0.0.${11 + at}`
export const passwords = { superuser: 'super-secret', owner: 'owner-secret', login: 'login-secret' }

/** Three machines with the files of deploy/patroni: etcd, Patroni and PostgreSQL on each, HAProxy beside the service. */
export class Cluster {
  network
  nodes = []
  #scratch
  #isSynchronous
  #identity
  #outside = []

  static async open(scratch, { isSynchronous }) {
    const cluster = new Cluster()
    cluster.#scratch = scratch
    cluster.#isSynchronous = isSynchronous
    cluster.#identity = identity()
    cluster.network = await openNetwork(names.length)
    for (const [at, name] of names.entries()) {
      const folder = join(scratch, name)
      mkdirSync(folder)
      if (cluster.#identity) chownSync(folder, cluster.#identity.uid, cluster.#identity.gid)
      cluster.nodes.push({ at, name, folder, data: join(folder, 'postgres'), children: [] })
    }
    return cluster
  }

  async start() {
    for (const node of this.nodes) this.#startEtcd(node)
    for (const node of this.nodes) this.startNode(node, { withEtcd: false })
    await this.settled()
  }

  /** Starts what runs on a machine. */
  startNode(node, { withEtcd = this.network.hasOwnEtcd } = {}) {
    if (withEtcd) this.#startEtcd(node)
    const file = join(node.folder, 'patroni.yml')
    writeFileSync(file, this.#patroniFile(node), { mode: 0o644 })
    node.children.push(this.#spawn(node, ['patroni', file], 'patroni'))
  }

  /** The node that holds the leader's lock, by what the nodes say of themselves. */
  async leader() {
    const said = await Promise.all(
      this.nodes.map((node) =>
        fetch(`http://${this.network.listens(node.at, 'rest')}/primary`, {
          signal: AbortSignal.timeout(1_000),
        }).then(
          ({ status }) => status === 200 && node,
          () => false,
        ),
      ),
    )
    return said.find((node) => node !== false)
  }

  /** Waits until there is a leader with two replicas that stream, one of them synchronous. */
  async settled(withinMs = 180_000) {
    for (const until = Date.now() + withinMs; Date.now() < until; await pause(250)) {
      const leader = await this.leader()
      if (!leader) continue
      const rows = await this.asSuperuser(
        leader,
        `select sync_state from pg_stat_replication where state = 'streaming'`,
      ).catch(() => [])
      const isSynchronous = rows.some(({ sync_state }) => sync_state !== 'async')
      if (rows.length === names.length - 1 && isSynchronous === this.#isSynchronous) return leader
    }
    throw new Error(`the cluster has not settled within ${withinMs / 1000} s`)
  }

  async asSuperuser(node, text, database = 'postgres') {
    const client = new pg.Client({
      connectionString: this.#url('postgres', passwords.superuser, [node], database),
      connectionTimeoutMillis: 2_000,
      query_timeout: 10_000,
    })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  /** An address that names all machines, as the service takes it. */
  url(login, password) {
    return `${this.#url(login, password, this.nodes)}?target_session_attrs=read-write`
  }

  addressOf(node, login, password) {
    return this.#url(login, password, [node])
  }

  /** HAProxy with the file of deploy/patroni; returns the address by way of it. */
  async startProxy(login, password) {
    const port = await freePort()
    let text = readFileSync(join(files, 'haproxy.cfg'), 'utf8').replace(
      'bind 127.0.0.1:6432',
      `bind 127.0.0.1:${port}`,
    )
    for (const { at } of this.nodes) {
      const rest = this.network.listens(at, 'rest').split(':')[1]
      text = text.replace(
        `${example(at)}:5432 check port 8008`,
        `${this.network.listens(at, 'postgres')} check port ${rest}`,
      )
    }
    const file = join(this.#scratch, 'haproxy.cfg')
    writeFileSync(file, text)
    const log = openSync(join(this.#scratch, 'haproxy.log'), 'a')
    this.#outside.push(spawn('haproxy', ['-f', file], { stdio: ['ignore', log, log] }))
    return `postgres://${login}:${password}@127.0.0.1:${port}/sluice`
  }

  /** The machine loses its power. */
  kill(node) {
    for (const pid of this.#pids(node)) signal(pid, 'SIGKILL')
    node.children = []
  }

  freeze(node) {
    for (const pid of this.#pids(node)) signal(pid, 'SIGSTOP')
  }

  thaw(node) {
    for (const pid of this.#pids(node)) signal(pid, 'SIGCONT')
  }

  close() {
    for (const node of this.nodes) this.kill(node)
    for (const child of this.#outside) child.kill('SIGKILL')
    this.network.close()
  }

  #url(login, password, nodes, database = 'sluice') {
    const hosts = nodes.map(({ at }) => this.network.listens(at, 'postgres')).join(',')
    return `postgres://${login}:${password}@${hosts}/${database}`
  }

  #startEtcd(node) {
    const { network } = this
    let text = readFileSync(join(files, 'etcd.env'), 'utf8')
      .replace('ETCD_NAME=one', `ETCD_NAME=${node.name}`)
      .replace(
        /^(ETCD_(?:LISTEN_PEER|INITIAL_ADVERTISE_PEER)_URLS)=.*$/gm,
        `$1=http://${network.listens(node.at, 'peer')}`,
      )
      .replace(
        /^(ETCD_(?:LISTEN|ADVERTISE)_CLIENT_URLS)=.*$/gm,
        `$1=http://${network.listens(node.at, 'etcd')}`,
      )
    for (const { at } of this.nodes) {
      text = text.replace(`${example(at)}:2380`, network.listens(at, 'peer'))
    }
    const settings = [...text.matchAll(/^(ETCD_\w+)=(.*)$/gm)].map(([, key, value]) => [key, value])
    const env = {
      ...Object.fromEntries(settings),
      ETCD_DATA_DIR: join(node.folder, 'etcd'),
      // On a small machine the disk of one is the disk of all.
      ETCD_UNSUPPORTED_ARCH: process.arch === 'arm64' ? 'arm64' : '',
    }
    const child = this.#spawn(node, ['etcd'], 'etcd', env)
    if (network.hasOwnEtcd) node.children.push(child)
    else this.#outside.push(child)
  }

  #patroniFile({ at, name, data }) {
    const { network } = this
    let text = readFileSync(join(files, 'patroni.yml'), 'utf8')
      .replace('name: one', `name: ${name}`)
      // Behind proxies it must not go to the addresses that etcd itself names.
      .replace(
        /^(\s+)hosts:.*$/m,
        `$1hosts: ${network.etcdFor(at).join(',')}\n$1use_proxies: ${!network.hasOwnEtcd}`,
      )
      .replace('data_dir: /var/lib/postgresql/15/sluice', `data_dir: ${data}`)
      .replace(/bin_dir: .*/, `bin_dir: ${postgresFolder()}`)
      .replace('local all all peer', 'local all all trust')
      .replaceAll('10.0.0.0/24', network.range)
      .replace('SUPERUSER_PASSWORD', passwords.superuser)
    for (const [port, part] of [
      [8008, 'rest'],
      [5432, 'postgres'],
    ]) {
      text = text
        .replace(` listen: 10.0.0.11:${port}`, ` listen: ${network.listens(at, part)}`)
        .replace(
          `connect_address: 10.0.0.11:${port}`,
          `connect_address: ${network.reached(at, part)}`,
        )
    }
    if (!this.#isSynchronous)
      text = text.replaceAll(/^(\s+synchronous_mode\w*:) true$/gm, '$1 false')
    return `${text}  parameters:\n    unix_socket_directories: ${join(this.#scratch, name)}\n`
  }

  #spawn(node, program, name, env = {}) {
    const log = join(node.folder, `${name}.log`)
    appendFileSync(log, `--- ${new Date().toISOString()}\n`)
    const drop = this.#identity
      ? [
          'setpriv',
          `--reuid=${this.#identity.uid}`,
          `--regid=${this.#identity.gid}`,
          '--clear-groups',
        ]
      : []
    const [command, ...args] = this.network.command(node.at, [...drop, ...program])
    const out = openSync(log, 'a')
    const { PATH } = process.env
    return spawn(command, args, {
      stdio: ['ignore', out, out],
      cwd: node.folder,
      env: { PATH, LANG: 'C.UTF-8', HOME: node.folder, ...env },
    })
  }

  /** Patroni's and etcd's processes, and every process of PostgreSQL, which all work in its folder. */
  #pids(node) {
    const postgres = readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === node.data
      } catch {
        return false
      }
    })
    const children = node.children.filter(
      ({ exitCode, signalCode }) => exitCode === null && !signalCode,
    )
    return [...children.map(({ pid }) => pid), ...postgres.map(Number)]
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}

/** PostgreSQL does not run as root. */
function identity() {
  if (process.getuid() !== 0) return undefined
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function postgresFolder() {
  for (const version of [18, 17, 16, 15]) {
    const folder = `/usr/lib/postgresql/${version}/bin`
    if (existsSync(join(folder, 'pg_rewind'))) return folder
  }
  throw new Error('PostgreSQL is not in /usr/lib/postgresql: apt install postgresql')
}

/** Debian's packages with what the run needs; installed where that is permitted. */
export function needPrograms() {
  const needed = [
    ['patroni', '/usr/bin/patroni'],
    ['python3-etcd', '/usr/lib/python3/dist-packages/etcd'],
    ['etcd-server', '/usr/bin/etcd'],
    ['haproxy', '/usr/sbin/haproxy'],
    ['postgresql', '/usr/lib/postgresql'],
    ['iproute2', '/usr/sbin/ip'],
  ]
  const missing = needed.filter(
    ([, path]) => !existsSync(path) && !existsSync(path.replace('/usr', '')),
  )
  if (missing.length === 0) return
  const packages = missing.map(([name]) => name)
  const words = `${packages.join(', ')} must be installed: apt-get install ${packages.join(' ')}`
  if (process.getuid() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error(words)
  console.log(`Installing ${packages.join(', ')} ...`)
  try {
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
      stdio: 'pipe',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch (error) {
    throw new Error(`${words} (${String(error.stderr).trim().split('\n').at(-1)})`)
  }
}
