import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

/** The receiver's answer, with as much of the body as is kept. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** The deadline of the whole exchange has passed. */
export class DeadlinePassed extends Error {}

/** Wraps an error and says whether the receiver had begun to answer. */
export class ExchangeFailed extends Error {
  readonly begun: boolean

  constructor(cause: unknown, begun: boolean) {
    super('no answer', { cause })
    this.begun = begun
  }
}

export interface ExchangeLimits {
  /** One deadline for everything: name lookup, connection, answer and body. */
  withinMs: number
  /** How much of the body is read; the rest is dropped. */
  keptBytes: number
}

/**
 * Sends one request and reads its answer. It uses the dispatcher directly, because undici's `request` creates
 * a stream and a signal per call, which doubles the cost of the request.
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
    // The request waited too long for a connection, and its caller has already given up.
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
    // A status below 200 is informational; the real answer follows.
    if (status < 200) return
    this.status = status
    this.headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.size >= this.keptBytes) return
    this.chunks.push(chunk)
    this.size += chunk.length
    // Deferred, because the parser that is calling may be about to complete the answer.
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
    // Once the status has arrived, it is the answer, whatever happens to the body.
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
