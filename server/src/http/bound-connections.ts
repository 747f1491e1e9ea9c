import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Requests of one connection that wait for their answer, or whose answers wait to be read. */
  unanswered: number
  /** After so long without a byte in or out, a connection that waits for something is closed. */
  idleMs: number
}

export const connectionLimits: ConnectionLimits = { unanswered: 32, idleMs: 125_000 }

/** How much is parsed at a time: what one slice holds may go beyond the bound. */
const sliceBytes = 1_024

interface Connection {
  unanswered: Set<ServerResponse>
  /** The request that came in last. */
  last: IncomingMessage | undefined
  /** Looks whether there is something to be done, now that a request has been answered. */
  onAnswered: () => void
  /** Nothing more is read. */
  stop: () => void
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Bounds what one connection costs, however much it sends ahead and however little it reads. Node hands
 * on all requests of a chunk at once, two thousand perhaps; here a chunk is parsed slice by slice, the
 * next one when answers have left. Meanwhile nothing is read from the socket, so that the sender waits.
 */
export function boundConnections(server: Server, limits: ConnectionLimits): void {
  server.setTimeout(limits.idleMs)
  // Who has sent everything and says so still waits for the answer.
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
  // What Node's own server does with what comes in; both are put off here until their turn comes.
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
    // The parser of a connection that is closed may be another one's by now.
    if (isParsing || turn || isStopped || socket.destroyed) return
    while (unparsed.length > 0 && !isHeldByHttp && unanswered.size < limits.unanswered) {
      const slice = unparsed.subarray(0, sliceBytes)
      unparsed = unparsed.subarray(sliceBytes)
      isParsing = true
      parse.call(socket, slice)
      isParsing = false
      // Who sends ahead takes turns with everybody else.
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
    // Read on, so that the other side's end is seen, and throw it away.
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
  // Node's parser holds the socket when its answers are not read; it must not be fed until it lets go.
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
 * Does something once every request that came in whole has been answered: what is wrong with the bytes
 * behind them must not be taken for an answer to one of them. Nothing more of the connection is read.
 * Where the request that broke off has its answer already, the connection just ends.
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
