import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type RawReceiver, startRawReceiver } from '../support/receiver.ts'

const head = (status: string, length: number) => `HTTP/1.1 ${status}\r\ncontent-length: ${length}`
const whole = (status: string, body = '', more = '') =>
  `${head(status, body.length)}${more}\r\n\r\n${body}`

/** Ways to take a callback: the status says that it is accepted. */
const accepting: Record<string, (socket: Socket) => unknown> = {
  '200': (socket) => socket.write(whole('200 OK', '{"code":0}')),
  '201': (socket) => socket.write(whole('201 Created')),
  '202 and closes': (socket) => socket.end(whole('202 Accepted')),
  'slow 200': (socket) => pause(1_500).then(() => socket.write(whole('200 OK'))),
  '200 then reset': (socket) =>
    socket.write(`${head('200 OK', 1_000)}\r\n\r\n{"co`, () => {
      setImmediate(() => socket.resetAndDestroy())
    }),
  '200 with a body that drips': (socket) => drip(socket, `${head('200 OK', 9_000)}\r\n\r\n`, 'b'),
}

/** Ways not to: it must come again. */
const failing: Record<string, (socket: Socket) => unknown> = {
  '204': (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
  redirect: (socket) => socket.write(whole('307 Elsewhere', '', '\r\nlocation: http://127.0.0.1/')),
  '400': (socket) => socket.write(whole('400 Bad Request', 'no')),
  '429 with retry-after': (socket) => socket.write(whole('429 Slowly', '', '\r\nretry-after: 6')),
  '500': (socket) => socket.write(whole('500 Oh', '{"code":0}')),
  reset: (socket) => socket.resetAndDestroy(),
  'closes without an answer': (socket) => socket.end(),
  'something that is not HTTP': (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  hangs: () => {},
  'headers that drip': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x-more: 1\r\n'),
}

export const receiverWays = [...Object.keys(accepting), ...Object.keys(failing)]

/** A callback that arrived. */
export interface Arrival {
  seq: number
  txnId: string
  body: string
  /** On the suite's steady clock. */
  atMs: number
  /** Whether it was answered so that it counts as accepted. */
  accepted: boolean
}

/** An agent's callback endpoint that fails in every way, by chance, until it is healed. */
export class MoodyReceiver {
  readonly arrivals: Arrival[] = []
  /** Requests that are no callback of ours, and why. */
  readonly strangers: string[] = []
  /** How often it answered in which way. */
  readonly ways = new Map<string, number>()
  private readonly raw: RawReceiver
  private readonly random: () => number
  private readonly keeping = new Set<Socket>()
  private secret = ''
  private healed = false

  private constructor(raw: RawReceiver, random: () => number) {
    this.raw = raw
    this.random = random
  }

  static async open(random: () => number): Promise<MoodyReceiver> {
    const raw = await startRawReceiver((socket, _nth, request) => receiver.take(socket, request))
    const receiver = new MoodyReceiver(raw, random)
    return receiver
  }

  get url(): string {
    return `${this.raw.url}/callbacks`
  }

  /** With what its agent's callbacks must be signed. */
  knows(secret: string): void {
    this.secret = secret
  }

  /** From now on it accepts everything at once; whoever it keeps waiting is let go. */
  heal(): void {
    this.healed = true
    for (const socket of this.keeping) socket.destroy()
  }

  close(): Promise<void> {
    return this.raw.close()
  }

  private take(socket: Socket, request: string): void {
    const [headers = '', ...rest] = request.split('\r\n\r\n')
    const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString('utf8')
    const header = (name: string) => new RegExp(`^${name}: *(.*)$`, 'im').exec(headers)?.[1] ?? ''
    if (!isSigned(this.secret, header('x-signature'), body)) {
      this.strangers.push(`not signed by the service: ${headers}`)
    }
    const way = this.chooseWay()
    this.ways.set(way, (this.ways.get(way) ?? 0) + 1)
    this.arrivals.push({
      seq: Number(header('x-event-seq')),
      txnId: JSON.parse(body).transactionId,
      body,
      atMs: performance.now(),
      accepted: way in accepting,
    })
    this.keep(socket)
    const answer = accepting[way] ?? failing[way]
    answer?.(socket)
  }

  private keep(socket: Socket): void {
    if (this.keeping.has(socket)) return
    this.keeping.add(socket)
    socket.once('close', () => this.keeping.delete(socket))
  }

  private chooseWay(): string {
    if (this.healed || this.random() < 0.6) return '200'
    return receiverWays[Math.floor(this.random() * receiverWays.length)] ?? '200'
  }
}

function isSigned(secret: string, header: string, body: string): boolean {
  const [, t = '', given = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header.trim()) ?? []
  const expected = createHmac('sha256', secret).update(`${t}.${body}`).digest()
  return given !== '' && timingSafeEqual(expected, Buffer.from(given, 'hex'))
}

/** Sends so little at a time that the other side is at the end of its patience before the answer is. */
function drip(socket: Socket, first: string, more: string): void {
  socket.write(first)
  const timer = setInterval(() => socket.write(more), 300)
  socket.once('close', () => clearInterval(timer))
}
