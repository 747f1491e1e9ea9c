import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { derivedKey } from '../dist/lib/secret-box.js'
import { signCallback } from '../dist/lib/signature.js'
import { onMessage } from './bare-message.js'

/**
 * A payment company for the benchmark, in a process of its own: told by IPC which deposits were made, it reports each as
 * paid, by bare sockets. Says when as many as it was told to expect are answered, and when it sent and heard of each.
 */
const [secretKey = '', connections = '32', ...ports] = process.argv.slice(2)
const key = derivedKey(Buffer.from(secretKey, 'base64'), 'sandbox bank')
const waiting: { txnId: string; amount: string }[] = []
let idle: (() => void)[] = []
let sockets: Socket[] = []
let expected = 0
let answered: { txnId: string; sentNs: string; answeredNs: string }[] = []

function open(port: number): void {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.setNoDelay(true)
  let sent: { txnId: string; sentNs: string } | undefined
  const next = () => {
    const deposit = waiting.shift()
    if (!deposit) {
      idle.push(next)
      return
    }
    sent = { txnId: deposit.txnId, sentNs: String(process.hrtime.bigint()) }
    report(socket, deposit)
  }
  socket.on('connect', next)
  socket.on('error', fail)
  onMessage(socket, (head, body) => {
    // As payment companies do, it reports again what was not taken.
    if (!head.startsWith('HTTP/1.1 200')) {
      if (sent) waiting.push({ txnId: sent.txnId, amount: '100' })
      setTimeout(next, 100)
      return
    }
    if (!/"result":"(applied|unchanged)"/.test(`${body}`)) fail(new Error(`${body}`))
    if (sent) answered.push({ ...sent, answeredNs: String(process.hrtime.bigint()) })
    if (answered.length < expected) {
      next()
      return
    }
    // The service would close idle connections at some time.
    for (const each of sockets) each.destroy()
    sockets = []
    idle = []
    process.send?.({ answered })
  })
}

function fail(error: Error): never {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

function report(socket: Socket, { txnId, amount }: { txnId: string; amount: string }): void {
  const id = randomUUID()
  const event = {
    ...{ id, type: 'payment', paymentId: id, reference: txnId, amount, currency: 'THB' },
    ...{ paidAt: new Date().toISOString(), payer: null },
  }
  const body = JSON.stringify({ events: [event] })
  const t = String(Math.floor(Date.now() / 1000))
  socket.write(
    `POST /providers/sandbox/notices HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-bank-signature: t=${t},v1=${signCallback(key, t, body)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

process.on('message', (message: { expect: number } | string[]) => {
  if (Array.isArray(message)) {
    for (const txnId of message) {
      waiting.push({ txnId, amount: '100' })
      idle.pop()?.()
    }
    return
  }
  expected = message.expect
  answered = []
  for (let at = 0; at < Number(connections); at++) open(Number(ports[at % ports.length]))
  process.send?.('expecting')
})
process.send?.('up')
