import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'

/**
 * For servers of tests: whoever keeps a connection to them closes it, and not they after five seconds, which on a busy
 * machine may be at the very moment at which it is used again.
 */
export const neverIdle = { keepAliveTimeout: 0 }

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read callbacks of every shape
  json: any
}

export interface Receiver {
  url: string
  received: Received[]
  /** How it answers; may be changed at any time. */
  answer: (received: Received, response: ServerResponse) => void
  /** Resolves when as many callbacks as named have come. */
  until(count: number): Promise<void>
  close(): Promise<void>
}

/** An agent's callback endpoint, over real HTTP. Answers 200 unless told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const waiters: { count: number; resolve: () => void }[] = []
  const server = createServer(neverIdle, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        json: JSON.parse(body),
      }
      receiver.received.push(one)
      receiver.answer(one, response)
      for (const { count, resolve } of waiters) if (receiver.received.length >= count) resolve()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    received: [],
    answer: (_received, response) => response.end('{"code":0}'),
    until(count) {
      return receiver.received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiters.push({ count, resolve }))
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return receiver
}

export interface RawReceiver {
  url: string
  port: number
  /** Connections that were ever opened. */
  connections: number
  /** Requests that came whole, as they were sent. */
  requests: string[]
  close(): Promise<void>
}

/** What becomes of a request; `nth` counts the requests of its connection from 1. */
export type OnRequest = (socket: Socket, nth: number, request: string) => void

/** An endpoint that answers bytes, or nothing, or worse; with a certificate, over TLS. */
export async function startRawReceiver(
  onRequest: OnRequest,
  identity?: Identity,
  host = '127.0.0.1',
): Promise<RawReceiver> {
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    let nth = 0
    let unread = ''
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text) => {
      unread += text
      for (let size = requestSize(unread); size !== undefined; size = requestSize(unread)) {
        const request = unread.slice(0, size)
        unread = unread.slice(size)
        receiver.requests.push(request)
        onRequest(socket, ++nth, request)
      }
    })
  }
  const server: Server = identity
    ? createTlsServer({ ...identity }, serve).on('tlsClientError', () => {})
    : createTcpServer(serve)
  server.on('connection', (socket: Socket) => {
    receiver.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const receiver: RawReceiver = {
    url: `${identity ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    connections: 0,
    requests: [],
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
  return receiver
}

/** The length of the first request in a text, once all of it is there. */
function requestSize(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const size = head + 4 + Number(/content-length: *(\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
  return text.length >= size ? size : undefined
}

/** A private key and its certificate. */
export interface Identity {
  key: string
  cert: string
}

export interface Authority {
  /** To be trusted. */
  cert: string
  /** A certificate for a name, valid for so many days from now. */
  issue(name: string, days: number): Identity
  selfSigned(name: string): Identity
  close(): void
}

/** A certificate authority of the test's own. */
export function makeAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ca-'))
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const selfSigned = (subject: string, file: string, ...more: string[]) => {
    const files = ['-keyout', `${file}.key`, '-out', `${file}.pem`]
    openssl('req', '-x509', ...newKey, ...files, '-subj', `/CN=${subject}`, '-days', '2', ...more)
    return { key: read(`${file}.key`), cert: read(`${file}.pem`) }
  }
  const { cert } = selfSigned('Test authority', 'ca')
  return {
    cert,
    issue(name, days) {
      openssl('req', '-new', ...newKey, '-keyout', 'one.key', '-out', 'one.csr', '-subj', '/CN=one')
      writeFileSync(join(folder, 'one.ext'), `subjectAltName=DNS:${name}`)
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'one.ext']
      const valid = ['-days', String(days)]
      openssl('x509', '-req', '-in', 'one.csr', ...signed, ...valid, '-out', 'one.pem')
      return { key: read('one.key'), cert: read('one.pem') }
    },
    selfSigned: (name) => selfSigned(name, 'self', '-addext', `subjectAltName=DNS:${name}`),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
