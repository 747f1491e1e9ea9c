import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Requests of one connection that await an answer, or whose answers have not been read. */
  unanswered: number
  /** A waiting connection is closed after this long without a byte in or out. */
  idleMs: number
}

export const connectionLimits: ConnectionLimits = { unanswered: 32, idleMs: 125_000 }

/** How much is parsed at a time. The requests in one slice may exceed the limit. */
const sliceBytes = 1_024

interface Connection {
  unanswered: Set<ServerResponse>
  /** The most recent request. */
  last: IncomingMessage | undefined
  /** Called after a request has been answered, to continue parsing. */
  onAnswered: () => void
  /** Stops parsing and discards whatever else arrives. */
  stop: () => void
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Limits what one connection costs, however much it pipelines and however little it reads. Node dispatches
 * all requests of a chunk at once, perhaps two thousand. Here a chunk is parsed slice by slice, continuing as
 * answers are sent. Until then nothing is read from the socket, so the sender has to wait.
 */
export function boundConnections(server: Server, limits: ConnectionLimits): void {
  server.setTimeout(limits.idleMs)
  // A client that has closed its sending side still waits for the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket) => bound(socket, limits))
  for (const event of ['request', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const connection = connections.get(request.socket)
      if (!connection) return
      connection.last = request
      connection.unanswered.add(response)
      response.once('close', () => {
        connection.unanswered.delete(response)
        connection.onAnswered()
      })
    })
  }
}

function bound(socket: Socket, limits: ConnectionLimits): void {
  // The listeners of Node's own server, which are called here only when their turn comes.
  const parse = socket.listeners('data').at(-1)
  const end = socket.listeners('end').at(-1)
  if (!parse || !end) throw new Error('nobody reads this connection')
  const unanswered = new Set<ServerResponse>()
  let unparsed: Buffer = Buffer.alloc(0)
  let isEnded = false
  let isHeldByHttp = false
  let isParsing = false
  let isStopped = false
  let turn: NodeJS.Immediate | undefined

  const parseOn = () => {
    // After a connection closes, its parser may already belong to another one.
    if (isParsing || turn || isStopped || socket.destroyed) return
    while (unparsed.length > 0 && !isHeldByHttp && unanswered.size < limits.unanswered) {
      const slice = unparsed.subarray(0, sliceBytes)
      unparsed = unparsed.subarray(sliceBytes)
      isParsing = true
      parse.call(socket, slice)
      isParsing = false
      // A client that pipelines takes turns with all others.
      if (unparsed.length > 0 && unanswered.size > 1) {
        turn = setImmediate(() => {
          turn = undefined
          parseOn()
        })
        return
      }
    }
    if (unparsed.length > 0 || isHeldByHttp || isStopped) return
    if (isEnded) end.call(socket)
    else resume()
  }
  const stop = () => {
    isStopped = true
    unparsed = Buffer.alloc(0)
    // Keeps reading and discards the data, so that the end of the stream is noticed.
    resume()
  }
  const pause = socket.pause.bind(socket)
  const resume = socket.resume.bind(socket)
  socket.off('data', asListener(parse))
  socket.off('end', asListener(end))
  socket.once('end', () => {
    isEnded = true
    parseOn()
  })
  socket.on('data', (chunk: Buffer) => {
    if (isStopped) return
    unparsed = unparsed.length === 0 ? chunk : Buffer.concat([unparsed, chunk])
    parseOn()
    if (unparsed.length > 0) pause()
  })
  // Node pauses the socket when its answers are not read; the parser must not be fed until Node resumes it.
  socket.pause = () => {
    isHeldByHttp = true
    return pause()
  }
  socket.resume = () => {
    isHeldByHttp = false
    parseOn()
    return socket
  }
  connections.set(socket, { unanswered, last: undefined, onAnswered: parseOn, stop })
}

function asListener(listener: { call: (self: Socket, ...given: unknown[]) => unknown }) {
  return listener as (...given: unknown[]) => void
}

/**
 * Acts once every complete request has been answered, so that an error about the bytes after them is not
 * taken for the answer to one of them. Nothing more is read from the connection. If the incomplete request
 * has already been answered, just ends the connection.
 */
export function afterAnswers(socket: Socket, act: () => void): void {
  const connection = connections.get(socket)
  if (!connection) throw new Error('this connection is not bound')
  connection.stop()
  const { last } = connection
  connection.onAnswered = () => {
    const unanswered = [...connection.unanswered].map(({ req }) => req)
    if (unanswered.some(({ complete }) => complete)) return
    connection.onAnswered = () => {}
    if (last && !last.complete && !unanswered.includes(last)) socket.end()
    else act()
  }
  connection.onAnswered()
}
