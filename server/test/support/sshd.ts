import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from './process.ts'
import { fingerprintOf, newKey } from './sftp-server.ts'

/** The machine's sshd, or the one that SSHD_PATH names; undefined if there is none. */
export const sshdPath = [process.env.SSHD_PATH, '/usr/sbin/sshd', '/usr/local/sbin/sshd'].find(
  (path) => path !== undefined && existsSync(path),
)

/** A real sshd with folders on disk, behind a wire that can be cut. */
export interface Sshd {
  port: number
  hostKey: string
  privateKey: string
  user: string
  folder: string
  /** Asked at everything that goes over the wire, before it does: true cuts it. */
  cuts: (from: 'client' | 'server') => boolean
  close(): Promise<void>
}

export async function startSshd(path: string): Promise<Sshd> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-sshd-'))
  for (const each of ['in', 'out']) await mkdir(join(folder, each))
  // Where it drops its rights, if it runs as root.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true })
  const userKey = newKey()
  const hostKeyFile = join(folder, 'host_key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKeyFile])
  const hostKey = fingerprintOf(await readFile(`${hostKeyFile}.pub`, 'utf8'))
  const authorized = join(folder, 'authorized_keys')
  await writeFile(authorized, `${userKey.public}\n`, { mode: 0o600 })
  const inner = await freePort()
  const config = [
    ...[`Port ${inner}`, 'ListenAddress 127.0.0.1', `HostKey ${hostKeyFile}`, 'PidFile none'],
    ...[`AuthorizedKeysFile ${authorized}`, 'StrictModes no', 'UsePAM no', 'PermitRootLogin yes'],
    ...['PasswordAuthentication no', 'Subsystem sftp internal-sftp'],
  ]
  await writeFile(join(folder, 'sshd_config'), `${config.join('\n')}\n`)
  const child = spawn(path, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: 'pipe' })
  await listening(child)
  const sockets = new Set<Socket>()
  const sshd: Sshd = {
    ...{ port: 0, hostKey, privateKey: userKey.private, user: userInfo().username, folder },
    cuts: () => false,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => wire.close(resolve))
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
  const wire = createServer((client) => {
    const server = connect(inner, '127.0.0.1')
    const both = [client, server] as const
    for (const [from, to] of [both, [server, client] as const]) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.on('data', (bytes) => {
        if (!sshd.cuts(from === client ? 'client' : 'server')) return void to.write(bytes)
        for (const each of both) each.destroy()
      })
    }
  })
  sshd.port = await new Promise<number>((resolve) => {
    wire.listen(0, '127.0.0.1', () => resolve(Object(wire.address()).port))
  })
  return sshd
}

/** Waits until it says that it listens. */
function listening({ stderr }: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    stderr?.on('data', (bytes) => {
      said += bytes
      if (said.includes('listening on')) resolve()
    })
    stderr?.once('end', () => reject(new Error(said)))
  })
}
