import { PassThrough } from 'node:stream'
import { txnId } from '../../lib/ids.ts'
import type { OrderName, StateNow } from '../../orders/payment-page.ts'

export interface EventStreamOptions {
  /** Reads the states of these orders, keyed by txn id. */
  read: (names: readonly OrderName[]) => Promise<Map<string, StateNow>>
  isDraining: () => boolean
  onError: (error: unknown) => void
  maxStreams: number
  maxStreamsPerAddress: number
  /** One link is one payer's, or that of the few who pay together. */
  maxStreamsPerOrder: number
  /** How often all watched orders are read. */
  everyMs: number
}

interface Watcher {
  name: OrderName
  address: string
  stream: PassThrough
  told: string
  quietRounds: number
}

/** After this many rounds without a change, the state is sent again to keep the stream alive. */
const heartbeatRounds = 15
/** A reader that falls this far behind is disconnected; the page reconnects. */
const maxUnreadBytes = 16_384

/**
 * Sends open pages the state changes of their orders. One statement per round reads all orders that this
 * process watches, however many pages are open and whichever process changed them.
 */
export class EventStreams {
  private readonly options: EventStreamOptions
  private readonly watchers = new Set<Watcher>()
  private readonly perAddress = new Map<string, number>()
  private readonly perOrder = new Map<string, number>()
  private timer: NodeJS.Timeout | undefined
  private reading = false

  constructor(options: EventStreamOptions) {
    this.options = options
  }

  /** A stream of events about an order, or the reason why none is available. */
  open(name: OrderName, address: string, now: StateNow): PassThrough | 'full' | 'too_many' {
    const { isDraining, maxStreams, maxStreamsPerAddress, maxStreamsPerOrder } = this.options
    if (isDraining() || this.watchers.size >= maxStreams) return 'full'
    const order = keyOf(name)
    const isTooMany =
      (this.perAddress.get(address) ?? 0) >= maxStreamsPerAddress ||
      (this.perOrder.get(order) ?? 0) >= maxStreamsPerOrder
    if (isTooMany) return 'too_many'
    add(this.perAddress, address, 1)
    add(this.perOrder, order, 1)
    const stream = new PassThrough()
    const watcher: Watcher = { name, address, stream, told: '', quietRounds: 0 }
    this.watchers.add(watcher)
    stream.on('close', () => this.forget(watcher))
    stream.on('error', () => {})
    stream.write('retry: 2000\n\n')
    tell(watcher, now)
    this.timer ??= setInterval(() => void this.round(), this.options.everyMs)
    return stream
  }

  /** Ends every stream; the pages reconnect, perhaps to another process. */
  closeAll(): void {
    for (const { stream } of this.watchers) stream.end()
  }

  private forget(watcher: Watcher): void {
    if (!this.watchers.delete(watcher)) return
    add(this.perAddress, watcher.address, -1)
    add(this.perOrder, keyOf(watcher.name), -1)
    if (this.watchers.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  private async round(): Promise<void> {
    if (this.options.isDraining()) this.closeAll()
    if (this.reading || this.watchers.size === 0) return
    this.reading = true
    try {
      const named = new Map([...this.watchers].map(({ name }) => [keyOf(name), name]))
      const states = await this.options.read([...named.values()])
      for (const watcher of this.watchers) {
        const now = states.get(keyOf(watcher.name))
        if (now) news(watcher, now)
      }
    } catch (error) {
      this.options.onError(error)
    } finally {
      this.reading = false
    }
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

function keyOf({ agentId, orderId }: OrderName): string {
  return txnId(agentId, orderId)
}

function news(watcher: Watcher, now: StateNow): void {
  if (watcher.stream.writableLength > maxUnreadBytes) {
    watcher.stream.destroy()
    return
  }
  watcher.quietRounds++
  if (whatOf(now) !== watcher.told || watcher.quietRounds >= heartbeatRounds) tell(watcher, now)
}

function tell(watcher: Watcher, now: StateNow): void {
  watcher.told = whatOf(now)
  watcher.quietRounds = 0
  if (watcher.stream.writableEnded || watcher.stream.destroyed) return
  watcher.stream.write(`event: state\ndata: ${JSON.stringify(stateView(now))}\n\n`)
}

/** The state for the page's script, with what became of each other payment. */
export function stateView({ state, remainingS, others }: StateNow) {
  return { state, remaining: remainingS, others: others.map((other) => other.state) }
}

/** Changes with everything that the page shows, except the time that is left. */
function whatOf({ state, others }: StateNow): string {
  return [state, ...others.map((other) => other.state)].join(' ')
}
