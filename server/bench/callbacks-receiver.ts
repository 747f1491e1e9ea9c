import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An agent's endpoint for the benchmark, in a process of its own: accepts every callback and tells by
 * IPC when as many as named have come. A plain server of Node, as agents have them.
 */
let expected = 0
let arrived = 0
/** Bodies with the time at which they came, where that is asked for. */
let noted: { atNs: bigint; text: string }[] | undefined

function arrive(text: string): void {
  noted?.push({ atNs: process.hrtime.bigint(), text })
  if (++arrived === expected) process.send?.('arrived')
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end('{"code":0}')
    arrive(noted ? Buffer.concat(chunks).toString() : '')
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
