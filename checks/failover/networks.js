import { execFileSync } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { freePort } from '../free-port.js'

const ports = { postgres: 5432, rest: 8008, etcd: 2379, peer: 2380 }

/** Namespaces where they are permitted, proxies elsewhere. */
export async function openNetwork(count) {
  if (process.env.NETWORK !== 'proxies') {
    const network = new Namespaces(count)
    try {
      network.open()
      return network
    } catch (error) {
      network.close()
      console.log(`Network namespaces are not permitted here (${String(error.message).trim()}).`)
    }
  }
  return Proxies.open(count)
}

/** A machine is a network namespace with an address of its own; all of them are on one bridge. */
class Namespaces {
  words = 'network namespaces'
  hasOwnEtcd = true
  #count
  #bridge = `slu${process.pid}`
  #net = `10.77.${process.pid % 250}`

  constructor(count) {
    this.#count = count
  }

  open() {
    ip('link', 'add', this.#bridge, 'type', 'bridge')
    ip('addr', 'add', `${this.#net}.1/24`, 'dev', this.#bridge)
    ip('link', 'set', this.#bridge, 'up')
    for (let at = 0; at < this.#count; at++) {
      const [name, wire] = [this.#name(at), `${this.#bridge}w${at}`]
      ip('netns', 'add', name)
      ip('link', 'add', wire, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
      ip('link', 'set', wire, 'master', this.#bridge, 'up')
      ip('-n', name, 'addr', 'add', `${this.#host(at)}/24`, 'dev', 'eth0')
      ip('-n', name, 'link', 'set', 'eth0', 'up')
      ip('-n', name, 'link', 'set', 'lo', 'up')
    }
    execFileSync('ip', ['netns', 'exec', this.#name(0), 'true'], { stdio: 'pipe' })
  }

  /** Where a part of a machine listens, and where others reach it. */
  listens(at, part) {
    return `${this.#host(at)}:${ports[part]}`
  }

  reached(at, part) {
    return this.listens(at, part)
  }

  /** Where a machine finds etcd. */
  etcdFor() {
    return Array.from({ length: this.#count }, (_, at) => this.listens(at, 'etcd'))
  }

  get range() {
    return `${this.#net}.0/24`
  }

  command(at, program) {
    return ['ip', 'netns', 'exec', this.#name(at), ...program]
  }

  /** Cut off from the other machines, and not from the service, which is the worse of the two. */
  cut(at) {
    for (const other of this.#others(at)) {
      ip('-n', this.#name(at), 'route', 'add', 'blackhole', `${this.#host(other)}/32`)
    }
  }

  heal(at) {
    for (const other of this.#others(at)) {
      ip('-n', this.#name(at), 'route', 'del', 'blackhole', `${this.#host(other)}/32`)
    }
  }

  close() {
    for (let at = 0; at < this.#count; at++) tryIp('netns', 'del', this.#name(at))
    tryIp('link', 'del', this.#bridge)
  }

  #others(at) {
    return Array.from({ length: this.#count }, (_, each) => each).filter((each) => each !== at)
  }

  #name(at) {
    return `${this.#bridge}n${at}`
  }

  #host(at) {
    return `${this.#net}.${11 + at}`
  }
}

/**
 * All machines have the address of this one. The others, and etcd, are reached through proxies which fall silent when a
 * machine is cut off; the service goes past them. etcd is on no machine of the three.
 */
class Proxies {
  words = 'proxies between the nodes'
  hasOwnEtcd = false
  range = '127.0.0.0/8'
  #machines = []
  #etcd = []
  #proxies = []

  static async open(count) {
    const network = new Proxies()
    for (let at = 0; at < count; at++) {
      network.#etcd.push({ etcd: await freePort(), peer: await freePort() })
    }
    for (let at = 0; at < count; at++) {
      const own = { postgres: await freePort(), rest: await freePort() }
      const proxies = {
        postgres: await SilentProxy.open(own.postgres),
        rest: await SilentProxy.open(own.rest),
        etcd: await Promise.all(network.#etcd.map(({ etcd }) => SilentProxy.open(etcd))),
      }
      network.#machines.push({ own, proxies })
      network.#proxies.push([proxies.postgres, proxies.rest, ...proxies.etcd])
    }
    return network
  }

  listens(at, part) {
    return `127.0.0.1:${this.#machines[at].own[part] ?? this.#etcd[at][part]}`
  }

  reached(at, part) {
    const proxy = this.#machines[at].proxies[part]
    return proxy instanceof SilentProxy ? proxy.address : this.listens(at, part)
  }

  etcdFor(at) {
    return this.#machines[at].proxies.etcd.map(({ address }) => address)
  }

  command(_at, program) {
    return program
  }

  cut(at) {
    for (const proxy of this.#proxies[at]) proxy.silence(true)
  }

  heal(at) {
    for (const proxy of this.#proxies[at]) proxy.silence(false)
  }

  close() {
    for (const proxy of this.#proxies.flat()) proxy.close()
  }
}

class SilentProxy {
  #isSilent = false
  #pairs = new Set()
  #server

  static async open(port) {
    const proxy = new SilentProxy()
    proxy.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      const pair = [near, far]
      proxy.#pairs.add(pair)
      for (const socket of pair) {
        socket.on('error', () => {})
        socket.on('close', () => {
          // A machine that is cut off does not hear that the other has hung up.
          if (!proxy.#isSilent) for (const each of pair) each.destroy()
          if (pair.every(({ destroyed }) => destroyed)) proxy.#pairs.delete(pair)
        })
      }
      const pass = (to) => (bytes) => {
        if (!proxy.#isSilent) to.write(bytes)
      }
      near.on('data', pass(far))
      far.on('data', pass(near))
    })
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get address() {
    return `127.0.0.1:${this.#server.address().port}`
  }

  silence(isSilent) {
    this.#isSilent = isSilent
    // What was said meanwhile is lost, so these connections are of no use any more.
    if (!isSilent) this.#end()
  }

  close() {
    this.#server.close()
    this.#end()
  }

  #end() {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }
}

function ip(...args) {
  execFileSync('ip', args, { stdio: 'pipe' })
}

function tryIp(...args) {
  try {
    ip(...args)
  } catch {
    // It was never made.
  }
}
