import { type AddressInfo, createServer } from 'node:net'

/**
 * An agent's endpoint for the benchmark, in a process of its own: accepts every callback and tells by
 * IPC when as many as named have come. Bare sockets, so that it takes little from whom it measures.
 */
const answer = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"code":0}',
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
  let unread = ''
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    unread += chunk
    for (;;) {
      const head = unread.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /content-length: *(\d+)/i.exec(unread)?.[1] ?? '0'
      const end = head + 4 + Number(length)
      if (unread.length < end) return
      arrive(noted ? unread.slice(head + 4, end) : '')
      unread = unread.slice(end)
      socket.write(answer)
    }
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
