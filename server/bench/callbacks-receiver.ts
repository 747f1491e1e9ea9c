import { type AddressInfo, createServer } from 'node:net'
import { onMessage } from './bare-message.js'

/**
 * An agent's endpoint for the benchmark, in a process of its own: accepts every callback and tells by
 * IPC when as many as named have come.
 */
const said = '{"code":0}'
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ndate: ${new Date().toUTCString()}\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\ncontent-length: ${said.length}\r\n\r\n${said}`,
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
  socket.on('error', () => {})
  onMessage(socket, (_, body) => {
    socket.write(answer)
    arrive(noted ? body.toString() : '')
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
