import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

/** What came back; of the body as much as is kept. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** The time for all of it is over. */
export class DeadlinePassed extends Error {}

/** An error, and whether the receiver had begun to answer before it. */
export class ExchangeFailed extends Error {
  readonly begun: boolean

  constructor(cause: unknown, begun: boolean) {
    super('no answer', { cause })
    this.begun = begun
  }
}

export interface ExchangeLimits {
  /** One deadline for everything: name, connection, answer, body. */
  withinMs: number
  /** The rest of a longer body is not read. */
  keptBytes: number
}

/**
 * Sends one request and takes its answer. Straight on the dispatcher: undici's `request` makes a stream
 * and a signal for each, which costs as much again as the request itself.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(limits, resolve, reject))
  })
}

class Exchange implements Dispatcher.DispatchHandler {
  private readonly keptBytes: number
  private readonly resolve: (answer: Answer) => void
  private readonly reject: (error: ExchangeFailed) => void
  private readonly timer: NodeJS.Timeout
  private controller: Dispatcher.DispatchController | undefined
  private begun = false
  private over = false
  private status = 0
  private headers: IncomingHttpHeaders = {}
  private readonly chunks: Buffer[] = []
  private size = 0

  constructor(
    { withinMs, keptBytes }: ExchangeLimits,
    resolve: (answer: Answer) => void,
    reject: (error: ExchangeFailed) => void,
  ) {
    this.keptBytes = keptBytes
    this.resolve = resolve
    this.reject = reject
    this.timer = setTimeout(() => this.cut(new DeadlinePassed()), withinMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    // It waited for its connection for too long, and nobody waits for it any more.
    if (this.over) controller.abort(new DeadlinePassed())
  }

  onResponseStarted(): void {
    this.begun = true
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // Below 200 the answer proper is still to come.
    if (status < 200) return
    this.status = status
    this.headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.size >= this.keptBytes) return
    this.chunks.push(chunk)
    this.size += chunk.length
    // Not within the parser's own call, which may be about to complete the answer.
    if (this.size >= this.keptBytes) queueMicrotask(() => this.cut(new Error('long enough')))
  }

  onResponseEnd(): void {
    this.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end(error)
  }

  private cut(error: Error): void {
    if (this.over) return
    this.end(error)
    this.controller?.abort(error)
  }

  private end(error?: Error): void {
    if (this.over) return
    this.over = true
    clearTimeout(this.timer)
    // The status has come: whatever happens to the body, it is the answer.
    if (this.status === 0) {
      this.reject(new ExchangeFailed(error, this.begun))
      return
    }
    const [first] = this.chunks
    const body = first && this.chunks.length === 1 ? first : Buffer.concat(this.chunks)
    this.resolve({
      status: this.status,
      headers: this.headers,
      body: body.subarray(0, this.keptBytes),
    })
  }
}
