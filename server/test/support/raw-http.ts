import { connect } from 'node:net'
import type { Answer } from './service.ts'

export interface RawRequest {
  method?: string
  path: string
  /** Sent as they are, in this order; a name may stand twice. */
  headers?: [name: string, value: string][]
  body?: Buffer | string
  host?: string
}

/** Sends a request whose headers and body a well-behaved client would never send. */
export function sendRaw(url: string, request: RawRequest): Promise<Answer> {
  const { method = 'GET', path, headers = [], body, host = 'localhost' } = request
  const has = (name: string) => headers.some(([each]) => each.toLowerCase() === name)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    'connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  if (body !== undefined && !has('content-length') && !has('transfer-encoding')) {
    lines.push(`content-length: ${Buffer.byteLength(body)}`)
  }
  return sendBytes(
    url,
    Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body ?? '')]),
  )
}

/** Sends bytes that need not be HTTP and reads until the other side closes. */
export async function sendBytes(url: string, bytes: Buffer): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return parseAnswer(Buffer.concat(chunks).toString('utf8'))
}

function parseAnswer(received: string): Answer {
  const parts = received.split('\r\n\r\n')
  // What comes ahead of the answer, such as 100 Continue, is not the answer.
  while (/^HTTP\/1\.1 1\d\d /.test(parts[0] ?? '')) parts.shift()
  const [head = '', ...rest] = parts
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const text = rest.join('\r\n\r\n')
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
  }
}
