import { type AddressInfo, createServer } from 'node:net'

/**
 * An agent's endpoint for the benchmark, in a process of its own: accepts every callback and tells by
 * IPC when as many as named have come. Bare sockets: on few cores a full HTTP server would take much of
 * the time that is to be measured.
 */
const body = '{"code":0}'
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ndate: ${new Date().toUTCString()}\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
)
let expected = 0
let arrived = 0
/** Bodies with the time at which they came, where that is asked for. */
let noted: { atNs: bigint; text: string }[] | undefined

function arrive(text: string): void {
  noted?.push({ atNs: process.hrtime.bigint(), text })
  if (++arrived === expected) process.send?.('arrived')
}

const server = createServer((socket) => {
  socket.setNoDelay(true)
  let received = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = received.toString('latin1', 0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.length < headEnd + 4 + length) return
    socket.write(answer)
    arrive(noted ? received.toString('utf8', headEnd + 4) : '')
    received = Buffer.alloc(0)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})

process.on('message', (message: { expect: number; note: boolean } | 'noted') => {
  if (message === 'noted') {
    process.send?.({
      noted: (noted ?? []).map(({ atNs, text }) => ({
        atNs: String(atNs),
        orderId: /"transactionId":"([^"]+)"/.exec(text)?.[1] ?? '',
      })),
    })
    noted = undefined
    return
  }
  arrived = 0
  expected = message.expect
  noted = message.note ? [] : undefined
  process.send?.('expecting')
})
