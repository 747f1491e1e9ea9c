import type { Socket } from 'node:net'

/**
 * Hears HTTP messages on a bare socket, one after the other. On few cores a full HTTP server or client
 * would take more of the time than what is measured.
 */
export function onMessage(socket: Socket, hear: (head: string, body: Buffer) => void): void {
  let received = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = received.toString('latin1', 0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.length < headEnd + 4 + length) return
    const body = received.subarray(headEnd + 4)
    received = Buffer.alloc(0)
    hear(head, body)
  })
}
