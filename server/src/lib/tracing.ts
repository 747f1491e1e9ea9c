import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

export interface TraceSettings {
  /** Where spans are posted to, as OTLP in JSON. */
  url: string
  headers: Record<string, string>
  serviceName: string
  /** The share of traces that are kept. */
  ratio: number
  /** How long the collector has to take a post. */
  withinMs: number
}

/** What names a span to others, as in the header `traceparent` (W3C Trace Context). */
export interface SpanName {
  traceId: string
  spanId: string
}

type Attribute = string | number | boolean

export type SpanKind = 'internal' | 'server' | 'client'

/** A stretch of work, with what it led to. Nothing personal and no secret is an attribute. */
export class Span {
  readonly startedMs = now()
  endedMs = 0
  readonly attributes: Record<string, Attribute> = {}
  readonly links: SpanName[] = []
  isError = false
  readonly kind: SpanKind
  label: string
  /** Changes once, when a request turns out to create an order: it then begins that order's trace. */
  name: SpanName
  readonly parentId: string | undefined
  /** Whether somebody outside began the trace, and whether they keep it. */
  readonly outside: { isSampled: boolean } | undefined
  private readonly onEnd: (span: Span) => void

  constructor(
    label: string,
    kind: SpanKind,
    name: SpanName,
    given: {
      parentId?: string | undefined
      outside?: { isSampled: boolean } | undefined
      onEnd: (span: Span) => void
    },
  ) {
    this.label = label
    this.kind = kind
    this.name = name
    this.parentId = given.parentId
    this.outside = given.outside
    this.onEnd = given.onEnd
  }

  set(attributes: Record<string, Attribute | undefined>): this {
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) this.attributes[key] = value
    }
    return this
  }

  /** Says that it has to do with a span of another trace. */
  link(other: SpanName | undefined): this {
    if (other && this.links.length < mostLinks) this.links.push(other)
    return this
  }

  end(isError = false): void {
    if (this.endedMs !== 0) return
    this.isError = isError
    this.endedMs = now()
    this.onEnd(this)
  }
}

/** A batch of the teller may have as many commands as this and more; these show which they are. */
const mostLinks = 128

function now(): number {
  return performance.timeOrigin + performance.now()
}

/**
 * Makes the spans of this process. An order's id is its trace's id, and the trace's first span follows from it: so every
 * process, minutes later and without being told, adds to the same trace. A request that an agent sent with a trace of its
 * own stays in that one; it and the order's trace are linked.
 */
export class Tracer {
  private readonly current = new AsyncLocalStorage<Span | undefined>()
  private readonly keep: (span: Span) => void
  private readonly ratio: number
  /** Requests that begin an order's trace. */
  private readonly begun = new WeakSet<Span>()

  /** `ratio` is the share of traces that are kept, by their ids: all processes keep the same ones. */
  constructor(ratio: number, keep: (span: Span) => void) {
    this.ratio = ratio
    this.keep = keep
  }

  /** Begins the span of a request, in the trace that its header names or in a new one. */
  request(label: string, traceparent: unknown): Span {
    const from = parseTraceparent(traceparent)
    const name = { traceId: from?.traceId ?? randomHex(16), spanId: randomHex(8) }
    return this.make(label, 'server', name, from && { parentId: from.spanId, outside: from })
  }

  /** Begins a span that is about an order, in that order's trace; linked with the work under way, if that is in another. */
  ofOrder(orderId: string, label: string, kind: SpanKind = 'internal'): Span {
    const { name, label: cause } = this.current.getStore() ?? {}
    const first = firstOf(orderId)
    const own = { traceId: orderId, spanId: randomHex(8) }
    if (name?.traceId === orderId) return this.make(label, kind, own, { parentId: name.spanId })
    const span = this.make(label, kind, own, { parentId: first.spanId })
    if (name) span.link(name).set({ 'sluice.cause': cause })
    this.current.getStore()?.link(first)
    return span
  }

  /**
   * Begins the span that creates an order. The request that asks for it becomes the first of the order's trace, unless it
   * is in a trace of the agent's: then this span is.
   */
  ofNewOrder(orderId: string, label: string): Span {
    const request = this.current.getStore()
    const first = firstOf(orderId)
    if (request && !request.outside && !this.begun.has(request)) {
      this.begun.add(request)
      request.name = first
      return this.ofOrder(orderId, label)
    }
    const span = this.make(label, 'internal', first)
    request?.link(first)
    return span.link(request?.name).set({ 'sluice.cause': request?.label })
  }

  /** Begins a span in a trace of its own. */
  alone(label: string): Span {
    return this.make(label, 'internal', { traceId: randomHex(16), spanId: randomHex(8) })
  }

  /** Runs work as a part of a span. */
  within<T>(span: Span | undefined, work: () => T): T {
    return this.current.run(span, work)
  }

  private make(
    label: string,
    kind: SpanKind,
    name: SpanName,
    given: { parentId?: string; outside?: { isSampled: boolean } } = {},
  ): Span {
    return new Span(label, kind, name, {
      ...given,
      onEnd: (span) => {
        if (span.outside ? span.outside.isSampled : isKept(span.name.traceId, this.ratio)) {
          this.keep(span)
        }
      },
    })
  }
}

/** The span that begins an order's trace. The second half of an order's id is random. */
export function firstOf(orderId: string): SpanName {
  return { traceId: orderId, spanId: orderId.slice(16) }
}

export function traceparentOf({ traceId, spanId }: SpanName): string {
  return `00-${traceId}-${spanId}-01`
}

function parseTraceparent(text: unknown): (SpanName & { isSampled: boolean }) | undefined {
  if (typeof text !== 'string') return undefined
  const match = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text)
  const [, traceId = '', spanId = '', flags = ''] = match ?? []
  // Version 00 has no more parts than these, and ids of zeros only are none.
  if (!match || (text.startsWith('00') && text.length !== 55)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

function isKept(traceId: string, ratio: number): boolean {
  return ratio >= 1 || Number.parseInt(traceId.slice(-12), 16) < ratio * 2 ** 48
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
