import { createHash } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { type Connection, Server, type SFTPWrapper, utils } from 'ssh2'

const { STATUS_CODE, OPEN_MODE } = utils.sftp

/** What a client does with a file of the server. */
export type SftpStep = 'open' | 'write' | 'rename' | 'read' | 'list'

/** A bank's server, with its files in memory. */
export interface SftpServer {
  port: number
  /** As ssh-keygen -l writes it. */
  hostKey: string
  /** Signs in as `us`. */
  privateKey: string
  files: Map<string, { bytes: Buffer; modifiedS: number }>
  /** What clients did, such as `rename /in/a.xml.tmp /in/a.xml`; `connect` and `sign in` as well. */
  log: string[]
  /** Breaks every connection before, or right after, a step is done. */
  breaks: (step: SftpStep, path: string) => 'before' | 'after' | undefined
  /** Runs after a rename, as a bank does that takes files at once. */
  onRenamed: (path: string) => void
  put(path: string, content: string | Buffer): void
  close(): Promise<void>
}

export function newKey(): { private: string; public: string } {
  const pair = utils.generateKeyPairSync('ed25519')
  // A few that the library makes are a byte short, and it cannot read them itself.
  const isWhole = [pair.private, pair.public].every(
    (each) => !(utils.parseKey(each) instanceof Error),
  )
  return isWhole ? pair : newKey()
}

export function fingerprintOf(publicKey: string): string {
  const parsed = utils.parseKey(publicKey)
  if (parsed instanceof Error) throw parsed
  const digest = createHash('sha256').update(parsed.getPublicSSH()).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

/** Starts a server for one user with one key. */
export async function startSftpServer(): Promise<SftpServer> {
  const [hostKey, userKey] = [newKey(), newKey()]
  const allowed = utils.parseKey(userKey.public)
  if (allowed instanceof Error) throw allowed
  const sockets = new Set<Socket>()
  let tick = Math.floor(Date.now() / 1_000)
  const server: SftpServer = {
    port: 0,
    hostKey: fingerprintOf(hostKey.public),
    privateKey: userKey.private,
    files: new Map(),
    log: [],
    breaks: () => undefined,
    onRenamed: () => {},
    put(path, content) {
      tick += 1
      server.files.set(path, { bytes: Buffer.from(content), modifiedS: tick })
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        listener.close(() => resolve())
      }),
  }
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const serve = (client: Connection) => {
    server.log.push('connect')
    client.on('error', () => {})
    client.on('authentication', (context) => {
      const isUs =
        context.method === 'publickey' &&
        context.username === 'us' &&
        context.key.data.equals(allowed.getPublicSSH()) &&
        (!context.signature ||
          allowed.verify(context.blob ?? Buffer.alloc(0), context.signature, context.hashAlgo))
      if (!isUs) return context.reject(['publickey'])
      if (context.method === 'publickey' && context.signature) server.log.push('sign in')
      context.accept()
    })
    client.on('session', (accept) => {
      accept().on('sftp', (acceptSftp) => serveFiles(server, acceptSftp(), breakAll))
    })
  }
  const ssh = new Server({ hostKeys: [hostKey.private] }, serve)
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    ssh.injectSocket(socket)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  server.port = address !== null && typeof address === 'object' ? address.port : 0
  return server
}

interface Handle {
  path: string
  listed: boolean
}

function serveFiles(server: SftpServer, sftp: SFTPWrapper, breakAll: () => void): void {
  const handles: Handle[] = []
  const handleOf = (buffer: Buffer): Handle => {
    const handle = handles[buffer.readUInt32BE(0)]
    if (!handle) throw new Error('no such handle')
    return handle
  }
  const give = (id: number, handle: Handle) => {
    const buffer = Buffer.alloc(4)
    buffer.writeUInt32BE(handles.push(handle) - 1)
    sftp.handle(id, buffer)
  }
  const attributes = (path: string) => {
    const file = server.files.get(path)
    const times = { uid: 0, gid: 0, atime: file?.modifiedS ?? 0, mtime: file?.modifiedS ?? 0 }
    if (file) return { ...times, mode: 0o100_600, size: file.bytes.length }
    const isFolder = [...server.files.keys()].some((each) => each.startsWith(`${path}/`))
    return isFolder || ['/in', '/out', '/'].includes(path)
      ? { ...times, mode: 0o040_700, size: 0 }
      : undefined
  }
  const stat = (id: number, path: string) => {
    const found = attributes(path)
    if (found) sftp.attrs(id, found)
    else sftp.status(id, STATUS_CODE.NO_SUCH_FILE)
  }
  const done = (id: number) => sftp.status(id, STATUS_CODE.OK)
  /** Does a step, unless the connection breaks before; the client may never hear that it was done. */
  const step = (what: SftpStep, path: string, act: () => void, answer: () => void) => {
    const when = server.breaks(what, path)
    if (when === 'before') return breakAll()
    act()
    if (when === 'after') return breakAll()
    answer()
  }
  sftp.on('REALPATH', (id, path) => {
    const filename = path === '.' ? '/' : path
    sftp.name(id, [{ filename, longname: filename, attrs: emptyAttributes }])
  })
  sftp.on('STAT', stat)
  sftp.on('LSTAT', stat)
  sftp.on('FSTAT', (id, handle) => stat(id, handleOf(handle).path))
  sftp.on('SETSTAT', done)
  sftp.on('FSETSTAT', done)
  sftp.on('OPEN', (id, path, flags) => {
    const isNew = (flags & OPEN_MODE.TRUNC) !== 0
    if (!isNew && !server.files.has(path)) return sftp.status(id, STATUS_CODE.NO_SUCH_FILE)
    server.log.push(`${isNew ? 'write' : 'read'} ${path}`)
    const act = () => isNew && server.put(path, '')
    step(isNew ? 'open' : 'read', path, act, () => give(id, { path, listed: false }))
  })
  sftp.on('WRITE', (id, handle, offset, data) => {
    const { path } = handleOf(handle)
    const write = () => {
      const before = server.files.get(path)?.bytes ?? Buffer.alloc(0)
      server.put(path, Buffer.concat([before.subarray(0, offset), data]))
    }
    step('write', path, write, () => done(id))
  })
  sftp.on('READ', (id, handle, offset, length) => {
    const { bytes } = server.files.get(handleOf(handle).path) ?? { bytes: Buffer.alloc(0) }
    if (offset >= bytes.length) return sftp.status(id, STATUS_CODE.EOF)
    sftp.data(id, bytes.subarray(offset, offset + length))
  })
  sftp.on('CLOSE', done)
  sftp.on('RENAME', (id, from, to) => {
    const file = server.files.get(from)
    if (!file) return sftp.status(id, STATUS_CODE.NO_SUCH_FILE)
    if (server.files.has(to)) return sftp.status(id, STATUS_CODE.FAILURE)
    const rename = () => {
      server.log.push(`rename ${from} ${to}`)
      server.files.delete(from)
      server.files.set(to, file)
      server.onRenamed(to)
    }
    step('rename', to, rename, () => done(id))
  })
  sftp.on('OPENDIR', (id, path) => give(id, { path, listed: false }))
  sftp.on('READDIR', (id, buffer) => {
    const handle = handleOf(buffer)
    if (handle.listed) return sftp.status(id, STATUS_CODE.EOF)
    handle.listed = true
    const names = [...server.files.keys()].filter((each) => each.startsWith(`${handle.path}/`))
    const entries = names.map((path) => {
      const filename = path.slice(handle.path.length + 1)
      const attrs = attributes(path) ?? emptyAttributes
      return {
        filename,
        longname: `-rw------- 1 us us ${attrs.size} Jan 1 00:00 ${filename}`,
        attrs,
      }
    })
    step(
      'list',
      handle.path,
      () => {},
      () => sftp.name(id, entries),
    )
  })
}

const emptyAttributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 }
