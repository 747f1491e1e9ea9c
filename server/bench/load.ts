import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { onMessage } from './bare-message.js'

export interface Signer {
  appId: string
  secret: string
}

/** The bytes of a signed POST, ready to be written to a socket. */
export function signedPost({ appId, secret }: Signer, path: string, body: string): Buffer {
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac('sha256', secret).update(`${t}.POST ${path}.${body}`).digest('hex')
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-appid: ${appId}\r\nx-signature: t=${t},v1=${v1}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** The same for a read. */
export function signedGet({ appId, secret }: Signer, path: string): Buffer {
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac('sha256', secret).update(`${t}.GET ${path}.`).digest('hex')
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-appid: ${appId}\r\nx-signature: t=${t},v1=${v1}\r\n\r\n`,
  )
}

export interface LoadResult {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** How many answers had each status. */
  statuses: Record<string, number>
}

/**
 * Sends all requests over keep-alive connections, each as soon as the answer to the one before is
 * in.
 */
export async function load(
  ports: readonly number[],
  requests: readonly Buffer[],
  connections: number,
  onAnswer?: (body: Buffer) => void,
): Promise<LoadResult> {
  const latenciesMs: number[] = []
  const statuses: Record<string, number> = {}
  let next = 0
  const started = performance.now()
  await Promise.all(
    Array.from(
      { length: connections },
      (_, at) =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(ports[at % ports.length] ?? 0, '127.0.0.1')
          socket.setNoDelay(true)
          let sentAt = 0
          const sendNext = () => {
            const request = requests[next++]
            if (!request) {
              socket.destroy()
              resolve()
              return
            }
            sentAt = performance.now()
            socket.write(request)
          }
          socket.on('connect', sendNext)
          socket.on('error', reject)
          onMessage(socket, (head, body) => {
            const status = head.slice(9, 12)
            statuses[status] = (statuses[status] ?? 0) + 1
            latenciesMs.push(performance.now() - sentAt)
            onAnswer?.(body)
            sendNext()
          })
        }),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  latenciesMs.sort((a, b) => a - b)
  const quantile = (q: number) => latenciesMs[Math.floor((latenciesMs.length - 1) * q)] ?? 0
  return {
    perSecond: requests.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    statuses,
  }
}
